"""How long a change that would help is looked for beside a verdict."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import bundled

from tokenworld.planning.proof.causes import Why
from tokenworld.planning.proof.reasons import find_repairs
from tokenworld.planning.verdict import Verdict


class Planner:
    """Gives one answer to every changed world, and counts them."""

    def __init__(self, answer: str) -> None:
        self.verdict = Verdict(answer, "home", None, "", "")
        self.asked = 0

    def __call__(self, program: object, body: object, seconds: float) -> Verdict:
        self.asked += 1
        return self.verdict


@pytest.fixture(scope="module")
def why() -> Why:
    world = bundled("cottage/twin")
    return Why(world.simulator, world.state, {})


def tried(why: Why, answer: str, **more: int) -> int:
    planner = Planner(answer)
    assert find_repairs(why, why.goal("home"), None, plan=planner, seconds=600, **more) == ()
    return planner.asked


def test_one_change_is_given_up_where_planners_do_not_answer(why: Why) -> None:
    assert tried(why, "unknown") == 2
    assert tried(why, "unknown", most=3) > 2  # with `--why` all of them are tried


def test_changed_worlds_are_counted(why: Why) -> None:
    assert tried(why, "unwinnable", tries=3) == 3
    assert tried(why, "unwinnable") > 3
