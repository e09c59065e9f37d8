"""The explicit graph and its partition against brute force, and what a cap leaves open."""

from __future__ import annotations

from itertools import product

import pytest

from tests.hostile import assert_harmless
from tokenworld.planning.search.interpreted import Limits
from tokenworld.planning.space.dead_ends import FAR, cruelty, dead_ends, partition
from tokenworld.planning.space.drawing import MOST, dot_text, picture, svg_text
from tokenworld.planning.space.graph import Exploring, components, doors, explore

FREE = Limits()
SEEDS = range(60)


def explored(world, goal=None, limits=FREE):
    return explore(world, world.start(), goal, limits)


def test_what_came_to_a_limit_is_gone_on_with(make_counter):
    world = make_counter(8)
    exploring = Exploring(world, world.start(), None)
    first = exploring.on(Limits(states=20))
    assert (first.limit, len(first.short_keys)) == ("states", len(first))
    assert 20 <= len(first) < 256
    whole, at_once = exploring.on(FREE), explored(world)
    assert whole is first
    assert (whole.limit, whole.states) == (at_once.limit, at_once.states)
    assert (list(whole.moves), whole.short_keys) == (list(at_once.moves), at_once.short_keys)


def edges_of(world, goal):
    """What follows each reachable node, up to the goal, by plain dictionaries."""
    found, waiting = {}, [0]
    while waiting:
        node = waiting.pop()
        if node in found:
            continue
        ended = world.won((node, 0), goal) or world.won((node, 0), None) or node in world.lose
        rows = {} if ended else world.edges.get(node, {})
        found[node] = {name: [t for t in row if t >= 0] for name, row in rows.items()}
        waiting += [target for row in found[node].values() for target in row]
    return found


def winners(world, goal, edges):
    """The nodes from which some play reaches the goal, by going on until nothing changes."""
    good = {node for node in edges if world.won((node, 0), goal)}
    while True:
        more = {n for n, rows in edges.items() if any(t in good for r in rows.values() for t in r)}
        if more <= good:
            return good
        good |= more


# ---- the whole graph ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_counts_are_those_of_brute_force(make_random_world, seed):
    world = make_random_world(seed)
    for goal in (None, "rich", "wise"):
        parts = partition(explored(world, goal))
        edges = edges_of(world, goal)
        won = {node for node in edges if world.won((node, 0), goal)}
        good = winners(world, goal, edges)
        counts = [parts.count(place) for place in ("won", "winnable", "dead", "undecided")]
        assert counts == [len(won), len(good - won), len(edges) - len(good), 0]


@pytest.mark.parametrize("seed", SEEDS)
def test_distance_and_number_of_shortest_solutions(make_random_world, seed):
    world = make_random_world(seed)
    parts = partition(explored(world))
    edges = edges_of(world, None)
    steps, ways = None, {0: 1}
    for length in range(len(edges) + 1):
        won = sum(count for node, count in ways.items() if world.won((node, 0), None))
        if won:
            steps = (length, won)
            break
        after = {}
        for node, count in ways.items():
            for target in (t for row in edges[node].values() for t in row):
                after[target] = after.get(target, 0) + count
        ways = after
    assert steps == (None if parts.steps is None else (parts.steps, parts.solutions))


def test_a_shortest_solution_can_be_played(graph_world):
    world = graph_world({0: {"a": [0, 1]}, 1: {"b": [2], "c": [0]}}, {"rich": frozenset({2})})
    steps = [one.step for one in partition(explored(world)).solution()]
    assert [(step.command.action, len(step.draws)) for step in steps] == [("a", 1), ("b", 0)]


def test_branching_counts_states_that_go_on(graph_world):
    world = graph_world({0: {"a": [1], "b": [1]}, 1: {"a": [2]}}, {"rich": frozenset({2})})
    branching = partition(explored(world)).branching
    assert (branching.states, branching.moves, branching.most) == (2, 3, 2)


# ---- parts -------------------------------------------------------------------------------------


def test_a_cap_is_told_and_nothing_open_counts_as_dead(endless_world):
    graph = explored(endless_world, limits=Limits(states=50))
    parts = partition(graph)
    assert (graph.complete, graph.limit) == (False, "states")
    assert parts.count("undecided") == len(graph) >= 50


def test_a_part_still_proves_what_lies_behind_it(graph_world):
    """Node 1 is a trap that was explored to its end before the cap was hit."""
    long = {n: {"a": [n + 1]} for n in range(2, 40)}
    world = graph_world({0: {"a": [1], "b": [2]}, 1: {"a": [1]}, **long}, {"rich": frozenset({39})})
    parts = partition(explored(world, limits=Limits(states=10)))
    assert parts.places[1] == "dead"
    assert parts.places[0] == "undecided"


@pytest.mark.parametrize("cap", [1, 2, 5, 9])
@pytest.mark.parametrize("seed", range(20))
def test_what_a_part_claims_holds_for_the_whole(make_random_world, seed, cap):
    world = make_random_world(seed)
    graph = explored(world, limits=Limits(states=cap))
    parts, edges = partition(graph), edges_of(world, None)
    good = winners(world, None, edges)
    for node in graph.nodes():
        true = graph.states[node][0] in good
        assert {"won": true, "winnable": true, "dead": not true, "undecided": True}[
            parts.places[node]
        ]


# ---- dead ends ---------------------------------------------------------------------------------

GOAL = {"rich": frozenset({9})}
CLASSES = {
    "merciful": ({0: {"a": [1], "b": [9]}, 1: {"a": [0]}}, frozenset()),
    "polite": ({0: {"a": [5], "b": [9]}}, frozenset({5})),
    "tough": ({0: {"a": [1], "b": [9]}, 1: {"a": [5], "b": [5]}}, frozenset({5})),
    "nasty": ({0: {"a": [1], "b": [9]}, 1: {"a": [2]}, 2: {"a": [5]}}, frozenset({5})),
    "cruel": ({0: {"a": [1], "b": [9]}, 1: {"a": [2], "b": [5]}, 2: {"a": [1]}}, frozenset({5})),
}


def ends(world):
    graph = explored(world)
    ending = lambda node: "fire" if world.lost(graph.states[node]) else ""  # noqa: E731
    return graph, dead_ends(graph, partition(graph), ending)


@pytest.mark.parametrize("name", CLASSES)
def test_cruelty_follows_from_when_the_player_is_told(graph_world, name):
    edges, lose = CLASSES[name]
    _, kinds = ends(graph_world(edges, GOAL, lose))
    assert cruelty(kinds) == name


def test_a_standstill_shows_with_the_next_step(graph_world):
    _, kinds = ends(graph_world({0: {"a": [1], "b": [9]}, 1: {"a": [1], "b": [1]}}, GOAL))
    assert [(kind.action, kind.told) for kind in kinds] == [("a", "next")]


def test_dead_ends_are_grouped_by_action_cause_and_luck(graph_world):
    world = graph_world(
        {0: {"a": [1, 5], "b": [2]}, 1: {"a": [5], "b": [9]}, 2: {"b": [2]}}, GOAL, frozenset({5})
    )
    _, kinds = ends(world)
    found = [(k.action, k.cause, k.lucky, k.edges, k.states, k.node) for k in kinds]
    assert found == [
        ("a", "fire", True, 1, 1, 0),
        ("b", "", False, 1, 1, 0),
        ("a", "fire", False, 1, 1, 1),
    ]


def test_a_dead_end_that_time_leads_to_as_well_says_so(graph_world):
    world = graph_world({0: {"a": [1], "b": [9], "": [1]}, 1: {"a": [1]}}, GOAL)
    _, kinds = ends(world)
    assert [(kind.action, kind.idle) for kind in kinds] == [("a", True), ("", False)]


# ---- doors and pictures ------------------------------------------------------------------------


def test_one_way_doors_are_edges_between_components(graph_world):
    edges = {0: {"a": [1]}, 1: {"a": [0], "b": [2]}, 2: {"a": [3]}, 3: {"a": [2], "c": [9]}}
    graph = explored(graph_world(edges, GOAL))
    component, count = components(graph)
    assert (count, component[0] == component[1], component[2] == component[3]) == (3, True, True)
    closed = partition(graph).closed
    (door,) = doors(graph, component, closed, lambda n: "won" if graph.states[n][0] == 9 else "")
    assert (door.action, door.crossings, door.edges) == ("b", 1, 1)


@pytest.mark.parametrize("seed", range(30))
def test_components_are_what_can_be_reached_both_ways(make_random_world, seed):
    world = make_random_world(seed)
    graph = explored(world)
    component, _ = components(graph)
    reach = {node: {node} for node in graph.nodes()}
    for _ in graph.nodes():
        for node in graph.nodes():
            for *_, target in graph.outcomes(node):
                reach[node] |= reach[target]
    for one, other in product(graph.nodes(), repeat=2):
        together = other in reach[one] and one in reach[other]
        assert (component[one] == component[other]) == together


def drawn(world, limits=FREE):
    graph = explored(world, limits=limits)
    return picture(graph, partition(graph), components(graph)[0])


def test_a_small_graph_is_drawn_state_by_state(graph_world):
    found = drawn(graph_world({0: {"a": [1], "b": [9]}, 1: {"a": [1]}}, GOAL))
    assert (found.grouping, len(found.boxes)) == ("states", 3)
    assert 'n0 -> n1 [label="a"]' in dot_text(found)
    assert svg_text(found).count("<rect") == 1 + 3


def test_names_in_a_picture_are_no_markup(graph_world):
    name = 'a"];x[URL="u\\\x1b\u202e<b>'
    found = drawn(graph_world({0: {name: [1]}, 1: {name: [1]}}, GOAL))
    assert r'n0 -> n1 [label="a\"];x[URL=\"u\\␛�<b>"];' in dot_text(found)
    assert "&lt;b&gt;" in svg_text(found)
    assert_harmless(svg_text(found))


def test_a_large_graph_is_drawn_in_groups(make_counter, endless_world):
    assert drawn(make_counter(9)).grouping == "components"
    found = drawn(endless_world, Limits(states=3_000))
    assert found.grouping == "distances"
    assert len(found.boxes) <= MOST


def test_far_is_no_distance():
    assert FAR < 0
