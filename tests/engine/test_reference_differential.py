"""Engine and reference evaluator agree on every record and state of random worlds."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenworld.engine.reference import Tedious
from tokenworld.engine.rows.commit import commit
from tokenworld.session import open_world
from tokenworld.verbs.fuzz import playing
from tokenworld.verbs.fuzz.campaign import CROWD, Report, _play, fuzz, playable, shorter, smaller
from tokenworld.verbs.fuzz.constructs import CONSTRUCTS
from tokenworld.verbs.fuzz.playing import NoWorld, checked, first_difference, open_program, opened

DOMAINS = Path(__file__).parents[2] / "domains"
NAMES = sorted(path.parent.name for path in DOMAINS.glob("*/world.tw"))


def shown(report: Report) -> str:
    return "" if report.found is None else f"{report.found.to_json()}"


def test_random_ticks_are_equal() -> None:
    campaign = fuzz(160, seed=2, per_world=40)
    assert campaign.found is None, shown(campaign)
    assert campaign.ticks >= 160


@pytest.mark.slow
def test_random_ticks_are_equal_and_reach_every_construct() -> None:
    """One test, for one campaign answers all three questions."""
    campaign = fuzz(6_000, seed=1, per_world=75)
    assert campaign.found is None, shown(campaign)
    assert campaign.ticks >= 6_000
    assert len(CONSTRUCTS) > 150
    assert campaign.missing == ()
    assert campaign.unusable * 50 <= campaign.worlds, "the generator writes unsound worlds"


@pytest.mark.slow
def test_a_million_random_ticks_are_equal() -> None:
    """Some 40 minutes on an idle core."""
    campaign = fuzz(1_000_000, seed=15, per_world=100)
    assert campaign.found is None, shown(campaign)


@pytest.mark.parametrize("name", NAMES)
def test_bundled_worlds_are_equal(name: str) -> None:
    program = open_world(str(DOMAINS / name / "world.tw")).program
    for world in program.worlds:
        for seed in range(3):
            game, random = open_program(program, world, seed), Random(seed)
            game.start_agrees()
            for tick in range(120):
                if tick % 20 == 0:
                    game.asked()
                game.step(game.random_intent(random))


@settings(max_examples=15, deadline=None)
@given(world=st.integers(0, 10_000), seed=st.integers(0, 3), ticks=st.integers(1, 25))
def test_any_world_is_equal(world: int, seed: int, ticks: int) -> None:
    text = playable(world)
    if text is None:
        return
    try:
        game = opened(text, seed)
    except NoWorld:
        return
    random = Random(seed)
    game.start_agrees()
    for _ in range(ticks):
        game.step(game.random_intent(random))
        if len(game.state.kinds) > CROWD:
            break


# ---- the campaign itself notices -------------------------------------------------------------

TINY = """type Hero { n: 0 to 9 = 0  m: 0 to 9 = 0 }
actor me: Hero
action up() as "up" {
  me.n += 1
  me.m += 1
}
action idle() as "idle" { }
world w {
  object hero: Hero
}
"""


def test_a_mistake_of_the_engine_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stepper forgets the last change of a body."""

    def forgetful(state: object, asked: Any, *rest: object) -> object:
        asked.writes[1:] = []
        return commit(state, asked, *rest)

    up, idle = {"action": "up", "args": []}, {"action": "idle", "args": []}
    assert first_difference(TINY, [up], 0) is None
    monkeypatch.setattr("tokenworld.engine.rows.stepper.commit", forgetful)
    found = first_difference(TINY, [idle, up], 0)
    assert found is not None
    assert found[0] == 1
    assert found[1].field == "record.changes"
    assert shorter([idle, idle, up], lambda few: first_difference(TINY, few, 0) is not None) == [up]

    def shows(text: str) -> bool:
        less = first_difference(text, [up], 0)
        return less is not None and less[1].field == "record.changes"

    less = smaller(TINY, shows)
    assert "idle" not in less
    assert "me.m += 1" in less


def test_a_crash_of_the_engine_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise TypeError("oh")

    monkeypatch.setattr("tokenworld.engine.rows.stepper.commit", broken)
    found = first_difference(TINY, [{"action": "up", "args": []}], 0)
    assert found is not None
    assert found[1].field == "crash"


def test_the_same_seed_makes_the_same_world() -> None:
    assert playable(5) == playable(5)
    assert playing.canonical({"b": 1, "a": 2}) == '{"a": 2, "b": 1}'


def test_a_fact_about_something_destroyed_is_left_alone_by_both() -> None:
    text = """type Thing { n: 0 to 9 = 0 }
relation likes(a: Thing, b: Thing)
actor me: Thing
object cup: Thing
law end() when tick() == 1 { destroy cup }
law like(x: Thing) { add likes(cup, x) }
world w { object hero: Thing }
"""
    assert first_difference(text, [{"pass": True}] * 4, 0) is None


def test_what_is_born_was_where_it_was_born_on_both_sides() -> None:
    """`was` of a created object reads as it was given, inside and directly."""
    text = """type Thing { at: Thing? nested inverse contents closure inside  n: 0 to 9 = 0 }
actor me: Thing
object box: Thing { at = hero }
object hero: Thing
phase early
law make() during early when tick() == 0 { create c: Thing { at = box } }
law deep(x: Thing) when x in was hero.inside { x.n += 1 }
law near(x: Thing) when x in was box.contents { x.n += 2 }
world w { }
"""
    assert first_difference(text, [{"pass": True}] * 3, 0) is None
    game = playing.opened(text)
    game.step({"pass": True})
    born: Any = game.engine.json(game.state)["objects"][-1]
    assert born["attrs"]["n"] == 3


def test_a_step_by_a_number_of_something_destroyed_adds_nothing_on_both_sides() -> None:
    text = """type T { n: 0 to 9 = 3 }
actor me: T
object lamp: T
action smash() { destroy lamp }
action more() { me.n += clamp(lamp.n, 0, 1) }
action less() { me.n -= lamp.n }
world w { object hero: T }
"""
    intents = [{"action": name, "args": []} for name in ("less", "smash", "more", "less")]
    assert first_difference(text, [*intents, {"ask": True}], 0) is None


def test_a_weight_that_rests_on_something_destroyed_is_undefined_on_both_sides() -> None:
    text = """type T { n: 0 to 9 = 3 }
actor me: T
object lamp: T
action smash() { destroy lamp }
action drawn() { let x = pick { t: T by weight abs(lamp.n) }  me.n = x.n }
action least() { pick t: T by least lamp.n + t.n { t.n = 1 } }
world w { object hero: T }
"""
    names = ("drawn", "least", "smash", "drawn", "least")
    intents = [{"action": name, "args": []} for name in names]
    assert first_difference(text, [*intents, {"ask": True}], 0) is None


def test_a_probability_that_rests_on_something_destroyed_is_undefined_on_both_sides() -> None:
    text = """type T { n: 0 to 6 = 1 }
actor me: T
object lamp: T
action smash() { destroy lamp }
action drawn() { let x = chance clamp(lamp.n, 0, 1)  if x { me.n = 3 } }
action branch() { chance clamp(lamp.n, 0, 1) { me.n = 2 } }
world w { object hero: T  goal g: hero.n == 6 }
"""
    names = ("drawn", "branch", "smash", "drawn", "branch")
    intents = [{"action": name, "args": []} for name in names]
    assert first_difference(text, [*intents, {"ask": True}], 0) is None
    game = opened(text)
    statuses = [game.step(intent)[-1].status for intent in intents]
    assert statuses[2:] == ["executed", "error", "error"]


def test_words_are_read_alike_where_nothing_is_hidden() -> None:
    """Also where the place of a thing is secret, by which those in scope are sorted."""
    text = """type Box { secret at: Box? nested inverse contents }
actor me: Box
action open(b: Box) as "open {b}" { }
called b: Box = "box"
world w { object hero, far: Box  object near: Box { at = hero } }
"""
    assert first_difference(text, [{"ask": True}, {"text": "open box"}], 0) is None


def test_a_sum_over_what_rests_on_something_destroyed_is_none() -> None:
    text = """
        type Item { weight: 0 to 6 = 1 }
        type Box { n: int }
        object old: Item
        phase morning sequentially
        law burn() during morning { pick one: Item { destroy one } }
        law weigh(b: Box) during morning { b.n = sum(old.weight for c: Box) }
        world w { object box: Box { n = 5 }  object crate: Box { n = 5 } }
    """
    assert checked(text).program is not None
    assert first_difference(text, [{"pass": True}] * 2, 0) is None


def test_both_refuse_to_start_where_nobody_can_act() -> None:
    text = 'type Hero { }\nactor me: Hero\nworld w "W" { }\n'
    with pytest.raises(NoWorld, match="TW0608"):
        opened(text, 0)
    assert playable(0, lambda seed: text) is None


def test_a_tick_that_binds_millions_of_times_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "MOST_BINDINGS", 20_000)
    cells = "".join(f"object c{number}: Cell\n" for number in range(40))
    text = f"""
type Cell {{ n: 0 to 9 = 0 }}
type Hero {{ }}
actor me: Hero
action rest() {{ }}
law four() {{
  if any(a.n + b.n + c.n + d.n > 30 for a: Cell, b: Cell, c: Cell, d: Cell) {{ say "X" }}
}}
world w "W" {{ object hero: Hero
{cells} }}
"""
    with pytest.raises(Tedious):
        opened(text, 0).step({"pass": True})
    report = Report()
    _play(text, 0, 5, report)
    assert (report.ticks, report.found) == (0, None)
