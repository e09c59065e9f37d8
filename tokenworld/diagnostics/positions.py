"""Positions as editors count them: lines and UTF-16 units from 0 (Language Server Protocol)."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

_END: Final = re.compile(r"\r\n|\r|\n")


class Positions:
    """The lines of one text, which end in ``\\n``, ``\\r\\n`` or ``\\r`` as the protocol says.

    A `Source` counts otherwise: there ``\\n`` alone ends a line. So places go through offsets.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(found.end() for found in _END.finditer(text))]

    def at(self, offset: int) -> tuple[int, int]:
        """Return the line and UTF-16 unit of a character offset (clipped to the text)."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        return line, units(self.text[self._starts[line] : offset])

    def offset(self, line: int, unit: int) -> int:
        """Return the character offset of a position, clipped to the end of its line and text.

        A position between the two units of one character counts as the one before the character.
        """
        if not 0 <= line < len(self._starts):
            return 0 if line < 0 else len(self.text)
        begin = self._starts[line]
        last = line + 1 == len(self._starts)
        end = len(self.text) if last else self._starts[line + 1]
        shown = self.text[begin:end].rstrip("\r\n")
        if shown.isascii():
            return begin + min(max(unit, 0), len(shown))
        for index, sign in enumerate(shown):
            unit -= units(sign)
            if unit < 0:
                return begin + index
        return begin + len(shown)


def units(text: str) -> int:
    """Return the number of UTF-16 units of a text: two for each character beyond U+FFFF."""
    return len(text) if text.isascii() else len(text) + sum(sign > "\uffff" for sign in text)
