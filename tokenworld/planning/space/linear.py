"""Linear systems over fractions, solved by p-adic lifting and checked exactly.

Elimination over fractions drowns in digits. Here the matrix is factorised once modulo a prime; the
solution is lifted digit by digit, read back as fractions, and put into every equation. Only what
fulfils them all is an answer, so that nothing needs to be believed of the way there.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction
from math import isqrt, lcm

__all__ = ["CONSTANT", "Row", "TooLong", "solved"]

Row = Mapping[int, Fraction]
"""Factors of unknowns (0 and above); the constant is kept under `CONSTANT`."""

CONSTANT = -2
_PRIMES = ((1 << 31) - 1, (1 << 61) - 1, (1 << 89) - 1)
_FIRST_DIGITS = 4

_Sparse = list[list[tuple[int, int]]]


class TooLong(Exception):
    """The time for an exact answer is up."""


def solved(rows: Mapping[int, Row], deadline: float) -> dict[int, Fraction]:
    """The solution of ``x = sum(factor * unknown) + constant`` for every x.

    The system has one solution. ``deadline`` is a time of `time.monotonic`; `TooLong` where it
    passes.
    """
    places = {state: place for place, state in enumerate(rows)}
    matrix, right = _whole(rows, places)
    for prime in _PRIMES:
        factors = _Factors.of(matrix, prime, deadline)
        if factors is not None:
            found = _lifted(matrix, right, factors, deadline)
            return {state: found[place] for state, place in places.items()}
    raise TooLong  # singular modulo three primes: it has more than one solution


def _whole(rows: Mapping[int, Row], places: Mapping[int, int]) -> tuple[_Sparse, list[int]]:
    """The equations as ``matrix * x = right`` in whole numbers."""
    matrix: _Sparse = []
    right: list[int] = []
    for state, row in rows.items():
        line = {places[state]: Fraction(1)}
        for other, factor in row.items():
            if other != CONSTANT:
                line[places[other]] = line.get(places[other], Fraction(0)) - factor
        constant = row.get(CONSTANT, Fraction(0))
        scale = lcm(constant.denominator, *(one.denominator for one in line.values()))
        matrix.append([(place, int(one * scale)) for place, one in line.items() if one])
        right.append(int(constant * scale))
    return matrix, right


class _Factors:
    """A matrix modulo a prime as lower and upper triangle, its rows reordered."""

    def __init__(self, rows: list[list[int]], order: list[int], prime: int) -> None:
        self._rows, self._order, self.prime = rows, order, prime
        self._inverse = [pow(row[place], -1, prime) for place, row in enumerate(rows)]

    @classmethod
    def of(cls, matrix: _Sparse, prime: int, deadline: float) -> _Factors | None:
        """The triangles in one square, ``None`` where the matrix is singular modulo the prime."""
        size = len(matrix)
        rows = [[0] * size for _ in matrix]
        for row, line in zip(rows, matrix, strict=True):
            for place, value in line:
                row[place] = value % prime
        order = list(range(size))
        for step in range(size):
            if time.monotonic() > deadline:
                raise TooLong
            pivot = next((place for place in range(step, size) if rows[place][step]), None)
            if pivot is None:
                return None
            rows[step], rows[pivot] = rows[pivot], rows[step]
            order[step], order[pivot] = order[pivot], order[step]
            _cleared(rows, step, prime)
        return cls(rows, order, prime)

    def solve(self, right: list[int]) -> list[int]:
        """The solution modulo the prime."""
        prime, rows = self.prime, self._rows
        found: list[int] = []
        for place, at in enumerate(self._order):
            row = rows[place]
            known = sum(row[column] * found[column] for column in range(place) if row[column])
            found.append((right[at] - known) % prime)
        for place in range(len(rows) - 1, -1, -1):
            row = rows[place]
            known = sum(
                row[column] * found[column] for column in range(place + 1, len(row)) if row[column]
            )
            found[place] = (found[place] - known) * self._inverse[place] % prime
        return found


def _cleared(rows: list[list[int]], step: int, prime: int) -> None:
    """Take an unknown out of all rows below; its factor stays in its place."""
    above = rows[step]
    tail, inverse = above[step + 1 :], pow(above[step], -1, prime)
    for row in rows[step + 1 :]:
        if row[step]:
            factor = row[step] = row[step] * inverse % prime
            row[step + 1 :] = [
                (one - factor * other) % prime if other else one
                for one, other in zip(row[step + 1 :], tail, strict=True)
            ]


def _lifted(
    matrix: _Sparse, right: list[int], factors: _Factors, deadline: float
) -> list[Fraction]:
    """Digit after digit of the solution, until fractions can be read that fulfil the equations."""
    rest, digits, power = list(right), [0] * len(right), 1
    wanted, count = _FIRST_DIGITS, 0
    while True:
        if time.monotonic() > deadline:
            raise TooLong
        digit = factors.solve(rest)
        digits = [one + power * more for one, more in zip(digits, digit, strict=True)]
        power *= factors.prime
        rest = [
            (one - sum(value * digit[place] for place, value in line)) // factors.prime
            for one, line in zip(rest, matrix, strict=True)
        ]
        count += 1
        if count == wanted:
            found = _fractions(digits, power)
            if found is not None and _fulfils(matrix, right, found):
                return found
            wanted *= 2


def _fractions(digits: list[int], modulus: int) -> list[Fraction] | None:
    """The fractions with small numerators and denominators that the residues stand for."""
    most = isqrt(modulus // 2)
    found = []
    for residue in digits:
        before, now, last, factor = modulus, residue % modulus, 0, 1
        while now > most:
            quotient = before // now
            before, now = now, before - quotient * now
            last, factor = factor, last - quotient * factor
        if factor == 0 or abs(factor) > most:
            return None
        found.append(Fraction(now, factor))
    return found


def _fulfils(matrix: _Sparse, right: list[int], found: list[Fraction]) -> bool:
    return all(
        sum((value * found[place] for place, value in line), Fraction(0)) == constant
        for line, constant in zip(matrix, right, strict=True)
    )
