"""``tw lint``: what is allowed and yet suspicious, and which oddities are declared on purpose."""

from __future__ import annotations

from pathlib import Path

from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    Source,
    Span,
    read_source,
    span_json,
    to_json,
)
from tokenworld.session.loading import check_file, split_target
from tokenworld.syntax import parse_source
from tokenworld.syntax.nodes import QuirkDecl
from tokenworld.verbs.output import Output, exit_code_of

__all__ = ["lint"]


def lint(
    files: tuple[str, ...], out: Output, *, pedantic: bool = False, quirks: bool = False
) -> int:
    """Print the lints of every file, or with ``quirks`` the declared oddities with their places.

    0 whether there are lints or not; a file with errors is not linted, its errors give 1 or 2.
    """
    found: list[Diagnostic] = []
    reports: list[dict[str, object]] = []
    for name in files:
        path = split_target(name)[0]
        if quirks:
            told, report = _quirks(path, out)
        else:
            told, report = _lints(name, path, out, pedantic=pedantic)
        found += told
        reports.append({"file": name, **report})
    code = exit_code_of(found)
    out.json({"schema_version": 1, "ok": code == 0, "files": reports})
    return code


def _lints(
    name: str, path: Path, out: Output, *, pedantic: bool
) -> tuple[tuple[Diagnostic, ...], dict[str, object]]:
    try:
        checked = check_file(path, pedantic=pedantic)
    except Failure as failure:
        out.diagnostics(failure.diagnostics)
        return failure.diagnostics, {"lints": [], "errors": _json(failure.diagnostics)}
    errors = tuple(one for one in checked.diagnostics if one.is_error)
    if errors:
        out.diagnostics(errors, checked.sources)
        return errors, {"lints": [], "errors": _json(errors)}
    lints = tuple(one for one in checked.diagnostics if one.code.startswith("TW09"))
    if not out.as_json:
        out.diagnostics(lints, checked.sources, to="stdout")
    out.line(f"{name}: {_counted(len(lints))}")
    return (), {"lints": _json(lints), "errors": []}


def _counted(number: int) -> str:
    if not number:
        return "no lint"
    return f"{number} lint{'s' if number > 1 else ''}"


def _json(found: tuple[Diagnostic, ...]) -> list[dict[str, object]]:
    return [to_json(one) for one in found]


# ---- quirks -----------------------------------------------------------------------------


def _quirks(path: Path, out: Output) -> tuple[tuple[Diagnostic, ...], dict[str, object]]:
    """The `quirk` lines of a file; they are read from its text, sound or not."""
    try:
        source = read_source(path)
    except Failure as failure:
        out.diagnostics(failure.diagnostics)
        return failure.diagnostics, {"quirks": [], "errors": _json(failure.diagnostics)}
    tree, problems = parse_source(source)
    errors = tuple(one for one in problems if one.is_error)
    out.diagnostics(errors, (source,))
    found: list[dict[str, object]] = []
    for item in tree.items:
        if isinstance(item, QuirkDecl):
            title = _title(item.item.span, source)
            out.line(f"{item.span}: {title}: {item.reason.value}")
            found.append({"item": title, "reason": item.reason.value, "span": span_json(item.span)})
    if not found and not errors:
        out.line(f"{source.name}: no quirk")
    return errors, {"quirks": found, "errors": _json(errors)}


def _title(span: Span, source: Source) -> str:
    """The first words of an item, such as `action put`."""
    text = source.text[span.start : span.end]
    return " ".join(text.replace("(", " ").replace("{", " ").split()[:2])
