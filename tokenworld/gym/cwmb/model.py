"""The rules of a world as a model: enter an observation, and step it quickly for a planner."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from tokenworld.assets import domains_folder
from tokenworld.engine import EngineSimulator, ForcedLuck, State
from tokenworld.engine.rows.layout import LATCHED, SEED, TICK
from tokenworld.engine.rows.log import Row
from tokenworld.engine.rows.runs import Runs
from tokenworld.ground import PASS, Command
from tokenworld.gym.cwmb.envs import SEED_BITS, Env, Obs, Values
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
