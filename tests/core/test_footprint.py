"""Footprints: what rules touch, derives included, beside the walks over the checked model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tokenworld.check import check_source
from tokenworld.core import Footprint, lowered
from tokenworld.diagnostics import Source, has_errors, read_source
from tokenworld.model import effects_in, fluents_read, targets_of, terms_of

DOMAINS = Path(__file__).parents[2] / "domains"
WORLDS = sorted(DOMAINS.glob("*/world.tw"))

TEXT = """
type Room { lit: bool  way: Room?  warm: bool = true }
type Hero { at: Room?  seen: 0 to 9 clamped }
actor me: Hero
derive dark(r: Room) = not r.lit
derive reach(a: Room, b: Room) = a.way == b or any(a.way == c and reach(c, b) for c: Room)
action go(r: Room) { require reach(me.at, r) and not dark(r)  me.at = r }
law tire(h: Hero) when h.at != was h.at { chance 50% { h.seen += 1 } }
law wake(h: Hero) when tick() > 3 { create r: Room { lit = true }  h.at = r }
world w { object hero: Hero { at = hall }  object hall: Room  goal g: hero.seen == 3 }
"""


def footprints() -> dict[str, Footprint]:
    checked = check_source(Source("test.tw", None, TEXT))
    assert not has_errors(checked.diagnostics), checked.diagnostics
    assert checked.program is not None
    rules = lowered(checked.program)
    return {one.name: one.footprint for one in (*rules.actions.values(), *rules.laws.values())}


def test_a_derive_is_followed_through_its_own_uses() -> None:
    go = footprints()["go"]
    assert go.reads == {"Hero.at", "Room.way", "Room.lit"}
    assert go.writes == {"Hero.at"}
    assert go.types == {"Room"}
    assert go.acts
    assert not go.draws
    assert not go.looks_back


def test_a_law_that_looks_back_and_draws() -> None:
    tire = footprints()["tire"]
    assert (tire.reads, tire.was, tire.writes) == ({"Hero.at"}, {"Hero.at"}, {"Hero.seen"})
    assert tire.draws
    assert tire.looks_back


def test_clock_and_creation() -> None:
    wake = footprints()["wake"]
    assert wake.asks == {"tick"}
    assert wake.creates == {"Room"}
    assert wake.writes >= {"Room.lit", "Room.warm", "Hero.at"}
    assert wake.named == {"Room.lit", "Hero.at"}


def test_what_creation_fills_in_by_default_does_not_change_in_play() -> None:
    checked = check_source(Source("test.tw", None, TEXT))
    assert checked.program is not None
    rules = lowered(checked.program)
    assert rules.changing - rules.changed_in_play == {"Room.warm"}
    assert "Room.warm" in rules.changing
    wake = rules.laws["wake"].footprint
    assert wake.may_change(frozenset({"Room.lit"}))
    assert not wake.may_change(frozenset({"Room.warm"}))
    assert replace(wake, destroys=True).may_change(frozenset({"Room.warm"}))
    assert not replace(wake, destroys=True).may_change(frozenset())


@pytest.mark.parametrize("path", WORLDS, ids=lambda path: path.parent.name)
def test_laws_of_bundled_worlds_touch_what_the_model_says(path: Path) -> None:
    program = check_source(read_source(path)).program
    assert program is not None
    for name, law in lowered(program).laws.items():
        body = tuple(effects_in(program.laws[name].body))
        when = program.laws[name].when
        terms = (*(() if when is None else (when,)), *(t for one in body for t in terms_of(one)))
        assert law.footprint.reads | law.footprint.was == fluents_read(terms, program.derives)
        targets = {target.fluent for one in body for target in targets_of(one)}
        assert targets <= law.footprint.writes


def test_rules_are_remembered_for_the_last_few_programs_only() -> None:
    checked = check_source(Source("test.tw", None, TEXT))
    assert checked.program is not None
    rules = lowered(checked.program)
    assert lowered(checked.program) is rules
    others = [replace(checked.program) for _ in range(16)]
    assert all(lowered(one) is not rules for one in others)
    again = lowered(checked.program)
    assert again is not rules
    assert again.actions["go"].footprint == rules.actions["go"].footprint
