"""Worlds in which a fruitless intent once led on to a state that no search could see."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.diagnostics import read_source
from tokenworld.prose.intents import read_script
from tokenworld.session import Session, open_world
from tokenworld.session.players import give_once
from tokenworld.session.scenarios import run_scenario

FOUND = Path(__file__).parents[1] / "findings" / "planning"


@pytest.mark.parametrize("name", ["a05c", "c05", "c06"])
def test_the_script_wins_no_more(name: str) -> None:
    session = Session(open_world(str(FOUND / f"{name}.tw")))
    for line in read_script(read_source(FOUND / f"{name}.script")):
        give_once(session, line.intent)
    assert not session.won()


def test_a_scenario_is_not_won_by_a_refusal() -> None:
    world = open_world(str(FOUND / "a05e.tw"))
    (scenario,) = world.program.scenarios
    failed = run_scenario(world.loaded, scenario).failed
    assert [one.wanted for one in failed] == ["won", "when hop(d)"]
