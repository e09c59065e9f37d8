"""Syntax tree: the items that name files, things, facts and prose."""

from __future__ import annotations

from typing import Literal

from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.changes import Block, Field
from tokenworld.syntax.expressions import Expr, Formal, TypeRef
from tokenworld.syntax.leaves import Name, Node, Number, Str

# ---- files --------------------------------------------------------------------------------


@frozen
class EditionDecl(Node):
    """`edition 1`."""

    number: Number


@frozen
class UseDecl(Node):
    """`use grid.cells as g`."""

    path: tuple[Name, ...]
    alias: Name | None


@frozen
class ModelDecl(Node):
    """`model name`: the file holds beliefs."""

    name: Name


@frozen
class PddlEntry(Node):
    """`key = value, value`; the key is a setting or the name of a type."""

    key: Name
    values: tuple[Name | Str | Number, ...]


@frozen
class PddlDecl(Node):
    """`pddl { … }`: what an import must remember."""

    entries: tuple[PddlEntry, ...]


# ---- flags --------------------------------------------------------------------------------


@frozen
class Modifier(Node):
    """`static` or `secret`."""

    kind: Literal["static", "secret"]


@frozen
class Default(Node):
    """`= value`."""

    value: Expr


@frozen
class Mark(Node):
    """A flag that is one word."""

    kind: Literal["clamped", "unique", "nested", "ordered", "symmetric", "acyclic"]


@frozen
class Inverse(Node):
    """`inverse name`."""

    name: Name


@frozen
class Closure(Node):
    """`closure name`."""

    name: Name


Flag = Default | Mark | Inverse | Closure
RelationFlag = Mark | Closure


# ---- vocabulary ---------------------------------------------------------------------------


@frozen
class UnitDecl(Node):
    """`unit l` or `unit l = 1000ml`."""

    name: Name
    value: Number | None


@frozen
class EnumDecl(Node):
    """`enum Lock { open, closed }`, or with `<` a ladder, lowest first."""

    name: Name
    members: tuple[Name, ...]
    ladder: bool


@frozen
class AttributeDecl(Node):
    """`static x: T flags` in a type."""

    modifiers: tuple[Modifier, ...]
    name: Name
    type: TypeRef
    flags: tuple[Flag, ...]


@frozen
class TypeDecl(Node):
    """`type T : A, B { … }`; members are attributes and overriding fields, as written."""

    name: Name
    parents: tuple[Name, ...]
    members: tuple[AttributeDecl | Field, ...]


@frozen
class ObjectDecl(Node):
    """`object a, b: T "Title" aka "word" { f = e }`; without a type it is an `Object`."""

    names: tuple[Name, ...]
    type: Name | None
    title: Str | None
    aka: tuple[Expr, ...]
    fields: tuple[Field, ...]


@frozen
class ActorDecl(Node):
    """`actor me: Hero`."""

    name: Name
    type: Name


@frozen
class RelationDecl(Node):
    """`relation r(a: A, b) symmetric acyclic closure n`."""

    modifiers: tuple[Modifier, ...]
    name: Name
    params: tuple[Formal, ...]
    flags: tuple[RelationFlag, ...]


@frozen
class FunctionDecl(Node):
    """`function f(a: A): V flags`."""

    modifiers: tuple[Modifier, ...]
    name: Name
    params: tuple[Formal, ...]
    type: TypeRef
    flags: tuple[Flag, ...]


Key = Name | Number | Str


@frozen
class Row(Node):
    """`k1, k2: value` of a table; without a value the row is a fact."""

    keys: tuple[Key, ...]
    value: Expr | None


@frozen
class TableDecl(Node):
    """`table t(a: A): V { … }`; without a value type it is a static relation."""

    name: Name
    params: tuple[Formal, ...]
    type: TypeRef | None
    flags: tuple[Flag, ...]
    rows: tuple[Row, ...]


@frozen
class DeriveDecl(Node):
    """`derive d(x: A): T = value`."""

    name: Name
    params: tuple[Formal, ...]
    type: TypeRef | None
    value: Expr


@frozen
class ParamDecl(Node):
    """`param rate: 1 to 9 = 3 learned`."""

    name: Name
    type: TypeRef
    value: Expr
    learned: bool


@frozen
class EventDecl(Node):
    """`event e(x: T)`."""

    name: Name
    params: tuple[Formal, ...]


# ---- prose --------------------------------------------------------------------------------


@frozen
class CalledDecl(Node):
    """`called d: Dish = text aka text, …`."""

    formal: Formal
    value: Expr
    aka: tuple[Expr, ...]


@frozen
class ScopeDecl(Node):
    """`scope x: Thing = condition`."""

    formal: Formal
    condition: Expr


@frozen
class DescribeDecl(Node):
    """`describe x: T { … }`."""

    formal: Formal
    block: Block
