"""Syntax tree: the items that name files, things, facts and prose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tokenworld.syntax.changes import Block, Field
from tokenworld.syntax.expressions import Expr, Formal, Name, Node, Number, Str, TypeRef

# ---- files --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EditionDecl(Node):
    """`edition 1`."""

    number: Number


@dataclass(frozen=True, slots=True)
class UseDecl(Node):
    """`use grid.cells as g`."""

    path: tuple[Name, ...]
    alias: Name | None


@dataclass(frozen=True, slots=True)
class ModelDecl(Node):
    """`model name`: the file holds beliefs."""

    name: Name


@dataclass(frozen=True, slots=True)
class PddlEntry(Node):
    """`key = value, value`; the key is a setting or the name of a type."""

    key: Name
    values: tuple[Name | Str | Number, ...]


@dataclass(frozen=True, slots=True)
class PddlDecl(Node):
    """`pddl { … }`: what an import must remember."""

    entries: tuple[PddlEntry, ...]


# ---- flags --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Modifier(Node):
    """`static` or `secret`."""

    kind: Literal["static", "secret"]


@dataclass(frozen=True, slots=True)
class Default(Node):
    """`= value`."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Mark(Node):
    """A flag that is one word."""

    kind: Literal["clamped", "unique", "nested", "ordered", "symmetric", "acyclic"]


@dataclass(frozen=True, slots=True)
class Inverse(Node):
    """`inverse name`."""

    name: Name


@dataclass(frozen=True, slots=True)
class Closure(Node):
    """`closure name`."""

    name: Name


Flag = Default | Mark | Inverse | Closure
RelationFlag = Mark | Closure


# ---- vocabulary ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UnitDecl(Node):
    """`unit l` or `unit l = 1000ml`."""

    name: Name
    value: Number | None


@dataclass(frozen=True, slots=True)
class EnumDecl(Node):
    """`enum Lock { open, closed }`, or with `<` a ladder, lowest first."""

    name: Name
    members: tuple[Name, ...]
    ladder: bool


@dataclass(frozen=True, slots=True)
class AttributeDecl(Node):
    """`static x: T flags` in a type."""

    modifiers: tuple[Modifier, ...]
    name: Name
    type: TypeRef
    flags: tuple[Flag, ...]


@dataclass(frozen=True, slots=True)
class TypeDecl(Node):
    """`type T : A, B { … }`; members are attributes and overriding fields, as written."""

    name: Name
    parents: tuple[Name, ...]
    members: tuple[AttributeDecl | Field, ...]


@dataclass(frozen=True, slots=True)
class ObjectDecl(Node):
    """`object a, b: T "Title" aka "word" { f = e }`; without a type it is an `Object`."""

    names: tuple[Name, ...]
    type: Name | None
    title: Str | None
    aka: tuple[Expr, ...]
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class ActorDecl(Node):
    """`actor me: Hero`."""

    name: Name
    type: Name


@dataclass(frozen=True, slots=True)
class RelationDecl(Node):
    """`relation r(a: A, b) symmetric acyclic closure n`."""

    modifiers: tuple[Modifier, ...]
    name: Name
    params: tuple[Formal, ...]
    flags: tuple[RelationFlag, ...]


@dataclass(frozen=True, slots=True)
class FunctionDecl(Node):
    """`function f(a: A): V flags`."""

    modifiers: tuple[Modifier, ...]
    name: Name
    params: tuple[Formal, ...]
    type: TypeRef
    flags: tuple[Flag, ...]


Key = Name | Number | Str


@dataclass(frozen=True, slots=True)
class Row(Node):
    """`k1, k2: value` of a table; without a value the row is a fact."""

    keys: tuple[Key, ...]
    value: Expr | None


@dataclass(frozen=True, slots=True)
class TableDecl(Node):
    """`table t(a: A): V { … }`; without a value type it is a static relation."""

    name: Name
    params: tuple[Formal, ...]
    type: TypeRef | None
    flags: tuple[Flag, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class DeriveDecl(Node):
    """`derive d(x: A): T = value`."""

    name: Name
    params: tuple[Formal, ...]
    type: TypeRef | None
    value: Expr


@dataclass(frozen=True, slots=True)
class ParamDecl(Node):
    """`param rate: 1 to 9 = 3 learned`."""

    name: Name
    type: TypeRef
    value: Expr
    learned: bool


@dataclass(frozen=True, slots=True)
class EventDecl(Node):
    """`event e(x: T)`."""

    name: Name
    params: tuple[Formal, ...]


# ---- prose --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CalledDecl(Node):
    """`called d: Dish = text aka text, …`."""

    formal: Formal
    value: Expr
    aka: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ScopeDecl(Node):
    """`scope x: Thing = condition`."""

    formal: Formal
    condition: Expr


@dataclass(frozen=True, slots=True)
class DescribeDecl(Node):
    """`describe x: T { … }`."""

    formal: Formal
    block: Block
