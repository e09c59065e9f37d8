"""Small worlds for learners; without the extra `gym` there is nothing to test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import OpenWorld
from tokenworld.session.loading import open_text

Tiny = Callable[[str], OpenWorld]

FARM = """
type Hero { strength: 0 to 3 = 1 }
type Egg { hot: bool = false  worth: 0.0 to 9.5 = 2.5  mother: Hero?  note: text = "-" }
enum Mood { calm, cross }
function mood(): Mood = calm
function bid(): int? = none
relation likes(h: Hero, e: Egg)
actor me: Hero
action lay() as "lay" { create e: Egg { mother = me }  add likes(me, e)  reward 2 }
action heat(e: Egg) as "heat {e}" {
  require not e.hot else hot "{The e} is hot."
  e.hot = true  mood() = cross  bid() = -4  e.note = "warm"
}
action smash(e: Egg) as "smash {e}" { destroy e  reward -0.5 }
world w {
  object hen: Hero
  object one: Egg
  goal hatched: all(e.hot for e: Egg) and count(e for e: Egg) == 2
  stop bare: not any(true for e: Egg)
  lose tired: tick() == 6
}
"""
"""Objects are created and destroyed, and every kind of value changes."""

ARENA = """
type Hero { gold: 0 to 99 = 0  age: 0 to 99 = 0 }
actor me: Hero
law grow(h: Hero) { h.age += 1 }
action earn() as "earn" { me.gold += 1  say "{me} earns." }
action look() as "look" takes 0 { say "{me} looks." }
action take(h: Hero) as "take {h}" {
  require h.gold > 0 else poor "{The h} has nothing."
  h.gold -= 1  me.gold += 1
}
action slay(h: Hero) as "slay {h}" { destroy h }
world w {
  object anna, bran, cora: Hero
  turns anna, bran, cora
  score = max(0, sum(h.gold for h: Hero))
  goal rich: any(h.gold == 5 for h: Hero)
  stop late: tick() == 40
}
"""
"""Three actors who act in rounds, and may kill each other."""


@pytest.fixture
def tiny() -> Tiny:
    """The world ``w`` of a program."""
    return lambda text: open_text((Source("t.tw", None, text),), "w")


@pytest.fixture
def farm(tiny: Tiny) -> OpenWorld:
    return tiny(FARM)


@pytest.fixture
def arena(tiny: Tiny) -> OpenWorld:
    return tiny(ARENA)
