"""A root file cut into cells: every item as a little text of its own.

The nodes of a cell count from the beginning of their item, so they stay as they are wherever the
item moves. After an edit only the items around it are read again; all others keep their nodes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tokenworld.check.draft import Entry
from tokenworld.check.modules import entry_of
from tokenworld.diagnostics import Source
from tokenworld.syntax import parse_source
from tokenworld.syntax.lexer import lex
from tokenworld.syntax.split import Splitter
from tokenworld.syntax.tables import tables
from tokenworld.syntax.tree import Token

__all__ = ["Cell", "Cut", "Cutter"]

_AHEAD: Final = 200
"""Characters of the first untouched item that are read again: it ends the item before it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One item: its text under a name of its own, and its nodes, which count from its start."""

    source: Source
    entry: Entry


@dataclass(frozen=True, slots=True)
class Cut:
    """A text, and its items with the offsets at which they start."""

    source: Source
    starts: list[int]
    cells: list[Cell]


class Cutter:
    """Cuts texts; ``pieces`` are the texts of all cells by their names."""

    def __init__(self) -> None:
        self.pieces: dict[str, Source] = {}
        self._count = 0

    def cut(self, source: Source, before: Cut | None = None) -> Cut | None:
        """All items of a text, or `None` where its syntax has a mistake."""
        grammar = tables()
        tokens, problems = lex(source, grammar)
        if problems or not tokens:
            return None
        places = _places(source, tokens, 0, len(source.text))
        if places is None:
            return None
        cells = self._cells(source, places, () if before is None else before.cells)
        return None if cells is None else Cut(source, [start for start, _ in places], cells)

    def recut(self, before: Cut, source: Source) -> Cut | None:
        """The items of an edited text; those that the edit cannot touch are kept as they are."""
        window = _Window.between(before, source)
        if window is None:
            return self.cut(source, before)
        tokens, problems = lex(source, tables(), window.start, window.end)
        if problems:
            return None
        places = _places(source, tokens, window.start, window.stop)
        if places is None:
            return self.cut(source, before)
        first, last = window.first, window.last
        middle = self._cells(source, places, before.cells[first:last])
        if middle is None:
            return None
        shift = len(source.text) - len(before.source.text)
        behind = [start + shift for start in before.starts[last:]]
        starts = [*before.starts[:first], *(start for start, _ in places), *behind]
        cells = [*before.cells[:first], *middle, *before.cells[last:]]
        after = first + len(middle)
        if after < len(cells):  # its doc comment stands before it, where the edit was
            cells[after] = _documented(cells[after], source, starts[after])
        return Cut(source, starts, cells)

    def _cells(
        self, source: Source, places: list[tuple[int, int]], kept: Iterable[Cell]
    ) -> list[Cell] | None:
        """Cells for these stretches; a text that has a cell already keeps it."""
        known: dict[str, list[Cell]] = {}
        for cell in kept:
            known.setdefault(cell.source.text, []).append(cell)
        found: list[Cell] = []
        for start, end in places:
            text = source.text[start:end]
            alike = known.get(text)
            fresh = alike.pop(0) if alike else self._new(source.name, text)
            if fresh is None:
                return None
            found.append(_documented(fresh, source, start))
        return found

    def _new(self, file: str, text: str) -> Cell | None:
        self._count += 1
        piece = Source(f"{file}\0{self._count}", None, text)
        tree, problems = parse_source(piece)
        if problems or len(tree.items) != 1:
            return None
        self.pieces[piece.name] = piece
        return Cell(piece, entry_of(tree.items[0], None))

    def forget(self, cut: Cut) -> None:
        """Keep only the pieces of this text."""
        self.pieces = {cell.source.name: cell.source for cell in cut.cells}


def _places(
    source: Source, tokens: list[Token], start: int, stop: int
) -> list[tuple[int, int]] | None:
    """Where the items from ``start`` to ``stop`` lie; `None` unless one ends right at ``stop``."""
    splitter = Splitter(source, tables(), tokens)
    found: list[tuple[int, int]] = []
    position = 0
    while position < len(tokens) and tokens[position].start < stop:
        behind = splitter.item_end(position)
        if behind is None:
            return None
        found.append((tokens[position].start, tokens[behind - 1].end))
        position = behind
    at = tokens[position].start if position < len(tokens) else len(source.text)
    return found if at == stop or stop == len(source.text) else None


def _documented(cell: Cell, source: Source, start: int) -> Cell:
    """The cell with the doc comment above it: the `##` lines right before its line."""
    text, lines = source.text, list[str]()
    end = text.rfind("\n", 0, start)
    while end >= 0:
        first = text.rfind("\n", 0, end) + 1
        line = text[first:end].strip()
        if not line.startswith("##"):
            break
        lines.append(line.lstrip("#").strip())
        end = first - 1
    doc = "\n".join(reversed(lines)) if lines else None
    if doc == cell.entry.doc:
        return cell
    return Cell(cell.source, Entry(cell.entry.item, cell.entry.quirk, doc))


# ---- what an edit may touch -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Window:
    """The items ``first`` to ``last`` of the text before are read again.

    In the new text they lie from ``start`` to ``stop``; it is read up to ``end``.
    """

    first: int
    last: int
    start: int
    stop: int
    end: int

    @classmethod
    def between(cls, before: Cut, source: Source) -> _Window | None:
        """What differs between two texts; `None` if that is not worth while."""
        old, new = before.source.text, source.text
        same = _common_start(old, new)
        tail = _common_end(old, new, min(len(old), len(new)) - same)
        changed = len(old) - tail
        first = max(0, bisect_left(before.starts, same) - 1)
        piece = before.cells[first].source.text
        if first > 0 and not _well_begun(piece, same - before.starts[first]):
            first -= 1
        last = bisect_right(before.starts, changed)
        while last < len(before.starts) and "\n" not in old[changed : before.starts[last]]:
            last += 1
        start = before.starts[first] if before.starts and before.starts[first] <= same else 0
        if last == len(before.starts):
            return cls(first, last, start, len(new), len(new))
        stop = before.starts[last] + len(new) - len(old)
        end = new.find("\n", stop + _AHEAD)
        piece = before.cells[last].source.text
        if end >= 0 and not _well_begun(piece, _AHEAD):
            return None
        return cls(first, last, start, stop, len(new) if end < 0 else end)


def _well_begun(text: str, length: int) -> bool:
    """Whether this many characters of an item surely hold its first two words."""
    begin = text[:length]
    return "#" not in begin and len(begin.split()) > 2


def _common_start(one: str, other: str) -> int:
    """The length of what two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: str, other: str, most: int) -> int:
    """The length, ``most`` at most, of what two texts end with alike."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        left = one[len(one) - middle : len(one) - low]
        if left == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
