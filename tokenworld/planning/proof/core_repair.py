"""The smallest change that makes a goal reachable: candidates near the cause, each planned anew.

A candidate is one change (`core_changes`). It counts only with a plan that the interpreter has
replayed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tokenworld.model import Body, Program
from tokenworld.planning.proof.core import Core
from tokenworld.planning.proof.core_changes import (
    Candidate,
    Repair,
    conditions,
    core_values,
    numbers,
    objects,
    start_values,
)
from tokenworld.planning.proof.core_why import Missing, Way, Why
from tokenworld.planning.verdict import Verdict

__all__ = ["MOST_TRIED", "Repair", "find_repairs"]

Plan = Callable[[Program, Body, float], Verdict | None]
MOST_TRIED = 60
_MOST_UNDECIDED = 2
"""Where so many changed worlds could not be decided in their time, the others will hardly be."""


def find_repairs(
    why: Why,
    missing: Sequence[Missing],
    core: Core | None,
    *,
    plan: Plan,
    seconds: float,
    most: int = 1,
    tries: int = MOST_TRIED,
) -> tuple[Repair, ...]:
    """Up to ``most`` single changes that make the goal reachable, of the first ``tries``, the
    smallest kind first.

    ``plan`` plans a changed program from its start state, changed by a body, within some seconds;
    ``None`` where it cannot even begin. A single change is looked for only as long as plans answer.
    """
    end, found = time.monotonic() + seconds, list[Repair]()
    seen: set[str] = set()
    tried = undecided = 0
    for one in _candidates(why, missing, core):
        left = end - time.monotonic()
        if left <= 0 or len(found) >= most or tried >= tries:
            break
        if most == 1 and undecided >= _MOST_UNDECIDED:
            break
        if one.repair.text in seen or one.place in seen:
            continue
        seen.add(one.repair.text)
        tried += 1
        verdict = plan(one.program, one.body, max(left / 2, min(left, 1.0)))
        undecided += verdict is not None and verdict.answer == "unknown"
        if verdict is not None and verdict.answer == "winnable":
            seen.add(one.place)
            found.append(replace(one.repair, ticks=verdict.ticks))
    return tuple(found)


def _candidates(why: Why, missing: Sequence[Missing], core: Core | None) -> Iterator[Candidate]:
    """All changes worth trying: numbers, start values, conditions, objects; deepest causes first.

    What the goal itself asks for comes last: a goal that is given away is hardly a repair.
    """
    every = list(_deepest_first(missing, 0))
    inner = [one for depth, one in every if depth > 0]
    goal = [one for depth, one in every if depth == 0]
    for one in inner:
        yield from numbers(why, one)
    for one in inner:
        yield from start_values(why, one)
    given_away: list[Candidate] = []
    if core is not None:
        asked = why.goal_slots(core.goal)
        for part in core.parts:
            if part.kind == "fact":
                found = core_values(why, part)
                if (part.name, part.args) in asked:
                    given_away += found
                else:
                    yield from found
    yield from conditions(why, core.parts if core is not None else (), inner)
    for way in _ways(missing):
        yield from objects(why, way)
    for one in goal:
        yield from numbers(why, one)
        yield from start_values(why, one)
    yield from given_away


def _deepest_first(missing: Sequence[Missing], depth: int) -> Iterator[tuple[int, Missing]]:
    for one in missing:
        for way in one.ways:
            yield from _deepest_first(way.lacks, depth + 1)
        yield depth, one


def _ways(missing: Sequence[Missing]) -> Iterator[Way]:
    for one in missing:
        for way in one.ways:
            yield from _ways(way.lacks)
            yield way
