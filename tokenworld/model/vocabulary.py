"""The vocabulary of a program: enums, types, objects, fluents, params, events."""

from __future__ import annotations

from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model.effects import FieldValue
from tokenworld.model.terms import Binder, OverTimeWord, Term
from tokenworld.model.types import ValueType

FluentKind = Literal["attribute", "relation", "function", "table"]


@frozen
class Unit:
    """A unit; ``multiple`` scales it to the base unit ``base`` (itself for a base unit)."""

    name: str
    base: str
    multiple: int
    span: Span


@frozen
class Enum:
    """``ladder``: the members are ordered and comparable."""

    name: str
    members: tuple[str, ...]
    ladder: bool
    span: Span


@frozen
class ObjectKind:
    """An object type.

    ``ancestors`` lists the type itself, then its ancestors, each before its own parents, and last
    the root ``Object``. ``attributes`` are fluent ids, inherited ones first. ``defaults`` holds
    the effective default of each attribute that has one, overrides applied. ``rooted``: the author
    wrote the root as its parent, ``type T : Object`` (PDDL keeps it).
    """

    name: str
    parents: tuple[str, ...]
    ancestors: tuple[str, ...]
    attributes: tuple[str, ...]
    defaults: tuple[FieldValue, ...]
    span: Span
    rooted: bool = False


@frozen
class FluentParam:
    """A formal of a fluent; ``typed`` is false where the author wrote no type (PDDL keeps it)."""

    name: str
    type: ValueType
    typed: bool = True


@frozen
class Row:
    """One row of a table: constant keys and a value (a relation's row has ``true``)."""

    keys: tuple[Term, ...]
    value: Term
    span: Span


@frozen
class Fluent:
    """A stored fact or value.

    ``id`` is ``Type.name`` for an attribute (one slot per object of ``Type``), else the name.
    ``inverse`` and ``closure`` name the collections they add on the other end.
    ``default`` is the fluent's own default, a constant, before overrides of subtypes.
    ``scratch``: every slot has its default again at the end of a tick, and then is no fact.
    ``monitor``: the checker added it, for a condition on all states up to now.
    """

    id: str
    name: str
    fluent_kind: FluentKind
    params: tuple[FluentParam, ...]
    type: ValueType
    default: Term | None
    span: Span
    static: bool = False
    secret: bool = False
    scratch: bool = False
    monitor: bool = False
    clamped: bool = False
    unique: bool = False
    ordered: bool = False
    nested: bool = False
    symmetric: bool = False
    acyclic: bool = False
    inverse: str | None = None
    closure: str | None = None
    rows: tuple[Row, ...] = ()


@frozen
class OverTime:
    """A condition on all states up to now: a word and its conditions (language.md §19)."""

    word: OverTimeWord
    terms: tuple[Term, ...]


@frozen
class Derive:
    """A derived fact or value, computed and never stored.

    ``recursive``: it uses itself, directly or through others; then it is truth-valued and means
    the least fixpoint. ``uses_me``: its value depends on who acts. ``over_time``: the condition on
    all states up to now that it computes.
    """

    name: str
    params: tuple[Binder, ...]
    value: Term
    type: ValueType
    span: Span
    recursive: bool = False
    uses_me: bool = False
    over_time: OverTime | None = None


@frozen
class ObjectDecl:
    """A named object. ``world`` is ``None`` for a top-level object (a PDDL constant).

    ``typed`` is false where the author wrote no type (PDDL keeps it).
    """

    name: str
    of: str
    title: str | None
    aka: tuple[Term, ...]
    fields: tuple[FieldValue, ...]
    world: str | None
    span: Span
    typed: bool = True


@frozen
class Param:
    """A tunable constant with its range and default (a constant term)."""

    name: str
    type: ValueType
    default: Term
    learned: bool
    span: Span


@frozen
class Event:
    name: str
    params: tuple[Binder, ...]
    span: Span
