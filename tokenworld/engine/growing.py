"""Objects are born: their numbers, names, slots and places; and unborn again (language.md §5, §12).

What the rest of a body reads of a newborn comes from a copy of the state in which it has its
fields, but is in no population and in nobody's contents: everything else reads the state before the
body. `grow` and `file` bring it to life when the body is applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tokenworld.engine.births import LIFE, Newborn, ancestry
from tokenworld.engine.layout import Column, Layout
from tokenworld.engine.wide import LONG
from tokenworld.ground import Raw

if TYPE_CHECKING:
    from tokenworld.engine.delta import RawChange
    from tokenworld.engine.state import State

__all__ = ["early", "file", "grow", "life", "sight"]


class _Bed(NamedTuple):
    """What the objects that one place creates have in common, worked out once.

    ``kinds``: the type and its ancestors. ``slots`` is what each growing column holds at first;
    ``given`` are the places there that a field fills, with its place among the fields, ``placed``
    those whose value is where the object is. ``told`` are slots that no field fills and that are
    told of all the same.
    """

    kinds: tuple[str, ...]
    slots: tuple[Raw, ...]
    given: tuple[tuple[int, int], ...]
    placed: tuple[tuple[int, int], ...]
    told: tuple[tuple[Column, Raw], ...]


def _bed_of(layout: Layout, one: Newborn) -> _Bed:
    key = (one.of, one.void, one.columns)
    known: _Bed | None = layout.beds.get(key)
    if known is None:
        known = layout.beds[key] = _made_bed(layout, one)
    return known


def _made_bed(layout: Layout, one: Newborn) -> _Bed:
    fields = {} if one.void else {c.index: place for place, (c, _) in enumerate(one.values)}
    given = [(at, fields[c.index], c) for at, c in enumerate(layout.growing) if c.index in fields]
    slots = tuple(_unnamed(layout, column, one) for column in layout.growing)
    return _Bed(
        () if one.void else ancestry(layout.instance.program, one.of),
        slots,
        tuple((at, place) for at, place, column in given if not column.has_children),
        tuple((at, place) for at, place, column in given if column.has_children),
        tuple(
            (column, value)
            for column, value in zip(layout.growing, slots, strict=True)
            if value is not None and column.index not in fields
        ),
    )


def _unnamed(layout: Layout, column: Column, one: Newborn) -> Raw:
    """What a slot holds at first that the body gave no value."""
    stored = not one.void and column.by_object and column.fluent.fluent_kind != "attribute"
    return column.default if stored and one.of in layout.owners[column.index] else None


# ---- growing ---------------------------------------------------------------------------------


def grow(state: State, newborns: Sequence[Newborn], *, seen_only: bool = False) -> None:
    """Give newborns a number, a name and their slots; what points at others is filed by `file`.

    ``seen_only``: the body's own view of them. Then they are in no population, every slot is
    filled at once, and the counter of numbers stays where it is.
    """
    if state.memo:
        state.memo.clear()
    state.own_roll()
    recent, layout = state.newborn[1], state.layout
    live = {} if seen_only else dict(state.live)
    for one in newborns:
        bed = _bed_of(layout, one)
        state.kinds.append(None if one.void else one.of)
        state.numbers[one.name] = one.number
        recent[one.number] = one
        slots = list(bed.slots)
        for at, place in bed.given if not seen_only else (*bed.given, *bed.placed):
            slots[at] = one.values[place][1]
        _lengthen(state, slots)
        if not seen_only:
            for kind in bed.kinds:
                live[kind] = (*live[kind], one.number)
    state.names = (*state.names, *[one.name for one in newborns])
    if not seen_only:
        state.next_id, state.live = len(state.kinds), live


def _lengthen(state: State, slots: list[Raw]) -> None:
    """One more slot in each growing column. A column that is shared is copied on the way."""
    cols, kids, mine = state.cols, state.kids, state.mine
    short = len(state.kinds) < LONG
    for (index, by_object, has_children), value in zip(state.layout.lengths, slots, strict=True):
        if index not in mine:
            if short and not has_children:
                mine.add(index)
                cols[index] = [*cols[index], value]
                continue
            state.to_write(state.layout.columns[index])
        if by_object:
            cols[index].append(value)
        if has_children:
            kids[index].append([])


def file(state: State, one: Newborn) -> None:
    """Put a newborn where its fields say: at the end of its containers."""
    for at, place in _bed_of(state.layout, one).placed:
        value = one.values[place][1]
        if value is not None:
            state.put(state.layout.growing[at], one.number, value)


def life(state: State, one: Newborn) -> list[RawChange]:
    """The changes that tell of a birth: that it exists, and each value that it begins with."""
    if one.void:
        return []
    number, rule = one.number, one.rule
    begun: list[RawChange] = [(LIFE, number, None, one.of, rule)]
    begun += [(c, number, None, value, rule) for c, value in one.values if value is not None]
    begun += [(c, number, None, value, rule) for c, value in _bed_of(state.layout, one).told]
    return begun


# ---- reading ---------------------------------------------------------------------------------


def sight(state: State, known: State | None, newborns: Sequence[Newborn]) -> State:
    """``state`` with newborns readable; ``known`` is an earlier view of some of them."""
    seen = known if known is not None else state.fork()
    missing = newborns[len(seen.kinds) - seen.next_id :]
    if missing:
        grow(seen, missing, seen_only=True)
    return seen


def early(S: State, W: State) -> State:
    """The start of the tick, in which objects born since read as they were born.

    So that `was x.f` has a value of its type for every object there is.
    """
    if len(W.kinds) >= len(S.kinds):
        return W
    known: tuple[State, State] | None = S.memo.get("early")
    if known is None or known[0] is not W:
        known = S.memo["early"] = (W, _padded(S, W))
    return known[1]


def _padded(S: State, W: State) -> State:
    padded, born = W.fork(), S.newborn[1]
    late = [
        born.get(number) or _as_it_is(S, number) for number in range(len(W.kinds), len(S.kinds))
    ]
    grow(padded, late, seen_only=True)
    return padded


def _as_it_is(state: State, number: int) -> Newborn:
    """An object born in an earlier tick than the last one, which nobody remembers as a newborn."""
    kind = state.kinds[number]
    columns = [column for column in state.layout.columns if column.by_object]
    values = tuple((column, state.cols[column.index][number]) for column in columns)
    indexes = tuple(column.index for column in columns)
    name, void = state.names[number], kind is None
    return Newborn(number, name, kind or "", values, "", 0, indexes, void)
