"""Linear forms over unknown numbers, and formulas over forms (see `linear`)."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache

from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import NumberType, RealType, Term

__all__ = [
    "FALSE",
    "MINUS_ONE",
    "ONE",
    "TRUE",
    "ZERO",
    "AllOf",
    "AnyOf",
    "AtMost",
    "Atom",
    "Form",
    "Formula",
    "Interval",
    "Literal",
    "Nonzero",
    "constant",
    "step_of",
    "unknown",
]

ZERO, ONE, MINUS_ONE = Fraction(0), Fraction(1), Fraction(-1)


@frozen
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
