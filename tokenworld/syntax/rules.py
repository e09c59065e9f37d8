"""Syntax tree: actions, laws, beliefs and what they must keep."""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.syntax.changes import Block, Effect, Let
from tokenworld.syntax.expressions import Expr, Formal, Name, Node, Ref, Template, Where


@dataclass(frozen=True, slots=True)
class PhaseDecl(Node):
    """`phase p sequentially by nesting`."""

    name: Name
    sequentially: bool
    by_nesting: bool


# ---- actions ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Takes(Node):
    """`takes n until c`."""

    ticks: Expr
    until: Expr | None


@dataclass(frozen=True, slots=True)
class Require(Node):
    """`require c else label "text"`."""

    condition: Expr
    label: Name | None
    text: Template | None


@dataclass(frozen=True, slots=True)
class Cancelled(Node):
    """`cancelled { … }`: what an interrupted long action leaves."""

    block: Block


ActionStep = Require | Cancelled | Effect


@dataclass(frozen=True, slots=True)
class ActionDecl(Node):
    """`action a(x: T) as "…" or "…" takes n until c cost e { … }`; steps as written."""

    name: Name
    params: tuple[Formal, ...]
    phrases: tuple[Template, ...]
    takes: Takes | None
    cost: Expr | None
    steps: tuple[ActionStep, ...]


# ---- laws and what must hold --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LawDecl(Node):
    """`law l(x: T) during p when c { … }`."""

    name: Name
    params: tuple[Formal, ...]
    phase: Name | None
    condition: Expr | None
    block: Block


@dataclass(frozen=True, slots=True)
class BirthDecl(Node):
    """`birth x: T { … }`."""

    formal: Formal
    block: Block


@dataclass(frozen=True, slots=True)
class WatchDecl(Node):
    """`watch w(x: T) once when c { … }`."""

    name: Name
    params: tuple[Formal, ...]
    once: bool
    condition: Expr
    block: Block


@dataclass(frozen=True, slots=True)
class InvariantDecl(Node):
    """`invariant i(x: T): c`."""

    name: Name
    params: tuple[Formal, ...]
    condition: Expr


@dataclass(frozen=True, slots=True)
class ConserveDecl(Node):
    """`conserve n: e except a, b`."""

    name: Name
    value: Expr
    exceptions: tuple[Name, ...]


# ---- beliefs ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome(Node):
    """`value: weight`; for `else: weight` the value is None."""

    value: Expr | None
    weight: Expr


@dataclass(frozen=True, slots=True)
class Guess(Node):
    """`target ~ { v: w, else: e }`."""

    target: Ref
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class GuessEach(Node):
    """`target ~ { outcome for y: T where c else: e }`."""

    target: Ref
    outcome: Outcome
    where: Where
    otherwise: Expr | None


@dataclass(frozen=True, slots=True)
class BelieveDecl(Node):
    """`believe b(x: T) during p when c weight w learned { … }`."""

    name: Name
    params: tuple[Formal, ...]
    phase: Name | None
    condition: Expr | None
    weight: Expr
    learned: bool
    steps: tuple[Let | Guess | GuessEach, ...]
