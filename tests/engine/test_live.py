"""A world played in place comes to the same states as the interpreter, and back again."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.tiny import DOMAINS, play
from tests.engine.walks import BUNDLED, commands, engine_of, random_engine, tried
from tokenworld.engine import Engine, SeededLuck
from tokenworld.ground import Command

DONE = ("executed", "waiting", "interrupted")


def held(engine: Engine, seed: int, steps: int) -> int:
    """Play both ways, then undo; how many ticks were executed."""
    live, random, luck, state = engine.live(), Random(seed), SeededLuck(), engine.start()
    passed = [engine.hash(state)]
    executed = 0
    for _ in range(steps):
        legal = tried(engine, state)
        command = random.choice(legal if legal and random.random() < 0.8
                                else commands(engine, state))  # fmt: skip
        before, results = live.state(), engine.stepper.tick(state, command, luck)
        hash_before, last = engine.hash(before), results[-1]
        journal = live.apply(command)
        assert (journal is not None) == (last.status in DONE)
        if journal is not None:
            changes = [one for each in results for one in (*each.changes, *each.law_changes)]
            assert journal == changes
            executed += 1
        if journal is not None or last.time_passed or last.after.turn != state.turn:
            state = last.after
            passed.append(engine.hash(state))
        now = live.state()
        assert engine.hash(now) == passed[-1]
        assert engine.json(now) == engine.json(state)
        assert engine.hash(before) == hash_before, "a state that was given has changed"
        assert live.legal() == list(engine.legal(state))
    while live.depth:
        passed.pop()
        live.undo()
        assert engine.hash(live.state()) == passed[-1]
    assert len(passed) == 1
    return executed


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_worlds(name: str) -> None:
    assert held(engine_of(name), 7, 30) > 1


@settings(max_examples=10, deadline=None)
@given(world=st.integers(0, 10_000))
def test_random_worlds(world: int) -> None:
    engine = random_engine(world)
    if engine is not None:
        held(engine, world, 20)


BOXES = """
type Place
type Box { at: Place?  weight: 0 to 3  sealed: bool }
relation on(a: Box, b: Box)
action put(x: Box, y: Box) as "put {x} on {y}" { require x != y  add on(x, y)  remove on(y, x) }
action turn(x: Box, y: Box) as "turn {x} {y}" { add on(x, y)  remove on(y, x) }
action both(x: Box, y: Box) as "both {x} {y}" { x.weight = 1  y.weight = 2 }
action load(x: Box) as "load {x}" { x.weight += 2 }
action carry(x: Box, p: Place) as "carry {x} to {p}" { x.at = p  x.sealed = false }
world w {
  object here, there: Place
  object a: Box { at = here }
  object b: Box
  goal full: a.weight == 2 "Full."
}
"""


def test_cases_that_are_not_plain_after_all() -> None:
    """One slot named twice, a range left, an ending reached: all as the interpreter does them."""
    game = play(BOXES)
    engine, state = game.session.engine, game.state
    live, number = engine.live(), state.numbers.__getitem__
    assert {"turn", "both", "load", "carry", "put"} == set(engine._live_rules.steps)
    for name, args in (
        ("turn", ("a", "a")), ("put", ("a", "b")), ("turn", ("b", "a")), ("turn", ("a", "a")),
        ("both", ("b", "b")), ("both", ("b", "a")), ("load", ("b",)), ("carry", ("a", "there")),
    ):  # fmt: skip
        command = Command(name, tuple(map(number, args)))
        result = engine.stepper.tick(state, command, SeededLuck())[-1]
        journal = live.apply(command)
        assert (journal is None) == (result.status != "executed"), command
        assert journal is None or journal == result.changes
        state = result.after if journal is not None else state
        assert engine.json(live.state()) == engine.json(state), command
    assert live.state().latched == ("full",)
    assert live.apply(Command("load", (number("a"),))) is None, "the world is over"
    while live.depth:
        live.undo()
    assert engine.json(live.state()) == engine.json(game.state)


def test_undo_of_nothing() -> None:
    live = engine_of("blocks").live()
    with pytest.raises(IndexError):
        live.undo()


def test_actions_with_draws_draw_what_the_seed_says() -> None:
    engine = engine_of("frozen_lake")
    ends = set()
    for seed in range(8):
        state = engine.start(seed)
        live = engine.live(state)
        for _ in range(2):
            command = live.legal()[0]
            live.apply(command)
            state, _ = engine.play(state, command)
        assert engine.hash(live.state()) == engine.hash(state)
        ends.add(repr(engine.json(state)["objects"]))
    assert len(ends) > 1


def test_the_example_of_the_page() -> None:
    page = (DOMAINS.parent / "docs" / "live.md").read_text(encoding="utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    space: dict[str, object] = {}
    exec(code, space)
    assert space["journal"] is not None
    assert space["live"].depth == 0  # type: ignore[attr-defined]
