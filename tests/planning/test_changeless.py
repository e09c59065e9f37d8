"""Steps that change nothing, and goals that hold anyway, are no trouble for planners."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import Opened, agreed, encoded, opened
from test_greenhouse import needs_downward

from tokenworld.planning.lower.encode import simplified
from tokenworld.planning.planners.by_encoding import plan_on
from tokenworld.planning.task import Effect, Operator, Task, Variable

# A rover takes its channel and gives it back: what it tells `far` matters to nothing, so that this
# command changes nothing, though it sets a slot that others ask for.
CHANNEL = """
type Lander { told: bool = false }
type Rover { ready: bool = false }
relation free(r: Rover)
action wake(r: Rover) { r.ready = true }
action tell(r: Rover, l: Lander) {
  require r.ready and free(r)
  remove free(r)  add free(r)  l.told = true
}
world w {
  object base, far: Lander  object spirit: Rover  setup { add free(spirit) }  goal g: base.told
}
"""
TRUE_ANYWAY = """
type T { b: bool = false }
action a(t: T) { t.b = true }
world w { object o: T  goal g: count(t for t: T) == 1 }
"""
# Where `c` does not hold, `act` changes nothing: a case that costs something and has no effect.
CASES = """
type T { c: bool  n: 0 to 3 clamped = 0 }
object o: T
action act(t: T) cost 2 { if t.c { t.n += 1 } }
action open(t: T) cost 1 { t.c = true }
world w { goal g: o.n == 2 }
"""


def answers(world: Opened) -> str:
    return plan_on(world.simulator, world.state, None, "E", seconds=60).answer


def test_operators_without_effects_are_left_out() -> None:
    world = opened(CHANNEL)
    found = encoded(world)
    assert found.plain is not None
    for task in (found.task, found.plain):
        assert all(operator.effects for operator in task.operators)
    assert agreed(world) is not None


def test_an_effect_that_sets_what_must_hold_is_no_effect() -> None:
    a, b = (Variable(name, "slot", (False, True), 0) for name in "ab")
    kept = Effect((), 0, 1)
    operators = (
        Operator("o0 both", ((1, (0,)),), (kept, Effect((), 1, 0))),
        Operator("o1 nothing", ((0, (1,)),), (Effect((), 0, 1), Effect(((1, (1,)),), 1, 1))),
        Operator("o2 last", ((0, (1,)),), (Effect((), 1, 1),)),
    )
    task, reachable = simplified(Task((a, b), operators, ((0, (1,)), (1, (1,)))))
    assert reachable
    assert [one.name for one in task.operators] == ["o0 both", "o2 last"]
    assert task.operators[0].effects == (kept,)


def test_a_goal_that_always_holds_leaves_a_task_with_a_variable() -> None:
    world = opened(TRUE_ANYWAY)
    task = encoded(world).task
    assert task.variables
    assert task.goal
    assert agreed(world) == ()


@needs_downward
@pytest.mark.planner
@pytest.mark.parametrize("text", [CHANNEL, TRUE_ANYWAY, CASES])
def test_the_planner_reads_the_task(text: str) -> None:
    assert answers(opened(text)) == "winnable"
