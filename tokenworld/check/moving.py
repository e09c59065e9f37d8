"""From places in items that are texts of their own to places in the file they stand in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import TypeVar, cast

from tokenworld.check.cells import Cut
from tokenworld.diagnostics import Diagnostic, Edit, Fix, Related, Span

__all__ = ["Places"]

NodeT = TypeVar("NodeT")


class Places:
    """Where the cells of one text lie in it."""

    def __init__(self, cut: Cut) -> None:
        self._file = cut.source
        self._cut = cut
        self._corners: dict[str, tuple[int, int, int]] = {}

    @cached_property
    def _starts(self) -> dict[str, int]:
        """Where each cell begins, by its name; a text without findings never asks."""
        pairs = zip(self._cut.cells, self._cut.starts, strict=True)
        return {cell.source.name: start for cell, start in pairs}

    def span(self, span: Span) -> Span:
        """The place in the file; that of another file stays as it is."""
        corner = self._corners.get(span.file)
        if corner is None:
            if span.file not in self._starts:
                return span
            start = self._starts[span.file]
            corner = self._corners[span.file] = (start, *self._file.line_and_column(start))
        offset, line, column = corner
        return Span(
            self._file.name,
            span.start + offset,
            span.end + offset,
            span.line + line - 1,
            span.column + column - 1 if span.line == 1 else span.column,
            span.end_line + line - 1,
            span.end_column + column - 1 if span.end_line == 1 else span.end_column,
        )

    def finding(self, found: Diagnostic) -> Diagnostic:
        """A diagnostic with all its places."""
        span = None if found.span is None else self.span(found.span)
        related = found.related
        if related:
            related = tuple([Related(self.span(one.span), one.label) for one in related])
        fix = found.fix
        if fix is not None:
            edits = tuple([Edit(self.span(one.span), one.text) for one in fix.edits])
            fix = Fix(fix.title, edits, fix.safe)
        return Diagnostic(
            found.code, found.message, span, found.label, found.notes, found.hint, related, fix,
            found.severity,
        )  # fmt: skip

    def moved(self, node: NodeT) -> NodeT:
        """Any part of the model with its places; a part without any stays the very same."""
        if isinstance(node, Span):
            return cast(NodeT, self.span(node))
        if isinstance(node, tuple):
            parts = tuple([self.moved(part) for part in node])
            return cast(NodeT, parts) if any(map(_differs, parts, node)) else node
        if isinstance(node, Mapping):
            return cast(NodeT, {key: self.moved(part) for key, part in node.items()})
        changed = {}
        for name in _fields(type(node)):
            before = getattr(node, name)
            after = self.moved(before)
            if after is not before:
                changed[name] = after
        return cast(NodeT, replace(cast(Span, node), **changed)) if changed else node


def _differs(one: object, other: object) -> bool:
    return one is not other


_KNOWN: dict[type, tuple[str, ...]] = {}


def _fields(kind: type) -> tuple[str, ...]:
    found = _KNOWN.get(kind)
    if found is None:
        names = (one.name for one in fields(kind)) if is_dataclass(kind) else ()
        found = _KNOWN[kind] = tuple(names)
    return found
