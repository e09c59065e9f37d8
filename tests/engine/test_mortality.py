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


def test_a_score_over_something_destroyed_counts_nothing() -> None:
    text = RULES.replace(
        "goal g:",
        "score = lamp.n  award lamp.n + 1 when tick() == 1  reward lamp.n when tick() > 1  goal g:",
    )
    game = play(text)
    assert game.records("pass")[0].score == 3 + 4
    (record,) = game.records("smash(lamp)")
    assert (record.status, record.score, record.reward) == ("executed", 0, 0)


RING = """
type Box { at: Box? nested inverse contents }
actor me: Box
action fold(x: Box, y: Box) {
  me.at = x
  destroy y
}
action vanish(x: Box) {
  x.at = x
  destroy x
}
world w { object hero: Box  object a: Box { at = hero }  object b: Box { at = a } }
"""


def test_contents_that_would_come_to_lie_in_themselves_keep_it_from_happening() -> None:
    game = play(RING)
    for words in ("fold(a, a)", "fold(b, a)", "vanish(a)", "vanish(b)"):
        record = game.do(words)
        assert record.refusal is not None, words
        assert record.refusal.label == "cycle", words
        assert game.get("b.at") == "a"


def test_a_description_with_an_undefined_number_says_so() -> None:
    game = play(RULES + 'describe t: Thing { say "{1 div (t.n - 3)}" }')
    engine, state = game.session.engine, game.session.state
    assert "divided by zero" in engine.describe(state, state.numbers["lamp"])


def test_a_number_keeps_its_value_where_the_new_one_rests_on_something_destroyed() -> None:
    game = play(
        """
        type Thing { n: 0 to 9 = 3  mood: Mood = glad }
        enum Mood { sad, glad }
        actor me: Thing
        object lamp: Thing
        action smash() { destroy lamp }
        action copy() { me.n = lamp.n + 1  me.mood = lamp.mood }
        action make() { create t: Thing { n = lamp.n } }
        action trade() { swap me.n, lamp.n }
        world w { object hero: Thing { n = 5 } }
        """
    )
    for words in ("smash()", "copy()", "make()", "trade()"):
        assert game.do(words).status == "executed", words
    assert (game.get("hero.n"), game.get("hero.mood")) == (5, "glad")
    assert {one["attrs"]["n"] for one in game.session.engine.json(game.state)["objects"]} == {5, 0}
