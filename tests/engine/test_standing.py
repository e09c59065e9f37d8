"""Legal commands by joins and agendas are those that trying every binding finds."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.tiny import play
from tests.engine.walks import BUNDLED, commands, engine_of, random_engine, tried, walk
from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, SeededLuck, simultaneous
from tokenworld.engine.agenda import Agenda
from tokenworld.engine.legal import standing
from tokenworld.ground import Command
from tokenworld.session import Session
from tokenworld.session.loading import open_text


def held(engine: Engine, seed: int, steps: int) -> int:
    """How many lists were the same as the one by trying all."""
    count = 0
    for state, _ in walk(engine, Random(seed), steps):
        assert list(engine.allowed(state)) == tried(engine, state, any_luck=True)
        legal = [one for one in tried(engine, state)
                 if engine.stepper.unit.refusal(state, one) is None]  # fmt: skip
        assert list(engine.legal(state)) == legal
        count += bool(legal)
    return count


@pytest.mark.parametrize("small", [0, 256])
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_worlds(name: str, small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "SMALL", small)
    assert held(engine_of(name), 5, 40) > 1


@settings(max_examples=8, deadline=None)
@given(world=st.integers(0, 10_000), small=st.sampled_from([0, 256]))
def test_random_worlds(world: int, small: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(standing, "SMALL", small)
        engine = random_engine(world)
        if engine is not None:
            held(engine, world, 25)


def test_a_join_starts_from_what_is_rare() -> None:
    """Nobody is tried for whom the first fact does not hold: the cost follows the facts."""
    engine = engine_of("blocks")
    state = engine.start()
    list(engine.allowed(state))
    kept = engine._standing
    assert kept._joins is not None
    assert {"pick-up", "stack", "unstack", "put-down"} <= set(kept._joins.joins)


SWITCHES = """
type Lamp { lit: bool  broken: bool }
relation wired(a: Lamp, b: Lamp)
action switch(x: Lamp) as "switch {x}" { require not x.broken  x.lit = not x.lit }
action join(x: Lamp, y: Lamp) as "join {x} {y}" {
  require x.lit and y.lit and x != y
  add wired(x, y)
}
action snap(x: Lamp) as "snap {x}" { require x.lit  x.broken = true  x.lit = false }
world w { object a, b, c, d: Lamp }
"""


def test_only_what_waits_at_a_changed_slot_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "SMALL", 0)
    session = Session(open_text((Source("w.tw", None, SWITCHES),), "w"))
    engine, state, tries = session.engine, session.state, list[int]()
    real = Agenda._try

    def counted(self: Agenda, now: object, numbers: object) -> None:
        numbers = list(numbers)  # type: ignore[call-overload]
        tries.append(len(numbers))
        real(self, now, numbers)  # type: ignore[arg-type]

    monkeypatch.setattr(Agenda, "_try", counted)
    for _ in range(2):
        list(engine.allowed(state))
    assert tries == [4 + 16 + 4]
    number = state.numbers["a"]
    state = engine.stepper.tick(state, Command("switch", (number,)), SeededLuck())[-1].after
    assert list(engine.allowed(state)) == tried(engine, state, any_luck=True)
    assert tries[1] <= 1 + 8 + 1


def test_a_given_may_change_what_play_never_does() -> None:
    game = play("""
        type Door { open: bool  stuck: bool }
        action push(d: Door) as "push {d}" { require not d.stuck  d.open = true }
        world w { object d: Door }
    """)
    engine, state = game.session.engine, game.state
    assert [one.action for one in engine.allowed(state)] == ["push"]
    stuck = state.fork()
    column = engine.layout.by_id["Door.stuck"]
    stuck.put(column, state.numbers["d"], True)
    stuck.trail.roll = True
    assert list(engine.allowed(stuck)) == tried(engine, stuck) == []


def histories(few: int, seed: int) -> list[str]:
    """The hashes of random play of bundled worlds, with laws kept from so many bindings on."""
    found: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simultaneous, "FEW", few)
        for name in ("greenhouse", "cottage", "kitchen", "skirmish"):
            engine, random = engine_of(name), Random(seed)
            state = engine.start()
            for _ in range(30):
                legal = tried(engine, state)
                if not legal:
                    break
                state, _ = engine.play(state, random.choice(legal))
                found.append(engine.hash(state))
    return found


def test_kept_laws_do_what_all_laws_do() -> None:
    assert histories(1, 3) == histories(10**9, 3)


@settings(max_examples=8, deadline=None)
@given(world=st.integers(0, 10_000))
def test_kept_laws_of_random_worlds(world: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simultaneous, "FEW", 1)
        keeping = random_engine(world)
    plain = random_engine(world)
    if keeping is None or plain is None:
        return
    random, state, other = Random(world), plain.start(), keeping.start()
    for _ in range(20):
        legal = tried(plain, state)
        command = random.choice(legal or commands(plain, state))
        state, other = plain.play(state, command)[0], keeping.play(other, command)[0]
        assert keeping.hash(other) == plain.hash(state)


def test_a_require_may_ask_for_a_text() -> None:
    """What a text is compared with is code of its own, which the loops must bring along."""
    game = play("""
    type Hen { name: text = ""  n: 0 to 3 = 1 }
    object hen: Hen
    action call(h: Hen) { h.name = "{h.n}" }
    action see(h: Hen) { require h.name == "1" else shy "Who?"  h.n = 0 }
    world w { goal g: hen.n == 0 }
    """)
    assert [one.action for one in game.session.engine.allowed(game.state)] == ["call"]
