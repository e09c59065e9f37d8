"""Names of things that are no more: nothing breaks, and nothing holds of them."""

from __future__ import annotations

from tiny import play

RULES = """
type Thing { n: 0 to 9 = 3  near: Thing? }
type Hero { n: 0 to 9 = 1 }
actor me: Hero
object lamp: Thing
action smash(t: Thing) { destroy t }
action look() { let x = lamp.n  require x + 1 > 2 else gone "It is gone: {x}."  say "It is {x}." }
action polish(t: Thing) takes 3 { require t.n > 1 else dull "It is {t.n}."  t.n += 1 }
law glow() when lamp.n >= 3 { say "It glows." }
world w { object hero: Hero  object cup: Thing  goal g: lamp.n > 8 }
"""


def test_laws_and_goals_over_something_destroyed() -> None:
    game = play(RULES)
    assert "It glows." in game.records("pass")[0].said
    (record,) = game.records("smash(lamp)")
    assert record.status == "executed"
    assert record.said == ()
    assert game.records("pass")[0].status == "executed"


def test_a_require_over_something_destroyed_is_false() -> None:
    game = play(RULES)
    assert game.records("look()")[0].status == "executed"
    game.records("smash(lamp)")
    (record,) = game.records("look()")
    assert record.refusal is not None
    assert (record.status, record.refusal.label) == ("refused", "gone")
    assert record.refusal.text == "It is gone: nothing."
    assert not [one for one in game.session.engine.legal(game.session.state)
                if one.action == "look"]  # fmt: skip


def test_a_long_action_whose_argument_is_destroyed() -> None:
    game = play(RULES + "law crush(t: Thing) when tick() == 1 { destroy t }")
    game.records("polish(cup)")
    game.records("pass")
    record = game.records("pass")[-1]
    assert (record.status, record.cause) == ("interrupted", "dull")


def test_a_change_of_something_destroyed_is_left_alone() -> None:
    game = play(RULES.replace("require t.n > 1 else dull", "require t.n != 0 else dull")
                + "law crush(t: Thing) when tick() == 1 { destroy t }")  # fmt: skip
    game.records("polish(cup)")
    game.records("pass")
    record = game.records("pass")[-1]
    assert record.status == "executed"
    assert [one for one in record.changes if one.args == ("cup",)] == []


def test_a_derive_over_something_destroyed_does_not_hold() -> None:
    game = play(RULES + "derive heavy(t: Thing) = t.n + 1 > 3\n"
                "law weigh() when heavy(lamp) { say \"It is heavy.\" }")  # fmt: skip
    assert "It is heavy." in game.records("pass")[0].said
    game.records("smash(lamp)")
    (record,) = game.records("pass")
    assert (record.status, record.said) == ("executed", ())


def test_words_about_something_destroyed() -> None:
    game = play(RULES + 'action tell() { let x = lamp.n  say "One more is {x + 1}." }')
    assert game.records("tell()")[0].said == ("One more is 4.", "It glows.")
    game.records("smash(lamp)")
    assert game.records("tell()")[0].said == ("One more is nothing.",)
