"""What generated prose calls: names in the present state, descriptions, fixpoints."""

from __future__ import annotations

from typing import Any

from tokenworld.engine.emit import Emitter
from tokenworld.engine.layout import Layout
from tokenworld.engine.state import State
from tokenworld.ground import Prose, Raw
from tokenworld.model import Describe, ObjectType

__all__ = ["describe_runtime"]


def describe_runtime(emitter: Emitter, space: dict[str, Any], layout: Layout) -> dict[str, Any]:
    """The functions of prose and of recursive derives, closed over one program's functions."""
    prose: Prose = space["P"]
    instance = layout.instance
    objects = instance.objects

    def name_of(S: State, W: State, me: int | None, x: int) -> str:
        decl = objects[x].decl
        if decl.title is not None:
            return decl.title
        rule = space["NAME"].get(decl.of)
        if rule is not None and S.kinds[x] is not None:
            return str(rule(S, W, me, x))
        return prose.identifier(decl.name)

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

    def fixpoint(S: State, W: State, me: int | None, name: str) -> set[tuple[Raw, ...]]:
        return _fixpoint(space, S, W, me, name)

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
    space: dict[str, Any], S: State, W: State, me: int | None, name: str
) -> set[tuple[Raw, ...]]:
    """The least fixpoint of all recursive derives, computed once per state.

    All recursive derives grow together from nothing until no row is added; as they are
    stratified, each sees finished tables of the strata below only where it must.
    """
    tables = S.memo.get("fixpoint")
    if tables is not None:
        return tables[name]  # type: ignore[no-any-return]
    tables = S.memo["fixpoint"] = {one: set() for one in space["RECURSIVE"]}
    for stratum in space["STRATA"]:
        growing = True
        while growing:
            growing = False
            for one in stratum:
                once, every = space["RECURSIVE"][one]
                for row in every(S):
                    if row not in tables[one] and once(S, W, me, *row):
                        tables[one].add(row)
                        growing = True
    return tables[name]  # type: ignore[no-any-return]


def strata_of(names: tuple[str, ...], calls: dict[str, frozenset[str]]) -> list[list[str]]:
    """Recursive derives in groups that use only themselves and earlier groups."""
    done: set[str] = set()
    groups: list[list[str]] = []
    while len(done) < len(names):
        for name in names:
            group = {name} | {other for other in calls[name] if name in calls[other]}
            below = {other for other in calls[name] if other not in group}
            if name not in done and below <= done:
                groups.append([one for one in names if one in group])
                done |= group
                break
    return groups


def describe_of(rules: tuple[Describe, ...], ancestors: tuple[str, ...]) -> Describe | None:
    """The most specific `describe` rule of a type."""
    for ancestor in ancestors:
        for rule in rules:
            if isinstance(rule.param.type, ObjectType) and rule.param.type.name == ancestor:
                return rule
    return None
