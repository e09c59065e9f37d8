"""A place in a source text."""

from __future__ import annotations

from tokenworld.diagnostics.frozen import frozen


@frozen
class Span:
    """The half-open range `start:end` of characters of one file, with both ends resolved.

    Offsets count characters from 0; lines and columns count from 1. `end_line` and
    `end_column` name the place just after the last character, as `end` does.
    """

    file: str
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return (
            self.start == other.start
            and self.end == other.end
            and self.file == other.file
            and (self.line, self.column, self.end_line, self.end_column)
            == (other.line, other.column, other.end_line, other.end_column)
        )

    def __hash__(self) -> int:
        return hash((self.file, self.start, self.end))

    def __str__(self) -> str:
        """The form editors and terminals make clickable: `cellar.tw:17:3`."""
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def after(self) -> Span:
        """The empty place just after the last character."""
        line, column = self.end_line, self.end_column
        return Span(self.file, self.end, self.end, line, column, line, column)

    def join(self, other: Span) -> Span:
        """The smallest span that covers both; both must lie in the same file."""
        first = self if self.start <= other.start else other
        last = self if self.end >= other.end else other
        return Span(
            self.file,
            first.start,
            last.end,
            first.line,
            first.column,
            last.end_line,
            last.end_column,
        )
