"""The rulebook: every bundled world told in English, and the wording of single terms."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tokenworld.check import check_source
from tokenworld.diagnostics import Source, read_source
from tokenworld.model import Program
from tokenworld.prose.english import English, plural, spoken_name, told
from tokenworld.prose.rulebook import rulebook

DOMAINS = Path(__file__).parents[2] / "domains"


def program(text: str) -> Program:
    found = check_source(Source("test.tw", None, text)).program
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["blocks", "cellar", "kitchen", "cottage"])
def test_bundled_worlds(name: str, snapshot: SnapshotAssertion) -> None:
    found = check_source(read_source(DOMAINS / name / "world.tw")).program
    assert found is not None
    assert rulebook(found).to_markdown() == snapshot


VOCABULARY = """
enum Lock { open, closed }  enum Mood { low < high }
type Place
type Thing { at: Place?  n: 0 to 9 = 1  b: bool  isOpen: bool  lock: Lock  eggs_held: int }
type Box : Thing  type Hero { at: Place }
actor me: Hero
relation linked(a: Place, b: Place)  function f(): 0 to 9 = 0  param rate: 0% to 100% = 25%
derive near(x: Thing) = x.at == me.at
"""


@pytest.mark.parametrize(
    ("condition", "english"),
    [
        ("x.at == me.at", "the thing is where you are"),
        ("x.at != none", "the thing is somewhere"),
        ("x.eggs_held > 0", "the thing's eggs held are more than 0"),
        ("me is Hero", "you are a hero"),
        ("any(me != y for y: Hero)", "there is a hero such that you are not the hero"),
        ("not (x.at == none or x.b)", "the thing is somewhere and the thing is not b"),
        ("not (x.b and x.n == 1) and x.b",
         "(the thing is not b or the thing's n is not 1) and the thing is b"),
        ("min(x.n, f()) > abs(x.n - 1)",
         "the smaller of the thing's n and the f is more than the size of (the thing's n minus 1)"),
        ("not x.b", "the thing is not b"),
        ("x.isOpen", "the thing is open"),
        ("not x.isOpen", "the thing is not open"),
        ("x.n > 3 and x is Box", "the thing's n is more than 3 and the thing is a box"),
        ("x.b and (x.n == 1 or x.n == 2)",
         "the thing is b and (the thing's n is 1 or the thing's n is 2)"),
        ("not (x.n < 3)", "the thing's n is at least 3"),
        ("x.lock in [open, closed]", "the thing's lock is one of open or closed"),
        ("any(y.b for y: Box)", "there is a box such that the box is b"),
        ("not any(y.b for y: Thing)",
         "there is no thing y such that the thing y is b"),
        ("all(y.n > 0 for y: Box where y.b)",
         "for every box such that the box is b: the box's n is more than 0"),
        ("count(y for y: Box where y.b) == 2",
         "the number of boxes such that the box is b is 2"),
        ("linked(p, q)", "“linked” holds for the place p and the place q"),
        ("near(x)", "the thing is near"),
        ("f() + 1 < x.n", "the f plus 1 is less than the thing's n"),
        ("was x.n == 3", "the thing's former n is 3"),
        ("x.b implies x.n > 0", "if the thing is b, then the thing's n is more than 0"),
    ],
)  # fmt: skip
def test_conditions(condition: str, english: str) -> None:
    text = f'action a(x: Thing, p: Place, q: Place) {{ require {condition} else no "No." }}'
    action = program(VOCABULARY + text).actions["a"]
    telling = English(program(VOCABULARY), {"me": "you"}).with_binders(action.params)
    assert telling.condition(action.requires[0].condition) == english


@pytest.mark.parametrize(
    ("change", "english"),
    [
        ("x.at = none", "From now on the thing is nowhere."),
        ("x.at = me.at", "From now on the thing is where you are."),
        ("x.at = p", "From now on the thing is at the place p."),
        ("x.eggs_held += 1", "The thing's eggs held go up by 1."),
        ("x.b = not x.b", "Whether the thing is b changes to the opposite."),
        ("transfer x.n of x.n to f()", "All of the thing's n moves to the f."),
    ],
)
def test_changes(change: str, english: str) -> None:
    text = f"action a(x: Thing, p: Place, q: Place) {{ {change} }}"
    action = program(VOCABULARY + text).actions["a"]
    telling = English(program(VOCABULARY), {"me": "you"}).with_binders(action.params)
    assert [line for _, line in told(action.body, telling)] == [english]


def test_what_an_actor_holds_is_with_the_actor() -> None:
    text = """
    type Holder  type Hero : Holder  type Coin { at: Holder? }
    actor me: Hero
    relation with(a: Hero, b: Hero)
    action take(c: Coin) { require c.at != me  c.at = me }
    action give(c: Coin, h: Hero) { require with(me, h)  c.at = h }
    """
    book = rulebook(program(text)).to_markdown()
    for line in (
        "The coin is not with you.",
        "From now on the coin is with you.",
        "You are with the hero.",
        "From now on the coin is with the hero.",
    ):
        assert f"- {line}" in book


def test_facts_are_sentences() -> None:
    book = rulebook(program(VOCABULARY)).to_markdown()
    assert "- The thing is near exactly if the thing is where the actor is." in book
    assert "- A setting: 0% to 100%; 25% unless a world sets another value." in book
    assert "- True or false for each pair of places" in book


def test_words() -> None:
    assert spoken_name("isOpen") == "is open"
    assert [plural(word) for word in ("box", "berry", "pot", "day")] == [
        "boxes", "berries", "pots", "days",
    ]  # fmt: skip


def test_collections_truths_and_names_in_texts_are_english() -> None:
    text = """
    type Holder  type Thing { at: Holder? inverse contents nested closure inside }
    type Chest : Thing, Holder { lit: bool  old: bool  leads: Thing? }
    type Hero : Holder
    actor me: Hero
    action look(c: Chest) as "look at {c}" {
      let found = c.leads
      require found != none else dull "Nothing is in {c}."
      say "You see {the found} by {the c}, and {c}."
    }
    world w {
      endless
      object hero: Hero
      object the_box: Chest { lit = true  old = false  leads = the_box }
    }
    """
    book = rulebook(program(text)).to_markdown()
    for line in (
        "At: a holder, or nothing; nothing can contain itself. The “contents” of a holder are the "
        "things whose “at” is that holder. Its “inside” are all things from which “at” leads to "
        "it, step by step.",
        "“found” is not nothing. Else: “Nothing is in [chest].”",
        "It is said: “You see [found] by the chest, and [chest].”",
        "The box, a chest: lit, not old, leads the box.",
    ):
        assert f"- {line}" in book
    assert "the the" not in book
