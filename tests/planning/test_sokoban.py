"""Imported sokoban: `tw audit` counts what brute force on the map counts, large ones as well."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sokoban import DOMAIN, Counts, brute_force, drawn, map_of, problem

from tokenworld.session import OpenWorld
from tokenworld.session.pddl import open_pddl
from tokenworld.verbs.audit.analysis import audit

IPC = Path(__file__).parents[2].parent / "shared" / "data" / "ipc" / "sokoban-opt08-strips"
needs_collection = pytest.mark.skipif(
    not IPC.is_dir(), reason="needs the planning collection beside the project"
)
MAPS = {
    "corridor": ["######", "#@$. #", "######"],
    "room": ["######", "#@   #", "# $  #", "#  . #", "######"],
    "lost": ["#####", "#$@.#", "#####"],
    "two": ["#######", "#@ #  #", "# $ $ #", "#. # .#", "#######"],
    "large": ["########", "#@  #  #", "# $  $ #", "#      #", "#. #  .#", "########"],
}


def opened(folder: Path, rows: list[str]) -> OpenWorld:
    domain, task = folder / "domain.pddl", folder / "problem.pddl"
    domain.write_text(DOMAIN, encoding="utf-8")
    task.write_text(problem(rows), encoding="utf-8")
    return open_pddl(domain, task)


def counted(world: OpenWorld, *, past_goal: bool = False) -> Counts:
    """What an audit counts."""
    found = audit(world, None, states=2_000_000, seconds=900, past_goal=past_goal)
    assert found.graph.complete
    steps = -1 if found.parts.steps is None else found.parts.steps
    assert len(found.solution) == max(steps, 0)
    won, dead = found.parts.count("won"), found.parts.count("dead")
    return Counts(len(found.graph), won, dead, steps)


@pytest.mark.parametrize("past_goal", [False, True])
@pytest.mark.parametrize("name", MAPS)
def test_counts_of_small_maps(name: str, past_goal: bool, tmp_path: Path) -> None:
    expected = brute_force(drawn(MAPS[name]), past_goal=past_goal)
    assert counted(opened(tmp_path, MAPS[name]), past_goal=past_goal) == expected
    assert (expected.states > 5_000) == (name == "large")  # where packed states take over


def test_examples_of_a_large_map_are_played(tmp_path: Path) -> None:
    found = audit(opened(tmp_path, MAPS["large"]), None, states=50_000, seconds=60)
    assert found.graph.limit is None
    assert len(found.graph) > 5_000
    kind, example = found.dead_ends[0]
    assert example.step.command.startswith(kind.action)
    assert example.changes
    assert len(example.path) == found.graph.depth[kind.node]
    assert found.never_refuses == ()
    assert found.idle == ()
    assert found.cruelty == "cruel"
    assert found.doors


@needs_collection
@pytest.mark.parametrize(("file", "states", "dead"), [("p02", 3_582, 3_260), ("p03", 1_271, 1_106)])
def test_counts_of_competition_maps(file: str, states: int, dead: int) -> None:
    pair = IPC / "domain.pddl", IPC / f"{file}.pddl"
    expected = brute_force(map_of(pair[1].read_text(encoding="utf-8")))
    assert (expected.states, expected.dead) == (states, dead)
    assert counted(open_pddl(*pair)) == expected


@needs_collection
@pytest.mark.slow
@pytest.mark.parametrize(("past_goal", "states"), [(False, 859_611), (True, 859_695)])
def test_counts_of_a_map_with_more_than_850_000_states(past_goal: bool, states: int) -> None:
    """Published counts go past the goal: 84 states can only be reached through a won one."""
    pair = IPC / "domain.pddl", IPC / "p10.pddl"
    found = counted(open_pddl(*pair), past_goal=past_goal)
    assert (found.states, found.dead) == (states, 854_335)
    board = map_of(pair[1].read_text(encoding="utf-8"))
    assert found == brute_force(board, past_goal=past_goal)
