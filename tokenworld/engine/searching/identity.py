"""What a search tells states apart by.

Objects that were made before the search keep their numbers. Of those created since, only their
order counts: the dead are left out and the living are counted on from there, so that creating and
destroying in turn leads back to where it began. Only where a rule reads such numbers they count as
they are, and so does the one that comes next.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from tokenworld.engine.layout import Column
from tokenworld.engine.searching.key_shape import KeyShape
from tokenworld.engine.state import LongAction, State
from tokenworld.ground import Command, Raw
from tokenworld.model import Binder, FluentParam, ObjectType

__all__ = [
    "Parts",
    "column_of_key",
    "history",
    "history_of",
    "key_of",
    "longs_of_key",
    "ranks_of",
    "roll_of",
]

Ranks = Mapping[int, int]
"""The numbers that created objects count as; everything else counts as itself."""
_MOST = 4096
"""Columns whose parts of keys are remembered at the same time."""


class Parts:
    """What the columns of states come to in keys, for states share those that nobody wrote to."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Any, tuple[int, ...], Any]] = {}

    def of(
        self, state: State, index: int, made: tuple[int, ...], work_out: Callable[[int], Any]
    ) -> Any:
        """The part of a column; ``made`` are the living objects created since the search began."""
        if index in state.mine:
            return work_out(index)  # it may still be written to
        stored, children = state.cols[index], state.kids[index]
        known = self._known.get(id(stored))
        if known is not None and known[0] is stored and known[1] is children and known[2] == made:
            return known[3]
        if len(self._known) >= _MOST:
            self._known.clear()
        found = work_out(index)
        self._known[id(stored)] = (stored, children, made, found)
        return found


def key_of(
    state: State, shape: KeyShape, known: int, *, seen: Parts | None = None, midway: bool = False
) -> Hashable:
    """The columns that play may write, who lives, endings, long actions, whose turn it is, and what
    rules read of the clock and of awards; ``known`` is the number of objects made before the
    search.

    ``seen`` remembers parts of keys from one state to the next. ``midway``: it is the state that a
    round began with, of which the clock is no news.
    """
    known = min(known, len(state.kinds))
    seen = seen or Parts()
    history = history_of(state, shape) if not midway else ()
    if len(state.kinds) == known:

        def frozen(index: int) -> Any:
            return _frozen(state.cols[index], state.kids[index])

        parts: list[Any] = [seen.of(state, index, (), frozen) for index in shape.kept]
        alive = tuple(kind is not None for kind in state.kinds)
        turn = _midway(state, shape, known)
        return (*parts, alive, (), state.latched, state.longs, history, *turn)
    return (
        *_canonical(state, shape, known, seen),
        state.latched,
        longs_of_key(state, known, shape),
        history,
        *_midway(state, shape, known),
    )


def history_of(state: State, shape: KeyShape) -> tuple[Hashable, ...]:
    """What rules read of the number of the tick and of the awards that were given."""
    return history(shape, state.tick, state.awarded)


def history(shape: KeyShape, tick: int, awarded: tuple[int, ...]) -> tuple[Hashable, ...]:
    """The same of a state that is not made yet."""
    clock = shape.clock.of(tick)
    return (*clock, tuple(sorted(awarded))) if shape.awards else clock


def _midway(state: State, shape: KeyShape, known: int) -> tuple[Hashable, ...]:
    """Between the actors of a round: whose turn it is and what the rest of the round looks at."""
    if not state.turn:
        return ()
    if not shape.looks_back:
        return (state.turn,)
    began = None if state.round is None else key_of(state.round, shape, known, midway=True)
    return (state.turn, state.deeds, began)


def _frozen(stored: Any, children: Any) -> Any:
    if isinstance(stored, dict):
        return frozenset(stored.items())
    values = tuple(stored)
    if children is None:
        return values
    return (values, tuple(tuple(kids) for kids in children))


# ---- with created objects -----------------------------------------------------------------------


def ranks_of(state: State, known: int, shape: KeyShape) -> dict[int, int]:
    """What the living objects made since count as, by number."""
    living = [x for x in range(known, len(state.kinds)) if state.kinds[x] is not None]
    return {number: number if shape.numbers else known + rank
            for rank, number in enumerate(living)}  # fmt: skip


def roll_of(state: State, made: Sequence[int], shape: KeyShape) -> tuple[Any, ...]:
    """Who lives of those made since; with their numbers and the next one where rules read them."""
    kinds = tuple([state.kinds[number] for number in made])
    return (kinds, tuple(made), state.next_id) if shape.numbers else kinds


def _canonical(state: State, shape: KeyShape, known: int, seen: Parts) -> tuple[Any, ...]:
    ranks = ranks_of(state, known, shape)
    made, columns = tuple(ranks), state.layout.columns

    def worked_out(index: int) -> Any:
        return column_of_key(state, columns[index], known, ranks)

    parts = tuple([seen.of(state, index, made, worked_out) for index in shape.kept])
    alive = tuple(kind is not None for kind in state.kinds[:known])
    return (*parts, alive, roll_of(state, made, shape))


def column_of_key(state: State, column: Column, known: int, ranks: Ranks) -> Any:
    """What a column holds, created objects by rank."""
    stored, children = state.cols[column.index], state.kids[column.index]
    value = _renamer(column.fluent.type, ranks)
    if isinstance(stored, dict):
        params = column.fluent.params
        return frozenset((_renamed(key, params, ranks), value(one)) for key, one in stored.items())
    if column.single:
        values = tuple(value(one) for one in stored)
    else:
        values = tuple(value(stored[number]) for number in (*range(known), *ranks))
    if children is None:
        return values
    listed = (children[number] for number in (*range(known), *ranks))
    return (values, tuple(tuple(ranks.get(child, child) for child in kids) for kids in listed))


def _renamer(kind: object, ranks: Ranks) -> Callable[[Raw], Raw]:
    if not isinstance(kind, ObjectType):
        return lambda value: value
    return lambda value: ranks.get(value, value) if isinstance(value, int) else value


def _renamed(
    args: Sequence[Raw], params: Sequence[FluentParam | Binder], ranks: Ranks
) -> tuple[Raw, ...]:
    return tuple(
        _renamer(param.type, ranks)(value) for value, param in zip(args, params, strict=True)
    )


def longs_of_key(
    state: State, known: int, shape: KeyShape
) -> tuple[tuple[int | None, LongAction], ...]:
    """Long actions by canonical numbers; an argument that died counts as none at all."""
    ranks: dict[int, int] = ranks_of(state, known, shape)
    gone = {x: -1 for x in range(known, len(state.kinds)) if x not in ranks}
    names = {**ranks, **gone}
    actions = state.layout.instance.program.actions
    return tuple(
        (
            actor if actor is None else names.get(actor, actor),
            LongAction(
                Command(
                    long.command.action,
                    _renamed(long.command.args, actions[long.command.action].params, names),
                ),
                long.done,
                long.total,
            ),
        )
        for actor, long in state.longs
    )
