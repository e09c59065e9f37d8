"""Created objects in the keys of a search: only their order counts.

Objects that were made before the search keep their numbers. Of those created since, the dead are
left out and the living are counted on from there, so that creating and destroying in turn leads
back to where it began. Only where a rule reads such numbers they count as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from tokenworld.engine.rows.layout import KINDS, LONGS, Slots, Store
from tokenworld.engine.searching.key_shape import KeyShape
from tokenworld.engine.state import LongAction
from tokenworld.ground import Command, Raw
from tokenworld.model import Binder, FluentParam, ObjectType

Ranks = Mapping[int, int]
"""The numbers that created objects count as; everything else counts as itself."""
Longs = tuple[tuple[int | None, LongAction], ...]


def ranks_of(made: Sequence[int], known: int, shape: KeyShape) -> dict[int, int]:
    """What the living objects made since count as, by number."""
    return {number: number if shape.numbers else known + rank for rank, number in enumerate(made)}


def ranked(slots: Slots, store: Store, S: list[Any], known: int, ranks: Ranks) -> Hashable:
    """What a fluent holds, created objects by rank."""
    column = store.column
    value = _renamer(column.fluent.type, ranks)
    if column.tupled:
        params, default = column.fluent.params, column.default
        held = ((args, S[at]) for args, at in slots.places_of(store))
        return frozenset((_renamed(x, params, ranks), value(y)) for x, y in held if y != default)
    if column.single:
        assert store.offset is not None
        return (value(S[store.offset]),)
    numbers = (*range(known), *ranks)
    values = tuple([value(S[store.table[number]]) for number in numbers])
    if not (store.kids and column.fluent.ordered):
        return values
    listed = (S[store.kids[number]] for number in numbers)
    return values, tuple([tuple([ranks.get(x, x) for x in kids]) for kids in listed])


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


def longs_of(slots: Slots, S: list[Any], made: Sequence[int], known: int, ranks: Ranks) -> Longs:
    """Long actions by canonical numbers; an argument that died counts as none at all."""
    gone = {x: -1 for x in range(known, len(S[KINDS])) if x not in made}
    names, actions = {**ranks, **gone}, slots.program.actions
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
        for actor, long in S[LONGS]
    )
