"""Smaller texts and shorter lists of intents that still show something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["blocks", "shorter", "smaller", "without"]

T = TypeVar("T")


def _balance(line: str) -> int:
    """How many braces a line opens more than it closes, outside of strings."""
    outside = "".join(part for index, part in enumerate(_quoted(line)) if index % 2 == 0)
    return outside.count("{") - outside.count("}")


def _quoted(line: str) -> list[str]:
    """The parts of a line outside and inside of strings, in turn."""
    return line.replace('\\"', "").split('"')


def blocks(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The ranges of lines that belong together: every line with the block that it opens."""
    found = []
    for start, line in enumerate(lines):
        depth, end = _balance(line), start + 1
        if depth < 0:
            continue
        while depth > 0 and end < len(lines):
            depth += _balance(lines[end])
            end += 1
        if depth <= 0:
            found.append((start, end))
    return found


def without(lines: Sequence[str], start: int, end: int) -> list[str]:
    """The lines but for a range; an `else` behind it goes too."""
    rest = list(lines[end:])
    while rest and rest[0].strip().startswith(("else", "or ")):
        first = next(b for b in blocks(rest) if b[0] == 0)
        rest = rest[first[1] :]
    return [*lines[:start], *rest]


def smaller(text: str, shows: Callable[[str], bool], limit: int = 600) -> str:
    """Drop blocks and lines, the largest first, while the rest still ``shows`` it."""
    lines, tries = text.splitlines(), 0
    shrunk = True
    while shrunk and tries < limit:
        shrunk = False
        for start, end in sorted(blocks(lines), key=lambda one: one[0] - one[1]):
            if end > len(lines):
                continue
            tries += 1
            for fewer in _fewer(lines, start, end):
                if shows("\n".join(fewer) + "\n"):
                    lines, shrunk = fewer, True
                    break
            if shrunk or tries >= limit:
                break
    return "\n".join(lines) + "\n"


def _fewer(lines: list[str], start: int, end: int) -> list[list[str]]:
    """Without a block; or with what stands in it, but not around it."""
    found = [without(lines, start, end)]
    if end - start > 2 and lines[start].startswith(" "):
        found.append([*lines[:start], *lines[start + 1 : end - 1], *lines[end:]])
    return found


def shorter(things: list[T], shows: Callable[[list[T]], bool], limit: int = 300) -> list[T]:
    """Drop halves, quarters … and single things while the rest still ``shows`` it."""
    size, tries = max(len(things) // 2, 1), 0
    while size >= 1 and tries < limit:
        start = 0
        while start < len(things) and tries < limit:
            fewer = things[:start] + things[start + size :]
            tries += 1
            if fewer != things and shows(fewer):
                things = fewer
            else:
                start += size
        size //= 2
    return things
