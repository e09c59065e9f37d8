"""Rules over relations: what is left of a program when nothing is ever undone.

A relation holds tuples. A fact of a truth-valued fluent is a tuple of its arguments; any other
fluent has its value as the last part. Numbers are no part of tuples: a numeric fluent has a tuple
of arguments in ``#fluent``, and beside it the range of what the slot may hold. There is a relation
for each type (``:type``), for each finite range of a variable, for each action and law (``!name``),
and for each recursive derive and closure.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw

__all__ = [
    "Amount",
    "Arg",
    "Atom",
    "Const",
    "Either",
    "Literal",
    "Number",
    "Operation",
    "Range",
    "Rule",
    "Same",
    "Slotted",
    "Source",
    "Var",
    "Widening",
    "slots_in",
    "variables_in",
]


@frozen
class Var:
    """A variable of a rule; names are unique within a rule, and are names of Python."""

    name: str


@frozen
class Const:
    value: Raw


Arg = Var | Const


@frozen
class Atom:
    """The tuple is in the relation; with ``absent`` it is not, which counts where the relation
    never changes and is taken for granted elsewhere."""

    relation: str
    args: tuple[Arg, ...]
    absent: bool = False


@frozen
class Same:
    """A comparison of two values; an order of them is false over `none`."""

    op: str
    left: Arg
    right: Arg


@frozen
class Number:
    """A whole number, or the value of a variable."""

    arg: Arg


@frozen
class Slotted:
    """The range of a numeric slot."""

    fluent: str
    args: tuple[Arg, ...]


@frozen
class Operation:
    """``+``, ``-``, ``*``, ``min`` or ``max`` of two ranges."""

    name: str
    left: Amount
    right: Amount


Amount = Number | Slotted | Operation


@frozen
class Range:
    """A comparison that holds for some numbers of two ranges."""

    op: str
    left: Amount
    right: Amount


Literal = Atom | Same | Range
Either = tuple[tuple[Literal, ...], ...]
"""Ways in which a condition can hold, each a conjunction."""


@frozen
class Widening:
    """A numeric slot may hold these numbers too; ``None``: any of its type."""

    fluent: str
    args: tuple[Arg, ...]
    amount: Amount | None


@frozen
class Rule:
    """Where all of ``body`` holds, so does ``head``."""

    head: Atom | Widening
    body: tuple[Literal, ...]


@dataclass(slots=True)
class Source:
    """One action or law: its parameters, the ways in which it can be done, and what it then does.

    ``always`` are facts that follow from its arguments alone, ``gone`` those that it takes away.
    ``loose`` tells what of it was left out as nothing that a join can judge; ``exact``: nothing
    was, nothing depends on a condition, and it does nothing but make these facts true and false.
    ``price`` is what an action costs (1 where it is not said), where that is one amount.
    """

    name: str
    params: tuple[Var, ...]
    ways: Either = ()
    always: list[Atom] = field(default_factory=list)
    gone: list[Atom] = field(default_factory=list)
    loose: list[tuple[str, Span]] = field(default_factory=list)
    exact: bool = True
    price: Amount | None = None

    @property
    def head(self) -> Atom:
        return Atom(f"!{self.name}", self.params)


def variables_in(literal: Literal | Amount) -> frozenset[Var]:
    """The variables that a literal or an amount speaks of."""
    match literal:
        case Atom(args=args) | Slotted(args=args):
            return frozenset(arg for arg in args if isinstance(arg, Var))
        case Number(arg=arg):
            return frozenset((arg,)) if isinstance(arg, Var) else frozenset()
        case Same(left=left, right=right):
            return frozenset(arg for arg in (left, right) if isinstance(arg, Var))
        case Operation(left=first, right=second) | Range(left=first, right=second):
            return variables_in(first) | variables_in(second)


def slots_in(amount: Amount) -> frozenset[str]:
    """The fluents that an amount reads."""
    match amount:
        case Slotted(fluent=fluent):
            return frozenset((fluent,))
        case Operation(left=left, right=right):
            return slots_in(left) | slots_in(right)
        case Number():
            return frozenset()
