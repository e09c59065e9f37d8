"""The functions that generated rules call, beside Python's own operators.

A row is ``R`` (the live one, that of the start of the tick, or the static one); tables are those of
`layout.Store`. Each is short and free of Python objects but lists and tuples, so that numba can
compile the same text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from operator import itemgetter
from typing import Any

from tokenworld import model as m
from tokenworld.core import nodes as core
from tokenworld.diagnostics.limits import TOO_LARGE, TOO_LONG
from tokenworld.engine.changes import Breach
from tokenworld.engine.rows.layout import Slots

Row = list[Any]


def at(R: Row, table: Sequence[int], x: int | None) -> Any:
    """An attribute of something that may be `none`."""
    return None if x is None else R[table[x]]


def kids(R: Row, table: Sequence[int], x: int | None) -> tuple[int, ...]:
    """The objects that point at ``x``, which may be `none`."""
    return () if x is None else R[table[x]] or ()


def inside(R: Row, table: Sequence[int], x: int | None) -> list[int]:
    """Everything within, in pre-order."""
    found: list[int] = []
    if x is None:
        return found
    seen = set[int]()
    todo = list(reversed(R[table[x]] or ()))
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            found.append(one)
            todo.extend(reversed(R[table[one]] or ()))
    return found


def climbs(R: Row, table: Sequence[int], x: int | None, y: int | None) -> bool:
    """Return whether an attribute leads from x to y in one step or more."""
    if x is None or y is None:
        return False
    step = R[table[x]]
    for _ in table:  # no way is longer
        if step is None or step == y:
            return step is not None
        step = R[table[step]]
    return False


def total(function: Callable[..., Any], *args: Any) -> Any:
    """A calculation; over `none` it is `none`."""
    return None if None in args else function(*args)


def plus(a: Any, b: Any) -> Any:
    return a + b


def minus(a: Any, b: Any) -> Any:
    return a - b


def times(a: Any, b: Any) -> Any:
    return a * b


def neg(a: Any) -> Any:
    return -a


def amount(value: Any) -> Any:
    """The amount that a `transfer` moves; raises `Breach` for a negative or too long one."""
    if value < 0:
        raise Breach("TW1004", "range", "A negative amount cannot be transferred.")
    if isinstance(value, int) and value >= TOO_LARGE:
        raise Breach("TW1006", "undefined", TOO_LONG)
    return value


def summed(values: list[Any], nothing: Any) -> Any:
    """A sum in order; over something that is `none` it is `none`."""
    if None in values:
        return None
    for value in values:
        nothing += value
    return nothing


def least(values: list[Any]) -> Any:
    return None if None in values else min(values, default=None)


def most(values: list[Any]) -> Any:
    return None if None in values else max(values, default=None)


def to_real(value: Any, scale: int) -> float:
    """The nearest double of a scaled exact number."""
    return float(value / scale)


def step(value: int, by: int, size: int) -> int:
    """`next` and `prev` stop at the ends of the ladder."""
    return min(max(value + by, 0), size - 1)


def busy(longs: Sequence[Any], actor: int | None, action: str) -> bool:
    """Return whether a long action (of that name, if given) is under way."""
    if actor is None:
        return False
    return any(who == actor and action in ("", one.command.action) for who, one in longs)


def did(executed: Sequence[Any], actor: int | None, action: str, args: tuple[Any, ...]) -> bool:
    """Return whether the intent of this tick was that action with these (first) arguments."""
    return any(
        who == actor and one.action == action and one.args[: len(args)] == args
        for who, one in executed
    )


def same(a: Any, b: Any) -> bool:
    """Direct containment: `x.at == c`, false over `none`."""
    return a is not None and a == b


def where(R: Row, at: int, end: int, first: int, value: Any) -> list[int]:
    """The numbers of the slots from ``at`` to before ``end`` that hold a value; ``first`` is that
    of the first slot."""
    found: list[int] = []
    held = R[at:end]
    size = len(held)
    held.append(value)
    at = held.index(value)
    while at < size:
        found.append(first + at)
        at = held.index(value, at + 1)
    return found


def held(guards: Callable[..., int], *args: Any) -> bool:
    """Return whether all guards of an action hold; where one has no value they do not."""
    try:
        return guards(*args) < 0
    except Breach:
        return False


def lt(a: Any, b: Any) -> bool:
    return a is not None and b is not None and a < b


def le(a: Any, b: Any) -> bool:
    return a is not None and b is not None and a <= b


def member(x: Any, collection: Iterable[Any]) -> bool:
    """Membership, false over `none`."""
    return x is not None and x in collection


def fits(number: Any) -> Any:
    """A number that is not too long to be kept and shown (`reference.terms.fitting`)."""
    if number is None or -TOO_LARGE < number < TOO_LARGE:
        return number
    raise Breach("TW1006", "undefined", TOO_LONG)


def floordiv(a: int, b: int) -> int:
    if b == 0:
        raise Breach("TW1006", "undefined", "A number is divided by zero.")
    return a // b


def modulo(a: int, b: int) -> int:
    if b == 0:
        raise Breach("TW1006", "undefined", "A number is divided by zero.")
    return a % b


def over(a: float, b: float) -> float:
    if b == 0:
        raise Breach("TW1006", "undefined", "A number is divided by zero.")
    return a / b


def real_mod(a: float, b: float) -> float:
    """`x - y * floor(x / y)`, as the reference defines it for reals."""
    return a - b * math.floor(over(a, b))


def clamp(x: Any, low: Any, high: Any) -> Any:
    return min(max(x, low), high)


def toward(x: Any, target: Any, by: Any) -> Any:
    """Moves `x` to `target` by at most `by`."""
    return min(x + by, target) if x < target else max(x - by, target)


def sign(x: Any) -> int:
    return int(x > 0) - int(x < 0)


def round_real(value: float, digits: int) -> int:
    """The scaled n-digit decimal nearest to a double, ties to even."""
    if not math.isfinite(value):
        raise Breach("TW1006", "undefined", "A result is outside the reals.")
    return round(Fraction(value) * Fraction(10) ** digits)


def rounded_exact(value: int, digits: int, decimals: int) -> int:
    """The same of a scaled exact number with ``decimals``."""
    return round(value * Fraction(10) ** (digits - decimals))


def round_down(value: float) -> int:
    """`floor` of a double."""
    if not math.isfinite(value):
        raise Breach("TW1006", "undefined", "A result is outside the reals.")
    return math.floor(value)


def finite(name: str, *args: float) -> float:
    """`sqrt sin cos exp log` of the C library, or a world error outside the reals."""
    try:
        result: float = getattr(math, name)(*args)
    except (ValueError, OverflowError):
        raise Breach("TW1006", "undefined", f"`{name}` has no real result here.") from None
    return result


def power(base: float, exponent: int) -> float:
    """Repeated multiplication from the left; a negative exponent has no meaning."""
    if exponent < 0:
        raise Breach("TW1006", "undefined", "An exponent is negative.")
    result = 1.0
    for _ in range(exponent):
        result *= base
    return result


def calculation(term: core.Call, slots: Slots) -> tuple[str, list[str]]:
    """The function of an operator on numbers, and its further arguments."""
    kind = term.args[0].type if term.args else None
    decimals = kind.decimals if isinstance(kind, m.NumberType) else 0
    exact = isinstance(kind, m.NumberType)
    real = isinstance(term.type, m.RealType)
    match term.op:
        case "/":
            return "over", []
        case "div":
            return "floordiv", []
        case "mod":
            return ("real_mod" if real else "modulo"), []
        case "scale":
            return "times", []
        case "real":
            return "to_real", [str(10**decimals)]
        case "next" | "prev":
            size = len(slots.program.enums[term.detail].members)
            return "step", ["1" if term.op == "next" else "-1", str(size)]
        case "floor":
            return ("floordiv", [str(10**decimals)]) if exact else ("round_down", [])
        case "round":
            return ("rounded_exact", [str(decimals)]) if exact else ("round_real", [])
        case "pow":
            return "power", []
        case "sqrt" | "sin" | "cos" | "exp" | "log":
            return f"{term.op}_", []
        case (
            "+" | "-" | "*" | "neg" | "amount" | "abs" | "min" | "max" | "clamp" | "toward"
            | "sign" | "id"
        ):  # fmt: skip
            return term.op, []
        case _:
            raise ValueError(f"`{term.op}` is no operator on numbers")


class Readers(dict[int, Callable[[Row], tuple[Any, ...]]]):
    """For each object the function that reads an attribute, the slots ``places``, of all objects
    that always point at it: the slots ``kids`` of the row of unchanging facts."""

    def __init__(self, static: Row, kids: Sequence[int], places: Sequence[int]) -> None:
        super().__init__()
        self._static, self._kids, self._places = static, kids, places

    def __missing__(self, x: int) -> Callable[[Row], tuple[Any, ...]]:
        places = [self._places[one] for one in self._static[self._kids[x]] or ()]
        found = itemgetter(*places) if len(places) > 1 else partial(_each, places)
        self[x] = found
        return found


def _each(places: Sequence[int], R: Row) -> tuple[Any, ...]:
    return tuple(R[one] for one in places)


def tally(R: Row, readers: Readers, x: int | None, value: Any) -> int:
    """How many of the read values are equal to one."""
    return 0 if x is None else readers[x](R).count(value)


RUNTIME: dict[str, Any] = {
    **{
        one.__name__: one
        for one in (
            at, kids, inside, climbs, total, plus, minus, times, neg, amount, summed, least, most,
            to_real, step, busy, did, same, where, held, lt, le, member, fits, floordiv, modulo,
            over, real_mod, clamp, toward, sign, round_real, rounded_exact, round_down, power,
            tally,
        )
    },
    "abs": abs, "min": min, "max": max, "float": float, "bool": bool, "NONE": None,
    "product": product,
    **{f"{one}_": partial(finite, one) for one in ("sqrt", "sin", "cos", "exp", "log")},
}  # fmt: skip
