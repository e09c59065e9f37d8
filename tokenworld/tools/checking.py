"""``tw check``: is each file sound, and if not, what to do."""

from __future__ import annotations

from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, to_json
from tokenworld.session.loading import check_file, split_target
from tokenworld.tools.output import Output, exit_code_of

__all__ = ["check"]


def check(files: tuple[str, ...], out: Output) -> int:
    """Check every file; 0 if none has an error, 1 if one has, 2 if one cannot be read."""
    found: list[Diagnostic] = []
    reports: list[dict[str, object]] = []
    for name in files:
        diagnostics = _one(split_target(name)[0], out)
        found += diagnostics
        reports.append({"file": name, "diagnostics": [to_json(one) for one in diagnostics]})
        if not any(one.is_error for one in diagnostics):
            out.line(f"{name}: sound{_remarks(diagnostics)}")
    code = exit_code_of(found)
    out.json({"schema_version": 1, "ok": code == 0, "files": reports})
    return code


def _remarks(diagnostics: tuple[Diagnostic, ...]) -> str:
    if not diagnostics:
        return ""
    return f", {len(diagnostics)} remark{'s' if len(diagnostics) > 1 else ''}"


def _one(path: Path, out: Output) -> tuple[Diagnostic, ...]:
    try:
        checked = check_file(path)
    except Failure as failure:
        out.diagnostics(failure.diagnostics)
        return failure.diagnostics
    out.diagnostics(checked.diagnostics, checked.sources)
    return checked.diagnostics
