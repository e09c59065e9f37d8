"""Typed numbers: ``4``, ``4l``, ``0.5``, ``25%`` as scaled exact numbers of a type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from tokenworld.ground import Raw
from tokenworld.model import Binder, IntervalRange, NumberType, TypeRange, Unit

__all__ = ["domain_range", "number_ends", "number_type", "read_number"]

_NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)\s?(%|[^\W\d_]+)?")


def number_type(binder: Binder) -> NumberType | None:
    """The type of a parameter that takes a number, else ``None``."""
    of = binder.domain.of if isinstance(binder.domain, TypeRange) else binder.type
    return of if isinstance(of, NumberType) else None


def domain_range(binder: Binder) -> range:
    """The raw values a number parameter may take (empty where it has no bounds)."""
    match binder.domain:
        case IntervalRange(low=low, high=high):
            return range(low, high + 1)
        case TypeRange(of=NumberType(low=int() as low, high=int() as high)):
            return range(low, high + 1)
        case _:
            return range(0)


def read_number(text: str, binder: Binder, units: Mapping[str, Unit]) -> int | None:
    """The raw value of a whole text, ``None`` where it is no number the parameter may take.

    A number without a unit is taken in the unit of the type. ``25%`` is the exact number 0.25,
    for every type without a unit; a bare ``25`` is never a percentage.
    """
    found = _NUMBER.fullmatch(text)
    of = number_type(binder)
    if found is None or of is None:
        return None
    factor = _factor(found.group(2) or "", of.unit, units)
    if factor is None:
        return None
    tens: int = 10**of.decimals
    scaled = Fraction(found.group(1)) * factor * tens
    if scaled.denominator != 1 or scaled.numerator not in domain_range(binder):
        return None
    return scaled.numerator


def _factor(typed: str, unit: str, units: Mapping[str, Unit]) -> Fraction | None:
    if typed == "%":
        return Fraction(1, 100) if unit in ("", "%") else None
    if typed.casefold() in ("", unit.casefold()):
        return Fraction(1)
    named = next((one for one in units.values() if one.name.casefold() == typed.casefold()), None)
    own = units.get(unit)
    if named is None or own is None or named.base != own.base:
        return None
    return Fraction(named.multiple, own.multiple)


def number_ends(
    text: str, start: int, binder: Binder, units: Mapping[str, Unit]
) -> Iterator[tuple[int, tuple[Raw, ...]]]:
    """Where a number that begins at ``start`` may end, without and with its unit."""
    found = _NUMBER.match(text, start)
    if found is None:
        return
    for end in sorted({found.end(1), found.end()}):
        value = read_number(text[start:end], binder, units)
        if value is not None:
            yield end, (value,)
