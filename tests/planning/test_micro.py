"""Encoding D says the same as the task it is made from, in actions without conditions."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_greenhouse import encoding, needs_downward, opened

from tokenworld.diagnostics import Failure
from tokenworld.planning.encodings.ir import Effect, Operator, Task, Variable
from tokenworld.planning.encodings.micro import micro_task
from tokenworld.planning.planners.by_encoding import plan_on

WORLDS = ["greenhouse/world", "greenhouse/scarce:enough", "skirmish/more:two", "workshop/more:two"]
State = tuple[int, ...]


def applicable(task: Task, state: State) -> list[Operator]:
    return [one for one in task.operators if task.holds(state, one.precondition)]


def after_runs(task: Task, state: State, token: int) -> set[State]:
    """Where whole runs of micro-actions lead; in between there is never a choice."""
    ends: set[State] = set()
    for first in applicable(task, state):
        now = task.apply(state, first)
        while len(now) > token and now[token]:
            (only,) = applicable(task, now)
            now = task.apply(now, only)
        ends.add(now[:token])
    return ends


@pytest.mark.parametrize("target", WORLDS)
def test_runs_of_micro_actions_lead_where_the_operators_lead(target: str) -> None:
    task = encoding(target).plain
    assert task is not None
    micro, random = micro_task(task), Random(target)
    assert all(not effect.conditions for one in micro.operators for effect in one.effects)
    state, token = task.initial, len(task.variables)
    for _ in range(60):
        wanted = {task.apply(state, one) for one in applicable(task, state)}
        met = after_runs(micro, (*state, 0)[: len(micro.variables)], token)
        assert met == wanted
        state = random.choice(sorted(wanted)) if wanted else task.initial


def test_values_that_change_places_change_in_one_step() -> None:
    a, b = (Variable(name, "slot", (0, 1, 2), start) for name, start in (("a", 1), ("b", 2)))
    effects = [Effect(((1, (value,)),), 0, value) for value in range(3)]
    effects += [Effect(((0, (value,)),), 1, value) for value in range(3)]
    task = Task((a, b), (Operator("o0 swap", (), tuple(effects)),), ((0, (2,)), (1, (1,))))
    micro = micro_task(task)
    assert len(micro.variables) == 2
    assert len(micro.operators) == 6  # equal values stay as they are
    assert {micro.apply((1, 2), one) for one in applicable(micro, (1, 2))} == {(2, 1)}


def test_what_is_read_is_written_later() -> None:
    a, b = (Variable(name, "slot", (0, 1, 2), 0) for name in "ab")
    step = [Effect(((0, (value,)),), 0, value + 1) for value in range(2)]
    copy = [Effect(((0, (value,)),), 1, value) for value in range(3)]
    task = Task((a, b), (Operator("o0 step", (), (*step, *copy)),), ((1, (1,)),))
    micro = micro_task(task)
    assert after_runs(micro, (1, 0, 0)[: len(micro.variables)], 2) == {(2, 1)}


def test_an_unknown_encoding_is_named() -> None:
    with pytest.raises(Failure) as caught:
        plan_on(*opened("skirmish/world"), None, "Q", seconds=1)  # type: ignore[misc]
    assert caught.value.diagnostics[0].code == "TW0006"


@needs_downward
@pytest.mark.planner
@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("greenhouse/more:three", "winnable"),
        ("greenhouse/scarce:too_little", "unwinnable"),
        ("skirmish/more:two", "winnable"),
        ("workshop/twin:one", "unwinnable"),
    ],
)
@pytest.mark.parametrize("name", ["E", "D"])
def test_both_encodings_give_the_same_answer(target: str, answer: str, name: str) -> None:
    verdict = plan_on(*opened(target), None, name, seconds=60)  # type: ignore[misc]
    assert (verdict.answer, verdict.encoding) == (answer, name)
