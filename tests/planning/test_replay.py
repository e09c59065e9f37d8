"""A plan counts only if the interpreter accepts every step and ends at the goal."""

from __future__ import annotations

import pytest

from tokenworld.ground import Command, LuckyDraw
from tokenworld.planning.referee import replay
from tokenworld.planning.search.interpreted import Found, Limits, search
from tokenworld.planning.verdict import PlanStep

A, B = PlanStep(Command("a")), PlanStep(Command("b"))


def draw(choice, alternatives, action="a"):
    return LuckyDraw(f"action {action}", (None,), 0, choice, alternatives)


@pytest.fixture
def world(graph_world):
    """0 -a-> 1 -a-> (2 or 3 or 4); 3 is rich and its 2nd outcome, 4 is lost, 1 -b-> 5 -b-> 6."""
    edges = {0: {"a": [1]}, 1: {"a": [2, 3, 4], "b": [5]}, 2: {}, 4: {"a": [3]}, 5: {"b": [6]}}
    goals = {"rich": frozenset({3}), "wise": frozenset({6})}
    return graph_world(edges, goals, frozenset({4}))


def test_the_forced_draw_is_the_one_taken(world):
    plan = (A, PlanStep(Command("a"), (draw(1, 3),)))
    result = replay(world, world.start(), plan, "rich")
    assert result.ok
    assert result.states == ((0, 0), (1, 1), (3, 2))
    assert result.steps == plan


def test_another_draw_does_not_reach_the_goal(world):
    plan = (A, PlanStep(Command("a"), (draw(0, 3),)))
    result = replay(world, world.start(), plan, "rich")
    assert not result.ok
    assert result.failed == 2
    assert result.reason == "the goal is not reached at the end"


def test_a_draw_that_cannot_happen_fails_its_step(world):
    result = replay(world, world.start(), (A, PlanStep(Command("a"), (draw(1, 2),))), "rich")
    assert result.failed == 1
    assert "outcome of chance" in result.reason
    assert result.states == ((0, 0), (1, 1))


def test_draws_that_a_plan_leaves_open_are_filled_in(graph_world):
    world = graph_world({0: {"a": [1, 2]}, 1: {"a": [3]}}, {"rich": frozenset({3})})
    result = replay(world, world.start(), (A, A), None)
    assert result.ok
    assert result.steps == (PlanStep(Command("a"), (draw(0, 2),)), A)


def test_an_illegal_step_fails(world):
    result = replay(world, world.start(), (A, A, A), "wise")
    assert (result.failed, result.reason) == (2, "`a()` is refused or rolled back there")
    result = replay(world, world.start(), (B,), "wise")
    assert (result.failed, result.reason) == (0, "`b()` is refused or rolled back there")


def test_nothing_follows_a_lost_state(world):
    lost = PlanStep(Command("a"), (draw(2, 3),))
    result = replay(world, world.start(), (A, lost, A), "rich")
    assert (result.failed, result.reason) == (2, "`a()` comes after the end of the world")


def test_a_refused_step_fails(graph_world):
    world = graph_world({0: {"a": []}}, {"rich": frozenset({1})})
    result = replay(world, world.start(), (A,), None)
    assert (result.failed, result.reason) == (0, "`a()` is refused or rolled back there")


def test_a_plan_that_goes_on_is_cut_at_the_goal(world):
    result = replay(world, world.start(), (A, B, B, A, A), "wise")
    assert result.ok
    assert result.steps == (A, B, B)


def test_the_other_goal_does_not_count(world):
    result = replay(world, world.start(), (A, B, B), "rich")
    assert not result.ok


def test_an_empty_plan_needs_the_goal_at_the_start(graph_world):
    world = graph_world({0: {"a": [1]}}, {"rich": frozenset({0})})
    assert replay(world, world.start(), (), None).ok
    world = graph_world({0: {"a": [1]}}, {"rich": frozenset({1})})
    assert replay(world, world.start(), (), None).failed == 0


def test_damaged_plans_are_noticed(make_random_world):
    """A shortest plan without its last step does not reach the goal."""
    damaged = 0
    for seed in range(200):
        world = make_random_world(seed)
        found = search(world, world.start(), "rich", Limits())
        if not isinstance(found, Found) or not found.steps:
            continue
        assert replay(world, world.start(), found.steps, "rich").ok
        assert not replay(world, world.start(), found.steps[:-1], "rich").ok
        damaged += 1
    assert damaged > 20
