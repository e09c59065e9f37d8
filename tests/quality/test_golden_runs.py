"""Willowbrook played for 200 ticks by a script, by chance and by an adversary: their scorecards,
through the program itself, are the files in `golden`.

After a wanted change of the world: ``python tests/quality/test_golden_runs.py`` writes them anew.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from tokenworld.cli import _main
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, ticks_of
from tokenworld.verbs.quality.dimensions import quality_settings
from tokenworld.verbs.quality.scorecard import score_run

HERE = Path(__file__).parent
WILLOWBROOK = HERE.parents[1] / "domains" / "willowbrook"
WORLD = str(WILLOWBROOK / "world.tw")
PLAYERS = {
    "day": ("--script", str(WILLOWBROOK / "day.script"), "--seed", "3"),
    "random": ("--player", "random", "--ticks", "200", "--seed", "7"),
    "adversarial": ("--player", "adversarial", "--ticks", "200", "--seed", "7"),
}
WINDOWS = (50, 200)


def printed(*arguments: str) -> str:
    """What the program prints, where all goes well."""
    out = StringIO()
    with redirect_stdout(out):
        code = _main(list(arguments))
    assert code == 0, out.getvalue()
    return out.getvalue()


def scorecards(player: str) -> str:
    """A run of 200 ticks, recorded in the current folder, and its scorecard in every window."""
    printed("run", WORLD, *PLAYERS[player])
    cards = [
        printed("quality", "willowbrook-1", "--window", str(one), "--time-limit", "0")
        for one in WINDOWS
    ]
    return "\n".join(cards)


@pytest.mark.parametrize("player", PLAYERS)
def test_scorecards(player: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert scorecards(player) == (HERE / "golden" / f"{player}.txt").read_text(encoding="utf-8")


def test_a_sensible_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All four goals are reached, nothing is lost, every verb is used, and the gate lets it by."""
    monkeypatch.chdir(tmp_path)
    told = printed("run", WORLD, *PLAYERS["day"])
    assert "202 records" in told  # two refusals, for which the runner passes
    assert "endings breakfast, letter, home, garden," in told
    with RunStore.open(writable=False) as store:
        run = find_run(store)
        card = score_run(store, run, 200)
        statuses = [tick.outcome["status"] for tick in ticks_of(store, run)]
    assert (card.verdict, card.window.n) == ("HEALTHY", 200)
    assert {one.status for one in card.dimensions} == {"OK"}
    assert set(statuses) == {"executed", "refused", "waiting"}
    printed("quality", "--gate", "strict", "--reference")
    printed("runs", "replay", "--verify")
    printed("runs", "verify")


def test_the_words_of_willowbrook() -> None:
    """`quality.toml` stands beside the world: its hens yield, and nobody there is a player."""
    markers = quality_settings(WILLOWBROOK / "quality.toml", "willowbrook").markers
    assert not markers.found("ask Old Bran about the yield of the hens")
    assert markers.found("ask the Player for hit points") == ("player", "hit points")
    assert markers.found("Yield to the operator.") == ("yield", "operator")


def test_who_leaves_the_world_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The words of the file count in a run of that world."""
    monkeypatch.chdir(tmp_path)
    lines = [*["hum", "wait"] * 10, "give the npc an egg", "tell a story"]
    (tmp_path / "odd.txt").write_text("\n".join(lines), encoding="utf-8")
    assert _main(["run", WORLD, "--script", "odd.txt"]) == 0
    with RunStore.open(writable=False) as store:
        card = score_run(store, find_run(store))
    (character,) = (one for one in card.dimensions if one.id == "character")
    assert (character.status, character.evidence) == ("WARN", (21,))
    capsys.readouterr()


def _renew(write: Callable[[str, str], object]) -> None:
    for player in PLAYERS:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            write(player, scorecards(player))
            os.chdir(HERE)


if __name__ == "__main__":
    _renew(lambda name, text: (HERE / "golden" / f"{name}.txt").write_text(text, encoding="utf-8"))
    sys.stderr.write("written\n")
