"""``tw simbench make``: what a set is made of, and what none is made of."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.tools.simbench.conftest import ROOT, Tw
from tokenworld.verbs.records.answers import changes
from tokenworld.verbs.simbench.making import Candidate, drawn_command
from tokenworld.verbs.simbench.sets import read_set

ROWS = ROOT.parent / "shared/data/bytesized32/boil-water.test.jsonl.gz"


def test_a_set_is_balanced_and_asks_nothing_that_is_an_example(small: Path) -> None:
    found = read_set(small)
    for part in ("act", "step"):
        counts = Counter(one.dynamic for one in found.questions if one.part == part)
        assert counts == {True: 5, False: 5}
        verbs = Counter(one.verb for one in found.questions if one.part == part and one.dynamic)
        assert max(verbs.values()) - min(verbs.values()) <= 1
    assert all(one.dynamic == changes(found.row(one), one.task) for one in found.questions)
    asked = {Candidate(row, "", lambda row, task: True).key for row in found.rows}
    examples = {Candidate(row, "", lambda row, task: True).key for row in found.examples}
    assert examples
    assert not asked & examples


def test_chains_follow_each_other(small: Path) -> None:
    found = read_set(small)
    chain = [one for one in found.questions if one.part == "chain" and one.chain == 1]
    rows = [found.row(one) for one in chain]
    assert len(rows) == 5
    for before, after in pairwise(rows):
        assert before.ticked == after.before
    own = [one for one in found.questions if one.part == "own" and one.chain == 1]
    assert [one.after for one in own] == [chain[0].number, *(one.number for one in own[:-1])]
    assert [one.step for one in own] == [2, 3, 4, 5]


def test_the_manifest_has_the_hash_of_every_file(small: Path) -> None:
    manifest = json.loads((small / "manifest.json").read_text("utf-8"))
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((small / name).read_bytes()).hexdigest() == digest
    assert {one.name for one in small.glob("*")} >= {*manifest["files"], "manifest.json"}


def test_equal_arguments_make_equal_bytes(tw: Tw, small: Path, tmp_path: Path) -> None:
    assert tw("simbench", "make", "cellar", "--rows", "10", "-o", tmp_path / "again")[0] == 0
    assert tw("simbench", "make", "cellar", "--rows", "10", "--seed", "7", "-o", tmp_path / "other")
    again, first = (tmp_path / "again" / "manifest.json").read_bytes(), small / "manifest.json"
    assert again == first.read_bytes()
    assert (tmp_path / "other" / "rows.jsonl").read_bytes() != (small / "rows.jsonl").read_bytes()


CHANCE = """
edition 1
type Coin { heads: bool = false  flips: 0 to 99 clamped = 0 }
actor me: Coin
action flip() as "flip" { chance 1/2 { me.heads = true } else { me.heads = false } }
action turn() as "turn" { me.heads = not me.heads  me.flips += 1 }
world coin { object penny: Coin  goal rich: penny.flips == 99 }
"""


def test_rows_in_which_chance_has_a_part_are_left_out(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "coin.tw").write_text(CHANCE, encoding="utf-8")
    code, out, _ = tw(
        "simbench", "make", tmp_path / "coin.tw", "--rows", "4", "-o", tmp_path / "set", "--json"
    )
    told = json.loads(out)
    assert code == 0
    assert sum(told["left_out"].values()) > 5
    assert {one.verb for one in read_set(tmp_path / "set").questions} == {"turn", "pass"}


def test_where_a_law_draws_only_commands_are_asked_about(tw: Tw, tmp_path: Path) -> None:
    law = "law wind(c: Coin) { chance 1/3 { c.flips = 0 } }\nworld coin"
    (tmp_path / "coin.tw").write_text(CHANCE.replace("world coin", law), encoding="utf-8")
    code, _, _ = tw("simbench", "make", tmp_path / "coin.tw", "--rows", "4", "-o", tmp_path / "set")
    assert code == 0
    found = read_set(tmp_path / "set")
    assert {one.task for one in found.questions} == {"act"}
    assert {one.dynamic for one in found.questions} == {True, False}


@pytest.mark.skipif(not ROWS.exists(), reason="the recorded rows are not there")
def test_a_set_of_published_rows(tw: Tw, tmp_path: Path) -> None:
    world = ROOT / "domains/textgames/boil-water/world.tw"
    code, out, _ = tw(
        "simbench", "make", world, "--from", ROWS, "--rows", "8", "-o", tmp_path / "set", "--json"
    )
    assert code == 0
    assert json.loads(out)["from"][0]["name"] == ROWS.name
    found = read_set(tmp_path / "set")
    assert found.row(found.questions[0]).before.objects[0]["name"] == "kitchen (ID: 1)"
    assert tw("conform", world, tmp_path / "set" / "rows.jsonl", "--strict")[0] == 0


# ---- bad input ----------------------------------------------------------------------------------


def refused(tw: Tw, *arguments: object) -> str:
    """The one diagnostic of a call that is refused."""
    code, _, err = tw("simbench", *arguments)
    assert code == 2
    assert err.count("error[") == 1
    return err


def test_rows_of_another_game(tw: Tw, small: Path, tmp_path: Path) -> None:
    given = ("make", "willowbrook", "--from", small / "rows.jsonl", "-o", tmp_path / "set")
    told = refused(tw, *given)
    assert "it is a row of `cellar`, and the world is for `willowbrook`" in told
    assert not (tmp_path / "set").exists()


def test_rows_of_an_own_set_are_chosen_from(tw: Tw, small: Path, tmp_path: Path) -> None:
    given = ("--from", small / "rows.jsonl", "--rows", "4", "-o", tmp_path / "set")
    assert tw("simbench", "make", "cellar", *given)[0] == 0


def test_a_mapping_that_names_unknown_things(tw: Tw, tmp_path: Path) -> None:
    world = ROOT / "domains/textgames/boil-water"
    shutil.copytree(world, tmp_path / "game")
    mapping = tmp_path / "game" / "mapping.toml"
    mapping.write_text(mapping.read_text("utf-8") + '[types]\nGhost = "Spectre"\n', "utf-8")
    told = refused(tw, "make", tmp_path / "game" / "world.tw", "-o", tmp_path / "set")
    assert "the world has no type `Spectre`" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("make", "cellar", "--rows", "1", "-o", "s"), "two rows"),
        (("make", "nowhere.tw", "-o", "s"), "nowhere.tw"),
        (("make", "cellar", "--from", "nowhere.jsonl", "-o", "s"), "nowhere.jsonl"),
        (("make", "cellar", "--rows", "4", "-o", "/proc/none/s"), "cannot be written"),
    ],
)
def test_what_cannot_be_made(tw: Tw, arguments: tuple[str, ...], message: str) -> None:
    assert message in refused(tw, *arguments)


@pytest.mark.parametrize("damage", ["rows.jsonl", "questions.jsonl", "rules.txt", "manifest.json"])
def test_a_set_that_does_not_fit_its_manifest(
    tw: Tw, small: Path, tmp_path: Path, damage: str
) -> None:
    folder = tmp_path / "set"
    shutil.copytree(small, folder)
    path = folder / damage
    path.write_text(path.read_text("utf-8")[:-40] + "\n", encoding="utf-8")
    told = refused(tw, "run", folder, "--predictor", "true")
    assert "that fits its manifest" in told
    assert f"`{damage}`" in told


def test_no_set_at_all(tw: Tw, tmp_path: Path) -> None:
    assert "no set of questions" in refused(tw, "score", tmp_path / "none", "answers.jsonl")
    assert "manifest.json" in refused(tw, "play", tmp_path)


# ---- walkers ------------------------------------------------------------------------------------


class Dice:
    """Draws what it is told to."""

    def __init__(self, *places: int) -> None:
        self.places = list(places)

    def choice(self, among: list[str]) -> str:
        return among[self.places.pop(0)]


def test_the_walker_that_prefers_changes_draws_again() -> None:
    verbs, changing = {"a": ["a1", "a2"], "b": ["b1"]}, {"b1"}
    dice = Dice(0, 1, 0, 0, 1, 0, 0, 0)
    drawn = drawn_command(verbs, changing.__contains__, "changing", dice)  # type: ignore[arg-type]
    assert (drawn, len(dice.places)) == ("b1", 2)
    dice = Dice(0, 1, 1, 0)
    assert drawn_command(verbs, changing.__contains__, "uniform", dice) == "a2"  # type: ignore[arg-type]
    nothing = Dice(*[0, 0] * 8)
    assert drawn_command(verbs, lambda one: False, "changing", nothing) == "a1"  # type: ignore[arg-type]
    assert not nothing.places
