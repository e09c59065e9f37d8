"""``tw check``: is each file sound, and if not, what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tokenworld import __version__
from tokenworld.check import Checked
from tokenworld.diagnostics import Diagnostic, Failure, Source, to_json
from tokenworld.model import Program
from tokenworld.session.loading import check_file, split_target, timed_file
from tokenworld.tools.output import Output, exit_code_of

__all__ = ["Form", "check"]

Form = Literal["text", "json", "sarif", "lsp"]


def check(
    files: tuple[str, ...],
    out: Output,
    *,
    form: Form = "text",
    pedantic: bool = False,
    fix: bool = False,
    unsafe: bool = False,
    order: bool = False,
    proofs: bool = False,
    stats: bool = False,
) -> int:
    """Check every file; 0 if none has an error, 1 if one has, 2 if one cannot be read.

    ``form`` is how programs get the findings (`out` then prints one object). ``fix`` applies the
    repairs that are safe first, with ``unsafe`` every repair that makes the check better.
    ``order`` lists laws whose order matters, ``proofs`` what is proved of each line, ``stats``
    the time of each pass.
    """
    found: list[Diagnostic] = []
    sources: dict[str, Source] = {}
    reports: list[dict[str, object]] = []
    for name in files:
        path = split_target(name)[0]
        report: dict[str, object] = {"file": name}
        if fix or unsafe:
            report["fixed"] = _repaired(path, out, unsafe=unsafe)
        diagnostics, texts, program = _one(path, out, report, pedantic=pedantic, stats=stats)
        found += diagnostics
        sources |= {text.name: text for text in texts}
        reports.append({**report, "diagnostics": [to_json(one) for one in diagnostics]})
        if not any(one.is_error for one in diagnostics):
            out.line(f"{name}: sound{_remarks(diagnostics)}")
        if program is not None and (out.as_json or order or proofs):
            reports[-1].update(_analysed(program, out, order=order, proofs=proofs))
    code = exit_code_of(found)
    if form == "text" or form == "json":
        out.json({"schema_version": 1, "ok": code == 0, "files": reports})
    else:
        out.json(_published(form, found, sources, ok=code == 0))
    return code


def _published(
    form: Literal["sarif", "lsp"], found: list[Diagnostic], sources: dict[str, Source], *, ok: bool
) -> dict[str, object]:
    """The findings in the form of another program."""
    if form == "sarif":
        from tokenworld.diagnostics.sarif import to_sarif

        return to_sarif(found, sources, __version__)
    from tokenworld.diagnostics.lsp import to_lsp

    return {"schema_version": 1, "ok": ok, "published": to_lsp(found, sources)}


def _remarks(diagnostics: tuple[Diagnostic, ...]) -> str:
    if not diagnostics:
        return ""
    return f", {len(diagnostics)} remark{'s' if len(diagnostics) > 1 else ''}"


def _one(
    path: Path, out: Output, report: dict[str, object], *, pedantic: bool, stats: bool
) -> tuple[tuple[Diagnostic, ...], tuple[Source, ...], Program | None]:
    try:
        if stats:
            checked = _measured(path, out, report, pedantic=pedantic)
        else:
            checked = check_file(path, pedantic=pedantic)
    except Failure as failure:
        out.diagnostics(failure.diagnostics)
        return failure.diagnostics, (), None
    out.diagnostics(checked.diagnostics, checked.sources)
    return checked.diagnostics, checked.sources, checked.program


def _measured(path: Path, out: Output, report: dict[str, object], *, pedantic: bool) -> Checked:
    """Check a file and tell the CPU time of each pass, in milliseconds."""
    timed = timed_file(path, pedantic=pedantic)
    out.line(f"{path}: CPU time in milliseconds")
    for name, seconds in timed.steps:
        out.line(f"  {name:<12}{1000 * seconds:10.1f}")
    report["stats"] = {name: round(1000 * seconds, 3) for name, seconds in timed.steps}
    return timed.checked


def _analysed(program: Program, out: Output, *, order: bool, proofs: bool) -> dict[str, object]:
    """The analyses of a sound program; printed where they were asked for."""
    from tokenworld.tools.analysing import analysed

    found = analysed(program)
    if proofs:
        found.tell_proofs(out)
    if order:
        found.tell_order(out)
    return found.to_json()


def _repaired(path: Path, out: Output, *, unsafe: bool) -> list[dict[str, object]]:
    """Repair a file and say what was done; a file that cannot be read is reported by the check."""
    from tokenworld.tools.fixing import repair_file

    try:
        repair = repair_file(path, unsafe=unsafe)
    except Failure as failure:
        if failure.diagnostics[0].code in ("TW0001", "TW0003"):
            return []
        raise
    for one in repair.done:
        out.line(f"{one.place}: {one.title} ({one.code})")
    return [
        {"code": one.code, "title": one.title, "line": one.line, "safe": one.safe}
        for one in repair.done
    ]
