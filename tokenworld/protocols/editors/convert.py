"""Spans, edits and findings as messages of the Language Server Protocol."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from lsprotocol import types as lsp

from tokenworld.diagnostics import Diagnostic, Edit, Severity, Source, Span
from tokenworld.diagnostics.positions import Positions, units
from tokenworld.protocols.editors.book import Book, Snapshot
from tokenworld.protocols.editors.outline import TOKENS, Entry, Shown

_SEVERITIES: Final = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.INFO: lsp.DiagnosticSeverity.Information,
}
_KIND: Final = lsp.SymbolKind
KINDS: Final = {
    "type": _KIND.Class, "enum": _KIND.Enum, "member": _KIND.EnumMember,
    "attribute": _KIND.Property, "object": _KIND.Object, "actor": _KIND.Object,
    "action": _KIND.Method, "law": _KIND.Method, "believe": _KIND.Method, "watch": _KIND.Method,
    "effect": _KIND.Method, "world": _KIND.Namespace, "ending": _KIND.Event,
    "event": _KIND.Event, "param": _KIND.Constant, "unit": _KIND.Constant,
    "phase": _KIND.Namespace, "invariant": _KIND.Boolean, "conserve": _KIND.Boolean,
    "scenario": _KIND.Function,
}  # fmt: skip
_ITEM: Final = lsp.CompletionItemKind
ITEMS: Final = {
    "keyword": _ITEM.Keyword, "type": _ITEM.Class, "enum": _ITEM.Enum, "member": _ITEM.EnumMember,
    "object": _ITEM.Value, "param": _ITEM.Constant, "attribute": _ITEM.Property,
    "reverse": _ITEM.Property, "local": _ITEM.Variable, "actor": _ITEM.Variable,
    "action": _ITEM.Method, "effect": _ITEM.Method, "event": _ITEM.Event, "label": _ITEM.Event,
    "ending": _ITEM.Event,
}  # fmt: skip


def range_of(places: Positions, start: int, end: int) -> lsp.Range:
    """Return the range of two offsets of a text."""
    first, last = places.at(start), places.at(end)
    return lsp.Range(lsp.Position(*first), lsp.Position(*last))


def range_in(source: Source, span: Span) -> lsp.Range:
    """Return the range of a span of a text."""
    return range_of(_positions(source.text), span.start, span.end)


@lru_cache(maxsize=16)
def _positions(text: str) -> Positions:
    return Positions(text)


def published(book: Book, found: Snapshot) -> dict[str, list[lsp.Diagnostic]]:
    """Return the findings of a check by URI; those without a span belong to the root."""
    result: dict[str, list[lsp.Diagnostic]] = {
        book.uri_of(source): [] for source in (found.source, *found.checked.sources)
    }
    for one in found.checked.diagnostics:
        source = found.source if one.span is None else found.source_named(one.span.file)
        result[book.uri_of(source)].append(diagnostic(book, found, one))
    return result


def diagnostic(book: Book, found: Snapshot, one: Diagnostic) -> lsp.Diagnostic:
    """Convert one finding as `tw check --format lsp` does."""
    start = lsp.Position(0, 0)
    return lsp.Diagnostic(
        range=lsp.Range(start, start) if one.span is None else _place(found, one.span),
        severity=_SEVERITIES[one.severity],
        code=one.code,
        source="tw",
        message="\n".join(part for part in (one.message, *one.notes, one.hint) if part),
        related_information=[
            lsp.DiagnosticRelatedInformation(
                lsp.Location(book.uri_of(found.source_named(other.span.file)),
                             _place(found, other.span)), other.label
            )
            for other in one.related
        ] or None,
    )  # fmt: skip


def _place(found: Snapshot, span: Span) -> lsp.Range:
    return range_in(found.source_named(span.file), span)


def text_edit(source: Source, edit: Edit) -> lsp.TextEdit:
    """Convert one edit of a text."""
    return lsp.TextEdit(range_in(source, edit.span), edit.text)


def workspace_edit(book: Book, edits: Iterable[tuple[Source, Iterable[Edit]]]) -> lsp.WorkspaceEdit:
    """Convert edits of several texts; those of open texts name the version that was checked."""
    changes = []
    for source, some in edits:
        uri = book.uri_of(source)
        text = book.texts.get(uri)
        version = None if text is None else text.version
        document = lsp.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
        changes.append(
            lsp.TextDocumentEdit(
                text_document=document, edits=[text_edit(source, one) for one in some]
            )
        )
    return lsp.WorkspaceEdit(document_changes=changes)


def replaced(source: Source, text: str) -> list[lsp.TextEdit]:
    """Return edits of whole lines that turn one text into another."""
    before, after = source.text.splitlines(keepends=True), text.splitlines(keepends=True)
    places = Positions(source.text)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return [
        lsp.TextEdit(range_of(places, starts[a], starts[b]), "".join(after[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def fixes(book: Book, found: Snapshot, first: int, last: int) -> list[lsp.CodeAction]:
    """Return the repairs of the findings that overlap a range of the text."""
    actions = []
    for one in found.checked.diagnostics:
        span, fix = one.span, one.fix
        if fix is None or span is None or span.file != found.source.name:
            continue
        if span.start > last or span.end < first:
            continue
        files = dict.fromkeys(edit.span.file for edit in fix.edits)
        edits = [
            (found.source_named(file), [edit for edit in fix.edits if edit.span.file == file])
            for file in files
        ]
        actions.append(
            lsp.CodeAction(
                title=fix.title[:1].upper() + fix.title[1:],
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[diagnostic(book, found, one)],
                is_preferred=fix.safe,
                edit=workspace_edit(book, edits),
            )
        )
    return actions


def symbol(places: Positions, entry: Entry) -> lsp.DocumentSymbol:
    """Convert a declaration of the outline, with those inside it."""
    return lsp.DocumentSymbol(
        name=entry.name or " ",
        kind=KINDS.get(entry.kind, _KIND.Function),
        detail=entry.kind,
        range=range_of(places, entry.item.start, entry.item.end),
        selection_range=range_of(places, entry.span.start, entry.span.end),
        children=[symbol(places, one) for one in entry.inside],
    )


def token_numbers(places: Positions, shown: Iterable[Shown]) -> list[int]:
    """Encode semantic tokens as five numbers each, with positions relative to the token before."""
    numbers: list[int] = []
    line = unit = 0
    for one in shown:
        at, column = places.at(one.start)
        same = at == line
        width = units(places.text[one.start : one.end])
        numbers += [at - line, column - unit if same else column, width]
        numbers += [TOKENS.index(one.kind), int(one.declares)]
        line, unit = at, column
    return numbers
