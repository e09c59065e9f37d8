"""Graphs, dead ends and luck on the compiled kernel: what plain Python finds, to the last bit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_random import random_world
from lower_worlds import Opened, bundled, opened
from sokoban import sokoban

from tokenworld.planning.search.compiled import available
from tokenworld.planning.search.compiled.search import CompiledBreadthFirst
from tokenworld.planning.search.compiled.tables import Tables
from tokenworld.planning.search.interpreted import Capped, Limits
from tokenworld.planning.search.packed.lowered import packed
from tokenworld.planning.space import dead_ends, packed_graph
from tokenworld.planning.space.dead_ends import partition
from tokenworld.planning.space.graph import explore
from tokenworld.planning.space.observed_draws import Observed, ObservedSimulator
from tokenworld.planning.space.packed_graph import (
    PackedGraph,
    compiled_tables,
    explore_compiled,
    explore_packed,
)
from tokenworld.session.solving import builder, explored_for_luck, solve_luck

compiled = pytest.mark.skipif(not available(), reason="numba is not installed")
WORLDS = ("blocks/world", "taxi/world", "greenhouse/world", "greenhouse/scarce", "skirmish/world",
          "workshop/world", "workshop/twin", "kitchen/world")  # fmt: skip

LUCK = """
enum Lock { open, closed }
type Room { lock: Lock = closed  lit: bool = false }  type Hero { at: Room  bag: 0 to 4 = 0 }
actor me: Hero
relation door(a: Room, b: Room)
action go(r: Room) { require door(me.at, r)  me.at = r }
action toss() { chance 25% { me.bag = min(me.bag + 1, 4) } or 50% { me.bag = 0 } }
action reach() { pick r: Room where not r.lit { r.lit = true } else { me.bag = 0 } }
LAW
world w { object a, b, c: Room  object hero: Hero { at = a }
          setup { add door(a, b)  add door(b, c)  add door(c, a) }
          lose out: a.lit and b.lit and c.lit and hero.bag == 0
          goal both: hero.bag == 4 and c.lit and hero.at == c }
"""
LAWS = (
    "",
    "law wind(r: Room) when r.lit { chance 30% { r.lit = false } }",
    "law drop() when me.bag > 2 { pick r: Room where not r.lit { r.lock = open } }",
    "action bet() { chance 100% / (me.bag + 2) { me.bag = 4 } }",
)


def lucky(law: str) -> Opened:
    return opened(LUCK.replace("LAW", law))


# ---- the graph and what is behind it ------------------------------------------------------------


def graphs(world: Opened, limits: Limits, *, past_goal: bool) -> tuple[PackedGraph, PackedGraph]:  # type: ignore[type-arg]
    """The graph as Python and as the kernel makes it."""
    small = packed(world.simulator, world.state, None)
    assert small is not None
    tables = compiled_tables(small)
    assert tables is not None
    build = builder(world.simulator, small, world.state)
    rest = build, world.simulator.successors, None, limits
    past = past_goal and small.plain
    one = explore_packed(small, *rest, past_goal=past)
    return one, explore_compiled(small, tables, *rest, past_goal=past)


def agree(world: Opened, limits: Limits, *, past_goal: bool = False) -> None:
    one, two = graphs(world, limits, past_goal=past_goal)
    assert one.keys == two.keys
    for name in (
        "won",
        "lost",
        "depth",
        "parents",
        "places",
        "ticks",
        "expanded",
        "edges",
        "limit",
    ):
        assert getattr(one, name) == getattr(two, name), name
    for name in ("steps", "targets", "ends"):
        assert getattr(one.arrows, name) == getattr(two.arrows, name), name
    ends = [
        [node for node in one.nodes() if one.won[node]],
        [node for node in one.nodes() if one.open(node)],
    ]
    sources = one.sources()
    plain = [dead_ends.distances(sources, nodes) for nodes in ends]
    assert dead_ends.compiled_backwards(two, ends) == plain


@compiled
@pytest.mark.parametrize("name", [*WORLDS, "sokoban"])
def test_the_graph_is_the_same(name: str) -> None:
    world = sokoban() if name == "sokoban" else bundled(name)
    agree(world, Limits(states=20_000))
    agree(world, Limits(states=300))
    agree(world, Limits(states=20_000), past_goal=True)


@compiled
def test_graphs_of_random_worlds_are_the_same() -> None:
    done = 0
    for seed in range(40):
        world = random_world(seed)
        small = packed(world.simulator, world.state, None)
        if small is not None and compiled_tables(small) is not None:
            agree(world, Limits(states=4_000))
            done += 1
    assert done >= 12


@compiled
def test_large_graphs_are_compiled_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    world = sokoban()
    expected = partition(explore(world.simulator, world.state, None, Limits()))
    small = packed(world.simulator, world.state, None)
    assert small is not None
    build = builder(world.simulator, small, world.state)
    asked: list[int] = []

    def noted(*args: object) -> list[object]:
        asked.append(1)
        return original(*args)  # type: ignore[arg-type]

    original = dead_ends.compiled_backwards
    monkeypatch.setattr(packed_graph, "_LARGE", 50)
    monkeypatch.setattr(dead_ends, "_LARGE", 50)
    monkeypatch.setattr(dead_ends, "compiled_backwards", noted)
    graph = explore_packed(small, build, world.simulator.successors, None, Limits())
    found = partition(graph)
    assert (found.places, found.distance) == (expected.places, expected.distance)
    assert found.count("dead") > 0
    assert asked


# ---- limits -------------------------------------------------------------------------------------


@compiled
def test_memory_is_a_limit_and_what_was_learned_stays() -> None:
    world = bundled("kitchen/world")
    small = packed(world.simulator, world.state, None)
    assert small is not None
    tables = Tables.of(small, to_goal=False)
    assert tables is not None
    search = CompiledBreadthFirst(world.simulator, small, world.state, tables)
    heard = []
    cap = search.memory() + 200_000
    result = search.run(Limits(memory=cap), progress=heard.append)
    assert isinstance(result, Capped)
    assert result.limit == "memory"
    assert 1_000 < result.states == search.size
    assert search.memory() < cap + 16_384 * 8 * (8 * tables.width + 5)
    assert search.so_far().depth > 0
    more = search.run(Limits(states=result.states + 1))
    assert isinstance(more, Capped)
    assert more.states > result.states


@compiled
def test_a_graph_that_is_stopped_holds_what_was_seen() -> None:
    world = bundled("kitchen/world")
    small = packed(world.simulator, world.state, None)
    assert small is not None
    tables = compiled_tables(small)
    assert tables is not None
    build = builder(world.simulator, small, world.state)
    rest = build, world.simulator.successors, None
    graph = explore_compiled(small, tables, *rest, Limits(memory=packed_graph.bytes_held(5_000, 0)))
    assert graph.limit == "memory"
    assert not graph.complete
    assert 0 < graph.expanded < len(graph)
    parts = partition(graph)
    assert parts.count("undecided") > 0
    assert graph.path(len(graph) - 1)[-1].node == len(graph) - 1


# ---- luck ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_odds_of_packed_states_are_those_of_the_interpreter(law: str) -> None:
    world = lucky(law)
    small = packed(world.simulator, world.state, None)
    assert small is not None
    asked = []

    def luck(state: object, command: object) -> object:
        asked.append(command)
        return world.simulator.successors(state, command)  # type: ignore[arg-type]

    build = builder(world.simulator, small, world.state)
    graph = explore_packed(small, build, luck, None, Limits())  # type: ignore[arg-type]
    told = [graph.odds(node) for node in graph.nodes()]
    count = len(asked)
    drawn = sum(len(move.targets) > 1 for here in told for move in here)
    for node in graph.nodes():
        for one, two in zip(told[node], graph.moves[node], strict=True):
            assert (one.command, one.targets, one.chances) == (
                two.command,
                two.targets,
                two.chances,
            )
    assert count < drawn / 3 or "/" in law  # a chance that depends on the state is asked each time


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("question", ["certain", "probability"])
def test_luck_on_packed_states_is_answered_alike(
    law: str, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tokenworld.session import solving
    from tokenworld.session import solving as exploring

    world = lucky(law)
    engine, state = world.simulator.engine, world.state
    asked = {"states": 50_000, "time_limit": 60.0}
    monkeypatch.setattr(exploring, "_SMALL", 3)
    tries = ObservedSimulator(world.simulator)
    graph = explored_for_luck(world.simulator, tries, Observed(state), None, Limits(), None)
    assert isinstance(graph, PackedGraph)
    found = solve_luck(engine, state, None, question, **asked)  # type: ignore[arg-type]
    monkeypatch.setattr(
        solving, "explored_for_luck",
        lambda simulator, tries, start, goal, limits, progress: explore(
            tries, start, goal, limits, progress=progress
        ),
    )  # fmt: skip
    expected = solve_luck(engine, state, None, question, **asked)  # type: ignore[arg-type]
    assert (found.answer, found.claim, found.low, found.high) == (
        expected.answer, expected.claim, expected.low, expected.high
    )  # fmt: skip
    assert (found.policy, found.path, found.states) == (
        expected.policy, expected.path, expected.states
    )  # fmt: skip


def test_contents_in_order_are_left_to_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    from tokenworld.session import solving as exploring

    monkeypatch.setattr(exploring, "_SMALL", 3)
    world = bundled("cellar/world")
    tries, start = ObservedSimulator(world.simulator), Observed(world.state)
    graph = explored_for_luck(world.simulator, tries, start, None, Limits(), None)
    ordered = any(children is not None for children in world.state.kids)
    assert isinstance(graph, PackedGraph) != ordered
