"""Print diagnostics for people (with the source line and a caret) and for programs (JSON)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from tokenworld.diagnostics.codes import Severity
from tokenworld.diagnostics.diagnostic import Diagnostic, Edit
from tokenworld.diagnostics.source import Source
from tokenworld.diagnostics.span import Span
from tokenworld.diagnostics.visible import visible

TAB_WIDTH = 4
# A longer line is cut around the place, so that a report never floods the terminal.
LINE_WIDTH = 160

_BOLD, _BLUE, _RESET = "\x1b[1m", "\x1b[1;34m", "\x1b[0m"
_COLOURS = {
    Severity.ERROR: "\x1b[1;31m",
    Severity.WARNING: "\x1b[1;33m",
    Severity.INFO: "\x1b[1;36m",
}


def render(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], *, colour: bool = False
) -> str:
    """All findings as text, one blank line between them; empty for none.

    `sources` maps the `file` of a span to its text; a finding in a file that is not among
    them is printed without its line. Never raises, whatever the spans say.
    """
    return "\n".join(render_one(d, sources, colour=colour) for d in diagnostics)


def render_one(
    diagnostic: Diagnostic, sources: Mapping[str, Source], *, colour: bool = False
) -> str:
    """One finding as text that ends in a newline."""
    paint = _Paint(colour)
    message = visible(diagnostic.message)
    spans = [r.span for r in diagnostic.related] + ([diagnostic.span] if diagnostic.span else [])
    gutter = max((len(str(span.line)) for span in spans), default=1)
    tint = _COLOURS[diagnostic.severity]
    head = paint(tint, f"{diagnostic.severity.value}[{diagnostic.code}]")
    lines = [f"{head}: {paint(_BOLD, message)}"]
    if diagnostic.span:
        lines += _place(diagnostic.span, diagnostic.label, sources, gutter, paint, tint, "^", "-->")
    elif diagnostic.label:
        lines.append(_remark("note", diagnostic.label, gutter, paint))
    for related in diagnostic.related:
        lines += _place(related.span, related.label, sources, gutter, paint, _BLUE, "-", ":::")
    lines += [_remark("note", note, gutter, paint) for note in diagnostic.notes]
    if diagnostic.hint:
        lines.append(_remark("help", diagnostic.hint, gutter, paint))
    return "\n".join(lines) + "\n"


def to_json(diagnostic: Diagnostic) -> dict[str, object]:
    """The finding as a JSON object; absent parts are null or empty lists."""
    fix = diagnostic.fix
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "span": span_json(diagnostic.span) if diagnostic.span else None,
        "label": diagnostic.label,
        "notes": list(diagnostic.notes),
        "hint": diagnostic.hint,
        "related": [{"span": span_json(r.span), "label": r.label} for r in diagnostic.related],
        "fix": fix
        and {"title": fix.title, "safe": fix.safe, "edits": [_edit_json(e) for e in fix.edits]},
    }


def span_json(span: Span) -> dict[str, object]:
    """A span as a JSON object: offsets from 0, lines and columns from 1, ends exclusive."""
    return fields_json(span)


def fields_json(one: Any, *without: str) -> dict[str, Any]:
    """The fields of a dataclass as a JSON object, but for those named in ``without``."""
    names = (field.name for field in fields(one) if field.name not in without)
    return {name: _as_json(getattr(one, name)) for name in names}


def _as_json(value: Any) -> Any:
    """A value in its own JSON form, a span as its place, another dataclass by its fields."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Span):
        return str(value)
    if is_dataclass(value):
        return fields_json(value)
    if isinstance(value, Mapping):
        return {key: _as_json(one) for key, one in value.items()}
    return [_as_json(one) for one in value] if isinstance(value, (list, tuple)) else value


def _edit_json(edit: Edit) -> dict[str, object]:
    return {"span": span_json(edit.span), "text": edit.text}


class _Paint:
    """Wraps text in ANSI codes, or leaves it alone."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, code: str, text: str) -> str:
        return f"{code}{text}{_RESET}" if self._colour and text else text


def _remark(kind: str, text: str, gutter: int, paint: _Paint) -> str:
    indent = "\n" + " " * (gutter + len(kind) + 5)
    body = visible(text).replace("\n", indent)
    return f"{' ' * gutter} {paint(_BLUE, '=')} {paint(_BOLD, kind)}: {body}"


def _place(
    span: Span,
    label: str | None,
    sources: Mapping[str, Source],
    gutter: int,
    paint: _Paint,
    tint: str,
    mark: str,
    arrow: str,
) -> list[str]:
    """The arrow line and, where the text is known, the source line with its underline."""
    lines = [f"{' ' * gutter}{paint(_BLUE, arrow)} {visible(str(span))}"]
    source = sources.get(span.file)
    if source is None or not 1 <= span.line <= source.line_count:
        return lines + ([_remark("note", label, gutter, paint)] if label else [])
    shown, indent, width = _excerpt(source.line_text(span.line), span)
    bar = paint(_BLUE, "|")
    note = f" {visible(label)}" if label else ""
    number = paint(_BLUE, str(span.line).rjust(gutter))
    lines.append(f"{' ' * gutter} {bar}")
    lines.append(f"{number} {bar} {shown}".rstrip())
    lines.append(f"{' ' * gutter} {bar} {' ' * indent}{paint(tint, mark * width + note)}")
    return lines


def _excerpt(text: str, span: Span) -> tuple[str, int, int]:
    """The line as printed, the cells before the underline and the cells under it."""
    first = min(max(span.column - 1, 0), len(text))
    last = min(span.end_column - 1, len(text)) if span.end_line == span.line else len(text)
    last = max(last, first)
    cut = 0
    if len(text) > LINE_WIDTH:
        cut = max(0, min(first - LINE_WIDTH // 4, len(text) - LINE_WIDTH))
        text, first = text[cut : cut + LINE_WIDTH], first - cut
        last = min(last - cut, len(text))
    before, under = _untabbed(text[:first]), _untabbed(text[first:last])
    shown = before + under + _untabbed(text[last:])
    dots = "… " if cut else ""
    return dots + shown, _cells(before) + len(dots), max(1, _cells(under.rstrip()))


def _untabbed(text: str) -> str:
    return visible(text).replace("\t", " " * TAB_WIDTH)


def _cells(text: str) -> int:
    """The terminal cells a text takes: wide characters take two, combining marks none."""
    cells = 0
    for c in text:
        if not unicodedata.combining(c):
            cells += 2 if unicodedata.east_asian_width(c) in "WF" else 1
    return cells
