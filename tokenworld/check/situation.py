"""One situation: where a form lies when some inequalities hold together (see `linear`)."""

from __future__ import annotations

from fractions import Fraction

from tokenworld.check.forms import AtMost, Atom, Form, Interval, Literal

__all__ = ["Leaf"]

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
        """Where the form lies; ``None`` if the literals cannot hold together."""
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
        """What ``form <= 0`` says of each of its atoms."""
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
        """The largest value of what is left, negated, when an atom is taken from a form."""
        total = -form[1]
        for one, by in form[0]:
            if one is not atom:
                end = self._ends(one)[0 if by > 0 else 1]
                if end is None:
                    return None
                total -= by * end
        return total

    def _exclude(self, form: _Sum) -> bool:
        """What ``form != 0`` says where it has one atom: the ends of its range may move."""
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
    """The sums that each atom stands in, with its factor there."""
    found: dict[Atom, list[tuple[_Number, _Sum]]] = {}
    for one in sums:
        for atom, by in one[0]:
            found.setdefault(atom, []).append((by, one))
    return found


def _down(value: _Number, step: _Number) -> _Number:
    """The largest multiple of ``step`` that is not above ``value``."""
    return value if not step else (value // step) * step
