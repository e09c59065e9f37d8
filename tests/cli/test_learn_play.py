"""``tw learn explore``, ``tw learn rank`` and ``tw duel``."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tokenworld.session import open_world
from tokenworld.session.replaying import compare_row, row_in
from tokenworld.verbs.learn import duel
from tokenworld.verbs.learn.duel import compared
from tokenworld.verbs.learn.ranking import Ranked
from tokenworld.verbs.records.transitions import Transition, transitions

Tw = Any
HENS = """
type Place
type Hen { at: Place  eggs: 0 to 9 clamped }
type Hero
actor me: Hero
object yard, nest, barn: Place
action call(h: Hen) as "call {h}" { require h.at != yard  h.at = yard }
action chase(h: Hen) as "chase {h}" { require h.at == yard  h.at = barn }
phase roaming
law roam(h: Hen) during roaming when h.at == yard { chance 20% { h.at = nest } }
law lay(h: Hen) during roaming when h.at == nest { chance 50% { h.eggs += 1 } }
world w {
  endless
  object hero: Hero
  object ida, olga: Hen { at = barn }
  reward ida.eggs when ida.at == nest
}
"""
WRONG = HENS.replace("h.at = nest", "h.at = barn")


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    (tmp_path / "hens.tw").write_text(HENS, encoding="utf-8")
    (tmp_path / "wrong.tw").write_text(WRONG, encoding="utf-8")
    (tmp_path / "early.txt").write_text("call ida\n" + "pass\n" * 5, encoding="utf-8")
    (tmp_path / "late.txt").write_text("pass\n" * 5 + "call ida\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def walked(tw: Tw, farm: Path) -> Path:
    ran = tw("learn", "explore", farm / "hens.tw", "-o", farm / "rows.jsonl", "--ticks", "60")
    assert ran.code == 0, ran.err
    return farm / "rows.jsonl"


# ---- explore --------------------------------------------------------------------------------


def test_explored_rows_are_transitions_of_the_world(tw: Tw, farm: Path, walked: Path) -> None:
    world = open_world(str(farm / "hens.tw"))
    rows = list(transitions(world, [walked]))
    assert len(rows) == 60
    assert all(isinstance(one, Transition) for one in rows)
    lines = [json.loads(line) for line in walked.read_text(encoding="utf-8").splitlines()]
    statuses = {one["progress"]["status"] for one in lines}
    assert statuses == {"executed", "refused"}


def test_novelty_tries_more_commands_of_each_state_than_chance(tw: Tw, farm: Path) -> None:
    small = farm / "small.tw"
    small.write_text(HENS.replace("h.eggs += 1", "h.at = barn"), encoding="utf-8")
    tried = {}
    for policy in ("novelty", "random"):
        rows = farm / f"{policy}.jsonl"
        ran = tw("learn", "explore", small, "-o", rows, "--policy", policy, "--ticks", "80")
        assert ran.code == 0
        lines = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
        facts = ([one["state"]["objects"], one["intent"]] for one in lines)
        tried[policy] = len({json.dumps(one) for one in facts})
    assert tried["novelty"] > tried["random"]


def test_the_same_seed_gives_the_same_bytes_and_nothing_is_written_over(
    tw: Tw, farm: Path, walked: Path
) -> None:
    before = walked.read_bytes()
    again = ("learn", "explore", farm / "hens.tw", "-o", walked, "--ticks", "60")
    ran = tw(*again)
    assert (ran.code, walked.read_bytes()) == (2, before)
    assert "--write" in ran.err
    assert tw(*again, "--write").code == 0
    assert walked.read_bytes() == before


@pytest.mark.parametrize("options", [("--ticks", "0"), ("--episode", "0")])
def test_no_ticks_are_no_exploration(tw: Tw, farm: Path, options: tuple[str, str]) -> None:
    ran = tw("learn", "explore", farm / "hens.tw", "-o", farm / "none.jsonl", *options)
    assert ran.code == 2
    assert not (farm / "none.jsonl").exists()


# ---- rank -----------------------------------------------------------------------------------


def test_the_true_world_ranks_every_observed_successor_first(
    tw: Tw, farm: Path, walked: Path
) -> None:
    asked = ("--reference", farm / "hens.tw", "--most", "12", "--json")
    true = tw("learn", "rank", farm / "hens.tw", walked, *asked).json
    assert (true["rank_at_1"], true["mrr"], true["impossible"]) == (1, 1, 0)
    wrong = tw("learn", "rank", farm / "wrong.tw", walked, "--reference", farm / "hens.tw",
               "--json").json  # fmt: skip
    assert wrong["impossible"] > 0
    assert wrong["mrr"] < 1


def test_ties_count_as_their_mean() -> None:
    found = Ranked()
    found.take(-1.0, [("stays", -1.0), ("elsewhere", -math.inf)])
    assert found.first == 0.5
    assert found.reciprocal == pytest.approx((1 + 1 / 2) / 2)
    found.take(-2.0, [("stays", -1.0), ("elsewhere", -2.0)])
    assert found.first == 0.5
    assert found.reciprocal == pytest.approx(0.75 + (1 / 2 + 1 / 3) / 2)
    assert found.beaten["elsewhere"] == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [((), "TW0001"), (("none.jsonl",), "TW0001"), (("rows.jsonl", "--most", "0"), ""),
     (("other.jsonl",), "TW1209")],
)  # fmt: skip
def test_what_cannot_be_ranked_is_told(
    tw: Tw, farm: Path, walked: Path, arguments: tuple[str, ...], code: str
) -> None:
    (farm / "other.jsonl").write_text('{"format": "tw-row/1", "state": {}}\n', encoding="utf-8")
    ran = tw("learn", "rank", farm / "hens.tw",
             *(farm / one if one.endswith("jsonl") else one for one in arguments))  # fmt: skip
    assert ran.code != 0
    assert code in ran.err
    assert "Traceback" not in ran.err


# ---- duel -----------------------------------------------------------------------------------


def test_the_better_plan_wins_with_a_stated_interval(
    tw: Tw, farm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duel, "MOST", 0)  # no exact means
    ran = tw("duel", farm / "hens.tw", farm / "early.txt", farm / "late.txt", "--worlds", "60",
             "--reference", farm / "wrong.tw", "--json")  # fmt: skip
    found, reference = ran.json["duels"]
    assert found["better"] == 1
    assert 0 < found["interval"][0] < found["difference"] < found["interval"][1]
    assert reference["better"] is None  # nobody comes to the nest there
    assert (ran.code, ran.json["agree"]) == (3, False)


def test_intervals_are_those_of_paired_differences() -> None:
    found = compared("w", [3.0, 4.0, 5.0], [1.0, 2.0, 3.0])
    assert (found.difference, found.low, found.high, found.better) == (2, 2, 2, 0)
    even = compared("w", [1.0, 0.0], [0.0, 1.0])
    assert even.better is None
    assert even.low == -even.high


@pytest.mark.parametrize("options", [("none.txt", "random"), ("random", "random", "--worlds", "1")])
def test_plans_that_cannot_be_compared_are_told(
    tw: Tw, farm: Path, options: tuple[str, ...]
) -> None:
    ran = tw("duel", farm / "hens.tw", *options)
    assert ran.code == 2
    assert ran.err.count("error[") == 1


def test_rows_of_a_world_with_turns_name_whose_turn_it_is(tw: Tw, tmp_path: Path) -> None:
    """Each row comes out again as it was recorded, and leads to the state of the next one."""
    assert tw("learn", "explore", "willowbrook", "-o", "rows.jsonl", "--ticks", "20").code == 0
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()]
    assert len({row["intent"]["actor"] for row in rows}) == 2
    world = open_world("willowbrook")
    for number, row in enumerate(rows):
        assert compare_row(world, row_in(json.dumps(row), str(number)), 0) is None
        assert row["progress"]["status"] != "no_match"
    assert all(row["tick"] == after["state"] for row, after in pairwise(rows))
