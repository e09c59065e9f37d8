"""Diagnostics: the fault, its place and the next step; spans, sources, codes and printers."""

from tokenworld.diagnostics.codes import CODES, Severity, severity_of, title_of
from tokenworld.diagnostics.diagnostic import (
    Diagnostic,
    Edit,
    Failure,
    Fix,
    Related,
    has_errors,
    in_order,
    in_seconds,
    limit_reached,
    no_verdict,
    usage,
)
from tokenworld.diagnostics.render import fields_json, render, render_one, span_json, to_json
from tokenworld.diagnostics.source import (
    Reach,
    Source,
    decode_source,
    is_source,
    reaching,
    read_source,
    require_reach,
)
from tokenworld.diagnostics.span import Span
from tokenworld.diagnostics.suggest import (
    closest,
    counted,
    did_you_mean,
    edit_distance,
    joined,
    only_suggestion,
)
from tokenworld.diagnostics.visible import escaped, invisible, visible, without_invisible

__all__ = [
    "CODES",
    "Diagnostic",
    "Edit",
    "Failure",
    "Fix",
    "Reach",
    "Related",
    "Severity",
    "Source",
    "Span",
    "closest",
    "counted",
    "decode_source",
    "did_you_mean",
    "edit_distance",
    "escaped",
    "fields_json",
    "has_errors",
    "in_order",
    "in_seconds",
    "invisible",
    "is_source",
    "joined",
    "limit_reached",
    "no_verdict",
    "only_suggestion",
    "reaching",
    "read_source",
    "render",
    "render_one",
    "require_reach",
    "severity_of",
    "span_json",
    "title_of",
    "to_json",
    "usage",
    "visible",
    "without_invisible",
]
