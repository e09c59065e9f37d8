"""Random finite worlds for planners: small enough for exhaustive search, with many constructs.

A world is drawn in three steps: a vocabulary, rules that the checker accepts one by one, and goals.
For the goals the world is explored first: about half of them are facts of a reachable state, mostly
several ticks away, and half are facts that never hold together although each is reachable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from benchmarks.planning_rules import Writer, block, closed, objects_of, rules_of
from tokenworld.check import check_source
from tokenworld.diagnostics import Failure, Source, has_errors
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.ground import Instance, Raw, domain_of, instantiate, param_values, show_value
from tokenworld.model import Fluent, is_optional
from tokenworld.prose.wording import EnglishProse

__all__ = ["EDITION", "Drawn", "Opened", "draw", "opened"]

EDITION = 2
"""Increased whenever a number gives another world than before."""
MOST_STATES, MOST_STEPS = 800, 3_000
"""Worlds with more states or steps are skipped, because their search would take seconds."""
LEAST_STATES, FEWEST_STATES, SHALLOWEST = 5, 20, 4
"""Worlds with fewer states than the first number are skipped. So are most worlds with fewer states
than the second number, or without states as many ticks away as the third."""
_SMALL, _SAMPLE = 0.08, 10
_DISTANCES = (1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9)
_TRIES = 40


@dataclass(frozen=True, slots=True)
class Opened:
    """A world of a text, and its start state."""

    instance: Instance
    simulator: EngineSimulator
    state: State


@dataclass(frozen=True, slots=True)
class Drawn:
    """A random world: its text, and the goal line to plan for (any if ``None``)."""

    text: str
    goal: str | None


def opened(text: str) -> Opened | None:
    """The first world of a text in its start state; ``None`` if it is wrong or cannot start."""
    checked = check_source(Source("world.tw", None, text))
    if checked.program is None or has_errors(checked.diagnostics) or not checked.program.worlds:
        return None
    world = next(iter(checked.program.worlds.values()))
    instance = instantiate(checked.program, world, param_values(checked.program, world, {}))
    simulator = EngineSimulator(Engine(instance, EnglishProse()))
    try:
        return Opened(instance, simulator, simulator.start())
    except Failure:
        return None


# ---- what can be reached ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Slot:
    """A slot, and the text of its values."""

    fluent: Fluent
    args: tuple[Raw, ...]

    def held(self, world: Opened, state: State) -> Raw:
        return world.simulator.read(state, self.fluent.id, self.args)

    def says(self, instance: Instance, value: Raw) -> str:
        """A condition that is true exactly if the slot has the value."""
        fluent = self.fluent
        pairs = zip((one.type for one in fluent.params), self.args, strict=True)
        names = [show_value(instance.program, instance.names, kind, arg) for kind, arg in pairs]
        left = f"{fluent.name}({', '.join(map(str, names))})"
        if fluent.fluent_kind == "attribute":
            left = f"{names[0]}.{fluent.name}"
        shown = show_value(instance.program, instance.names, fluent.type, value)
        if isinstance(shown, bool):
            return left if shown else f"not {left}"
        return f"{left} == {'none' if shown is None else shown}"

    def may_hold(self, value: Raw) -> bool:
        """False for the value of a slot of a destroyed object."""
        return value is not None or is_optional(self.fluent.type)


_Goal = dict[int, Raw]
"""Values by the number of their slot."""


@dataclass(frozen=True, slots=True)
class _Space:
    """All states of a world by distance: the distance, and the values of all slots."""

    slots: tuple[_Slot, ...]
    depths: tuple[int, ...]
    rows: tuple[tuple[Raw, ...], ...]

    def first(self, goal: _Goal) -> int | None:
        """The first state in which a goal holds."""
        wanted = goal.items()
        for number, row in enumerate(self.rows):
            if all(row[slot] == value for slot, value in wanted):
                return number
        return None

    def news(self, number: int, random: Random) -> list[int]:
        """The slots whose value differs from the start, in any order."""
        row, start = self.rows[number], self.rows[0]
        found = [
            slot
            for slot, one in enumerate(self.slots)
            if row[slot] != start[slot] and one.may_hold(row[slot])
        ]
        return random.sample(found, len(found))

    def part(self, number: int, slots: Sequence[int]) -> _Goal:
        """The values of these slots in a state."""
        row = self.rows[number]
        return {slot: row[slot] for slot in slots if self.slots[slot].may_hold(row[slot])}


def _slots(world: Opened) -> Iterator[_Slot]:
    """Every slot that a rule may write."""
    instance = world.instance
    for fluent in instance.program.fluents.values():
        if fluent.fluent_kind != "table" and not fluent.static:
            for args in product(*(domain_of(instance, one.type) or () for one in fluent.params)):
                yield _Slot(fluent, args)


def _space(world: Opened) -> _Space | None:
    """All reachable states; ``None`` if there are too many."""
    simulator, states, depths, steps = world.simulator, [world.state], [0], 0
    seen = {simulator.key(world.state)}
    for number, state in enumerate(states):  # it grows meanwhile
        if number >= _SAMPLE and steps * len(states) > MOST_STEPS * number:
            return None  # the states that wait would take too many steps, at that many for each
        for command in () if simulator.lost(state) else simulator.commands(state):
            if len(states) > MOST_STATES or steps > MOST_STEPS:
                return None
            steps += 1
            for successor in simulator.successors(state, command):
                steps += 1
                key = simulator.key(successor.state)
                if key not in seen:
                    seen.add(key)
                    states.append(successor.state)
                    depths.append(depths[number] + 1)
    slots = tuple(_slots(world))
    rows = (tuple(one.held(world, state) for one in slots) for state in states)
    return _Space(slots, tuple(depths), tuple(rows))


# ---- goals --------------------------------------------------------------------------------------


def _wanted(world: Opened, space: _Space, random: Random) -> str:
    """A goal that is true in some state, or one whose facts never hold together."""
    goal = _met(space, random) if random.random() < 0.55 else _unmet(world, space, random)
    said = (space.slots[slot].says(world.instance, value) for slot, value in goal.items())
    return " and ".join(said) or "false"


def _met(space: _Space, random: Random) -> _Goal:
    """Facts of a state, enough that no nearer state has them all, if possible."""
    distance = min(space.depths[-1], random.choice(_DISTANCES))
    far = [number for number, depth in enumerate(space.depths) if depth >= distance]
    best, reached = _Goal(), -1
    for _ in range(_TRIES):
        number = random.choice(far)
        goal = space.part(number, random.sample(range(len(space.slots)), random.random() < 0.2))
        for slot in space.news(number, random)[:6]:
            goal |= space.part(number, [slot])
            depth = space.depths[space.first(goal) or 0]
            if depth > reached:
                best, reached = dict(goal), depth
            if depth >= distance:
                return goal
    return best


def _unmet(world: Opened, space: _Space, random: Random) -> _Goal:
    """Facts that are reachable one by one and never together; else one that is never reached."""
    numbers = range(len(space.rows))
    for attempt in range(_TRIES):
        goal = _Goal()
        for number in random.choices(numbers, k=random.choice((2, 2, 3))):
            goal |= space.part(number, space.news(number, random)[: random.choice((1, 2))])
        spare = random.sample(range(len(space.slots)), min(len(space.slots), attempt // 4))
        goal |= space.part(0, spare)
        if goal and space.first(goal) is None:
            return goal
    return _never(world, space, random)


def _never(world: Opened, space: _Space, random: Random) -> _Goal:
    """A value that one of the slots never has."""
    for slot in random.sample(range(len(space.slots)), len(space.slots)):
        held = {row[slot] for row in space.rows}
        for value in domain_of(world.instance, space.slots[slot].fluent.type) or ():
            if value not in held:
                return {slot: value}
    return {}


def draw(number: int) -> Drawn | None:
    """The random world of a number; ``None`` if it is not small enough, or trivial."""
    random = Random(number)
    writer = Writer(random)
    objects = objects_of(writer)
    rules = rules_of(writer, objects)

    def text(*goals: str) -> str:
        return f"{rules}{block('world w', [*objects, *goals])}\n"

    world = opened(text("goal g: false"))
    space = None if world is None else _space(world)
    if world is None or space is None or _trivial(space, random):
        return None
    goals = [f"goal g: {_wanted(world, space, random)}"]
    if random.random() < 0.15:
        goals.append(f"goal also: {_wanted(world, space, random)}")
    if random.random() < 0.12:
        told = f"goal g: {writer.named(closed(writer.condition(), random))}"
        goals = [told, *goals[1:]] if opened(text(told)) else goals
    return Drawn(text(*goals), random.choice([None, None, "g"]))


def _trivial(space: _Space, random: Random) -> bool:
    """Whether the world is trivial; only a few such worlds are kept."""
    small = len(space.rows) < FEWEST_STATES or space.depths[-1] < SHALLOWEST
    return len(space.rows) < LEAST_STATES or (small and random.random() >= _SMALL)
