"""Numbers of PDDL: constants folded, `min` and its kin split into cases.

Only ``>=`` and ``<=`` and their negations are written: a common validator reads ``<`` wrongly.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokenworld.diagnostics import Span
from tokenworld.planning.pddl.cases import Num, Sym, number_text
from tokenworld.planning.pddl.tree import FALSE, TRUE, Expr, neg
from tokenworld.planning.pddl.vocabulary import LiftingError

__all__ = ["arithmetic", "at_least", "at_most", "choose_number", "negate", "number", "same_number"]

Chosen = list[tuple[tuple[Expr, ...], Num]]
"""Alternatives that exclude each other: the tests for one, and its value."""


def number(value: int | float) -> Num:
    """A constant."""
    return Num(number_text(value), value)


def _num(value: Sym | Num) -> Num:
    assert isinstance(value, Num)
    return value


def negate(value: Sym | Num) -> Num:
    plain = _num(value)
    if plain.constant is not None:
        return number(-plain.constant)
    return Num(("-", "0", plain.expr))


def arithmetic(op: str, left: Sym | Num, right: Sym | Num, span: Span) -> Num:
    """``left op right``; only what every numeric planner reads in the same way."""
    one, other = _num(left), _num(right)
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


def at_least(left: Num, right: Num) -> Expr:
    """``left >= right``."""
    if left.constant is not None and right.constant is not None:
        return TRUE if left.constant >= right.constant else FALSE
    return TRUE if left.expr == right.expr else (">=", left.expr, right.expr)


def at_most(left: Num, right: Num) -> Expr:
    """``left <= right``."""
    if left.constant is not None and right.constant is not None:
        return TRUE if left.constant <= right.constant else FALSE
    return TRUE if left.expr == right.expr else ("<=", left.expr, right.expr)


def same_number(left: Num, right: Num) -> Expr:
    """``left == right``."""
    if left.constant is not None and right.constant is not None:
        return TRUE if left.constant == right.constant else FALSE
    return TRUE if left.expr == right.expr else ("=", left.expr, right.expr)


def _split(test: Expr, then: Chosen, otherwise: Chosen) -> Chosen:
    if test == TRUE:
        return then
    if test == FALSE:
        return otherwise
    yes = [((test, *tests), value) for tests, value in then]
    return yes + [((neg(test), *tests), value) for tests, value in otherwise]


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
            return _split(neg(at_least(values[0], zero)), [((), number(-1))], below)
        case "toward":
            value, target, step = values
            up = _within([((), arithmetic("+", value, step, span))], target, False)
            down = _within([((), arithmetic("-", value, step, span))], target, True)
            return _split(at_most(value, target), up, down)
        case _:
            raise LiftingError(f"`{name}()`", span)
