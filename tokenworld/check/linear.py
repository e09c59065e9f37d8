"""Linear forms over unknown numbers, and what conditions say about their values.

A form is ``k0 + k1*a1 + k2*a2 …`` in exact fractions; an unknown (`Atom`) stands for a value of the
state that is read as a number (members of enums and objects by position, truths as 0 and 1).
Conditions become formulas over forms. `interval_of` bounds a form where formulas hold: each way in
which they can hold is examined alone, its bounds are propagated, and the inequalities are added up
where that cancels unknowns. The answer may be wider than the truth, never narrower.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tokenworld.check.forms import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    AtMost,
    Atom,
    Form,
    Formula,
    Interval,
    Literal,
    Nonzero,
    constant,
    unknown,
)
from tokenworld.check.situation import Leaf

__all__ = [
    "FALSE",
    "TRUE",
    "AllOf",
    "AnyOf",
    "Atom",
    "AtMost",
    "Form",
    "Formula",
    "Interval",
    "Nonzero",
    "constant",
    "hull",
    "interval_of",
    "unknown",
]

_WAYS = 24
"""Ways in which formulas may hold that are examined; beyond, a formula is left out."""
_LEAVES = 64


# ---- the ways in which formulas hold ----------------------------------------------------


def _ways(formula: Formula) -> list[tuple[Literal, ...]]:
    match formula:
        case AtMost() | Nonzero():
            return [(formula,)]
        case AllOf(formulas=parts):
            return _together(parts)
        case AnyOf(formulas=parts):
            found = [way for part in parts for way in _ways(part)]
            return found if len(found) <= _WAYS else [()]


def _together(formulas: Iterable[Formula]) -> list[tuple[Literal, ...]]:
    """Every combination; a formula with too many of them is left out, which is sound."""
    found: list[tuple[Literal, ...]] = [()]
    for formula in formulas:
        ways = _ways(formula)
        if len(found) * len(ways) <= _WAYS:
            found = [(*one, *way) for one in found for way in ways]
    return found


def _leaves(form: Form, literals: tuple[Literal, ...], room: int) -> Iterator[Leaf]:
    """The situations without cases: each unknown that has cases is replaced, case by case."""
    split = next((atom for atom in _atoms(form, literals) if atom.cases), None)
    if split is None or room < 2:
        yield Leaf(form, literals)
        return
    ways = [(way, value) for formula, value in split.cases for way in _ways(formula)]
    for way, value in ways:
        told = tuple(_swap(one, split, value) for one in (*literals, *way))
        yield from _leaves(form.replaced(split, value), told, room // len(ways))


def _atoms(form: Form, literals: tuple[Literal, ...]) -> Iterator[Atom]:
    for one in (form, *(literal.form for literal in literals)):
        for atom, _ in one.parts:
            yield atom


def _swap(literal: Literal, atom: Atom, value: Form) -> Literal:
    form = literal.form.replaced(atom, value)
    return AtMost(form) if isinstance(literal, AtMost) else Nonzero(form)


# ---- answers ----------------------------------------------------------------------------


def hull(intervals: Sequence[Interval]) -> Interval:
    """The least interval that holds all of them."""
    lows, highs = [one.low for one in intervals], [one.high for one in intervals]
    low = None if None in lows else min(one for one in lows if one is not None)
    high = None if None in highs else max(one for one in highs if one is not None)
    return Interval(low, high)


def interval_of(form: Form, formulas: Sequence[Formula]) -> Interval | None:
    """Where a form lies when all formulas hold; ``None`` if they cannot hold together."""
    found = [
        interval
        for way in _together(formulas)
        for leaf in _leaves(form, way, _LEAVES)
        if (interval := leaf.interval()) is not None
    ]
    return hull(found) if found else None
