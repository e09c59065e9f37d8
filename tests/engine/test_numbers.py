"""Exact numbers, units, per cent, reals and the functions on them (language.md §2)."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tiny import play

RULES = """
unit ml
unit l = 1000ml
unit c
type T {
  n: 0 to 99 = 7  d: -5.00 to 5.00 = 1.25  heat: 0c to 500c = 20c  water: 0ml to 9000ml = 1500ml
  part: 0% to 100% = 25%  big: int = 3  r: real = 0.5  neg: 3 to 9  low: -9 to -4
}
actor me: T
"""
WORLD = "world w { object h: T }"


def value(expression: str) -> Any:
    game = play(f"{RULES}\nderive e(x: T) = {expression}\n{WORLD}")
    return game.ask("e", "h")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x.d + 0.005", 1.255),
        ("x.d * x.d", 1.5625),
        ("x.d * 3", 3.75),
        ("x.d - 1", 0.25),
        ("0.1 + 0.2 == 0.3", True),
        ("1.0 == 1", True),
        ("0.10 < 0.9", True),
        ("-x.d", -1.25),
        ("x.part * x.n", 1.75),
        ("x.part == 0.25", True),
        ("50% + 0.5", 1.0),
        ("17 div 5", 3),
        ("-17 div 5", -4),
        ("17 div -5", -4),
        ("17 mod 5", 2),
        ("-17 mod 5", 3),
        ("17 mod -5", -3),
        ("-17 mod -5", -2),
        ("7.5 div 2", 3),
        ("7.5 mod 2", 1.5),
        ("x.water div 500ml", 3),
        ("x.water + 1l", 2500),
        ("x.water == 1.5l", True),
        ("2l", 2000),
        ("x.water * 2", 3000),
        ("x.heat + 5c > 24c", True),
        ("x.neg", 3),
        ("x.low", -9),
        ("x.big * 1000000007 * 1000000009", 3 * 1000000007 * 1000000009),
        ("abs(-3.5)", 3.5),
        ("abs(x.d)", 1.25),
        ("sign(-0.5)", -1),
        ("sign(0)", 0),
        ("sign(x.d)", 1),
        ("clamp(12, 0, 9)", 9),
        ("clamp(-1, 0, 9)", 0),
        ("clamp(x.d, 0, 1)", 1),
        ("toward(5, 9, 3)", 8),
        ("toward(8, 9, 3)", 9),
        ("toward(5, 0, 3)", 2),
        ("toward(5, 5, 3)", 5),
        ("floor(-1.5)", -2),
        ("floor(x.d)", 1),
        ("round(2.5, 0)", 2),
        ("round(3.5, 0)", 4),
        ("round(-2.5, 0)", -2),
        ("round(1.255, 2)", 1.26),
        ("round(1.245, 2)", 1.24),
        ("max(x.d, 2)", 2),
        ("min(1.5, x.n)", 1.5),
    ],
)
def test_exact_numbers_never_round(expression: str, expected: Any) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x.n / 2", 3.5),
        ("1 / 3", 1 / 3),
        ("x.d / 0.3", 1.25 / 0.3),
        ("x.r + x.d", 1.75),
        ("x.r == 0.5", True),
        ("x.r * 3 < 1.6", True),
        ("1 / 10 + 2 / 10 == 0.3", False),
        ("x.r mod 0.2", 0.5 - 0.2 * math.floor(0.5 / 0.2)),
        ("-x.r mod 0.2", -0.5 - 0.2 * math.floor(-0.5 / 0.2)),
        ("round(1 / 3, 2)", 0.33),
        ("round(0.5 / 1, 0)", 0),
        ("round(1.5 / 1, 0)", 2),
        ("round(2.675 / 1, 2)", 2.67),
        ("floor(-1 / 3)", -1),
        ("sqrt(2)", math.sqrt(2)),
        ("sqrt(9.00)", 3.0),
        ("pi", math.pi),
        ("sin(pi)", math.sin(math.pi)),
        ("cos(0)", 1.0),
        ("exp(1)", math.exp(1)),
        ("log(x.d)", math.log(1.25)),
        ("pow(1.1, 3)", 1.1 * 1.1 * 1.1),
        ("pow(2, 0)", 1.0),
        ("abs(-1 / 4)", 0.25),
        ("max(x.r, x.d)", 1.25),
        ("clamp(1 / 3, 0.5, 1)", 0.5),
    ],
)
def test_reals_are_doubles(expression: str, expected: Any) -> None:
    assert value(expression) == expected
    assert type(value(expression)) is type(expected)


@pytest.mark.parametrize(
    "bad",
    [
        "log(0)", "sqrt(x.r - 1)", "1 / (x.n - 7)", "exp(10000)", "pow(2, x.n - 9)",
        "5 div (x.n - 7)", "5 mod (x.n - 7)", "x.r mod (x.n - 7)",
    ],
)  # fmt: skip
def test_results_outside_the_reals_are_world_errors(bad: str) -> None:
    game = play(f"{RULES}\naction a() {{ me.big = floor({bad.replace('x.', 'me.')}) }}\n{WORLD}")
    record = game.do("a()")
    assert record.status == "error"
    assert record.breach["code"] == "TW1006"  # type: ignore[index]


def test_a_real_enters_an_exact_place_rounded() -> None:
    game = play(
        f"{RULES}\naction a() {{ me.d = round(me.n / 3, 2)  me.n = floor(me.n / 3) }}\n{WORLD}"
    )
    game.all("a()")
    assert (game.get("h.d"), game.get("h.n")) == (2.33, 2)


def test_huge_numbers_round_exactly() -> None:
    game = play(
        f"{RULES}\naction a() {{ me.big = round(me.r * 100000000000000000000000000000000, 0) }}\n"
        + WORLD
    )
    game.all("a()")
    assert game.get("h.big") == int(0.5 * 1e32)


def test_percentages_and_decimals_accumulate_exactly() -> None:
    game = play(f"{RULES}\naction a() {{ me.part += 1%  me.d += 0.01 }}\n{WORLD}")
    for _ in range(30):
        game.all("a()")
    assert (game.get("h.part"), game.get("h.d")) == (0.55, 1.55)


def test_params_are_constants_that_worlds_and_scenarios_override() -> None:
    text = """
        param rate: 1 to 9 = 3
        param twice: int = rate * 2
        type T { n: 0 to 99 = 0 }
        actor me: T
        action a() { me.n += rate }
        world w { object h: T }
        world fast { object h: T  param rate = 8 }
        """
    for name, gained in (("w", 3), ("fast", 8)):
        game = play(text, name=name)
        game.all("a()")
        assert game.get("h.n") == gained


def test_numbers_print_with_their_units() -> None:
    game = play(RULES + 'action a() { say "{me.water} {me.part} {me.d} {me.heat} {me.r}" }' + WORLD)
    assert game.do("a()").said == ("1500ml 25% 1.25 20c 0.5",)
