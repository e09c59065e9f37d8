"""Tiers that play: start, plan, tests, audit. Each returns its findings and notes its figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from tokenworld.diagnostics import Severity, Source
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.ground import PASS, Json, Outcome, values_text
from tokenworld.limits import left
from tokenworld.model import Ending, Expect, Scenario
from tokenworld.planning.proof.reasons import explanation_lines
from tokenworld.planning.search.interpreted import Limits
from tokenworld.planning.search.own import OwnRung
from tokenworld.planning.space.dead_ends import CRUELTY, Cruelty
from tokenworld.planning.space.packed_graph import PackedGraph
from tokenworld.planning.verdict import Verdict
from tokenworld.planning.width.search import width_rung
from tokenworld.session.loading import Loaded, OpenWorld
from tokenworld.session.scenarios import PLAN_SECONDS, ScenarioResult, run_scenario
from tokenworld.session.solving import explain_unwinnable
from tokenworld.verbs.audit.analysis import Audit, audit
from tokenworld.verbs.audit.rules import Idle
from tokenworld.verbs.audit.verb import change_text
from tokenworld.verbs.coverage import Coverage
from tokenworld.verbs.judge.contract import Budget, Contract
from tokenworld.verbs.judge.findings import Finding, Tier, finding
from tokenworld.verbs.judge.noticing import is_empty

Say = Callable[[str], None]
_REASON_SECONDS: Final = 30.0
_CRUELTIES: Final[tuple[Cruelty, ...]] = ("merciful", *dict.fromkeys(CRUELTY.values()))
_PATIENCE: Final = 100
"""Ticks of waiting that must not win."""
_TRACE: Final = 4
"""The number of last records of a failed scenario that are printed."""


@dataclass(slots=True)
class Case:
    """One source under judgement, with the results of the tiers so far."""

    source: Source
    loaded: Loaded
    worlds: tuple[OpenWorld, ...]
    contract: Contract
    budget: Budget
    say: Say
    figures: dict[Tier, dict[str, Json]] = field(default_factory=dict)
    verdicts: list[tuple[OpenWorld, Ending, Verdict]] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)
    audits: list[Audit] = field(default_factory=list)
    measured: Loaded | None = None

    @property
    def is_game(self) -> bool:
        return self.contract.kind == "game"

    def instrumented(self) -> Loaded:
        """Return the program that counts reached places in `coverage`."""
        if self.measured is None:
            program = self.coverage.instrument(self.loaded.program)
            self.measured = replace(self.loaded, program=program)
        return self.measured


# ---- start --------------------------------------------------------------------------------------


def start(case: Case) -> Iterator[Finding]:
    """Check that the worlds start, that their goals are still open, and that an actor can act."""
    if not case.worlds and case.contract.kind != "pddl":
        hint = "Add a `world name { … }` block."
        yield finding("no-world", f"`{case.source.name}` has no world.", hint=hint)
    for world in case.worlds:
        yield from _start(case, world)
    case.figures["start"] = {"worlds": [one.world.name for one in case.worlds]}


def _start(case: Case, world: OpenWorld) -> Iterator[Finding]:
    engine, name, span = world.engine, world.world.name, world.world.span
    state = engine.start()
    reached = engine.reached(state)
    if not world.world.goals and case.is_game:
        hint = "Add a line such as `goal done: …` to the world."
        yield finding("no-goal", f"The world `{name}` has no goal.", span, hint=hint)
    for line in world.world.goals:
        if line.name in reached:
            hint = "Change the start, or ask for something that is still to be done."
            text = f"The goal `{line.name}` of `{name}` holds before anything is done."
            yield finding("trivial-goal", text, line.span, evidence=[line.source], hint=hint)
    if not (reached or engine.legal(state) or engine.unlisted(state)):
        hint = "See which require refuses: `tw legal WORLD --all`."
        text = f"Nothing can be done at the start of `{name}`."
        yield finding("no-command", text, span, hint=hint)


# ---- plan ---------------------------------------------------------------------------------------


def plan(case: Case) -> Iterator[Finding]:
    """Every goal can be reached, and not by waiting alone; plans are replayed by the searches."""
    goals = [(world, line) for world in case.worlds for line in world.world.goals]
    for world in case.worlds:
        yield from _waited(world)
    for world, line in goals:
        case.say(f"planning goal `{line.name}` of `{world.world.name}`")
        verdict = _verdict(world.engine, line.name, case.budget)
        case.verdicts.append((world, line, verdict))
        yield from _judged(world, line, verdict)
    case.figures["plan"] = {
        "goals": [
            {
                "world": world.world.name, "goal": line.name, "answer": found.answer,
                "ticks": found.ticks if found.answer == "winnable" else None,
            }
            for world, line, found in case.verdicts
        ]
    }  # fmt: skip


def _verdict(engine: Engine, goal: str, budget: Budget) -> Verdict:
    """The verdict of our own search, then of the width search, each bounded by states alone."""
    state = engine.start()
    simulator = EngineSimulator(engine, state)
    own = OwnRung(simulator, state, goal, None)

    def search(rung: OwnRung[State], states: int) -> bool:
        rung.run(Limits(states), lambda line: None, lambda: False)
        return rung.answered

    if search(own, budget.unpacked) or (own.is_packed and search(own, budget.states)):
        return own.verdict()
    wide = width_rung(simulator, state, goal)
    return wide.verdict() if search(wide, budget.unpacked) else own.verdict()


def _judged(world: OpenWorld, line: Ending, verdict: Verdict) -> Iterator[Finding]:
    goal = f"The goal `{line.name}` of `{world.world.name}`"
    if verdict.answer == "unwinnable":
        seconds = left(_REASON_SECONDS)
        state = world.engine.start()
        found = explain_unwinnable(world, state, verdict, seconds=seconds, full=False)
        lines = [one for part in found for one in explanation_lines(part, full=False)]
        repairs = [one for one in lines if one.startswith("it would help")]
        hint = repairs[0].capitalize() + "." if repairs else "`tw plan WORLD --why` tells more."
        told = [one for one in lines if one not in repairs[:1]]
        yield finding(
            "unwinnable", f"{goal} cannot be reached.", line.span, evidence=told, hint=hint
        )
    elif verdict.answer == "unknown":
        tried = [f"{one.engine}: {one.detail}" for one in verdict.attempts]
        hint = "Make the world smaller, or raise `--states`."
        text = f"{goal} is neither reached nor refuted within the budget."
        yield finding("no-verdict", text, line.span, evidence=tried, hint=hint)


def _waited(world: OpenWorld) -> Iterator[Finding]:
    """Yield a finding for a goal that is reached by passing alone, with the draws of seed 0."""
    engine, goals = world.engine, {line.name: line for line in world.world.goals}
    state = engine.start()
    for ticks in range(1, _PATIENCE + 1):
        if engine.over(state) or engine.reached(state):
            return
        state, _ = engine.play(state, PASS)
        for line in (goals[name] for name in engine.reached(state) if name in goals):
            text = f"The goal `{line.name}` of `{world.world.name}` is reached by waiting."
            told = [f"after {ticks} ticks without a command: {line.source}"]
            hint = "Ask for something that an action must bring about."
            yield finding("won-by-waiting", text, line.span, evidence=told, hint=hint)


# ---- tests --------------------------------------------------------------------------------------


def tests(case: Case) -> Iterator[Finding]:
    """All scenarios pass, and none passes whatever the rules do."""
    loaded, scenarios = case.instrumented(), case.loaded.program.scenarios
    failed = 0
    if not scenarios and case.is_game:
        hint = "Add a `scenario` for each mechanic."
        yield finding("no-scenario", f"`{case.source.name}` tests nothing.", hint=hint)
    for scenario in scenarios:
        case.say(f"scenario `{scenario.title}`")
        seconds = left(PLAN_SECONDS)
        result = run_scenario(loaded, scenario, plan_seconds=seconds, watch=case.coverage.watch)
        if not result.ok:
            failed += 1
            yield _red(case.loaded, scenario, result)
        elif is_empty(case.loaded, scenario):
            text = f"The scenario `{scenario.title}` passes whatever the rules do."
            told = ["no action needs to change anything", "no require needs to refuse",
                    "no law needs to run", "no start value matters"]  # fmt: skip
            hint = "Give it a `then` that fails without the rule it is about."
            yield finding("empty-scenario", text, scenario.span, evidence=told, hint=hint)
    case.figures["tests"] = {"scenarios": len(scenarios), "failed": failed}


def _red(loaded: Loaded, scenario: Scenario, result: ScenarioResult) -> Finding:
    """A scenario that fails: the first check that does, and the records before it."""
    check = result.failed[0]
    places = [
        number
        for number, step in enumerate(scenario.steps, 1)
        if step.span == check.span
        or (isinstance(step, Expect) and any(one.span == check.span for one in step.checks))
    ]
    cut = replace(scenario, steps=scenario.steps[: max(places, default=len(scenario.steps))])
    seen: list[Outcome] = []
    again = run_scenario(loaded, cut, plan_seconds=left(PLAN_SECONDS), watch=seen.append)
    told = [f"found: {(again.failed or result.failed)[0].found}"]
    first = max(len(seen) - _TRACE, 0)
    told += [_record(number, one) for number, one in enumerate(seen[first:], first + 1)]
    text = f"The scenario `{scenario.title}` fails at `{check.wanted}`."
    hint = "Correct the rule; change the scenario only where it contradicts the specification."
    return finding("red-scenario", text, check.span, evidence=told, hint=hint)


def _record(number: int, one: Outcome) -> str:
    """A record of a trace: the command, its status, and what changed or what refused it."""
    args = ", ".join(str(value) for value in one.args.values())
    told = f"step {number}: {f'{one.action}({args})' if one.action else 'pass'} [{one.status}]"
    if one.refusal is not None:
        values = values_text(one.refusal.failed[0].values) if one.refusal.failed else ""
        return f"{told} {one.refusal.label}{f' ({values})' if values else ''}"
    changes = [change_text(change) for change in (*one.changes, *one.law_changes)]
    return f"{told} {'; '.join(changes)}" if changes else told


# ---- audit --------------------------------------------------------------------------------------


def audited(case: Case) -> Iterator[Finding]:
    """Rules and endings that never apply, dead ends, and long actions that never end."""
    worlds = [one for one in case.worlds if one.world.goals]
    for world in worlds:
        case.say(f"auditing `{world.world.name}`")
        case.audits.append(_audit(world, case.budget))
    if case.audits and all(one.graph.complete and not one.cut for one in case.audits):
        yield from _idle(case)
    for one in case.audits:
        yield from _dead_ends(case, one)
    case.figures["audit"] = {
        "worlds": [
            {
                "world": one.world, "states": len(one.graph), "complete": one.graph.complete,
                "cruelty": one.cruelty, "dead_ends": len(one.dead_ends),
                "one_way_doors": len(one.doors),
            }
            for one in case.audits
        ]
    }  # fmt: skip


def _audit(world: OpenWorld, budget: Budget) -> Audit:
    """The audit of a world, over as many states as its budget allows."""
    seconds = left(budget.seconds)
    found = audit(world, None, states=budget.unpacked, seconds=seconds)
    if found.graph.complete or not isinstance(found.graph, PackedGraph):
        return found
    return audit(world, None, states=budget.states, seconds=seconds)


def _idle(case: Case) -> Iterator[Finding]:
    """A finding for each rule that never applies in any world, and each ending that never does in
    its own."""
    for number, one in enumerate(case.audits):
        for idle in one.idle:
            own = idle.place.file == case.source.name
            ending = idle.kind not in ("action", "law", "watch")
            everywhere = all(_has(other.idle, idle) for other in case.audits)
            if own and (ending or (everywhere and number == 0)):
                text = f"The {idle.kind} `{idle.name}` never applies: {idle.reason}."
                hint = "Correct the condition or the start, or remove the rule."
                yield finding("never-happens", text, idle.place, evidence=idle.blocking, hint=hint)


def _has(found: Iterable[Idle], one: Idle) -> bool:
    return any((other.kind, other.name) == (one.kind, one.name) for other in found)


def _dead_ends(case: Case, found: Audit) -> Iterator[Finding]:
    worst = _CRUELTIES.index(case.contract.cruelty)
    for kind, example in found.dead_ends:
        how = CRUELTY[kind.told]
        broken = _CRUELTIES.index(how) > worst
        if how == "polite" and not broken:
            continue  # play ends at once: a loss is no fault
        name = f"`{kind.action}`" if kind.action else "Waiting"
        way = [one.command for one in (*example.path, example.step)]
        told = [f"way: {', '.join(way)}", *map(change_text, example.changes)]
        asked = f"; the contract allows {case.contract.cruelty}" if broken else ""
        text = f"{name} can put the goal of `{found.world}` out of reach ({how}{asked})."
        hint = "Offer a way back, refuse the step, or end play with a `lose` line."
        severity = Severity.ERROR if broken else None
        yield finding("dead-end", text, example.place, evidence=told, hint=hint, severity=severity)
    for one in found.never_ends:
        told = [f"way: {', '.join(step.command for step in one.path)}"]
        text = f"`{one.command}` can neither end nor be broken off in some states."
        hint = "Let its `cancelled` block keep every invariant."
        yield finding("never-ends", text, one.place, evidence=told, hint=hint)
