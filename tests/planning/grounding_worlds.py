"""What the tests of grounding share: what is reached, and what play meets on the way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from lower_worlds import Opened

from tokenworld.core import lowered
from tokenworld.core.rules import Ending
from tokenworld.engine import State
from tokenworld.engine.result import Result
from tokenworld.ground import Command, Raw
from tokenworld.model import BoolType, NumberType, RealType, TextType
from tokenworld.planning.grounding.reach import Reached, reached
from tokenworld.planning.lower.facts import Facts

__all__ = ["facts_of", "first_goal", "grounded", "unmet"]


def facts_of(world: Opened, *, listed: bool = True) -> Facts:
    """The facts of a world in its start state, with or without a list of what is stored."""
    simulator, state = world.simulator, world.state
    stored: Callable[[str], object] = lambda fluent: simulator.stored(state, fluent)  # noqa: E731
    return Facts(
        simulator.instance_at(state),
        lambda fluent, args: simulator.read(state, fluent, args),
        simulator.tick(state),
        simulator.running(state),
        stored=stored if listed else None,  # type: ignore[arg-type]
    )


def grounded(world: Opened) -> Reached:
    return reached(facts_of(world))


def first_goal(world: Opened) -> Ending:
    """The first goal line of a world, in core."""
    return lowered(world.instance.program).worlds[world.instance.world.name].goals[0]


def unmet(world: Opened, most: int) -> Iterator[str]:
    """Whatever exhaustive play meets and the grounding does not have: commands, laws, values."""
    found = grounded(world)
    simulator = world.simulator
    laws: set[tuple[str, tuple[Raw, ...]]] = set()

    def observe(_: State, result: Result) -> None:
        laws.update((one.title, one.args) for one in result.fired)

    simulator.observe = observe
    commands = set(found.commands)
    for state in _states(world, most):
        for command in simulator.commands(state):
            if not command.is_pass and command not in commands:
                yield f"command {simulator.show(state, command)}"
        yield from _values(world, found, state)
    simulator.observe = None
    for title, args in sorted(laws, key=repr):
        if title.startswith("law ") and args not in found.bindings(title):
            yield f"{title} {args}"


def _states(world: Opened, most: int) -> Iterator[State]:
    simulator = world.simulator
    seen, waiting = {simulator.key(world.state)}, deque([world.state])
    while waiting:
        state = waiting.popleft()
        yield state
        for command in _commands(world, state):
            for after in simulator.successors(state, command):
                key = simulator.key(after.state)
                if key not in seen and len(seen) < most:
                    seen.add(key)
                    waiting.append(after.state)


def _commands(world: Opened, state: State) -> tuple[Command, ...]:
    return tuple(world.simulator.commands(state))


def _values(world: Opened, found: Reached, state: State) -> Iterator[str]:
    program = world.instance.program
    changing = found.relaxed.context
    for name, fluent in program.fluents.items():
        if name not in _written(found) or isinstance(fluent.type, (RealType, TextType)):
            continue
        for args, value in world.simulator.stored(state, name):
            if isinstance(fluent.type, NumberType):
                low, high = found.ranges[name].get(args, (1, 0))
                inside = value is None or low <= value <= high  # type: ignore[operator]
            elif isinstance(fluent.type, BoolType):
                inside = not value or (name, args) in found.facts
            else:
                inside = (name, (*args, value)) in found.facts
            destroyed = value is None and changing.destroys
            if not inside and not destroyed:
                yield f"{name}{args} = {value}"


def _written(found: Reached) -> frozenset[str]:
    numeric = {name for name, slots in found.ranges.items() if slots}
    return frozenset(found.known) | numeric
