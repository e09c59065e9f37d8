"""Rules over relations: the delete relaxation of a program.

A relation holds tuples. A fact of a truth-valued fluent is a tuple of its arguments; any other
fluent has its value as the last part. Numbers are no part of tuples: a numeric fluent has a tuple
of arguments in ``#fluent``, and beside it the range of what the slot may hold. There is a relation
for each type (``:type``), for each finite range of a variable, for each action and law (``!name``),
and for each recursive derive and closure. `Context` has the data of the
program that reading a rule needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import assert_never

from tokenworld import model as m
from tokenworld.core import Rules, lowered
from tokenworld.core.nodes import Term
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Instance, Raw


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
    """``head`` holds if all of ``body`` does (a Horn clause)."""

    head: Atom | Widening
    body: tuple[Literal, ...]


@dataclass(slots=True)
class Source:
    """One action or law: its parameters, the ways in which it is applicable, and its effects.

    ``always`` are facts that follow from its arguments alone, ``gone`` those that it deletes,
    ``sometimes`` the relations to which it may add others.
    ``loose`` lists conditions left out because no join can judge them; ``exact``: none was, nothing
    depends on a condition, and it only adds and deletes these facts. ``price`` is the cost of an
    action (1 by default), if that is one amount. ``sure`` are the literals of every way, ``held``
    the facts among them that hold.
    """

    name: str
    params: tuple[Var, ...]
    ways: Either = ()
    always: list[Atom] = field(default_factory=list)
    gone: list[Atom] = field(default_factory=list)
    sometimes: set[str] = field(default_factory=set)
    loose: list[tuple[str, Span]] = field(default_factory=list)
    exact: bool = True
    price: Amount | None = None
    sure: frozenset[Literal] = frozenset()
    held: frozenset[Literal] = frozenset()

    @property
    def head(self) -> Atom:
        return Atom(f"!{self.name}", self.params)


def variables_in(literal: Literal | Amount) -> frozenset[Var]:
    """The variables of a literal or an amount."""
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


# ---- the program ----------------------------------------------------------------------------

_MOST_VALUES = 100_000
"""So many numbers of a range are listed at most."""
UNKNOWN = "unknown"
"""An unknown value: a draw."""


class Ungroundable(Exception):
    """Raised if even a relaxed set of ground rules cannot be computed: a construct and its
    place."""

    def __init__(self, what: str, span: Span) -> None:
        super().__init__(what)
        self.what, self.span = what, span


@frozen
class Later:
    """A ``let``: a term and the names that it sees."""

    term: Term
    names: Names


Names = Mapping[str, "Arg | Later | str"]


@frozen
class Way:
    """A possible value of a term, with the literals under which the term has it.

    ``kind`` is the type of the value. ``sure``: whenever the literals hold, the term has this value
    and is not `none` for lack of a slot.
    """

    literals: tuple[Literal, ...]
    arg: Arg
    kind: m.ValueType
    sure: bool

    @property
    def optional(self) -> bool:
        """Return whether the value may be `none` by its type."""
        if isinstance(self.arg, Const):
            return self.arg.value is None
        return m.is_optional(self.kind)


def is_numeric(kind: m.ValueType) -> bool:
    """Return whether slots of a type are kept as ranges."""
    return isinstance(kind, m.NumberType)


def is_measured(kind: m.ValueType) -> bool:
    """Return whether slots of a type are not stored as tuples: numbers and texts."""
    return isinstance(kind, (m.NumberType, m.RealType, m.TextType))


@dataclass
class Context:
    """One program in one instance. ``loose`` gathers the unjudged conditions of the present rule,
    and ``exact`` becomes false if more is relaxed than deletions."""

    instance: Instance
    loose: list[tuple[str, Span]] = field(default_factory=list)
    exact: bool = True
    depth: int = 0
    _fresh: int = 0
    ranges: dict[str, tuple[Raw, ...]] = field(default_factory=dict)

    @property
    def program(self) -> m.Program:
        return self.instance.program

    def fresh(self) -> Var:
        """A new variable."""
        self._fresh += 1
        return Var(f"t{self._fresh}")

    def leave(self, what: str, span: Span) -> None:
        """Note a condition or a value that nothing is said of."""
        self.exact = False
        if (what, span) not in self.loose:
            self.loose.append((what, span))

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Read one derive within others: ``depth`` counts them."""
        self.depth += 1
        yield
        self.depth -= 1

    @cached_property
    def rules(self) -> Rules:
        return lowered(self.program)

    @cached_property
    def changing(self) -> frozenset[str]:
        """The fluents that play may change."""
        return self.rules.changing

    @property
    def destroys(self) -> bool:
        """Return whether play may destroy objects, so that slots go."""
        return self.rules.destroys

    # ---- types ------------------------------------------------------------------------------

    def covers(self, wanted: m.ValueType, kind: m.ValueType) -> bool:
        """Return whether every value of ``kind`` but `none` is one of ``wanted``."""
        if isinstance(wanted, m.ObjectType):
            return isinstance(kind, m.ObjectType) and self.program.is_subtype(
                kind.name, wanted.name
            )
        return wanted.kind == kind.kind

    def belongs(self, of: m.ValueType, arg: Arg) -> Atom | None:
        """The atom that lists a type, with `none` where it is optional; ``None`` where its values
        cannot be listed."""
        if not m.is_optional(of):
            return self._belongs(of, arg)
        if isinstance(of, m.ObjectType):
            return self.listed(f"{of.name}?", (*self.instance.members[of.name], None), arg)
        plain = self._belongs(m.without_none(of), arg)
        if plain is None:
            return None
        values = (*self.ranges[plain.relation], None)
        return self.listed(f"{plain.relation[1:]}?", values, arg)

    def _belongs(self, of: m.ValueType, arg: Arg) -> Atom | None:
        match of:
            case m.ObjectType(name=name):
                return Atom(f":{name}", (arg,))
            case m.BoolType():
                return self.listed("bool", (False, True), arg)
            case m.EnumType(name=name):
                members = tuple(range(len(self.program.enums[name].members)))
                return self.listed(f"enum {name}", members, arg)
            case m.NumberType(low=int() as low, high=int() as high) if high - low < _MOST_VALUES:
                return self.listed(f"{low}..{high}", tuple(range(low, high + 1)), arg)
            case m.NumberType() | m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
                return None
            case _:
                assert_never(of)

    def listed(self, name: str, values: tuple[Raw, ...], arg: Arg) -> Atom:
        """An atom of a relation of these single values."""
        self.ranges[f":{name}"] = values
        return Atom(f":{name}", (arg,))

    # ---- slots ------------------------------------------------------------------------------

    def surely(self, fluent: m.Fluent, args: tuple[Way, ...]) -> bool:
        """Return whether a slot exists for all arguments."""
        return not self.destroys and all(
            one.sure and self.covers(param.type, one.kind) and not one.optional
            for one, param in zip(args, fluent.params, strict=True)
        )
