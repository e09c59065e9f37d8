"""Slicing and merging: what no goal depends on disappears, counters stop where they end."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import agreed, encoded, opened, shown

from tokenworld.planning.lower.encode import merged_values, simplified
from tokenworld.planning.task import Effect, Operator, Task, Variable


def names(text: str) -> set[str]:
    return {one.name for one in encoded(opened(text)).task.variables if one.kind != "aux"}


FARM = """
type Cat { hunger: 0 to 100 clamped = 0  asleep: bool = false }
type Pea { stage: 0 to 4 = 0  water: 0 to 9 clamped = 0 }
function bells(): 0 to 50 clamped = 0
action pour(p: Pea) { p.water += 3 }
action ring() { bells() += 1 }
action wait() { }
law starve(c: Cat) { c.hunger += 1 }
law sleep(c: Cat) when c.hunger > 60 { c.asleep = true }
law grow(p: Pea) when p.water >= 2 and p.stage < 4 { p.stage += 1  p.water -= 2 }
law chime() { if tick() mod 12 == 0 { bells() += 1 } }
world w { object tabby: Cat  object pea, bean: Pea  goal g: pea.stage == 2 }
"""


def test_counters_that_nobody_needs_disappear() -> None:
    assert names(FARM) == {"turn", "stage(pea)", "water(pea)"}
    commands = {
        operator.command.action
        for operator in encoded(opened(FARM)).task.operators
        if operator.command is not None
    }
    assert commands == {"pour", ""}


def test_a_loss_draws_into_the_slice_what_it_depends_on() -> None:
    lost = FARM.replace("goal g", "lose asleep: tabby.asleep  goal g")
    assert {"hunger(tabby)", "asleep(tabby)"} <= names(lost)
    assert agreed(opened(FARM)) is not None


def test_a_counter_is_saturated_where_it_stops_to_matter() -> None:
    text = """
    function n(): 0 to 100 clamped = 0   function b(): bool = false
    action go() { require n() >= 5  b() = true }
    law up() { n() += 1 }
    world w { goal g: b() }
    """
    task = encoded(opened(text)).task
    (counter,) = (one for one in task.variables if one.name == "n()")
    assert counter.values == (0, 1, 2, 3, 4, 5)
    assert shown(opened(text), agreed(opened(text)))[-1] == "go()"


def test_the_start_of_the_tick_is_kept_only_as_finely_as_it_is_read() -> None:
    text = """
    function n(): 0 to 40 clamped = 0   function b(): 0 to 3 clamped = 0
    phase one  phase two
    law up() during one { n() += 3 }
    law cross() during two when n() >= 20 and was n() < 20 { b() += 1 }
    world w { goal g: b() == 1 and n() >= 36 }
    """
    task = encoded(opened(text)).task
    kept = [one for one in task.variables if one.kind == "was"]
    assert [len(one.values) for one in kept] == [2]
    assert agreed(opened(text)) is not None


def test_an_invariant_that_rules_keep_costs_nothing() -> None:
    rules = """
    type Jug { n: 0 to 9 = 0 }
    function unseen(): 0 to 9 = 0   function b(): bool = false
    action fill(j: Jug) { require j.n < 5  j.n += 1 }
    action count_up() { require unseen() < 9  unseen() += 1 }
    action ring() { b() = true }
    invariant small(j: Jug): j.n <= LIMIT
    world w { object jug: Jug  goal g: b() }
    """
    assert names(rules.replace("LIMIT", "5")) == {"b()"}
    assert "n(jug)" in names(rules.replace("LIMIT", "4"))


def test_relaxed_reachability_drops_what_can_never_happen() -> None:
    door = Variable("door", "slot", (0, 1), 0)
    lamp = Variable("lamp", "slot", (0, 1, 2), 0)
    key = Variable("key", "slot", (0, 1), 0)
    operators = (
        Operator("o0 open", ((2, (1,)),), (Effect((), 0, 1),)),
        Operator("o1 light", (), (Effect((), 1, 1), Effect(((0, (1,)),), 1, 2))),
    )
    smaller, reachable = simplified(Task((door, lamp, key), operators, ((1, (1,)),)))
    assert reachable
    assert [one.name for one in smaller.variables] == ["lamp"]
    assert smaller.variables[0].values == (0, 1)
    assert [one.name for one in smaller.operators] == ["o1 light"]
    assert smaller.operators[0].effects == (Effect((), 0, 1),)
    _, reachable = simplified(Task((door, lamp, key), operators, ((1, (2,)),)))
    assert not reachable


def test_values_are_merged_only_where_nothing_tells_them_apart() -> None:
    counter = Variable("counter", "slot", tuple(range(6)), 0)
    flag = Variable("flag", "slot", (0, 1), 0)
    up = tuple(Effect(((0, (n,)),), 0, n + 1) for n in range(5))
    operators = (
        Operator("o0 up", (), up),
        Operator("o1 flag", ((0, (3, 4, 5)),), (Effect((), 1, 1),)),
    )
    merged = merged_values(Task((counter, flag), operators, ((1, (1,)),)))
    assert merged.variables[0].values == (0, 1, 2, 3)
    assert merged.operators[1].precondition == ((0, (3,)),)
    assert len(merged.operators[0].effects) == 3
    again = merged_values(Task((counter, flag), operators, ((0, (4,)),)))
    assert again.variables[0].values == (0, 1, 2, 3, 4, 5)
