"""Measuring CPU time, and the table of results."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Row", "WrongResultError", "least", "table"]

ResultT = TypeVar("ResultT")


class WrongResultError(Exception):
    """Two ways to one result differ, so no time counts."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: ``value`` in ``unit``; ``note`` compares it with another."""

    name: str
    value: float
    unit: str
    note: str = ""


def least(work: Callable[[], ResultT], times: int = 3) -> tuple[float, ResultT]:
    """The least CPU time in seconds of some repetitions, with the last result.

    The least and not the mean, because other load only adds time.
    """
    best = float("inf")
    for _ in range(times):
        began = time.process_time()
        result = work()
        best = min(best, time.process_time() - began)
    return best, result


def table(rows: list[Row]) -> str:
    """The rows as aligned columns."""
    width = max(len(row.name) for row in rows)
    lines = (f"{row.name:<{width}} {row.value:>10,.1f} {row.unit:<12} {row.note}" for row in rows)
    return "\n".join(line.rstrip() for line in lines)
