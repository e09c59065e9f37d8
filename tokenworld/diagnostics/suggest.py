"""Did-you-mean: which known names a misspelt one may stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def edit_distance(left: str, right: str, limit: int) -> int:
    """Edits (insert, delete, replace, swap of neighbours) between two words.

    The optimal string alignment distance; a distance above `limit` is returned as
    `limit + 1`. Only the cells within `limit` of the diagonal are worked out (Ukkonen 1985), so
    two words of n letters cost n * limit steps.
    """
    far = limit + 1
    if abs(len(left) - len(right)) > limit:
        return far
    before: list[int] = []
    row = [min(j, far) for j in range(len(right) + 1)]
    for i, a in enumerate(left, 1):
        older, before = before, row
        row = [far] * (len(right) + 1)
        row[0] = min(i, far)
        for j in range(max(1, i - limit), min(len(right), i + limit) + 1):
            b = right[j - 1]
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, older[j - 2] + 1)
            row[j] = best
        if min(row) > limit:
            return far
    return min(row[-1], far)


MOST_EDITS = 16
"""The largest edit distance of a suggestion, however long both names are."""


def closest(word: str, known: Iterable[str], at_most: int = 3) -> tuple[str, ...]:
    """The known names most like `word`, best first, ties in alphabetical order.

    A name qualifies if it differs in a third of its letters or less (at least one edit, at most
    `MOST_EDITS`), ignoring case, hyphens and underscores, if it contains `word` as whole words or
    has the same letters, or if only one of the two begins with `is` or `has` (`isOpen`, `open`).
    """
    plain = _plain(word)
    limit = min(MOST_EDITS, max(1, (len(plain) + 1) // 3))
    ranked, letters = [], _letters(plain)
    for name in dict.fromkeys(known):
        other = _plain(name)
        distance = edit_distance(plain, other, limit)
        if plain != other and letters == _letters(other):
            continue  # one of several, told apart by number: hardly a slip of the pen
        if distance <= limit:
            ranked.append((distance, name))
        elif (
            (len(plain) >= 3 and f"_{plain}_" in f"_{other}_")
            or sorted(plain) == sorted(other)
            or _same_beginning(plain, other)
            or _bare(word) == _bare(name)
        ):
            ranked.append((limit + 1, name))
    least = min(ranked, default=(0, ""))[0]  # a single slip: then nothing else is as likely
    likely = sorted(one for one in ranked if least > 1 or one[0] <= least)
    return tuple(name for _, name in likely[:at_most] if name != word)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint such as ``Did you mean `oak_chest`?``, or None where nothing is close."""
    names = [f"`{name}`" for name in closest(word, known)]
    return f"Did you mean {joined(names, 'or')}?" if names else None


_ONE = re.compile(r"Did you mean `([^`]+)`\?")


def only_suggestion(hint: str | None) -> str | None:
    """The name in a hint of `did_you_mean`, if it suggests exactly one."""
    found = _ONE.fullmatch(hint or "")
    return found[1] if found else None


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")


def _same_beginning(one: str, other: str) -> bool:
    """Return whether two words differ in their endings alone, as ``carry`` and ``carried``."""
    pairs = enumerate(zip(one, other, strict=False))
    shared = next((k for k, (a, b) in pairs if a != b), min(len(one), len(other)))
    return shared >= 4 and shared >= 0.8 * min(len(one), len(other)) and len(other) - shared <= 3


def _letters(name: str) -> str:
    """A name with all its digits alike."""
    return re.sub(r"\d", "0", name)


def _bare(name: str) -> str:
    return _plain(re.sub("^(?:is|has)(?:_|(?=[A-Z]))", "", name))


def joined(parts: Sequence[str], word: str) -> str:
    """``"a, b or c"`` with the given last word; nothing for nothing."""
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def counted(number: int, noun: str) -> str:
    """``"1 argument"``, ``"2,000 arguments"``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
