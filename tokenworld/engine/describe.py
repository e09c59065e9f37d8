"""What generated prose calls: names in the present state, descriptions, fixpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenworld.engine.emit import Emitter
from tokenworld.engine.layout import Layout
from tokenworld.engine.reading import Grown
from tokenworld.engine.state import State
from tokenworld.ground import Prose, Raw

__all__ = ["describe_runtime"]


def describe_runtime(emitter: Emitter, space: dict[str, Any], layout: Layout) -> dict[str, Any]:
    """The functions of prose and of recursive derives, closed over one program's functions."""
    prose: Prose = space["P"]
    instance = layout.instance

    def name_of(S: State, W: State, me: int | None, x: int) -> str:
        decl = instance.declared(x, S.names[x])
        if decl is not None and decl.title is not None:
            return decl.title
        kind = S.kinds[x]
        rule = None if kind is None else space["NAME"].get(kind)
        if rule is not None:
            return str(rule(S, W, me, x))
        return prose.identifier(S.names[x])

    def named(S: State, W: State, x: int | None, article: str) -> str:
        if x is None:
            return "nothing"
        return prose.named(name_of(S, W, S.me, x), article)

    def of_enum(members: tuple[str, ...], value: int | None, article: str) -> str:
        if value is None:
            return "nothing"
        return prose.named(prose.identifier(members[value]), article)

    def of_number(value: int | None, decimals: int, unit: str) -> str:
        return "nothing" if value is None else prose.number(value, decimals, unit)

    def of_real(value: float | None) -> str:
        return "nothing" if value is None else prose.real(value)

    def of_text(value: str | None) -> str:
        return "nothing" if value is None else value

    grown = Grown(layout)

    def fixpoint(S: State, W: State, me: int | None, name: str) -> set[tuple[Raw, ...]]:
        return _fixpoint(space, grown, S, W, me, name)

    return {
        "name_of": name_of,
        "named": named,
        "of_enum": of_enum,
        "of_number": of_number,
        "of_real": of_real,
        "of_text": of_text,
        "fixpoint": fixpoint,
        "RECURSIVE": {},
    }


def _fixpoint(
    space: dict[str, Any], grown: Grown, S: State, W: State, me: int | None, name: str
) -> set[tuple[Raw, ...]]:
    """The least fixpoint of a recursive derive, computed once per state, actor and tick's start,
    and for all states in which what it rests on is the same.

    The derives of its stratum grow together from nothing until no row is added. Those of the
    strata below are asked for while it grows, and are then computed to their end in the same way.
    """
    early: State | None = None if W is S else W  # one that remembers itself is not freed by count
    known = S.memo.get(("fixpoint", me))
    if known is None or known[0] is not early:
        known = S.memo["fixpoint", me] = (early, {})
    tables: dict[str, set[tuple[Raw, ...]]] = known[1]
    if name not in tables:
        key = grown.key(S, me, name)
        if key is not None and (before := grown.known(key)) is not None:
            tables.update(before)
            return tables[name]
        stratum = space["STRATA"][name]
        tables.update((one, set()) for one in stratum)
        try:
            _grow(space, S, W, me, stratum, tables)
        except BaseException:
            for one in stratum:  # a number was undefined: a half-grown table must not be read
                tables.pop(one, None)
            raise
        if key is not None:
            grown.keep(key, {one: tables[one] for one in stratum})
    return tables[name]


def _grow(
    space: dict[str, Any],
    S: State,
    W: State,
    me: int | None,
    stratum: Sequence[str],
    tables: dict[str, set[tuple[Raw, ...]]],
) -> None:
    growing = True
    while growing:
        growing = False
        for one in stratum:
            once, every = space["RECURSIVE"][one]
            table = tables[one]
            for row in every(S):
                if row not in table and once(S, W, me, *row):
                    table.add(row)
                    growing = True


def strata_of(
    names: tuple[str, ...], calls: dict[str, frozenset[str]]
) -> dict[str, tuple[str, ...]]:
    """The stratum of each recursive derive: those that use it and that it uses, in order."""
    return {
        name: tuple(
            one for one in names if one == name or (one in calls[name] and name in calls[one])
        )
        for name in names
    }
