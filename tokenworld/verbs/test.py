"""``tw test``: run scenarios, and measure which rules, requires and branches they cover.

For coverage the program is instrumented, not the engine: every body and branch begins with an event
of its own, which changes no state, hash or draw. The events emitted by the scenarios are what they
cover.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import assert_never
from xml.etree import ElementTree

from tokenworld.diagnostics import Diagnostic, Failure, Span, fields_json, to_json
from tokenworld.ground import Outcome
from tokenworld.limits import Halted, attempt, left, near
from tokenworld.model import (
    Action,
    Binder,
    Body,
    Chance,
    Effect,
    Emit,
    Event,
    For,
    If,
    Law,
    Let,
    LifeEffect,
    NumberLiteral,
    NumberType,
    OutputEffect,
    Pick,
    Program,
    TypeRange,
    WriteEffect,
)
from tokenworld.session.loading import load_program
from tokenworld.session.scenarios import PLAN_SECONDS, ScenarioResult, run_scenario
from tokenworld.verbs.output import (
    EXIT_NEGATIVE,
    EXIT_UNKNOWN,
    Output,
    exit_code_of,
    limit_notes,
    tw_files,
    write_file,
)

_EVENT = "\0covered"
"""No author can write this name, so no scenario can be told of it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place that scenarios should reach. ``kind``: action, law, cancelled, branch, require."""

    kind: str
    rule: str
    what: str
    span: Span

    def to_json(self, covered: bool) -> dict[str, object]:
        return {**fields_json(self, "span"), "place": str(self.span), "covered": covered}


@dataclass(slots=True)
class Coverage:
    """One program under measurement: its instrumented form, its marks and those reached."""

    marks: list[Mark] = field(default_factory=list)
    reached: set[int] = field(default_factory=set)
    _requires: dict[tuple[str, int], int] = field(default_factory=dict)

    def instrument(self, program: Program) -> Program:
        """The same program with an event at the head of every body and branch."""
        actions = {name: self._action(action) for name, action in program.actions.items()}
        written = {name: self._law(law) for name, law in program.laws.items() if not law.added}
        laws = {**program.laws, **written}
        if not self.marks:
            return program
        span = self.marks[0].span
        kind = NumberType(0, len(self.marks))
        event = Event(_EVENT, (Binder("mark", TypeRange(kind), kind, span),), span)
        return replace(
            program, actions=actions, laws=laws, events={**program.events, _EVENT: event}
        )

    def watch(self, outcome: Outcome) -> None:
        """Take note of one record."""
        for name, args in outcome.events:
            if name == _EVENT and isinstance(args[0], int):
                self.reached.add(args[0])
        if outcome.refusal is not None:
            number = self._requires.get((outcome.action, outcome.refusal.index))
            if number is not None:
                self.reached.add(number)

    def listed(self) -> Iterator[tuple[Mark, bool]]:
        """Every mark in order, and whether it was reached."""
        for number, mark in enumerate(self.marks):
            yield mark, number in self.reached

    def share(self) -> tuple[int, int]:
        """The number of reached marks, and of all marks."""
        return len(self.reached), len(self.marks)

    # ---- marking ------------------------------------------------------------------------------

    def _mark(self, kind: str, rule: str, what: str, span: Span) -> int:
        self.marks.append(Mark(kind, rule, what, span))
        return len(self.marks) - 1

    def _action(self, action: Action) -> Action:
        rule = f"action {action.name}"
        body = self._headed(action.body, "action", rule, "executed", action.span)
        cancelled = action.cancelled
        if cancelled:
            cancelled = self._headed(cancelled, "cancelled", rule, "broken off", action.span)
        for index, require in enumerate(action.requires):
            what = f"refused because {require.label or require.source}"
            number = self._mark("require", rule, what, require.span)
            self._requires[action.name, index] = number
        return replace(action, body=body, cancelled=cancelled)

    def _law(self, law: Law) -> Law:
        rule = f"law {law.name}"
        return replace(law, body=self._headed(law.body, "law", rule, "fired", law.span))

    def _headed(self, body: Body, kind: str, rule: str, what: str, span: Span) -> Body:
        number = self._mark(kind, rule, what, span)
        literal = NumberLiteral(number, NumberType(number, number), span)
        inner = tuple(self._effect(effect, rule) for effect in body)
        return (Emit(_EVENT, (literal,), span), *inner)

    def _branch(self, body: Body, rule: str, what: str, span: Span) -> Body:
        """A branch that is written; an empty one stays what it is."""
        return self._headed(body, "branch", rule, what, span) if body else body

    def _effect(self, effect: Effect, rule: str) -> Effect:
        span = effect.span
        match effect:
            case If(then=then, otherwise=otherwise):
                yes = self._branch(then, rule, "if", span)
                return replace(
                    effect, then=yes, otherwise=self._branch(otherwise, rule, "else", span)
                )
            case For(body=body):
                return replace(effect, body=self._branch(body, rule, "for", span))
            case Chance(branches=branches, otherwise=otherwise):
                taken = tuple(
                    replace(one, body=self._branch(one.body, rule, f"chance, branch {index}", span))
                    for index, one in enumerate(branches, start=1)
                )
                rest = self._branch(otherwise, rule, "chance, else", span)
                return replace(effect, branches=taken, otherwise=rest)
            case Pick(body=body, otherwise=otherwise):
                some = self._branch(body, rule, "pick", span)
                return replace(
                    effect, body=some, otherwise=self._branch(otherwise, rule, "pick, else", span)
                )
            case Let() | WriteEffect() | LifeEffect() | OutputEffect():
                return effect
            case _:
                assert_never(effect)


def table(found: Sequence[tuple[Mark, bool]]) -> list[str]:
    """Counts by kind, then what was not reached, by place."""
    kinds = dict.fromkeys(mark.kind for mark, _ in found)
    lines = []
    for kind in kinds:
        own = [covered for mark, covered in found if mark.kind == kind]
        lines.append(f"  {kind:<10} {sum(own):>4} of {len(own)}")
    missed = [mark for mark, covered in found if not covered]
    lines += [f"  not reached: {mark.span}: {mark.rule}, {mark.what}" for mark in missed]
    return lines


_RUNNING = "running scenarios"


@dataclass(slots=True)
class _Tested:
    """What the run of all scenarios has found so far; ``whole``: none was left out for lack of
    time."""

    results: list[tuple[Path, ScenarioResult]] = field(default_factory=list)
    measured: list[tuple[Path, Coverage]] = field(default_factory=list)
    wrong: list[Diagnostic] = field(default_factory=list)
    whole: bool = False


def test(
    paths: tuple[str, ...],
    out: Output,
    *,
    junit: Path | None,
    time_limit: float | None,
    coverage: bool,
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
    _tell_coverage(found.measured, out)
    reached = {"coverage": [_coverage_json(*one) for one in found.measured]} if coverage else {}
    return _summed_up(found, reached, out)


def _summed_up(found: _Tested, more: Mapping[str, object], out: Output) -> int:
    """Say how many passed, in words and as the one object; the exit code that follows."""
    failed = sum(not result.ok for _, result in found.results)
    passed = len(found.results) - failed
    notes = () if found.whole else limit_notes()
    out.line(f"{passed} passed, {failed} failed" + ("" if found.whole else ", the rest not run"))
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
            found.measured.append((path, measured))
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


def _tell_result(path: Path, result: ScenarioResult, out: Output) -> None:
    out.line(f"{'✓' if result.ok else '✗'} {path}: {result.title}")
    for check in result.failed:
        out.line(f"    {check.span}: {check.wanted}")
        out.line(f"      {check.found}")


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
