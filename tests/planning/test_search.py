"""The own search against brute force, its limits, and what it may and may not claim."""

from __future__ import annotations

import time
from itertools import count

import pytest

from tokenworld.planning.referee import replay
from tokenworld.planning.search.interpreted import (
    Capped,
    Exhausted,
    Found,
    Limits,
    Search,
    search,
    size_of,
)

FREE = Limits()


def steps_to_goal(world, goal):
    """Least number of ticks to the goal and the nodes reachable, by plain layers of sets."""
    layer, seen = {0}, {0}
    for ticks in count():
        if any(world.won((node, 0), goal) for node in layer):
            return ticks, seen
        layer = {
            successor.state[0]
            for node in layer
            for command in world.commands((node, 0))
            for successor in world.successors((node, 0), command)
        } - seen
        seen |= layer
        if not layer:
            return None, seen


def least_cost(world, goal):
    """Least (cost, ticks) to the goal by relaxing every edge until nothing changes."""
    best = {0: (0, 0)}
    changed = True
    while changed:
        changed = False
        for node, (cost, ticks) in list(best.items()):
            for command in world.commands((node, 0)):
                total = (cost + world.cost((node, 0), command), ticks + 1)
                for successor in world.successors((node, 0), command):
                    end = successor.state[0]
                    if end not in best or total < best[end]:
                        best[end], changed = total, True
    return min((best[node] for node in best if world.won((node, 0), goal)), default=None)


@pytest.mark.parametrize("goal", [None, "rich", "wise"])
def test_it_agrees_with_brute_force_in_ticks(make_random_world, goal):
    answers = set()
    for seed in range(300):
        world = make_random_world(seed)
        ticks, reachable = steps_to_goal(world, goal)
        result = search(world, world.start(), goal, FREE)
        if ticks is None:
            assert result == Exhausted(len(reachable), result.expanded), seed
        else:
            assert isinstance(result, Found), seed
            assert (result.ticks, result.optimal) == (ticks, "ticks"), seed
            assert replay(world, world.start(), result.steps, goal).ok, seed
        answers.add(type(result))
    assert answers == {Found, Exhausted}


def test_it_agrees_with_brute_force_in_cost(make_random_world):
    differ = 0
    for seed in range(300):
        world = make_random_world(seed, priced=True)
        best = least_cost(world, "rich")
        result = search(world, world.start(), "rich", FREE)
        if best is None:
            assert isinstance(result, Exhausted), seed
            continue
        assert isinstance(result, Found), seed
        assert (result.cost, result.ticks, result.optimal) == (*best, "cost"), seed
        replayed = replay(world, world.start(), result.steps, "rich")
        assert replayed.ok, seed
        differ += best[1] != steps_to_goal(world, "rich")[0]
    assert differ > 0  # else the costs never mattered


def test_of_two_plans_of_equal_cost_the_shorter_is_taken(graph_world):
    # Free steps 0-1-2-3 and then one that costs 1 lead to 5; so does 0-4 for 1 and a free step.
    edges = {0: {"x": [4], "y": [1]}, 1: {"y": [2]}, 2: {"y": [3]}, 3: {"x": [5]}, 4: {"y": [5]}}
    world = graph_world(edges, {"rich": frozenset({5})}, costs={"x": 1, "y": 0})
    result = search(world, world.start(), None, FREE)
    assert isinstance(result, Found)
    assert (result.cost, result.ticks, result.optimal) == (1, 2, "cost")


def test_where_a_step_pays_back_no_plan_is_called_cheapest(graph_world):
    edges = {0: {"x": [1], "y": [0]}}
    world = graph_world(edges, {"rich": frozenset({1})}, costs={"x": 1, "y": -1})
    result = search(world, world.start(), None, FREE)
    assert isinstance(result, Found)
    assert result.optimal is None


def test_a_tick_bound_is_exact(make_random_world):
    bounded = 0
    for seed in range(300):
        world = make_random_world(seed, priced=seed % 2 == 0)
        ticks, _ = steps_to_goal(world, "rich")
        for within in range(6):
            result = search(world, world.start(), "rich", FREE, within=within)
            assert isinstance(result, Found) == (ticks is not None and ticks <= within), seed
            if isinstance(result, Found):
                assert result.ticks == ticks
            elif result.within is None:
                assert ticks is None, seed  # it claims that no plan of any length exists
            else:
                assert result.within == within
                bounded += 1
    assert bounded > 100


def test_a_goal_at_the_start_needs_no_step(graph_world):
    world = graph_world({0: {"a": [0]}}, {"rich": frozenset({0})})
    assert search(world, world.start(), None, Limits(states=0)) == Found((), 0, 1, 0, "ticks")


def test_lost_states_are_not_passed(graph_world):
    edges = {0: {"a": [1]}, 1: {"a": [2]}, 2: {}}
    world = graph_world(edges, {"rich": frozenset({2})}, frozenset({1}))
    assert search(world, world.start(), None, FREE) == Exhausted(2, 1)


def test_a_state_limit_stops_it_and_more_room_lets_it_go_on(make_counter):
    world = make_counter(10)
    run = Search(world, world.start(), None)
    first = run.run(Limits(states=100))
    assert isinstance(first, Capped)
    assert first.limit == "states"
    assert 100 <= first.states <= 101
    asked = len(world.calls)
    assert run.run(FREE) == Exhausted(1024, 1024)
    assert len(world.calls) == 2048 > asked  # nothing was expanded twice
    assert run.run(Limits(states=0)) == Exhausted(1024, 1024)


def test_a_time_limit_stops_it(endless_world):
    started = time.monotonic()
    result = search(endless_world, endless_world.start(), None, Limits(seconds=0.1))
    assert isinstance(result, Capped)
    assert result.limit == "time"
    assert "0.1 s" in result.reason
    assert time.monotonic() - started < 20


def test_a_memory_limit_stops_it(make_counter):
    world = make_counter(12)
    run = Search(world, world.start(), None)
    result = run.run(Limits(memory=100_000))
    assert isinstance(result, Capped)
    assert result.limit == "memory"
    assert run.memory() >= 100_000
    assert 100 < result.states < 4096


def test_what_two_states_share_is_counted_once():
    big, own = list(range(1000)), [1, 2]
    assert size_of([big, own]) > 8_000
    assert size_of([big, own], beside=[big]) < 400
    assert size_of([big, own], beside=None) == size_of([big, own])


def test_it_can_be_cancelled(make_counter):
    world = make_counter(12)
    calls = iter(range(50))
    result = search(world, world.start(), None, FREE, cancel=lambda: next(calls, None) is None)
    assert isinstance(result, Capped)
    assert (result.limit, result.expanded) == ("cancelled", 50)


def test_it_reports_progress_once_a_second(make_counter, monkeypatch):
    clock = (tick / 10 for tick in count())
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    world = make_counter(8)
    seen = []
    search(world, world.start(), None, FREE, progress=seen.append)
    assert len(seen) > 5
    assert [one.states for one in seen] == sorted(one.states for one in seen)
    assert all(one.states == one.expanded + one.waiting for one in seen)
    assert max(one.depth for one in seen) <= 8


def test_no_progress_is_reported_within_the_first_second(make_counter):
    seen = []
    world = make_counter(4)
    search(world, world.start(), None, FREE, progress=seen.append)
    assert seen == []


def test_two_searches_answer_alike(make_random_world):
    for seed in range(50):
        first, second = (
            search(world, world.start(), None, FREE)
            for world in (make_random_world(seed), make_random_world(seed))
        )
        assert first == second
