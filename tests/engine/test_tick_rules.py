"""Rules of the tick (language.md §8) that stand between its steps."""

from __future__ import annotations

import pytest
from tiny import Game, play

BASE = """
type Room
type T {{ at: Room  n: 0 to 99 = 0 }}
type Lamp {{ at: Room  lit: bool }}
actor me: T
law age() {{ clock() += 1 }}
function clock(): 0 to 99 = 0
action light(x: Lamp) as "light {{x}}" {{
  require x.at == me.at else far "Too far."
  x.lit = true  reward 3
}}
action lamp(x: Lamp) {{ x.lit = true }}
action look(x: Lamp) as "look at {{x}}" takes 0 {{ require x.at == me.at else far "Too far." }}
{rules}
world w {{
  object hall, yard: Room
  object h: T {{ at = hall }}
  object first_: Lamp "lamp" {{ at = {one} }}
  object second_: Lamp "lamp" {{ at = {two} }}
  {settings}
}}
"""


def world(rules: str = "", settings: str = "", one: str = "hall", two: str = "hall") -> Game:
    return play(BASE.format(rules=rules, settings=settings, one=one, two=two))


@pytest.mark.parametrize("policy", ["", "ambiguous first"])
def test_of_several_readings_the_first_is_taken(policy: str) -> None:
    record = world(settings=policy).do("light lamp")
    assert (record.status, record.args) == ("executed", {"x": "first_"})


@pytest.mark.parametrize("policy", ["ambiguous first", "ambiguous ask"])
def test_a_reading_whose_requires_hold_is_preferred_under_ask_only(policy: str) -> None:
    record = world(settings=policy, one="yard").do("light lamp")
    found = {"ambiguous first": ("refused", "first_"), "ambiguous ask": ("executed", "second_")}
    assert (record.status, record.args["x"]) == found[policy]


@pytest.mark.parametrize("place", ["hall", "yard"])
def test_under_ask_several_or_none_that_hold_are_no_match(place: str) -> None:
    record = world(settings="ambiguous ask", one=place, two=place).do("light lamp")
    assert record.no_match is not None
    assert (record.status, record.no_match.kind) == ("no_match", "ambiguous")


def test_a_refused_intent_pays_nothing_and_moves_no_time() -> None:
    record = world(one="yard").do("light(first_)")
    assert (record.status, record.reward, record.time_passed) == ("refused", 0, False)


def test_rewards_are_reals_if_one_is() -> None:
    record = world(
        "function r(): real = 0.5  law pay() { reward r()  reward 0.25 }",
        "reward 2 when clock() > 0",
    ).do("light(first_)")
    assert record.reward == 5.75


@pytest.mark.parametrize("words", ["look(first_)", "look(second_)"])
def test_a_free_action_takes_no_time_under_any_policy(words: str) -> None:
    game = world(settings="time passes always", two="yard")
    assert game.do(words).time_passed is False
    assert game.get("clock()") == 0


def test_once_and_was_together() -> None:
    game = world('watch later() once when clock() > was clock() { say "{clock()}" }')
    assert [game.do("pass").said, game.do("pass").said] == [("1",), ()]


def test_a_watch_and_an_event_of_it_are_in_the_record_of_the_tick() -> None:
    game = world("event on(x: Lamp) watch on(x: Lamp) when x.lit { emit on(x) }")
    assert game.do("light(first_)").events == (("on", ("first_",)),)


def test_lose_before_goal_is_lost_and_goal_before_lose_is_won() -> None:
    for lines, latched in (
        ("lose l: lit() goal g: lit()", "l"),
        ("goal g: lit() lose l: lit()", "g"),
    ):
        game = world("derive lit() = any(x.lit for x: Lamp)", lines)
        assert game.do("light(first_)").latched == (latched,)


def test_output_comes_as_action_phases_watches_ending() -> None:
    game = world(
        'action shine(x: Lamp) { x.lit = true  say "action" } '
        'phase turn sequentially  law after(x: Lamp) during turn when x.lit { say "in turn" } '
        'law last_() when clock() == 0 { say "together" } '
        'watch lit(x: Lamp) when x.lit { say "watch" }',
        'goal done: any(x.lit for x: Lamp) "Ending."',
    )
    assert game.do("shine(first_)").said == (
        "action", "in turn", "together", "watch", "Ending.",
    )  # fmt: skip


def test_an_award_is_given_once_and_kept() -> None:
    game = world(settings="award 5 when any(x.lit for x: Lamp)  score = clock()")
    assert [game.do("light(first_)").score, game.do("pass").score] == [6, 7]


def test_live_outcomes_never_halt() -> None:
    game = world(settings="outcomes live  goal now: clock() == 1")
    assert [game.do("pass").latched for _ in range(3)] == [("now",), (), ()]
