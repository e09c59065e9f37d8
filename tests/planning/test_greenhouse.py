"""Worlds that tick, measured: how many states, how short the best plan, and which cannot be won."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.engine import EngineSimulator
from tokenworld.planning.lower.encode import Encoding, encode
from tokenworld.planning.planners.by_name import plan_by
from tokenworld.planning.planners.downward import find_downward
from tokenworld.planning.search.interpreted import Exhausted, Found, Limits, Search
from tokenworld.session import Session

DOMAINS = Path(__file__).parents[2] / "domains"
needs_downward = pytest.mark.skipif(not isinstance(find_downward(), Path), reason="an extra")


def opened(target: str) -> tuple[EngineSimulator, object]:
    family, _, rest = target.partition("/")
    file, _, name = rest.partition(":")
    path = f"{DOMAINS / family / file}.tw"
    session = Session.open(f"{path}:{name}" if name else path)
    return EngineSimulator(session.engine, session.state), session.state


def encoding(target: str) -> Encoding:
    simulator, state = opened(target)
    found = encode(simulator.instance_at(state), simulator, state, None)  # type: ignore[arg-type]
    assert isinstance(found, Encoding)
    return found


def states_and_dead(target: str) -> tuple[int, int]:
    """All states reachable, and how many of them lead to no goal any more."""
    simulator, start = opened(target)
    found, before, waiting = {simulator.key(start): start}, dict[object, list[object]](), [start]  # type: ignore[arg-type]
    while waiting:
        state = waiting.pop()
        for command in simulator.commands(state):  # type: ignore[arg-type]
            for after in simulator.successors(state, command):  # type: ignore[arg-type]
                key = simulator.key(after.state)
                before.setdefault(key, []).append(simulator.key(state))  # type: ignore[arg-type]
                if key not in found:
                    found[key] = after.state
                    waiting.append(after.state)
    alive = {key for key, state in found.items() if simulator.won(state, None)}  # type: ignore[arg-type]
    open_: list[object] = list(alive)
    while open_:
        for key in before.get(open_.pop(), ()):
            if key not in alive:
                alive.add(key)  # type: ignore[arg-type]
                open_.append(key)
    return len(found), len(found) - len(alive)


@pytest.mark.parametrize(
    ("world", "states", "dead"),
    [("enough", 406, 330), pytest.param("plenty", 1_208, 457, marks=pytest.mark.slow)],
)
def test_the_states_of_one_pea_on_a_tank(world: str, states: int, dead: int) -> None:
    assert states_and_dead(f"greenhouse/scarce:{world}") == (states, dead)


@pytest.mark.parametrize(
    ("target", "ticks"),
    [
        ("greenhouse/world", 19),
        ("greenhouse/scarce:enough", 19),
        ("skirmish/world", 4),
        ("skirmish/more:two", 5),
        ("workshop/world", 14),
    ],
)
def test_the_shortest_plan_by_our_own_search(target: str, ticks: int) -> None:
    found = Search(*opened(target), None).run(Limits())  # type: ignore[arg-type]
    assert isinstance(found, Found)
    assert (found.ticks, found.optimal) == (ticks, "ticks")


@pytest.mark.parametrize(
    "target",
    ["greenhouse/scarce:too_little", "skirmish/twin:one", "skirmish/twin:two", "workshop/twin:one"],
)
def test_a_twin_is_exhausted_without_a_plan(target: str) -> None:
    found = Search(*opened(target), None).run(Limits())  # type: ignore[arg-type]
    assert isinstance(found, Exhausted)


def test_lamps_that_do_not_matter_leave_the_encoding_as_it_is() -> None:
    assert encoding("greenhouse/more:three").digest == encoding("greenhouse/more:lit").digest


@needs_downward
@pytest.mark.planner
@pytest.mark.parametrize(
    ("target", "ticks"),
    [
        ("greenhouse/more:two", 21),
        ("greenhouse/scarce:enough_for_two", 21),
        ("skirmish/more:three", 11),
        ("workshop/more:two", 24),
        pytest.param("workshop/more:three", 34, marks=pytest.mark.slow),
    ],
)
def test_the_shortest_plan_by_blind_search_on_the_encoding(target: str, ticks: int) -> None:
    simulator, state = opened(target)
    verdict = plan_by(simulator, state, None, "blind", seconds=60)  # type: ignore[arg-type]
    assert (verdict.answer, verdict.ticks, verdict.optimal) == ("winnable", ticks, "ticks")


@needs_downward
@pytest.mark.planner
@pytest.mark.parametrize(
    "target", ["greenhouse/scarce:too_little_for_two", "skirmish/twin:three", "workshop/twin:two"]
)
def test_a_larger_twin_is_proved_unwinnable(target: str) -> None:
    simulator, state = opened(target)
    verdict = plan_by(simulator, state, None, "blind", seconds=60)  # type: ignore[arg-type]
    assert (verdict.answer, verdict.claim) == ("unwinnable", "proved")


@needs_downward
@pytest.mark.planner
def test_three_pots_are_won_and_not_in_less_than_25_ticks() -> None:
    simulator, state = opened("greenhouse/more:three")
    verdict = plan_by(simulator, state, None, "ff", seconds=60)  # type: ignore[arg-type]
    assert verdict.answer == "winnable"
    assert verdict.ticks >= 25
