"""One world as a machine of whole numbers: begin, give intents, let chance play, read back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from tokenworld.engine.engine import Engine
from tokenworld.engine.rollout.acting import FIRST, NOW, ROWS
from tokenworld.engine.rollout.automaton import STAY, Beginning, Closed, Counts
from tokenworld.engine.rollout.compiling import Generated, generate
from tokenworld.engine.rollout.learning import Learner
from tokenworld.engine.rollout.link import Space, linked
from tokenworld.engine.rollout.marching import March, Marched, Tally, Walked
from tokenworld.engine.rollout.places import LATCHED_N, SEED, TICK
from tokenworld.engine.rollout.recalling import PlainPlayer
from tokenworld.engine.rollout.scratch import (
    ARGS,
    ENDED_AT,
    ERR,
    ESCAPE,
    FOUND,
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
from tokenworld.engine.rollout.scripts import Script, Scripts
from tokenworld.engine.rollout.slots import Plan
from tokenworld.engine.rollout.striding import MOST
from tokenworld.engine.rollout.tables import TablePlayer
from tokenworld.engine.state import State
from tokenworld.ground import Command, NoMatch

__all__ = ["Escaped", "Machine", "March", "Script", "Tally"]

_AT_ONCE = 200_000
"""So many records are played by one call of a compiled function, during which nothing is heard."""
MOST_WORLDS = 3
"""So often a start may differ in what never changes before nothing is learned any more."""


class Escaped(Exception):
    """A world came to need more than slots can hold: the interpreter must play it."""


class Machine:
    """One world, played as plain Python or, if ``fast``, by functions that numba compiles.

    Runs are played by an automaton as long as that pays (`automaton`), else by the functions of the
    world; ``learning`` false leaves the automaton out.
    """

    def __init__(self, engine: Engine, *, fast: bool = False, learning: bool = True) -> None:
        self.engine, self.fast = engine, fast
        self.plan = Plan(engine, engine.start(0))
        self.generated: Generated = generate(self.plan)
        self._acts = {action.name: number for number, action in enumerate(self.plan.actions)}
        self.rows, self.scratch = self._numbers(ROWS), self._scratch()
        self._player: PlainPlayer | TablePlayer | None = None
        self._counts: Counts | None = None
        """Where the run stands, as the automaton has it; rows and counts are then behind."""
        self._first = -1
        self._fixed: list[int] = []
        self._learning = MOST_WORLDS if learning and self.generated.timeless else 0

    @cached_property
    def space(self) -> Space:
        """The functions of the world; compiling them takes seconds, so not before they play."""
        return linked(self.generated.source, self.generated.values, fast=self.fast)

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
        self.plan.origin, self._counts, self._first = state, None, -1
        for number in range(ROWS):
            self.rows[number][:] = row
            self.rows[number][0] = 0 if number in (0, 5, 6, 7) else 1
        self._fresh(state)
        fixed = row[self.plan.row :]
        if self._learning and fixed != self._fixed:
            self._learning, self._fixed, self._player = self._learning - 1, fixed, None

    def _fresh(self, state: State) -> None:
        X = self.scratch
        X[RECORDS], X[TURNS], X[REWARDS], X[FOUND] = 0, 0, 0, 0
        X[TALLY : TALLY + len(STATUSES)] = [0] * len(STATUSES)
        X[ENDED_AT] = state.tick if state.latched else -1
        X[ERR] = 0

    def restart(self, seed: int) -> None:
        """Begin as before with another seed, for worlds whose start owes nothing to chance."""
        first, end, state = self.rows[FIRST], self.plan.row, self.plan.origin
        first[SEED] = seed
        if self._player is not None and self._first >= 0:
            self._counts = self._started(seed)
            return
        self._counts = None
        self.rows[NOW][1:end] = first[1:end]
        self._fresh(state)

    def intend(self, intent: Command | NoMatch) -> tuple[str, ...]:
        """Give an intent; the statuses of its records."""
        self._settle()
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

    def script(self, intents: Sequence[Command | NoMatch]) -> Script:
        """Intents as numbers, for `follow`."""
        rows = tuple(tuple(self._numbered(one)) for one in intents)
        flat = [value for row in rows for value in (*row, *(0,) * (INTENT - len(row)))]
        if not self.fast:
            return Script(rows, flat)
        import numpy as np

        return Script(rows, np.array(flat, np.int64))

    def scripts(self, rows: Sequence[Script]) -> Scripts:
        """Scripts of one length together, for `march`."""
        if len({len(one.intents) for one in rows}) != 1:
            raise ValueError("scripts that are played side by side are equally long")
        return Scripts(tuple(rows))

    def choose(self, turn: int) -> Command:
        """What the random player does in its turn with this number."""
        self._settle()
        act = int(self.space["choose"](self.rows, self.scratch, turn))
        if self.scratch[ERR] == ESCAPE:
            raise Escaped
        if act == PASS_ACT:
            return Command("")
        action = self.plan.actions[act]
        values = (int(self.scratch[ARGS + place]) for place in range(len(action.params)))
        params = zip(action.params, values, strict=True)
        return Command(action.name, tuple(self.plan.decoded(p.type, v) for p, v in params))

    def follow(self, script: Script, most: int, *, again: bool = False) -> int:
        """Give the intents of a `script` up to the end or so many records; how many were given.

        With ``again`` a world that is over begins anew, as learners want it.
        """
        turns, records = self._progress()
        player = self._player_now()
        if player is not None:
            codes = player.codes(script)

            def run(counts: Counts) -> None:
                player.follow(counts, codes, records + most, self._beginning(again))

            if self._recalled(player, run):
                return self._progress()[0] - turns
        X, rows = self.scratch, self.rows
        given, most = int(X[TURNS]) - turns, most - (int(X[RECORDS]) - records)
        flat, count = script.flat[INTENT * given :], len(script.intents) - given
        given += int(self.space["follow"](rows, X, flat, count, most, again))
        if X[ERR] == ESCAPE:
            raise Escaped
        return given

    def march(self, scripts: Scripts, seeds: Sequence[int], *, again: bool = False) -> March:
        """Runs from the beginning, one a seed: run ``i`` is given script ``i % len(scripts)``.

        Each run goes through all of its script, beginning ``again`` where a world is over, or
        staying so. The run of the machine itself may be lost.
        """
        player = self._player_now()
        if isinstance(player, TablePlayer) and len(seeds):
            try:
                if self._first < 0:
                    self._first = player.automaton.first(self.rows)
                start = self._started(int(seeds[0]))
                runs = player.march(start, scripts, seeds, self._beginning(again))
            except Closed:
                self._close()
            else:
                return Marched(self.plan, player.automaton, runs, self.rows[FIRST])
        tallies, rows = [], []
        for number, seed in enumerate(seeds):
            self.restart(seed)
            self.follow(scripts.rows[number % len(scripts.rows)], MOST, again=again)
            tallies.append(self.tally())
            rows.append([int(one) for one in self.row])
        return Walked(self.plan, tallies, rows)

    def play(self, most: int) -> None:
        """Let chance play on, to the end or for so many records; Ctrl-C is heard meanwhile."""
        records = self._progress()[1]
        while records < most:
            enough = min(records + _AT_ONCE, most)
            self._play(enough)
            records = self._progress()[1]
            if records < enough:  # it is over
                return

    def _play(self, most: int) -> None:
        """Let chance play on, to the end or to so many records of the run."""
        player = self._player_now()
        if player is not None and self._recalled(player, lambda at: player.play(at, most)):
            return
        if not self.space["play"](self.rows, self.scratch, most):
            raise Escaped

    def _progress(self) -> tuple[int, int]:
        """How many intents were given in this run, and how many records they made."""
        if self._counts is not None:
            return self._counts.turns, self._counts.records
        return int(self.scratch[TURNS]), int(self.scratch[RECORDS])

    @property
    def learns(self) -> bool:
        """Whether runs are played by the automaton; it is closed where that does not pay."""
        return self._learning > 0

    # ---- what was played before ---------------------------------------------------------------

    def _player_now(self) -> PlainPlayer | TablePlayer | None:
        """The player that recalls ticks, as long as that pays."""
        if self._player is None and self._learning:
            learner = Learner(self.plan, self.generated, self.rows[NOW])
            self._player = TablePlayer(learner) if self.fast else PlainPlayer(learner)
        return self._player

    def _recalled(self, player: PlainPlayer | TablePlayer, run: Callable[[Counts], None]) -> bool:
        """Play a run, or as much of it as is known by its automaton; whether that was all."""
        try:
            if self._counts is None:
                self._counts = player.automaton.enter(self.rows, self.scratch)
            if self._first < 0:
                self._first = player.automaton.first(self.rows)
            run(self._counts)
        except Closed:
            self._close()
            return False
        return True

    def _close(self) -> None:
        """From now on the functions of the world play."""
        self._settle()
        self._learning, self._player = 0, None

    def _started(self, seed: int) -> Counts:
        """A run that begins."""
        state = self.plan.origin
        return Counts(self._first, state.tick, seed, ended_at=state.tick if state.latched else -1)

    def _beginning(self, again: bool) -> Beginning:
        """Where a world that is over goes on."""
        return (self._first, int(self.rows[FIRST][TICK])) if again else STAY

    def _settle(self) -> None:
        """Put a run that the automaton played into rows and counts."""
        if self._counts is not None and self._player is not None:
            self._player.automaton.leave(self._counts, self.rows, self.scratch)
        self._counts = None

    # ---- reading back -------------------------------------------------------------------------

    def state(self) -> State:
        """The interpreter's state of the world now."""
        return self.plan.decode(self.row)

    @property
    def row(self) -> Sequence[int]:
        """The slots of the world now."""
        self._settle()
        found: Sequence[int] = self.rows[NOW]
        return found

    def _slot(self, slot: int) -> int:
        if self._counts is not None and self._player is not None:
            return self._player.automaton.slot(self._counts.at, slot)
        return int(self.rows[NOW][slot])

    @property
    def tick(self) -> int:
        """The number of ticks committed."""
        return self._counts.tick if self._counts is not None else int(self.rows[NOW][TICK])

    def over(self) -> bool:
        """Whether later intents are halted."""
        return bool(self._slot(LATCHED_N)) and not self.plan.world.endless

    @property
    def first_ending(self) -> int:
        """The number of the ending that was latched first, -1 for none."""
        endings = range(len(self.plan.world.endings))
        return next((i for i in endings if self._slot(self.plan.latched + i) == 1), -1)

    def score(self) -> int:
        """The score in units of its finest part."""
        if self._counts is not None and self._player is not None:
            return self._player.automaton.score(self._counts.at)
        row, (space, X) = [int(one) for one in self.rows[NOW]], self._plain
        return int(space["score_of"](row, row, X, space["ME"]))

    @cached_property
    def _plain(self) -> tuple[Space, list[int]]:
        """The functions as plain Python, for what is asked once a run, and their scratch."""
        space = linked(self.generated.source, self.generated.values, fast=False)
        return space, [0] * self.generated.scratch

    def tally(self) -> Tally:
        """The counts of the run."""
        found = self._counts
        if found is not None:
            statuses = tuple(found.statuses)
            return Tally(found.records, found.turns, statuses, found.reward, found.ended_at)
        X = self.scratch
        return Tally(
            int(X[RECORDS]),
            int(X[TURNS]),
            tuple(int(X[TALLY + status]) for status in range(len(STATUSES))),
            int(X[REWARDS]),
            int(X[ENDED_AT]),
        )
