"""A plan made for the seed is followed to its goal, also where its first luck does not come."""

from __future__ import annotations

from tokenworld.diagnostics import Source
from tokenworld.play.model.game import Game
from tokenworld.session import Session, plan_for_seed
from tokenworld.session.loading import open_text
from tokenworld.verbs.output import UNICODE

COIN = """
type Coin { up: bool  tries: 0 to 9 clamped = 0 }
action toss(c: Coin) as "toss {c}" {
  c.tries += 1
  chance 30% { c.up = true }
}
world coin { object penny: Coin  goal heads: penny.up }
"""


def unlucky_session() -> Session:
    """A run whose first toss fails."""
    world = open_text((Source("coin.tw", None, COIN),), "coin")
    for seed in range(20):
        session = Session(world, seed)
        session.intend("toss penny")
        if not session.won():
            return Session(world, seed)
    raise AssertionError("every seed is lucky")


def test_the_plan_for_a_seed_is_played_to_the_goal() -> None:
    session = unlucky_session()
    steps, verdict = plan_for_seed(session.engine, session.state, None, time_limit=20.0)
    assert verdict.wins_with_seed is False
    assert len(steps) > 1
    game = Game(session, UNICODE, steps, verdict)
    for _ in steps:
        assert game.play_step()
    assert session.won()
