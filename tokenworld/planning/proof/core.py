"""Why a goal is out of reach: the parts of the world that it takes, found by leaving out others.

The proof itself is the oracle. Part after part is relaxed; where the goal stays out of reach it
plays no role and stays relaxed, otherwise it belongs to the core. Whole groups are tried first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Instance, Raw, Simulator, StateT, slots
from tokenworld.model import Body, Program
from tokenworld.planning.explore.search import QuickSearch
from tokenworld.planning.frozen_state import FrozenState
from tokenworld.planning.lower.encode import Encoding, encode
from tokenworld.planning.planners.downward import (
    BLIND,
    FF,
    find_downward,
    run_searches,
)
from tokenworld.planning.proof.core_parts import Part, fact_parts, fluent_parts, relaxed, rule_parts
from tokenworld.planning.search import Exhausted, Limits

__all__ = ["Core", "Rebuild", "Remake", "Variants", "find_core"]

Rebuild = Callable[[Program, Body], tuple[Simulator[StateT], StateT]]
"""Another program's simulator and start state, changed by a body."""
Remake = Callable[[Program], Instance]
OracleName = Literal["relaxed reachability", "own search", "fast-downward"]
_SHARE = 0.4
"""How much of the time that is left one proof may take."""
_GROWTH = 40
"""How many times as many states as the world itself a relaxed one may have."""
_GLANCE = 1.5
"""Seconds that a greedy search gets to find a plan before another one looks for a proof."""
_SMALL = 100
"""With more states than that a planner is the faster judge, if there is one."""


@dataclass(frozen=True)
class Variants(Generic[StateT]):
    """A world's texts, and how to make it anew from a changed program.

    ``quote`` maps source names to texts, ``remake`` makes the instance of a changed program and
    ``rebuild`` its simulator. ``states`` is how many the world has, where that is known, and
    ``relaxed`` whether it may be out of reach even if nothing were ever undone: if not, that need
    not be worked out once more.
    """

    quote: Mapping[str, str]
    remake: Remake
    rebuild: Rebuild[StateT]
    states: int | None = None
    relaxed: bool = True


@dataclass(frozen=True, slots=True)
class Core:
    """The parts that keep a goal out of reach.

    ``minimal``: without any one of them the ``oracle`` no longer proves it. Otherwise time ran out
    and the last ``unsure`` parts were not tried.
    """

    goal: str
    parts: tuple[Part, ...]
    oracle: OracleName
    minimal: bool
    unsure: int = 0


def find_core(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str,
    variants: Variants[StateT],
    *,
    seconds: float,
) -> Core | None:
    """The core of an unwinnable goal line in ``seconds``; ``None`` if nothing proves it here."""
    end = time.monotonic() + seconds
    oracle = _oracle(simulator, state, goal, variants, end)
    if oracle is None:
        return None
    instance = simulator.instance_at(state)
    shrink = _Shrink(instance, oracle, end)
    rules = tuple(rule_parts(instance, goal, variants.quote))
    if oracle.name == "relaxed reachability":  # nothing is undone: what laws do hinders nobody
        rules = tuple(part for part in rules if part.kind != "law")
    shrink.drop_groups(_grouped(rules))
    fluents = shrink.drop(tuple(fluent_parts(instance)), keep=False)
    for fluent in fluents:
        values = _values(simulator, state, instance, fluent.name)
        shrink.drop_halves(tuple(fact_parts(instance, fluent.name, values)))
    return Core(goal, tuple(shrink.kept), oracle.name, not shrink.unsure, shrink.unsure)


def _values(
    simulator: Simulator[StateT], state: StateT, instance: Instance, fluent: str
) -> dict[tuple[Raw, ...], Raw]:
    known = instance.program.fluents[fluent]
    return {args: simulator.read(state, fluent, args) for args in slots(instance, known)}


# ---- oracles ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Oracle:
    """Whether a goal is out of reach although these parts are relaxed."""

    name: OracleName
    proves: Callable[[Sequence[Part]], bool]


def _oracle(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str,
    variants: Variants[StateT],
    end: float,
) -> _Oracle | None:
    """The cheapest oracle that proves the world as it is."""
    instance, states = simulator.instance_at(state), variants.states

    def encoded(parts: Sequence[Part]) -> Encoding | None:
        changed = variants.remake(relaxed(instance, parts)[0])
        if len(changed.objects) != len(instance.objects):
            return None
        found = encode(changed, FrozenState(simulator, state, changed), 0, goal)
        return found if isinstance(found, Encoding) else None

    def relaxedly(parts: Sequence[Part]) -> bool:
        found = encoded(parts)
        return found is not None and found.unreachable

    def exhausted(parts: Sequence[Part]) -> bool:
        try:
            other, start = variants.rebuild(relaxed(instance, parts)[0], ())
        except Failure:
            return False
        left = end - time.monotonic()
        limits = Limits(None if states is None else states * _GROWTH, _SHARE * left)
        return isinstance(QuickSearch(other, start, goal).run(limits), Exhausted)

    def by_planner(parts: Sequence[Part]) -> bool:
        found, program = encoded(parts), find_downward()
        if found is None or isinstance(program, Diagnostic):
            return False
        if found.unreachable:
            return True
        left = max(_SHARE * (end - time.monotonic()), 0.0)
        for search, seconds in ((FF, min(_GLANCE, left)), (BLIND, left)):
            (answer,) = run_searches(program, found.text, (search,), seconds=seconds)
            if answer.result in ("plan", "no plan"):
                return answer.result == "no plan"
        return False

    searches = [_Oracle("own search", exhausted), _Oracle("fast-downward", by_planner)]
    if states is None or states > _SMALL:  # relaxed it is larger still
        searches.reverse()
    undone = [_Oracle("relaxed reachability", relaxedly)] if variants.relaxed else []
    ways = (*undone, *searches)
    return next((one for one in ways if one.proves(())), None)


# ---- deletion ---------------------------------------------------------------------------------


def _grouped(parts: Sequence[Part]) -> list[tuple[Part, ...]]:
    """Parts of one kind and rule together, in order."""
    groups: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        groups.setdefault((part.kind, part.name), []).append(part)
    return [tuple(group) for group in groups.values()]


class _Shrink:
    """Relaxes what can be relaxed; ``kept`` are the parts that cannot."""

    def __init__(self, instance: Instance, oracle: _Oracle, end: float) -> None:
        self._instance, self._oracle, self._end = instance, oracle, end
        self._relaxed: list[Part] = []
        self.kept: list[Part] = []
        self.unsure = 0

    def drop_groups(self, groups: Sequence[tuple[Part, ...]]) -> None:
        """Relax whole groups where that is possible, else the parts of a group one by one."""
        for group in groups:
            if len(group) == 1 or not self._try(group):
                self.drop(group)

    def drop_halves(self, parts: Sequence[Part]) -> None:
        """Relax parts of which it is known that not all can be relaxed, half of them at a time.

        A proof takes long and a plan that stands in its way is found fast: what can go together is
        not to be proved one by one.
        """
        if len(parts) < 2:
            self.kept += parts
            return
        middle = (len(parts) + 1) // 2
        for half in (parts[:middle], parts[middle:]):
            if self._over():
                self.unsure += len(half)
                self.kept += half
            elif not self._try(half):
                self.drop_halves(half)

    def drop(self, parts: Sequence[Part], *, keep: bool = True) -> list[Part]:
        """Relax each part that plays no role; the others are kept, and returned."""
        left = []
        for part in parts:
            if self._over():
                self.unsure += 1
                left.append(part)
            elif not self._try((part,)):
                left.append(part)
        self.kept += left if keep else []
        return left

    def _over(self) -> bool:
        return time.monotonic() >= self._end

    def _try(self, parts: Sequence[Part]) -> bool:
        if self._over() or not self._oracle.proves([*self._relaxed, *parts]):
            return False
        self._relaxed += parts
        return True
