"""Operators and built-in functions on raw values (language.md §2, §4).

`none` goes through arithmetic as `none`, is false in an ordering, and an ordinary value in an
equality. A number that is not defined becomes `Mark.BROKEN`: the tick it happens in fails.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Literal

from tokenworld.core.nodes import Call, Constant, DeriveCall, Operator, Term
from tokenworld.core.rules import Derive
from tokenworld.core.walk import subterms
from tokenworld.ground import Raw
from tokenworld.model import ArithmeticOp, NumberType, ValueType
from tokenworld.planning.lower.algebra import Mark, Value

Number = int | float


def truth(value: Value) -> Value:
    """A value as a condition: `none` counts as false."""
    return value if value is Mark.BROKEN else value is True


def equal(left: Value, right: Value) -> Value:
    """``==``, where `none` is an ordinary value."""
    if Mark.BROKEN in (left, right):
        return Mark.BROKEN
    return left == right


def compare(op: Literal["==", "<", "<="]) -> Callable[[Value, Value], Value]:
    """The comparison as a function of two values of equal decimals."""
    if op == "==":
        return equal
    ordered: Callable[[Number, Number], bool] = operator.lt if op == "<" else operator.le

    def one(left: Value, right: Value) -> Value:
        if left is Mark.BROKEN or right is Mark.BROKEN:
            return Mark.BROKEN
        if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
            return False
        return ordered(left, right)

    return one


def _numbers(values: tuple[Value, ...]) -> tuple[Number, ...] | Mark | None:
    """The values as numbers; if one is none, the result of the operation instead."""
    if Mark.BROKEN in values:
        return Mark.BROKEN
    numbers = tuple(value for value in values if isinstance(value, (int, float)))
    return numbers if len(numbers) == len(values) else None


def _finite(value: Number) -> Value:
    return value if isinstance(value, int) or math.isfinite(value) else Mark.BROKEN


def arithmetic(op: ArithmeticOp) -> Callable[[Value, Value], Value]:
    """The operation on two exact numbers of equal decimals (any for ``*``) or two reals."""
    functions: dict[str, Callable[[Number, Number], Number]] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "div": lambda a, b: a // b,
        "mod": _modulo,
    }
    function = functions[op]

    def one(left: Value, right: Value) -> Value:
        numbers = _numbers((left, right))
        if not isinstance(numbers, tuple):
            return numbers
        try:
            return _finite(function(*numbers))
        except (ArithmeticError, ValueError):
            return Mark.BROKEN

    return one


def _modulo(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    return left - right * math.floor(left / right)


def to_real(decimals: int) -> Callable[[Value], Value]:
    """The nearest double of a number scaled by ``decimals``."""

    def one(value: Value) -> Value:
        if not isinstance(value, int) or isinstance(value, bool):
            return value
        try:
            return float(Fraction(value, 10**decimals))
        except OverflowError:
            return Mark.BROKEN

    return one


def _decimals(value_type: ValueType) -> int:
    return value_type.decimals if isinstance(value_type, NumberType) else 0


def _floor(value: Number, decimals: int) -> Number:
    return math.floor(value) if isinstance(value, float) else value // 10**decimals


def _round(value: Number, digits: int, decimals: int) -> Number:
    exact = Fraction(value) if isinstance(value, float) else Fraction(value, 10**decimals)
    scaled: Fraction = exact * 10 ** int(digits)
    return round(scaled)  # of a fraction: exact, ties to even


def _toward(value: Number, target: Number, step: Number) -> Number:
    moved = value + step if value < target else value - step
    return min(moved, target) if value < target else max(moved, target)


def _power(base: Number, exponent: Number) -> float:
    result = 1.0
    for _ in range(int(exponent)):
        result *= base
    return result


_PLAIN: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "clamp": lambda value, low, high: min(max(value, low), high),
    "toward": _toward,
    "sign": lambda value: (value > 0) - (value < 0),
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "exp": math.exp,
    "log": math.log,
    "pow": _power,
    "pi": lambda: math.pi,
}


def builtin(
    name: Operator, types: tuple[ValueType, ...], rungs: int
) -> Callable[..., Value] | None:
    """A numeric built-in as a function of raw values; ``None`` for one that reads the state.

    ``types`` are the types of the arguments, ``rungs`` the members of the ladder of ``next`` and
    ``prev``.
    """
    function: Callable[..., Number]
    decimals = _decimals(types[0]) if types else 0
    if name == "floor":
        function = lambda value: _floor(value, decimals)  # noqa: E731
    elif name == "round":
        function = lambda value, digits: _round(value, digits, decimals)  # noqa: E731
    elif name == "next":
        function = lambda value: min(value + 1, rungs - 1)  # noqa: E731
    elif name == "prev":
        function = lambda value: max(value - 1, 0)  # noqa: E731
    elif name == "id":
        function = lambda value: value  # noqa: E731
    elif name in _PLAIN:
        function = _PLAIN[name]
    else:
        return None

    def one(*values: Value) -> Value:
        numbers = _numbers(values)
        if not isinstance(numbers, tuple):
            return numbers
        try:
            return _finite(function(*numbers))
        except (ArithmeticError, ValueError):
            return Mark.BROKEN

    return one


def in_range(value: Raw, low: int | None, high: int | None) -> bool:
    """Return whether a number lies within its bounds; other values always do."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return True
    return (low is None or value >= low) and (high is None or value <= high)


_UNDEFINED_SOMEWHERE = ("sqrt", "log", "exp", "pow", "floor", "round")


def may_break(derives: Mapping[str, Derive], term: Term) -> bool:
    """Return whether a value may be undefined: a division, or a function outside the reals."""
    seen: set[str] = set()
    waiting = [term]
    while waiting:
        for part in subterms(waiting.pop()):
            if isinstance(part, Call) and _is_partial(part):
                return True
            if isinstance(part, DeriveCall) and part.derive not in seen:
                seen.add(part.derive)
                waiting.append(derives[part.derive].value)
    return False


def _is_partial(call: Call) -> bool:
    """Return whether an operation has no value for some arguments."""
    if call.op in ("div", "mod", "/"):
        return not _is_nonzero(call.args[1])
    real = any(not isinstance(arg.type, NumberType) for arg in call.args)
    return call.op in _UNDEFINED_SOMEWHERE and real


def _is_nonzero(term: Term) -> bool:
    inner = term.args[0] if isinstance(term, Call) and term.op == "real" else term
    return isinstance(inner, Constant) and bool(inner.value)
