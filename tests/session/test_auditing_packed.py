"""An audit on packed states tells what an audit by the interpreter tells, to the last example."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.diagnostics import Source
from tokenworld.planning.space.packed_graph import PackedGraph
from tokenworld.session import OpenWorld, open_world
from tokenworld.session import solving as exploring
from tokenworld.session.loading import open_text
from tokenworld.verbs.audit.analysis import Audit, audit

DOMAINS = Path(__file__).parents[2] / "domains"

# Rules that never happen, an ending and an award out of reach, a watch, a long action, luck.
TOWER = """
enum Sky { fair, rain }
type Hero { floor: 0 to 6 = 0  keys: 0 to 2 = 0  tired: 0 to 3 clamped = 0  sky: Sky = fair }
actor me: Hero
phase body
action climb() { require me.floor < 6  require me.tired < 3  me.floor += 1 }
action fall() { require me.floor > 3  require me.keys == 2  me.floor = 0 }
action take() { require me.keys < 2  require me.floor == 2  me.keys += 1 }
action rest() takes 2 { require me.tired > 0  me.tired = 0 }
action fly() { require me.keys > 1 and me.floor == 1  require me.tired == 0  me.floor = 6 }
action melt() { require me.keys == 0  require me.keys == 2  me.floor = 0 }
action stay() { require me.floor == 2  require me.keys + me.floor > 1  me.tired = 3 }
law tire() during body when me.floor > 2 { me.tired += 1 }
law drown() during body when me.floor == 1 and me.keys == 2 and me.tired == 3 { me.floor = 0 }
law shine() during body when me.floor == 0 and me.tired == 3 and me.keys == 1 { me.keys = 0 }
watch high(h: Hero) when h.floor == 6 { say "High." }
watch deep(h: Hero) when h.floor == 5 and h.keys == 2 and h.tired == 0 { say "Deep." }
world w {
  object hero: Hero
  award 1 when hero.floor == 4
  award 2 when hero.floor == 6 and hero.keys == 0 and hero.tired == 0
  lose spent: hero.floor == 5 and hero.tired == 3 "You sink down."
  goal top: hero.floor == 6 and hero.keys == 2 "The top."
}
"""
LUCKY = TOWER.replace(
    "law tire() during body when me.floor > 2 { me.tired += 1 }",
    "law tire() during body when me.floor > 2 { chance 50% { me.tired += 1 } }",
)


def both(world: OpenWorld, monkeypatch: pytest.MonkeyPatch) -> tuple[Audit, Audit]:
    monkeypatch.setattr(exploring, "_SMALL", 5)
    small = audit(world, None, states=100_000, seconds=120)
    assert isinstance(small.graph, PackedGraph)
    monkeypatch.setattr(exploring, "_SMALL", 1_000_000)
    plain = audit(world, None, states=100_000, seconds=120)
    assert not isinstance(plain.graph, PackedGraph)
    return small, plain


def agree(small: Audit, plain: Audit) -> None:
    assert small.parts.places == plain.parts.places
    assert small.parts.solutions == plain.parts.solutions
    for part in (
        "dead_ends", "cruelty", "doors", "components", "solution", "solution_ticks", "idle",
        "never_refuses", "looked_at", "playing", "unread", "secrets", "guesses",
    ):  # fmt: skip
        assert getattr(small, part) == getattr(plain, part), part


@pytest.mark.parametrize("text", [TOWER, LUCKY], ids=["laws", "luck"])
def test_what_happens_and_what_never_does(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small, plain = both(open_text((Source("t.tw", None, text),), "w"), monkeypatch)
    agree(small, plain)
    assert small.idle
    assert small.dead_ends


@pytest.mark.parametrize(
    "name",
    ["greenhouse/world.tw", "skirmish/more.tw:two", "skirmish/world.tw", "workshop/world.tw",
     "cellar/world.tw", "blocks/world.tw", "frozen_lake/world.tw", "taxi/world.tw"],
)  # fmt: skip
def test_the_worlds_of_the_project(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(*both(open_world(f"{DOMAINS}/{name}"), monkeypatch))
