"""Values in PDDL, by cases; numbers with their constants folded.

PDDL has no object-valued terms here, so ``c.box.lock == open`` is about a box that it must first
name. The value of a term is therefore a list of `Case`: variables, conditions on them, and the
value then. The cases of a term exclude each other, and where no case holds the value is `none`;
so the total logic over `none` (language.md §4) needs no rule of its own: an atom over `none` is an
empty disjunction, false.

Only ``>=`` and ``<=`` and their negations are written: a common validator reads ``<`` wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import product
from typing import Generic, TypeVar

from tokenworld.core import nodes as core
from tokenworld.diagnostics import Span
from tokenworld.model import EnumType, ObjectType
from tokenworld.planning.pddl import tree
from tokenworld.planning.pddl.words import LiftingError, legal

V = TypeVar("V")
W = TypeVar("W")
V_co = TypeVar("V_co", covariant=True)

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The same comparison with its sides exchanged."""


# ---- what desugaring turned round -----------------------------------------------------------


def comparison(call: core.Call) -> tuple[str, core.Term, core.Term]:
    """A comparison as written, by its spans: core turns `a > b` into ``b < a``."""
    left, right = call.args
    if call.op in FLIPPED and right.span.start < left.span.start:
        return FLIPPED[call.op], right, left
    return call.op, left, right


def is_made(call: core.Term) -> bool:
    """Return whether desugaring made a ``not`` or ``neg``: it has the place of its operand."""
    return isinstance(call, core.Call) and call.span == call.args[0].span


def implication(call: core.Call) -> tuple[core.Term, core.Term] | None:
    """Both sides of ``left implies right``, which is ``not left or right`` in core."""
    match call:
        case core.Call(op="or", args=(core.Call(op="not", args=(left,)) as test, right)):
            return (left, right) if is_made(test) else None
        case _:
            return None


def is_none(term: core.Term) -> bool:
    """Return whether a term is the literal `none`."""
    return isinstance(term, core.Constant) and term.value is None


# ---- cases --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sym:
    """A variable or constant that denotes an object or an enum member."""

    text: str
    type: EnumType | ObjectType

    @property
    def is_constant(self) -> bool:
        return not self.text.startswith("?")


@dataclass(frozen=True, slots=True)
class Num:
    """A numeric expression; exact numbers are whole, scaled by the decimals of their type."""

    expr: tree.Expr
    constant: int | float | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition bound to a name."""

    expr: tree.Expr


@dataclass(frozen=True, slots=True)
class Lazy:
    """A named term, put in where the name is used (a body reads one state)."""

    term: core.Term
    env: Env


Value = Sym | Num | Truth
Bound = Value | Lazy
Env = Mapping[str, Bound]


@dataclass(frozen=True, slots=True)
class Case(Generic[V_co]):
    """A value with the variables that it needs and the conditions under which it is the value."""

    vars: tuple[tree.Typed, ...]
    conds: tuple[tree.Expr, ...]
    value: V_co

    def under(self, *conds: tree.Expr) -> Case[V_co]:
        """The same case with more conditions in front."""
        return Case(self.vars, (*conds, *self.conds), self.value)

    def gives(self, value: W) -> Case[W]:
        """The same case with another value."""
        return Case(self.vars, self.conds, value)

    def then(self, other: Case[W]) -> Case[W]:
        """The other case, inside this one."""
        return Case(self.vars + other.vars, self.conds + other.conds, other.value)

    def holds(self, body: tree.Expr) -> tree.Expr:
        """The condition that this is the case and ``body`` holds."""
        return tree.exists(self.vars, tree.conj((*self.conds, body)))


def sure(value: V) -> Case[V]:
    """The case of a value that needs nothing."""
    return Case((), (), value)


def crossed(lists: Iterable[Sequence[Case[V]]]) -> Iterator[Case[tuple[V, ...]]]:
    """All combinations of cases, one from each list."""
    for combined in product(*lists):
        vars_ = tuple(var for case in combined for var in case.vars)
        conds = tuple(cond for case in combined for cond in case.conds)
        yield Case(vars_, conds, tuple(case.value for case in combined))


def close(cases: Iterable[Case[V]], then: Callable[[V], tree.Expr]) -> tree.Expr:
    """The condition that some case holds and ``then`` holds of its value."""
    return tree.disj(case.holds(then(case.value)) for case in cases)


class Scope:
    """Variable names in use in one rule: written names stay, new ones get a number."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def fresh(self, base: str) -> str:
        """A variable that hides no other: ``?room``, then ``?room2``."""
        word = legal(base).lower() if base != legal(base) else base
        name, number = f"?{word}", 2
        while name.lower() in self._used:
            name, number = f"?{word}{number}", number + 1
        self._used.add(name.lower())
        return name

    def reserve(self, exprs: Iterable[tree.Expr]) -> None:
        """Keep the variables of some expressions in use until the end of the block."""
        words = (word for expr in exprs for word in tree.leaves(expr))
        self._used.update(word.lower() for word in words if word.startswith("?"))

    @contextmanager
    def block(self) -> Iterator[None]:
        """Variables made inside are bound inside: their names are free again afterwards."""
        before = set(self._used)
        yield
        self._used = before


# ---- numbers --------------------------------------------------------------------------------

Chosen = list[tuple[tuple[tree.Expr, ...], Num]]
"""Alternatives that exclude each other: the tests for one, and its value."""


def number(value: int | float) -> Num:
    """A constant, without exponent."""
    text = str(value) if isinstance(value, int) else format(Decimal(repr(value)), "f")
    return Num(text, value)


def as_number(value: Value) -> Num:
    """The value as a number: its type says that it is one."""
    assert isinstance(value, Num)
    return value


def as_symbol(value: Value) -> Sym:
    """The value as a symbol: its type says that it is one."""
    assert isinstance(value, Sym)
    return value


def as_truth(value: Value) -> tree.Expr:
    """The value as a condition: its type says that it is one."""
    assert isinstance(value, Truth)
    return value.expr


def negate(value: Value) -> Num:
    plain = as_number(value)
    if plain.constant is not None:
        return number(-plain.constant)
    return Num(("-", "0", plain.expr))


def arithmetic(op: str, left: Value, right: Value, span: Span) -> Num:
    """``left op right``, if all numeric planners evaluate it in the same way; else
    `LiftingError`."""
    one, other = as_number(left), as_number(right)
    a, b = one.constant, other.constant
    match op:
        case "+":
            return _plus(one, other)
        case "-":
            if a is not None and b is not None:
                return number(a - b)
            return one if b == 0 else Num(("-", one.expr, other.expr))
        case "*":
            if a is not None and b is not None:
                return number(a * b)
            if b == 1 or a == 1:
                return one if b == 1 else other
            return Num(("*", one.expr, other.expr))
        case "/" if b is not None and b != 0:
            return one if b == 1 else Num(("/", one.expr, other.expr))
        case "div" | "mod" if isinstance(a, int) and isinstance(b, int) and b != 0:
            return number(a // b if op == "div" else a % b)
        case _:
            raise LiftingError(f"`{op}` of values that change", span)


def _plus(one: Num, other: Num) -> Num:
    if one.constant is not None and other.constant is not None:
        return number(one.constant + other.constant)
    if other.constant == 0:
        return one
    return other if one.constant == 0 else Num(("+", one.expr, other.expr))


def compared(op: str, left: Num, right: Num) -> tree.Expr:
    """``left op right`` for ``>=``, ``<=`` and ``=``."""
    one, other = left.constant, right.constant
    if one is not None and other is not None:
        return (
            tree.TRUE
            if {">=": one >= other, "<=": one <= other, "=": one == other}[op]
            else tree.FALSE
        )
    return tree.TRUE if left.expr == right.expr else (op, left.expr, right.expr)


at_least, at_most, same_number = (partial(compared, op) for op in (">=", "<=", "="))


def _split(test: tree.Expr, then: Chosen, otherwise: Chosen) -> Chosen:
    if test == tree.TRUE:
        return then
    if test == tree.FALSE:
        return otherwise
    yes = [((test, *tests), value) for tests, value in then]
    return yes + [((tree.neg(test), *tests), value) for tests, value in otherwise]


def _least(values: Sequence[Num], most: bool) -> Chosen:
    """The least (or greatest) of some values, the first of equals."""
    first, *rest = values
    if not rest:
        return [((), first)]
    found: Chosen = []
    for tests, other in _least(rest, most):
        test = at_least(first, other) if most else at_most(first, other)
        for more, value in _split(test, [((), first)], [((), other)]):
            found.append((tests + more, value))
    return found


def _within(options: Chosen, limit: Num, most: bool) -> Chosen:
    """The greater (``most``) or lesser of each option and a limit."""
    return [
        (tests + more, value)
        for tests, option in options
        for more, value in _least((option, limit), most)
    ]


def choose_number(name: str, values: Sequence[Num], span: Span) -> Chosen:
    """The value of a built-in function by cases (language.md §2)."""
    zero = number(0)
    match name:
        case "min" | "max" if values:
            return _least(values, name == "max")
        case "abs":
            return _split(at_least(values[0], zero), [((), values[0])], [((), negate(values[0]))])
        case "clamp":
            value, low, high = values
            return _within(_within([((), value)], low, True), high, False)
        case "sign":
            below = _split(at_most(values[0], zero), [((), zero)], [((), number(1))])
            return _split(tree.neg(at_least(values[0], zero)), [((), number(-1))], below)
        case "toward":
            value, target, step = values
            up = _within([((), arithmetic("+", value, step, span))], target, False)
            down = _within([((), arithmetic("-", value, step, span))], target, True)
            return _split(at_most(value, target), up, down)
        case _:
            raise LiftingError(f"`{name}()`", span)


def ordered(op: str, one: Num, other: Num, exact: bool) -> tree.Expr:
    """An order without ``<``; exact numbers are whole, so that ``x < 4`` is ``x <= 3``."""
    if op in ("<", "<=") and isinstance(one.constant, int):
        op, one, other = FLIPPED[op], other, one
    match op, exact, other.constant:
        case "<", True, int(limit):
            return at_most(one, number(limit - 1))
        case ">", True, int(limit):
            return at_least(one, number(limit + 1))
        case ">=", _, _:
            return at_least(one, other)
        case "<=", _, _:
            return at_most(one, other)
        case "<", _, _:
            return tree.neg(at_least(one, other))
        case _:
            return tree.neg(at_most(one, other))
