"""Walks through a program that stands for one of the text games: every step is judged."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.fresh_walks import main

PROGRAM = """
import random
UUID = 0
randomSeed = 0

class Thing:
    def __init__(self, name, **properties):
        global UUID
        self.uuid, self.label, self.contains, self.properties = UUID, name, [], properties
        UUID += 1

    @property
    def name(self):
        return f"{self.label} (ID: {self.uuid})"

    def getAllContainedObjectsRecursive(self):
        return [one for inner in self.contains
                for one in (inner, *inner.getAllContainedObjectsRecursive())]

class World(Thing): pass
class Agent(Thing): pass
class Lamp(Thing): pass

class TextGame:
    def __init__(self, randomSeed):
        global UUID
        UUID, self.score, self.gameOver, self.gameWon = 0, 0, False, False
        self.rootObject = World("hall")
        oil = random.Random(randomSeed).choice([2, 4])
        self.lamp = Lamp("lamp", oil=oil, isOn=False)
        self.rootObject.contains = [Agent("agent"), self.lamp]

    def getTaskDescription(self): return "Light the lamp."
    def generatePossibleActions(self): return ["wait", f"light lamp (ID: {self.lamp.uuid})"]
    def step_action(self, action):
        if action.startswith("light"): self.lamp.properties["isOn"] = True
    def step_tick(self):
        if self.lamp.properties["isOn"]: self.lamp.properties["oil"] -= 1
    def step_calculate_score(self):
        self.gameWon = self.gameOver = self.lamp.properties["isOn"]
        self.score = int(self.gameWon)
"""
WORLD = """
edition 1
type Entity {
  static label: text = "thing"
  at: Place? nested ordered inverse contents closure inside
}
type Place : Entity
type World : Place
type Agent : Place
type Lamp : Entity { oil: int = 2  isOn: bool = false }
actor me: Agent
called x: Entity = "{x.label} (ID: {id(x)})"
action wait() as "wait" { say "You wait." }
action light(l: Lamp) as "light {l}" {
  if l.oil > 100 { say "It is full." }
  l.isOn = true
}
action blow_out(l: Lamp) as "blow out {l}" { l.isOn = false }
phase ticks sequentially by nesting
law burning(l: Lamp) during ticks when l.isOn { l.oil -= 1 }
world hall "Hall" {
  time passes always  ambiguous first  endless
  object hall: World { label = "hall" }
  object lamp: Lamp { label = "lamp"  at = hall }
  object agent: Agent { label = "agent"  at = hall }
  score = if any(l.isOn for l: Lamp) then 1 else 0
  goal lit: any(l.isOn for l: Lamp)
}
"""


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of programs and one of worlds."""
    programs, worlds = tmp_path / "programs", tmp_path / "worlds"
    (worlds / "lamp").mkdir(parents=True)
    programs.mkdir()
    (programs / "lamp.py").write_text(PROGRAM, encoding="utf-8")
    (worlds / "lamp" / "world.tw").write_text(WORLD, encoding="utf-8")
    (worlds / "lamp" / "mapping.toml").write_text('game = "lamp"\nlabel = "label"\n')
    return programs, worlds


def walked(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], *more: str,
) -> tuple[int, str]:  # fmt: skip
    programs, worlds = map(str, folders)
    given = ["--games", programs, "--worlds", worlds, "--seeds", "4", "--steps", "6", *more]
    monkeypatch.setattr(sys, "argv", ["fresh_walks", *given])
    return main(), capsys.readouterr().out


def test_rules_and_branches_are_counted_and_what_no_row_reaches_is_named(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], tmp_path: Path,
) -> None:  # fmt: skip
    rows = tmp_path / "rows"
    code, out = walked(folders, monkeypatch, capsys, "-o", str(rows))
    kept = [json.loads(line) for line in (rows / "lamp.jsonl").read_text().splitlines()]
    assert code == 0
    assert f"lamp: {len(kept)} rows, 0 wrong answers, 0 skipped" in out
    assert "lamp: 3 of 5 places reached" in out
    missed = {line.rpartition(": ")[2] for line in out.splitlines() if "not reached" in line}
    assert missed == {"action light, if", "action blow_out, executed"}
    count = {line.rpartition(": ")[2]: int(line.split()[0]) for line in out.splitlines()
             if line.endswith(("executed", "fired")) and "not reached" not in line}  # fmt: skip
    actions = [row["action_state"]["lastAction"] for row in kept]
    assert count == {
        "action wait, executed": actions.count("wait"),
        "action light, executed": len(actions) - actions.count("wait"),
        "law burning, fired": sum(row["tick_state"]["objects"][2]["properties"]["isOn"]
                                  for row in kept),
    }  # fmt: skip


def test_a_walkthrough_is_followed_with_the_numbers_of_the_program(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], tmp_path: Path,
) -> None:  # fmt: skip
    text = "> wait\nYou wait.\n> light lamp\nIt burns.\n> sing\n"
    (tmp_path / "la-mp-playthrough.txt").write_text(text, encoding="utf-8")
    given = ("--walkthroughs", str(tmp_path), "--seeds", "0", "-o", str(tmp_path))
    code, out = walked(folders, monkeypatch, capsys, *given)
    assert (code, "lamp: 3 rows, 0 wrong answers, 0 skipped" in out) == (0, True)
    rows = map(json.loads, (tmp_path / "lamp.jsonl").read_text().splitlines())
    actions = [row["action_state"]["lastAction"] for row in rows]
    assert actions == ["wait", "light lamp (ID: 1)", "sing"]


def test_a_wrong_answer_is_told_with_its_walk(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = folders[1] / "lamp" / "world.tw"
    world.write_text(WORLD.replace("l.oil -= 1", "l.oil -= 2"), encoding="utf-8")
    code, out = walked(folders, monkeypatch, capsys)
    assert code == 1
    assert "uniform, seed 1, step" in out
    assert "written by law burning" in out


def test_a_game_without_a_world_is_named(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folders[0] / "lamp.py").rename(folders[0] / "candle.py")
    assert walked(folders, monkeypatch, capsys)[0] == 1
