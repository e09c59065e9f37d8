"""Plans that count on less luck: fewer and likelier draws, and no waiting where a sure way is
shorter.

A plan from a search or a planner takes every draw as it likes. `least_luck` searches again, with a
price on the draws of those rules that the plan counts on (`referee.needed_luck`), until no plan
counts on others; the best of these plans is kept. `expected_ticks` is the measure of players: it
supposes that a step is given again until its draws fall as the plan wants them.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from math import log, prod
from typing import Literal, assert_never

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Json, LuckyDraw, Simulator, StateT, Unfinished
from tokenworld.planning.honest.secrets import secrets_read
from tokenworld.planning.referee import refereed
from tokenworld.planning.search.interpreted import Cancel, Limits, Watch, has_costs
from tokenworld.planning.verdict import PlanStep, Verdict

__all__ = ["chance_of", "expected_ticks", "least_luck", "likelier"]

By = Literal["chance", "ticks", "ties"]
"""The measure of plans: the probability of their draws, the ticks until these are expected to have
come, or their cost and ticks and then the probability."""

_ROUNDS = 4
"""Searches for one plan at most."""
_STATES = {"chance": 20_000, "ticks": 20_000, "ties": 4_000}
"""States of one search at most, which are the same on every machine: it keeps whole states."""


def chance_of(draws: Sequence[LuckyDraw]) -> Fraction:
    """The probability that draws fall as they do here; 1 for draws without weights."""
    shares = (Fraction(one.weights[one.choice], sum(one.weights)) for one in draws if one.weights)
    return prod(shares, start=Fraction(1))


def expected_ticks(steps: Sequence[PlanStep]) -> Fraction:
    """The ticks that a plan is expected to take, if each step is given until its draws fall so."""
    return sum((1 / chance_of(step.draws) for step in steps), Fraction(0))


def _chance(verdict: Verdict) -> Fraction:
    """The probability of all draws that a plan counts on."""
    return prod((chance_of(step.draws) for step in verdict.steps), start=Fraction(1))


def least_luck(
    simulator: Simulator[StateT],
    state: StateT,
    verdict: Verdict,
    by: By,
    *,
    seconds: float,
    cancel: Cancel | None = None,
) -> Verdict:
    """The verdict with the best plan that is found, where its own plan counts on luck.

    By ``chance`` that is the plan whose draws are likeliest, then the shortest; by ``ticks`` the
    one with the fewest `expected_ticks`. No plan is claimed to be the best of all.
    """
    return _better(simulator, state, verdict, by, seconds, cancel)


def likelier(
    simulator: Simulator[StateT],
    state: StateT,
    verdict: Verdict,
    *,
    seconds: float,
    cancel: Cancel | None = None,
) -> Verdict:
    """The verdict with a plan of likelier draws that costs no more and takes no longer, if one is
    found."""
    return _better(simulator, state, verdict, "ties", seconds, cancel)


def _better(
    simulator: Simulator[StateT],
    state: StateT,
    verdict: Verdict,
    by: By,
    seconds: float,
    cancel: Cancel | None,
) -> Verdict:
    """Search again and again, each time with a price on the draws that the last plan counted on."""
    end, best, priced = time.monotonic() + seconds, verdict, frozenset[_Drawer]()
    costs, last = has_costs(simulator), verdict
    for _ in range(_ROUNDS):
        more = priced | _drawers(last)
        left = end - time.monotonic()
        if more == priced or left <= 0:
            break
        priced = more
        found = _planned(simulator, state, verdict, _Prices(by, priced, costs), left, cancel)
        if found is None:
            break
        best, last = min(best, found, key=lambda one: _rank(one, by)), found
    return best


_Drawer = tuple[str, tuple[Json, ...]]
"""A rule with its arguments: what draws."""


def _drawers(verdict: Verdict) -> frozenset[_Drawer]:
    return frozenset((draw.rule, draw.args) for step in verdict.steps for draw in step.draws)


def _rank(verdict: Verdict, by: By) -> tuple[Fraction | int, ...]:
    """The order of plans: the lower, the better."""
    chance = -_chance(verdict)
    match by:
        case "chance":
            return chance, verdict.ticks
        case "ticks":
            return expected_ticks(verdict.steps), chance, verdict.ticks
        case "ties":
            return verdict.cost, verdict.ticks, chance
        case _:
            assert_never(by)


# ---- prices -------------------------------------------------------------------------------------

_Paid = tuple[float, float, float]
"""What a plan pays; earlier parts count first."""


@frozen
class _Prices:
    """The price of a step; only draws of the rules in ``priced`` cost anything, for it is not known
    of others that they matter."""

    by: By
    priced: frozenset[_Drawer]
    costs: bool

    def of(self, cost: int, draws: Sequence[LuckyDraw]) -> _Paid:
        chance = chance_of([one for one in draws if (one.rule, one.args) in self.priced])
        surprise = -log(chance)
        match self.by:
            case "chance":
                return surprise, 1.0, 0.0
            case "ticks":
                return float(1 / chance), surprise, 0.0
            case "ties":
                return float(cost) if self.costs else 0.0, 1.0, surprise
            case _:
                assert_never(self.by)


# ---- the search ---------------------------------------------------------------------------------


def _planned(
    simulator: Simulator[StateT],
    state: StateT,
    before: Verdict,
    prices: _Prices,
    seconds: float,
    cancel: Cancel | None,
) -> Verdict | None:
    """The verdict of a cheapest plan, if it is found in time; it keeps the claim of the one
    ``before`` if it is as good."""
    watch = Watch(Limits(_STATES[prices.by], seconds), cancel)
    simulator.bound(lambda outcomes: watch.late(0, outcomes, 0))
    try:
        steps = _cheapest(simulator, state, before.goal, prices, watch)
    except Unfinished:
        return None
    finally:
        simulator.bound(None)
    if steps is None or (before.within is not None and len(steps) > before.within):
        return None
    found = refereed(simulator, state, steps, before.goal, before.engine, before.encoding)
    if isinstance(found, str):
        return None
    same = (found.cost, found.ticks) == (before.cost, before.ticks)
    secrets = secrets_read(simulator.instance.program, [one.command for one in found.steps])
    return replace(
        found,
        optimal=before.optimal if same else None,
        attempts=before.attempts,
        notes=(*(note for note in before.notes if note.code != "TW0808"), *secrets),
        within=before.within,
        seconds=before.seconds,
    )


def _cheapest(
    simulator: Simulator[StateT],
    start: StateT,
    goal: str | None,
    prices: _Prices,
    watch: Watch,
) -> tuple[PlanStep, ...] | None:
    """The steps of a cheapest plan (Dijkstra's algorithm); ``None`` at a limit, or if there is
    none."""
    first, number = simulator.short_key(start), count()
    best: dict[Hashable, _Paid] = {first: (0.0, 0.0, 0.0)}
    waiting: dict[Hashable, StateT] = {first: start}
    came: dict[Hashable, tuple[Hashable, PlanStep]] = {}
    heap: list[tuple[_Paid, int, Hashable]] = [(best[first], next(number), first)]
    while heap and watch.stop(len(best), 0) is None:
        paid, _, key = heappop(heap)
        if key not in waiting:
            continue  # it was reached again at a lower price
        state = waiting.pop(key)
        if simulator.won(state, goal):
            return _steps(came, key)
        for command, ways in () if simulator.lost(state) else simulator.moves(state):
            cost = simulator.cost(state, command)
            for way in ways:
                more = prices.of(cost, way.draws)
                total = (paid[0] + more[0], paid[1] + more[1], paid[2] + more[2])
                known = best.get(way.short_key)
                if known is None or total < known:
                    best[way.short_key], waiting[way.short_key] = total, way.state()
                    came[way.short_key] = key, PlanStep(command, way.draws)
                    heappush(heap, (total, next(number), way.short_key))
    return None


def _steps(came: dict[Hashable, tuple[Hashable, PlanStep]], key: Hashable) -> tuple[PlanStep, ...]:
    """The steps that led to a state, in order."""
    found: list[PlanStep] = []
    while key in came:
        key, step = came[key]
        found.append(step)
    return tuple(reversed(found))
