"""Syntax tree: blocks, changes, and the rules that have them."""

from __future__ import annotations

from typing import Literal

from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.expressions import Expr, Formal, Name, Node, Ref, Template, Where


@frozen
class Block(Node):
    """`{ … }`; the span includes the braces."""

    effects: tuple[Effect, ...]


@frozen
class Field(Node):
    """`name = value` of an object, a created object, or a type's override."""

    name: Name
    value: Expr


# ---- draws --------------------------------------------------------------------------------


@frozen
class PickBy(Node):
    """`by least e`, `by most e` or `by weight e`."""

    kind: Literal["least", "most", "weight"]
    key: Expr


@frozen
class DrawChance(Node):
    """`let b = chance p`: a truth value."""

    probability: Expr


@frozen
class DrawPick(Node):
    """`let y = pick { x: T where c by weight e }`: a candidate, or `none`."""

    where: Where
    by: PickBy | None


@frozen
class DrawUniform(Node):
    """`let v = uniform(low, high)`: a real."""

    low: Expr
    high: Expr


Draw = DrawChance | DrawPick | DrawUniform


# ---- changes of state ---------------------------------------------------------------------


@frozen
class Let(Node):
    """`let name = value`."""

    name: Name
    value: Expr | Draw


@frozen
class Set(Node):
    """`target = value`, `target += value` or `target -= value`."""

    target: Ref
    op: Literal["=", "+=", "-="]
    value: Expr


@frozen
class Apply(Node):
    """`step_to(c, d)`: the changes of the effect of that name."""

    name: Name
    args: tuple[Expr, ...]


@frozen
class Add(Node):
    """`add r(x, y)`: make a tuple of a relation true."""

    target: Ref


@frozen
class Remove(Node):
    """`remove r(x, y)`: make a tuple of a relation false."""

    target: Ref


@frozen
class Create(Node):
    """`create w: T { f = e }`; `fields` is empty also where the braces are missing."""

    name: Name
    type: Name
    fields: tuple[Field, ...]


@frozen
class Destroy(Node):
    """`destroy x`."""

    target: Ref


@frozen
class Transfer(Node):
    """`transfer amount of source to target`."""

    amount: Expr
    source: Ref
    target: Ref


@frozen
class Swap(Node):
    """`swap first, second`."""

    first: Ref
    second: Ref


# ---- control ------------------------------------------------------------------------------


@frozen
class Branch(Node):
    """A condition (of `if`) or probability (of `chance`), with the block that it guards."""

    condition: Expr
    block: Block


@frozen
class If(Node):
    """`if a { } else if b { } else { }`: the first branch whose condition holds."""

    branches: tuple[Branch, ...]
    otherwise: Block | None


@frozen
class For(Node):
    """`for x: T where c { }`."""

    where: Where
    block: Block


@frozen
class Chance(Node):
    """`chance p { } or q { } else { }`: at most one branch."""

    branches: tuple[Branch, ...]
    otherwise: Block | None


@frozen
class Pick(Node):
    """`pick x: T where c by weight e { } else { }`."""

    where: Where
    by: PickBy | None
    block: Block
    otherwise: Block | None


# ---- output -------------------------------------------------------------------------------


@frozen
class Emit(Node):
    """`emit event(args)`."""

    event: Name
    args: tuple[Expr, ...]


@frozen
class Say(Node):
    """`say "…"`."""

    text: Template


@frozen
class Show(Node):
    """`describe x`."""

    target: Ref


@frozen
class Reward(Node):
    """`reward amount`."""

    amount: Expr


Change = (
    Let
    | Set
    | Add
    | Remove
    | Create
    | Destroy
    | Transfer
    | Swap
    | If
    | For
    | Chance
    | Pick
    | Emit
    | Say
    | Show
    | Reward
)
Effect = Change | Apply
"""A statement of a body; the checker replaces a call by the changes of its effect."""


# ---- Syntax tree: actions, laws, beliefs, invariants ---------------------------------------------


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
    """`require c else label "text"`; label and text may be missing."""

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


@frozen
class EffectDecl(Node):
    """`effect e(x: T) { … }`: changes with a name, which bodies call."""

    name: Name
    params: tuple[Formal, ...]
    block: Block


# ---- laws and invariants ------------------------------------------------------------------


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
