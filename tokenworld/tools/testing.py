"""``tw test``: run the scenarios of files and folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from tokenworld.diagnostics import Diagnostic, Failure, to_json
from tokenworld.session.loading import load_program
from tokenworld.session.scenarios import ScenarioResult, run_scenario
from tokenworld.tools.coverage import Coverage, table
from tokenworld.tools.files import tw_files
from tokenworld.tools.output import EXIT_NEGATIVE, EXIT_OK, Output, exit_code_of

__all__ = ["test"]

Results = list[tuple[Path, ScenarioResult]]


def test(
    paths: tuple[str, ...],
    out: Output,
    *,
    junit: Path | None,
    plan_seconds: float,
    coverage: bool,
) -> int:
    """Run every scenario below the paths; 1 if one fails or none is found, 2 without a file.

    With ``coverage``, tell which rules fired, which requires refused and which branches of chance
    and choice were taken.
    """
    results: Results = []
    measured: list[tuple[Path, Coverage]] = []
    wrong: list[Diagnostic] = []
    for path in tw_files(paths):
        try:
            found = Coverage() if coverage else None
            results += _run(path, out, plan_seconds, found)
            if found is not None:
                measured.append((path, found))
        except Failure as failure:
            out.diagnostics(failure.diagnostics, getattr(failure, "sources", ()))
            wrong += failure.diagnostics
    if junit is not None:
        _write_junit(junit, results)
    _tell_coverage(measured, out)
    reached = {"coverage": [_coverage_json(*one) for one in measured]} if coverage else {}
    return _summed_up(results, wrong, reached, out)


def _summed_up(
    results: Results, wrong: list[Diagnostic], more: Mapping[str, object], out: Output
) -> int:
    """Say how many passed, in words and as the one object; the exit code that follows."""
    failed = sum(not result.ok for _, result in results)
    passed = len(results) - failed
    out.line(f"{passed} passed, {failed} failed")
    out.json(
        {
            "schema_version": 1,
            "ok": bool(results) and not failed and not wrong,
            "passed": passed,
            "failed": failed,
            "scenarios": [{"file": str(path), **one.to_json()} for path, one in results],
            "diagnostics": [to_json(one) for one in wrong],
            **more,
        }
    )
    if not results and not wrong:
        out.note("No scenario was found: a `scenario` block is a test.")
        return EXIT_NEGATIVE
    return exit_code_of(wrong) or (EXIT_NEGATIVE if failed else EXIT_OK)


def _tell_coverage(measured: list[tuple[Path, Coverage]], out: Output) -> None:
    for path, coverage in measured:
        reached, total = coverage.share()
        if total:
            out.line(f"{path}: {reached} of {total} places reached")
            for line in table(list(coverage.listed())):
                out.line(line)


def _coverage_json(path: Path, coverage: Coverage) -> dict[str, object]:
    reached, total = coverage.share()
    places = [mark.to_json(covered) for mark, covered in coverage.listed()]
    return {"file": str(path), "reached": reached, "total": total, "places": places}


def _run(path: Path, out: Output, plan_seconds: float, coverage: Coverage | None) -> Results:
    loaded = load_program(path)
    if coverage is not None:
        loaded = replace(loaded, program=coverage.instrument(loaded.program))
    watch = None if coverage is None else coverage.watch
    results: Results = []
    for scenario in loaded.program.scenarios:
        result = run_scenario(
            loaded, scenario, plan_seconds=plan_seconds, say=out.progress, watch=watch
        )
        out.line(f"{'✓' if result.ok else '✗'} {path}: {result.title}")
        for check in result.failed:
            out.line(f"    {check.span}: {check.wanted}")
            out.line(f"      {check.found}")
        results.append((path, result))
    return results


def _write_junit(path: Path, results: Results) -> None:
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
    try:
        path.write_text(ElementTree.tostring(root, encoding="unicode") + "\n", encoding="utf-8")
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror or error}."
        raise Failure(Diagnostic("TW0001", message, hint="Name a writable file.")) from None
