"""Changes: the statements of a body (language.md §5).

A body is evaluated against the one state before it; its changes are applied together.
"""

from __future__ import annotations

from typing import Annotated, Literal

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model.terms import Binder, Read, Template, Term
from tokenworld.model.types import ByKind, ValueType


def written_name(name: str) -> str:
    """A local as its author wrote it: those of a called effect go on after a backquote."""
    return name.partition("`")[0]


AssignOp = Literal["=", "+=", "-="]
PickKey = Literal["uniform", "weight", "least", "most", "belief", "log"]
"""``belief``: by weight, and a contradiction (TW1007) where no candidate has any; ``log``: the
same by logarithms of weights, `none` for 0."""


class WriteEffect:
    """A change that writes stored fluents of objects that exist."""

    __slots__ = ()


class NestedEffect:
    """A change that holds bodies."""

    __slots__ = ()


class LifeEffect:
    """A change that makes or removes an object."""

    __slots__ = ()


class OutputEffect:
    """A change that emits text, an event or a reward; no fact changes."""

    __slots__ = ()


@frozen
class DrawChance:
    """A truth value that holds with a probability in 0..1 (exact number or real)."""

    probability: Term
    kind: Literal["draw_chance"] = "draw_chance"


@frozen
class DrawPick:
    """A candidate, or ``none`` if there is none."""

    binders: tuple[Binder, ...]
    where: Term | None
    key: PickKey
    weight: Term | None
    kind: Literal["draw_pick"] = "draw_pick"


@frozen
class DrawUniform:
    """A real in [low, high)."""

    low: Term
    high: Term
    kind: Literal["draw_uniform"] = "draw_uniform"


Draw = DrawChance | DrawPick | DrawUniform


@frozen
class Let:
    name: str
    value: Term | Draw
    type: ValueType
    span: Span
    kind: Literal["let"] = "let"


@frozen
class Assign(WriteEffect):
    """``target op value``; the value has the decimals of the target."""

    target: Read
    op: AssignOp
    value: Term
    span: Span
    kind: Literal["assign"] = "assign"


@frozen
class AddFact(WriteEffect):
    """Make one tuple of a truth-valued relation true. It wins over `RemoveFact`."""

    target: Read
    span: Span
    kind: Literal["add"] = "add"


@frozen
class RemoveFact(WriteEffect):
    target: Read
    span: Span
    kind: Literal["remove"] = "remove"


@frozen
class If(NestedEffect):
    condition: Term
    then: Body
    otherwise: Body
    span: Span
    kind: Literal["if"] = "if"


@frozen
class For(NestedEffect):
    binders: tuple[Binder, ...]
    where: Term | None
    body: Body
    span: Span
    kind: Literal["for"] = "for"


@frozen
class Branch:
    probability: Term
    body: Body


@frozen
class Chance(NestedEffect):
    """At most one branch is taken; ``otherwise`` with the rest of the probability."""

    branches: tuple[Branch, ...]
    otherwise: Body
    span: Span
    kind: Literal["chance"] = "chance"


@frozen
class Pick(NestedEffect):
    """The body for one candidate binding, ``otherwise`` if there is no candidate."""

    binders: tuple[Binder, ...]
    where: Term | None
    key: PickKey
    weight: Term | None
    body: Body
    otherwise: Body
    span: Span
    kind: Literal["pick"] = "pick"


@frozen
class FieldValue:
    """An initial value: ``fluent`` is the id of an attribute."""

    fluent: str
    value: Term
    span: Span


@frozen
class Create(LifeEffect):
    """``named``: the created object keeps the name ``name`` (language.md §12)."""

    name: str
    of: str
    fields: tuple[FieldValue, ...]
    named: bool
    span: Span
    kind: Literal["create"] = "create"


@frozen
class Destroy(LifeEffect):
    target: Term
    span: Span
    kind: Literal["destroy"] = "destroy"


@frozen
class Transfer(WriteEffect):
    """``source -= amount`` and ``target += amount`` with the amount read once."""

    amount: Term
    source: Read
    target: Read
    span: Span
    kind: Literal["transfer"] = "transfer"


@frozen
class Swap(WriteEffect):
    left: Read
    right: Read
    span: Span
    kind: Literal["swap"] = "swap"


@frozen
class Emit(OutputEffect):
    event: str
    args: tuple[Term, ...]
    span: Span
    kind: Literal["emit"] = "emit"


@frozen
class Say(OutputEffect):
    """Rendered on the state after the body (refusal texts: before it)."""

    template: Template
    span: Span
    kind: Literal["say"] = "say"


@frozen
class DescribeEffect(OutputEffect):
    target: Term
    span: Span
    kind: Literal["describe"] = "describe"


@frozen
class Reward(OutputEffect):
    amount: Term
    span: Span
    kind: Literal["reward"] = "reward"


Effect = Annotated[
    Let
    | Assign
    | AddFact
    | RemoveFact
    | If
    | For
    | Chance
    | Pick
    | Create
    | Destroy
    | Transfer
    | Swap
    | Emit
    | Say
    | DescribeEffect
    | Reward,
    ByKind,
]
Body = tuple[Effect, ...]
