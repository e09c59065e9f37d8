"""Runs through an automaton in arrays: its store, and what drives the kernels of `striding`.

The kernels know no world, so they are compiled once, and none of the world's own functions need be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any, Final

from tokenworld.engine.rollout import abreast, striding
from tokenworld.engine.rollout.abreast import LANE_SIZE, SIDE
from tokenworld.engine.rollout.automaton import Automaton, Beginning, Closed, Counts
from tokenworld.engine.rollout.learning import Compared, Drawn, Leaf, Learner, Lesson
from tokenworld.engine.rollout.scripts import Script, Scripts
from tokenworld.engine.rollout.striding import (
    ASK_TICK,
    DONE,
    DRAW,
    GIVEN,
    LEAF,
    MOST,
    REWARD_BIT,
    RUN,
    RUN_SEED,
    RUN_TURNS,
    TEST,
)
from tokenworld.ground import draws
from tokenworld.ground.draws import signed

__all__ = ["TablePlayer"]

PATIENCE, GAIN = 20_000, 50
"""A tick that is learned takes as long as fifty that compiled functions play."""
MOST_EDGES: Final = 1 << 22
MOST_INTENTS: Final = 1 << 14
MOST_ABREAST: Final = 1 << 7
"""Intents of runs side by side are bytes: what they read is what holds them up."""
_UNKNOWN: Final = 1
_SIDE: Final = 1 << 38
"""A reward as large as this is no usual one."""


class TablePlayer:
    """Plays runs of one world; also the store of its automaton."""

    def __init__(self, learner: Learner) -> None:
        import numpy as np

        self._np = np
        self._width, self._room = 8, 64
        self._edge = np.full(self._width * self._room, _UNKNOWN, np.int64)
        self._root = np.full(self._width * self._room, -1, np.int64)
        self._over = np.zeros(self._room, np.int64)
        self._offer_at = np.full(self._room, -1, np.int64)
        self._nodes, self._leaves = np.zeros((64, 4), np.int64), np.zeros((64, 7), np.int64)
        self._offer = np.zeros(64, np.int64)
        self._used = {"nodes": 0, "leaves": 0, "offer": 0}
        self._ask = np.zeros(5, np.int64)
        self._lanes = np.zeros(LANE_SIZE, np.int64)
        self._kernels = _compiled()
        self.automaton = Automaton(learner, self, PATIENCE, GAIN)

    # ---- what was learned ---------------------------------------------------------------------

    def room(self, states: int, intents: int) -> None:
        """Make room for so many states and intents; `Closed` where they are too many."""
        while intents > self._width:
            self._widen()
        while states > self._room:
            self._lengthen()
        if self._width > MOST_INTENTS or self._width * self._room > MOST_EDGES:
            raise Closed

    def _widen(self) -> None:
        np = self._np
        for name, nothing in (("_edge", _UNKNOWN), ("_root", -1)):
            old = getattr(self, name).reshape(self._room, self._width)
            new = np.full((self._room, 2 * self._width), nothing, np.int64)
            new[:, : self._width] = old
            setattr(self, name, new.reshape(-1))
        self._width *= 2

    def _lengthen(self) -> None:
        np, more = self._np, self._room
        self._edge = np.append(self._edge, np.full(more * self._width, _UNKNOWN, np.int64))
        self._root = np.append(self._root, np.full(more * self._width, -1, np.int64))
        self._over = np.append(self._over, np.zeros(more, np.int64))
        self._offer_at = np.append(self._offer_at, np.full(more, -1, np.int64))
        self._room += more

    def ended(self, at: int) -> None:
        """In a state the world is over."""
        self._over[at] = 1

    def offer(self, at: int, offers: Sequence[Sequence[int]]) -> None:
        """What is legal: how many actions but `pass`, for each how many and where, then all."""
        actions = offers[1:]
        numbers, begin = [len(actions)], self._used["offer"] + 1 + 2 * len(actions)
        for row in actions:
            numbers += [len(row), begin]
            begin += len(row)
        for row in actions:
            numbers += row
        self._offer_at[at] = self._take("offer", numbers)

    def _take(self, name: str, *rows: Sequence[int]) -> int:
        """Put rows behind those of a table; the number of the first."""
        at, table = self._used[name], getattr(self, f"_{name}")
        size = len(rows[0]) if name == "offer" else len(rows)
        while at + size > len(table):
            table = self._np.concatenate((table, self._np.zeros_like(table)))
            setattr(self, f"_{name}", table)
        table[at : at + size] = rows[0] if name == "offer" else rows
        self._used[name] = at + size
        return at

    def keep(self, at: int, intent: int, lesson: Lesson, after: int) -> None:
        """A result: the edge itself where nothing is to be noted, else a leaf of a tree."""
        leaf, spot = lesson.leaf, at * self._width + intent
        if not lesson.path and leaf.plain and abs(leaf.reward) < _SIDE:
            self._edge[spot] = (leaf.reward << REWARD_BIT) | after << 1
            return
        place = (-1, spot)
        for part in lesson.path:
            node = self._linked(place)
            if node < 0:
                node = self._node(part)
                self._link(place, node)
            place = (node, 3 if isinstance(part, Compared) and not part.below else 2)
        self._link(place, self._take("nodes", (LEAF, self._leaf(leaf, after), -1, -1)))

    def _linked(self, place: tuple[int, int]) -> int:
        """The node at a place: a column of another node, or an edge if that is -1."""
        node, column = place
        return int(self._root[column] if node < 0 else self._nodes[node, column])

    def _link(self, place: tuple[int, int], to: int) -> None:
        node, column = place
        if node < 0:
            self._root[column] = to
        else:
            self._nodes[node, column] = to

    def _node(self, part: Drawn | Compared) -> int:
        if isinstance(part, Drawn):
            return self._take("nodes", (DRAW, part.key, -1, part.number))
        return self._take("nodes", (TEST, signed(part.limit), -1, -1))

    def _leaf(self, leaf: Leaf, after: int) -> int:
        statuses = (*leaf.statuses, 0)[:2]
        row = (after, leaf.reward, leaf.ticks, leaf.latched, len(leaf.statuses), *statuses)
        return self._take("leaves", row)

    # ---- playing ------------------------------------------------------------------------------

    def codes(self, script: Script) -> Any:
        """The numbers of a script's intents."""
        found = script.codes.get(self)
        if found is None:
            script.codes.clear()
            numbers = [self.automaton.intent(one) for one in script.intents]
            found = script.codes[self] = self._np.array(numbers, self._np.int16)
        return found

    def rows(self, scripts: Scripts) -> Any:
        """The numbers of the intents of scripts: `SIDE` scripts together, turn by turn; none where
        they are too many for bytes."""
        found = scripts.codes.get(self)
        if found is None:
            np = self._np
            scripts.codes.clear()
            every = np.stack([self.codes(one) for one in scripts.rows])
            if every.max(initial=0) >= MOST_ABREAST:
                every = every[:0]
            every = np.pad(every, ((0, -len(every) % SIDE), (0, 0))).astype(np.int8)
            blocks = every.reshape(-1, SIDE, every.shape[1]).transpose(0, 2, 1)
            found = scripts.codes[self] = np.ascontiguousarray(blocks).reshape(-1)
        return found

    def _tables(self) -> tuple[Any, ...]:
        shift = self._width.bit_length() - 1
        return self._edge, shift, self._root, self._nodes, self._leaves, self._over

    def _driven(self, call: Callable[[], int], turns: Callable[[], int]) -> None:
        """Call a kernel again and again, learning in between what it asks for."""
        automaton, ask = self.automaton, self._ask
        while True:
            before = turns()
            answer = call()
            automaton.walked += turns() - before
            if answer == DONE:
                return
            at, intent, seed, tick = (int(one) for one in ask[:4])
            if answer == ASK_TICK:
                automaton.learn(at, intent, seed, tick)
            else:
                automaton.legal(at)

    def follow(self, counts: Counts, intents: Any, most: int, again: Beginning) -> None:
        """Give intents up to the end or to so many records of the run; ``counts.turns`` tells how
        many were given."""
        run = self._run(counts)
        self._counted(counts, run, self._striding(run, intents, min(most, MOST), again))

    def _striding(self, run: Any, codes: Any, most: int, again: Beginning) -> Callable[[], int]:
        """The call of the kernel for one run."""
        start = self._np.array(again, self._np.int64)

        def call() -> int:
            return int(
                self._kernels["stride"](
                    *self._tables(), run, self._ask, codes, len(codes), most, start
                )
            )

        return call

    def play(self, counts: Counts, most: int) -> None:
        """Let chance play on, to the end or to so many records of the run."""
        run = self._run(counts)

        def call() -> int:
            return int(
                self._kernels["roam"](
                    *self._tables(), run, self._ask, self._offer_at, self._offer, most
                )
            )

        self._counted(counts, run, call)

    def march(
        self, counts: Counts, scripts: Scripts, seeds: Sequence[int], again: Beginning
    ) -> Any:
        """Give each run its intents, all from one beginning: the runs as `striding` has them."""
        np = self._np
        every = np.empty((len(seeds), RUN), np.int64)
        every[:] = self._run(counts)
        if isinstance(seeds, range):
            seeds = np.arange(seeds.start, seeds.stop, seeds.step)
        every[:, RUN_SEED] = seeds
        codes = self.rows(scripts) if len(seeds) >= SIDE else ()
        if not len(codes):
            for number, run in enumerate(every):
                one = self.codes(scripts.rows[number % len(scripts.rows)])
                self._driven(self._striding(run, one, MOST, again), _turns(run))
            return every
        made = len(scripts.rows), len(scripts.rows[0].intents)
        given = codes, *made, np.array(again, np.int64), self._lanes
        self._ask[4] = 0

        def call() -> int:
            return int(self._kernels["march"](*self._tables(), every, self._ask, *given))

        self._driven(call, lambda: int(every[:, RUN_TURNS].sum()))
        return every

    def _run(self, counts: Counts) -> Any:
        row = (counts.at, counts.tick, counts.seed, counts.records, counts.turns, counts.reward,
               counts.ended_at, *counts.statuses, 0)  # fmt: skip
        return self._np.array(row, self._np.int64)

    def _counted(self, counts: Counts, run: Any, call: Callable[[], int]) -> None:
        """Drive a kernel over one run; what it came to, also where the automaton is closed."""
        try:
            self._driven(call, _turns(run))
        finally:
            (counts.at, counts.tick, counts.seed, counts.records, counts.turns, counts.reward,
             counts.ended_at, *statuses) = run.tolist()[:GIVEN]  # fmt: skip
            counts.statuses = statuses


def _turns(run: Any) -> Callable[[], int]:
    """What tells how many intents a run was given."""
    return lambda: int(run[RUN_TURNS])


# ---- the kernels ----------------------------------------------------------------------------

_ORDER: Final = (
    "player_draw", "result", "usual", "tick", "stride", "single", "noted", "begins", "abreast",
    "apart", "march", "roam",
)  # fmt: skip


@lru_cache(maxsize=1)
def _compiled() -> dict[str, Any]:
    """The kernels by name, compiled."""
    import numba
    import numpy as np
    from numba import types

    from tokenworld.engine.rollout.gathering import pace
    from tokenworld.engine.rollout.link import OPTIONS

    space: dict[str, Any] = {**vars(striding), **vars(abreast), **draws.compiled()}
    space.update(u64=np.uint64, as_int=np.int64, pace=pace())
    many = types.Array(types.int64, 2, "C")
    kinds = {
        "Row": types.Array(types.int64, 1, "C"), "Grid": many, "int": types.int64,
        "Codes": types.Array(types.int16, 1, "C"), "Bytes": types.Array(types.int8, 1, "C"),
    }  # fmt: skip
    for name in _ORDER:
        function: FunctionType = space[name]
        notes = {one: kind for one, kind in function.__annotations__.items() if one != "return"}
        signature = tuple(kinds[kind] for kind in notes.values())
        moved = FunctionType(function.__code__, space, name)
        space[name] = numba.njit(signature, **OPTIONS)(moved)
    return space
