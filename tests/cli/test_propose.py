"""``tw learn propose``: rules from recorded rows alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import check_text, open_world
from tokenworld.verbs.learn.propose import emitting, verb
from tokenworld.verbs.learn.propose.judging import apart, judged_text, nearest
from tokenworld.verbs.learn.propose.verb import learned_texts
from tokenworld.verbs.records.adapter import Adapter
from tokenworld.verbs.records.properties import mapping_beside
from tokenworld.verbs.records.rows import TextRow
from tokenworld.verbs.simbench.making import WorldWalk

pytest.importorskip("numpy")

Tw = Any
ROOT = Path(__file__).resolve().parents[2]

KITCHEN = """
type Place
type Item { at: Place }
type Pot : Item { heat: 0 to 9 clamped  boils: bool }
type Cup : Item { full: bool }
type Burner : Place { on: bool }
type Hero
actor me: Hero
object bench, hand: Place
action take(i: Item) as "take {i}" { i.at = hand }
action set_down(i: Item, p: Place) as "put {i} on {p}" {
  require i.at == hand
  require p != hand
  i.at = p
}
action light(b: Burner) as "light {b}" { require not b.on  b.on = true }
action douse(b: Burner) as "douse {b}" { require b.on  b.on = false }
action pour(p: Pot, c: Cup) as "pour {p} into {c}" {
  require p.boils and not c.full and p.at == hand
  c.full = true
  p.boils = false
  p.heat = 0
}
phase heating
phase boiling
law heat(p: Pot, b: Burner) during heating when b.on and p.at == b { p.heat += 3 }
law boil(p: Pot) during boiling when p.heat >= 9 { p.boils = true }
world kitchen {
  endless
  object hero: Hero
  object burner: Burner
  object pot: Pot { at = bench }
  object cup: Cup { at = bench }
  goal tea: cup.full
}
"""

COIN = """
type Coin { up: bool  thrown: 0 to 9999 clamped }
actor me: Coin
action throw() as "throw" { chance 50% { me.up = true } else { me.up = false } }
world w { object coin: Coin }
"""


def recorded(tw: Tw, folder: Path, text: str, ticks: int, seed: int = 3) -> Path:
    """Rows of random play in a world."""
    world, store, rows = folder / "true.tw", folder / "runs.sqlite", folder / "rows.jsonl"
    world.write_text(text, encoding="utf-8")
    arguments = ("--player", "random", "--ticks", str(ticks), "--seed", str(seed))
    assert tw("run", str(world), *arguments, "--store", str(store)).code == 0
    assert tw("runs", "rows", "--output", str(rows), "--store", str(store)).code == 0
    return rows


def test_a_world_is_learned_from_play_and_predicts_other_rows(tw: Tw, tmp_path: Path) -> None:
    rows, learned = recorded(tw, tmp_path, KITCHEN, 400), tmp_path / "out" / "learned.tw"
    ran = tw("learn", "propose", str(rows), "--output", str(learned), "--json")
    assert ran.code == 0
    found = json.loads(ran.out)
    judged = found["judged"]["dynamic"]["step"]
    assert judged["rows"] > 30
    assert judged["share"] >= 0.95
    text = learned.read_text(encoding="utf-8")
    assert "require i.at == hand" in text  # no refused command was recorded: what is never done
    assert "t.heat += 3" in text
    assert check_text(Source("learned.tw", None, text)).program is not None
    assert tw("plan", str(learned)).code == 0


def test_nothing_is_written_over_without_being_asked(tw: Tw, tmp_path: Path) -> None:
    rows, learned = recorded(tw, tmp_path, COIN, 20), tmp_path / "learned.tw"
    learned.write_text("mine", encoding="utf-8")
    ran = tw("learn", "propose", str(rows), "--output", str(learned))
    assert ran.code == 2
    assert "--write" in ran.err
    assert learned.read_text(encoding="utf-8") == "mine"
    assert tw("learn", "propose", str(rows), "--output", str(learned), "--write").code == 0
    assert learned.read_text(encoding="utf-8") != "mine"


def test_contradicting_rows_make_rules_of_chance(tw: Tw, tmp_path: Path) -> None:
    rows = recorded(tw, tmp_path, COIN, 200)
    ran = tw("learn", "propose", str(rows), "--json")
    found = json.loads(ran.out)
    assert found["chance"]
    assert "TW1208" in ran.err
    assert "chance" in found["text"]


LAMP = """
type Lamp { on: bool  hot: bool }
type Hero
actor me: Hero
action press(x: Lamp) as "press {x}" { x.on = not x.on }
world w { endless object hero: Hero  object a, b: Lamp  goal done: a.on and b.on }
"""


def test_rows_that_contradict_each_other_are_named(tw: Tw, tmp_path: Path) -> None:
    """Also where no rule by chance is worth the one row."""
    rows = recorded(tw, tmp_path, LAMP, 30)
    lines = rows.read_text(encoding="utf-8").splitlines()
    other = json.loads(lines[4])
    other["tick"]["objects"][1]["attrs"]["hot"] = True
    lines.insert(5, json.dumps(other))
    rows.write_text("\n".join(lines), encoding="utf-8")
    ran = tw("learn", "propose", str(rows), "--holdout", "0")
    assert (ran.code, ran.err.count("TW1208")) == (0, 1)
    assert f"{rows}:5" in ran.err.replace("\n", "")
    assert f"{rows}:6" in ran.err.replace("\n", "")


NESTS = """
type Nest
type Egg { at: Nest }
type Hero
actor me: Hero
object a, b, c: Nest
action lay() as "lay" { pick n: Nest { create e: Egg { at = n } } }
world w { object hero: Hero  spare Egg 12  goal full: count(e for e: Egg) >= 12 }
"""


def test_what_is_made_may_be_at_a_place_by_chance(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "true.tw").write_text(NESTS, encoding="utf-8")
    rows, short = tmp_path / "rows.jsonl", ("--ticks", "60", "--episode", "3")
    assert tw("learn", "explore", "true.tw", "--output", "rows.jsonl", *short).code == 0
    ran = tw("learn", "propose", str(rows), "--holdout", "0", "--json")
    assert ran.code == 0, ran.err
    assert "pick picked: Nest { create made: Egg { at = picked } }" in ran.json["text"]


TRIPLES = """
type Node { up: bool }
type Hero
actor me: Hero
relation between(x: Node, y: Node, z: Node)
action place(x: Node, y: Node, z: Node) as "place {x} {y} {z}" { add between(x, y, z) }
action flip(x: Node) as "flip {x}" { x.up = not x.up }
world w { endless object hero: Hero  object a, b: Node  goal done: a.up and b.up }
"""


def test_a_relation_of_three_objects_is_left_unexplained(tw: Tw, tmp_path: Path) -> None:
    """Rules have names for two objects that they run over."""
    rows = recorded(tw, tmp_path, TRIPLES, 120)
    ran = tw("learn", "propose", str(rows), "--output", str(tmp_path / "learned.tw"))
    assert ran.code == 0, ran.err
    assert "flip" in (tmp_path / "learned.tw").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"objects"', '"things"'), ('"name"', '"label"'), ('"id": 2', '"id": 1'),
        ('"id": 2', '"id": "two"'), ('"relations": {}', '"relations": {"r": [1]}'),
    ],
)  # fmt: skip
def test_malformed_states_are_left_out(tw: Tw, tmp_path: Path, before: str, after: str) -> None:
    rows = recorded(tw, tmp_path, KITCHEN, 40)
    lines = [json.dumps(json.loads(line)) for line in rows.read_text("utf-8").splitlines()]
    assert before in lines[0]
    rows.write_text("\n".join(line.replace(before, after) for line in lines), encoding="utf-8")
    ran = tw("learn", "propose", str(rows), "--output", str(tmp_path / "learned.tw"))
    assert ran.code == 1
    assert "state before" in ran.err


def test_too_few_rows_are_told(tw: Tw, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("{}\nnothing\n", encoding="utf-8")
    ran = tw("learn", "propose", str(rows))
    assert ran.code == 1
    assert "TW1209" in ran.err
    assert "rows.jsonl:1" in ran.err
    assert tw("learn", "propose").code == 2


# ---- text games ---------------------------------------------------------------------------------


def walked(game: str, seeds: range, steps: int) -> list[TextRow]:
    """Rows of walks through a bundled game, as its program would have recorded them."""
    path = ROOT / "domains" / "textgames" / game / "world.tw"
    world = open_world(str(path), scenarios=False)
    adapter = Adapter(world.engine, mapping_beside(path))
    found = []
    for seed in seeds:
        for step in WorldWalk(world).steps("uniform", seed, steps):
            states = (step.before, step.halves.acted, step.halves.after)
            before, acted, ticked = map(adapter.write, states)
            scores = adapter.score(step.before), adapter.score(step.halves.after)
            place = f"{game}:{len(found)}"
            found.append(TextRow(place, game, 0, step.text, "", before, acted, ticked, *scores))
    return found


def test_a_text_game_is_learned_from_walks_and_predicts_others() -> None:
    known = walked("boil-water", range(20), 25)
    other = list(apart(known, walked("boil-water", range(100, 108), 25)))
    judged = judged_text(learned_texts(known, lambda text: None).made, other)
    step = judged.dynamic["step"]
    assert step.rows > 20
    assert step.right / step.rows >= 0.9
    guessed = nearest(known, other).dynamic["step"]
    assert guessed.right < step.right / 2


def test_ways_lead_by_a_function_of_where_one_is() -> None:
    """`move {d}` goes to `connects(me.at, d)`; lists of several lengths are sets."""
    known = walked("metal-detector", range(6), 15)
    made = learned_texts(known, lambda text: None).made
    assert "t.at = connects(t.at, p)" in made.text
    assert '{ members = "buried", keys = "Thing" }' in made.mapping
    moves = [one for one in walked("metal-detector", range(100, 112), 15)
             if one.action.startswith("move")]  # fmt: skip
    judged = judged_text(made, moves)
    assert judged.unreadable == 0
    assert judged.every["act"].rows > 10
    assert judged.every["act"].share == 1


def test_rows_with_null_in_place_of_a_list_can_be_read() -> None:
    known = walked("multimeter", range(2), 10)
    made = learned_texts(known, lambda text: None).made
    assert "unset = true" in made.mapping
    assert judged_text(made, walked("multimeter", range(50, 52), 10)).unreadable == 0


def test_rows_of_two_worlds_are_not_mixed(tw: Tw, tmp_path: Path) -> None:
    rows = recorded(tw, tmp_path, COIN, 20)
    other = rows.read_text(encoding="utf-8").replace('"world": "w"', '"world": "v"')
    (tmp_path / "other.jsonl").write_text(other, encoding="utf-8")
    ran = tw("learn", "propose", rows, tmp_path / "other.jsonl", "-o", tmp_path / "out.tw")
    assert (ran.code, ran.err.count("error[")) == (2, 1)
    assert "`w`, `v`" in ran.err
    assert not (tmp_path / "out.tw").exists()


def test_numpy_missing_is_told_before_anything_is_read(
    tw: Tw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verb, "find_spec", lambda name: None)
    ran = tw("learn", "propose", tmp_path / "none.jsonl")
    assert (ran.code, ran.err.count("error[")) == (2, 1)
    assert 'pip install "token-world[learn]"' in ran.err


@pytest.mark.parametrize(
    "arguments", [("learn", "explore", "-o", "rows.jsonl"), ("duel", "random", "random")]
)
def test_a_start_that_cannot_be_built_is_told(
    tw: Tw, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    text = COIN.replace(
        "world w { object coin: Coin }",
        """invariant few(c: Coin): c.thrown < 5
world w { object coin: Coin { thrown = 9 } }""",
    )
    (tmp_path / "bad.tw").write_text(text, encoding="utf-8")
    place = 2 if arguments[0] == "learn" else 1
    ran = tw(*arguments[:place], tmp_path / "bad.tw", *arguments[place:])
    assert ran.code in (1, 2)
    assert ran.err.count("error[") == 1
    assert "help:" in ran.err
    assert not (tmp_path / "rows.jsonl").exists()


def test_a_rejected_rule_is_left_out_and_told(
    tw: Tw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = recorded(tw, tmp_path, KITCHEN, 200)
    true = emitting.Writer._law

    def wrong(self: Any, learned: Any, name: str) -> Iterator[str]:
        for text in true(self, learned, name):
            yield text.replace("t.heat += 3", "t.warmth += 3")

    monkeypatch.setattr(emitting.Writer, "_law", wrong)
    ran = tw("learn", "propose", str(rows), "--json")
    found = json.loads(ran.out)
    assert [one["code"] for one in found["diagnostics"]] == ["TW1207"]
    assert "`heat`" in found["diagnostics"][0]["message"]
    assert "warmth" not in found["text"]
