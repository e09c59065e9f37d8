"""What the verbs print for a player tells no secret; what an operator asks for tells them all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Tw, tw
from tests.secrets.test_surfaces import plain
from tests.secrets.worlds import KINDS, Kind

__all__ = ["tw"]

Ask = Callable[[Tw, Path, Path], str]


def _run(tw: Tw, world: Path, script: Path) -> str:
    return (
        tw("run", world, "--script", script).out
        + tw("run", world, "--script", script, "--json").out
    )


def _legal(tw: Tw, world: Path, script: Path) -> str:
    asked = (("--at", script), ("--at", script, "--with", "hero", "--all"))
    found = ((tw("legal", world, *one), tw("legal", world, *one, "--json")) for one in asked)
    return "\n".join(f"{text.out}{one.out}" for text, one in found)


def _why(tw: Tw, world: Path, script: Path) -> str:
    lines = script.read_text(encoding="utf-8").splitlines()
    found = [tw("why", world, one, "--at", script, "--time-limit", "0").out for one in lines]
    return "\n".join((*found, tw("why", world, lines[-1], "--json").out))


def _hint(tw: Tw, world: Path, script: Path) -> str:
    text = tw("hint", world, "--script", script)
    found = tw("hint", world, "--script", script, "--json")
    return f"{text.out}{text.err}{found.out}{found.err}"


def _played(tw: Tw, world: Path, script: Path) -> str:
    """A player of its own process, which writes down all that it is sent."""
    heard = script.with_suffix(".heard")
    player = script.with_suffix(".py")
    player.write_text(_PLAYER.format(script=str(script), heard=str(heard)), encoding="utf-8")
    tw("run", world, "--player", "llm", "--command", f"python {player}")
    return heard.read_text(encoding="utf-8")


_PLAYER = """
import sys
lines = iter([one for one in open({script!r}, encoding="utf-8").read().splitlines() if one])
heard = open({heard!r}, "w", encoding="utf-8")
for line in sys.stdin:
    heard.write(line)
    heard.flush()
    if line.strip() == ">":
        answer = next(lines, None)
        if answer is None:
            break
        print(answer, flush=True)
"""

ASKED: dict[str, Ask] = {
    "run": _run, "legal": _legal, "why": _why, "hint": _hint, "llm": _played,
}  # fmt: skip


def _shown(tw: Tw, folder: Path, kind: Kind, number: int, ask: Ask) -> str:
    world, script = folder / "lock.tw", folder / "tried.txt"
    world.write_text(kind.source(number), encoding="utf-8")
    script.write_text("\n".join(kind.tried) + "\n", encoding="utf-8")
    for store in folder.glob(".tw/*"):
        store.unlink()
    return plain(ask(tw, world, script))


@pytest.mark.parametrize("verb", ASKED)
@pytest.mark.parametrize("kind", KINDS)
def test_a_verb_tells_the_same_whatever_is_secret(
    kind: str, verb: str, tw: Tw, tmp_path: Path
) -> None:
    both = [_shown(tw, tmp_path, KINDS[kind], number, ASKED[verb]) for number in (0, 1)]
    assert both[0] == both[1]
    assert len(both[0]) > 20


def test_the_log_and_the_runs_show_what_was_hidden(tw: Tw, tmp_path: Path) -> None:
    kind = KINDS["number"]
    shown = _shown(tw, tmp_path, kind, 0, _run)
    assert "✗ wrong: n == s.code\n" in shown
    assert "  s.code = hidden\n" in shown
    record = tw("runs", "show", "w-1", "--json").json["ticks"][0]
    (failed,) = record["refusal"]["failed"]
    assert failed["values"]["s.code"] == 3
    assert "s.code = 3" in tw("runs", "show", "w-1").out
    assert tw("runs", "replay", "w-1", "--verify").code == 0
    state = tw("runs", "at", "w-1", "2", "--json").json["state"]
    assert '"code": 3' in json.dumps(state)


def test_a_game_that_goes_on_from_a_stored_run_is_a_players(tw: Tw, tmp_path: Path) -> None:
    kind = KINDS["number"]
    _shown(tw, tmp_path, kind, 0, _run)
    script = tmp_path / "more.txt"
    script.write_text("dial 6 on safe\n", encoding="utf-8")
    ran = tw("runs", "branch", "w-1", "2", "--script", script)
    assert "s.code = hidden" in ran.out


@pytest.mark.parametrize("verb", ["legal", "hint"])
def test_an_operator_may_see_it(verb: str, tw: Tw, tmp_path: Path) -> None:
    kind, found = KINDS["number"], []
    for number in (0, 1):
        (tmp_path / "lock.tw").write_text(kind.source(number), encoding="utf-8")
        found.append(plain(tw(verb, tmp_path / "lock.tw", "--operator").out))
    assert found[0] != found[1]
    assert "dial(safe, 7)" in found[1]


def test_a_run_of_an_operator_prints_values(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "lock.tw").write_text(KINDS["number"].source(0), encoding="utf-8")
    (tmp_path / "tried.txt").write_text("dial 5 on safe\n", encoding="utf-8")
    ran = tw("run", tmp_path / "lock.tw", "--script", tmp_path / "tried.txt", "--operator")
    assert "s.code = 3" in ran.out
