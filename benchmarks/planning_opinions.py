"""Ask each planner about one random world, and compare the answers.

Our own exhaustive search, Fast Downward (ff and blind) and SymK on encoding E must give one
verdict. Every plan is replayed by the interpreter and, if unified-planning reads the exported pair,
by its simulator.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.planning_up import NotReadError, Stepper, StepsDifferError
from benchmarks.planning_worlds import Opened
from tokenworld.planning.lower.encode import Encoding, Unencodable, encode
from tokenworld.planning.planners.downward import (
    BLIND,
    FF,
    SYMBOLIC,
    Answer,
    Configuration,
    run_searches,
)
from tokenworld.planning.referee import replay
from tokenworld.planning.search.interpreted import Capped, Found, Limits, Search
from tokenworld.planning.task import NotAPlan
from tokenworld.planning.verdict import PlanStep

__all__ = ["Compared", "Engines", "Left", "compared"]

OWN = "own search"
_MEMORY = 4 << 30
_NO_PLAN_EXIT = 12
"""The exit code of SymK after an exhausted search, which it does not call a proof."""


@dataclass(frozen=True, slots=True)
class Engines:
    """The programs, their time limit, and the largest task or text they get.

    Without ``symk`` it is not asked.
    """

    downward: Path
    symk: Path | None
    seconds: float = 60.0
    effects: int = 400
    up_characters: int = 12_000


@dataclass(frozen=True, slots=True)
class Left:
    """A world that is not compared, with the reason."""

    reason: str


@dataclass
class Compared:
    """The result of one world. ``disagreement`` is empty if all agree.

    ``size`` is the length of the shortest plan in ticks, or the number of states if there is no
    plan. ``said`` has the answer of each engine; ``stepped`` counts plans and steps that
    unified-planning replayed, or has the reason why it was not asked.
    """

    winnable: bool
    size: int = 0
    said: dict[str, str] = field(default_factory=dict)
    plans: int = 0
    stepped: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    disagreement: str = ""


def compared(world: Opened, goal: str | None, engines: Engines) -> Compared | Left:
    """Ask all planners about one world."""
    clock = _Clock()
    found = Search(world.simulator, world.state, goal).run(Limits(states=20_000, seconds=30))
    clock.lap("own search")
    if isinstance(found, Capped):
        return Left(f"own search: {found.limit}")
    encoding = encode(world.instance, world.simulator, world.state, goal)
    clock.lap("encoding E")
    if isinstance(encoding, Unencodable):
        return Left(f"not expressible: {encoding.obstacles[0].reason}")
    if sum(len(one.effects) for one in encoding.task.operators) > engines.effects:
        return Left(f"encoding of more than {engines.effects:,} effects")
    size = len(found.steps) if isinstance(found, Found) else found.states
    result = Compared(isinstance(found, Found), size, seconds=clock.seconds)
    plans = dict[str, tuple[PlanStep, ...]]()
    for name, said, steps in _answers(world, encoding, engines, clock):
        result.said[name] = said
        if steps is not None:
            plans[name] = steps
    if isinstance(found, Found):
        plans[OWN] = found.steps
    result.disagreement = _verdicts(result) or _replayed(world, goal, plans, encoding, engines,
                                                         result)  # fmt: skip
    clock.lap("replay and unified-planning")
    return result


class _Clock:
    """Wall-clock seconds by activity."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._last = time.monotonic()

    def lap(self, name: str) -> None:
        now = time.monotonic()
        self.seconds[name] += now - self._last  # type: ignore[assignment]
        self._last = now


Said = tuple[str, str, "tuple[PlanStep, ...] | None"]
"""An engine's name; *plan*, *no plan* or another result; and the plan."""


def _answers(world: Opened, encoding: Encoding, engines: Engines, clock: _Clock) -> Iterator[Said]:
    """The answers of the planners. SymK takes longest, so it runs in parallel with the others."""
    symk = () if engines.symk is None else (replace(SYMBOLIC, program=engines.symk),)

    def asked(searches: Sequence[Configuration]) -> list[Said]:
        return list(_searched(encoding, searches, engines))

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(asked, symk)
        yield from asked((FF, BLIND))
        clock.lap("Fast Downward on E")
        yield from waiting.result()
        clock.lap("waiting for SymK on E")


def _searched(
    encoding: Encoding, searches: Sequence[Configuration], engines: Engines
) -> Iterator[Said]:
    answers = run_searches(
        engines.downward,
        encoding.text,
        searches,
        seconds=engines.seconds,
        memory=_MEMORY,
        accept=lambda answer: False,
    )
    for answer in sorted(answers, key=lambda one: one.configuration):
        name = f"E {answer.configuration}"
        if answer.result != "plan":
            yield name, _without_plan(answer), None
            continue
        try:
            yield name, "plan", encoding.plan(answer.operators)
        except NotAPlan as error:
            yield name, f"invalid plan: {error}", None


def _without_plan(answer: Answer) -> str:
    if answer.configuration == SYMBOLIC.name and answer.exit_code == _NO_PLAN_EXIT:
        return "no plan"
    return answer.detail if answer.result == "failed" else answer.result


def _verdicts(result: Compared) -> str:
    """The first engine that contradicts the exhaustive search; a limit is not an answer."""
    ours = "plan" if result.winnable else "no plan"
    for name, said in result.said.items():
        if said not in (ours, "limit"):
            return f"verdict: {name} says `{said}`, own search `{ours}`"
    return ""


# ---- plans --------------------------------------------------------------------------------------


def _replayed(
    world: Opened,
    goal: str | None,
    plans: dict[str, tuple[PlanStep, ...]],
    encoding: Encoding,
    engines: Engines,
    result: Compared,
) -> str:
    """Check that every plan reaches the goal in the interpreter; then replay it in
    unified-planning."""
    distinct: dict[tuple[PlanStep, ...], str] = {}
    for name, steps in plans.items():
        replayed = replay(world.simulator, world.state, steps, goal)
        if not replayed.ok:
            return f"replay: plan of {name}, {replayed.failure(len(steps))}"
        distinct.setdefault(replayed.steps, name)
    result.plans = len(plans)
    return _followed(world, goal, distinct, encoding, engines, result) if distinct else ""


def _followed(
    world: Opened,
    goal: str | None,
    plans: dict[tuple[PlanStep, ...], str],
    encoding: Encoding,
    engines: Engines,
    result: Compared,
) -> str:
    """Give unified-planning the exported pair, or the grounded one if it cannot read that."""
    for grounded in (False, True):
        counted = Counter[str]()
        try:
            stepper = Stepper(world, goal, encoding, engines.up_characters, grounded=grounded)
            disagreement = _walked(stepper, plans, counted)
        except NotReadError as error:
            result.stepped[f"not read: {error}"] += 1
            if error.form == "grounded":
                break
            continue
        result.stepped += counted
        result.stepped[f"worlds, {stepper.form}"] += 1
        return disagreement
    result.stepped["worlds not asked"] += 1
    return ""


def _walked(stepper: Stepper, plans: dict[tuple[PlanStep, ...], str], counted: Counter[str]) -> str:
    for steps, name in plans.items():
        if stepper.form == "grounded" and name == OWN:
            counted["own plans not asked: the grounded pair has no idle commands"] += 1
            continue
        try:
            counted["steps"] += stepper.walk(steps)
        except StepsDifferError as error:
            return f"unified-planning: plan of {name}, {error}"
        counted["plans"] += 1
    return ""
