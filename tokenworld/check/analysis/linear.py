"""Linear forms over unknown numbers, and what conditions say about their values.

A form is ``k0 + k1*a1 + k2*a2 …`` in exact fractions; an unknown (`Atom`) stands for a value of the
state that is read as a number (members of enums and objects by position, truths as 0 and 1).
Conditions become formulas over forms; a leaf is a set of inequalities that hold together.
`interval_of` bounds a form where formulas hold: each way in which they can hold is examined alone,
its bounds are propagated, and the inequalities are added up where that cancels unknowns. The
interval may be wider than the truth, never narrower.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from typing import assert_never

from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import NumberType, RealType, Term

ZERO, ONE, MINUS_ONE = Fraction(0), Fraction(1), Fraction(-1)


@frozen
class Interval:
    """From ``low`` to ``high``, both included; ``None``: no end is known."""

    low: Fraction | None
    high: Fraction | None

    @property
    def without_zero(self) -> bool:
        """Return whether no value in it is 0."""
        return (self.low is not None and self.low > 0) or (self.high is not None and self.high < 0)

    @property
    def is_zero(self) -> bool:
        """Return whether 0 is the only value in it."""
        return self.low == 0 and self.high == 0


@frozen
class Atom:
    """One unknown: its range, the step between its values (0: none), and its cases.

    In each case a formula holds and the unknown equals a form: ``min(a, b)`` is a where a <= b.
    An unknown equals itself only.
    """

    low: Fraction | None
    high: Fraction | None
    step: Fraction
    cases: tuple[tuple[Formula, Form], ...] = ()

    __eq__ = object.__eq__
    __hash__ = object.__hash__


@frozen
class Form:
    """``const`` plus each atom times its factor; no factor is 0."""

    parts: tuple[tuple[Atom, Fraction], ...]
    const: Fraction = ZERO

    def plus(self, other: Form, factor: Fraction = ONE) -> Form:
        """The sum of this and ``factor`` times another."""
        if factor is MINUS_ONE:
            other = other.times(-1)
        elif factor is not ONE and factor != ONE:
            other = other.times(factor)
        if not self.parts and not self.const:
            return other
        if not other.parts:
            return Form(self.parts, self.const + other.const) if other.const else self
        found = dict(self.parts)
        for atom, by in other.parts:
            found[atom] = found[atom] + by if atom in found else by
        kept = tuple([part for part in found.items() if part[1]])
        return Form(kept, self.const + other.const if other.const else self.const)

    def minus(self, other: Form) -> Form:
        return self.plus(other, MINUS_ONE)

    def times(self, factor: Fraction | int) -> Form:
        """The multiple by a constant."""
        if factor == -1:
            return Form(tuple([(atom, -by) for atom, by in self.parts]), -self.const)
        if not factor:
            return Form((), ZERO)
        by_all = Fraction(factor)
        parts = tuple([(atom, by * by_all) for atom, by in self.parts])
        return Form(parts, self.const * by_all)

    def of(self, atom: Atom) -> Fraction:
        """The factor of an atom."""
        for one, by in self.parts:
            if one is atom:
                return by
        return ZERO

    def replaced(self, atom: Atom, form: Form) -> Form:
        """The same with a form in the place of an atom."""
        by = self.of(atom)
        if not by:
            return self
        rest = tuple(part for part in self.parts if part[0] is not atom)
        return Form(rest, self.const).plus(form, by)


@frozen
class AtMost:
    """The form is 0 or less."""

    form: Form


@frozen
class Nonzero:
    """The form is not 0."""

    form: Form


@frozen
class AllOf:
    formulas: tuple[Formula, ...]


@frozen
class AnyOf:
    formulas: tuple[Formula, ...]


Literal = AtMost | Nonzero
Formula = AtMost | Nonzero | AllOf | AnyOf
TRUE, FALSE = AllOf(()), AnyOf(())


@lru_cache(maxsize=1024)
def constant(value: Fraction | int) -> Form:
    """A form without unknowns."""
    return Form((), Fraction(value))


def unknown(atom: Atom) -> Form:
    """A form that is one unknown."""
    return Form(((atom, ONE),))


def step_of(term: Term) -> Fraction:
    """The distance between neighbouring values of a term; 0 for reals."""
    if isinstance(term.type, NumberType):
        return _step(term.type.decimals)
    return ZERO if isinstance(term.type, RealType) else ONE


@cache
def _step(decimals: int) -> Fraction:
    return Fraction(1, 10**decimals)


_DEPTH = 3

_Number = Fraction | int
_Ends = tuple[_Number | None, _Number | None]
_Sum = tuple[tuple[tuple[Atom, _Number], ...], _Number]
"""A form whose whole numbers are plain integers: most are, and these are quick to add up."""


def _whole(value: Fraction) -> _Number:
    return value.numerator if value.denominator == 1 else value


def _over(value: _Number, by: _Number) -> _Number:
    return value * by if by in (1, -1) else _whole(Fraction(value) / by)


def _sum(form: Form) -> _Sum:
    return tuple([(atom, _whole(by)) for atom, by in form.parts]), _whole(form.const)


def _negative(one: _Sum) -> _Sum:
    return tuple([(atom, -by) for atom, by in one[0]]), -one[1]


def _without(one: _Sum, factor: _Number, other: _Sum) -> _Sum:
    """A sum less a multiple of another one."""
    found = dict(one[0])
    for atom, by in other[0]:
        found[atom] = found.get(atom, 0) - by * factor
    return tuple([part for part in found.items() if part[1]]), one[1] - other[1] * factor


class Leaf:
    """A form and literals that hold; ``ends`` are the bounds of atoms known so far."""

    __slots__ = ("beside", "ends", "form", "least", "literals")

    def __init__(self, form: Form, literals: tuple[Literal, ...]) -> None:
        self.form = _sum(form)
        self.literals = [(isinstance(one, AtMost), _sum(one.form)) for one in literals]
        self.beside = _by_atom([one for at_most, one in self.literals if at_most])
        # How many inequalities are added up at most: fewer where there are many.
        self.least = _DEPTH if len(literals) <= 8 else 1 if len(literals) > 20 else 2
        self.ends: dict[Atom, _Ends] = {}

    def interval(self) -> Interval | None:
        """The interval of the form; ``None`` if the literals cannot hold together."""
        if not self._propagate() or self._contradicts():
            return None
        low = self._upper(_negative(self.form), self.least)
        high = self._upper(self.form, self.least)
        return Interval(
            None if low is None else Fraction(-low), None if high is None else Fraction(high)
        )

    def _propagate(self) -> bool:
        for _ in range(4):
            before = dict(self.ends)
            for at_most, one in self.literals:
                if not (self._tighten(one) if at_most else self._exclude(one)):
                    return False
            if self.ends == before:
                return True
        return True

    def _ends(self, atom: Atom) -> _Ends:
        found = self.ends.get(atom)
        if found is None:
            low, high = atom.low, atom.high
            found = (None if low is None else _whole(low), None if high is None else _whole(high))
        return found

    def _tighten(self, form: _Sum) -> bool:
        """Tighten the range of each atom of ``form <= 0``."""
        for atom, by in form[0]:
            rest = self._rest(form, atom)
            if rest is None:
                continue
            low, high = self._ends(atom)
            step = _whole(atom.step)
            if by > 0:
                found = _down(_over(rest, by), step)
                high = found if high is None else min(high, found)
            else:
                found = -_down(-_over(rest, by), step)
                low = found if low is None else max(low, found)
            self.ends[atom] = (low, high)
            if low is not None and high is not None and low > high:
                return False
        return bool(form[0]) or form[1] <= 0

    def _rest(self, form: _Sum, atom: Atom) -> _Number | None:
        """The negated maximum of a linear form without one of its atoms."""
        total = -form[1]
        for one, by in form[0]:
            if one is not atom:
                end = self._ends(one)[0 if by > 0 else 1]
                if end is None:
                    return None
                total -= by * end
        return total

    def _exclude(self, form: _Sum) -> bool:
        """Tighten the range of the only atom of ``form != 0``: its ends may move."""
        parts, const = form
        if not parts:
            return const != 0
        if len(parts) > 1:
            return True
        ((atom, by),) = parts
        low, high = self._ends(atom)
        value = _over(-const, by)
        if low == value and high == value:
            return False
        if low is not None and low == value:
            low += _whole(atom.step)
        if high is not None and high == value:
            high -= _whole(atom.step)
        self.ends[atom] = (low, high)
        return low is None or high is None or low <= high

    def _contradicts(self) -> bool:
        for at_most, one in self.literals:
            low = self._upper(_negative(one), self.least)
            if at_most:
                if low is not None and low < 0:
                    return True
            elif low == 0 and self._upper(one, self.least) == 0:
                return True
        return False

    def _most(self, form: _Sum) -> _Number | None:
        """The largest value by the bounds of each atom alone."""
        total = form[1]
        for atom, by in form[0]:
            end = self._ends(atom)[1 if by > 0 else 0]
            if end is None:
                return None
            total += by * end
        return total

    def _upper(self, form: _Sum, depth: int) -> _Number | None:
        """The least bound found; an inequality is taken off where it cancels an atom."""
        best = self._most(form)
        if depth == 0 or not form[0]:
            return best
        tried: list[tuple[_Number, _Sum]] = []
        for atom, by in form[0]:
            for one, literal in self.beside.get(atom, ()):
                if (by > 0) == (one > 0):
                    step = (_over(by, one), literal)
                    if step not in tried:
                        tried.append(step)
                        found = self._upper(_without(form, *step), depth - 1)
                        if best is None or (found is not None and found < best):
                            best = found
        return best


def _by_atom(sums: list[_Sum]) -> dict[Atom, list[tuple[_Number, _Sum]]]:
    """The sums that contain each atom, with its factor there."""
    found: dict[Atom, list[tuple[_Number, _Sum]]] = {}
    for one in sums:
        for atom, by in one[0]:
            found.setdefault(atom, []).append((by, one))
    return found


def _down(value: _Number, step: _Number) -> _Number:
    """The largest multiple of ``step`` that is not above ``value``."""
    return value if not step else (value // step) * step


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
        case _:
            assert_never(formula)


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
    """The interval of a form when all formulas hold; ``None`` if they cannot hold together."""
    found = [
        interval
        for way in _together(formulas)
        for leaf in _leaves(form, way, _LEAVES)
        if (interval := leaf.interval()) is not None
    ]
    return hull(found) if found else None
