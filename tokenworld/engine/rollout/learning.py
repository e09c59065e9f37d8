"""Ticks put down as they are played: what drew, how each draw was looked at, what it came to.

A tick is a function of the state, the intent and its draws. `Learner` plays one by the functions of
the world and writes the draws down beside the result, so that the same tick need not be worked out
again: `automaton` keeps what was learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Final

from tokenworld.engine.rollout.acting import NOW, ROWS
from tokenworld.engine.rollout.compiling import Generated
from tokenworld.engine.rollout.drawing import HALF
from tokenworld.engine.rollout.link import linked
from tokenworld.engine.rollout.places import SEED, TICK, TURN
from tokenworld.engine.rollout.reading import Row
from tokenworld.engine.rollout.scratch import (
    ARGS,
    DRAWS,
    ENDED_AT,
    ERR,
    ERROR,
    ESCAPE,
    KEY,
    PASS_ACT,
    REWARDS,
    SEAT,
    STATUS_0,
    STATUS_1,
    U_HIGH,
    U_LOW,
)
from tokenworld.engine.rollout.slots import Plan
from tokenworld.ground.draws import MASK, signed

__all__ = ["CONTENT", "Compared", "Content", "Drawn", "Intent", "Leaf", "Learner", "Lesson",
           "Unlearnable"]  # fmt: skip

CONTENT: Final = 3
"""The slots of a row from here on are the state; before them stand its number, tick and seed."""
Content = tuple[int, ...]
"""A state without tick and seed; amid a round also the state that the round began with."""
Intent = tuple[int, ...]
"""The number of an action and its arguments."""
MOST_TURNS: Final = 256
"""So many ways of how draws may turn out are tried, to see whether an intent is legal in all."""


class Unlearnable(Exception):
    """What happens does not depend on the state and on comparisons of draws alone."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A draw: the key of its rule, in two's complement, and its number."""

    key: int
    number: int


@dataclass(frozen=True, slots=True)
class Compared:
    """A look at the last draw, 64 bits: whether it was below a limit."""

    limit: int
    below: bool


@dataclass(frozen=True, slots=True)
class Leaf:
    """What a tick came to.

    ``statuses`` of its records; ``reward`` in units; ``ticks``, by how many the tick number rose;
    ``latched``, behind how many ticks an ending latched, -1 for none.
    """

    content: Content
    over: bool
    statuses: tuple[int, ...]
    reward: int
    ticks: int
    latched: int

    @property
    def plain(self) -> bool:
        """Whether it is the usual: executed, one record, one tick, and the world goes on."""
        return self.statuses == (0,) and self.ticks == 1 and self.latched < 0 and not self.over


@dataclass(frozen=True, slots=True)
class Lesson:
    """The draws of a tick in order, each followed by the looks at it, and the result."""

    path: tuple[Drawn | Compared, ...]
    leaf: Leaf


class Learner:
    """Plays single ticks of one world from any state; ``row`` is a row that they begin with."""

    def __init__(self, plan: Plan, generated: Generated, row: Row) -> None:
        self.plan = plan
        self.space = linked(generated.source, generated.values, fast=False)
        self.rows = [[int(one) for one in row] for _ in range(ROWS)]
        for number in range(ROWS):
            self.rows[number][0] = 0 if number in (0, 5, 6, 7) else 1
        self.scratch = [0] * generated.scratch
        self.size = plan.row - CONTENT
        self._path: list[Drawn | Compared] = []
        self._legal: list[Intent] = []
        self._forced: list[bool] | None = None
        """How the next looks turn out while it is asked what is legal; then, no."""
        self._ask, self.space["allowed"] = self.space["allowed"], self._allowed
        self._draw = self.space["drawn"]
        for hook in (self.drawn, self.below, self.real_chance, self.uniform):
            self.space[hook.__name__] = hook

    def content(self, now: Row, began: Row) -> Content:
        """The state of a row; ``began``: the row as the round began."""
        found = _tuple(now[CONTENT : self.plan.row])
        if self.plan.seats > 1 and now[TURN] > 0:
            found += _tuple(began[CONTENT : self.plan.row])
        return found

    def place(self, rows: Sequence[Row], content: Content) -> None:
        """Put a state into rows; tick and seed stay."""
        rows[NOW][CONTENT : self.plan.row] = content[: self.size]
        if len(content) > self.size:
            began = rows[self.space["BEGAN"]]
            began[1:CONTENT] = rows[NOW][1:CONTENT]
            began[CONTENT : self.plan.row] = content[self.size :]

    def _set(self, content: Content, seed: int, tick: int) -> None:
        self.rows[NOW][TICK], self.rows[NOW][SEED] = tick, seed
        self.place(self.rows, content)
        self._path = []

    def over(self, content: Content) -> bool:
        """Whether later intents are halted."""
        self._set(content, 0, 0)
        return bool(self.space["is_over"](self.rows[NOW]))

    def score(self, content: Content) -> int:
        """The score in a state."""
        self._set(content, 0, 0)
        row = self.rows[NOW]
        return int(self.space["score_of"](row, row, self.scratch, self.space["ME"]))

    def tick(self, content: Content, intent: Intent, seed: int, tick: int) -> Lesson | None:
        """Play one intent; ``None`` where slots do not suffice."""
        self._set(content, seed, tick)
        X = self.scratch
        X[REWARDS], X[ENDED_AT] = 0, -1
        act, *args = intent
        X[ARGS : ARGS + len(args)] = args
        records = self.space["intend"](self.rows, X, act)
        if X[ERR] == ESCAPE:
            return None
        after = self.content(self.rows[NOW], self.rows[self.space["BEGAN"]])
        statuses = (X[STATUS_0], X[STATUS_1])[2 - records :]
        latched = X[ENDED_AT] - tick if X[ENDED_AT] >= 0 else -1
        path = tuple(self._path)
        over = bool(self.space["is_over"](self.rows[NOW]))
        gone = self.rows[NOW][TICK] - tick
        return Lesson(path, Leaf(after, over, statuses, X[REWARDS], gone, latched))

    def offers(self, content: Content) -> tuple[tuple[Intent, ...], ...]:
        """What is legal, by action, `pass` first; `Unlearnable` where that hangs on draws."""
        self._set(content, 0, 0)
        R, X, space = self.rows, self.scratch, self.space
        X[SEAT] = space["seat_of"](R[NOW]) if self.plan.seats > 1 else 0
        X[ERR] = 0
        space["stale"](X)
        later = space["look_ahead"](R, X)
        if self._path:
            raise Unlearnable
        found: list[tuple[Intent, ...]] = [((PASS_ACT,),)]
        for act in range(len(self.plan.actions)):
            self._legal = []
            space["legal"](R, X, act, later, -1)
            if self._legal:
                found.append(tuple(self._legal))
        if X[ERR] == ESCAPE:
            raise Unlearnable
        return tuple(found)

    def _allowed(self, R: list[Row], X: Row, act: int, later: bool) -> bool:
        """`foreseeing.allowed`, and the intent: it must not hang on how draws turn out."""
        args = X[ARGS : ARGS + len(self.plan.actions[act].params)]
        forced: tuple[bool, ...] = ()
        answers = set[bool]()
        for _ in range(MOST_TURNS):
            self._path, self._forced = [], list(forced)
            X[ARGS : ARGS + len(args)] = args
            answers.add(bool(self._ask(R, X, act, later)))
            taken = [one.below for one in self._path if isinstance(one, Compared)]
            while taken and taken[-1]:
                taken.pop()
            if not taken:
                break
            forced = (*taken[:-1], True)
        else:
            raise Unlearnable
        self._path, self._forced = [], None
        if len(answers) > 1:
            raise Unlearnable
        X[ARGS : ARGS + len(args)] = args
        if True in answers:
            self._legal.append((act, *args))
        return True in answers

    # ---- draws that are written down ----------------------------------------------------------

    def drawn(self, X: Row) -> None:
        """`drawing.drawn`, and which it was."""
        self._path.append(Drawn(signed(X[KEY] & MASK), X[DRAWS]))
        self._draw(X)

    def below(self, X: Row, part: int, whole: int) -> bool:
        """`drawing.below`, and what was asked."""
        if part >= whole:
            return True
        return self._compared(X, (part << 64) // whole)

    def _compared(self, X: Row, limit: int) -> bool:
        if limit <= 0:
            return False
        found = bool((X[U_HIGH] * HALF + X[U_LOW]) < limit)
        if self._forced is not None:
            found = self._forced.pop(0) if self._forced else False
        self._path.append(Compared(limit, found))
        return found

    def real_chance(self, X: Row, share: float) -> int:
        """`drawing.real_chance`, which compares for itself, and what was asked."""
        if not 0.0 <= share <= 1.0:
            return int(self.space["fail"](X, ERROR))
        self.drawn(X)
        high = floor(share * HALF)
        limit = high * HALF + floor((share * HALF - high) * HALF)
        return 1 if limit >> 64 else int(self._compared(X, limit))

    def uniform(self, X: Row, low: float, high: float) -> float:
        """`drawing.uniform`: as many results as there are draws."""
        raise Unlearnable


def _tuple(part: Row) -> Content:
    return tuple(part if isinstance(part, list) else part.tolist())
