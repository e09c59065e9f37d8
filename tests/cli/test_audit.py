"""`tw audit`, `tw plan --luck` and `tw run --policy` on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

DOMAINS = Path(__file__).parents[2] / "domains"
Tw = Any

COIN = """
enum Face { heads, tails, edge }
type Coin { face: Face? }
action toss(c: Coin) { require AGAIN  pick f: Face { c.face = f } }
world coin { object penny: Coin  goal rich: penny.face == heads }
"""
ONCE = COIN.replace("AGAIN", "c.face == none")
TRIES = COIN.replace("AGAIN", "c.face != heads")
"""A coin that is tossed once, and one that is tossed until it shows heads."""
UNENDING = """
type Hero { at: 0 to 9999 = 0 }
actor me: Hero
action walk() { chance 50% { me.at += 1 } }
world road { object hero: Hero  goal home: hero.at == 9999 }
"""


@pytest.fixture
def once(tmp_path: Path) -> Path:
    return written(tmp_path / "once.tw", ONCE)


@pytest.fixture
def tries(tmp_path: Path) -> Path:
    return written(tmp_path / "tries.tw", TRIES)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# ---- audit -----------------------------------------------------------------------------------


def test_the_cellar_is_merciful(tw: Tw) -> None:
    found = tw("audit", DOMAINS / "cellar" / "world.tw", "--json")
    assert found.code == 0
    assert found.json["cruelty"] == "merciful"
    assert (found.json["states"]["seen"], found.json["states"]["dead"]) == (18, 0)
    assert (found.json["solution"]["commands"], found.json["solution"]["solutions"]) == (5, 1)


def test_its_twin_is_dead_and_says_what_never_holds(tw: Tw) -> None:
    found = tw("audit", DOMAINS / "cellar" / "twin.tw", "--json")
    assert (found.code, found.json["start"], found.json["cruelty"]) == (1, "dead", None)
    blocked = {one["name"]: one["blocking"] for one in found.json["never_happens"]}
    assert blocked["unlock"] == ["c.opened_by == k"]


def test_the_text_names_dead_ends_in_the_authors_words(tw: Tw, once: Path) -> None:
    found = tw("audit", once)
    assert found.code == 0
    assert "cruelty: tough" in found.out
    assert "dead end: `toss` can put the goal out of reach, with bad luck" in found.out
    assert "penny.face: none -> tails   by action toss" in found.out


def test_a_cap_is_told_and_gives_three(tw: Tw, tmp_path: Path) -> None:
    road = written(tmp_path / "road.tw", UNENDING)
    found = tw("audit", road, "--states", "50", "--json")
    assert (found.code, found.json["complete"], found.json["limit"]) == (3, False, "states")
    assert found.json["states"]["undecided"] == found.json["states"]["seen"]


@pytest.mark.parametrize("verb", [["audit"], ["plan", "--luck", "certain"]])
def test_a_world_without_a_goal_is_told_so(tw: Tw, tmp_path: Path, verb: list[str]) -> None:
    text = "type Lamp { lit: bool }\naction on(l: Lamp) { l.lit = true }\n"
    file = written(tmp_path / "aimless.tw", text + "world w { object lamp: Lamp }\n")
    found = tw(verb[0], file, *verb[1:])
    assert (found.code, "TW0201" in found.err) == (1, True)


def test_pictures_are_written(tw: Tw, once: Path, tmp_path: Path) -> None:
    assert tw("audit", once, "--graph", tmp_path / "one.dot").code == 0
    assert (tmp_path / "one.dot").read_text(encoding="utf-8").startswith("digraph space {")
    assert tw("audit", once, "--graph", tmp_path / "one.svg", "--json").code == 0
    assert ElementTree.parse(tmp_path / "one.svg").getroot().tag.endswith("svg")


def test_a_picture_of_another_kind_is_refused(tw: Tw, once: Path) -> None:
    found = tw("audit", once, "--graph", "one.png")
    assert (found.code, "TW0006" in found.err) == (2, True)


# ---- luck ------------------------------------------------------------------------------------


def test_one_of_three_faces_is_a_third(tw: Tw, once: Path) -> None:
    found = tw("plan", once, "--luck", "probability", "--json")
    assert (found.code, found.json["probability"], found.json["claim"]) == (0, "1/3", "exact")


def test_one_toss_is_not_certain(tw: Tw, once: Path) -> None:
    found = tw("plan", once, "--luck", "certain")
    assert found.code == 1
    assert found.out.startswith("not certain: luck can make a goal unreachable")


def test_a_policy_wins_under_every_seed(tw: Tw, tries: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.jsonl"
    found = tw("plan", tries, "--luck", "certain", "--policy", policy, "--json")
    assert (found.code, found.json["answer"], found.json["policy"]) == (0, "certain", str(policy))
    ticks = set()
    for seed in range(40):
        ran = tw("run", tries, "--policy", policy, "--seed", seed, "--json")
        assert (ran.code, ran.json["endings"], ran.json["goal_reached"]) == (0, ["rich"], True)
        ticks.add(ran.json["tick"])
    assert len(ticks) > 3  # luck did differ


def test_a_policy_that_can_lose_says_that_it_did(tw: Tw, once: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.jsonl"
    tw("plan", once, "--luck", "probability", "--policy", policy)
    codes = [tw("run", once, "--policy", policy, "--seed", seed).code for seed in range(30)]
    assert {0, 1} == set(codes)


def test_a_policy_of_another_world_is_refused(
    tw: Tw, once: Path, tries: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.jsonl"
    tw("plan", tries, "--luck", "certain", "--policy", policy)
    found = tw("run", once, "--policy", policy)
    assert (found.code, "TW0006" in found.err) == (2, True)


NESTED = "[" * 100_000
NO_POLICIES = [
    "",
    "{}",
    "hello",
    '{"format": "tw-policy/1"}\n{"state": 1}',
    '{"format": "tw-policy/1", "world": ["w"]}',
    NESTED,
    '{"format": "tw-policy/1"}\n{"leads_to": ' + NESTED,
]


@pytest.mark.parametrize("text", NO_POLICIES, ids=range(len(NO_POLICIES)))
def test_what_is_no_policy_is_refused(tw: Tw, once: Path, tmp_path: Path, text: str) -> None:
    found = tw("run", once, "--policy", written(tmp_path / "policy.jsonl", text))
    assert (found.code, "is not a policy" in found.err) == (2, True)


def test_a_possible_plan_is_no_policy(tw: Tw, once: Path) -> None:
    found = tw("plan", once, "--policy", "policy.jsonl")
    assert (found.code, "TW0006" in found.err) == (2, True)


def test_a_partial_graph_is_unknown(tw: Tw, tmp_path: Path) -> None:
    road = written(tmp_path / "road.tw", UNENDING)
    found = tw("plan", road, "--luck", "certain", "--states", "50", "--json")
    assert (found.code, found.json["answer"], found.json["complete"]) == (3, "unknown", False)


# ---- notes of a plan ---------------------------------------------------------------------------


def test_a_goal_that_no_rule_leads_to_is_TW0803(tw: Tw, tmp_path: Path) -> None:
    text = """type Lamp { lit: bool }
action blow(l: Lamp) { l.lit = false }
world home { object lamp: Lamp  goal bright: lamp.lit }
"""
    found = tw("plan", written(tmp_path / "lamp.tw", text), "--json")
    assert (found.code, found.json["answer"]) == (1, "unwinnable")
    assert [note["code"] for note in found.json["notes"]] == ["TW0803"]


def test_a_plan_that_knows_a_secret_is_TW0808(tw: Tw, tmp_path: Path) -> None:
    text = """type Safe { secret code: 0 to 9 = 7  open: bool }
action dial(s: Safe, n: 0 to 9) { if s.code == n { s.open = true } }
world bank { object safe: Safe  goal rich: safe.open }
"""
    found = tw("plan", written(tmp_path / "safe.tw", text), "--json")
    assert (found.code, found.json["answer"]) == (0, "winnable")
    assert [note["code"] for note in found.json["notes"]] == ["TW0808"]
