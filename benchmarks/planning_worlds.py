"""Random finite worlds for planners: small enough to be searched to the end, rich in constructs.

A world is drawn in three steps: a vocabulary, rules over it that the checker accepts one by one,
and goals. For these the world is walked through to its end first, so that about half of the goals
are facts of some state that can be reached, and half are facts that never hold together.
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
from tokenworld.prose import EnglishProse

__all__ = ["Drawn", "Opened", "draw", "opened"]

MOST_STATES, MOST_STEPS = 800, 5_000
"""A world with more states or steps is left: its search would take more than a second or two."""
FEWEST_STATES = 5
_TRIES = 40


@dataclass(frozen=True, slots=True)
class Opened:
    """A world of a text, ready to be played."""

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


# ---- goals --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Slot:
    """A slot, and how to say what it holds."""

    fluent: Fluent
    args: tuple[Raw, ...]

    def held(self, world: Opened, state: State) -> Raw:
        return world.simulator.read(state, self.fluent.id, self.args)

    def says(self, instance: Instance, value: Raw) -> str:
        """A condition that is true exactly where it holds the value."""
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


_Goal = dict[_Slot, Raw]


def _slots(world: Opened) -> Iterator[_Slot]:
    """Every slot that some rule may write."""
    instance = world.instance
    for fluent in instance.program.fluents.values():
        if fluent.fluent_kind != "table" and not fluent.static:
            for args in product(*(domain_of(instance, one.type) or () for one in fluent.params)):
                yield _Slot(fluent, args)


def _reached(world: Opened) -> list[State] | None:
    """All states that can be reached; ``None`` if they are too many."""
    simulator, states, steps = world.simulator, [world.state], 0
    seen = {simulator.key(world.state)}
    for state in states:  # it grows meanwhile
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
    return states


def _wanted(world: Opened, states: Sequence[State], random: Random) -> str:
    """A goal that some state meets, or one whose facts never hold together."""
    slots, winnable = list(_slots(world)), random.random() < 0.45
    for attempt in range(_TRIES):
        late = states[random.choice((len(states) // 2, 9 * len(states) // 10)) :]
        goal = _changed(world, random.choice(late), slots, random)
        if not winnable:
            goal |= _changed(world, random.choice(states), slots, random)
            more = random.sample(slots, min(len(slots), attempt // 4))
            goal |= {one: one.held(world, world.state) for one in more}
        at_once = _holds(world, world.state, goal)
        holds = at_once or any(_holds(world, state, goal) for state in states)
        if goal and holds == winnable and not (at_once and random.random() < 0.98):
            return _said(world, goal)
    return _said(world, goal | _never(world, states, random.sample(slots, min(len(slots), 8))))


def _changed(world: Opened, state: State, slots: Sequence[_Slot], random: Random) -> _Goal:
    """What a few slots hold in a state, mostly such that hold something else at the start."""
    news = [one for one in slots if one.held(world, state) != one.held(world, world.state)]
    chosen = random.sample(news, min(len(news), random.choice((1, 1, 2, 3))))
    if random.random() < 0.3:
        chosen.append(random.choice(slots))
    return {one: one.held(world, state) for one in chosen}


def _holds(world: Opened, state: State, goal: _Goal) -> bool:
    return all(one.held(world, state) == value for one, value in goal.items())


def _never(world: Opened, states: Sequence[State], slots: Sequence[_Slot]) -> _Goal:
    """A value that one of the slots holds in no state."""
    for one in slots:
        held = {one.held(world, state) for state in states}
        for value in domain_of(world.instance, one.fluent.type) or ():
            if value not in held:
                return {one: value}
    return {}


def _said(world: Opened, goal: _Goal) -> str:
    """A goal as a condition; a slot of something that is gone by then is left out."""
    kept = {one: value for one, value in goal.items() if _possible(one.fluent, value)}
    return " and ".join(one.says(world.instance, value) for one, value in kept.items()) or "false"


def _possible(fluent: Fluent, value: Raw) -> bool:
    return value is not None or is_optional(fluent.type)


def draw(seed: int) -> Drawn | None:
    """A random world; ``None`` where the seed gives none that is small enough."""
    random = Random(seed)
    writer = Writer(random)
    objects = objects_of(writer)
    rules = rules_of(writer, objects)

    def text(*goals: str) -> str:
        return f"{rules}{block('world w', [*objects, *goals])}\n"

    world = opened(text("goal g: false"))
    states = None if world is None else _reached(world)
    if world is None or states is None or len(states) < FEWEST_STATES:
        return None
    goals = [f"goal g: {_wanted(world, states, random)}"]
    if random.random() < 0.2:
        goals.append(f"goal also: {_wanted(world, states, random)}")
    if random.random() < 0.2:
        told = f"goal g: {writer.named(closed(writer.condition(), random))}"
        goals = [told, *goals[1:]] if opened(text(told)) else goals
    return Drawn(text(*goals), random.choice([None, None, "g"]))
