"""What a search tells states apart by: keys, and marks for one search alone.

A key spells out the fluents that play may change, who lives, endings, long actions, whose turn it
is, and what rules read of the clock and of awards. A mark has numbers for what fluents hold: it is
quick to make and to compare.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from tokenworld.engine.rows.layout import (
    AWARDED,
    DEEDS,
    KINDS,
    LATCHED,
    LONGS,
    ROUND,
    TICK,
    TURN,
    Slots,
)
from tokenworld.engine.searching.kept import Kept
from tokenworld.engine.searching.key_shape import KeyShape
from tokenworld.engine.searching.numbering import Numbering, Roll
from tokenworld.engine.searching.renaming import Longs, longs_of


class Keys:
    """The keys and marks of one search; ``known`` objects were made before it began.

    Two states have equal marks if and only if they have equal keys.
    """

    def __init__(self, slots: Slots, shape: KeyShape, known: int) -> None:
        self.slots, self._shape, self._known = slots, shape, known
        self.numbering = Numbering(slots, shape, known)
        self._began: Kept | None = None

    def mark(self, state: Kept) -> Hashable:
        """The mark of a state."""
        self.numbering.number(state)
        if state.mark is None:
            S, roll = state.S, state.roll
            told = self.history(S[TICK], S[AWARDED])
            midway = () if not S[TURN] else self.midway(S[TURN], S[DEEDS], S[ROUND])
            longs = self._longs(S, roll) if S[LONGS] else ()
            state.mark = (*state.parts, roll.number, S[LATCHED], longs, told, *midway)
        mark: Hashable = state.mark
        return mark

    def _longs(self, S: list[Any], roll: Roll) -> Longs:
        if roll.ranks is None:
            return S[LONGS]  # type: ignore[no-any-return]
        return longs_of(self.slots, S, roll.made, self._known, roll.ranks)

    def key(self, state: Kept) -> Hashable:
        """The key of a state."""
        return self._key(state.S)

    def _key(self, S: list[Any], *, midway: bool = False) -> Hashable:
        """The same; ``midway``: it is the row that a round began with, of which the clock is no
        news."""
        roll = self.numbering.roll(S)
        told = () if midway else self.history(S[TICK], S[AWARDED])
        lives = self.numbering.told(S[KINDS], roll.made)
        found = (*self.numbering.keys(S, roll), lives, S[LATCHED], self._longs(S, roll), told)
        if not S[TURN]:
            return found
        if not self._shape.looks_back:
            return (*found, S[TURN])
        began = None if S[ROUND] is None else self._key(S[ROUND], midway=True)
        return (*found, S[TURN], S[DEEDS], began)

    def clock(self, tick: int) -> tuple[int, ...]:
        """What rules read of a tick's number."""
        return self._shape.clock.of(tick)

    def history(self, tick: int, awarded: tuple[int, ...]) -> tuple[Hashable, ...]:
        """What rules read of a tick's number and of the awards that were given."""
        clock = self._shape.clock.of(tick)
        return (*clock, tuple(sorted(awarded))) if self._shape.awards else clock

    def midway(self, turn: int, deeds: Any, began: list[Any] | None) -> tuple[Hashable, ...]:
        """Between the actors of a round: whose turn it is and what the rest of it looks at."""
        if not self._shape.looks_back:
            return (turn,)
        return (turn, deeds, None if began is None else self.mark(self.began(began)))

    def began(self, S: list[Any]) -> Kept:
        """The row that a round began with, as a state with its numbers."""
        if self._began is None or self._began.S is not S:
            self._began = Kept(self.slots, S)
            self.numbering.number(self._began)
        return self._began
