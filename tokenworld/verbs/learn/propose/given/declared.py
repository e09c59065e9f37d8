"""The vocabulary of a given program, in which rules are proposed that extend it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, assert_never

from tokenworld import model as m
from tokenworld.ground import Raw
from tokenworld.model.program import ROOT
from tokenworld.session.loading import OpenWorld
from tokenworld.verbs.learn.propose.commands import NUMBER, ObjectNumber, Schema, Slot
from tokenworld.verbs.learn.propose.scenes import ANY, Fluent, Kind, Value, Vocabulary

_REAL_DIGITS: Final = 6
"""Decimals of values that are no exact numbers."""


def declared(world: OpenWorld) -> Vocabulary:
    """Return the types, enums and fluents of a program.

    Attributes of several types that share a name are one fluent, if their values are of one kind;
    else they are left out, and so are fluents of numbers.
    """
    program = world.program
    found = Vocabulary(types=list(program.types))
    for name in program.types:
        below = frozenset(one for one in program.types if program.is_subtype(one, name))
        if len(below) > 1:
            found.groups[name] = below
    found.enums = {one.name: list(one.members) for one in program.enums.values()}
    clashing: set[str] = set()
    for fluent in program.fluents.values():
        one = _fluent(fluent, program)
        known = None if one is None else found.fluents.get(one.name)
        if one is None or (known is not None and known.kind != one.kind):
            clashing.add(fluent.name)
        elif known is not None:
            one = replace(known, owners=known.owners | one.owners, of=_common(known, one))
        if one is not None:
            found.fluents[one.name] = one
    for name in clashing:
        found.fluents.pop(name, None)
    numbers = world.instance.numbers
    found.constants = {
        numbers[one.name]: one.name
        for one in program.objects.values()
        if one.world is None and one.name in numbers
    }
    return found


def _common(one: Fluent, other: Fluent) -> str:
    return one.of if one.of == other.of else ""


def _fluent(fluent: m.Fluent, program: m.Program) -> Fluent | None:
    """Return a fluent as rules are learned of it; ``None`` for one of numbers."""
    shape = _shape(fluent.type)
    sorts = [_sort(one.type) for one in fluent.params]
    if shape is None or NUMBER in sorts or "" in sorts:
        return None
    kind, of, decimals, values = shape
    owners: frozenset[str] = frozenset()
    if fluent.fluent_kind == "attribute":
        owners = frozenset(one for one in program.types if program.is_subtype(one, sorts[0]))
    if kind == "enum":
        values = tuple(program.enums[of].members)
    params = (ANY,) if owners else tuple(ANY if one == ROOT else one for one in sorts)
    optional = m.is_optional(fluent.type)
    return Fluent(fluent.name, params, kind, optional, owners, of, decimals, 0, 0, values)


def _shape(kind: m.ValueType) -> tuple[Kind, str, int, tuple[Value, ...]] | None:
    """Return the kind of a value, its enum, type or unit, its decimals, and some values."""
    match kind:
        case m.BoolType():
            return "bool", "", 0, (True, False)
        case m.EnumType(name=name):
            return "enum", name, 0, ()
        case m.ObjectType(name=name):
            return "object", "" if name == ROOT else name, 0, ()
        case m.NumberType(decimals=decimals, unit=unit):
            return ("real" if decimals else "int"), unit, decimals, ()
        case m.RealType():
            return "real", "", _REAL_DIGITS, ()
        case m.TextType():
            return "text", "", 0, ()
        case m.NoneType() | m.CollectionType():
            return None
        case _:
            assert_never(kind)


def _sort(kind: m.ValueType) -> str:
    match kind:
        case m.ObjectType(name=name) | m.EnumType(name=name):
            return name
        case m.NumberType():
            return NUMBER
        case m.BoolType() | m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
            return ""
        case _:
            assert_never(kind)


# ---- actions ------------------------------------------------------------------------------------


def schemas(program: m.Program, vocabulary: Vocabulary) -> Iterator[Schema]:
    """Yield the actions of a program that rules can be added to."""
    for action in program.actions.values():
        slots = [_slot(one, vocabulary) for one in action.params]
        if None not in slots:
            yield Schema(action.name, tuple(x for x in slots if x), (), given=True)


def _slot(param: m.Binder, vocabulary: Vocabulary) -> Slot | None:
    match param.type:
        case m.ObjectType(name=name):
            kinds = vocabulary.members(ANY if name == ROOT else name)
            return Slot(param.name, ANY, kinds)
        case m.EnumType(name=name):
            return Slot(param.name, name)
        case m.NumberType(low=low, high=high, decimals=decimals):
            whole = Slot(param.name, NUMBER, frozenset(), low or 0, high or 0)
            return None if decimals else whole
        case m.BoolType() | m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
            return None
        case _:
            assert_never(param.type)


def arguments(
    program: m.Program, action: str, raws: tuple[Raw, ...]
) -> tuple[tuple[str, Value], ...]:
    """Return the arguments of a command as rules are learned of them, by their names."""
    params = program.actions[action].params
    return tuple(
        (one.name, _value(program, one.type, raw)) for one, raw in zip(params, raws, strict=True)
    )


def _value(program: m.Program, kind: m.ValueType, raw: Raw) -> Value:
    if isinstance(kind, m.ObjectType) and isinstance(raw, int):
        return ObjectNumber(raw)
    if isinstance(kind, m.EnumType) and isinstance(raw, int):
        return program.enums[kind.name].members[raw]
    if isinstance(kind, m.NumberType) and isinstance(raw, int) and kind.decimals:
        return float(raw / 10**kind.decimals)
    shown: Value = raw if isinstance(raw, (bool, int, float, str)) else None
    return shown
