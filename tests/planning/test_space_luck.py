"""Certainty and probability against plain value iteration, by hand, and within bounds."""

from __future__ import annotations

import time
from fractions import Fraction
from random import Random

import pytest

from tokenworld.planning.search.interpreted import Limits
from tokenworld.planning.space.decisions import (
    CONSTANT,
    bounded_values,
    problem_of,
    quotient_of,
    solved,
    value_of,
)
from tokenworld.planning.space.graph import explore
from tokenworld.planning.space.luck import LuckLimits, certainty, luck_lines, probability
from tokenworld.planning.space.policy import wilson

SEEDS = range(80)
ALL = LuckLimits()


def best(world, goal=None, rounds=4_000):
    """The greatest probability of winning from the start, by plain value iteration in floats."""
    size = 1 + max(world.edges, default=0)
    won = [world.won((node, 0), goal) for node in range(size)]
    over = [world.won((node, 0), None) or node in world.lose for node in range(size)]
    values = [float(one) for one in won]
    for _ in range(rounds):
        after = list(values)
        for node in range(size):
            if not over[node]:
                worth = [
                    sum(values[t] for t in row) / len(row) for row in world.edges[node].values()
                ]
                after[node] = max(worth, default=0.0)
        if max(abs(a - b) for a, b in zip(values, after, strict=True)) < 1e-13:
            break
        values = after
    return values[0]


def asked(question, world, goal=None, limits=ALL):
    return question(world, world.start(), goal, limits)


# ---- against brute force -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_the_exact_probability_is_that_of_value_iteration(make_random_world, seed):
    world = make_random_world(seed)
    found = asked(probability, world)
    assert found.complete
    assert float(found.low) == pytest.approx(best(world), abs=1e-7)
    assert found.low == found.high


@pytest.mark.parametrize("seed", SEEDS)
def test_a_goal_is_certain_exactly_if_it_can_be_won_with_probability_one(make_random_world, seed):
    world = make_random_world(seed)
    value = best(world)
    answer = asked(certainty, world).answer
    expected = "certain" if value > 1 - 1e-7 else "unwinnable" if value == 0 else "not certain"
    assert answer == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_a_policy_is_worth_what_is_claimed(make_random_world, seed):
    """Follow the moves of the policy alone and see what they are worth."""
    world = make_random_world(seed)
    graph = explore(world, world.start(), None, Limits())
    value = value_of(graph, time.monotonic() + 60)
    worth = [float(one) for one in graph.won]
    for _ in range(4_000):
        for node, number in value.moves.items():
            move = graph.moves[node][number]
            shares = zip(move.targets, move.chances, strict=True)
            worth[node] = sum(worth[target] * float(chance) for target, chance in shares)
    assert worth[0] == pytest.approx(float(value.low), abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_hold_and_meet(make_random_world, seed):
    world = make_random_world(seed)
    graph = explore(world, world.start(), None, Limits())
    problem = problem_of(graph, cautious=True)
    quotient = quotient_of(problem)
    exact = value_of(graph, time.monotonic() + 60).exact
    state = quotient.state_of[problem.start]
    if state >= 0:
        bounds = bounded_values(quotient, time.monotonic() + 60)
        low, high = bounds.low[state], bounds.high[state]
        assert low <= exact <= high
        assert high - low < 1e-6


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("cap", [1, 3, 6])
def test_a_part_of_the_graph_gives_bounds_and_no_more(make_random_world, seed, cap):
    world = make_random_world(seed)
    graph = explore(world, world.start(), None, Limits(states=cap))
    value = value_of(graph, time.monotonic() + 60)
    true = best(world)
    assert float(value.low) - 1e-7 <= true <= float(value.high) + 1e-7


@pytest.mark.parametrize("seed", range(20))
def test_linear_systems_are_solved_exactly(seed):
    random = Random(seed)
    size = random.randint(1, 25)
    wanted = [Fraction(random.randint(-9, 9), random.randint(1, 9)) for _ in range(size)]
    rows = {}
    for state in range(size):
        others = random.sample(range(size), min(size, 3))
        row = {other: Fraction(random.randint(1, 5), 17) for other in others}
        row[CONSTANT] = wanted[state] - sum(value * wanted[o] for o, value in row.items())
        rows[state] = row
    assert solved(rows, time.monotonic() + 60) == dict(enumerate(wanted))


def test_without_time_for_fractions_there_are_bounds(graph_world):
    world = graph_world({0: {"toss": [2, 1]}, 2: {"toss": [9, 0]}, 1: {}}, RICH)
    value = value_of(explore(world, world.start(), None, Limits()), time.monotonic() - 1)
    assert value.exact is None
    assert 0 <= value.low < Fraction(1, 3) < value.high <= 1


# ---- by hand -----------------------------------------------------------------------------------

RICH = {"rich": frozenset({9})}


def test_one_face_of_three_is_a_third(graph_world):
    found = asked(probability, graph_world({0: {"toss": [9, 1, 2]}}, RICH))
    assert (found.exact, found.claim, found.exit_code) == (Fraction(1, 3), "exact", 0)
    assert "probability 1/3 (about 0.333333)" in luck_lines(found)[0]


def test_the_gambler_is_ruined_two_times_of_three(graph_world):
    """From 1 of 3 coins, fair tosses: 3 coins are reached with probability 1/3."""
    walk = {1: {"toss": [2, 0]}, 2: {"toss": [9, 1]}}
    found = asked(probability, graph_world({0: {"begin": [1]}, **walk} | {0: {"begin": [3]},
                  3: {"toss": [4, 5]}, 4: {"toss": [9, 3]}, 5: {}}, RICH))  # fmt: skip
    assert found.exact == Fraction(1, 3)


def test_the_better_of_two_ways_counts(graph_world):
    world = graph_world({0: {"a": [9, 1], "b": [9, 9, 1], "c": [2]}, 2: {"": [0]}}, RICH)
    found = asked(probability, world)
    assert found.exact == Fraction(2, 3)
    assert found.policy.lines[found.policy.start].command == "b()"


def test_trying_until_it_works_is_certain(graph_world):
    found = asked(certainty, graph_world({0: {"toss": [0, 9]}}, RICH))
    assert (found.answer, found.claim, len(found.policy.lines)) == ("certain", "found", 1)


def test_a_risk_is_shown_with_the_way_into_the_dead_end(graph_world):
    world = graph_world({0: {"go": [1]}, 1: {"toss": [9, 2]}, 2: {"go": [2]}}, RICH)
    found = asked(certainty, world)
    assert (found.answer, found.exit_code) == ("not certain", 1)
    assert [step.command for step in found.path] == ["go()", "toss()"]
    assert [draw.choice for draw in found.path[-1].draws] == [1]


def test_a_safe_way_is_taken_before_a_short_one(graph_world):
    edges = {0: {"short": [9, 1], "long": [2]}, 2: {"go": [3]}, 3: {"go": [9]}, 1: {"go": [1]}}
    found = asked(certainty, graph_world(edges, RICH))
    assert [line.command for line in found.policy.lines.values()] == ["long()", "go()", "go()"]


def test_a_goal_out_of_reach_is_unwinnable(graph_world):
    world = graph_world({0: {"a": [0]}}, RICH)
    for question in (certainty, probability):
        found = asked(question, world)
        assert (found.answer, found.claim, found.exit_code) == ("unwinnable", "exhausted", 1)


# ---- what is not known --------------------------------------------------------------------------


def test_a_command_that_luck_refuses_is_refused_again(graph_world):
    """A rolled back toss falls the same until a tick passes, which another command brings about."""
    world = graph_world({0: {"toss": [9, -1]}}, RICH)
    found = asked(certainty, world)
    assert (found.answer, found.exit_code) == ("not certain", 1)
    chance = asked(probability, world)
    assert (chance.claim, chance.exact) == ("exact", Fraction(1, 2))
    patient = graph_world({0: {"toss": [9, -1], "wait": [0]}}, RICH)
    assert asked(certainty, patient).answer == "certain"
    assert asked(probability, patient).exact == 1


def test_a_partial_graph_is_unknown(endless_world):
    found = asked(certainty, endless_world, limits=LuckLimits(states=100))
    assert (found.answer, found.complete, found.exit_code) == ("unknown", False, 3)
    assert [note.code for note in found.notes] == ["TW0813"]


def test_a_policy_within_the_explored_part_is_certain(graph_world):
    long = {n: {"a": [n + 1]} for n in range(10, 60)}
    world = graph_world({0: {"toss": [0, 9], "a": [10]}, **long}, RICH)
    found = asked(certainty, world, limits=LuckLimits(states=8))
    assert (found.answer, found.complete) == ("certain", False)


def test_a_risk_is_known_before_all_is_explored(graph_world):
    long = {n: {"a": [n + 1]} for n in range(10, 60)}
    world = graph_world({0: {"toss": [1, 10]}, 1: {"a": [1]}, **long}, RICH)
    found = asked(certainty, world, limits=LuckLimits(states=8))
    assert (found.answer, found.complete) == ("not certain", False)


def test_an_estimate_is_named_as_one(graph_world):
    """A long way to a fair coin, too long for the cap."""
    edges = {n: {"a": [n + 1]} for n in range(10, 60)} | {60: {"toss": [9, 1]}, 0: {"a": [10]}}
    found = asked(probability, graph_world(edges, RICH), limits=LuckLimits(states=8, seconds=5))
    assert (found.claim, found.exact, found.low, found.high) == ("sampled", None, 0, 1)
    low, high = found.sample.interval
    assert low < 0.5 < high
    assert any(line.startswith("sampled: ") and "Wilson" in line for line in luck_lines(found))


@pytest.mark.parametrize(
    ("wins", "plays", "interval"),
    [(0, 10, (0.0, 0.27753)), (5, 10, (0.23659, 0.76341)), (10, 10, (0.72247, 1.0))],
)
def test_wilson_by_the_book(wins, plays, interval):
    assert wilson(wins, plays) == pytest.approx(interval, abs=1e-5)
