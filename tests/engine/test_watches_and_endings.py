"""Watches, awards, score, goals, losses, and where play ends (language.md §7, §8 steps 11, 12)."""

from __future__ import annotations

from typing import Any

from tiny import Game, play


def world(rules: str, settings: str = "") -> Game:
    return play(
        f"""
        type T {{ a: 0 to 99 = 0  b: 0 to 99 = 0 }}
        actor me: T
        event rang(t: T)
        action set(n: 0 to 99) {{ me.a = n  say "set" }}
        action both(n: 0 to 99) {{ for t: T {{ t.a = n }} }}
        action free(n: 0 to 99) takes 0 {{ me.a = n }}
        {rules}
        world w "W" {{ object h, k: T  {settings} }}
        """
    )


def said(game: Game, *intents: str) -> list[tuple[str, ...]]:
    return [game.do(intent).said for intent in intents]


# ---- watches ----------------------------------------------------------------------------


def test_a_watch_fires_when_its_condition_becomes_true() -> None:
    game = world('watch high(t: T) when t.a >= 5 { say "{t} high" emit rang(t) }')
    assert said(game, "set(4)", "set(5)", "set(6)", "set(1)", "set(9)") == [
        ("set",), ("set", "h high"), ("set",), ("set",), ("set", "h high"),
    ]  # fmt: skip
    assert game.do("both(7)").events == (("rang", ("k",)),)


def test_a_watch_is_silent_in_the_start_state_and_after_a_given() -> None:
    game = world('watch low(t: T) when t.a < 5 { say "low" }')
    assert said(game, "set(0)") == [("set",)]
    assert said(game, "set(5)", "set(0)") == [("set",), ("set", "low")]


def test_a_watch_with_once_fires_once_per_binding() -> None:
    game = world('watch high(t: T) once when t.a >= 5 { say "{t} high" }')
    assert said(game, "set(5)", "set(0)", "set(5)") == [("set", "h high"), ("set",), ("set",)]
    assert game.do("both(6)").said == ("k high",)
    assert game.session.state_json()["fired"] == [["high", ["h"]], ["high", ["k"]]]


def test_a_watch_that_reads_was_fires_on_every_tick_where_it_is_true() -> None:
    game = world('watch more(t: T) when t.a > was t.a { say "{t} {was t.a}-{t.a}" }')
    assert said(game, "set(2)", "set(3)", "set(3)", "set(9)") == [
        ("set", "h 0-2"), ("set", "h 2-3"), ("set",), ("set", "h 3-9"),
    ]  # fmt: skip


def test_a_watch_sees_the_commit_not_the_way_there() -> None:
    game = world(
        """
        law down(t: T) when t.a == 7 { t.a = 0 }
        watch seven(t: T) when t.a == 7 { say "seven" }
        """
    )
    assert said(game, "set(7)") == [("set",)]


def test_watches_without_parameters_and_with_conditions_inside() -> None:
    game = world('watch any_high() when any(t.a > 5 for t: T) {'
                 'if h_is() { say "h" } else { say "k" } }'
                 "derive h_is() = me.a > 5")  # fmt: skip
    assert said(game, "set(8)", "both(9)", "both(0)", "both(6)") == [
        ("set", "h"), (), (), ("h",),
    ]  # fmt: skip


def test_free_actions_commit_and_are_watched() -> None:
    game = world('watch high(t: T) when t.a >= 5 { say "high" }', "goal g: h.a == 9")
    assert game.do("free(5)").said == ("high",)
    assert game.do("free(9)").latched == ("g",)


def test_output_comes_in_the_order_of_the_steps() -> None:
    game = world(
        """
        phase late
        law tell() during late { say "law" }
        watch w(t: T) when t.a == 3 { say "watch" }
        """,
        'goal g: h.a == 3 "Won with {h.a}."',
    )
    assert game.do("set(3)").said == ("set", "law", "watch", "Won with 3.")


# ---- endings -----------------------------------------------------------------------------


def test_the_first_true_line_is_latched_and_play_is_over() -> None:
    for order in (("goal g", "lose l"), ("lose l", "goal g")):
        game = world("", f"{order[0]}: h.a > 3 {order[1]}: h.a > 4")
        record = game.do("set(9)")
        assert record.latched == (order[0][-1],)
        assert game.session.ended()
        assert game.session.won() is (order[0] == "goal g")
        assert game.session.lost() is (order[0] == "lose l")
        assert game.do("set(0)").status == "halted"


def test_stop_is_neither_won_nor_lost() -> None:
    game = world("", 'stop time_up: tick() >= 2 "Time."')
    assert game.do("set(1)").latched == ()
    record = game.do("set(1)")
    assert record.latched == ("time_up",)
    assert record.said[-1] == "Time."
    assert game.session.ended()
    assert not game.session.won()
    assert not game.session.lost()


def test_endless_play_goes_on_and_every_line_latches_on_its_own() -> None:
    game = world("", 'endless goal g: h.a > 3 "G" lose l: h.a > 4 "L"')
    assert game.do("set(4)").latched == ("g",)
    assert game.do("set(0)").latched == ()
    record = game.do("set(9)")
    assert record.latched == ("l",)
    assert record.said == ("set", "L")
    assert game.session.latched == ("g", "l")
    assert game.session.won("g")
    assert game.session.lost("l")
    assert game.session.state_json()["outcomes"] == ["g", "l"]


def test_live_outcomes_are_those_of_the_tick_alone() -> None:
    game = world("", "outcomes live goal g: h.a > 3 goal big: h.a > 8 lose l: h.a == 1")
    assert game.do("set(9)").latched == ("g",)
    assert (game.session.won(), game.session.won("big")) == (True, False)
    assert game.session.state_json()["outcomes"] == []
    assert game.do("set(0)").latched == ()
    assert not game.session.won()
    assert game.do("set(1)").latched == ("l",)
    assert game.session.lost("l")
    assert not game.session.ended()


def test_endings_are_tested_on_the_start_state_too() -> None:
    game = world("", "goal g: h.a == 0")
    assert game.session.latched == ("g",)
    assert game.do("set(1)").status == "halted"


def test_goals_are_tested_at_the_end_of_the_tick_only() -> None:
    game = world("law down(t: T) when t.a == 7 { t.a = 0 }", "goal g: h.a == 7")
    assert game.do("set(7)").latched == ()
    assert not game.session.won()


# ---- awards, score, rewards -------------------------------------------------------------


def test_awards_are_given_once() -> None:
    game = world("", "award 3 when h.a > 3 award 2 when k.a > 3")
    scores = [game.do(one).score for one in ("set(1)", "set(5)", "set(0)", "set(5)", "both(5)")]
    assert scores == [0, 3, 3, 3, 5]
    assert game.session.state_json()["awarded"] == [0, 1]


def test_the_score_is_the_expression_plus_the_awards() -> None:
    game = world("derive s() = score", "score = h.a * 2 + 0.5 award 1 when h.a > 3")
    assert game.do("set(2)").score == 4.5
    assert game.do("set(4)").score == 9.5
    assert game.session.engine.score(game.state) == 9.5
    assert game.ask("s") == 9.5


def test_rewards_add_up_over_the_tick_and_are_no_state() -> None:
    game = world(
        "law l() when me.a > 3 { reward -1 }", "reward 0.25 when h.a > 3 reward 2 when k.a > 1"
    )
    before = game.do("set(1)")
    assert before.reward == 0
    record = game.do("set(5)")
    assert record.reward == -0.75
    assert "reward" not in str(game.session.state_json())


def test_outcome_names_the_words_of_each_line(capsys: Any) -> None:
    game = world("", 'endless goal g: h.a > 3 goal silent: h.a > 2 "S {h.a}"')
    assert game.do("set(7)").said == ("set", "S 7")
