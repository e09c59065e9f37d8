"""Policies played with the luck of many seeds: the certain ones never lose, the others as often
as was computed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from tokenworld.planning.space.policy import Policy, read_policy
from tokenworld.planning.space.sampling import wilson
from tokenworld.planning.space.verdicts import LuckVerdict
from tokenworld.session import OpenWorld, Session
from tokenworld.session.players import policy_player
from tokenworld.session.solving import solve_luck

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


def test_the_computed_probability_is_how_often_the_policy_wins(tiny: Tiny) -> None:
    world = tiny(DICE)
    found = solved(world, "probability")
    assert found.exact == Fraction(50, 63)
    assert found.policy is not None
    plays = 300
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


def test_free_luck_is_not_tried_again(tiny: Tiny) -> None:
    """A toss that takes no time falls the same until time passes, so it promises nothing."""
    text = """
type Coin { heads: bool }
action toss(c: Coin) takes 0 { chance 50% { c.heads = true } }
world w { object coin: Coin  goal rich: coin.heads }
"""
    found = solved(tiny(text), "certain")
    assert (found.answer, found.exit_code) == ("unknown", 3)
