"""Policies played with the luck of many seeds: the certain ones never lose, the others as often
as was computed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest

from tokenworld.planning.space.luck import LuckVerdict
from tokenworld.planning.space.policy import Policy, read_policy, wilson
from tokenworld.session import OpenWorld, Session
from tokenworld.session.players import policy_player
from tokenworld.session.solving import plan_for_seed, solve_luck

Tiny = Callable[[str], OpenWorld]

RAIN = """
type Field { wet: 0 to 3 = 1  crop: 0 to 3 = 0 }
type Farmer { luck: bool }
actor me: Farmer
phase sky
phase soil
action wait() {}
action water(f: Field) { require f.wet < 2  f.wet += 1 }
action sow(f: Field) { require f.crop == 0  chance 70% { f.crop = 1 } }
law rain(f: Field) during sky when f.wet < 3 { chance 30% { f.wet += 1 } }
law grow(f: Field) during soil when f.crop in [1, 2] and f.wet in [1, 2] { f.crop += 1 }
law dry(f: Field) during soil when f.wet > 0 { chance 60% { f.wet -= 1 } }
law rot(f: Field) during soil when f.wet == 3 and f.crop == 1 { f.crop = 0 }
world w { object farmer: Farmer  object acre: Field  goal ripe: acre.crop == 3 }
"""
DICE = """
type Hero { rung: 0 to 5 = 1 }
actor me: Hero
action bold() { require me.rung > 0  chance 40% { me.rung += 1 } else { me.rung -= 1 } }
action timid() {
  require me.rung > 0 and me.rung < 4
  chance 50% { me.rung += 1 } or 10% { me.rung -= 1 }
}
world w { object hero: Hero  goal top: hero.rung == 5 }
"""
NESTS = """
type Nest { fledged: 0 to 3 = 0 }
type Egg { warm: bool }
action lay(n: Nest) { require count(e for e: Egg) == 0  create e: Egg { warm = false } }
action brood(e: Egg, n: Nest) { chance 50% { n.fledged += 1  destroy e } or 25% { destroy e } }
world w { object nest: Nest  spare Egg 1  goal full: nest.fledged == 3 }
"""


def solved(world: OpenWorld, luck: str) -> LuckVerdict:
    return solve_luck(
        world.engine, world.engine.start(), None, luck,  # type: ignore[arg-type]
        states=20_000, time_limit=30.0,
    )  # fmt: skip


def wins(world: OpenWorld, policy: Policy, seed: int) -> bool:
    session = Session(world, seed)
    for intent in policy_player(policy)(session):
        outcomes = session.intend(intent)
        assert outcomes[-1].status == "executed"
    return session.won()


@pytest.mark.parametrize("text", [RAIN, NESTS], ids=["rain", "nests"])
def test_a_certain_policy_wins_under_every_seed(tiny: Tiny, text: str) -> None:
    world = tiny(text)
    found = solved(world, "certain")
    assert (found.answer, found.complete) == ("certain", True)
    assert found.policy is not None
    policy = read_policy(found.policy.text(), "policy")
    assert policy == found.policy
    assert all(wins(world, policy, seed) for seed in range(25))


@pytest.mark.parametrize("plays", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_the_computed_probability_is_how_often_the_policy_wins(tiny: Tiny, plays: int) -> None:
    world = tiny(DICE)
    found = solved(world, "probability")
    assert found.exact == Fraction(50, 63)
    assert found.policy is not None
    won = sum(wins(world, found.policy, seed) for seed in range(plays))
    low, high = wilson(won, plays)
    assert low < 50 / 63 < high


def test_three_faces_by_weight(tiny: Tiny) -> None:
    """Weights 1, 2 and 3, and one try: the middle one has a third."""
    text = """
enum Face { low < middle < high }
type Die { face: Face? }
action roll(d: Die) { require d.face == none
  pick f: Face by weight (if f == low then 1 else if f == middle then 2 else 3) { d.face = f } }
world w { object die: Die  goal even: die.face == middle }
"""
    found = solved(tiny(text), "probability")
    assert found.exact == Fraction(1, 3)


def test_free_luck_is_tried_again(tiny: Tiny) -> None:
    """A toss that takes no time draws anew each time."""
    text = """
type Coin { heads: bool }
action toss(c: Coin) takes 0 { chance 50% { c.heads = true } }
world w { object coin: Coin  goal rich: coin.heads }
"""
    world = tiny(text)
    found = solved(world, "certain")
    assert (found.answer, found.exit_code) == ("certain", 0)
    assert found.policy is not None
    assert all(wins(world, found.policy, seed) for seed in range(25))


DOOR = """
type Door { force: 0 to 3 = 2  open: bool  worn: 0 to 9 clamped }
type Hero
actor me: Hero
action push(d: Door) takes 0 { chance 1/2 { d.force += 2 } else { d.open = true } }
action rest(d: Door) { d.force = 2 }
law rust(d: Door) { d.worn += 1 }
world w { object hero: Hero  object door: Door  lose late: door.worn == 9  goal out: door.open }
"""


def test_what_luck_refuses_is_not_asked_again_in_its_tick(tiny: Tiny) -> None:
    """A push that luck refuses falls the same until a tick has passed: eight ticks, nine tries."""
    world = tiny(DOOR)
    found = solved(world, "probability")
    assert found.exact == 1 - Fraction(1, 2**9)
    assert found.policy is not None
    for seed in range(20):
        session = Session(world, seed)
        statuses = [
            session.intend(intent)[-1].status for intent in policy_player(found.policy)(session)
        ]
        assert session.won()
        assert not any(pair == ("refused", "refused") for pair in pairwise(statuses))


def test_a_plan_for_a_seed_waits_for_other_luck(tiny: Tiny) -> None:
    world = tiny(DOOR)
    for seed in range(8):
        state = world.engine.start(seed)
        steps, verdict = plan_for_seed(world.engine, state, None, time_limit=30)
        assert verdict.answer == "winnable"
        session = Session(world, seed)
        assert all(session.intend(one.command)[-1].status == "executed" for one in steps)
        assert session.won()
