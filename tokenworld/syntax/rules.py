"""Syntax tree: actions, laws, beliefs and what they must keep."""

from __future__ import annotations

from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.changes import Block, Effect, Let
from tokenworld.syntax.expressions import Expr, Formal, Ref, Template, Where
from tokenworld.syntax.leaves import Name, Node


@frozen
class PhaseDecl(Node):
    """`phase p sequentially by nesting`."""

    name: Name
    sequentially: bool
    by_nesting: bool


# ---- actions ------------------------------------------------------------------------------


@frozen
class Takes(Node):
    """`takes n until c`."""

    ticks: Expr
    until: Expr | None


@frozen
class Require(Node):
    """`require c else label "text"`."""

    condition: Expr
    label: Name | None
    text: Template | None


@frozen
class Cancelled(Node):
    """`cancelled { … }`: what an interrupted long action leaves."""

    block: Block


ActionStep = Require | Cancelled | Effect


@frozen
class ActionDecl(Node):
    """`action a(x: T) as "…" or "…" takes n until c cost e { … }`; steps as written."""

    name: Name
    params: tuple[Formal, ...]
    phrases: tuple[Template, ...]
    takes: Takes | None
    cost: Expr | None
    steps: tuple[ActionStep, ...]


# ---- laws and what must hold --------------------------------------------------------------


@frozen
class LawDecl(Node):
    """`law l(x: T) during p when c { … }`."""

    name: Name
    params: tuple[Formal, ...]
    phase: Name | None
    condition: Expr | None
    block: Block


@frozen
class BirthDecl(Node):
    """`birth x: T { … }`."""

    formal: Formal
    block: Block


@frozen
class WatchDecl(Node):
    """`watch w(x: T) once when c { … }`."""

    name: Name
    params: tuple[Formal, ...]
    once: bool
    condition: Expr
    block: Block


@frozen
class InvariantDecl(Node):
    """`invariant i(x: T): c`."""

    name: Name
    params: tuple[Formal, ...]
    condition: Expr


@frozen
class ConserveDecl(Node):
    """`conserve n: e except a, b`."""

    name: Name
    value: Expr
    exceptions: tuple[Name, ...]


# ---- beliefs ------------------------------------------------------------------------------


@frozen
class Outcome(Node):
    """`value: weight`; for `else: weight` the value is None."""

    value: Expr | None
    weight: Expr


@frozen
class Guess(Node):
    """`target ~ { v: w, else: e }`."""

    target: Ref
    outcomes: tuple[Outcome, ...]


@frozen
class GuessEach(Node):
    """`target ~ { outcome for y: T where c else: e }`."""

    target: Ref
    outcome: Outcome
    where: Where
    otherwise: Expr | None


@frozen
class BelieveDecl(Node):
    """`believe b(x: T) during p when c weight w learned { … }`."""

    name: Name
    params: tuple[Formal, ...]
    phase: Name | None
    condition: Expr | None
    weight: Expr
    learned: bool
    steps: tuple[Let | Guess | GuessEach, ...]
