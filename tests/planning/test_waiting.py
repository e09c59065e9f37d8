"""`pass` is a step where letting time go by may matter, and nowhere else."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

from pddl_compare import export, world

from benchmarks.planning_differential import asked, installed
from benchmarks.planning_opinions import Compared
from benchmarks.planning_worlds import Drawn
from tokenworld.ground import PASS
from tokenworld.planning.lower.encode import Encoding, encode
from tokenworld.planning.search.interpreted import Found, Limits, Search

ENGINES = installed() if find_spec("unified_planning") is not None else None

TIMED = """
type Bell {{ n: 0 to 3 = 0 }}
object bell: Bell
action ring(x: Bell) {takes} {{ {require} x.n += 1 }}
world w {{ goal g: bell.n == 1 }}
"""


def text(takes: str = "", require: str = "") -> str:
    return TIMED.format(takes=takes, require=require)


@pytest.mark.parametrize(
    ("takes", "require", "offered"),
    [
        ("", "", False),
        ("takes 0", "", False),
        ("takes 1", "", False),
        ("takes 2", "", True),
        ("", "require tick() mod 3 == 2", True),
        ("takes 0", "require tick() mod 3 == 2", True),
    ],
)
def test_pass_is_offered_where_time_matters(takes: str, require: str, offered: bool) -> None:
    simulator = world(text(takes, require))
    start = simulator.start()
    assert (PASS in simulator.commands(start)) is offered
    encoding = encode(simulator.instance, simulator, start, "g")
    assert isinstance(encoding, Encoding)
    waits = [one for one in encoding.task.operators if one.command == PASS]
    assert bool(waits) is offered


def test_waiting_for_a_tick_is_a_plan() -> None:
    """As in play: the same scenario wins by waiting."""
    rules = text("", "require tick() mod 3 == 2")
    simulator = world(rules)
    found = Search(simulator, simulator.start(), "g").run(Limits())
    assert isinstance(found, Found)
    assert [step.command.is_pass for step in found.steps] == [True, True, False]


def test_a_pair_without_phases_offers_what_the_interpreter_offers() -> None:
    simulator = world(text("takes 0"))
    exported = export(simulator)
    assert exported.form == "lifted"
    told = {step.action for step in exported.names.steps.values()}
    assert told == {one.action for one in simulator.commands(simulator.start())}


@pytest.mark.planner
@pytest.mark.skipif(ENGINES is None, reason="extras")
@pytest.mark.parametrize(
    ("takes", "require"),
    [("takes 0", ""), ("", "require tick() mod 3 == 2"), ("takes 2", "")],
)
def test_all_planners_agree_about_waiting(takes: str, require: str) -> None:
    assert ENGINES is not None
    found = asked(ENGINES)(Drawn(text(takes, require), "g"))
    assert isinstance(found, Compared)
    assert found.winnable
    assert found.disagreement == ""
    assert set(found.said.values()) == {"plan"}
