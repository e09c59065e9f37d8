"""What to do about lines that are too long: open a brace, or begin a new line at a good place."""

from __future__ import annotations

from tokenworld.syntax.format_columns import WIDTH, Columns
from tokenworld.syntax.format_lines import STEP, Choices, Layout, Line, Style
from tokenworld.syntax.format_shape import LISTS
from tokenworld.syntax.format_space import break_rank, may_break


def shortened(layout: Layout, columns: Columns, styles: dict[int, Style]) -> Choices:
    """The choices with one more remedy for every line that is too long; the same if none helps."""
    expanded, broken = set(layout.choices.expanded), set(layout.choices.broken)
    for number, line in enumerate(columns.lines):
        if line.kind == "comment" or columns.width(number) <= WIDTH:
            continue
        remedy = _Remedy(layout, columns, line, styles)
        apart = remedy.branches() or remedy.statements()
        opened = None if apart else remedy.brace()
        if opened is not None:
            expanded.add(opened)
        else:
            broken.update(apart or remedy.parts())
    return Choices(frozenset(expanded), frozenset(broken))


class _Remedy:
    """One line that is too long."""

    def __init__(
        self, layout: Layout, columns: Columns, line: Line, styles: dict[int, Style]
    ) -> None:
        self.layout, self.columns, self.line, self.styles = layout, columns, line, styles
        self.around = layout.shape.inside[line.first]

    def branches(self) -> list[int]:
        """The `else` and `or` of the line's own statement."""
        shape = self.layout.shape
        return [
            index
            for index in range(self.line.first + 1, self.line.end)
            if index in shape.branches and shape.inside[index] == self.around
        ]

    def brace(self) -> int | None:
        """The first outermost pair of braces that can be opened up."""
        braces, styles = self.layout.shape.braces, self.styles
        index = self.line.first
        while index < self.line.end:
            brace = braces.get(index)
            if brace is not None:
                empty = brace.close == brace.open + 1
                if styles[index] == "flat" and brace.kind not in LISTS and not empty:
                    return index
                index = brace.close if styles[index] != "block" else index
            index += 1
        return None

    def statements(self) -> list[int]:
        """The statements beside the first one that no longer fit on the line."""
        shape = self.layout.shape
        beside = [
            index
            for index in range(self.line.first + 1, self.line.end)
            if shape.starts.get(index, -1) == self.around and self.around >= 0
        ]
        # What a step expects stays beside it while there are other places.
        beside = [i for i in beside if shape.columns.get(i) != "then"] or beside
        return self._fill(beside, self.columns.column[self.line.first])

    def parts(self) -> list[int]:
        """Places inside the statement, of the best rank that shortens the line."""
        tokens, shape = self.layout.tokens, self.layout.shape
        column = self.columns.column
        indent = self.line.indent + (0 if self.line.kind == "more" else STEP)
        ranked: dict[tuple[int, int], list[int]] = {}
        for index in range(self.line.first + 1, self.line.end):
            if not may_break(tokens, shape, index) or shape.columns.get(index) == "text":
                continue
            if column[index] > indent + STEP and self._worth(index):
                ranked.setdefault(break_rank(tokens, shape, index), []).append(index)
        for rank in sorted(ranked):
            found = self._fill(ranked[rank], indent)
            if found:
                return found
        return []

    def _worth(self, index: int) -> bool:
        """An `else` moves down only from far right: it goes to the column of its neighbours."""
        if self.layout.shape.columns.get(index) != "else":
            return True
        return self.columns.column[index] > WIDTH // 2

    def _fill(self, places: list[int], indent: int) -> list[int]:
        """Where lines begin if each takes as many of the parts as fit."""
        column, tokens = self.columns.column, self.layout.tokens
        if not places:
            return []
        end = column[self.line.end - 1] + len(tokens[self.line.end - 1].text)
        found: list[int] = []
        shift = 0
        for here, after in zip(places, [*places[1:], None], strict=True):
            stop = end if after is None else column[after] - 1
            if stop - shift > WIDTH:
                found.append(here)
                shift = column[here] - indent
        return found
