"""A PDDL domain and problem as data with places, as written: nothing is simplified here.

PDDL ignores case, so names are compared by `Name.key` and written as they were declared. What the
reader accepts but a `.tw` file cannot hold has been reported and is not in the tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
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
    "ROOT",
    "Start",
    "Symbols",
    "TOTAL_COST",
    "TermExpr",
    "Truth",
    "Typed",
    "Undefined",
    "Variable",
    "When",
    "leaves",
]

# ---- tree --------------------------------------------------------------------------------------


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


# ---- symbols -----------------------------------------------------------------------------------

ROOT = "object"
TOTAL_COST = "total-cost"


@dataclass(slots=True)
class Symbols:
    """The declarations of a domain by lower-case name; the first of two of one name counts."""

    domain: Domain
    types: dict[str, Typed] = field(default_factory=dict)
    implicit: dict[str, Name] = field(default_factory=dict)
    """Types that are only used, as the parent of others."""
    choices: dict[str, Choice] = field(default_factory=dict)
    """The unions of types that variables have."""
    constants: dict[str, Typed] = field(default_factory=dict)
    predicates: dict[str, PredicateDecl] = field(default_factory=dict)
    functions: dict[str, FunctionDecl] = field(default_factory=dict)
    derived: dict[str, list[DerivedDecl]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        domain = self.domain
        for of in domain.types:
            self.types.setdefault(of.name.key, of)
        for of in domain.types:
            parent = of.type
            if parent is not None and parent.key not in (*self.types, ROOT):
                self.implicit.setdefault(parent.key, parent)
        for choice in domain.choices:
            self.choices.setdefault(choice.key, choice)
        for constant in domain.constants:
            self.constants.setdefault(constant.name.key, constant)
        for predicate in domain.predicates:
            self.predicates.setdefault(predicate.name.key, predicate)
        for function in domain.functions:
            self.functions.setdefault(function.name.key, function)
        for derived in domain.derived:
            self.derived.setdefault(derived.name.key, []).append(derived)

    @property
    def has_root(self) -> bool:
        """Whether the domain declares a type `object` of its own."""
        return ROOT in self.types

    def knows_type(self, key: str) -> bool:
        return key == ROOT or key in self.types or key in self.implicit or key in self.choices

    def above_choice(self, choice: Choice) -> list[str]:
        """The nearest type that is above all parts of a union, and the wider unions."""
        parts = [part.key for part in choice.parts]
        chains = [tuple(self.chain(part)) for part in parts]
        common = (key for key in chains[0] if all(key in chain for chain in chains))
        nearest = [key for key in common if key not in (*parts, ROOT)][:1]
        wider = (
            one.key
            for one in self.choices.values()
            if {part.key for part in one.parts} > set(parts)
        )
        return [*nearest, *wider]

    def choices_with(self, key: str) -> Iterator[str]:
        """The unions that a type is a part of."""
        for choice in self.choices.values():
            if key in (part.key for part in choice.parts):
                yield choice.key

    def objects(self, problem: Problem) -> dict[str, Typed]:
        """Constants and objects by lower-case name."""
        found = dict(self.constants)
        for one in problem.objects:
            found.setdefault(one.name.key, one)
        return found

    def own_objects(self, problem: Problem) -> Iterator[Typed]:
        """The objects of a problem in order, each once, without those of the domain."""
        seen = set(self.constants)
        for one in problem.objects:
            if one.name.key not in seen:
                seen.add(one.name.key)
                yield one

    def above(self, key: str) -> Iterator[str]:
        """A type, those above it, and the unions with one of them."""
        for one in self.chain(key):
            yield one
            yield from self.choices_with(one)

    def chain(self, key: str) -> Iterator[str]:
        """A type and those above it, as far as declared; ends in a cycle too."""
        seen: set[str] = set()
        while key not in seen:
            seen.add(key)
            yield key
            above = self.types.get(key)
            if above is None or above.type is None:
                return
            key = above.type.key
