"""Marks: keys of states that are quick to make and to compare, for one search.

A key spells out what a state holds (see `identity`); to hash it takes as long as it is. A mark has
a number for what each column holds instead. Most states differ from the one whose successors they
are in a column or two: only these are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from operator import itemgetter
from typing import Any

from tokenworld.engine.layout import Column, Layout
from tokenworld.engine.searching.identity import (
    column_of_key,
    history,
    history_of,
    longs_of_key,
    ranks_of,
    roll_of,
)
from tokenworld.engine.searching.key_shape import KeyShape
from tokenworld.engine.state import State
from tokenworld.ground import Command

__all__ = ["Marks"]


class Marks:
    """The marks of the states of one search; ``known`` objects were made before it began.

    Two states have equal marks if and only if they have equal keys.
    """

    __slots__ = (
        "_base",
        "_columns",
        "_known",
        "_made",
        "_numbers",
        "_parts",
        "_rolls",
        "_round",
        "_shape",
    )

    def __init__(self, layout: Layout, shape: KeyShape, known: int) -> None:
        self._columns = tuple(layout.columns[index] for index in shape.kept)
        self._shape, self._known = shape, known
        self._numbers: list[dict[Hashable, int]] = [{} for _ in self._columns]
        self._rolls: dict[Hashable, int] = {}
        self._base: State | None = None
        self._parts: list[int] = []
        self._made: tuple[tuple[int, ...], int] = ((), 0)
        self._round: tuple[State, Hashable] | None = None

    def begin(self, state: State) -> None:
        """The states that come next were made from this one: whatever they share is known."""
        if self._base is not state:
            self._parts, self._made = self._parted(state)
            self._base = state

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that marks number, in their places."""
        return self._columns

    @property
    def parts(self) -> Sequence[int]:
        """The numbers of the columns of the state that it began with."""
        return self._parts

    @property
    def roll(self) -> int:
        """The number of who lives in it."""
        return self._made[1]

    def parts_of(self, state: State) -> Sequence[int]:
        """The numbers of the columns of a state."""
        return self._parted(state)[0]

    def gaps(self, state: State) -> bool:
        """Whether somebody made since the search began lives no more: then others are told by
        their rank, and equal numbers may hide other columns."""
        return len(state.kinds) > self._known + len(self._made[0])

    def clock(self, tick: int) -> tuple[int, ...]:
        """What rules read of a tick's number."""
        return self._shape.clock.of(tick)

    def history(self, tick: int, awarded: tuple[int, ...]) -> tuple[Hashable, ...]:
        """What rules read of a tick's number and of the awards that were given."""
        return history(self._shape, tick, awarded)

    def midway_after(self, state: State, command: Command) -> tuple[Hashable, ...]:
        """What `of` ends with where an actor has done a command and another comes next."""
        if not self._shape.looks_back:
            return (state.seat + 1,)
        began = self._began(state.round or state)
        return (state.seat + 1, state.deeds_after(command), began)

    def of(self, state: State) -> Hashable:
        """The mark of a state."""
        parts, made = self._parted(state)
        longs = longs_of_key(state, self._known, self._shape) if state.longs else ()
        told = history_of(state, self._shape)
        return (*parts, made[1], state.latched, longs, told, *self._midway(state))

    def of_columns(self, columns: Collection[int]) -> Callable[[Any], Hashable]:
        """What takes the numbers of some columns from a mark, and that of who lives."""
        places = [place for place, one in enumerate(self._columns) if one.index in columns]
        return itemgetter(*places, len(self._columns))

    def _parted(self, state: State) -> tuple[list[int], tuple[tuple[int, ...], int]]:
        """The numbers of the columns, and who was made since with the number of who lives."""
        base, made = self._base, self._made
        if base is None or state.kinds is not base.kinds:
            made = self._roll(state)
        if base is None or made[0] != self._made[0]:
            places: Sequence[int] = range(len(self._columns))
            parts = [0] * len(self._columns)
        else:
            parts, mine, theirs = self._parts.copy(), state.cols, base.cols
            places = [
                place
                for place, one in enumerate(self._columns)
                if mine[one.index] is not theirs[one.index]
            ]
        gaps = len(state.kinds) > self._known + len(made[0])
        ranks = ranks_of(state, self._known, self._shape) if gaps else None
        for place in places:
            numbers, column = self._numbers[place], self._columns[place]
            held = _held(state, column) if ranks is None else self._ranked(state, column, ranks)
            number = numbers.get(held)
            if number is None:
                number = numbers[held] = len(numbers)
            parts[place] = number
        return parts, made

    def _ranked(self, state: State, column: Column, ranks: dict[int, int]) -> Any:
        """What a column holds where some of those made since live no more."""
        found = column_of_key(state, column, self._known, ranks)
        if column.tupled or column.fluent.ordered or state.kids[column.index] is None:
            return found
        return found[0]

    def _roll(self, state: State) -> tuple[tuple[int, ...], int]:
        """The living objects made since the search began, and a number for all who live."""
        kinds, known = state.kinds, self._known
        made = tuple([n for n in range(known, len(kinds)) if kinds[n] is not None])
        alive = tuple([kind is not None for kind in kinds[:known]])
        roll = (alive, roll_of(state, made, self._shape))
        number = self._rolls.setdefault(roll, len(self._rolls))
        return made, number

    def _midway(self, state: State) -> tuple[Hashable, ...]:
        """Between the actors of a round: whose turn it is and what the rest of it looks at."""
        if not state.turn:
            return ()
        if not self._shape.looks_back:
            return (state.turn,)
        began = state.round
        if began is None:
            return (state.turn, state.deeds, None)
        return (state.turn, state.deeds, self._began(began))

    def _began(self, began: State) -> Hashable:
        """The mark of the state that a round began with."""
        if self._round is None or self._round[0] is not began:
            self._round = (began, self.of(began))
        return self._round[1]


def _held(state: State, column: Column) -> Any:
    """What a column holds; contents that have no order of their own follow from it."""
    stored = state.cols[column.index]
    if isinstance(stored, dict):
        return frozenset(stored.items())
    if column.fluent.ordered and state.kids[column.index] is not None:
        return tuple(stored), tuple(map(tuple, state.kids[column.index]))
    return tuple(stored)
