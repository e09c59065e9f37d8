"""Linear forms over unknown numbers, and what conditions say about their values.

A form is ``k0 + k1*a1 + k2*a2 …`` in exact fractions; an unknown (`Atom`) stands for a value of the
state that is read as a number (members of enums and objects by position, truths as 0 and 1).
Conditions become formulas over forms. `interval_of` bounds a form where formulas hold: each way in
which they can hold is examined alone, its bounds are propagated, and the inequalities are added up
where that cancels unknowns. The answer may be wider than the truth, never narrower.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

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

ZERO, ONE = Fraction(0), Fraction(1)
_WAYS = 24
"""Ways in which formulas may hold that are examined; beyond, a formula is left out."""
_LEAVES = 64
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Interval:
    """From ``low`` to ``high``, both included; ``None``: no end is known."""

    low: Fraction | None
    high: Fraction | None

    @property
    def without_zero(self) -> bool:
        """Whether no value in it is 0."""
        return (self.low is not None and self.low > 0) or (self.high is not None and self.high < 0)

    @property
    def is_zero(self) -> bool:
        """Whether 0 is the only value in it."""
        return self.low == 0 and self.high == 0


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """One unknown: its range, the step between its values (0: none), and its cases.

    In each case a formula holds and the unknown equals a form: ``min(a, b)`` is a where a <= b.
    """

    low: Fraction | None
    high: Fraction | None
    step: Fraction
    cases: tuple[tuple[Formula, Form], ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """``const`` plus each atom times its factor; no factor is 0."""

    parts: tuple[tuple[Atom, Fraction], ...]
    const: Fraction = ZERO

    def plus(self, other: Form, factor: Fraction = ONE) -> Form:
        """The sum of this and ``factor`` times another."""
        if factor is not ONE and factor != ONE:
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
        return self.plus(other, -ONE)

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


@dataclass(frozen=True, slots=True)
class AtMost:
    """The form is 0 or less."""

    form: Form


@dataclass(frozen=True, slots=True)
class Nonzero:
    """The form is not 0."""

    form: Form


@dataclass(frozen=True, slots=True)
class AllOf:
    formulas: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    formulas: tuple[Formula, ...]


Literal = AtMost | Nonzero
Formula = AtMost | Nonzero | AllOf | AnyOf
TRUE, FALSE = AllOf(()), AnyOf(())


def constant(value: Fraction | int) -> Form:
    """A form without unknowns."""
    return Form((), Fraction(value))


def unknown(atom: Atom) -> Form:
    """A form that is one unknown."""
    return Form(((atom, ONE),))


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


def _leaves(form: Form, literals: tuple[Literal, ...], room: int) -> Iterator[_Leaf]:
    """The situations without cases: each unknown that has cases is replaced, case by case."""
    split = next((atom for atom in _atoms(form, literals) if atom.cases), None)
    if split is None or room < 2:
        yield _Leaf(form, literals)
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


# ---- one situation ----------------------------------------------------------------------

_Ends = tuple[Fraction | None, Fraction | None]


@dataclass(slots=True)
class _Leaf:
    """A form and literals that hold; ``ends`` are the bounds of atoms known so far."""

    form: Form
    literals: tuple[Literal, ...]
    ends: dict[Atom, _Ends] = field(default_factory=dict)

    def interval(self) -> Interval | None:
        """Where the form lies; ``None`` if the literals cannot hold together."""
        if not self._propagate() or self._contradicts():
            return None
        low = self._upper(self.form.times(Fraction(-1)), self._depth)
        return Interval(None if low is None else -low, self._upper(self.form, self._depth))

    @property
    def _depth(self) -> int:
        """How many inequalities are added up at most: fewer where there are many."""
        return _DEPTH if len(self.literals) <= 8 else 1 if len(self.literals) > 20 else 2

    def _propagate(self) -> bool:
        for _ in range(4):
            before = dict(self.ends)
            for literal in self.literals:
                step = self._tighten if isinstance(literal, AtMost) else self._exclude
                if not step(literal.form):
                    return False
            if self.ends == before:
                return True
        return True

    def _ends(self, atom: Atom) -> _Ends:
        return self.ends.get(atom, (atom.low, atom.high))

    def _tighten(self, form: Form) -> bool:
        """What ``form <= 0`` says of each of its atoms."""
        for atom, by in form.parts:
            rest = self._rest(form, atom)
            if rest is None:
                continue
            low, high = self._ends(atom)
            if by > 0:
                found = _down(rest / by, atom.step)
                high = found if high is None else min(high, found)
            else:
                found = -_down(-rest / by, atom.step)
                low = found if low is None else max(low, found)
            self.ends[atom] = (low, high)
            if low is not None and high is not None and low > high:
                return False
        return bool(form.parts) or form.const <= 0

    def _rest(self, form: Form, atom: Atom) -> Fraction | None:
        """The largest value of what is left, negated, when an atom is taken from a form."""
        total = -form.const
        for one, by in form.parts:
            if one is not atom:
                end = self._ends(one)[0 if by > 0 else 1]
                if end is None:
                    return None
                total -= by * end
        return total

    def _exclude(self, form: Form) -> bool:
        """What ``form != 0`` says where it has one atom: the ends of its range may move."""
        if not form.parts:
            return form.const != 0
        if len(form.parts) > 1:
            return True
        ((atom, by),) = form.parts
        low, high = self._ends(atom)
        value = -form.const / by
        if low == value and high == value:
            return False
        if low is not None and low == value:
            low += atom.step
        if high is not None and high == value:
            high -= atom.step
        self.ends[atom] = (low, high)
        return low is None or high is None or low <= high

    def _contradicts(self) -> bool:
        for literal in self.literals:
            low = self._upper(literal.form.times(Fraction(-1)), self._depth)
            if isinstance(literal, AtMost):
                if low is not None and low < 0:
                    return True
            elif low == 0 and self._upper(literal.form, self._depth) == 0:
                return True
        return False

    def _most(self, form: Form) -> Fraction | None:
        """The largest value by the bounds of each atom alone."""
        total = form.const
        for atom, by in form.parts:
            end = self._ends(atom)[1 if by > 0 else 0]
            if end is None:
                return None
            total += by * end
        return total

    def _upper(self, form: Form, depth: int) -> Fraction | None:
        """The least bound found; an inequality is taken off where it cancels an atom."""
        best = self._most(form)
        if depth == 0:
            return best
        for literal in self.literals:
            if not isinstance(literal, AtMost):
                continue
            for factor in _cancelling(form, literal.form):
                found = self._upper(form.plus(literal.form, -factor), depth - 1)
                best = found if best is None or (found is not None and found < best) else best
        return best


def _cancelling(form: Form, other: Form) -> list[Fraction]:
    """The positive multiples of ``other`` that cancel an atom of a form, smallest first."""
    found: set[Fraction] = set()
    for atom, by in form.parts:
        for one, factor in other.parts:
            if one is atom and (by > 0) == (factor > 0):
                found.add(by if factor == 1 else by / factor)
    return sorted(found)


def _down(value: Fraction, step: Fraction) -> Fraction:
    """The largest multiple of ``step`` that is not above ``value``."""
    return value if not step else (value // step) * step


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
