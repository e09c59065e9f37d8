"""Which columns terms read, and what these hold: of equal holdings one answer is enough."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from tokenworld.engine.layout import Layout
from tokenworld.engine.state import State
from tokenworld.model import (
    BuiltinCall,
    ClosureOf,
    DeriveCall,
    InverseOf,
    Read,
    TemplateTerm,
    Term,
    subterms,
)

__all__ = ["Grown", "columns_read", "held"]

Tables = dict[str, set[tuple[Any, ...]]]
_MOST = 4096
"""Answers that are kept, and objects of a world for which any are: a large one is not compared."""


def columns_read(
    layout: Layout, terms: Iterable[Term], *, clock: bool = False
) -> tuple[int, ...] | None:
    """The columns that terms may read, through derives; ``None`` where they rest on more than
    columns: the tick (unless ``clock``: the caller looks at it), `was`, what somebody did, names.
    """
    by_id, derives = layout.by_id, layout.instance.program.derives
    todo, known, found = list(terms), set[str](), set[int]()
    while todo:
        for part in subterms(todo.pop()):
            if getattr(part, "was", False):
                return None
            match part:
                case BuiltinCall(name="tick") if clock:
                    pass
                case TemplateTerm() | BuiltinCall(name="tick" | "score" | "busy" | "did"):
                    return None
                case Read(fluent=fluent) | InverseOf(fluent=fluent) | ClosureOf(fluent=fluent):
                    if fluent in by_id:
                        found.add(by_id[fluent].index)
                case DeriveCall(derive=name) if name not in known:
                    known.add(name)
                    todo.append(derives[name].value)
                case _:
                    pass
    return tuple(sorted(found))


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
