"""The metric of a problem as a sum: what each violated preference, cost and tick counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tokenworld.planning.reader.expressions import is_number, show
from tokenworld.planning.reader.names import TOTAL_COST
from tokenworld.planning.reader.sexpr import Group, Item

TOTAL_TIME = "total-time"


class Unmeasured(Exception):
    """The metric is no sum that plans can be measured by; the message is a clause that says why."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric to minimise: ``constant`` plus, for each preference, function and word, how much it
    counts. One that is to be maximised is the same with other signs, and ``sign`` is -1."""

    preferences: Mapping[str, Fraction]
    functions: Mapping[str, Fraction]
    cost: Fraction
    time: Fraction
    constant: Fraction
    sign: int


COSTS = Measure({}, {}, Fraction(1), Fraction(0), Fraction(0), 1)
"""The measure of plans without a metric, or with `(total-cost)` alone."""


@dataclass(slots=True)
class _Sum:
    """A linear form: a constant, and factors of preferences and of functions by their text."""

    constant: Fraction = Fraction(0)
    preferences: dict[str, Fraction] = field(default_factory=dict)
    functions: dict[str, Fraction] = field(default_factory=dict)

    def times(self, factor: Fraction) -> _Sum:
        return _Sum(
            self.constant * factor,
            {name: one * factor for name, one in self.preferences.items()},
            {name: one * factor for name, one in self.functions.items()},
        )

    def add(self, other: _Sum) -> None:
        self.constant += other.constant
        for mine, theirs in (
            (self.preferences, other.preferences),
            (self.functions, other.functions),
        ):
            for name, factor in theirs.items():
                mine[name] = mine.get(name, Fraction(0)) + factor

    @property
    def is_number(self) -> bool:
        return not self.preferences and not self.functions


def measured(sense: str, item: Item) -> Measure:
    """The sum that a metric is. Raises `Unmeasured` for another one."""
    sign = 1 if sense == "minimize" else -1
    found = _sum(item).times(Fraction(sign))
    functions = found.functions
    cost = functions.pop(TOTAL_COST, Fraction(0))
    time = functions.pop(TOTAL_TIME, Fraction(0))
    for name, factor in ((TOTAL_COST, cost), (TOTAL_TIME, time), *functions.items()):
        if factor < 0:
            raise Unmeasured(f"a plan would be better with more `{name}`")
    return Measure(found.preferences, functions, cost, time, found.constant, sign)


def _sum(item: Item) -> _Sum:
    if is_number(item):
        return _Sum(Fraction(show(item)))
    if not isinstance(item, Group):
        return _Sum(functions={item.key: Fraction(1)})
    parts = item.items[1:]
    match item.head:
        case "is-violated" if len(parts) == 1:
            return _Sum(preferences={show(parts[0]).lower(): Fraction(1)})
        case "+":
            return _added([_sum(one) for one in parts])
        case "-" if parts:
            first, rest = _sum(parts[0]), [_sum(one).times(Fraction(-1)) for one in parts[1:]]
            return _added([first, *rest]) if rest else first.times(Fraction(-1))
        case "*":
            return _multiplied([_sum(one) for one in parts])
        case "/" if len(parts) == 2 and is_number(parts[1]) and Fraction(show(parts[1])):
            return _sum(parts[0]).times(1 / Fraction(show(parts[1])))
        case "+" | "-" | "*" | "/" | "is-violated":
            raise Unmeasured("it is no sum of what a plan pays")
        case _ if parts:
            raise Unmeasured(f"`{show(item)}` has arguments")
        case head:
            return _Sum(functions={head: Fraction(1)})


def _added(parts: list[_Sum]) -> _Sum:
    found = _Sum()
    for one in parts:
        found.add(one)
    return found


def _multiplied(parts: list[_Sum]) -> _Sum:
    found = _Sum(Fraction(1))
    for one in parts:
        if one.is_number:
            found = found.times(one.constant)
        elif found.is_number:
            found = one.times(found.constant)
        else:
            raise Unmeasured("it multiplies what a plan pays")
    return found
