"""`tw run` in worlds with rounds: who passes for a player that comes to nothing, and old runs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, ticks_of
from tokenworld.store.records import LANGUAGE, TickRecord

WORLD = """
type P { n: 0 to 9 = 0 }
actor me: P
action earn() as "earn" { me.n += 1 }
action rob() as "rob" { require false else no "No." me.n += 1 }
LINES
world w { turns a, b  object a, b: P  SETTINGS }
"""

STUCK = "function load(): 0 to 99 = 20  law stuck(p: P) when tick() == 1 { p.n += load() }"


@pytest.fixture
def rounds(tmp_path: Path) -> Callable[..., str]:
    """A file with a world of two actors."""

    def make(lines: str = "", settings: str = "") -> str:
        path = tmp_path / "w.tw"
        text = WORLD.replace("LINES", lines).replace("SETTINGS", settings)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return make


def scripted(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "s.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def records() -> list[Mapping[str, Any]]:
    with RunStore.open(writable=False) as store:
        return [one.outcome for one in ticks_of(store, find_run(store))]


def brief() -> list[tuple[Any, ...]]:
    return [(one["actor"], one["status"], one["by"]) for one in records()]


def test_the_runner_passes_for_a_script(tw, rounds, tmp_path: Path) -> None:
    script = scripted(tmp_path, "rob", "earn", "dance")
    assert tw("run", rounds(), "--script", script).code == 0
    assert brief() == [
        ("a", "refused", "player"), ("a", "executed", "runner"), ("b", "executed", "player"),
        ("a", "no_match", "player"), ("a", "executed", "runner"),
    ]  # fmt: skip
    assert tw("runs", "verify").code == tw("runs", "replay", "--verify").code == 0


def test_patience_asks_again(tw, rounds, tmp_path: Path) -> None:
    script = scripted(tmp_path, "rob", "earn", "rob", "rob", "rob")
    assert tw("run", rounds(), "--script", script, "--patience", "1").code == 0
    assert brief() == [
        ("a", "refused", "player"), ("a", "executed", "player"), ("b", "refused", "player"),
        ("b", "refused", "player"), ("b", "executed", "runner"), ("a", "refused", "player"),
    ]  # fmt: skip
    assert tw("run", rounds(), "--script", script, "--patience", "-1").code == 2


def test_a_model_is_asked_three_times(tw, rounds, tmp_path: Path) -> None:
    path = tmp_path / "player.py"
    path.write_text("while True:\n    line = input()\n    if line == '>':\n"
                    "        print('rob', flush=True)\n")  # fmt: skip
    command = shlex.join([sys.executable, str(path)])
    tw("run", rounds(), "--player", "llm", "--command", command, "--ticks", "8",
       "--halt-refusals", "0")  # fmt: skip
    assert [one["by"] for one in records()[:8]] == [*["player"] * 3, "runner"] * 2


def test_what_the_runner_does_ends_no_row_of_refusals(tw, rounds, tmp_path: Path) -> None:
    script = scripted(tmp_path, *["rob"] * 9)
    ran = tw("run", rounds(), "--script", script, "--halt-refusals", "4", "--json")
    assert (ran.code, ran.json["statuses"]["refused"]) == (1, 4)


def test_a_round_that_cannot_end_halts_the_run(tw, rounds, tmp_path: Path) -> None:
    world = rounds(STUCK)
    script = scripted(tmp_path, *["earn"] * 9)
    ran = tw("run", world, "--script", script, "--json")
    assert (ran.code, ran.json["reason"]) == (1, "halted")
    assert "Even a pass of `b` has no effect" in ran.json["halted"]
    assert brief()[-3:] == [
        ("b", "rolled_back", "player"), ("b", "rolled_back", "runner"), ("b", "halted", "player"),
    ]  # fmt: skip
    assert tw("runs", "verify").code == 0


def test_a_scenario_says_that_a_round_cannot_end(tw, rounds, tmp_path: Path) -> None:
    world = rounds(STUCK + "\n"
                   'scenario "s" in w { when earn() when earn() then a.n == 2 }')  # fmt: skip
    ran = tw("run", world, "--scenario", "s", "--json")
    assert (ran.code, ran.json["reason"]) == (1, "halted")


def test_time_that_always_passes_is_recorded_and_replays(tw, tmp_path: Path) -> None:
    path = tmp_path / "w.tw"
    path.write_text("""
        type T { n: 0 to 9 = 0  t: 0 to 9 clamped = 0 }
        actor me: T
        action dig() takes 3 { me.n += 1 }
        law clock(x: T) { x.t += 1 }
        world w { time passes always  object h: T }
        """)
    script = scripted(tmp_path, "dance", "dig()", "dance", "dance", "dance")
    assert tw("run", path, "--script", script).code == 0
    found = [(one["status"], one["by"], one["time_passed"]) for one in records()]
    assert found == [
        ("no_match", "player", True), ("waiting", "player", True), ("no_match", "player", False),
        ("waiting", "time", True), ("no_match", "player", False), ("executed", "time", True),
        ("no_match", "player", True),
    ]  # fmt: skip
    assert tw("runs", "verify").code == tw("runs", "replay", "--verify").code == 0


def test_a_run_of_another_language_is_not_called_forged(tw, rounds, tmp_path: Path) -> None:
    assert LANGUAGE > 1
    assert tw("run", rounds(), "--script", scripted(tmp_path, "earn", "earn")).code == 0
    with RunStore.open(tmp_path / "old.db") as store, RunStore.open(writable=False) as new:
        run = find_run(new)
        handle = store.begin(replace(run.header, language=1))
        for one in ticks_of(new, run):
            handle.append(TickRecord(one.intent, one.outcome, one.source, one.text))
        handle.finish("done")
    for verb in (("verify",), ("replay",)):
        ran = tw("runs", *verb, "--store", tmp_path / "old.db")
        assert ran.code != 0
        assert "The language has changed since run `w-1` was recorded" in ran.out + ran.err
        assert "is not what its rules make of it" not in ran.out + ran.err
