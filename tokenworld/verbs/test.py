"""``tw test``: run scenarios, and measure which rules, requires and branches they cover."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

from tokenworld.diagnostics import Diagnostic, Failure, counted, to_json
from tokenworld.limits import Halted, attempt, left, near
from tokenworld.session.loading import load_program
from tokenworld.session.scenarios import PLAN_SECONDS, ScenarioResult, run_scenario
from tokenworld.verbs import options as opt
from tokenworld.verbs.coverage import Coverage, Measured, by_file
from tokenworld.verbs.output import (
    EXIT_NEGATIVE,
    EXIT_UNKNOWN,
    Output,
    exit_code_of,
    limit_notes,
    tw_files,
    write_file,
)

_RUNNING = "running scenarios"


@dataclass(slots=True)
class _Tested:
    """The results of all scenarios so far; ``whole``: none was left out for lack of time.

    ``broken``: the files with errors, whose scenarios did not run.
    """

    results: list[tuple[Path, ScenarioResult]] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    wrong: list[Diagnostic] = field(default_factory=list)
    broken: int = 0
    whole: bool = False

    def in_words(self) -> str:
        """Return the counts and the rest: ``3 passed, 0 failed, the rest not run``."""
        failed = sum(not result.ok for _, result in self.results)
        parts = [f"{len(self.results) - failed} passed", f"{failed} failed"]
        if self.broken:
            parts = parts if self.results else ["No scenario ran"]
            parts.append(f"{counted(self.broken, 'file')} with errors not run")
        return ", ".join(parts if self.whole else [*parts, "the rest not run"])


def test(
    paths: opt.Paths,
    out: Output,
    *,
    junit: Annotated[Path | None, "Write a JUnit report here."] = None,
    time_limit: opt.Whole = None,
    coverage: Annotated[bool, "List the rules, requires and branches that were reached."] = False,
) -> int:
    """Run every scenario below the paths: 0 all pass, 1 one fails or none is found, 2 a file is
    missing, 3 the time of the command ended first.

    A plan may take 60 seconds, or what ``time_limit`` leaves, which bounds the command. With
    ``coverage``, tell which rules fired, which requires refused and which branches of chance and
    choice were taken.
    """
    found, files = _Tested(), tw_files(paths)
    plan_seconds = PLAN_SECONDS if time_limit is None else time_limit

    def work() -> None:
        for path in files:
            _test_file(path, found, out, plan_seconds, coverage)
        found.whole = True

    attempt(_RUNNING, work, lambda: None)
    if junit is not None:
        _write_junit(junit, found.results)
    written = by_file(found.measured)
    for file in written:
        for line in file.told():
            out.line(line)
    reached = [file.to_json() for file in written]
    return _summed_up(found, {"coverage": reached} if coverage else {}, out)


def _summed_up(found: _Tested, more: Mapping[str, object], out: Output) -> int:
    """Say how many passed, in words and as the one object; the exit code that follows."""
    failed = sum(not result.ok for _, result in found.results)
    passed = len(found.results) - failed
    notes = () if found.whole else limit_notes()
    out.line(found.in_words())
    out.diagnostics(notes)
    out.json(
        {
            "schema_version": 1,
            "ok": bool(found.results) and not failed and not found.wrong and found.whole,
            "complete": found.whole,
            "passed": passed,
            "failed": failed,
            "scenarios": [{"file": str(path), **one.to_json()} for path, one in found.results],
            "diagnostics": [to_json(one) for one in (*found.wrong, *notes)],
            **more,
        }
    )
    if found.wrong or failed:
        return exit_code_of(found.wrong) or EXIT_NEGATIVE
    if not found.whole:
        return EXIT_UNKNOWN
    if not found.results:
        out.note("No scenario was found: a `scenario` block is a test.")
        return EXIT_NEGATIVE
    return exit_code_of(found.wrong)


def _test_file(
    path: Path, found: _Tested, out: Output, plan_seconds: float, coverage: bool
) -> None:
    """Run the scenarios of one file; ``found`` takes each result as it comes."""
    watch = None
    try:
        loaded = load_program(path)
        if coverage:
            measured = Coverage()
            loaded = replace(loaded, program=measured.instrument(loaded.program))
            watch = measured.watch
            found.measured.append((path, loaded.sources, measured))
        for scenario in loaded.program.scenarios:
            result = run_scenario(
                loaded, scenario, plan_seconds=left(plan_seconds), say=out.progress, watch=watch
            )
            if near() == "time" and not result.ok:
                raise Halted("time", _RUNNING)  # its plan was cut short: nothing is known of it
            _tell_result(path, result, out)
            found.results.append((path, result))
    except Failure as failure:
        out.diagnostics(failure.diagnostics, getattr(failure, "sources", ()))
        found.wrong += failure.diagnostics
        found.broken += 1


def _tell_result(path: Path, result: ScenarioResult, out: Output) -> None:
    out.line(f"{'✓' if result.ok else '✗'} {path}: {result.title}")
    last = max((check.step for check in result.failed), default=-1)
    for number in range(last + 1):
        _tell_step(result, number, out)


def _tell_step(result: ScenarioResult, number: int, out: Output) -> None:
    """A step of a failed scenario, if it had no effect or a check fails after it."""
    failed = [check for check in result.failed if check.step == number]
    step = result.steps[number - 1] if number else None
    told_itself = any(check.wanted == f"when {step.when}" for check in failed if step is not None)
    if step is not None and (failed or step.fruitless) and not told_itself:
        status = f": {step.fruitless}" if step.fruitless else ""
        out.line(f"    step {number}, when {step.when}{status}")
    for check in sorted(failed, key=lambda one: one.span.start):
        out.line(f"    {check.span}: {check.wanted}")
        for line in check.found.splitlines():
            out.line(f"      {line}")


def _write_junit(path: Path, results: Iterable[tuple[Path, ScenarioResult]]) -> None:
    """JUnit XML: a suite per file, a case per scenario, a failure per failed check."""
    root = ElementTree.Element("testsuites")
    suites: dict[Path, ElementTree.Element] = {}
    for file, result in results:
        if file not in suites:
            suites[file] = ElementTree.SubElement(root, "testsuite", name=str(file))
        case = ElementTree.SubElement(
            suites[file], "testcase", classname=result.world, name=result.title
        )
        for check in result.failed:
            message = f"{check.span}: {check.wanted}: {check.found}"
            ElementTree.SubElement(case, "failure", message=message)
    for suite in suites.values():
        cases = suite.findall("testcase")
        suite.set("tests", str(len(cases)))
        suite.set("failures", str(sum(1 for case in cases if case.find("failure") is not None)))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode") + "\n"
    write_file(path, text, "Name a writable file.")
