"""``tw learn propose --world``: rows add rules to given ones."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tokenworld.session import open_world
from tokenworld.session.replaying import Row
from tokenworld.verbs.learn.exploring import Explorer
from tokenworld.verbs.learn.page import confusion
from tokenworld.verbs.learn.propose.outside import Weighed, maps_of

pytest.importorskip("numpy")

Tw = Any
HEAD = """
type Place
type Item { at: Place }
type Pot : Item { heat: 0 to 9 clamped  boils: bool }
type Cup : Item { full: bool  mass: 0kg to 9kg = 2kg }
type Burner : Place { on: bool }
type Hero
unit kg
actor me: Hero
object bench, hand: Place
"""
TAKE = 'action take(i: Item) as "take {i}" { require i.at != hand  i.at = hand }\n'
RULES = """
action set_down(i: Item, p: Place) as "put {i} on {p}" { require i.at == hand  i.at = p }
action light(b: Burner) as "light {b}" { require not b.on  b.on = true }
action pour(p: Pot, c: Cup) as "pour {p} into {c}" {
  require p.boils and not c.full and p.at == hand
  c.full = true
  p.boils = false
  POUR
}
phase heating
phase boiling
HEAT
law boil(p: Pot) during boiling when p.heat >= 9 { p.boils = true }
"""
POUR = "p.heat = 0\n  c.mass = c.mass + 1kg"
HEAT = "law heat(p: Pot, b: Burner) during heating when b.on and p.at == b { p.heat += 3 }"
WORLD = """
world kitchen {
  endless
  object hero: Hero
  object burner: Burner
  object pot: Pot { at = bench }
  object cup, mug: Cup { at = bench }
  goal tea: cup.full
}
"""


def whole(rules: str = RULES, take: str = TAKE, pour: str = POUR, heat: str = HEAT) -> str:
    return HEAD + take + rules.replace("POUR", pour).replace("HEAT", heat) + WORLD


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A walk in the true world, and another to judge by."""
    true = tmp_path_factory.mktemp("true") / "true.tw"
    true.write_text(whole(), encoding="utf-8")
    world, found = open_world(str(true)), {}
    for name, ticks, seed in (("rows", 150, 0), ("fresh", 40, 900)):
        rows = Explorer(world, "novelty", seed).rows(ticks, 100)
        found[f"{name}.jsonl"] = "".join(f"{json.dumps(one)}\n" for one in rows)
    return found


@pytest.fixture
def rows(walked: dict[str, str], tmp_path: Path) -> Path:
    for name, text in walked.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def proposed(tw: Tw, folder: Path, given: str, *options: str) -> Any:
    (folder / "given.tw").write_text(given, encoding="utf-8")
    return tw("learn", "propose", "rows.jsonl", "--world", "given.tw", "--test", "fresh.jsonl",
                 "-o", "out.tw", "--write", "--json", *options)  # fmt: skip


def test_missing_rules_are_added_and_the_others_are_kept(tw: Tw, rows: Path) -> None:
    given = whole(take="", pour="", heat="")
    ran = proposed(tw, rows, given)
    assert ran.code == 0, ran.err
    found = ran.json
    step, before = (found[key]["dynamic"]["step"] for key in ("judged", "given"))
    assert before["share"] < 0.7
    assert step["share"] >= 0.95
    text = (rows / "out.tw").read_text(encoding="utf-8")
    assert text == found["text"]
    for line in ("c.full = true", "law boil(p: Pot) during boiling when p.heat >= 9",
                 'action light(b: Burner) as "light {b}"', "goal tea: cup.full"):  # fmt: skip
        assert line in text
    pour = text[text.index("action pour") : text.index("phase heating")]
    assert "p.heat = 0" in pour
    assert "c.mass" in pour
    assert "kg" in pour
    assert "action take(i: Item)" in text
    assert (rows / "given.tw").read_text(encoding="utf-8") == given
    assert tw("plan", "out.tw").code == 0


@pytest.mark.slow
def test_declarations_alone_are_a_beginning(tw: Tw, rows: Path) -> None:
    ran = proposed(tw, rows, HEAD + WORLD)
    assert ran.code == 0, ran.err
    assert ran.json["judged"]["dynamic"]["step"]["share"] >= 0.9
    assert "static" not in ran.json["text"]  # types are those that were given
    assert ran.json["text"].startswith(HEAD.strip()[:10])


def test_rules_that_explain_all_rows_stay_as_they_are(tw: Tw, rows: Path) -> None:
    ran = proposed(tw, rows, whole())
    assert ran.code == 1
    assert ran.json["rules"] == []
    assert ran.json["text"].split() == whole().split()
    assert ran.json["judged"]["dynamic"]["step"]["share"] == 1


def test_refused_commands_become_requirements(tw: Tw, rows: Path) -> None:
    given = whole(take='action take(i: Item) as "take {i}" { i.at = hand }\n')
    ran = proposed(tw, rows, given)
    text = ran.json["text"]
    take = text[text.index("action take") : text.index("action set_down")]
    assert "require i.at != hand" in take
    assert ran.json["judged"]["all"]["step"]["share"] == 1


def test_a_contradicted_require_is_told(tw: Tw, rows: Path) -> None:
    ran = proposed(tw, rows, whole(take=TAKE.replace("!= hand", "== hand")))
    codes = [one["code"] for one in ran.json["diagnostics"]]
    assert codes == ["TW1210"]
    assert ran.json["refused"]


@pytest.mark.slow
def test_laws_without_a_phase_run_before_what_is_added(tw: Tw, rows: Path) -> None:
    """`boil` reads the heat of the law that is learned a tick later only."""
    given = whole(heat="").replace("phase heating\nphase boiling\n", "")
    given = given.replace(" during boiling", "")
    ran = proposed(tw, rows, given)
    text = ran.json["text"]
    assert "law boil(p: Pot) during before when" in text
    assert text.index("phase before") < text.index("phase change1")
    assert ran.json["judged"]["dynamic"]["step"]["share"] >= 0.95


def test_draws_of_given_rules_are_no_difference(tw: Tw, tmp_path: Path) -> None:
    coin = """
type Coin { up: bool  thrown: 0 to 99 clamped }
actor me: Coin
action throw() as "throw" { chance 50% { me.up = true } else { me.up = false } COUNT }
action rest() as "rest" { }
world w { object coin: Coin }
"""
    (tmp_path / "true.tw").write_text(coin.replace("COUNT", "me.thrown += 1"), encoding="utf-8")
    for name in ("rows", "fresh"):
        assert tw("learn", "explore", "true.tw", "-o", f"{name}.jsonl", "--ticks", 60).code == 0
    ran = proposed(tw, tmp_path, coin.replace("COUNT", ""))
    text = " ".join(ran.json["text"].split())
    assert "thrown += 1" in text
    assert text.count("chance") == 1
    assert ran.json["judged"]["impossible"] == 0


def test_rows_that_do_not_fit_the_given_world_are_named(tw: Tw, rows: Path) -> None:
    """A row of another world, of an unknown type, with an unknown attribute, with an unknown word
    for a place, and one that is torn."""
    lines = (rows / "rows.jsonl").read_text(encoding="utf-8").splitlines()[:40]
    wrong = [
        lines[0].replace('"kitchen"', '"cellar"'), lines[1].replace('"Pot"', '"Pan"'),
        lines[2].replace('"heat"', '"warmth"'), lines[3].replace('"at": "bench"', '"at": "roof"'),
        lines[4][:-9],
    ]  # fmt: skip
    (rows / "rows.jsonl").write_text("\n".join([*wrong, *lines[5:]]), encoding="utf-8")
    ran = proposed(tw, rows, whole(take=""))
    assert ran.code == 0
    places = [one.partition(": ")[0] for one in ran.json["skipped"]]
    assert sorted(places) == [f"rows.jsonl:{number}" for number in range(1, 6)]
    assert "5 rows skipped" in ran.err


def test_rows_of_another_world_than_the_given_one_are_told(tw: Tw, rows: Path) -> None:
    ran = proposed(tw, rows, "type T\nactor me: T\nworld other { object a: T  endless }\n")
    assert (ran.code, ran.err.count("error["), ran.err.count("TW1209")) == (1, 1, 1)
    assert not (rows / "out.tw").exists()


def test_a_given_world_that_is_missing_or_unsound_ends_at_once(tw: Tw, rows: Path) -> None:
    ran = tw("learn", "propose", "rows.jsonl", "--world", "none.tw", "-o", "out.tw")
    assert (ran.code, ran.err.count("error[")) == (2, 1)
    (rows / "bad.tw").write_text("type T { at: Nowhere }\n", encoding="utf-8")
    ran = tw("learn", "propose", "rows.jsonl", "--world", "bad.tw", "-o", "out.tw")
    assert ran.code == 1
    assert not (rows / "out.tw").exists()
    assert json.loads((rows / "rows.jsonl").read_text("utf-8").splitlines()[0])


# ---- the report -------------------------------------------------------------------------------


def test_the_report_shows_rules_slots_the_curve_and_the_worst_rows(tw: Tw, rows: Path) -> None:
    """What a given `require` refuses stays wrong; nothing is written over."""
    given = whole(take=TAKE.replace("!= hand", "== hand"))
    lines = (rows / "rows.jsonl").read_text(encoding="utf-8").splitlines()[:30]
    (rows / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    ran = proposed(tw, rows, given, "--report", "page.html", "--curve", "10", "--curve", "900")
    page = (rows / "page.html").read_text(encoding="utf-8")
    HTMLParser().feed(page)
    assert ran.json["curve"][0][0] == 10
    assert len(ran.json["curve"]) == 1  # there are no 900 rows
    for text in ("Rules and their evidence", "Learning curve", "Changes by slot", "invented",
                 "by the rules", "fresh.jsonl:", "law boil(p: Pot)"):  # fmt: skip
        assert text in page, text
    (rows / "out.tw").unlink()
    again = tw("learn", "propose", "rows.jsonl", "-o", "out.tw", "--report", "page.html")
    assert (again.code, "--write" in again.err) == (2, True)
    assert (rows / "page.html").read_text(encoding="utf-8") == page
    assert not (rows / "out.tw").exists()


def test_changes_are_told_apart_by_what_becomes_of_them() -> None:
    def shape(**values: int) -> dict[str, Any]:
        return {"objects": [{"name": "x", "type": "T", "attrs": values}]}

    before, after = shape(a=1, b=1, c=1, d=1), shape(a=2, b=2, c=2, d=1)
    left = (("x.b", 3, 2), ("x.c", 1, 2), ("x.d", 5, 1))
    found = confusion([Weighed(Row("r", {}, {}, {}), 1.0, left, before, after)])
    assert found == {"a": (1, 0, 0, 0), "b": (0, 1, 0, 0), "c": (0, 0, 1, 0), "d": (0, 0, 0, 1)}


def test_a_layout_is_drawn_with_what_stands_on_it() -> None:
    duels = Path(__file__).parents[2] / "domains" / "crafter" / "small_duels.tw"
    for name, drawn in (
        ("zombie_fighter", [".P.Z.."]), ("stone_miner", ["TTTS", "P..S", "...S"])
    ):  # fmt: skip
        world = open_world(f"{duels}:{name}")
        shape = world.engine.json(world.engine.start(0))
        maps = maps_of(world.world, shape)
        assert [one.replace("g", ".").upper() for one in maps["Tile"]] == drawn
