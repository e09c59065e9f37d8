"""A whole world as a task of packed states: nothing is sliced off, no two states are merged.

That is possible where a tick is a command and nothing else: no laws, no luck, nothing that goes on
by itself. PDDL domains are such worlds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokenworld.ground import Command, Instance, Raw, Simulator, StateT
from tokenworld.model import Action, Effect, Let, effects_in
from tokenworld.planning.encodings.ir import Task
from tokenworld.planning.encodings.slice import cone_of
from tokenworld.planning.lower.algebra import Refused
from tokenworld.planning.lower.bodies import is_draw
from tokenworld.planning.lower.diagram import Explosion
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.ticks import assembled
from tokenworld.planning.lower.world import TakenApart
from tokenworld.planning.proof.gaps import gaps
from tokenworld.planning.space.bits import Packing, Step, Switch, Test, switch_of

__all__ = ["Packed", "packed"]

_MOST_NODES = 600_000


@dataclass(frozen=True, slots=True)
class Packed:
    """A world as packed states. ``commands[n]`` is what step number n stands for.

    Steps are numbered as the interpreter lists commands, and in no state two steps of one command
    can be taken. ``wins`` are the ways in which the goal can hold.
    """

    task: Task
    packing: Packing
    start: int
    commands: tuple[Command, ...]
    steps: tuple[Step, ...]
    switch: Switch
    wins: tuple[Test, ...]

    def won(self, state: int) -> bool:
        """Whether the goal holds."""
        return any(test.holds(state) for test in self.wins)

    def slots(self, state: int) -> list[tuple[str, tuple[Raw, ...], Raw]]:
        """Every slot that play may change, with its value: fluent, arguments, value."""
        return [
            (one.fluent, one.args, one.values[self.packing.position(state, number)])
            for number, one in enumerate(self.task.variables)
            if one.fluent is not None
        ]


def packed(simulator: Simulator[StateT], state: StateT, goal: str | None) -> Packed | None:
    """The world from a state, packed; ``None`` where a tick is more than a command."""
    instance = simulator.instance_at(state)
    if (
        not _plain(instance, goal)
        or gaps(instance, simulator.unlisted)
        or not simulator.exact_key()
    ):
        return None
    if simulator.running(state) is not None or simulator.lost(state):
        return None

    def read(fluent: str, args: Sequence[Raw]) -> Raw:
        return simulator.read(state, fluent, args)

    try:
        world = TakenApart(Facts(instance, read, simulator.tick(state)), goal, _MOST_NODES)
        cone = cone_of(world, whole=True)
        if world.analysis.obstacles or cone.obstacles:
            return None
        task = assembled(world, cone, over=False)
    except (Refused, Explosion):
        return None
    if any(one.kind not in ("token", "slot", "aux") for one in task.variables):
        return None
    return _packed(task, {one.command: number for number, one in enumerate(world.commands)})


def _plain(instance: Instance, goal: str | None) -> bool:
    """Whether nothing happens but what is commanded, and play ends at the goal only."""
    program, world = instance.program, instance.world
    by_itself = (program.laws, program.watches, program.invariants, program.births, world.awards)
    actions = program.actions.values()
    goals = [line for line in world.endings if line.ending == "goal"]
    return (
        not any(by_itself)
        and not world.endless
        and world.outcomes == "latched"
        and all(one.takes is None and one.until is None for one in actions)
        and not any(is_draw(effect) for one in actions for effect in _effects(one))
        and not any(one.ordered for one in program.fluents.values())
        and len(goals) == len(world.endings)
        and (goal is None or len(goals) == 1)
    )


def _effects(action: Action) -> Iterator[Effect]:
    yield from effects_in(tuple(one for one in action.guards if isinstance(one, Let)))
    yield from effects_in(action.body)


def _packed(task: Task, order: dict[Command, int]) -> Packed:
    packing = Packing(task)
    given = [one for one in task.operators if one.command is not None]
    given.sort(key=lambda one: -1 if one.command is None else order[one.command])
    steps = tuple(packing.step(number, one) for number, one in enumerate(given))
    commands = tuple(one.command for one in given if one.command is not None)
    wins = tuple(packing.test(one.precondition) for one in task.operators if one.command is None)
    if not any(task.variables[number].kind == "aux" for number, _ in task.goal):
        wins = (packing.test(task.goal),)
    start = packing.pack(task.initial)
    switch = switch_of(task, packing, steps)
    return Packed(task, packing, start, commands, steps, switch, wins)
