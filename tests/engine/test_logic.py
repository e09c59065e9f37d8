"""Total logic over `none`, narrowing, folds, names (language.md §4): each sentence, evaluated."""

from __future__ import annotations

from typing import Any

import pytest
from tiny import Game, play

RULES = """
enum Mood { wary < calm < glad }
enum Lock { open, closed }
type Spot { tint: 0 to 9 = 4  lit: bool = true  mood: Mood = calm  next_to: Spot?  label: text? }
type Nook : Spot { depth: 0 to 9 = 6 }
type Body { at: Spot? inverse bodies  rival: Body?  n: 0 to 9 = 1  t: text = "x" }
actor me: Body
relation knows(a: Body, b: Body) symmetric
relation saw(a: Body, s: Spot)
function far(a: Body, s: Spot): 0 to 9 = 3
table tool(s: Lock): Body? { open: sam  closed: none }
derive near(a: Body) = a.at
derive lit_at(s: Spot) = s.lit
derive gloomy(s: Spot) = not s.lit
"""
WORLD = """
object sam: Body
world w {
  object hall: Spot
  object nook: Nook { lit = false  label = "dark" }
  object lou: Body { at = hall  n = 3 }
  object kim: Body { at = nook  n = 5  rival = lou }
}
"""


def values(*expressions: str) -> list[Any]:
    """Each expression with `x` bound to sam, who is nowhere and has no rival."""
    lines = [f"derive e{index}(x: Body) = {one}" for index, one in enumerate(expressions)]
    game = play(RULES + "\n".join(lines) + WORLD)
    return [game.ask(f"e{index}", "sam") for index in range(len(expressions))]


def value(expression: str) -> Any:
    return values(expression)[0]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # an attribute of none is none
        ("x.at.tint", None),
        ("x.rival.at.next_to.tint", None),
        ("x.at.label", None),
        # a call with a none argument is none
        ("far(x, x.at)", None),
        ("near(x.rival)", None),
        # a comparison, membership or truth-valued call over none is false
        ("x.at.tint < 9", False),
        ("x.at.tint >= 0", False),
        ("9 > x.at.tint", False),
        ("x.at.mood <= glad", False),
        ("x.rival in [x, sam]", False),
        ("x in x.at.bodies", False),
        ("x.rival in x.at.bodies", False),
        ("knows(x, x.rival)", False),
        ("saw(x, x.at)", False),
        ("lit_at(x.at)", False),
        ("gloomy(x.at)", False),
        ("x.at is Nook", False),
        ("x.at is Spot", False),
        # none counts as false as a condition and as an operand
        ("not x.at.lit", True),
        ("x.at.lit and true", False),
        ("x.at.lit or true", True),
        ("x.at.lit or false", False),
        ("x.at.lit implies false", True),
        ("true implies x.at.lit", False),
        ("if x.at.lit then 1 else 2", 2),
        ("count(b.at.lit for b: Body)", 1),
        ("any(b.at.lit for b: Body where b == x)", False),
        ("all(b.at.lit for b: Body where b == x)", False),
        ("count(b for b: Body where b.at.lit)", 1),
        # the value of a truth-valued derive
        ("x.at.lit", False),
        # equality takes none as an ordinary value
        ("x.at == none", True),
        ("x.at != none", False),
        ("none == x.rival", True),
        ("x.at == x.rival.at", True),
        ("x.at != x.rival.at", False),
        ("x.at.tint == 0", False),
        ("x.at.tint != 0", True),
        ("x.at.lit == false", False),
        ("x.at.tint == x.rival.n", True),
        ("x.t == \"x\"", True),
        ("count(s for s: Spot where s.label == \"dark\")", 1),
        ("tool(closed) == none", True),
        ("tool(open) == x", True),
    ],
)  # fmt: skip
def test_every_expression_has_a_value(expression: str, expected: Any) -> None:
    assert value(expression) == expected
    assert type(value(expression)) is type(expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sum(b.n for b: Body where b.n > 9)", 0),
        ("min(b.n for b: Body where b.n > 9)", None),
        ("max(b.n for b: Body where b.n > 9)", None),
        ("first(b for b: Body where b.n > 9)", None),
        ("last(b for b: Body where b.n > 9)", None),
        ("count(b for b: Body where b.n > 9)", 0),
        ("any(b.n > 9 for b: Body)", False),
        ("all(b.n > 9 for b: Body where b.n > 9)", True),
        ("sum(b.n for b: Body)", 9),
        ("min(b.n for b: Body)", 1),
        ("max(b.n for b: Body)", 5),
        ("first(b for b: Body where b.n > 1)", "lou"),
        ("last(b for b: Body)", "kim"),
        ("count(b for b: Body)", 3),
        ("count(b.n > 1 for b: Body)", 2),
        ("count(b.n for b: Body)", 3),
        ("sum(n for n: 1 to 4)", 10),
        ("sum(n * m for n: 1 to 2, m: 1 to 3)", 18),
        ("count(m for m: Mood)", 3),
        ("sum(b.n + n for b: Body, n: 0 to 1 where b.n == n)", 2),
        ("count([x, x, x.rival])", 2),
        ("count(b for b in [x, x.rival])", 1),
        ("any(b.n == 5 for b in [x, x.rival])", False),
        ("max(x.n, 4)", 4),
        ("min(x.n, 4, 0)", 0),
        ("min(sum(b.n for b: Body), 7)", 7),
        ("count(s for s: Spot where s is Nook)", 1),
        ("first(s.tint for s: Nook)", 4),
        ("sum(s.depth for s: Nook)", 6),
        ("sum(if s is Nook then s.depth else 1 for s: Spot)", 7),
        ("any(s is Nook and s.depth == 6 for s: Spot)", True),
        ("all(s is Nook implies s.depth == 6 for s: Spot)", True),
        ("count(s for s: Spot where not s is Nook or s.depth > 9)", 1),
        ("x.n in [1, 2]", True),
        ("x.n in []", False),
    ],
)
def test_folds(expression: str, expected: Any) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("true or true and false", True),
        ("not false or true", True),
        ("not (false or true)", False),
        ("not 1 == 2", True),
        ("true implies false implies false", True),
        ("(true implies false) implies false", True),
        ("false implies true and false", True),
        ("if false then 1 else if true then 2 else 3", 2),
        ("if true or false then 1 + 1 else 9", 2),
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("10 - 3 - 2", 5),
        ("-2 + 5", 3),
        ("- (2 + 5)", -7),
        ("17 div 5 * 2", 6),
        ("2 * 17 mod 5", 4),
        ("1 + 2 == 3 and 3 < 4", True),
        ("x.n + 1 in [2]", True),
    ],
)
def test_precedence(expression: str, expected: Any) -> None:
    assert value(expression) == expected


def test_ladders_are_compared_and_stepped_and_stop_at_their_ends() -> None:
    found = values(
        "next(wary)", "next(next(next(wary)))", "prev(wary)", "prev(glad)", "wary < glad",
        "glad <= calm", "calm >= calm", "first(s.mood for s: Spot where s.mood > wary)",
        "max(b.n for b: Body where b.at.mood == calm)", "next(x.at.mood)",
    )  # fmt: skip
    assert found == ["calm", "glad", "wary", "calm", True, False, True, "calm", 5, None]


def test_the_dot_and_the_call_mean_the_same() -> None:
    found = values(
        "n(x) == x.n", "x.near == near(x)", "x.far(first(s for s: Spot))", "at(x) == none"
    )
    assert found == [True, True, 3, True]


def test_a_bare_name_is_a_member_of_the_expected_enum_before_it_is_an_object() -> None:
    game = play(
        """
        enum Sky { sunny, dull }
        enum Knife { dull, keen }
        type T { sky: Sky  knife: Knife = keen }
        actor me: T
        derive a(t: T) = t.sky == dull
        derive b(t: T) = t.knife == dull
        derive c(t: T) = t.knife == keen and Sky.dull != Sky.sunny
        action x() { me.sky = dull  me.knife = dull }
        world w { object h: T }
        """
    )
    assert [game.ask(name, "h") for name in "abc"] == [False, False, True]
    game.all("x()")
    assert [game.ask(name, "h") for name in "abc"] == [True, True, False]


def test_let_narrows_a_path() -> None:
    game = play(
        RULES
        + """
        action dive(b: Body) {
          let spot = b.at
          require spot is Nook else flat "No depth."
          b.n = spot.depth
        }
        """
        + WORLD
    )
    assert game.do("dive(lou)").refusal.label == "flat"  # type: ignore[union-attr]
    assert game.do("dive(sam)").refusal.label == "flat"  # type: ignore[union-attr]
    assert game.do("dive(kim)").status == "executed"
    assert game.get("kim.n") == 6


def game_of_params() -> Game:
    return play(
        """
        enum Way { north, south }
        type T { n: 0.0 to 9.9 = 0.5  way: Way }
        actor me: T
        action head(w: Way) as "head {w}" { me.way = w }
        action mix(n: 1 to 3, w: Way) as "mix {n} {w}" { me.n += n * 0.5 }
        world w { object h: T }
        """
    )


def test_enums_and_numbers_are_parameters() -> None:
    from tiny import call

    game = game_of_params()
    assert game.do("head south").args == {"w": "south"}
    assert game.get("h.way") == "south"
    assert game.do("head(north)").status == "executed"
    assert game.do("head west").status == "no_match"
    assert game.do(call("head", w="south")).status == "executed"
    assert game.do("head(5)").status == "no_match"
