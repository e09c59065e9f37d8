"""Findings for other programs: Language Server Protocol messages, and SARIF 2.1.0 logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import quote

from tokenworld.diagnostics.codes import Severity, severity_of, title_of
from tokenworld.diagnostics.diagnostic import Diagnostic, Fix
from tokenworld.diagnostics.positions import Positions
from tokenworld.diagnostics.source import Source
from tokenworld.diagnostics.span import Span

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
    """Return the LSP range of a span; for an unknown text, count its characters as they are."""
    source = sources.get(span.file)
    if source is None:
        ends = ((span.line - 1, span.column - 1), (span.end_line - 1, span.end_column - 1))
    else:
        places = _positions(source.text)
        ends = (places.at(span.start), places.at(span.end))
    start, end = ({"line": line, "character": unit} for line, unit in ends)
    return {"start": start, "end": end}


@lru_cache(maxsize=16)
def _positions(text: str) -> Positions:
    return Positions(text)


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


# ---- Findings as SARIF 2.1.0, the exchange format that code hosts and editors read ---------------


SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "note",
}


def to_sarif(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], version: str
) -> Json:
    """One log with one run: the tool with the rules that were met, and a result per finding.

    ``sources`` tell where the files of the spans lie; columns count characters, as spans do.
    """
    found = tuple(diagnostics)
    codes = sorted({one.code for one in found})
    driver: Json = {"name": "tw", "version": version, "rules": [_rule(code) for code in codes]}
    run: Json = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, codes, sources) for one in found],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def address(file: str, sources: Mapping[str, Source]) -> str:
    """The URI of a file: relative as it was given, or with its scheme if it is absolute."""
    source = sources.get(file)
    path = Path(file) if source is None or source.path is None else source.path
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _rule(code: str) -> Json:
    title = title_of(code)
    return {
        "id": code,
        "shortDescription": {"text": title[0].upper() + title[1:]},
        "help": {"text": f"Run `tw explain {code}`."},
        "defaultConfiguration": {"level": _LEVELS[severity_of(code)]},
    }


def _result(found: Diagnostic, codes: Sequence[str], sources: Mapping[str, Source]) -> Json:
    said = [found.message, *found.notes, *([found.hint] if found.hint else [])]
    result: Json = {
        "ruleId": found.code,
        "ruleIndex": codes.index(found.code),
        "level": _LEVELS[found.severity],
        "message": {"text": "\n".join(said)},
        "locations": [],
    }
    if found.span is not None:
        result["locations"] = [_location(found.span, found.label, sources)]
    if found.related:
        result["relatedLocations"] = [
            {"id": number, **_location(one.span, one.label, sources)}
            for number, one in enumerate(found.related)
        ]
    if found.fix is not None:
        result["fixes"] = [_fix(found.fix, sources)]
    return result


def _location(span: Span, label: str | None, sources: Mapping[str, Source]) -> Json:
    place: Json = {
        "physicalLocation": {
            "artifactLocation": {"uri": address(span.file, sources)},
            "region": _region(span),
        }
    }
    return {**place, "message": {"text": label}} if label else place


def _region(span: Span) -> Json:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
        "charOffset": span.start,
        "charLength": span.end - span.start,
    }


def _fix(fix: Fix, sources: Mapping[str, Source]) -> Json:
    files = dict.fromkeys(edit.span.file for edit in fix.edits)
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": address(file, sources)},
                "replacements": [
                    {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
                    for edit in fix.edits
                    if edit.span.file == file
                ],
            }
            for file in files
        ],
    }
