"""Findings as the Language Server Protocol has them: `textDocument/publishDiagnostics`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from tokenworld.diagnostics.codes import Severity
from tokenworld.diagnostics.diagnostic import Diagnostic
from tokenworld.diagnostics.source import Source
from tokenworld.diagnostics.span import Span

__all__ = ["lsp_range", "to_lsp"]

Json = dict[str, object]

_SEVERITIES: Final = {Severity.ERROR: 1, Severity.WARNING: 2, Severity.INFO: 3}


def to_lsp(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> list[Json]:
    """One `PublishDiagnosticsParams` for each file, in the order of the sources.

    Lines and characters count from 0, characters in UTF-16 units as the protocol wants. A
    finding without a place is shown at the beginning of the first file.
    """
    found = tuple(diagnostics)
    files = dict.fromkeys((*sources, *(one.span.file for one in found if one.span)))
    first = next(iter(files), "")
    return [
        {
            "uri": _uri(file, sources),
            "diagnostics": [
                _diagnostic(one, sources)
                for one in found
                if (one.span.file if one.span else first) == file
            ],
        }
        for file in files
    ]


def lsp_range(span: Span, sources: Mapping[str, Source]) -> Json:
    """The range of a span."""
    source = sources.get(span.file)
    return {
        "start": _position(source, span.line, span.column),
        "end": _position(source, span.end_line, span.end_column),
    }


def _position(source: Source | None, line: int, column: int) -> Json:
    before = "" if source is None else source.line_text(line)[: column - 1]
    units = len(before.encode("utf-16-le")) // 2 + (column - 1 - len(before))
    return {"line": line - 1, "character": units}


def _uri(file: str, sources: Mapping[str, Source]) -> str:
    source = sources.get(file)
    path = Path(file) if source is None or source.path is None else source.path
    return path.absolute().as_uri()


def _diagnostic(found: Diagnostic, sources: Mapping[str, Source]) -> Json:
    start: Json = {"line": 0, "character": 0}
    said = [found.message, *found.notes, *([found.hint] if found.hint else [])]
    result: Json = {
        "range": lsp_range(found.span, sources) if found.span else {"start": start, "end": start},
        "severity": _SEVERITIES[found.severity],
        "code": found.code,
        "source": "tw",
        "message": "\n".join(said),
    }
    if found.related:
        result["relatedInformation"] = [
            {
                "location": {
                    "uri": _uri(one.span.file, sources),
                    "range": lsp_range(one.span, sources),
                },
                "message": one.label,
            }
            for one in found.related
        ]
    if found.fix is not None:
        edits = [
            {"range": lsp_range(one.span, sources), "newText": one.text} for one in found.fix.edits
        ]
        result["data"] = {"title": found.fix.title, "safe": found.fix.safe, "edits": edits}
    return result
