"""The toy-text worlds: the same tables as gymnasium's, and the values that are known of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tokenworld.assets import domains_folder
from tokenworld.engine import EngineSimulator
from tokenworld.planning.ladder import plan
from tokenworld.planning.space.luck import LuckLimits, probability
from tokenworld.session import Session

sys.path.insert(0, str(Path(__file__).parent))

from toy_text import Table, Toy, cliff, lake, table_of, taxi

LAKE, LARGE = "frozen_lake", str(domains_folder() / "frozen_lake" / "large.tw")

TOYS: dict[str, tuple[Callable[[], Toy], str, dict[str, Any]]] = {
    "cliff": (lambda: cliff(False), "CliffWalking-v1", {}),
    "slippery cliff": (lambda: cliff(True), "CliffWalking-v1", {"is_slippery": True}),
    "lake": (lambda: lake(LAKE, 4, True), "FrozenLake-v1", {}),
    "lake without luck": (lambda: lake(LAKE, 4, False), "FrozenLake-v1", {"is_slippery": False}),
    "large lake": (lambda: lake(LARGE, 8, True), "FrozenLake-v1", {"map_name": "8x8"}),
    "taxi": (taxi, "Taxi-v4", {}),
}
_TABLES: dict[str, Table] = {}


def ours(name: str) -> Table:
    if name not in _TABLES:
        _TABLES[name] = table_of(TOYS[name][0]())
    return _TABLES[name]


# ---- held to the other program -------------------------------------------------------------


def theirs(name: str) -> Table:
    """``P`` of the environment, equal outcomes added up, its floats as the fractions they mean."""
    gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    _, environment, options = TOYS[name]
    found: Table = {}
    for state, actions in gymnasium.make(environment, **options).unwrapped.P.items():
        found[int(state)] = {}
        for action, outcomes in actions.items():
            odds: dict[tuple[int, int, bool], Fraction] = {}
            for odd, after, reward, ended in outcomes:
                key = (int(after), int(reward), bool(ended))
                share = Fraction(float(odd)).limit_denominator(100)
                odds[key] = odds.get(key, Fraction(0)) + share
            found[int(state)][int(action)] = tuple(sorted((odds[key], *key) for key in odds))
    return found


@pytest.mark.parametrize("name", TOYS)
def test_every_state_and_action_comes_to_the_same(name: str) -> None:
    expected = theirs(name)
    assert ours(name) == expected
    assert len(expected) == TOYS[name][0]().states


# ---- held to what is known of them ---------------------------------------------------------


def best_returns(table: Table) -> dict[int, int]:
    """The greatest sum of rewards from each state to the end, where nothing is left to luck."""
    best = dict.fromkeys(table, -10000)
    changed = True
    while changed:
        changed = False
        for state, actions in table.items():
            for ((_, after, reward, ended),) in actions.values():
                value = reward + (0 if ended else best[after])
                if value > best[state]:
                    best[state], changed = value, True
    return best


def test_the_cliff_costs_thirteen() -> None:
    assert best_returns(ours("cliff"))[36] == -13


def test_taxi_is_worth_7_93_on_average() -> None:
    best = best_returns(ours("taxi"))
    starts = [
        ((tile * 5 + waits) * 4 + to)
        for tile in range(25) for waits in range(4) for to in range(4) if waits != to
    ]  # fmt: skip
    assert Fraction(sum(best[start] for start in starts), len(starts)) == Fraction("7.93")


def test_odds_add_up_to_one() -> None:
    for actions in (ours("lake") | ours("cliff")).values():
        assert {sum(odd for odd, *_ in outcomes) for outcomes in actions.values()} == {1}


@pytest.mark.parametrize(("world", "odds"), [(LAKE, Fraction(14, 17)), (LARGE, Fraction(1))])
def test_the_odds_of_crossing_a_lake(world: str, odds: Fraction) -> None:
    session = Session.open(world)
    simulator = EngineSimulator(session.engine, session.state)
    verdict = probability(simulator, session.state, None, LuckLimits(seconds=30.0))
    assert (verdict.claim, verdict.exact) == ("exact", odds)


@pytest.mark.parametrize(
    ("world", "ticks"), [("cliff_walking", 13), ("taxi", 14), (LAKE, 6), (LARGE, 14)]
)
def test_shortest_plans(world: str, ticks: int) -> None:
    session = Session.open(world)
    simulator = EngineSimulator(session.engine, session.state)
    verdict = plan(simulator, session.state, None, time_limit=30.0)
    assert (verdict.answer, verdict.ticks, verdict.optimal) == ("winnable", ticks, "ticks")
