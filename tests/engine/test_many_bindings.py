"""Actions with more bindings than anybody can list."""

from __future__ import annotations

from tiny import play

RULES = """
type Hero { n: 0 to 9 = 0 }
actor me: Hero
action guess(x: 0 to 999999999999) as "guess {x}" {
  require x == 123456789 else wrong "No."
  me.n = 9
}
action wait() as "wait" { }
world w { object hero: Hero  goal g: hero.n == 9 }
"""


def test_they_are_not_listed_and_can_be_given() -> None:
    game = play(RULES)
    engine = game.session.engine
    assert engine.unlisted(engine.start()) == {"guess"}
    assert [one.action for one in engine.legal(game.session.state)] == ["wait"]
    assert game.records("guess 5")[0].status == "refused"
    assert game.records("guess 123456789")[0].status == "executed"


def test_nobody_claims_that_the_goal_cannot_be_reached() -> None:
    verdict = play(RULES).session.plan("g", time_limit=5)
    assert verdict.answer == "unknown"
