"""Edits that replace a name, a value or a call that the checker rejects.

Each generator starts from the words at the place of a finding. Names come from the scope of the
item: its parameters and variables, the actor, and the declarations of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from tokenworld.check.draft import Draft
from tokenworld.check.repairs.words import Broken, Rewrite, hyphened
from tokenworld.diagnostics import Diagnostic, Span, closest, edit_distance
from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.lalr import Token

_MOST: Final = 12
"""Names in sight that are tried in one place."""


@frozen
class Wrong:
    """A finding about words ``first`` to ``last`` (not included) of an item that was read."""

    found: Diagnostic
    broken: Broken
    draft: Draft
    first: int
    last: int

    @property
    def tokens(self) -> Sequence[Token]:
        return self.broken.tokens

    @property
    def text(self) -> str:
        """The word at the place of the finding."""
        return self.tokens[self.first].text.strip("`")

    def follows(self, index: int, terminal: str) -> bool:
        """Return whether a word at an index is this sign."""
        return 0 <= index < len(self.tokens) and self.tokens[index].terminal == terminal


def placed(found: Diagnostic, span: Span, broken: Broken, draft: Draft) -> Wrong | None:
    """The finding with the words that it points at."""
    here = [k for k, one in enumerate(broken.tokens) if span.start <= one.start < span.end]
    return Wrong(found, broken, draft, here[0], here[-1] + 1) if here else None


def corrections(wrong: Wrong) -> Iterator[Rewrite]:
    """The edits for a finding of the checker, the likeliest first."""
    for make in _BY_CODE.get(wrong.found.code, ()):
        yield from make(wrong)


def _name(text: str) -> Token:
    return Token("NAME", text, 0, 0)


def _in_sight(wrong: Wrong) -> list[str]:
    """The parameters and variables of the item, and who acts."""
    tokens, found = wrong.tokens, list[str]()
    if tokens[0].terminal in ("world", "object"):
        return found
    for index, token in enumerate(tokens[:-1]):
        bound = tokens[index + 1].terminal == ":" and tokens[index - 1].terminal in _BINDING
        if wrong.broken.is_name(index) and (bound or tokens[index - 1].terminal == "let"):
            found.append(token.text)
    actor = [wrong.draft.actor_name] if wrong.draft.actor is not None else []
    return list(dict.fromkeys((*found, *actor)))[:_MOST]


_BINDING: Final = ("(", ",", "for", "pick", "create")


def _paths(wrong: Wrong) -> list[str]:
    """The paths in the item that begin with a visible name, such as `me.at`."""
    tokens, names = wrong.tokens, set(_in_sight(wrong))
    found = (
        f"{tokens[k].text}.{tokens[k + 2].text}"
        for k in range(len(tokens) - 2)
        if tokens[k].text in names and wrong.follows(k + 1, ".")
    )
    return list(dict.fromkeys(found))[:_MOST]


def _respelled(wrong: Wrong) -> Iterator[Rewrite]:
    """The name of another fact, function or value for one that is unknown."""
    broken = wrong.broken
    known = (*broken.known, *_OVER_TIME, *broken.values, *_in_sight(wrong))
    for number, name in enumerate(closest(wrong.text, sorted(set(known)), at_most=4)):
        yield Rewrite(0.5 + number / 10, wrong.first, wrong.first + 1, (_name(name),), True)
    if len(wrong.text) >= _LONG_NAME and not wrong.follows(wrong.first + 1, "="):
        for name in sorted(set(known)):
            if edit_distance(wrong.text, name, 2) == 2:
                yield Rewrite(1.1, wrong.first, wrong.first + 1, (_name(name),), True)


_LONG_NAME: Final = 4
_OVER_TIME: Final = ("sometime", "always", "at_most_once", "sometime_after", "sometime_before")


def _with_hyphen(wrong: Wrong) -> Iterator[Rewrite]:
    """A declared name with a hyphen, which was read as a difference."""
    if wrong.follows(wrong.first + 1, "-"):
        yield from hyphened(wrong.broken, wrong.first + 1)


def _through(wrong: Wrong) -> Iterator[Rewrite]:
    """``x.at.f`` for ``x.f``."""
    attributes = [one for one in wrong.draft.fluents.values() if one.fluent_kind == "attribute"]
    for name in list(dict.fromkeys(one.name for one in attributes))[:_MOST]:
        if wrong.follows(wrong.first - 1, "."):
            words = (_name(name), Token(".", ".", 0, 0), wrong.tokens[wrong.first])
            yield Rewrite(1.2, wrong.first, wrong.first + 1, words, True)


def _of_another(wrong: Wrong) -> Iterator[Rewrite]:
    """``y.f`` for ``x.f``."""
    before = wrong.first - 2
    if wrong.follows(before + 1, ".") and not wrong.follows(before - 1, "."):
        for name in _in_sight(wrong):
            if name != wrong.tokens[before].text:
                yield Rewrite(1.0, before, before + 1, (_name(name),), True)


def _changed_places(wrong: Wrong) -> Iterator[Rewrite]:
    """A call in which two arguments stand in each other's place."""
    depth = 0
    for index in range(wrong.first - 1, 0, -1):
        sign = wrong.tokens[index].terminal
        depth += (sign == ")") - (sign == "(")
        if depth < 0:
            call = _arguments(replace(wrong, first=index - 1))
            begin, parts = call if call is not None else (index, [])
            given = [wrong.tokens[first:last] for first, last in parts]
            for one, other in combinations(range(len(given)), 2):
                moved = given.copy()
                moved[one], moved[other] = moved[other], moved[one]
                yield Rewrite(0.8, begin, parts[-1][1], _listed(moved), True)
            return


def _stored(wrong: Wrong) -> Iterator[Rewrite]:
    """``add r(a)`` or ``f(a) = b`` for a call that stands alone."""
    call = _arguments(wrong)
    if call is None or wrong.text not in wrong.broken.known:
        return
    begin, parts = call
    name, end = wrong.tokens[wrong.first], parts[-1][1] if parts else begin
    yield Rewrite(1.0, wrong.first, wrong.first + 1, (Token("add", "add", 0, 0), name), True)
    if len(parts) > 1:
        given = [wrong.tokens[first:last] for first, last in parts]
        signs = (Token(")", ")", 0, 0), Token("=", "=", 0, 0))
        yield Rewrite(1.0, begin, end + 1, (*_listed(given[:-1]), *signs, *given[-1]), True)


def _applied(wrong: Wrong) -> Iterator[Rewrite]:
    """``f()`` and ``x.f`` for an ``f`` that lacks its parentheses or its argument."""
    empty = (wrong.tokens[wrong.first], Token("(", "(", 0, 0), Token(")", ")", 0, 0))
    yield Rewrite(0.9, wrong.first, wrong.last, empty, True)
    for name in _in_sight(wrong):
        words = (_name(name), Token(".", ".", 0, 0), wrong.tokens[wrong.first])
        yield Rewrite(1.0, wrong.first, wrong.last, words, True)


def _exchanged(wrong: Wrong) -> Iterator[Rewrite]:
    """``x.f = c`` for ``c = x.f``."""
    if not wrong.follows(wrong.last, "="):
        return
    end = wrong.last + 1
    while end < len(wrong.tokens) and wrong.broken.line(end) == wrong.broken.line(wrong.last):
        if wrong.tokens[end].terminal in ("{", "}"):
            break
        end += 1
    sides = wrong.tokens[wrong.last + 1 : end], wrong.tokens[wrong.first : wrong.last]
    words = (*sides[0], wrong.tokens[wrong.last], *sides[1])
    yield Rewrite(1.0, wrong.first, end, words, True)


def _arguments(wrong: Wrong) -> tuple[int, list[tuple[int, int]]] | None:
    """The index after the `(` of a call, and where each argument begins and ends."""
    begin = wrong.first + 2
    if not wrong.follows(wrong.first + 1, "("):
        return None
    parts, depth, first = list[tuple[int, int]](), 0, begin
    for index in range(begin, len(wrong.tokens)):
        sign = wrong.tokens[index].terminal
        if depth == 0 and sign in (",", ")"):
            if index > first:
                parts.append((first, index))
            if sign == ")":
                return begin, parts
            first = index + 1
        depth += (sign in ("(", "[")) - (sign in (")", "]"))
    return None


def _given(wrong: Wrong) -> Iterator[Rewrite]:
    """A call with one more of the names in sight, or with one argument less."""
    call = _arguments(wrong)
    if call is None:
        return
    begin, parts = call
    end = parts[-1][1] if parts else begin
    given = [wrong.tokens[first:last] for first, last in parts]
    used = {part[0].text for part in given if len(part) == 1}
    for place in range(len(given) + 1):
        for name in (*_in_sight(wrong), *_paths(wrong)):
            if name not in used:
                more = [*given[:place], (_name(name),), *given[place:]]
                yield Rewrite(1.1 if "." in name else 1.0, begin, end, _listed(more), True)
    few = wrong.found.hint is not None and "missing" in wrong.found.hint
    for place in () if few else range(len(given) - 1, -1, -1):
        less = [*given[:place], *given[place + 1 :]]
        yield Rewrite(1.0 + 0.1 * (len(given) - place), begin, end, _listed(less), True)


def _listed(parts: Sequence[Sequence[Token]]) -> tuple[Token, ...]:
    comma = Token(",", ",", 0, 0)
    return tuple([token for part in parts for token in (comma, *part)][1:])


def _instead(wrong: Wrong) -> Iterator[Rewrite]:
    """Another value in sight for one of the wrong kind."""
    first, last = wrong.first, wrong.last
    if last - first > _LONG:
        return
    for name in _in_sight(wrong):
        if name != wrong.text or last - first > 1:
            yield Rewrite(1.0, first, last, (_name(name),), True)


_LONG: Final = 5
"""Words of a value that another one may replace: of a longer one the author meant something."""


def _compared(wrong: Wrong) -> Iterator[Rewrite]:
    """A number where a condition should be."""
    value = tuple(wrong.tokens[wrong.first : wrong.last])
    signs = (Token(">", ">", 0, 0), Token("NUMBER", "0", 0, 0))
    yield Rewrite(0.9, wrong.first, wrong.last, (*value, *signs), True)


def _counted(wrong: Wrong) -> Iterator[Rewrite]:
    """A number with a unit of the program, or in percent."""
    number = wrong.tokens[wrong.last - 1]
    if number.terminal not in ("NUMBER", "QUANTITY", "PERCENT"):
        return
    digits = number.text.rstrip("%abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
    for unit in ("%", *wrong.draft.units):
        token = Token("PERCENT" if unit == "%" else "QUANTITY", digits + unit, 0, 0)
        yield Rewrite(1.0, wrong.last - 1, wrong.last, (token,), True)


_BY_CODE: Final[dict[str, tuple[Callable[[Wrong], Iterator[Rewrite]], ...]]] = {
    "TW0201": (_with_hyphen, _respelled, _stored, _applied),
    "TW0204": (_respelled, _of_another, _through),
    "TW0301": (_changed_places, _compared, _instead, _exchanged),
    "TW0302": (_given,),
    "TW0303": (_counted,),
    "TW0308": (_counted,),
    "TW0401": (_exchanged,),
}
