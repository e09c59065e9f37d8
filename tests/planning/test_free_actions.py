"""Worlds with actions that take no time: the fewest commands are not the fewest ticks."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import opened

from tokenworld.planning.ladder import plan
from tokenworld.planning.planners.by_name import plan_by

RULES = """function n(): 0 to 9 = 0
function ready(): 0 to 2 = 0
action step() { n() += 1 }
action prepare() takes 0 { ready() += 1 }
action jump() LONG { require ready() == 2  n() += 3 }
world w { goal g: n() >= 3 }
"""


@pytest.mark.parametrize(("takes", "claimed"), [("", "cost"), ("takes 2", None)])
@pytest.mark.parametrize("engine", ["own", "hmax"])
def test_a_plan_of_the_fewest_commands_is_the_cheapest(
    engine: str, takes: str, claimed: str | None
) -> None:
    """Two free commands and a jump win in one tick; beside long actions nothing is claimed."""
    world = opened(RULES.replace("LONG", takes))
    found = plan_by(world.simulator, world.state, None, engine, seconds=20)
    assert (found.answer, found.cost, found.optimal) == ("winnable", 3, claimed)


def test_without_free_actions_they_are_the_fewest_ticks() -> None:
    world = opened(RULES.replace("takes 0", "").replace("LONG", ""))
    found = plan(world.simulator, world.state, None, time_limit=20)
    assert (found.ticks, found.optimal) == (3, "ticks")
