"""Intervals: what is proved of ranges, and what is warned of (TW0503, TW0406, TW0308, TW0409)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tokenworld.check.analysis.linear import (
    AnyOf,
    AtMost,
    Atom,
    Interval,
    constant,
    interval_of,
    unknown,
)
from tokenworld.diagnostics import Source
from tokenworld.session import check_text

ROOT = Path(__file__).resolve().parents[2]
BASE = """
type T {
  n: 0 to 9 = 0  m: 0 to 9 = 0  r: 0 to 3 = 1  d: 0.0 to 9.0 = 0.0  c: 0 to 9 clamped = 0
  on: bool  pal: T?  mate: T? unique
}
enum Mood { sad < calm < glad }
function mood(t: T): Mood = calm
actor me: T
param p: 1 to 3 = 2
phase turns sequentially
derive low(t: T) = t.n < 5
"""


def codes(rules: str) -> list[str]:
    """The findings of this pass, lints left out."""
    found = check_text(Source("t.tw", None, BASE + rules)).diagnostics
    return [one.code for one in found if not one.code.startswith("TW09")]


PROVED = [
    "law l(t: T) when t.n < 9 { t.n += 1 }",
    "law l(t: T) when t.n <= 3 { swap t.n, t.r }",
    "law l(t: T) when not t.n >= 9 { t.n += 1 }",
    "law l(t: T) when t.n + t.m <= 9 { t.n += t.m }",
    "law l(t: T) when t.n + p <= 9 { t.n += p }",
    "law l(t: T) when t.n >= t.m { t.n -= t.m }",
    "law l(t: T) when t.d < 9.0 { t.d += 0.1 }",
    "law l(t: T) when t.n in [2, 5] { t.n -= 2 }",
    "law l(t: T) when t.n == 2 or t.n == 5 { t.n -= 2 }",
    "law l(t: T) when low(t) { t.n += 5 }",
    "law l(t: T) when low(t) { t.n += 5 }\nlaw k(t: T) when not low(t) { t.n -= 5 }",
    "law l(t: T) when t.on implies t.n < 9 { if t.on { t.n += 1 } }",
    "law l(t: T) { if t.n > 8 { t.n -= 8 } else { t.n += 1 } }",
    "law l(t: T) { t.n = min(t.n + 1, 9) }",
    "law l(t: T) { t.n = clamp(t.n + t.m, 0, 9) }",
    "law l(t: T) { t.n = toward(t.n, t.m, t.r) }",
    "law l(t: T) { t.n += toward(t.n, t.m, t.r) - t.n }",
    "law l(t: T) { t.n = abs(t.n - t.m) }",
    "law l(t: T) { t.r = sign(t.n - t.m) + 1 }",
    "law l(t: T) { t.n = t.n * 2 div 3 }",
    "law l(t: T) { t.n = (t.n + 7) mod 10 }",
    "law l(t: T) { t.n = if t.n == 9 then 0 else t.n + 1 }",
    "law l(t: T) { let k = t.n + 1  if k <= 9 { t.n = k } }",
    "law l(t: T) { t.c += 5 }",
    "law l(t: T) when mood(t) == glad and t.n < 9 { t.n += 1 }\n"
    "law k(t: T) when mood(t) < glad and t.n < 9 { t.n += 1 }",
    # one binding for each slot
    "law l(t: T, u: T) when t.n < 9 and t.pal == u { t.n += 1 }",
    "law l(t: T) when t.mate.n < 9 { t.mate.n += 1 }",
    "law l(t: T, i: 1 to 3) when t.n < 7 { t.n += 1 }",
    "law l(t: T) when t.n < 9 { t.n += 1  t.n -= 1 }",
    "law l(t: T, u: T) during turns when u.n < 9 { u.n += 1 }",
    "law l() when me.n < 9 { me.n += 1 }\nworld w { object h: T }",
    "law l(t: T, u: T) when t.n < 8 { t.n += 1 }\nworld w { object a, b: T }",
]  # fmt: skip


@pytest.mark.parametrize("rules", PROVED)
def test_what_is_proved_is_not_warned_of(rules: str) -> None:
    assert codes(rules) == []


@pytest.mark.parametrize(
    "rules",
    [
        "law l(t: T) when t.n <= 9 { t.n += 1 }",
        "law l(t: T) when t.n < 9 { t.n += p }",
        "law l(t: T) when t.m < 9 { t.n += 1 }",
        "law l(t: T) { t.n = t.n + 1 }",
        "law l(t: T) when t.n < 9 or t.on { t.n += 1 }",
        "law l(t: T) when t.pal.n < 9 { t.pal.n += 1 }",
        "law l(t: T, u: T) when t.n < 9 { t.n += 1 }",
        "law l(t: T, u: T) when t.n < 9 { t.n += 1 }\nworld w { object a, b: T }",
        "law l(t: T, i: 1 to 3) when t.n < 8 { t.n += 1 }",
        "law l(t: T) during turns { for u: T where t.n < 9 { t.n += 1 } }",
        "law l(t: T) { transfer 1 of t.n to t.c }",
        "law l(t: T) { swap t.n, t.r }",
    ],
)
def test_what_is_not_proved_is_warned_of(rules: str) -> None:
    assert codes(rules) == ["TW0503"]


def test_the_other_increments_of_the_phase_count() -> None:
    rules = "law l(t: T) when t.n < 9 { t.n += 1 }\nlaw k(t: T) when t.n < 9 and t.on { t.n += 1 }"
    assert codes(rules) == ["TW0503", "TW0503"]
    apart = rules.replace("law k(t: T)", "law k(t: T) during turns")
    assert codes(apart) == []


def test_the_warning_names_the_interval() -> None:
    found = check_text(Source("t.tw", None, BASE + "law l(t: T) when t.n > 2 { t.n += 2 }"))
    (only,) = (one for one in found.diagnostics if one.code == "TW0503")
    assert "it may become 5 to 11," in only.message


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ("action a() { me.n += 20 }", "TW0406"),
        ("action a() { require me.n > 5 else x \"X.\"  me.n += 4 }", "TW0406"),
        ("action a() { me.n = me.m + 10 }", "TW0308"),
        ("action a() { if me.n > 12 { me.m = 1 } }", "TW0406"),
        ("action a() { if 12 != me.n { me.m = 1 } }", "TW0406"),
        ("action a() { if p > 5 { me.m = 1 } }", "TW0406"),
        ("action a() { me.n = clamp(me.n, me.r + 4, me.r) }", "TW0406"),
        ("action a() { chance p * 40% { me.n = 1 } or 70% { me.n = 2 } }", "TW0409"),
    ],
)  # fmt: skip
def test_what_never_fits_is_an_error(rules: str, code: str) -> None:
    assert codes(rules) == [code]


@pytest.mark.parametrize(
    "rules",
    [
        "action a() { me.n += 9 }",
        "action a() { me.n += 20  me.n -= 15 }",
        "action a() { if me.n >= 0 { me.m = 1 } }",
        "action a() { me.n = clamp(me.n, me.r, 3) }",
        "action a() { chance p * 30% { me.n = 1 } or 70% { me.n = 2 } }",
        "invariant i(t: T): t.n <= 12",
    ],
)
def test_what_may_fit_is_left_to_the_run_time(rules: str) -> None:
    assert codes(rules) == []


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("law a(t: T) when t.n < 4 { t.m = 1 }\nlaw b(t: T) when t.n > 6 { t.m = 2 }", []),
        ("law a(t: T) when t.n < 4 { t.m = 1 }\nlaw b(t: T) when t.n < 6 { t.m = 2 }", ["TW0501"]),
        ("law a(t: T) when t.n < 4 { t.m = 1 }\nlaw b(t: T) when t.r < 2 { t.m = 2 }", []),
        ("law a(t: T) when t.on { t.m = 1 }\nlaw b(u: T) when u.on { u.m = 2 }", ["TW0501"]),
        ("law a(t: T) when t.on { t.m = t.n }\nlaw b(u: T) when u.on { u.m = u.n }", []),
        ("action a() { if me.on { me.n = 1 }  if not me.on { me.n = 2 } }", []),
        ("action a() { if me.m < 3 { me.n = 1 }  if me.m < 2 { me.n = 2 } }", ["TW0405"]),
        ("action a() { if me.m < 3 { me.n = 1 }  if me.m > 2 { me.n = 2 } }", []),
    ],
)
def test_separated_conditions_do_not_conflict(rules: str, found: list[str]) -> None:
    assert codes(rules) == found


@pytest.mark.parametrize("name", ["kitchen", "cottage", "blocks", "cellar"])
def test_no_false_warning_in_our_worlds(name: str) -> None:
    text = (ROOT / "domains" / name / "world.tw").read_text(encoding="utf-8")
    assert check_text(Source("world.tw", None, text)).diagnostics == ()


def test_inequalities_are_added_up() -> None:
    x, y = (Atom(Fraction(0), Fraction(9), Fraction(1)) for _ in range(2))
    total = unknown(x).plus(unknown(y))
    assert interval_of(total, ()) == Interval(Fraction(0), Fraction(18))
    assert interval_of(total, (AtMost(total.minus(constant(9))),)) == Interval(
        Fraction(0), Fraction(9)
    )


def test_what_cannot_hold_has_no_interval() -> None:
    x = unknown(Atom(Fraction(0), Fraction(9), Fraction(1)))
    above = AtMost(constant(7).minus(x))
    below = AtMost(x.minus(constant(3)))
    assert interval_of(x, (above, below)) is None
    assert interval_of(x, (AnyOf((above, below)),)) == Interval(Fraction(0), Fraction(9))
