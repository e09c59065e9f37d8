"""Every command keeps its limits in every phase, and tells what is known."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokenworld import limits
from tokenworld.planning.verdict import Verdict

Tw = Any

LAMPS = """
type Lamp { lit: bool  broken: bool = true }
action light(l: Lamp) {
  require not l.lit and not l.broken else dark "It is dark."
  l.lit = true
}
action mend(l: Lamp) {
  require l.broken else whole "It is whole."
  l.broken = false
}
action smash(l: Lamp) {
  require not l.lit else hot "It is hot."
  l.broken = true
}
world room {
  object l0, l1: Lamp
  goal done: all(l.lit for l: Lamp)
}
world dark {
  object l2: Lamp
  goal done: l2.lit and l2.broken
}
type Bell { rung: bool }
action ring(b: Bell) { chance 1/2 { b.rung = true } }
world tower {
  object bell: Bell
  goal done: bell.rung
}
scenario "light" in room {
  when mend(l0) then status executed
}
"""


@pytest.fixture
def lamps(tmp_path: Path) -> Path:
    path = tmp_path / "lamps.tw"
    path.write_text(LAMPS, encoding="utf-8")
    return path


def stuck(monkeypatch: pytest.MonkeyPatch, where: str) -> list[str]:
    """Make a function never end, and the time end as soon as it is called."""
    called: list[str] = []

    def never(*args: object, **more: object) -> None:
        called.append(where)
        budget = limits._budget
        assert budget is not None, "there is no limit"
        while budget is not None:
            budget.end, budget = time.monotonic(), budget.outer
        while True:
            pass

    monkeypatch.setattr(f"tokenworld.{where}", never)
    return called


PHASES = [
    ("verbs.audit.analysis.explored", ("audit", "{}:room")),
    ("verbs.audit.analysis.partition", ("audit", "{}:room")),
    ("verbs.audit.analysis.dead_ends", ("audit", "{}:room")),
    ("verbs.audit.analysis.components", ("audit", "{}:room")),
    ("verbs.audit.analysis.standing_requires", ("audit", "{}:room")),
    ("verbs.audit.analysis.idle_rules", ("audit", "{}:room")),
    ("planning.space.drawing.picture", ("audit", "{}:room", "--graph", "room.dot")),
    ("planning.ladder._Ladder.search_first", ("plan", "{}:room")),
    ("planning.ladder.replay", ("plan", "{}:room")),
    ("planning.search.own.OwnSearch.run", ("plan", "{}:room")),
    ("session.solving.wins_under_seed", ("plan", "{}:tower")),
    ("session.solving.out_of_reach", ("plan", "{}:dark")),
    ("planning.proof.reasons.explain", ("plan", "{}:dark", "--why")),
    ("verbs.plan.certificates.certify", ("plan", "{}:room", "--certificate", "room.json")),
    ("verbs.plan.certificates.write_file", ("plan", "{}:room", "--certificate", "room.json")),
    ("planning.space.luck.value_of", ("plan", "{}:room", "--luck", "probability")),
    ("planning.quality._PlanSearch.own_first", ("plan", "{}:room", "--quality", "satisficing")),
    ("planning.planners.by_name.OwnRung.run", ("plan", "{}:room", "--optimal")),
    ("planning.hints.landmark_texts", ("hint", "{}:room")),
    ("planning.hints.plan_optimal", ("hint", "{}:room")),
    ("session.session.plan", ("hint", "{}:dark")),
    ("verbs.sweep.cells.solve", ("sweep", "{}:room", "--jobs", "1")),
    ("verbs.audit.analysis.audit", ("sweep", "{}:room", "--what", "audit", "--jobs", "1")),
    ("verbs.mutate.run_scenario", ("mutate", "{}")),
    ("verbs.mutate.mutants", ("mutate", "{}")),
    ("verbs.test.run_scenario", ("test", "{}", "--coverage")),
    ("verbs.test.load_program", ("test", "{}")),
    ("planning.pddl.export.export_world", ("export", "{}:room", "--pddl", "-o", "written")),
    ("planning.pddl.tree.domain_text", ("export", "{}:room", "--pddl", "-o", "written")),
]
"""A function of each phase, and a command that comes to it."""


@pytest.mark.parametrize(("where", "command"), PHASES, ids=[where for where, _ in PHASES])
def test_a_phase_without_end_is_ended(
    tw: Tw,
    lamps: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    command: tuple[str, ...],
) -> None:
    called = stuck(monkeypatch, where)
    began = time.monotonic()
    found = tw(*(one.format(lamps) for one in command), "--time-limit", "300", "--json")
    assert called
    assert time.monotonic() - began < 60
    assert found.code in (0, 1, 3)
    assert "TW0813" in found.err + found.out
    for written in ("room.dot", "room.json", "written"):
        assert not (tmp_path / written).exists()


def test_what_an_audit_knows_is_told(tw: Tw, lamps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck(monkeypatch, "verbs.audit.analysis.components")
    found = tw("audit", f"{lamps}:room", "--time-limit", "300", "--json")
    assert found.code == 0  # it is winnable, and all was explored
    assert found.json["complete"]
    assert found.json["solution"]["commands"] == 4
    assert found.json["not_looked_at"] == [
        "one-way doors",
        "requires",
        "what never happens",
        "what never ends",
    ]
    assert [note["code"] for note in found.json["notes"]] == ["TW0813"]


def test_states_that_nobody_sorted_are_undecided(
    tw: Tw, lamps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck(monkeypatch, "verbs.audit.analysis.partition")
    found = tw("audit", f"{lamps}:room", "--time-limit", "300").out
    assert "winnable           1" in found
    assert "cruelty" not in found
    assert "not looked at: what can become of each state, dead ends" in found


def test_a_verdict_is_told_before_its_reason(
    tw: Tw, lamps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck(monkeypatch, "planning.proof.reasons.explain")
    found = tw("plan", f"{lamps}:dark", "--time-limit", "300", "--json")
    assert (found.code, found.json["answer"], found.json["why"]) == (1, "unwinnable", [])


def test_a_sweep_keeps_the_cells_that_it_has(
    tw: Tw, lamps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell that the sweep's own limit cut short is not stored."""
    from tokenworld.verbs.sweep import cells as sweeping_cells

    solve: Callable[..., Any] = sweeping_cells.solve
    asked = ("sweep", f"{lamps}:room", "--seeds", "3", "--jobs", "1", "--json")

    with monkeypatch.context() as patched:

        def second(*args: Any, **more: Any) -> Any:
            stuck(patched, "verbs.sweep.cells.solve")
            return solve(*args, **more)

        patched.setattr(sweeping_cells, "solve", second)
        found = tw(*asked, "--time-limit", "300")
    assert found.code == 3
    statuses = [cell["status"] for cell in found.json["cells"]]
    assert statuses.count("done") == 1
    assert statuses[0] == "done"
    found = tw(*asked)
    assert (found.code, found.json["stored"], found.json["computed"]) == (0, 1, 2)


PLANNED = """
scenario "mend first" in room {
  when mend(l0) then status executed
}
scenario "plan it" in room {
  then winnable
}
"""


def test_the_scenarios_that_were_run_are_told(
    tw: Tw, lamps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lamps.write_text(LAMPS + PLANNED, encoding="utf-8")
    stuck(monkeypatch, "session.session.solve")
    found = tw("test", str(lamps), "--time-limit", "300", "--json")
    assert found.code == 3
    assert [one["title"] for one in found.json["scenarios"]] == ["light", "mend first"]
    assert (found.json["passed"], found.json["failed"]) == (2, 0)
    assert not found.json["complete"]
    assert not found.json["ok"]
    assert [one["code"] for one in found.json["diagnostics"]] == ["TW0813"]


def test_a_plan_that_was_cut_short_fails_no_scenario(
    tw: Tw, lamps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verb's time ends while a plan is looked for: nothing is known of that scenario."""

    def late(*args: object, **more: object) -> Verdict:
        budget = limits._budget
        assert budget is not None
        budget.end = time.monotonic()
        return Verdict("unknown", None, None, "", "")

    lamps.write_text(LAMPS + PLANNED, encoding="utf-8")
    monkeypatch.setattr("tokenworld.session.session.Session.plan", late)
    found = tw("test", str(lamps), "--time-limit", "300", "--json")
    assert found.code == 3
    assert (found.json["passed"], found.json["failed"]) == (2, 0)


def test_memory_is_kept_and_told(tw: Tw, lamps: Path) -> None:
    for verb in ("plan", "audit"):
        found = tw(verb, f"{lamps}:room", "--memory-limit", "1")
        assert found.code == 3
        assert re.search(r"error\[TW0813\]: The memory of the command was used up", found.err)
        assert "--memory-limit" in found.err


# ---- export -----------------------------------------------------------------------------------


def test_grounded_text_has_a_bound(tw: Tw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenworld.planning.pddl.export._MOST_FACTS", 20)
    path = tmp_path / "count.tw"
    path.write_text(COUNT, encoding="utf-8")
    found = tw("export", path, "--pddl", "-o", tmp_path / "written", "--json")
    (note,) = found.json["diagnostics"]
    assert (found.code, note["code"]) == (3, "TW0813")
    assert "`add`" in note["message"]
    assert note["span"]["line"] == 3
    assert not (tmp_path / "written").exists()


def test_effects_of_single_values_have_a_bound(
    tw: Tw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokenworld.planning.task._MOST_EFFECTS", 10)
    path = tmp_path / "count.tw"
    path.write_text(COUNT, encoding="utf-8")
    found = tw("export", path, "--pddl", "-o", tmp_path / "written")
    assert found.code != 0
    assert "`add`" in found.err
    assert "more than 10 effects" in found.err
    assert not (tmp_path / "written").exists()


COUNT = """
type Box { n: 0 to 20 = 0 }
action add(b: Box, k: 1 to 9) {
  b.n = (b.n * k + 1) mod 21
}
world w { object b: Box  goal g: b.n == 20 }
"""


def test_the_answer_is_one_object(tw: Tw, lamps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nothing is known."""
    stuck(monkeypatch, "verbs.plan.target.open_world")
    found = tw("plan", lamps, "--time-limit", "300", "--json")
    assert found.code == 3
    assert json.loads(found.out)["diagnostics"][0]["code"] == "TW0813"
