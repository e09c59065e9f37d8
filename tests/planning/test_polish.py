"""Plans without idle steps, and only the luck that they need: against brute force."""

from __future__ import annotations

from tokenworld.ground import PASS, Command
from tokenworld.planning import referee
from tokenworld.planning.referee import needed_luck, replay, without_idle_steps
from tokenworld.planning.search.interpreted import Found, Limits, search
from tokenworld.planning.verdict import PlanStep


def commands(*names):
    return tuple(PlanStep(PASS if name == "" else Command(name)) for name in names)


def polished(world, *names):
    replayed = replay(world, world.start(), commands(*names), None)
    assert replayed.ok
    shorter = without_idle_steps(world, replayed, None)
    assert replay(world, world.start(), shorter.steps, None).ok
    return [step.command.action for step in shorter.steps]


# ---- steps -----------------------------------------------------------------------------


def test_steps_that_lead_nowhere_are_left_out(graph_world):
    edges = {n: {"a": [n + 1], "b": [n]} for n in range(3)}
    world = graph_world(edges, {"rich": frozenset({3})})
    assert polished(world, "b", "a", "b", "b", "a", "b", "a") == ["a", "a", "a"]


def test_a_detour_with_two_ends_is_left_out(graph_world):
    edges = {0: {"a": [1], "t": [2]}, 2: {"t": [0]}, 1: {}}
    world = graph_world(edges, {"rich": frozenset({1})})
    assert polished(world, "t", "t", "a") == ["a"]


def test_idle_commands_become_pass(graph_world):
    edges = {n: {"b": [n + 1], "": [n + 1]} for n in range(3)}
    world = graph_world(edges, {"rich": frozenset({3})})
    assert polished(world, "b", "b", "b") == ["", "", ""]


def test_switching_to_and_fro_becomes_pass(graph_world):
    # Node 2t is "off at time t", 2t + 1 "on"; the goal is off at time 4.
    edges = {
        2 * t + on: {"t": [2 * (t + 1) + 1 - on], "": [2 * (t + 1) + on]}
        for t in range(4)
        for on in (0, 1)
    }
    world = graph_world(edges, {"rich": frozenset({8})})
    assert polished(world, "t", "t", "t", "t") == ["", "", "", ""]
    assert polished(world, "t", "", "", "t") == ["", "", "", ""]


def test_a_plan_never_becomes_dearer(graph_world):
    edges = {n: {"b": [n + 1], "": [n + 1]} for n in range(3)}
    world = graph_world(edges, {"rich": frozenset({3})}, costs={"b": 1, "": 2})
    assert polished(world, "b", "b", "b") == ["b", "b", "b"]


def test_a_long_plan_is_left_as_it_is_where_the_work_is_too_much(graph_world, monkeypatch):
    monkeypatch.setattr(referee, "_MOST_REPLAYED", 3)
    edges = {n: {"a": [n + 1], "b": [n]} for n in range(9)}
    world = graph_world(edges, {"rich": frozenset({9})})
    assert polished(world, "b", *"aaaaaaaaa") == ["b", *"aaaaaaaaa"]


def test_shortest_plans_stay_as_short(make_random_world):
    looked_at = 0
    for seed in range(150):
        world = make_random_world(seed, priced=seed % 2 == 1)
        found = search(world, world.start(), "rich", Limits())
        if not isinstance(found, Found):
            continue
        replayed = replay(world, world.start(), found.steps, "rich")
        shorter = without_idle_steps(world, replayed, "rich")
        assert len(shorter.steps) == found.ticks, seed
        assert replay(world, world.start(), shorter.steps, "rich").ok, seed
        looked_at += 1
    assert looked_at > 30


# ---- luck ------------------------------------------------------------------------------


def always_wins(world, state, steps, goal):
    """Whether every run of the steps, with their draws forced and all else free, is won."""
    if world.won(state, goal):
        return True
    if not steps or world.lost(state) or world.won(state, None):
        return False
    step, rest = steps[0], steps[1:]
    ends = world.edges.get(state[0], {}).get(step.command.action, ())
    choices = range(len(ends))
    for draw in step.draws:
        if draw.rule == f"action {step.command.action}" and len(ends) > 1:
            choices = [draw.choice]
    return bool(ends) and all(
        ends[choice] >= 0 and always_wins(world, (ends[choice], state[1] + 1), rest, goal)
        for choice in choices
    )


def test_the_luck_that_is_left_is_enough_and_none_of_it_too_much(make_random_world):
    kept = dropped = 0
    for seed in range(400):
        world = make_random_world(seed)
        found = search(world, world.start(), "rich", Limits())
        if not isinstance(found, Found):
            continue
        replayed = replay(world, world.start(), found.steps, "rich")
        steps = needed_luck(world, replayed, "rich")
        assert [one.command for one in steps] == [one.command for one in replayed.steps]
        assert always_wins(world, world.start(), steps, "rich"), seed
        for number, step in enumerate(steps):
            if not step.draws:
                dropped += bool(replayed.steps[number].draws)
                continue
            kept += 1
            without = (*steps[:number], PlanStep(step.command), *steps[number + 1 :])
            assert not always_wins(world, world.start(), without, "rich"), seed
    assert kept > 20
    assert dropped > 2


def test_a_draw_whose_other_outcome_is_rolled_back_is_needed(graph_world):
    world = graph_world({0: {"a": [1, -1]}}, {"rich": frozenset({1})})
    replayed = replay(world, world.start(), commands("a"), None)
    assert needed_luck(world, replayed, None) == replayed.steps
    assert len(replayed.steps[0].draws) == 1


def test_a_draw_without_consequence_is_not_needed(graph_world):
    edges = {0: {"a": [1, 2]}, 1: {"b": [3]}, 2: {"b": [3]}}
    world = graph_world(edges, {"rich": frozenset({3})})
    replayed = replay(world, world.start(), commands("a", "b"), None)
    assert len(replayed.steps[0].draws) == 1
    assert needed_luck(world, replayed, None) == commands("a", "b")


def test_too_many_branches_leave_the_draws_as_they_are(graph_world, monkeypatch):
    monkeypatch.setattr(referee, "_MOST_BRANCHES_SHORTENED", 1)
    edges = {0: {"a": [1, 2]}, 1: {"b": [3]}, 2: {"b": [3]}}
    world = graph_world(edges, {"rich": frozenset({3})})
    replayed = replay(world, world.start(), commands("a", "b"), None)
    assert needed_luck(world, replayed, None) == replayed.steps


def test_steps_that_only_make_each_other_possible_go_together(graph_world):
    # Open the box, put the thing in, take it out, shut the box: none of these goes alone.
    edges = {
        0: {"open": [1], "give": [9]},
        1: {"put": [2]},
        2: {"take": [3]},
        3: {"shut": [4], "give": [9]},
        4: {"give": [9]},
    }
    world = graph_world(edges, {"rich": frozenset({9})})
    assert polished(world, "open", "put", "take", "shut", "give") == ["give"]
