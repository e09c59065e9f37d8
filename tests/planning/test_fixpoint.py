"""Relaxed reachability and landmarks on a finished task."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import bundled, encoded, explore, opened

from tokenworld.planning.hints import landmark_texts
from tokenworld.planning.proof.relaxed import fixpoint, landmarks


def test_it_agrees_with_the_compiler_on_what_is_out_of_reach():
    for name, reached in (("cellar/world", True), ("cellar/twin", False), ("kitchen/world", True)):
        encoding = encoded(bundled(name))
        assert fixpoint(encoding.task).reached is reached is not encoding.unreachable


def test_equal_tasks_have_equal_digests():
    one, two = (fixpoint(encoded(bundled("cellar/world")).task) for _ in range(2))
    other = fixpoint(encoded(bundled("cellar/world").after("take(brass_key)")).task)
    assert one.digest == two.digest != other.digest


@pytest.mark.parametrize("name", ["cellar/world", "kitchen/world", "blocks/world"])
def test_every_plan_passes_every_landmark(name):
    task = encoded(bundled(name)).task
    way, state = explore(task), task.initial
    assert way is not None
    passed = set(enumerate(state))
    for operator in way:
        state = task.apply(state, operator)
        passed |= set(enumerate(state))
    found = landmarks(task)
    assert found
    assert set(found) <= passed


def test_landmarks_read_as_conditions_in_order():
    world = bundled("cellar/world")
    texts = landmark_texts(world.simulator, world.state, None)
    assert texts == (
        "hero.at == vault",
        "brass_key.holder == hero",
        "oak_chest.state == closed",
        "ruby.holder == hero",
    )


def test_a_choice_is_no_landmark():
    text = """
    type Door { open: bool = false }
    action push(d: Door) { d.open = true }
    world w { object a, b: Door  object c: Door  goal g: (a.open or b.open) and c.open }
    """
    world = opened(text)
    assert landmark_texts(world.simulator, world.state, None) == ("c.open == true",)
