"""Fast Downward reads the exported pairs and its plans win in the interpreter."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pddl_compare import world
from pddl_worlds import BLOCKS, CELLAR, WORLDS

from tokenworld.planning.pddl.export import export_world

pytestmark = [
    pytest.mark.planner,
    pytest.mark.skipif(find_spec("up_fast_downward") is None, reason="no Fast Downward"),
]
CLASSICAL = ("ladders", "chance", "counting", "containment", "endings", "graph", "optional")
UNWINNABLE = """
type Door { open: bool = false  stuck: bool = true }
action push(d: Door) { require not d.stuck  d.open = true }
world w "W" { object a, b: Door { stuck = false }  object c: Door  goal g: all(d.open for d: Door) }
"""


def fast_downward(folder: Path, domain: str, problem: str) -> tuple[int, str]:
    """Exit code and plan of one greedy search with a time limit."""
    spec = find_spec("up_fast_downward")
    assert spec is not None
    assert spec.origin is not None
    driver = Path(spec.origin).parent / "downward" / "fast-downward.py"
    (folder / "domain.pddl").write_text(domain)
    (folder / "problem.pddl").write_text(problem)
    command = [
        *(sys.executable, str(driver), "--overall-time-limit", "60", "--plan-file", "plan"),
        *("domain.pddl", "problem.pddl", "--search", "eager_greedy([ff()])"),
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=90, check=False)
    plan = folder / "plan"
    return done.returncode, plan.read_text() if plan.exists() else ""


@pytest.mark.parametrize("name", ["blocks", "cellar", *CLASSICAL])
def test_the_plan_of_the_exported_pair_wins(name: str, tmp_path: Path) -> None:
    text = {"blocks": BLOCKS, "cellar": CELLAR, **WORLDS}[name]
    simulator = world(text)
    exported = export_world(simulator, simulator.start(), None)
    assert exported.form == "lifted"
    code, plan = fast_downward(tmp_path, exported.domain, exported.problem)
    assert code == 0, plan
    states = [simulator.start()]
    for step in exported.steps(plan):
        states = [
            one.state for state in states for one in simulator.successors(state, step.command)
        ]
    assert any(simulator.won(state, None) for state in states)


def test_an_unwinnable_pair_is_proved_so(tmp_path: Path) -> None:
    simulator = world(UNWINNABLE)
    exported = export_world(simulator, simulator.start(), None)
    code, plan = fast_downward(tmp_path, exported.domain, exported.problem)
    assert code in (11, 12)
    assert plan == ""
