"""The few functions that generated code calls: total logic over `none` (language.md §4).

Generated code uses plain Python operators where the checker proved that no operand is `none`, and
these where one may be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from tokenworld.diagnostics.limits import TOO_LARGE, TOO_LONG
from tokenworld.engine.delta import Breach, bounded
from tokenworld.engine.growing import early
from tokenworld.engine.state import State

__all__ = ["RUNTIME"]

_Stored = Sequence[Any]


def at(stored: _Stored, x: int | None) -> Any:
    """An attribute of something that may be `none`."""
    return None if x is None else stored[x]


def row(stored: dict[tuple[Any, ...], Any], key: tuple[Any, ...], default: Any) -> Any:
    """A value with several arguments, any of which may be `none`."""
    return None if None in key else stored.get(key, default)


def fact(stored: dict[tuple[Any, ...], Any], key: tuple[Any, ...]) -> bool:
    """A truth with several arguments."""
    return stored.get(key, False) is True


def sym(stored: dict[tuple[Any, ...], Any], a: Any, b: Any) -> bool:
    """A symmetric truth: one stored fact for both directions."""
    if a is None or b is None:
        return False
    return stored.get((a, b) if a <= b else (b, a), False) is True


def pair(a: Any, b: Any) -> Any:
    """The key of a symmetric truth; ``None`` if there is none."""
    if a is None or b is None:
        return None
    return (a, b) if a <= b else (b, a)


def same(a: Any, b: Any) -> bool:
    """Direct containment: `x.at == c`, false over `none`."""
    return a is not None and a == b


def kids(children: _Stored, x: int | None) -> Sequence[int]:
    """A copy-free view of the children of something that may be `none`."""
    return () if x is None else children[x]


def inside(children: _Stored, x: int | None) -> Sequence[int]:
    """Everything within, containment pre-order; the list of contents itself where they are flat."""
    if x is None:
        return ()
    first: Sequence[int] = children[x]
    for child in first:
        if children[child]:
            return _all_within(children, first)
    return first


def _all_within(children: _Stored, first: Sequence[int]) -> list[int]:
    todo, found = list(reversed(first)), list[int]()
    seen = set(todo)
    while todo:
        child = todo.pop()
        found.append(child)
        for inner in reversed(children[child]):
            if inner not in seen:
                seen.add(inner)
                todo.append(inner)
    return found


def within(parents: _Stored, x: int | None, y: int | None) -> bool:
    """Whether `x` is somewhere inside `y`."""
    if x is None or y is None:
        return False
    step = parents[x]
    for _ in parents:  # no way up is longer than this, unless it is a ring
        if step is None:
            return False
        if step == y:
            return True
        step = parents[step]
    return False


def reach(stored: dict[tuple[Any, ...], Any], symmetric: bool, x: int | None) -> list[int]:
    """What a relation's transitive closure leads to from `x`, in order of number."""
    if x is None:
        return []
    found: set[int] = set()
    todo = [x]
    while todo:
        node = todo.pop()
        for a, b in stored:
            for left, right in ((a, b), (b, a)) if symmetric else ((a, b),):
                if left == node and right not in found:
                    found.add(right)
                    todo.append(right)
    return sorted(found)


def lt(a: Any, b: Any) -> bool:
    return a is not None and b is not None and a < b


def le(a: Any, b: Any) -> bool:
    return a is not None and b is not None and a <= b


def member(x: Any, collection: Iterable[Any]) -> bool:
    """Membership, false over `none`."""
    return x is not None and x in collection


def present(collection: Iterable[Any]) -> Iterator[Any]:
    """The members of a written list that are there."""
    return (x for x in collection if x is not None)


def last(values: Iterable[Any]) -> Any:
    """The last of a sequence, `none` of nothing."""
    listed = list(values)
    return listed[-1] if listed else None


def total(function: Callable[..., Any], *args: Any) -> Any:
    """A calculation over values any of which may be `none`, and then is `none`."""
    return None if any(one is None for one in args) else function(*args)


def defined(values: list[Any]) -> list[Any]:
    """The values that candidates are compared by, none of which may be `none`."""
    if None in values:
        raise Breach("TW1006", "undefined", "What a candidate is chosen by is `none`.")
    return values


def total_sum(values: Sequence[Any], nothing: float) -> Any:
    total = nothing
    for value in values:
        if value is None:
            return None
        total += value
    return total


def total_min(values: Sequence[Any]) -> Any:
    return None if None in values else min(values, default=None)


def total_max(values: Sequence[Any]) -> Any:
    return None if None in values else max(values, default=None)


def fits(number: Any) -> Any:
    """A number that is not too long to be kept and shown (`reference.numbers.fitting`)."""
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


def to_real(value: int | None, scale: int) -> float | None:
    """The nearest double of a scaled exact number."""
    return None if value is None else value / scale


def rescale(value: int | None, factor: int) -> int | None:
    return None if value is None else value * factor


def step(value: int | None, by: int, size: int) -> int | None:
    """`next` and `prev` stop at the ends of the ladder."""
    return None if value is None else min(max(value + by, 0), size - 1)


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


def round_exact(value: int, decimals: int, digits: int) -> int:
    """The same of a scaled exact number."""
    return round(value * Fraction(10) ** (digits - decimals))


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


def busy(state: State, actor: int | None, action: str) -> bool:
    """Whether a long action (of that name, if given) is under way."""
    long = None if actor is None else state.long_of(actor)
    return long is not None and action in ("", long.command.action)


def did(state: State, actor: int | None, action: str, args: tuple[Any, ...]) -> bool:
    """Whether the actor's intent of this tick was that action with these (first) arguments."""
    return any(
        who == actor and deed.action == action and deed.args[: len(args)] == args
        for who, deed in state.deeds
    )


def shown_number(value: int, decimals: int) -> float:
    """An exact number in exchange form, for the key of a draw."""
    return float(Fraction(value, 10**decimals))


def added(values: Iterable[float]) -> float:
    """The sum of doubles in order: `sum` itself compensates rounding from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total


def round_down(value: float) -> int:
    """`floor` of a double."""
    if not math.isfinite(value):
        raise Breach("TW1006", "undefined", "A result is outside the reals.")
    return math.floor(value)


RUNTIME: dict[str, Any] = {
    function.__name__: function
    for function in (
        at, row, fact, sym, same, kids, inside, within, reach, lt, le, member, present, last,
        fits, floordiv, modulo, over, real_mod, to_real, rescale, step, clamp, toward, sign,
        round_real, round_exact, round_down, shown_number, finite, added, total, defined, total_sum,
        total_min, total_max, power, busy, did, early, bounded, pair,
    )
}  # fmt: skip
