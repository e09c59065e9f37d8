"""The judge: the tiers from the cheapest to the dearest, until one finds what stops the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final

from tokenworld.diagnostics import Diagnostic, Severity, Source, in_order, read_source, usage
from tokenworld.engine import Engine
from tokenworld.ground import Json
from tokenworld.limits import attempt, limited
from tokenworld.model import Program
from tokenworld.prose.rulebook import rulebook
from tokenworld.session.loading import (
    Loaded,
    OpenWorld,
    choose_world,
    compile_world,
    split_target,
    started_text,
)
from tokenworld.verbs import options as opt
from tokenworld.verbs.judge import covering, playing, recorded
from tokenworld.verbs.judge.contract import Budget, Contract, Kind, read_contract
from tokenworld.verbs.judge.findings import Finding, Judgement, Status, Tier, by_cause, finding
from tokenworld.verbs.judge.findings import brief as brief_of
from tokenworld.verbs.judge.playing import Case, Say
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output

MOST_CHARACTERS: Final = 1_000_000
"""The largest number of characters of a source that is judged."""
_DEAD: Final = ("TW0903",)
"""Remarks of the checker that are errors of a game: actions without effect, rules that never
apply."""
_TOLD_LATER: Final = ("TW0607",)
"""Codes that the tier `start` reports for any contract."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A tier: its work, and whether an error of it stops what follows."""

    tier: Tier
    work: Callable[[Case], Iterator[Finding]]
    stops: bool = False


_START = _Step("start", playing.start, stops=True)
_PLAN = _Step("plan", playing.plan, stops=True)
_TESTS = _Step("tests", playing.tests, stops=True)
_CONFORM = _Step("conform", recorded.conform)
_COVER = _Step("cover", covering.cover)
STEPS: Final[dict[Kind, tuple[_Step, ...]]] = {
    "game": (
        _START, _PLAN, _TESTS, _Step("audit", playing.audited), _CONFORM, _COVER,
        _Step("mutate", covering.mutate),
    ),
    "pddl": (_START, _Step("start", covering.domain, stops=True), _PLAN, _TESTS, _COVER),
    "rows": (_START, _TESTS, _CONFORM, _COVER),
    "free": (_START, _PLAN, _TESTS, _CONFORM, _COVER),
}  # fmt: skip
"""The tiers after `check`, by the kind of the contract."""


def judge(
    source: Source,
    contract: Contract | None = None,
    budget: Budget | None = None,
    *,
    world: str | None = None,
    say: Say = lambda line: None,
) -> Judgement:
    """Judge a source, or one ``world`` of it. Equal sources and budgets give equal judgements.

    `Failure` for a text that is too long (TW0006), or without such a world (TW0005).
    """
    contract, budget = contract or Contract(), budget or Budget()
    if len(source.text) > MOST_CHARACTERS:
        message = f"`{source.name}` has {len(source.text):,} characters, too many to be judged."
        raise usage(message, f"Judge a source of at most {MOST_CHARACTERS:,} characters.")
    with limited(budget.seconds, None, time.monotonic()):
        checked, engines = started_text(source)
        found = list(_checked(checked.diagnostics, contract))
        if checked.program is None:
            return _judgement(contract, found, {"check": {}}, "", checked.sources)
        loaded = Loaded(checked.program, checked.sources, checked.diagnostics)
        return judge_loaded(
            source, _one_world(loaded, world, source.name), contract, budget, engines=engines,
            found=found, say=say,
        )  # fmt: skip


def judge_loaded(
    source: Source,
    loaded: Loaded,
    contract: Contract,
    budget: Budget,
    *,
    engines: dict[str, Engine] | None = None,
    found: Iterable[Finding] = (),
    say: Say = lambda line: None,
) -> Judgement:
    """The same for a program that is checked: the tiers after `check`, whose findings are
    ``found``. ``engines`` are those of its worlds, if they are there already."""
    program, known = loaded.program, engines or {}
    worlds = tuple(
        OpenWorld(loaded, one, known.get(one.name) or compile_world(program, one))
        for one in program.worlds.values()
    )
    case = Case(source, loaded, worlds, contract, budget, say)
    case.figures["check"] = {"remarks": len(loaded.remarks)}
    findings = list(found)
    for step in STEPS[contract.kind]:
        if _ran(case, step, findings):
            break
    told = rulebook(program).to_markdown()
    return _judgement(contract, findings, case.figures, told, loaded.sources)


def _ran(case: Case, step: _Step, findings: list[Finding]) -> bool:
    """Run a tier; return whether it stops the rest. Its findings before a limit count."""
    own: list[Finding] = []

    def late() -> None:
        hint = "Raise `--time-limit`, or lower the budgets."
        text = f"The time of the judge was used up in the tier `{step.tier}`."
        own.append(finding("limit", text, hint=hint))

    attempt(f"judging: {step.tier}", lambda: own.extend(step.work(case)), late)
    findings += own
    return any(one.code == "limit" or (step.stops and one.is_error) for one in own)


def _checked(found: Iterable[Diagnostic], contract: Contract) -> Iterator[Finding]:
    """The findings of the checker; a dead rule is an error of a game."""
    for one in in_order(found):
        if one.code in _DEAD and contract.kind == "game":
            yield Finding("check", replace(one, severity=Severity.ERROR))
        elif one.code not in _TOLD_LATER:
            yield Finding("check", one)


def _one_world(loaded: Loaded, name: str | None, shown: str) -> Loaded:
    """The program with one of its worlds and the scenarios of that, where one is named."""
    if name is None:
        return loaded
    program: Program = loaded.program
    world = choose_world(program, name, shown)
    scenarios = tuple(one for one in program.scenarios if one.world == name)
    program = replace(program, worlds={name: world}, scenarios=scenarios)
    return replace(loaded, program=program)


def _judgement(
    contract: Contract,
    found: Iterable[Finding],
    figures: dict[Tier, dict[str, Json]],
    told: str,
    sources: tuple[Source, ...],
) -> Judgement:
    findings = by_cause(found)
    return Judgement(_status(findings), contract.kind, findings, figures, told, sources)


def _status(findings: Iterable[Finding]) -> Status:
    listed = tuple(findings)
    if any(one.is_error for one in listed):
        return "refused"
    open_ = ("no-verdict", "limit")
    return "unproven" if any(one.code in open_ for one in listed) else "accepted"


# ---- the verb ---------------------------------------------------------------------------------

_CODES: dict[Status, int] = {
    "accepted": EXIT_OK, "refused": EXIT_NEGATIVE, "unproven": EXIT_UNKNOWN,
}  # fmt: skip


def judge_world(
    target: opt.World,
    out: Output,
    *,
    contract: opt.Contract = "game",
    brief: Annotated[bool, "Print only the brief for a model."] = False,
    states: Annotated[int, "States of each search and of the audit."] = 20000,
    ticks: Annotated[int, "Ticks of seeded play in each world."] = 400,
    mutants: Annotated[int, "Changed rules that the tests must notice."] = 40,
    time_limit: Annotated[float, "Seconds for all of it."] = 120.0,
) -> int:
    """Judge ``FILE[:world]``; ``brief`` prints only the report for a language model."""
    if states < 1 or ticks < 0 or mutants < 0:
        raise usage("A budget is a whole number.", "Give `--states` from 1, the others from 0.")
    wanted = read_contract(contract)
    path, world = split_target(target)
    budget = Budget(states, ticks, mutants, time_limit)
    found = judge(read_source(path), wanted, budget, world=world, say=out.each_second())
    out.json(found.to_json())
    if brief:
        out.line(brief_of(found).rstrip("\n"))
    else:
        _tell(found, out)
    return _CODES[found.status]


def _tell(found: Judgement, out: Output) -> None:
    """Every finding with its source line, then the figures, then the verdict."""
    if not out.as_json:
        out.diagnostics([one.found for one in found.findings], found.sources, to="stdout")
    for tier, figures in found.figures.items():
        shown = ", ".join(f"{name} {value}" for name, value in _flat(figures))
        out.line(f"  {tier:<8} {shown}".rstrip())
    out.line(found.status)


def _flat(figures: object) -> list[tuple[str, object]]:
    """The numbers of a tier in a row; a list by its entries' own words."""
    if not isinstance(figures, dict):
        return []
    row: list[tuple[str, object]] = []
    for name, value in figures.items():
        if isinstance(value, list):
            row += [(_entry(one), "") for one in value]
        else:
            row.append((name, value))
    return row


def _entry(one: object) -> str:
    return " ".join(str(part) for part in one.values()) if isinstance(one, dict) else str(one)
