"""The readings of `tick()` in the rules of a world, and the part of it that a search key must hold.

A comparison with a constant needs ticks up to that constant, ``tick() mod n`` the remainder, any
other reading the whole number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import floor
from typing import assert_never

from tokenworld import model as m
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Instance, NotConstant, constant


@frozen
class Clock:
    """The part of the tick number on which the rules depend.

    ``moduli``: its remainders by these; ``last``: what exceeds it counts as one more than it
    (``None``: nothing is compared); ``whole``: all of it.
    """

    moduli: tuple[int, ...] = ()
    last: int | None = None
    whole: bool = False

    def __bool__(self) -> bool:
        """Return whether any rule reads the clock."""
        return self.whole or self.last is not None or self.moduli != ()

    def of(self, tick: int) -> tuple[int, ...]:
        """The part of a tick number that belongs in a key."""
        if self.whole:
            return (tick,)
        kept = tuple([tick % modulus for modulus in self.moduli]) if self.moduli else ()
        return kept if self.last is None else (*kept, min(tick, self.last + 1))


def deciding_terms(instance: Instance) -> Sequence[m.Term]:
    """All terms that affect play, with those of derived facts."""
    program = instance.program
    derived = (derive.value for derive in program.derives.values())
    return (*derived, *m.rule_terms(program, instance.world))


def waiting_matters(instance: Instance) -> bool:
    """Return whether `pass` can have an effect: through laws, long actions, or rules that read the
    tick number or, in the condition of an award, the score."""
    program, world = instance.program, instance.world
    if program.laws or any(one.may_be_long for one in program.actions.values()):
        return True
    awards = m.deep_subterms((one.when for one in world.awards), program.derives)
    reads = any(isinstance(one, m.BuiltinCall) and one.name == "score" for one in awards)
    return reads or m.calls((*m.telling_terms(program, world), *deciding_terms(instance)), "tick")


def clock_of(instance: Instance, terms: Iterable[m.Term]) -> Clock:
    """Derive the clock from all readings of `tick()` in some terms."""
    readings = [one for term in terms for one in _readings(term, instance)]
    moduli = dict.fromkeys(one.modulus for one in readings if one.modulus)
    limits = [one.limit for one in readings if one.limit is not None]
    whole = any(one.limit is None and not one.modulus for one in readings)
    return Clock(tuple(moduli), max(limits, default=None), whole)


# ---- single readings ------------------------------------------------------------------------


@frozen
class _Reading:
    """One place where `tick()` is read: modulo ``modulus``, or compared so that nothing changes
    above ``limit``; neither: as it is."""

    modulus: int = 0
    limit: int | None = None


@frozen
class _Line:
    """``slope * tick() + shift``."""

    slope: Fraction
    shift: Fraction


def _readings(term: m.Term, instance: Instance) -> Iterator[_Reading]:
    found = _reading(term, instance)
    if found is not None:
        yield found
        return
    for child in m.children(term):
        yield from _readings(child, instance)


def _reading(term: m.Term, instance: Instance) -> _Reading | None:
    """The reading that a term is as a whole."""
    match term:
        case m.BuiltinCall(name="tick"):
            return _Reading()
        case m.Arithmetic(op="mod", left=left, right=right):
            modulus = _number(right, instance)
            line = _line(left, instance)
            whole = line is not None and line.slope.denominator == line.shift.denominator == 1
            if whole and modulus is not None and modulus.denominator == 1 and modulus > 0:
                return _Reading(modulus=int(modulus))
        case m.Compare(left=left, right=right):
            one, other = _line(left, instance), _line(right, instance)
            if one is not None and other is not None and one.slope != other.slope:
                crossing = (other.shift - one.shift) / (one.slope - other.slope)
                return _Reading(limit=max(floor(crossing), -1))
        case (
            m.LeafTerm()
            | m.StateTerm()
            | m.LogicTerm()
            | m.TestTerm()
            | m.NumberTerm()
            | m.CompositeTerm()
        ):
            pass
        case _:
            assert_never(term)
    return None


def _line(term: m.Term, instance: Instance) -> _Line | None:
    """A term as a line over the clock, a constant as a flat one; ``None`` where it is none."""
    number = _number(term, instance)
    if number is not None:
        return _Line(Fraction(0), number)
    match term:
        case m.BuiltinCall(name="tick"):
            return _Line(Fraction(1), Fraction(0))
        case m.Rescale(term=inner, digits=digits):
            return _scaled(_line(inner, instance), Fraction(10**digits))
        case m.Negate(term=inner):
            return _scaled(_line(inner, instance), Fraction(-1))
        case m.Arithmetic(op="+" | "-" | "*" as op, left=left, right=right):
            return _joined(op, _line(left, instance), _line(right, instance))
        case (
            m.LeafTerm()
            | m.StateTerm()
            | m.LogicTerm()
            | m.TestTerm()
            | m.NumberTerm()
            | m.CompositeTerm()
        ):
            return None
        case _:
            assert_never(term)


def _scaled(line: _Line | None, by: Fraction) -> _Line | None:
    return None if line is None else _Line(line.slope * by, line.shift * by)


def _joined(op: str, one: _Line | None, other: _Line | None) -> _Line | None:
    if one is None or other is None:
        return None
    if op == "*":
        flat, line = (one, other) if one.slope == 0 else (other, one)
        return _scaled(line, flat.shift) if flat.slope == 0 else None
    sign = 1 if op == "+" else -1
    return _Line(one.slope + sign * other.slope, one.shift + sign * other.shift)


def _number(term: m.Term, instance: Instance) -> Fraction | None:
    """An exact constant."""
    try:
        value = constant(term, instance.numbers, instance.params)
    except (NotConstant, KeyError):
        return None
    return Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else None
