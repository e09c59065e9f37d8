"""``tw check``: diagnostics of files, repairs (``--fix``), proofs of lines, order of laws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Literal

from tokenworld import __version__
from tokenworld.check import Checked
from tokenworld.check.analysis.laws import OrderPair, order_pairs
from tokenworld.check.analysis.proofs import Proof, proofs
from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    Severity,
    Source,
    Span,
    counted,
    fields_json,
    read_source,
    span_json,
    to_json,
    usage,
)
from tokenworld.diagnostics.diagnostic import edited
from tokenworld.model import Program
from tokenworld.session.loading import check_file, check_text, split_target, timed_file
from tokenworld.syntax import parse_source
from tokenworld.syntax.nodes import QuirkDecl
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, Output, exit_code_of, replace_bytes

_PLACES: Final = 20
"""Places of further findings of one code that a note lists."""
_ROUNDS: Final = 200
"""More repairs than this in one file are left for the next call."""

Check = Callable[[str], tuple[Diagnostic, ...]]
Score = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Done:
    """One applied repair: the code of the finding, the title of the repair, and the line."""

    code: str
    title: str
    file: str
    line: int
    safe: bool

    @property
    def place(self) -> str:
        """`file:line`, as the text was when the repair was made."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Repair:
    """The text after the repairs, and the repairs in the order they were made."""

    text: str
    done: tuple[Done, ...]


def repair_text(name: str, text: str, check: Check, *, unsafe: bool = False) -> Repair:
    """Apply one repair after another; the result checks better, or nothing is done.

    Better: fewer syntax errors, else fewer errors, else fewer remarks. A repair that does harm is
    left out, and none is tried twice. Edits of other files are never made.
    """
    found = check(text)
    made: tuple[Done, ...] = ()
    kept = Repair(text, made)
    best: Score = _score(found)
    tried: set[tuple[str, int]] = set()
    for _ in range(_ROUNDS):
        step = _step(name, text, found, check, tried, unsafe=unsafe)
        if step is None:
            break
        text, found, one = step
        made = (*made, one)
        if _score(found) < best:
            best, kept = _score(found), Repair(text, made)
    return kept


def _step(
    name: str,
    text: str,
    found: tuple[Diagnostic, ...],
    check: Check,
    tried: set[tuple[str, int]],
    *,
    unsafe: bool,
) -> tuple[str, tuple[Diagnostic, ...], Done] | None:
    """The first repair that does no harm; ``None`` when none is left.

    One that leaves as many findings may show the next mistake of the same item, so it is gone
    on with, and kept if a later one makes the check better.
    """
    for one in found:
        fix = one.fix
        if fix is None or one.span is None or not (fix.safe or unsafe):
            continue
        if any(edit.span.file != name for edit in fix.edits):
            continue
        changed = edited(text, fix.edits)
        attempt = (changed, one.span.start)
        if attempt in tried:
            continue
        tried.add(attempt)
        after = check(changed)
        if _score(after) <= _score(found):
            return changed, after, Done(one.code, fix.title, name, one.span.line, fix.safe)
    return None


def _score(found: tuple[Diagnostic, ...]) -> Score:
    """The rank of a check for repairs: smaller is better, compared from left to right."""
    errors = [one for one in found if one.is_error]
    syntax = [one for one in errors if one.code in ("TW0101", "TW0102", "TW0103", "TW0104")]
    return len(syntax), len(errors), len(found)


# ---- files ------------------------------------------------------------------------------


def repair_file(path: Path, *, unsafe: bool = False) -> Repair:
    """Repair a file in place: written at once and only if something was repaired.

    Raises `Failure` if the file cannot be read or written. Its line ends, byte order mark and
    permissions stay as they are.
    """
    source = read_source(path)

    def check(text: str) -> tuple[Diagnostic, ...]:
        return check_text(Source(source.name, source.path, text)).diagnostics

    repair = repair_text(source.name, source.text, check, unsafe=unsafe)
    if repair.done:
        _write(path, source.text, repair.text)
    return repair


def _write(path: Path, before: str, text: str) -> None:
    """Replace the file by one step, unless somebody else has changed it meanwhile."""
    target = path.resolve()
    try:
        data = target.read_bytes()
        mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
        if data != mark + before.encode():
            raise _unwritten(path, "it was changed meanwhile")
        replace_bytes(target, mark + text.encode())
    except OSError as error:
        raise _unwritten(path, error.strerror or str(error)) from error


def _unwritten(path: Path, why: str) -> Failure:
    hint = "Make the file writable, or apply the repairs by hand."
    return usage(f"`{path}` could not be written: {why}.", hint)


@dataclass(frozen=True, slots=True)
class Analyses:
    """The proofs and the order-dependent pairs of one program, in written order."""

    proofs: tuple[Proof, ...]
    order: tuple[OrderPair, ...]

    def to_json(self) -> dict[str, object]:
        """Both lists, for machines."""
        lines = [
            {**fields_json(one, "open_rules", "breaches"), "open": one.open_rules}
            for one in self.proofs
        ]
        return {"proofs": lines, "order": [fields_json(one) for one in self.order]}

    def tell_proofs(self, out: Output) -> None:
        """A line for each ``conserve`` and ``invariant``."""
        for one in self.proofs:
            open_rules = f" ({', '.join(one.open_rules)})" if one.open_rules else ""
            said = "proved" if one.answer == "proved" else f"checked at run time{open_rules}"
            out.line(f"  {one.kind} {one.name}: {said}")
        if not self.proofs:
            out.line("  no `conserve` or `invariant` line")

    def tell_order(self, out: Output) -> None:
        """A line for each pair of laws."""
        for one in self.order:
            pair = "itself" if one.first == one.second else f"`{one.second}`"
            verb = "writes it" if one.use == "writes" else "reads it"
            out.line(
                f"  phase {one.phase}: `{one.first}` writes `{one.what}` ({one.write}), "
                f"{pair} {verb} ({one.other})"
            )
        if not self.order:
            out.line("  no order-dependent laws")


def analysed(program: Program) -> Analyses:
    """Work both out."""
    return Analyses(proofs(program), order_pairs(program))


Form = Literal["text", "json", "sarif", "lsp"]


def check(
    files: opt.Files,
    out: Output,
    *,
    fix: Annotated[bool, "Apply the safe repairs."] = False,
    unsafe: Annotated[bool, "Apply the other repairs too."] = False,
    order: Annotated[bool, "List laws whose order matters."] = False,
    proofs: Annotated[bool, "List what is proved."] = False,
    stats: Annotated[bool, "Print the CPU time of each pass."] = False,
    group: Annotated[
        bool, "Show the first finding of each code, and where the others are."
    ] = False,
    pedantic: opt.Pedantic = False,
    form: Annotated[Form, opt.Option("--format"), "How to print."] = "text",
) -> int:
    """Check every file; 0 if none has an error, 1 if one has, 2 if one cannot be read.

    ``form`` is the format of the findings; all but ``text`` print one object. ``fix`` applies the
    repairs that are safe first, with ``unsafe`` every repair that makes the check better. ``order``
    lists laws whose order matters, ``proofs`` the proofs of `conserve` and `invariant`, ``stats``
    the time of each pass. ``group`` shows the first finding of each code, with the number and the
    places of the others.
    """
    out.as_json |= form != "text"
    found: list[Diagnostic] = []
    sources: dict[str, Source] = {}
    reports: list[dict[str, object]] = []
    for name in files:
        path = split_target(name)[0]
        report: dict[str, object] = {"file": name}
        if fix or unsafe:
            report["fixed"] = _repaired(path, out, unsafe=unsafe)
        told = _grouped if group else _each
        diagnostics, texts, program = _one(path, out, report, told, pedantic=pedantic, stats=stats)
        found += diagnostics
        sources |= {text.name: text for text in texts}
        listed = [{**to_json(one), **more} for one, more in told(diagnostics)]
        reports.append({**report, "diagnostics": listed})
        if not any(one.is_error for one in diagnostics):
            out.line(f"{name}: {_warnings(diagnostics)}")
        if program is not None and (out.as_json or order or proofs):
            analyses = analysed(program)
            if proofs:
                analyses.tell_proofs(out)
            if order:
                analyses.tell_order(out)
            reports[-1].update(analyses.to_json())
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
        from tokenworld.diagnostics.exchange import to_sarif

        return to_sarif(found, sources, __version__)
    from tokenworld.diagnostics.exchange import to_lsp

    return {"schema_version": 1, "ok": ok, "published": to_lsp(found, sources)}


def _warnings(found: tuple[Diagnostic, ...]) -> str:
    """The findings of a file without errors: ``2 warnings, 1 note``."""
    count = Counter("warning" if one.severity is Severity.WARNING else "note" for one in found)
    told = [counted(number, kind) for kind, number in sorted(count.items(), reverse=True)]
    return ", ".join(told) or "no problems found"


Told = Iterator[tuple[Diagnostic, dict[str, object]]]
"""Findings as text, each with its further JSON fields."""


def _each(found: Iterable[Diagnostic]) -> Told:
    yield from ((one, {}) for one in found)


def _grouped(found: Iterable[Diagnostic]) -> Told:
    """Yield the first finding of each code; a note and the JSON tell of the others."""
    same: dict[str, list[Diagnostic]] = {}
    for one in found:
        same.setdefault(one.code, []).append(one)
    for first, *others in same.values():
        places = [one.span for one in others if one.span is not None]
        more = {"count": 1 + len(others), "places": [span_json(one) for one in places]}
        if others:
            shown = ", ".join(f"{one.line}:{one.column}" for one in places[:_PLACES])
            dots = ", …" if len(places) > _PLACES else ""
            note = f"{len(others)} more of {first.code}: {shown}{dots}"
            first = replace(first, notes=(*first.notes, note))
        yield first, more


def _one(
    path: Path, out: Output, report: dict[str, object],
    told: Callable[[Iterable[Diagnostic]], Told], *, pedantic: bool, stats: bool,
) -> tuple[tuple[Diagnostic, ...], tuple[Source, ...], Program | None]:  # fmt: skip
    try:
        if stats:
            checked = _measured(path, out, report, pedantic=pedantic)
        else:
            checked = check_file(path, pedantic=pedantic)
    except Failure as failure:
        out.diagnostics(failure.diagnostics)
        return failure.diagnostics, (), None
    out.diagnostics([one for one, _ in told(checked.diagnostics)], checked.sources)
    return checked.diagnostics, checked.sources, checked.program


def _measured(path: Path, out: Output, report: dict[str, object], *, pedantic: bool) -> Checked:
    """Check a file and print the CPU time of each pass, in milliseconds."""
    timed = timed_file(path, pedantic=pedantic)
    out.line(f"{path}: CPU time in milliseconds")
    for name, seconds in timed.steps:
        out.line(f"  {name:<12}{1000 * seconds:10.1f}")
    report["stats"] = {name: round(1000 * seconds, 3) for name, seconds in timed.steps}
    return timed.checked


def _repaired(path: Path, out: Output, *, unsafe: bool) -> list[dict[str, object]]:
    """Repair a file, if it can be read, and return the applied repairs."""

    try:
        repair = repair_file(path, unsafe=unsafe)
    except Failure as failure:
        if failure.diagnostics[0].code in ("TW0001", "TW0003"):
            return []
        raise
    for one in repair.done:
        out.line(f"{one.place}: {one.title} ({one.code})")
    return [fields_json(one, "file") for one in repair.done]


def repaired(file: str, out: Output, *, unsafe: bool = False) -> int:
    """Print the text of a file after its repairs; the file stays as it is (`tw mcp`)."""
    source = read_source(file)

    def check(text: str) -> tuple[Diagnostic, ...]:
        return check_text(Source(source.name, source.path, text)).diagnostics

    repair = repair_text(source.name, source.text, check, unsafe=unsafe)
    out.data(repair.text)
    done = [fields_json(one, "file") for one in repair.done]
    out.json({"schema_version": 1, "text": repair.text, "fixed": done})
    return EXIT_OK


# ---- lint ----------------------------------------------------------------------------------------


def lint(
    files: opt.Files,
    out: Output,
    *,
    pedantic: opt.Pedantic = False,
    quirks: Annotated[bool, "List the declared quirks with their reasons."] = False,
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
    out.line(f"{name}: {counted(len(lints), 'lint') if lints else 'no lint'}")
    return (), {"lints": _json(lints), "errors": []}


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
