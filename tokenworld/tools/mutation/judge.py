"""Judging mutants: do the world's own scenarios, goals and invariants notice the change?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from tokenworld.diagnostics import Failure
from tokenworld.engine import Engine, EngineSimulator, ForcedLuck, State
from tokenworld.model import Expect, Program, Scenario, UnwinnableCheck, WinnableCheck, World
from tokenworld.planning import PlanStep
from tokenworld.session.loading import Loaded, OpenWorld, compile_world
from tokenworld.session.players import random_player
from tokenworld.session.scenarios import run_scenario
from tokenworld.session.session import Session
from tokenworld.session.solving import solve

__all__ = ["Judge", "Verdict"]

Verdict = Literal["scenario", "goal", "invariant", "start", "checker", "survived"]
"""What noticed a mutant first; ``start``: the world cannot begin; ``checker``: the change takes
away what a later line rests on (a narrowing), so that no checked program reads so."""

_ILL_TYPED = (TypeError, KeyError, IndexError, AttributeError)
"""What evaluating a rule can raise once the checker's promises are broken."""

_WALK, _WALKS = 200, 60
"""Random ticks in which an invariant may notice a mutant, in so many walks at most."""


@dataclass(frozen=True, slots=True)
class _Plan:
    world: str
    goal: str
    steps: tuple[PlanStep, ...]


class Judge:
    """Holds mutants of one sound program against its own tests.

    Scenarios are run without their planning checks, which a plan of the original stands in for: a
    mutant under which that plan fails is noticed by the goal. Invariants and conserved sums are
    tried on a short random walk that breaks none of them in the original.
    """

    def __init__(self, loaded: Loaded, seconds: float) -> None:
        self._loaded = loaded
        program = loaded.program
        self._scenarios = tuple(_without_plans(one) for one in program.scenarios)
        self._plans = tuple(
            plan
            for world in program.worlds.values()
            for plan in _plans(compile_world(program, world), world, seconds)
        )
        self._sound_walks = tuple(
            name for name in program.worlds if not self._breaks(loaded.program, name)
        )

    def judge(self, program: Program) -> Verdict:
        """Which of the tests notices that ``program`` is not the original."""
        try:
            if not all(self._passes(program, one) for one in self._scenarios):
                return "scenario"
            if not all(self._reaches(program, plan) for plan in self._plans):
                return "goal"
            if any(self._breaks(program, name) for name in self._sound_walks):
                return "invariant"
        except Failure:
            return "start"
        except _ILL_TYPED:
            return "checker"
        return "survived"

    def _open(self, program: Program) -> Loaded:
        return Loaded(program, self._loaded.sources, ())

    def _passes(self, program: Program, scenario: Scenario) -> bool:
        return run_scenario(self._open(program), scenario).ok

    def _reaches(self, program: Program, plan: _Plan) -> bool:
        engine = compile_world(program, program.worlds[plan.world])
        return _wins(engine, engine.start(), plan)

    def _breaks(self, program: Program, name: str) -> bool:
        """Whether random play breaks an invariant or a conserved sum."""
        if not (program.invariants or program.conserves):
            return False
        engine = compile_world(program, program.worlds[name])
        world = OpenWorld(self._open(program), program.worlds[name], engine)
        left = _WALK
        for seed in range(_WALKS):
            broken, ticks = _walk(world, seed, left)
            left -= ticks
            if broken or left <= 0:
                return broken
        return False


def _walk(world: OpenWorld, seed: int, ticks: int) -> tuple[bool, int]:
    """Whether a random walk breaks something, and after how many ticks it or the world ended."""
    session = Session(world, seed)
    for number, intent in enumerate(islice(random_player(session), ticks)):
        outcomes = session.intend(intent, source="random")
        if any(one.breach is not None for one in outcomes):
            return True, number
        if outcomes[-1].status == "halted":
            return False, number
    return False, ticks


def _without_plans(scenario: Scenario) -> Scenario:
    steps = tuple(
        replace(
            step,
            checks=tuple(
                one for one in step.checks if not isinstance(one, (WinnableCheck, UnwinnableCheck))
            ),
        )
        if isinstance(step, Expect)
        else step
        for step in scenario.steps
    )
    return replace(scenario, steps=steps)


def _plans(engine: Engine, world: World, seconds: float) -> list[_Plan]:
    """A plan for every goal that one is found for."""
    found = []
    for line in world.goals:
        state = engine.start()
        verdict = solve(engine, state, line.name, time_limit=seconds)
        plan = _Plan(world.name, line.name, verdict.steps)
        if verdict.answer == "winnable" and _wins(engine, state, plan):
            found.append(plan)
    return found


def _wins(engine: Engine, state: State, plan: _Plan) -> bool:
    """Whether the plan reaches its goal without a refusal, with the luck that it counts on."""
    simulator = EngineSimulator(engine, state)
    for step in plan.steps:
        state, outcomes = engine.play(state, step.command, ForcedLuck(step.draws))
        if outcomes[-1].status not in ("executed", "waiting"):
            return False
    return simulator.won(state, plan.goal)
