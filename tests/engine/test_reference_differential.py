"""Engine and reference evaluator agree on every record and state of random worlds."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenworld.engine.applying import apply
from tokenworld.session import open_world
from tokenworld.tools.fuzzing import playing
from tokenworld.tools.fuzzing.constructs import CONSTRUCTS
from tokenworld.tools.fuzzing.fuzzing import CROWD, Report, fuzz, playable
from tokenworld.tools.fuzzing.playing import NoWorld, first_difference, open_program, opened
from tokenworld.tools.fuzzing.shrinking import shorter, smaller

DOMAINS = Path(__file__).parents[2] / "domains"
NAMES = sorted(path.parent.name for path in DOMAINS.glob("*/world.tw"))
TICKS = 20_000
WORLD_TICKS = 250


def shown(report: Report) -> str:
    return "" if report.found is None else f"{report.found.to_json()}"


def test_twenty_thousand_random_ticks_are_equal_and_reach_every_construct() -> None:
    """One test, for one campaign answers all three questions."""
    campaign = fuzz(TICKS, seed=1, per_world=WORLD_TICKS)
    assert campaign.found is None, shown(campaign)
    assert campaign.ticks >= TICKS
    assert len(CONSTRUCTS) > 150
    assert campaign.missing == ()
    assert campaign.unusable * 50 <= campaign.worlds, "the generator writes unsound worlds"


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
    """The engine forgets the last change of a body."""

    def forgetful(state: object, delta: object) -> object:
        delta.writes[1:] = []  # type: ignore[attr-defined]
        return apply(state, delta)  # type: ignore[arg-type]

    up, idle = {"action": "up", "args": []}, {"action": "idle", "args": []}
    assert first_difference(TINY, [up], 0) is None
    monkeypatch.setattr("tokenworld.engine.unit.plain_of", lambda *_: None)
    monkeypatch.setattr("tokenworld.engine.unit.apply", forgetful)
    found = first_difference(TINY, [idle, up], 0)
    assert found is not None
    assert found[0] == 1
    assert found[1].field == "record.changes"
    assert shorter([idle, idle, up], lambda few: first_difference(TINY, few, 0) is not None) == [up]
    less = smaller(TINY, lambda text: first_difference(text, [up], 0) is not None)
    assert "idle" not in less
    assert "me.m += 1" in less


def test_a_crash_of_the_engine_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise TypeError("oh")

    monkeypatch.setattr("tokenworld.engine.unit.plain_of", lambda *_: None)
    monkeypatch.setattr("tokenworld.engine.unit.apply", broken)
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
