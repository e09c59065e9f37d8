"""Plain functions come to what the general way comes to, and know what is not theirs."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.tiny import play
from tests.engine.walks import BUNDLED, engine_of, random_engine, walk
from tokenworld.engine import Engine, SeededLuck, unit
from tokenworld.engine.plain import plain_of
from tokenworld.engine.result import Result
from tokenworld.engine.state import State
from tokenworld.ground import Command


def told(engine: Engine, results: list[Result]) -> list[object]:
    """All that a tick came to, but for the states themselves."""
    return [
        (one.status, one.changes, one.law_changes, one.refused, one.generated, one.draws,
         one.latched, engine.hash(one.after))
        for one in results
    ]  # fmt: skip


def generally(engine: Engine, state: State, command: Command) -> list[object]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unit, "plain_of", lambda code, action: None)
        return told(engine, engine.stepper.tick(state, command, SeededLuck()))


def held(engine: Engine, seed: int, steps: int) -> int:
    """How many ticks were of an action with a plain function; all come to the same."""
    count = 0
    for state, command in walk(engine, Random(seed), steps):
        results = engine.stepper.tick(state, command, SeededLuck())
        assert told(engine, results) == generally(engine, state, command), command
        if not command.is_pass:
            code = engine.code.actions[command.action]
            assert engine.stepper.unit.keeps(state, command) == (
                engine.stepper.unit.refusal(state, command) is None
            )
            count += plain_of(engine.code, code.action) is not None
    return count


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_worlds(name: str) -> None:
    count = held(engine_of(name), 4, 30)
    assert count > 3 or name in ("cliff_walking", "frozen_lake")


@settings(max_examples=10, deadline=None)
@given(world=st.integers(0, 10_000))
def test_random_worlds(world: int) -> None:
    engine = random_engine(world)
    if engine is not None:
        held(engine, world, 15)


CASES = """
enum Mood { calm, angry }
type Thing {
  on: bool  n: 0 to 5  clampy: 0 to 5 clamped  pal: Thing?  at: Thing? nested  seat: Thing? unique
  mood: Mood
}
relation likes(a: Thing, b: Thing) symmetric
relation knows(a: Thing, b: Thing)
conserve total: sum(x.n for x: Thing)
action absent(x: Thing) as "absent {x}" { x.on = x.pal.on }
action swap_them(x: Thing, y: Thing) as "swap {x} {y}" { swap x.mood, y.mood }
action give(x: Thing, y: Thing, k: 0 to 3) as "give {k} {x} {y}" { transfer k of x.n to y.n }
action add_up(x: Thing) as "add {x}" { x.clampy += 3 }
action put(x: Thing, y: Thing) as "put {x} {y}" { x.at = y }
action sit(x: Thing, y: Thing) as "sit {x} {y}" { x.seat = y }
action like(x: Thing, y: Thing) as "like {x} {y}" {
  require x != y
  add likes(x, y)
  add knows(y, x)
}
action leave(x: Thing, y: Thing) as "leave {x} {y}" { remove likes(y, x)  remove knows(x, y) }
action turn(x: Thing, y: Thing) as "turn {x} {y}" {
  if x.mood == calm {
    let z = x.pal
    x.mood = angry
    if y.on { y.mood = calm }
    else { y.on = true }
    say "{The x} is cross."
  }
  else { x.mood = calm  x.on = false }
}
action befriend(x: Thing, y: Thing) as "befriend {x} {y}" { x.pal = y }
action calm_all() as "calm all" { for x: Thing where x.on { x.mood = calm } }
action spread(x: Thing) as "spread {x}" {
  require x.on
  let k = x.n
  for y: Thing where y != x { if y.clampy < k { let j = y.clampy + k  y.clampy = j } }
  for y: Thing { add knows(x, y) }
  x.on = false
}
action meet_all(x: Thing) as "meet all {x}" { for y: Thing { add likes(x, y) } }
action forget(x: Thing) as "forget {x}" { if x.on { for y: Thing { remove knows(y, x) } } }
action gather(x: Thing) as "gather {x}" { for y: Thing { x.clampy = y.n } }
action befriend_all(x: Thing) as "befriend all {x}" { for y: Thing { y.pal = x.at } }
world w { object a: Thing { n = 3  on = true }  object b: Thing { n = 1 }  object c: Thing }
"""


def test_every_case_on_every_state_of_a_walk() -> None:
    engine = play(CASES).session.engine
    made = {name for name, one in engine.code.actions.items() if plain_of(engine.code, one.action)}
    assert made == set(engine.code.actions)
    for seed in range(6):
        assert held(engine, seed, 60) > 40
