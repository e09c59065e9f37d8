"""The rulebook: every bundled world told in English, and the wording of single terms."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tokenworld.check import check_source
from tokenworld.diagnostics import Source, read_source
from tokenworld.model import Program
from tokenworld.prose.english import English, plural, spoken_name
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
type Place  type Thing { at: Place?  n: 0 to 9 = 1  b: bool  isOpen: bool  lock: Lock }
type Box : Thing  type Hero { at: Place }
actor me: Hero
relation linked(a: Place, b: Place)  function f(): 0 to 9 = 0  param rate: 0% to 100% = 25%
derive near(x: Thing) = x.at == me.at
"""


@pytest.mark.parametrize(
    ("condition", "english"),
    [
        ("x.at == me.at", "the thing is at your at"),
        ("x.at != none", "the thing is at anything"),
        ("not x.b", "the thing is not b"),
        ("x.isOpen", "the thing is open"),
        ("not x.isOpen", "it is not so that the thing is open"),
        ("x.n > 3 and x is Box", "the thing's n is more than 3 and the thing is a box"),
        ("x.b and (x.n == 1 or x.n == 2)",
         "the thing is b and (the thing's n is 1 or the thing's n is 2)"),
        ("not (x.n < 3)", "the thing's n is at least 3"),
        ("x.lock in [open, closed]", "the thing's lock is one of open or closed"),
        ("any(y.b for y: Box)", "there is a box such that the box is b"),
        ("not any(y.b for y: Thing)",
         "it is not so that there is a thing y such that the thing y is b"),
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


def test_words() -> None:
    assert spoken_name("isOpen") == "is open"
    assert [plural(word) for word in ("box", "berry", "pot", "day")] == [
        "boxes", "berries", "pots", "days",
    ]  # fmt: skip
