"""The rules of a world as a model: enter an observation, and step it quickly for a planner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from pathlib import Path
from random import Random
from typing import Any, Protocol

from tokenworld.assets import domains_folder
from tokenworld.engine import EngineSimulator, ForcedLuck, State
from tokenworld.engine.rows.layout import LATCHED, SEED, TICK
from tokenworld.engine.rows.log import Row
from tokenworld.engine.rows.runs import Runs
from tokenworld.ground import PASS, Command
from tokenworld.gym.cwmb.envs import SEED_BITS, Env, Obs, Values
from tokenworld.gym.cwmb.real import Transition
from tokenworld.prose.wording import EnglishProse
from tokenworld.session import open_world

Step = tuple[list[Any], Obs, float, bool]
"""The row after a step, the observation, the reward, and whether the episode is over."""
Chance = dict[tuple[Obs, float, bool], Fraction]
"""The outcomes of a step with their probabilities."""
_LONGEST = 50
"""The greatest number of ticks that a world plays by itself."""


class RowModel:
    """A world as a model of its environment. ``world`` is a file; the bundled one by default."""

    def __init__(self, env: Env, world: str | Path | None = None) -> None:
        self.env = env
        self.world = open_world(str(world) if world is not None else bundled(env))
        engine = self.world.engine
        self.start = engine.start()
        self.simulator = EngineSimulator(engine, self.start)
        self.runs = Runs(engine.instance, engine.layout, EnglishProse(), output="said", fixed=False)
        self.runs.begin(self.start)
        slots = self.runs.stepper.slots
        self.slots = slots
        self.numbers = dict(slots.named)
        self.places = [
            slots.slot(slots.by_id[fluent], (self.numbers[name],) if name else ())
            for fluent, name in env.slots
        ]
        self.actions = tuple(map(self._filled, env.actions))
        self._first = list(self.runs.row.S)
        self._known: dict[object, Chance] = {}

    def _filled(self, command: Command) -> Command:
        """Return a command with missing arguments set to the passenger."""
        params = self.world.program.actions[command.action].params
        if len(params) == len(command.args):
            return command
        return Command(command.action, tuple(self.numbers["passenger"] for _ in params))

    # ---- states ---------------------------------------------------------------------------------

    def entered(self, obs: Obs, steps: int = 0) -> list[Any]:
        """Return the row of an observation, after ``steps`` steps of its episode."""
        row = list(self._first)
        for place, value in zip(self.places, self.env.enter(obs, steps, self.numbers), strict=True):
            row[place] = value
        row[LATCHED], row[TICK] = (), 0
        return row

    def values(self, row: list[Any]) -> Values:
        return [row[place] for place in self.places]

    def seen(self, row: list[Any]) -> Obs:
        return self.env.see(self.values(row), self.numbers)

    # ---- steps ----------------------------------------------------------------------------------

    def step(self, row: list[Any], action: int, random: Random) -> Step:
        """Make one step of the environment; ``random`` seeds the draws of the rules."""
        runs = self.runs
        runs.row = Row(self.slots, list(row))
        S = runs.row.S
        S[SEED] = random.getrandbits(SEED_BITS)
        runs.intend(self.actions[action])
        reward = runs.paid()
        for _ in range(_LONGEST):
            if S[LATCHED] or not self.env.waits(self.values(S)):
                break
            runs.intend(PASS)
            reward += runs.paid()
        return S, self.seen(S), reward, bool(S[LATCHED])

    # ---- exact chances ------------------------------------------------------------------------

    def chances(self, obs: Obs, action: int, steps: int = 0) -> Chance:
        """Return every result of one step with its exact chance; after the end, no observation."""
        state = self.slots.decode(self.entered(obs, steps))
        return self._chances(state, self.actions[action])

    def _chances(self, state: State, command: Command) -> Chance:
        values = tuple(self.values(self.runs.stepper.row(state).S))
        known = self._known.get((values, command))
        if known is None:
            known = self._known[values, command] = self._worked_out(state, command)
        return known

    def _worked_out(self, state: State, command: Command) -> Chance:
        engine, found = self.world.engine, Chance()
        for one in self.simulator.successors(state, command):
            after, records = engine.play(state, command, ForcedLuck(one.draws))
            reward = float(sum(record.reward or 0 for record in records))
            S = self.runs.stepper.row(after).S
            over = bool(after.latched)
            later: Chance = {(() if over else self.seen(S), 0.0, over): Fraction(1)}
            if not over and self.env.waits(self.values(S)):
                later = self._chances(after, PASS)
            for (seen, more, ended), odds in later.items():
                key = (seen, reward + more, ended)
                found[key] = found.get(key, Fraction(0)) + one.probability * odds
        return found


def bundled(env: Env) -> Path:
    """Return the world that comes with the package."""
    folder = domains_folder() / env.world
    return folder / "world.tw" if folder.is_dir() else folder.with_suffix(".tw")


# ---- Accuracy -----------------------------------------------------------------------------------
# Measure how well a model predicts recorded transitions: by the paper's formula, and whole rows.
#
# The formula (`check_transition_via_enum` of the benchmark's code): a step that ends the episode
# scores half for the reward and half for the end; any other a third each for the end, the reward
# and the observation; the third of the observation is divided among its numbers. Steps are weighted
# so that each value of the reward counts the same. Numbers of continuous environments may differ by
# 1e-5 and 1e-5 of the value.


class Model(Protocol):
    """A predictor: it makes a row from an observation, and returns the row, observation, reward
    and end after a step."""

    def entered(self, obs: Obs, steps: int = 0) -> Any: ...

    def step(self, row: Any, action: int, random: Random) -> tuple[Any, Obs, float, bool]: ...


@dataclass(frozen=True, slots=True)
class Accuracy:
    """``formula``: the paper's, from 0 to 1; ``whole`` of ``rows`` are right in every value."""

    formula: float
    whole: int
    rows: int

    def to_json(self) -> dict[str, float | int]:
        return {"formula": round(self.formula, 6), "whole": self.whole, "rows": self.rows}


def accuracy(env: Env, model: Model, rows: Sequence[Transition], seed: int = 0) -> Accuracy:
    """Return the accuracy of a model on recorded steps; ``seed`` seeds the draws of the model."""
    random, classes = Random(seed), Counter(one.reward for one in rows)
    score = weight = 0.0
    whole = 0
    for one in rows:
        _, after, reward, done = model.step(model.entered(one.obs, one.steps), one.action, random)
        right = [_near(env, *pair) for pair in zip(after, one.after, strict=True)]
        same = (float(reward == one.reward), float(done == one.done))
        if one.done:
            part, exact = sum(same) / 2, all(same)
        else:
            part, exact = (sum(right) / len(right) + sum(same)) / 3, all(same) and all(right)
        share = 1 / classes[one.reward]
        score, weight, whole = score + share * part, weight + share, whole + exact
    return Accuracy(score / weight, whole, len(rows))


def _near(env: Env, found: float, wanted: float) -> bool:
    if not env.real:
        return found == wanted
    return abs(found - wanted) <= 1e-5 + 1e-5 * abs(wanted)


@dataclass(frozen=True, slots=True)
class Likelihood:
    """For steps with chance: the number that the rules allow, the mean log-likelihood of these in
    nats, and its expectation if the rules are right (the negative entropy)."""

    possible: int
    rows: int
    mean: float
    expected: float

    def to_json(self) -> dict[str, float | int]:
        return {"possible": self.possible, "rows": self.rows,
                "mean": round(self.mean, 6), "expected": round(self.expected, 6)}  # fmt: skip


def likelihood(model: RowModel, rows: Sequence[Transition]) -> Likelihood:
    """Return the likelihood of recorded steps by the exact chances of the rules."""
    logs: list[float] = []
    expected = 0.0
    for one in rows:
        chances = model.chances(one.obs, one.action, one.steps)
        key = (() if one.done else one.after, one.reward, one.done)
        odds = chances.get(key)
        expected += sum(float(p) * log(p) for p in chances.values())
        if odds:
            logs.append(log(odds))
    mean = sum(logs) / len(logs) if logs else float("-inf")
    return Likelihood(len(logs), len(rows), mean, expected / len(rows))
