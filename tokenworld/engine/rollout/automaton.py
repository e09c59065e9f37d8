"""A world as a finite automaton that is made while it is played.

States get numbers as they are met, and what an intent comes to in a state is learned once
(`learning`). Worlds that hardly come back to a state gain nothing by that: then the automaton is
closed, and the functions of the world play on (`machine`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from tokenworld.engine.rollout.acting import FIRST, NOW
from tokenworld.engine.rollout.learning import (
    CONTENT,
    Content,
    Intent,
    Learner,
    Lesson,
    Unlearnable,
)
from tokenworld.engine.rollout.places import SEED, TICK
from tokenworld.engine.rollout.reading import Row
from tokenworld.engine.rollout.scratch import (
    ENDED_AT,
    RECORDS,
    REWARDS,
    TALLY,
    TURNS,
)

__all__ = ["MOST_STATES", "PASS", "STAY", "Automaton", "Beginning", "Closed", "Counts", "Store"]

MOST_STATES: Final = 50_000
WINDOW: Final = 500
Beginning = tuple[int, int]
"""State and tick with which a world that is over begins anew; `STAY`: it stays over."""
STAY: Final = (-1, 0)
PASS: Final = 0
"""The number of `pass` among the intents."""


class Closed(Exception):
    """The automaton does not pay, or cannot say what happens: the world's functions play on."""


@dataclass(slots=True)
class Counts:
    """Where a run stands, and what it came to so far; ``at`` is its state's number."""

    at: int
    tick: int
    seed: int
    records: int = 0
    turns: int = 0
    reward: int = 0
    ended_at: int = -1
    statuses: list[int] = field(default_factory=lambda: [0] * 9)


class Store(Protocol):
    """Keeps what was learned in the form that its player reads."""

    def room(self, states: int, intents: int) -> None:
        """Make room for so many states and intents; `Closed` where they are too many."""

    def keep(self, at: int, intent: int, lesson: Lesson, after: int) -> None:
        """An intent in a state, with draws, comes to a result and another state."""

    def offer(self, at: int, offers: Sequence[Sequence[int]]) -> None:
        """What is legal in a state, by action."""

    def ended(self, at: int) -> None:
        """In a state the world is over."""


class Automaton:
    """States and intents by number; asks the learner for what is not known yet.

    ``patience``: so many ticks may be learned in any case; of those beyond, each `WINDOW` must
    have been worth ``gain`` ticks each.
    """

    def __init__(self, learner: Learner, store: Store, patience: int, gain: int) -> None:
        self.learner, self.store = learner, store
        self.patience, self.gain = patience, gain
        self.contents: list[Content] = []
        self.intents: list[Intent] = []
        self._states: dict[Content, int] = {}
        self._intents: dict[Intent, int] = {}
        self.learned = self.walked = self._looked = 0
        self._scores: dict[int, int] = {}
        self.intent((-1,))

    # ---- numbers ------------------------------------------------------------------------------

    def intent(self, intent: Intent) -> int:
        """The number of an intent."""
        found = self._intents.get(intent)
        if found is None:
            found = self._intents[intent] = len(self.intents)
            self.intents.append(intent)
            self.store.room(len(self.contents), len(self.intents))
        return found

    def state(self, content: Content) -> int:
        """The number of a state."""
        found = self._states.get(content)
        if found is None:
            if len(self.contents) >= MOST_STATES:
                raise Closed
            found = self._states[content] = len(self.contents)
            self.contents.append(content)
            self.store.room(len(self.contents), len(self.intents))
            if self.learner.over(content):
                self.store.ended(found)
        return found

    # ---- learning -----------------------------------------------------------------------------

    def learn(self, at: int, intent: int, seed: int, tick: int) -> Lesson:
        """Play a tick that is not known, and keep what it came to."""
        self.learned += 1
        if self.learned >= self.patience and self.learned % WINDOW == 0:
            if self.walked - self._looked < self.gain * WINDOW and self._looked:
                raise Closed
            self._looked = self.walked
        try:
            lesson = self.learner.tick(self.contents[at], self.intents[intent], seed, tick)
        except Unlearnable:
            raise Closed from None
        if lesson is None:
            raise Closed  # the functions of the world come to the same, and say so
        self.store.keep(at, intent, lesson, self.state(lesson.leaf.content))
        return lesson

    def legal(self, at: int) -> None:
        """Find out what is legal in a state."""
        try:
            found = self.learner.offers(self.contents[at])
        except Unlearnable:
            raise Closed from None
        self.store.offer(at, [[self.intent(one) for one in row] for row in found])

    # ---- runs ---------------------------------------------------------------------------------

    def enter(self, rows: Sequence[Row], X: Row) -> Counts:
        """Where the run stands that rows and counts hold."""
        now = rows[NOW]
        at = self.state(self.learner.content(now, rows[self.learner.space["BEGAN"]]))
        return Counts(
            at, int(now[TICK]), int(now[SEED]), int(X[RECORDS]), int(X[TURNS]), int(X[REWARDS]),
            int(X[ENDED_AT]), [int(one) for one in X[TALLY : TALLY + 9]],
        )  # fmt: skip

    def leave(self, counts: Counts, rows: Sequence[Row], X: Row) -> None:
        """Put a run back into rows and counts."""
        rows[NOW][TICK], rows[NOW][SEED] = counts.tick, counts.seed
        self.learner.place(rows, self.contents[counts.at])
        X[RECORDS], X[TURNS], X[REWARDS] = counts.records, counts.turns, counts.reward
        X[ENDED_AT] = counts.ended_at
        X[TALLY : TALLY + 9] = counts.statuses

    def first(self, rows: Sequence[Row]) -> int:
        """The state with which the run began."""
        return self.state(self.learner.content(rows[FIRST], rows[FIRST]))

    # ---- what is read of a state --------------------------------------------------------------

    def slot(self, at: int, slot: int) -> int:
        """A slot of a state that is neither tick nor seed."""
        return self.contents[at][slot - CONTENT]

    def score(self, at: int) -> int:
        """The score in a state, in units of its finest part."""
        found = self._scores.get(at)
        if found is None:
            found = self._scores[at] = self.learner.score(self.contents[at])
        return found
