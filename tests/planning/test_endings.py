"""What counts as reaching a goal: the line that latches first, for every way of looking."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.check import check_source
from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, EngineSimulator
from tokenworld.ground import instantiate, param_values
from tokenworld.planning.planners.answers import EngineRun
from tokenworld.planning.planners.by_encoding import fast_downward
from tokenworld.planning.planners.downward import find_downward
from tokenworld.planning.search.interpreted import Exhausted, Found, Limits, search
from tokenworld.prose.wording import EnglishProse

RULES = """
type Lamp {{ on: bool }}
object lamp: Lamp
action light(l: Lamp) {{ require not l.on else lit "Lit." l.on = true }}
world w {{ {lines} }}
"""
GOAL, LOSE, STOP = "goal g: lamp.on", "lose d: lamp.on", "stop s: lamp.on"
CASES = [
    (f"{GOAL}", True),
    (f"{GOAL} {LOSE}", True),
    (f"{LOSE} {GOAL}", False),
    (f"{STOP} {GOAL}", False),
    (f"{GOAL} {STOP}", True),
    (f"endless {GOAL} {LOSE}", False),
    (f"endless {STOP} {GOAL}", True),
    (f"outcomes live {LOSE} {GOAL}", False),
    (f"outcomes live {GOAL} {LOSE}", True),
]


def simulator_of(lines: str) -> EngineSimulator:
    checked = check_source(Source("w.tw", None, RULES.format(lines=lines)))
    assert checked.program is not None, checked.diagnostics
    program = checked.program
    instance = instantiate(program, program.worlds["w"], param_values(program, None, {}))
    return EngineSimulator(Engine(instance, EnglishProse()))


@pytest.mark.parametrize(("lines", "winnable"), CASES)
def test_search_follows_the_first_line_that_holds(lines: str, winnable: bool) -> None:
    simulator = simulator_of(lines)
    found = search(simulator, simulator.start(), None, Limits())
    assert isinstance(found, Found if winnable else Exhausted)


@pytest.mark.planner
@pytest.mark.parametrize(("lines", "winnable"), CASES)
def test_the_encoding_agrees(lines: str, winnable: bool) -> None:
    program = find_downward()
    if not isinstance(program, Path):
        pytest.skip("Fast Downward is not installed (extra `classical`)")
    simulator = simulator_of(lines)
    answers: list[str] = []

    def accept(run: EngineRun) -> bool:
        answers.append(run.result)
        return run.result in ("plan", "no plan")

    fast_downward(
        simulator,
        simulator.start(),
        None,
        program=program,
        seconds=20.0,
        memory=1 << 30,
        cancel=lambda: False,
        accept=accept,
    )
    assert answers[-1] == ("plan" if winnable else "no plan")
