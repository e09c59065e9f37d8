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


SWAPS = """
type T {{ n: 0 to 9 = 0  lit: bool  at: T? }}
action trade(a: T, b: T) {{ {} }}
action grow(t: T) {{ require t.n < 3 else full "Full."  t.n += 1 }}
world w "W" {{
  object one: T {{ n = 2  lit = true  at = two }}
  object two: T
  goal g: two.n == 4
}}
"""


@pytest.mark.parametrize("name", ["n", "lit", "at"])
def test_a_swap_is_lifted_like_the_two_lets_that_it_stands_for(name: str) -> None:
    swap = SWAPS.format(f"swap a.{name}, b.{name}")
    lets = SWAPS.format(f"let p = a.{name}  let q = b.{name}  a.{name} = q  b.{name} = p")
    assert export(world(swap)).domain == export(world(lets)).domain
    assert agree(swap) >= 6


def test_two_writes_that_may_meet_with_other_values_are_no_swap() -> None:
    text = SWAPS.format("let p = a.n  a.n = b.n  b.n = p + 1")
    with pytest.raises(Failure, match="TW0801"):
        export(world(text))


def test_two_picks_of_one_name_are_two_parameters() -> None:
    rule = "pick x: T where x.n > 1 { x.n = 0 }  pick x: T where x.lit { x.lit = false }"
    text = SWAPS.format(rule)
    assert "(?a - t ?b - t ?x - t ?x2 - t)" in export(world(text)).domain
    assert agree(text) >= 6


def test_a_pick_of_a_number_is_an_action_for_each() -> None:
    text = SWAPS.format("pick k: 1 to 3 where k > a.n { a.n = k }")
    assert "(:action trade-o4" in export(world(text)).domain
    assert agree(text) >= 6


def test_two_rounds_may_take_two_sides_of_a_choice() -> None:
    """One round sets the slot to 1 and another one to 2, so that play refuses the action."""
    rule = "for t: T { if t.at == b and t.lit { a.n = 1 } else { a.n = 2 } }"
    with pytest.raises(Failure, match="two writes of `n` that may meet"):
        export(world(SWAPS.format(rule)))


def test_a_chance_by_a_param_is_lifted() -> None:
    text = "param luck: 0% to 100% = 30%\n" + SWAPS.format("chance luck { a.lit = true }")
    assert "(:action trade-o2" in export(world(text)).domain


ROVER = """
type Tile { sand: bool  next: Tile? }
type Rover { at: Tile?  battery: 0 to 9 = 9 }
derive toll(t: Tile) = if t.sand then 3 else 1
action drive(r: Rover) {
  let there = r.at.next
  require there != none else edge "The map ends."
  require r.battery >= toll(there) else flat "The battery is flat."
  r.at = there
  r.battery -= toll(there)
}
action charge(r: Rover) { require r.battery < 6 else full "Full."  r.battery += 2 }
world w "W" {
  object a: Tile { next = b }
  object b: Tile { next = c  sand = true }
  object c: Tile { next = a }
  object one: Rover { at = a }
  goal g: one.at == c and one.battery == 0
}
"""
SEASONS = """
enum Season { spring, autumn }
type Tree { leaves: 0 to 3 clamped = 3 }
function season(): Season = autumn
action turn() { season() = if season() == autumn then spring else autumn }
phase foliage
law shed(t: Tree) during foliage when season() == autumn { t.leaves -= 1 }
law bud(t: Tree) during foliage when season() == spring { t.leaves = 3 }
world w "W" { object oak, elm: Tree  goal g: oak.leaves == 0 }
"""


@pytest.mark.parametrize(("text", "states"), [(ROVER, 20), (SEASONS, 4)], ids=["rover", "seasons"])
def test_writes_whose_values_of_one_slot_exclude_each_other_never_meet(
    text: str, states: int
) -> None:
    """`there` is one tile for both increments, and the season has one value for both laws."""
    assert agree(text) >= states


def test_increments_by_what_several_facts_may_tell_may_meet() -> None:
    text = ROVER.replace("let there = r.at.next", "let there = r.at").replace(
        "r.battery -= toll(there)", "for t: Tile where t.next == there { r.battery -= toll(t) }"
    )
    with pytest.raises(Failure, match="TW0801"):
        export(world(text))
