"""Which columns terms read, and what these hold: of equal holdings one answer is enough."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, assert_never

from tokenworld.engine.layout import Column, Layout
from tokenworld.engine.state import State
from tokenworld.ground import Raw
from tokenworld.model import (
    BuiltinCall,
    Choose,
    ClosureOf,
    DeriveCall,
    Fold,
    InverseOf,
    LeafTerm,
    ListTerm,
    LogicTerm,
    NumberTerm,
    Read,
    TemplateTerm,
    Term,
    TestTerm,
    subterms,
)
from tokenworld.model import Slot as TextSlot

__all__ = ["Columns", "Grown", "columns_by_time", "columns_read", "held", "slots_of"]

Tables = dict[str, set[tuple[Any, ...]]]
_MOST = 4096
"""Answers that are kept, and objects of a world for which any are: a large one is not compared."""


class Columns(NamedTuple):
    """The columns that terms read: those of the present state, and of that at the start of the
    tick (``past``). ``deeds``: they also ask what somebody did or does."""

    now: tuple[int, ...]
    past: tuple[int, ...]
    deeds: bool


def columns_read(
    layout: Layout, terms: Iterable[Term], *, clock: bool = False
) -> tuple[int, ...] | None:
    """The columns that terms may read, through derives; ``None`` where they rest on more than
    columns: the tick (unless ``clock``: the caller looks at it), `was`, what somebody did, names.
    """
    found = columns_by_time(layout, terms, clock=clock)
    return None if found is None or found.past or found.deeds else found.now


def columns_by_time(
    layout: Layout, terms: Iterable[Term], *, clock: bool = False
) -> Columns | None:
    """The same with those that are read as they were at the start of the tick."""
    by_id, derives = layout.by_id, layout.instance.program.derives
    todo: list[tuple[Term, bool]] = [(one, False) for one in terms]
    known, found, deeds = set[tuple[str, bool]](), (set[int](), set[int]()), False
    while todo:
        term, past = todo.pop()
        for part in subterms(term):
            early = past or bool(getattr(part, "was", False))
            match part:
                case BuiltinCall(name="tick") if clock:
                    pass
                case BuiltinCall(name="busy" | "did"):
                    deeds = True
                case BuiltinCall(name="tick" | "score"):
                    return None
                case TemplateTerm(template=template):
                    if any(isinstance(one, TextSlot) for one in template.parts):
                        return None
                case Read(fluent=fluent) | InverseOf(fluent=fluent) | ClosureOf(fluent=fluent):
                    if fluent in by_id:
                        found[early].add(by_id[fluent].index)
                case DeriveCall(derive=name) if (name, early) not in known:
                    known.add((name, early))
                    todo.append((derives[name].value, early))
                case (
                    LeafTerm() | DeriveCall() | LogicTerm() | TestTerm() | NumberTerm() | Choose()
                    | ListTerm() | Fold() | BuiltinCall()
                ):  # fmt: skip
                    pass
                case _:
                    assert_never(part)
    return Columns(tuple(sorted(found[False])), tuple(sorted(found[True])), deeds)


def slots_of(state: State, column: Column) -> list[tuple[tuple[Raw, ...], Raw]]:
    """The slots of a column with their values; of tuples only those that are stored."""
    values = state.cols[column.index]
    if column.tupled:
        return [(column.args(key), value) for key, value in values.items()]
    if column.single:
        return [((), values[0])]
    owners = state.layout.owners.get(column.index, frozenset())
    return [((one,), values[one]) for one, kind in enumerate(state.kinds) if kind in owners]


def held(state: State, columns: Iterable[int]) -> Hashable:
    """What columns hold, and which objects there are."""
    return tuple([_held(state, index) for index in columns]), tuple(state.kinds)


def _held(state: State, index: int) -> Hashable:
    stored, children = state.cols[index], state.kids[index]
    if isinstance(stored, dict):
        return frozenset(stored.items())
    if children is None:
        return tuple(stored)
    return tuple(stored), tuple(map(tuple, children))


class Grown:
    """The tables of recursive derives, by what the columns that they rest on held."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._columns: dict[str, tuple[int, ...] | None] = {}
        self._tables: dict[Hashable, Tables] = {}

    def key(self, state: State, me: int | None, name: str) -> Hashable | None:
        """By what the table of a derive is found again; ``None`` where it has to be grown."""
        if name not in self._columns:
            derive = self._layout.instance.program.derives[name]
            self._columns[name] = columns_read(self._layout, (derive.value,))
        columns = self._columns[name]
        if columns is None or len(state.kinds) > _MOST:
            return None
        return name, me, held(state, columns)

    def known(self, key: Hashable) -> Tables | None:
        return self._tables.get(key)

    def keep(self, key: Hashable, tables: Tables) -> None:
        if len(self._tables) >= _MOST:
            self._tables.clear()
        self._tables[key] = tables
