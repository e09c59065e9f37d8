"""One world as a machine of whole numbers: begin, give intents, let chance play, read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokenworld.engine.engine import Engine
from tokenworld.engine.rollout.acting import ROWS
from tokenworld.engine.rollout.compiling import Generated, generate
from tokenworld.engine.rollout.link import Space, linked
from tokenworld.engine.rollout.scratch import (
    ARGS,
    ENDED_AT,
    ERR,
    ESCAPE,
    INTENT,
    NO_MATCH,
    OUT_OF_TURN,
    PASS_ACT,
    RECORDS,
    REWARDS,
    STATUS_0,
    STATUS_1,
    STATUSES,
    TALLY,
    TURNS,
)
from tokenworld.engine.rollout.slots import Plan
from tokenworld.engine.state import State
from tokenworld.ground import Command, NoMatch

__all__ = ["Escaped", "Machine", "Tally"]


class Escaped(Exception):
    """A world came to need more than slots can hold: the interpreter must play it."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What a run came to: records by status, rewards in units, the tick of the first ending."""

    records: int
    turns: int
    statuses: tuple[int, ...]
    rewards: int
    ended_at: int


class Machine:
    """The functions of one world, run as plain Python or, if ``fast``, compiled by numba."""

    def __init__(self, engine: Engine, *, fast: bool = False) -> None:
        self.engine, self.fast = engine, fast
        self.plan = Plan(engine, engine.start(0))
        self.generated: Generated = generate(self.plan)
        self.space: Space = linked(self.generated.source, self.generated.values, fast=fast)
        self._acts = {action.name: number for number, action in enumerate(self.plan.actions)}
        self.rows, self.scratch = self._numbers(ROWS), self._scratch()

    def _numbers(self, rows: int) -> Any:
        if not self.fast:
            return [[0] * self.plan.next for _ in range(rows)]
        import numpy as np

        return np.zeros((rows, self.plan.next), np.int64)

    def _scratch(self) -> Any:
        if not self.fast:
            return [0] * self.generated.scratch
        import numpy as np

        return np.zeros(self.generated.scratch, np.int64)

    def begin(self, state: State) -> None:
        """Put a state, between two ticks, in place; `Inexpressible` where it does not fit."""
        row = self.plan.encode(state)
        self.plan.origin = state
        for number in range(ROWS):
            self.rows[number][:] = row
            self.rows[number][0] = 0 if number in (0, 5, 6, 7) else 1
        self.space["fresh"](self.scratch, state.tick if state.latched else -1)
        self.scratch[ERR] = 0

    def restart(self, seed: int) -> None:
        """Begin as before with another seed, for worlds whose start owes nothing to chance."""
        state = self.plan.origin
        ended = state.tick if state.latched else -1
        self.space["restart"](self.rows, self.scratch, seed, ended)

    def intend(self, intent: Command | NoMatch) -> tuple[str, ...]:
        """Give an intent; the statuses of its records."""
        records = self.space["intend"](self.rows, self.scratch, self._act(intent))
        if self.scratch[ERR] == ESCAPE:
            raise Escaped
        self.space["note"](self.scratch, records)
        return self._statuses(records)

    def _statuses(self, records: int) -> tuple[str, ...]:
        places = (STATUS_0, STATUS_1)[2 - records :]
        return tuple(STATUSES[int(self.scratch[place])] for place in places)

    def _act(self, intent: Command | NoMatch) -> int:
        """Put the arguments in place; the number of the action."""
        act, *args = self._numbered(intent)
        for place, value in enumerate(args):
            self.scratch[ARGS + place] = value
        return act

    def _numbered(self, intent: Command | NoMatch) -> list[int]:
        if isinstance(intent, NoMatch):
            return [OUT_OF_TURN if intent.out_of_turn else NO_MATCH]
        if intent.is_pass:
            return [PASS_ACT]
        return [self._acts[intent.action], *map(self.plan.encoded, intent.args)]

    def script(self, intents: Sequence[Command | NoMatch]) -> Any:
        """Intents as one list of numbers, `INTENT` each, for `follow`."""
        rows = (self._numbered(one) for one in intents)
        numbers = [value for row in rows for value in (*row, *(0,) * (INTENT - len(row)))]
        if not self.fast:
            return numbers
        import numpy as np

        return np.array(numbers, np.int64)

    def choose(self, turn: int) -> Command:
        """What the random player does in its turn with this number."""
        act = int(self.space["choose"](self.rows, self.scratch, turn))
        if self.scratch[ERR] == ESCAPE:
            raise Escaped
        if act == PASS_ACT:
            return Command("")
        action = self.plan.actions[act]
        values = (int(self.scratch[ARGS + place]) for place in range(len(action.params)))
        params = zip(action.params, values, strict=True)
        return Command(action.name, tuple(self.plan.decoded(p.type, v) for p, v in params))

    def follow(self, script: Any, most: int, *, again: bool = False) -> int:
        """Give the intents of a `script` up to the end or so many records; how many were given.

        With ``again`` a world that is over begins anew, as learners want it.
        """
        count = len(script) // INTENT
        given = int(self.space["follow"](self.rows, self.scratch, script, count, most, again))
        if self.scratch[ERR] == ESCAPE:
            raise Escaped
        return given

    def play(self, most: int) -> None:
        """Let chance play on, to the end or for so many records."""
        if not self.space["play"](self.rows, self.scratch, most):
            raise Escaped

    # ---- reading back -------------------------------------------------------------------------

    def state(self) -> State:
        """The interpreter's state of the world now."""
        return self.plan.decode(self.row)

    @property
    def row(self) -> Sequence[int]:
        """The slots of the world now."""
        found: Sequence[int] = self.rows[0]
        return found

    @property
    def tick(self) -> int:
        """The number of ticks committed."""
        return int(self.rows[0][1])

    def over(self) -> bool:
        """Whether later intents are halted."""
        return bool(self.rows[0][5]) and not self.plan.world.endless

    @property
    def first_ending(self) -> int:
        """The number of the ending that was latched first, -1 for none."""
        order = [
            int(self.rows[0][self.plan.latched + i]) for i in range(len(self.plan.world.endings))
        ]
        return order.index(1) if 1 in order else -1

    def score(self) -> int:
        """The score in units of its finest part."""
        row, X = self.rows[0], self.scratch
        return int(self.space["score_of"](row, row, X, self.space["ME"]))

    def tally(self) -> Tally:
        """The counts of the run."""
        X = self.scratch
        return Tally(
            int(X[RECORDS]),
            int(X[TURNS]),
            tuple(int(X[TALLY + status]) for status in range(len(STATUSES))),
            int(X[REWARDS]),
            int(X[ENDED_AT]),
        )
