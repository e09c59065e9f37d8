"""A PDDL domain and problem as data with places, as written: nothing is simplified here.

PDDL ignores case, so names are compared by `Name.key` and written as they were declared. What the
reader accepts but a `.tw` file cannot hold has been reported and is not in the tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Union

from tokenworld.diagnostics import Source, Span
from tokenworld.diagnostics.frozen import frozen

__all__ = [
    "ActionDecl",
    "Applied",
    "Both",
    "Calculated",
    "Change",
    "Choice",
    "Compared",
    "Condition",
    "Constant",
    "DerivedDecl",
    "Domain",
    "Effect",
    "Either",
    "Equal",
    "Fact",
    "ForEach",
    "FunctionDecl",
    "Implied",
    "Literal_",
    "Metric",
    "Name",
    "Negated",
    "Number",
    "PredicateDecl",
    "Problem",
    "Quantified",
    "Start",
    "TermExpr",
    "Truth",
    "Typed",
    "Undefined",
    "Variable",
    "When",
    "leaves",
]


@frozen
class Name:
    text: str
    span: Span

    @property
    def key(self) -> str:
        return self.text.lower()


@frozen
class Choice(Name):
    """``(either a b)``: two types or more, as the type of a variable.

    It is a name like any other, so that a type is always a name; its text has the parts in order of
    letters, so that equal unions have equal keys.
    """

    parts: tuple[Name, ...]


@frozen
class Typed:
    """A name of a typed list (a variable without its ``?``); ``type`` is ``None`` if not given."""

    name: Name
    type: Name | None


# ---- terms ----------------------------------------------------------------------------------


@frozen
class Variable:
    name: str
    span: Span

    @property
    def key(self) -> str:
        return self.name.lower()


@frozen
class Constant:
    name: Name

    @property
    def span(self) -> Span:
        return self.name.span


@frozen
class Number:
    """A number as written, ``3`` or ``2.50``."""

    text: str
    span: Span


@frozen
class Applied:
    """A function with its arguments: ``(fuel ?t)``."""

    function: Name
    args: tuple[TermExpr, ...]
    span: Span


@frozen
class Calculated:
    """``(+ a b)``, ``(- a)``: two parts or more, or one to be negated."""

    op: Literal["+", "-", "*", "/"]
    parts: tuple[TermExpr, ...]
    span: Span


@frozen
class Undefined:
    """``undefined``: the value of an object fluent that has none."""

    span: Span


TermExpr = Union[Variable, Constant, Number, Applied, Calculated, Undefined]  # noqa: UP007

# ---- conditions -----------------------------------------------------------------------------


@frozen
class Truth:
    """``()``, ``(and)``: true; ``(or)``: false."""

    value: bool
    span: Span


@frozen
class Fact:
    predicate: Name
    args: tuple[TermExpr, ...]
    span: Span


@frozen
class Equal:
    left: TermExpr
    right: TermExpr
    span: Span


@frozen
class Compared:
    op: Literal["<", "<=", ">", ">="]
    left: TermExpr
    right: TermExpr
    span: Span


@frozen
class Negated:
    part: Condition
    span: Span


@frozen
class Both:
    """A conjunction of two parts or more."""

    parts: tuple[Condition, ...]
    span: Span


@frozen
class Either:
    """A disjunction of two parts or more."""

    parts: tuple[Condition, ...]
    span: Span


@frozen
class Implied:
    left: Condition
    right: Condition
    span: Span


@frozen
class Quantified:
    kind: Literal["forall", "exists"]
    params: tuple[Typed, ...]
    body: Condition
    span: Span


Condition = Union[  # noqa: UP007
    Truth, Fact, Equal, Compared, Negated, Both, Either, Implied, Quantified
]


def leaves(condition: Condition) -> Iterator[Condition]:
    """The parts of a condition that have no parts themselves, in written order."""
    match condition:
        case Negated(part=part) | Quantified(body=part):
            yield from leaves(part)
        case Both(parts=parts) | Either(parts=parts):
            for one in parts:
                yield from leaves(one)
        case Implied(left=left, right=right):
            yield from leaves(left)
            yield from leaves(right)
        case _:
            yield condition


# ---- effects --------------------------------------------------------------------------------


@frozen
class Literal_:
    """A fact that becomes true or, if not ``positive``, false."""

    fact: Fact
    positive: bool


@frozen
class Change:
    op: Literal["assign", "increase", "decrease", "scale-up", "scale-down"]
    target: Applied
    value: TermExpr
    span: Span


@frozen
class When:
    condition: Condition
    effects: tuple[Effect, ...]
    span: Span


@frozen
class ForEach:
    params: tuple[Typed, ...]
    effects: tuple[Effect, ...]
    span: Span


Effect = Union[Literal_, Change, When, ForEach]  # noqa: UP007

# ---- the parts ------------------------------------------------------------------------------


@frozen
class PredicateDecl:
    name: Name
    params: tuple[Typed, ...]


@frozen
class FunctionDecl:
    """``result`` is the type of an object fluent, ``None`` for a numeric one."""

    name: Name
    params: tuple[Typed, ...]
    result: Name | None


@frozen
class DerivedDecl:
    name: Name
    params: tuple[Typed, ...]
    condition: Condition
    span: Span


@frozen
class ActionDecl:
    name: Name
    params: tuple[Typed, ...]
    precondition: Condition
    effects: tuple[Effect, ...]
    span: Span


@frozen
class Domain:
    """``requirements`` are without the colon and as written; sections of a kind are joined.

    ``choices`` are the unions of types that variables have, in the order of their first use.
    """

    source: Source
    name: Name
    requirements: tuple[Name, ...]
    types: tuple[Typed, ...]
    constants: tuple[Typed, ...]
    predicates: tuple[PredicateDecl, ...]
    functions: tuple[FunctionDecl, ...]
    derived: tuple[DerivedDecl, ...]
    actions: tuple[ActionDecl, ...]
    choices: tuple[Choice, ...] = ()


Start = Union[Literal_, Change]  # noqa: UP007
"""A line of ``:init``: a literal, or a function's value as an ``assign``."""


@frozen
class Metric:
    """``text`` is the whole expression as written, spaces made single."""

    sense: Literal["minimize", "maximize"]
    text: str
    span: Span

    @property
    def is_total_cost(self) -> bool:
        return self.sense == "minimize" and self.text.lower() in ("(total-cost)", "total-cost")


@frozen
class Problem:
    source: Source
    name: Name
    domain: Name | None
    objects: tuple[Typed, ...]
    init: tuple[Start, ...]
    goal: Condition
    metric: Metric | None
