"""``tw simbench score`` of a folder of sets: means over games."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.simbench.conftest import COPIES, Tw
from tokenworld.planning.space.policy import wilson
from tokenworld.verbs.simbench.games import mean_of
from tokenworld.verbs.simbench.scoring import Share

LAMP = """# A lamp.
type Lamp { lit: bool = false  oil: 0 to 9 = 9 }
actor me: Lamp
action light() as "light it" { require not me.lit else lit "It is lit."  me.lit = true }
action quench() as "quench it" { require me.lit else dark "It is dark."  me.lit = false }
law burns() when me.lit and me.oil > 0 { me.oil -= 1 }
world lamp "A lamp" { object lamp: Lamp  score = me.oil  lose dry: me.oil == 0 "It is dry." }
"""
PARTS = ("act", "env", "score", "step", "chain")


@pytest.fixture
def sets(tw: Tw, small: Path, tmp_path: Path, script: Callable[[str], str]) -> Path:
    """A folder of two sets with the answers of one predictor."""
    folder = tmp_path / "sets"
    shutil.copytree(small, folder / "cellar")
    (tmp_path / "lamp.tw").write_text(LAMP, encoding="utf-8")
    given = ("--rows", "4", "-o", folder / "lamp")
    assert tw("simbench", "make", tmp_path / "lamp.tw", *given)[0] == 0
    for one in ("cellar", "lamp"):
        given = ("--predictor", script(COPIES), "-o", folder / one / "copies.jsonl")
        assert tw("simbench", "run", folder / one, *given)[0] == 0
    return folder


def test_a_folder_of_sets_is_scored_as_the_mean_of_its_games(tw: Tw, sets: Path) -> None:
    code, out, err = tw("simbench", "score", sets, "copies.jsonl", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["games"] == ["cellar", "lamp"]
    assert found["paper"] is None
    cards = [one["predictors"][0] for one in found["sets"]]
    for path, card in zip(("cellar", "lamp"), cards, strict=True):
        alone = tw("simbench", "score", sets / path, sets / path / "copies.jsonl", "--json")
        assert json.loads(alone[1])["predictors"][0] == card
    mine, copy, nearest, reduced = found["means"]
    names = [one["who"] for one in (mine, copy, nearest, reduced)]
    assert names == [
        "copies",
        "copy of the state",
        "nearest known row",
        "rules without one of them",
    ]
    for part in PARTS:
        for kind in ("dynamic", "static"):
            told = [card["parts"][part][kind] for card in cards]
            shares = [one["strict"]["right"] / one["asked"] for one in told if one["asked"]]
            mean = mine["parts"][part][kind]
            assert (mean is None) is (not shares)
            if shares:
                assert mean["games"] == len(shares)
                assert mean["strict"] == pytest.approx(sum(shares) / len(shares))
                assert mean["interval"][0] <= mean["strict"] <= mean["interval"][1]


def test_the_tables_of_a_folder_of_sets(
    tw: Tw, sets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = tw("simbench", "score", sets, "copies.jsonl", "-o", tmp_path / "page")
    assert (code, "score.html" in out) == (0, True)
    text = (tmp_path / "page/score.md").read_text("utf-8")
    titles = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert titles == ["Mean over the games", "Mean over the games: k steps", "By set"]
    assert "GPT-4" not in text
    monkeypatch.setattr("tokenworld.verbs.simbench.games.PAPER_GAMES", {"cellar", "lamp"})
    code, out, _ = tw("simbench", "score", sets, "copies.jsonl")
    assert (code, out.count("GPT-4, mean of 31 games")) == (0, 3)


def test_a_transcript_that_some_set_lacks(tw: Tw, sets: Path) -> None:
    (sets / "cellar/copies.jsonl").unlink()
    code, out, err = tw("simbench", "score", sets, "copies.jsonl", "--json")
    assert (code, "cellar: there is no `copies.jsonl`" in err) == (0, True)
    assert json.loads(out)["means"][0]["parts"]["act"]["dynamic"]["games"] == 1
    code, _, err = tw("simbench", "score", sets, "none.jsonl")
    assert (code, err.count("error[TW0006]")) == (2, 1)
    assert "No set has a transcript `none.jsonl`." in err
    assert tw("simbench", "score", sets)[0] == 2


def test_the_mean_of_games_and_its_interval() -> None:
    """Each game counts the same. For one game the interval is that of its share."""
    few, many = Share(2, 1, 1), Share(100, 90, 80)
    mean = mean_of([[few], [many], [Share()]])
    assert mean is not None
    assert (mean.games, mean.strict, mean.lenient) == (2, (0.5 + 0.8) / 2, (0.5 + 0.9) / 2)
    one = mean_of([[Share(60, 50, 40), Share(40, 40, 40)]])
    assert one is not None
    assert (one.low, one.high) == pytest.approx(wilson(80, 100))
    low, high = wilson(1, 2)[0], wilson(80, 100)[1]
    assert low < mean.low < mean.strict < mean.high < high + 0.5
    assert mean_of([[Share()]]) is None
