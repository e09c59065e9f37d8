"""Refusals say everything: label, text, values and place of each failed require."""

from __future__ import annotations

import pytest
from tiny import Game, play

from tokenworld.ground import Command

RULES = """type Room
type Box { at: Room?  lid: 0 to 9 = 2 }
type Hero { at: Room?  power: 0 to 9 = 1  load: 0 to 4 = 0  raw: 0 to 9 clamped = 8 }
actor me: Hero
action open(b: Box, n: 1 to 3) {
  require b.at == me.at     else absent "There is no {b} here."
  let need = b.lid + n
  require me.power >= need  else weak   "You need {need} and have {me.power}."
  require b.lid != 9
  b.lid = 0
}
action load(n: 1 to 9) { me.load += n }
action charge(n: 1 to 9) { me.raw += n }
world w {
  object hall, cellar: Room
  object hero: Hero { at = hall }
  object chest: Box { at = hall }
  object crate: Box { at = cellar  lid = 9 }
  object stray: Box { lid = 9 }
}
"""


@pytest.fixture
def game() -> Game:
    return play(RULES)


def test_the_first_false_require_is_the_refusal(game: Game) -> None:
    refusal = game.do("open(chest, 2)").refusal
    assert refusal is not None
    assert (refusal.label, refusal.index) == ("weak", 1)
    assert refusal.text == "You need 4 and have 1."
    assert refusal.place == "t.tw:8:3"


def test_every_failed_require_is_listed_with_its_values_and_place(game: Game) -> None:
    refusal = game.do("open(crate, 1)").refusal
    assert refusal is not None
    assert [one.label for one in refusal.failed] == ["absent", "weak", ""]
    absent, weak, unnamed = refusal.failed
    assert absent.condition == "b.at == me.at"
    assert absent.values == {"b.at": "cellar", "me.at": "hall"}
    assert weak.values == {"me.power": 1, "need": 10}
    assert [one.place for one in refusal.failed] == ["t.tw:6:3", "t.tw:8:3", "t.tw:9:3"]
    assert unnamed.values == {"b.lid": 9}


def test_a_require_that_holds_is_listed_apart(game: Game) -> None:
    refusal = game.do("open(chest, 1)").refusal
    assert refusal is not None
    assert [one.holds for one in refusal.requires] == [True, False, True]
    assert [one.label for one in refusal.failed] == ["weak"]


def test_a_require_without_text_quotes_its_condition(game: Game) -> None:
    refusal = game.do("open(crate, 1)").refusal
    assert refusal is not None
    assert "b.lid != 9" in refusal.failed[2].text
    assert refusal.failed[2].label == ""


def test_a_require_with_a_label_alone_quotes_its_condition() -> None:
    game = play(
        """
        type Lamp { lit: bool = true }
        action light(l: Lamp) { require not l.lit else burning  l.lit = true }
        world w { object a: Lamp }
        """
    )
    refusal = game.do("light(a)").refusal
    assert refusal is not None
    assert (refusal.label, refusal.text) == ("burning", "This needs: not l.lit.")


def test_absent_values_are_shown_as_none(game: Game) -> None:
    refusal = game.do("open(stray, 1)").refusal
    assert refusal is not None
    assert refusal.failed[0].values == {"b.at": None, "me.at": "hall"}


def test_a_later_require_that_cannot_be_evaluated_is_recorded_as_such() -> None:
    game = play(
        """
        type Box { n: 0 to 9 = 0 }
        actor me: Box
        action a(b: Box) {
          require b.n > 0          else empty "Empty."
          require 10 div b.n < 4   else few   "Too few."
        }
        world w { object h: Box  object k: Box { n = 2 } }
        """
    )
    record = game.do("a(h)")
    assert record.status == "refused"
    assert record.refusal is not None
    assert [(one.label, one.holds) for one in record.refusal.requires] == [
        ("empty", False), ("few", None),
    ]  # fmt: skip
    assert record.refusal.failed[1].to_json()["holds"] is None
    assert game.do("a(k)").refusal.label == "few"  # type: ignore[union-attr]


def test_attributes_another_type_has_are_none_in_later_requires() -> None:
    game = play(
        """
        type Thing
        type Box : Thing { n: 0 to 9 = 3 }
        actor me: Thing
        action a(x: Thing) {
          require x is Box  else kind "Not a box."
          require x.n > 5   else few  "Too few."
        }
        world w { object h: Thing  object k: Box }
        """
    )
    refusal = game.do("a(h)").refusal
    assert refusal is not None
    assert [one.label for one in refusal.failed] == ["kind", "few"]
    assert game.do("a(k)").refusal.label == "few"  # type: ignore[union-attr]


def test_the_json_form_of_a_refusal(game: Game) -> None:
    found = game.do("open(crate, 1)").to_json()["refusal"]
    assert isinstance(found, dict)
    assert (found["label"], found["text"], found["index"]) == (
        "absent",
        "There is no crate here.",
        0,
    )
    assert found["span"] == "t.tw:6:3"
    failed = found["failed"]
    assert isinstance(failed, list)
    assert failed[0]["values"] == {"b.at": "cellar", "me.at": "hall"}


# ---- generated requires ---------------------------------------------------------------


def test_an_unclamped_range_refuses_and_a_clamped_one_stops(game: Game) -> None:
    assert game.do("load(4)").status == "executed"
    record = game.do("load(1)")
    assert (record.status, record.changes) == ("refused", ())
    assert record.refusal is not None
    assert (record.refusal.label, record.refusal.failed[0].generated) == ("range", "range")
    assert game.do("charge(9)").status == "executed"
    assert (game.get("hero.load"), game.get("hero.raw")) == (4, 9)


def test_generated_requires_come_after_the_authors() -> None:
    game = play(
        """
        type T { n: 0 to 2 = 2 }
        actor me: T
        action a() { require me.n != 2 else two "Two."  me.n += 1 }
        world w { object h: T }
        """
    )
    refusal = game.do("a()").refusal
    assert refusal is not None
    assert [one.label for one in refusal.failed] == ["two"]


def test_unique_values_refuse() -> None:
    game = play(
        """
        type Seat
        type Guest { seat: Seat? unique }
        actor me: Guest
        action sit(g: Guest, s: Seat) { g.seat = s }
        action rise(g: Guest) { g.seat = none }
        action trade(g: Guest, k: Guest) { swap g.seat, k.seat }
        world w { object left, right: Seat  object ann, bob: Guest }
        """
    )
    game.all("sit(ann, left)", "sit(bob, right)")
    record = game.do("sit(bob, left)")
    assert record.refusal is not None
    assert (record.status, record.refusal.label) == ("refused", "unique")
    game.all("trade(ann, bob)", "rise(ann)", "rise(bob)")
    assert (game.get("ann.seat"), game.get("bob.seat")) == (None, None)


def test_cycles_of_containment_and_of_acyclic_relations_refuse() -> None:
    game = play(
        """
        type Box { at: Box? nested inverse contents closure inside }
        actor me: Box
        relation under(a: Box, b: Box) acyclic
        action put(x: Box, y: Box) { x.at = y }
        action lay(x: Box, y: Box) { add under(x, y) }
        world w { object a, b, c: Box }
        """
    )
    game.all("put(a, b)", "put(b, c)", "lay(a, b)", "lay(b, c)")
    for words in ("put(c, a)", "put(a, a)", "lay(c, a)", "lay(a, a)"):
        record = game.do(words)
        assert record.refusal is not None, words
        assert record.refusal.label == "cycle", words
    assert game.get("c.at") is None
    assert not game.get("under(c, a)")


def test_a_ring_that_only_the_second_of_two_writes_closes_is_found() -> None:
    """The first write leads into the ring without being part of it."""
    game = play(
        """
        type Box { at: Box? nested inverse contents }
        actor me: Box
        action put(x: Box, y: Box) {
          x.at = y
          y.at = y
        }
        world w { object a, b: Box }
        """
    )
    record = game.do("put(a, b)")
    assert record.refusal is not None
    assert record.refusal.label == "cycle"
    assert game.get("a.at") is None


def test_a_cycle_by_a_law_is_rolled_back() -> None:
    game = play(
        """
        type Box { at: Box? nested inverse contents }
        actor me: Box
        action a() { }
        law knot(x: Box) when x.at != none { x.at.at = x }
        world w { object a: Box { at = b }  object b: Box }
        """
    )
    record = game.do("a()")
    assert record.status == "rolled_back"
    assert record.breach["code"] == "TW1005"  # type: ignore[index]


def test_transfers_refuse_negative_amounts_and_broken_ranges() -> None:
    game = play(
        """
        type Jar { n: 0 to 5 = 3 }
        actor me: Jar
        action pour(a: Jar, b: Jar, k: -2 to 6) { transfer k of a.n to b.n }
        world w { object a, b: Jar }
        """
    )
    for k in (-1, 4, 3):
        record = game.do(f"pour(a, b, {k})")
        assert record.refusal is not None
        assert record.refusal.label == "range"
        assert (game.get("a.n"), game.get("b.n")) == (3, 3)
    assert game.do("pour(a, b, 2)").status == "executed"
    assert (game.get("a.n"), game.get("b.n")) == (1, 5)
    assert game.do("pour(b, b, 5)").status == "executed"
    assert game.get("b.n") == 5


def test_legal_commands_are_exactly_those_that_are_executed(game: Game) -> None:
    legal = {(one.command.action, one.command.args) for one in game.session.legal()}
    engine = game.session.engine
    boxes = engine.instance.members["Box"]
    every = [Command("open", (box, n)) for box in boxes for n in (1, 2, 3)]
    every += [Command(name, (n,)) for name in ("load", "charge") for n in range(1, 10)]
    for command in every:
        (outcome,) = engine.play(game.state, command)[1]
        executed = outcome.status == "executed"
        assert executed == ((command.action, command.args) in legal), command


def test_why_not_looks_without_acting(game: Game) -> None:
    before = game.hash
    why = game.session.why_not("open(crate, 1)")
    assert not why.allowed
    assert [one.holds for one in why.requires] == [False, False, False]
    assert game.session.why_not("charge(1)").allowed
    assert not game.session.why_not("load(9)").allowed
    assert game.session.why_not("fly").no_match is not None
    assert (game.hash, len(game.session.moments)) == (before, 1)


def test_a_transfer_of_a_negative_amount_is_not_offered() -> None:
    game = play(
        """
        type Jar { n: 0 to 5 clamped = 3 }
        actor me: Jar
        action pour(a: Jar, b: Jar, k: -1 to 1) { transfer k of a.n to b.n }
        world w { object a, b: Jar }
        """
    )
    legal = list(game.session.engine.legal(game.session.state))
    assert {one.args[2] for one in legal} == {0, 1}
    assert game.do("pour(a, b, -1)").status == "refused"


def test_a_later_require_asks_a_derive_about_an_object_of_another_type() -> None:
    game = play("""
        type Holder { }
        type Room : Holder { use: 0 to 6 }
        type Hero : Holder { at: Holder? }
        type Chest : Holder { }
        actor me: Hero
        derive dull(r: Room) = r.use <= 1
        action rest() {
          let spot = me.at
          require spot is Room else nowhere "You are nowhere."
          require not dull(spot) else dull "It is dull."
        }
        world w { object hero: Hero { at = trunk }  object trunk: Chest }
    """)
    refusal = game.do("rest()").refusal
    assert refusal is not None
    assert [one.label for one in refusal.failed] == ["nowhere"]
    assert refusal.requires[1].holds is True
    assert refusal.requires[1].values["dull(spot)"] is False


def test_a_path_through_none_in_a_later_require_has_the_value_none() -> None:
    """The first require narrows `g.seat`; where it fails, the second is asked all the same."""
    world = play("""type Chair { legs: 0 to 9 = 4 }
    type Guest { seat: Chair? }
    actor me: Guest
    function host(): Guest?
    action rock(g: Guest) {
      require g.seat != none else standing "{g} stands."
      require g.seat.legs > 4
    }
    action call() {
      require host() != none
      require host().seat == none
    }
    world w { object ann: Guest  object stool: Chair }
    """)
    refusal = world.do("rock(ann)").refusal
    assert refusal is not None
    standing, legs = refusal.failed
    assert standing.values == {"g.seat": None}
    assert legs.values == {"g.seat": None, "g.seat.legs": None}
    refusal = world.do("call()").refusal
    assert refusal is not None
    assert refusal.failed[0].values == {"host()": None}
