"""Shared code of the tests of the SAS+ encoding: worlds from text, and a search on the task."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path

from tokenworld.check import check_source
from tokenworld.diagnostics import Source, has_errors, read_source
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.ground import Command, Instance, instantiate, param_values
from tokenworld.planning.lower.encode import Encoding, Unencodable, encode
from tokenworld.planning.referee import renumbered, replay
from tokenworld.planning.search.interpreted import Exhausted, Found, Limits, Search
from tokenworld.planning.task import Operator, Task, check_plan, decoded
from tokenworld.planning.verdict import PlanStep
from tokenworld.prose.wording import EnglishProse

__all__ = ["Opened", "agreed", "bundled", "encoded", "explore", "opened", "refused", "solution"]


@dataclass(frozen=True)
class Opened:
    """A world to search, from one of its states."""

    instance: Instance
    simulator: EngineSimulator
    state: State

    def after(self, *commands: str) -> Opened:
        """The same world after these commands, written ``take(ruby)`` or ``pass``."""
        state = self.state
        for text in commands:
            command = next(
                one
                for one in self.simulator.commands(state)
                if self.simulator.show(state, one) == text
            )
            state = self.simulator.successors(state, command)[0].state
        return Opened(self.instance, self.simulator, state)


def opened(text: str) -> Opened:
    """The first world of a text, in its start state."""
    return _opened(Source("test.tw", None, text))


def bundled(name: str) -> Opened:
    """A world of ``domains``, such as ``cellar/twin``."""
    return _opened(read_source(Path(__file__).parents[2] / "domains" / f"{name}.tw"))


def _opened(source: Source) -> Opened:
    checked = check_source(source)
    assert not has_errors(checked.diagnostics), checked.diagnostics
    assert checked.program is not None
    world = next(iter(checked.program.worlds.values()))
    params = param_values(checked.program, world, {})
    instance = instantiate(checked.program, world, params)
    simulator = EngineSimulator(Engine(instance, EnglishProse()))
    return Opened(instance, simulator, simulator.start())


def encoded(world: Opened, goal: str | None = None) -> Encoding:
    """The encoding of a world that has one."""
    found = encode(world.instance, world.simulator, world.state, goal, spares=True)
    assert isinstance(found, Encoding), found
    return found


def refused(text: str) -> str:
    """The first obstacle to the encoding of a text: construct, place and reason."""
    world = opened(text)
    found = encode(world.instance, world.simulator, world.state, None)
    assert isinstance(found, Unencodable)
    one = found.obstacles[0]
    return f"{one.construct} at {one.span.line}: {one.reason}"


def explore(task: Task, limit: int = 300_000) -> tuple[Operator, ...] | None:
    """A shortest way to the goal of a task, or ``None`` if there is none."""
    if task.holds(task.initial, task.goal):
        return ()
    came: dict[tuple[int, ...], tuple[tuple[int, ...], Operator] | None] = {task.initial: None}
    waiting = deque([task.initial])
    while waiting:
        state = waiting.popleft()
        for operator in task.operators:
            if not task.holds(state, operator.precondition):
                continue
            after = task.apply(state, operator)
            if after in came:
                continue
            came[after] = (state, operator)
            assert len(came) < limit
            if task.holds(after, task.goal):
                return _way(came, after)
            waiting.append(after)
    return None


def _way(
    came: dict[tuple[int, ...], tuple[tuple[int, ...], Operator] | None], end: tuple[int, ...]
) -> tuple[Operator, ...]:
    found = []
    step = came[end]
    while step is not None:
        found.append(step[1])
        step = came[step[0]]
    return tuple(reversed(found))


def solution(world: Opened, goal: str | None = None) -> tuple[PlanStep, ...] | None:
    """A plan found on the encoding and replayed by the interpreter, or ``None``."""
    encoding = encoded(world, goal)
    way = explore(encoding.task)
    if way is None:
        return None
    check_plan(encoding.task, way)
    steps = renumbered(world.simulator, world.state, decoded(way), encoding.unborn)
    replayed = replay(world.simulator, world.state, steps, goal)
    assert replayed.ok, (replayed.reason, [one.name for one in way])
    return steps


def agreed(
    world: Opened, goal: str | None = None, *, shortest: bool = True
) -> tuple[PlanStep, ...] | None:
    """`solution`, compared with an exhaustive search of the interpreter.

    ``shortest``: plans have equal lengths (not so if an operator is more or less than a step).
    """
    search = Search(world.simulator, world.state, goal)
    answer = search.run(Limits(states=60_000))
    assert isinstance(answer, (Found, Exhausted)), answer
    steps = solution(world, goal)
    assert (steps is None) == isinstance(answer, Exhausted)
    if shortest and steps is not None and isinstance(answer, Found) and not search.by_cost:
        assert len(steps) == len(answer.steps)
    return steps


def shown(world: Opened, steps: tuple[PlanStep, ...] | None) -> list[str]:
    """The commands of a plan as typed calls."""
    assert steps is not None
    return [world.simulator.show(world.state, step.command) for step in steps]


def command(world: Opened, text: str) -> Command:
    """The command of a typed call."""
    found = world.simulator.commands(world.state)
    return next(one for one in found if world.simulator.show(world.state, one) == text)
