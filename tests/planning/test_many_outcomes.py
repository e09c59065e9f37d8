"""A command with millions of outcomes: searches stop at their limits, and plans are replayed."""

from __future__ import annotations

import pytest

from tokenworld.diagnostics import Source
from tokenworld.engine import EngineSimulator
from tokenworld.ground import PASS, Command, LuckyDraw, Unfinished, few_successors
from tokenworld.planning.referee import needed_luck, replay
from tokenworld.planning.search.interpreted import Capped, Limits, Search
from tokenworld.planning.space.graph import Exploring
from tokenworld.planning.verdict import PlanStep
from tokenworld.session.loading import open_text

COINS = 30
TEXT = """
type Coin { heads: bool = false }
type Hero { calm: bool = false }
actor me: Hero
action toss() { for c: Coin { chance 50% { c.heads = true } else { c.heads = false } } }
action calm() { require not me.calm  me.calm = true }
world w {
  object hero: Hero
  COINS
  goal most: count(c.heads for c: Coin) >= 2
}
"""
ROOM = Limits(memory=3_000_000)
TOSS = Command("toss")


@pytest.fixture
def simulator() -> EngineSimulator:
    coins = "\n".join(f"object c{number}: Coin" for number in range(COINS))
    text = TEXT.replace("COINS", coins)
    return EngineSimulator(open_text((Source("w.tw", None, text),), "w").engine)


def heads(numbers, simulator):
    """The draws in which just these coins fall heads, and no other is thrown otherwise."""
    world = simulator.leaning(simulator.start(), TOSS, ())
    assert world is not None
    choices = {number: 0 if number in numbers else 1 for number in range(COINS)}
    return tuple(
        LuckyDraw(one.rule, one.args, one.draw, choices[number], one.alternatives)
        for number, one in enumerate(world.draws)
    )


def test_an_exploration_stops_and_leaves_the_node_open(simulator):
    exploring = Exploring(simulator, simulator.start(), None)
    graph = exploring.on(ROOM)
    assert (graph.limit, graph.expanded, graph.edges) == ("memory", 0, 0)
    assert len(graph) == len(graph.short_keys) == len(graph.states) == len(graph.parents) == 1
    assert not graph.moves[0]
    again = exploring.on(ROOM)
    assert (again.limit, len(again)) == ("memory", 1)


def test_a_search_stops(simulator):
    search = Search(simulator, simulator.start(), "most")
    result = search.run(ROOM)
    assert isinstance(result, Capped)
    assert result.limit == "memory"
    assert search.run(ROOM) == result  # what was left out is not taken for all there is


def test_few_successors_or_none(simulator):
    state = simulator.start()
    assert few_successors(simulator, state, TOSS, 500) is None
    calm = few_successors(simulator, state, Command("calm"), 500)
    assert calm is not None
    assert len(calm) == 1
    simulator.bound(lambda count: True)
    with pytest.raises(Unfinished):
        simulator.successors(state, TOSS)


def test_a_plan_is_replayed_with_its_luck(simulator):
    draws = heads({3, 7}, simulator)
    replayed = replay(simulator, simulator.start(), [PlanStep(TOSS, draws)], "most")
    assert replayed.ok
    assert replayed.steps[0].draws == draws
    assert needed_luck(simulator, replayed, "most")[0].draws  # too many to see that two are enough


def test_luck_that_is_left_open_falls_the_first_way(simulator):
    draws = heads(set(), simulator)[:5]
    after = simulator.leaning(simulator.start(), TOSS, draws)
    assert after is not None
    assert after.draws[:5] == draws
    assert {one.choice for one in after.draws[5:]} == {0}
    assert len(after.draws) == COINS
    assert simulator.leaning(after.state, PASS, ()) is None


def test_a_refused_command_has_no_luck(simulator):
    calm = simulator.leaning(simulator.start(), Command("calm"), ())
    assert calm is not None
    assert simulator.leaning(calm.state, Command("calm"), ()) is None
