"""The exported text means what the interpreter does: every state, every command, every result."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pddl_compare import agree, export, world
from pddl_worlds import BLOCKS, CELLAR, KITCHEN, WORLDS

from tokenworld.diagnostics import Failure


@pytest.mark.parametrize("name", WORLDS)
def test_interpreter_and_pddl_agree_on_every_state(name: str) -> None:
    assert agree(WORLDS[name]) >= 20


@pytest.mark.parametrize("text", [BLOCKS, CELLAR, KITCHEN], ids=["blocks", "cellar", "kitchen"])
def test_published_worlds_are_lifted_and_agree(text: str) -> None:
    assert agree(text, 25) >= 18


def test_the_same_world_gives_the_same_text() -> None:
    first, second = export(world(KITCHEN)), export(world(KITCHEN))
    assert (first.domain, first.problem) == (second.domain, second.problem)


@pytest.mark.parametrize(
    ("rule", "construct"),
    [
        ("action long(t: T) takes 3 { t.n = 1 }", "action `long`, which takes several ticks"),
        ("action both(a: T, b: T) { a.n = 1 b.n = 2 }", "two writes of `n` that may meet"),
        ("action each() { for t: T { best() = t } }", "rounds that may write `best` twice"),
        ("action many() { require count(t for t: T) > 9 }", "`count` up to 10"),
        ("action least() { pick t: T by least t.n { t.n = 0 } }", "`pick` by order"),
        ("action total() { best_n() = sum(t.n for t: T) }", "`sum` as a value"),
        ("law luck(t: T) { chance 50% { t.n = 1 } }", "chance in law `luck`"),
        ("law change(t: T) when t.n != was t.n { t.m = 1 }", "`was`"),
        ("action gone(t: T) { destroy t }", "`destroy`"),
        ("action half(t: T) { t.n = t.m div 2 }", "`div` of values that change"),
        ("action when_odd(t: T) { require tick() mod 2 == 1 }", "`tick()`"),
    ],
)
def test_what_has_no_exact_form_is_named_with_its_line(rule: str, construct: str) -> None:
    text = f"""
type T {{ n: 0 to 9 = 0  m: 0 to 9 = 0 }}
function best(): T?
function best_n(): 0 to 99 = 0
action go(t: T) {{ t.n = 3  t.m = 2 }}
{rule}
world w "W" {{ object a, b: T  goal g: a.n == 3 and a.m == 2 }}
"""
    with pytest.raises(Failure) as raised:
        export(world(text))
    (found,) = raised.value.diagnostics
    assert found.code == "TW0801"
    assert construct in found.message
    assert found.span is not None
    assert found.span.line == 6


def test_all_reasons_are_given_at_once() -> None:
    text = """
type T { n: 0 to 9 = 0 }
action one(t: T) { destroy t }
action two() { require count(t for t: T) > 9 }
world w "W" { object a, b: T  goal g: a.n == 0 }
"""
    with pytest.raises(Failure) as raised:
        export(world(text))
    assert [found.span.line for found in raised.value.diagnostics if found.span] == [3, 4]


def test_an_unknown_goal_is_told_with_what_may_be_meant() -> None:
    with pytest.raises(Failure) as raised:
        export(world(CELLAR), goal="reach")
    (found,) = raised.value.diagnostics
    assert found.code == "TW0201"
    assert found.hint == "Did you mean `rich`?"
