"""`born(x)`: the tick of creation becomes an attribute of the types for which rules ask it.

So engine, planners, encodings, hashes and the store handle an ordinary number: -1 at the start,
`tick()` for objects that a rule creates, one less for those that a `setup`, a legend or a `given`
creates between ticks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tokenworld import model as m
from tokenworld.diagnostics import Span


def with_births(program: m.Program) -> m.Program:
    """The program in which `born` is read like an attribute; the same one where nothing asks."""
    asked = dict[str, Span]()

    def note(part: Any) -> Any:
        if isinstance(part, m.BuiltinCall) and part.name == "born":
            asked.setdefault(_type_of(part), part.span)
        return part

    m.copied(program, note)
    if not asked:
        return program
    owners = _owners(program, frozenset(asked))
    owner_of = {
        name: one
        for name in (*program.types, m.ROOT)
        for one in owners
        if program.is_subtype(name, one)
    }
    births = _Births({name: f"{owner}.born" for name, owner in owner_of.items()})
    place = next(iter(asked.values()))
    found: m.Program = m.copied(program, births.change)
    return replace(
        found,
        fluents={**found.fluents, **{f"{one}.born": _fluent(one, place) for one in owners}},
        types={name: births.given(kind) for name, kind in found.types.items()},
    )


def _type_of(call: m.BuiltinCall) -> str:
    """The type of the object that is asked about."""
    kind = call.args[0].type
    assert isinstance(kind, m.ObjectType)
    return kind.name


def _owners(program: m.Program, asked: frozenset[str]) -> frozenset[str]:
    """The types that get the attribute: those asked of, but not below another; all objects where
    a type would inherit it twice."""
    least = frozenset(
        name
        for name in asked
        if not any(name != other and program.is_subtype(name, other) for other in asked)
    )
    shared = (sum(one in least for one in kind.ancestors) > 1 for kind in program.types.values())
    return frozenset({m.ROOT}) if any(shared) else least


def _fluent(owner: str, place: Span) -> m.Fluent:
    params = (m.FluentParam("self", m.ObjectType(owner)),)
    before = _number(-1, place)
    return m.Fluent(f"{owner}.born", "born", "attribute", params, m.NumberType(), before, place)


def _number(value: int, span: Span) -> m.NumberLiteral:
    return m.NumberLiteral(value, m.NumberType(value, value), span)


@dataclass(frozen=True, slots=True)
class _Births:
    """``ids`` holds the attribute of each type that has it."""

    ids: Mapping[str, str]

    def change(self, part: Any) -> Any:
        """A part of the program without the built-in function."""
        if isinstance(part, m.BuiltinCall) and part.name == "born":
            return m.Read(self.ids[_type_of(part)], part.args, part.type, part.span)
        if isinstance(part, m.Create) and part.of in self.ids:
            tick = m.BuiltinCall("tick", (), m.NumberType(0, None), part.span)
            field = m.FieldValue(self.ids[part.of], tick, part.span)
            return replace(part, fields=(*part.fields, field))
        if isinstance(part, m.World):
            setups = m.copied(part.setups, self._earlier)
            return replace(part, setups=setups, layouts=m.copied(part.layouts, self._earlier))
        if isinstance(part, m.Given):
            return replace(part, body=m.copied(part.body, self._earlier))
        return part

    def _earlier(self, part: Any) -> Any:
        """An object created between two ticks counts as born in the first of them."""
        if not isinstance(part, m.FieldValue) or part.fluent not in self.ids.values():
            return part
        one = _number(1, part.span)
        before = m.Arithmetic("-", part.value, one, m.NumberType(), part.span)
        return replace(part, value=before)

    def given(self, kind: m.ObjectKind) -> m.ObjectKind:
        """An object type with the attribute, where its objects have it."""
        if kind.name not in self.ids:
            return kind
        key = self.ids[kind.name]
        default = m.FieldValue(key, _number(-1, kind.span), kind.span)
        return replace(kind, attributes=(*kind.attributes, key), defaults=(*kind.defaults, default))
