"""One sliced task for all assignments of secrets: the same operators, a start state for each.

Secrets are variables here and not constants, so that commands mean the same whatever is hidden. The
slice is that of encoding E: what can matter for the goal, for endings and invariants, and for
whether a command can be given. What it leaves out no assignment can tell from waiting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.encodings.ir import Task
from tokenworld.planning.encodings.slice import Cone, cone_of
from tokenworld.planning.lower.algebra import COIN, LONG, Obstacle, Refused
from tokenworld.planning.lower.diagram import Explosion
from tokenworld.planning.lower.encode import Unencodable, too_big
from tokenworld.planning.lower.facts import Facts, Read
from tokenworld.planning.lower.ticks import assembled
from tokenworld.planning.lower.variables import WAS
from tokenworld.planning.lower.world import TakenApart
from tokenworld.planning.proof.core_parts import slot_text, value_shown

__all__ = ["Hidden", "Joint", "joint_task"]

_MOST_NODES = 600_000


@dataclass(frozen=True, slots=True)
class Hidden:
    """A slot that matters and is not the same in all starts: its name, and its value in each, both
    as authors write them."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Joint:
    """A task with a start state per assignment, in their order, and what differs in them."""

    task: Task
    starts: tuple[tuple[int, ...], ...]
    hidden: tuple[Hidden, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of task and start states, in hexadecimal."""
        return sha256(repr((self.task.digest, self.starts)).encode()).hexdigest()


def joint_task(
    simulator: Simulator[StateT],
    starts: Sequence[StateT],
    goal: str | None,
    *,
    limit: int = _MOST_NODES,
) -> Joint | Unencodable:
    """The sliced task of start states that only differ in what is secret.

    ``limit`` bounds the nodes of the decision diagrams. Besides all that has no place in encoding
    E, chance that matters and long actions that matter are obstacles: a belief branches on the
    first, and what ends a long action for one assignment is no mere waiting for another.
    """

    def reader(state: StateT) -> Read:
        return lambda fluent, args: simulator.read(state, fluent, args)

    first, instance = starts[0], simulator.instance_at(starts[0])
    reads = [reader(one) for one in starts]
    running = simulator.running(first)
    facts = Facts(instance, reads[0], simulator.tick(first), running, reads[1:])
    try:
        world = TakenApart(facts, goal, limit)
        cone = cone_of(world)
        obstacles = (*world.analysis.obstacles, *cone.obstacles, *_branching(world, cone))
        if obstacles:
            return Unencodable(tuple(dict.fromkeys(obstacles)))
        task = assembled(world, cone, over=False)
    except Refused as refused:
        return Unencodable((refused.obstacle,))
    except Explosion as explosion:
        return Unencodable((too_big(instance, explosion),))
    positions = (_positions(world, cone, task, read) for read in reads)
    return Joint(task, tuple(positions), _hidden(world, cone, reads))


def _branching(world: TakenApart, cone: Cone) -> Iterator[Obstacle]:
    """What matters and has no place in a search that knows one state per assignment."""
    span = world.facts.instance.world.span
    for slot in cone.slots:
        if slot[0] == COIN:
            unit = world.variables.draws[slot].unit
            yield Obstacle(f"chance in `{unit.rule.name}`", unit.span, "its outcomes all count")
        elif slot[0] == LONG:
            yield Obstacle("a long action", span, "it may end earlier for some values of secrets")


def _positions(world: TakenApart, cone: Cone, task: Task, read: Read) -> tuple[int, ...]:
    """The start state that ``read`` tells of. Variables of slots come second, in their order."""
    found = list(task.initial)
    for number, slot in enumerate(cone.slots, start=1):
        stored = world.variables.stored(slot) if slot[0] == WAS else slot
        if stored[0] in world.facts.program.fluents:
            found[number] = task.variables[number].values.index(read(*stored))
    return tuple(found)


def _hidden(world: TakenApart, cone: Cone, reads: Sequence[Read]) -> tuple[Hidden, ...]:
    """The slots that start states differ in, with what they hold in each."""
    facts = world.facts
    instance, fluents = facts.instance, facts.program.fluents
    found = []
    for name, args in cone.slots:
        if name in fluents and len(facts.starts((name, args))) > 1:
            held = (value_shown(instance, fluents[name].type, read(name, args)) for read in reads)
            found.append(Hidden(slot_text(instance, fluents[name], args), tuple(held)))
    return tuple(found)
