"""Arithmetic on raw numbers: scaled whole numbers stay exact, doubles are doubles (§2)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tokenworld.core.nodes import Call
from tokenworld.diagnostics.limits import TOO_LARGE, TOO_LONG
from tokenworld.engine.reference.values import Fault
from tokenworld.model import NumberType


def fitting(number: Any) -> Any:
    """An exact number that is not too long to be kept and shown."""
    if number is not None and abs(number) >= TOO_LARGE:
        raise _undefined(TOO_LONG)
    return number


def _undefined(text: str) -> Fault:
    return Fault("TW1006", "undefined", text)


def over(left: Any, right: Any) -> float:
    """`/`: always a real."""
    if right == 0:
        raise _undefined("A number is divided by zero.")
    return float(left / right)


def calculated(op: str, left: Any, right: Any, *, real: bool) -> Any:
    """One operation; over `none` it is `none`."""
    if left is None or right is None:
        return None
    match op:
        case "+":
            return left + right if real else fitting(left + right)
        case "-":
            return left - right if real else fitting(left - right)
        case "*":
            return left * right if real else fitting(left * right)
        case "/":
            return over(left, right)
        case _ if right == 0:
            raise _undefined("A number is divided by zero.")
        case "div":
            return left // right
        case _ if real:
            return left - right * math.floor(left / right)
        case _:
            return left % right


def number_function(term: Call, args: list[Any]) -> Any:
    """The functions on numbers; none of the arguments is `none`."""
    match term.op:
        case "abs":
            return abs(args[0])
        case "min":
            return min(args)
        case "max":
            return max(args)
        case "clamp":
            value, low, high = args
            return min(max(value, low), high)
        case "toward":
            value, target, step = args
            moved = min(value + step, target) if value < target else max(value - step, target)
            return fitting(moved) if isinstance(moved, int) else moved
        case "sign":
            return (args[0] > 0) - (args[0] < 0)
        case "pow":
            return _power(args[0], args[1])
        case "floor":
            return math.floor(_exact(term, args[0]))
        case "round":
            return fitting(round(_exact(term, args[0]) * 10 ** args[1]))
        case _:
            return _analytic(term.op, args[0])


def _exact(term: Call, value: Any) -> Fraction:
    """The number that a raw argument represents."""
    kind = term.args[0].type
    if isinstance(kind, NumberType):
        return Fraction(value, 10**kind.decimals)
    if not math.isfinite(value):
        raise _undefined("A result is outside the reals.")
    return Fraction(value)


def _power(base: float, exponent: int) -> float:
    if exponent < 0:
        raise _undefined("An exponent is negative.")
    result = 1.0
    for _ in range(exponent):
        result = result * base
    return result


def _analytic(name: str, value: float) -> float:
    try:
        return float(getattr(math, name)(value))
    except (ValueError, OverflowError):
        raise _undefined(f"`{name}` has no real result here.") from None
