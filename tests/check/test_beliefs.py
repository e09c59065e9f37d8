"""Guesses of models: which are accepted, and one finding for each mistake."""

from __future__ import annotations

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import check_text

BASE = """
model pond
enum Sky { clear, grey }
type Spot
type Frog { at: Spot?  home: Spot  n: 0 to 9 = 0  sky: Sky  wet: bool  wild: real = 0.0
            static legs: 0 to 9 = 4 }
param lean: 0.0 to 2.0 = 1.0
phase day
phase night
"""


def codes(rules: str, base: str = BASE) -> list[str]:
    found = check_text(Source("t.tw", None, base + rules)).diagnostics
    return [one.code for one in found if one.is_error]


def believe(guess: str, head: str = "", weight: str = "1") -> str:
    return f"believe b(f: Frog) {head} weight {weight} {{ {guess} }}\n"


SOUND = [
    believe("f.n ~ { f.n + 1: 30%, f.n - 1: 20%, else: 1 }"),
    believe("f.sky ~ { grey: 1, clear: 3 }", weight="0.8 learned"),
    believe("f.wet ~ { true: 1, else: 0 }", weight="lean"),
    believe("f.at ~ { s: 1 for s: Spot where s != f.at else: 0.1 }", "during night when f.wet"),
    believe("f.at ~ { f.home: 1, none: 1 }  f.wet ~ { f.n > 3: 1, else: 1 }"),
    believe("let k = f.n  f.n ~ { k: f.n, 9: 1 }"),
    # outside the domain at run time: dropped, so no finding
    believe("f.home ~ { f.at: 1, else: 1 }"),
    # several beliefs of one phase compete, and a law may write before them
    believe("f.n ~ { 1: 1, else: 1 }", "during night")
    + "believe c(f: Frog) during night weight 2 { f.n ~ { 2: 1, else: 1 } }\n"
    + "law l(f: Frog) during day { f.n = 3 }",
]


@pytest.mark.parametrize("rules", SOUND)
def test_sound_beliefs_are_accepted(rules: str) -> None:
    assert codes(rules) == []


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        (believe("f.n ~ { 12: 1 }"), "TW0308"),
        (believe("f.n ~ { grey: 1 }"), "TW0301"),
        (believe("f.sky ~ { 3: 1 }"), "TW0301"),
        (believe("f.n ~ { 1: grey }"), "TW0301"),
        (believe("f.n ~ { 1: f.at }"), "TW0301"),
        (believe("f.n ~ { 1: -1 }"), "TW0308"),
        (believe("f.n ~ { 1: 1, else: 1, else: 2 }"), "TW0203"),
        (believe("f.n ~ { 1: 1 }", weight="-0.5"), "TW0308"),
        (believe("f.n ~ { 1: 1 }", weight="f.n"), "TW0201"),
        (believe("f.n ~ { 1: 1 }", weight="tick()"), "TW0301"),
        (believe("f.n ~ { 1: 1 }", weight="grey"), "TW0301"),
        (believe("f.n ~ { 1: 1 }", "during dawn"), "TW0502"),
        (believe("f.n ~ { 1: 1 }", "when f.n"), "TW0301"),
        (believe("f.legs ~ { 1: 1 }"), "TW0407"),
        (believe("tick() ~ { 1: 1 }"), "TW0401"),
        (believe("f.wild ~ { 1.0: 1 }"), "TW0513"),
        (believe("f.n ~ { 1: 1 }") * 2, "TW0203"),
        ("law b(f: Frog) { f.wet = true }\n" + believe("f.n ~ { 1: 1 }"), "TW0203"),
    ],
)
def test_what_is_wrong_with_a_belief_is_one_finding(rules: str, found: str) -> None:
    assert codes(rules) == [found]


def test_an_exchange_in_a_later_phase_is_a_write() -> None:
    swap = "law s(f: Frog, g: Frog) { swap f.at, g.at }"
    assert codes(believe("f.at ~ { none: 1, else: 1 }", "during day") + swap) == ["TW0511"]
    assert codes(believe("f.at ~ { none: 1, else: 1 }") + swap) == ["TW0512"]


def test_a_file_that_is_no_model_is_told_once_and_its_beliefs_are_not_looked_into() -> None:
    plain = BASE.replace("model pond\n", "")
    rules = believe("f.n ~ { 12: 1 }") + "believe c(f: Frog) weight 1 { f.q ~ { 2: 1 } }"
    found = check_text(Source("t.tw", None, plain + rules)).diagnostics
    assert [one.code for one in found] == ["TW0510"]


def test_a_belief_draws_nothing_but_what_it_guesses() -> None:
    assert codes(believe("let k = chance 50%  f.wet ~ { k: 1, else: 1 }")) == ["TW1008"]


def test_every_guessed_fluent_has_one_law() -> None:
    rules = (
        believe("f.n ~ { 1: 1 }  f.wet ~ { true: 1 }", "during night")
        + "believe c(f: Frog) during night weight 2 { f.n ~ { 2: 1, else: 1 } }\n"
    )
    program = check_text(Source("t.tw", None, BASE + rules)).program
    assert program is not None
    assert list(program.laws) == ["believe Frog.n", "believe Frog.wet"]
    assert all(law.phase == "night" and law.added for law in program.laws.values())
