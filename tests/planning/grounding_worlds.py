"""Shared code of the tests of grounding: reachable facts, and exhaustive play."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator

from lower_worlds import Opened

from tokenworld.core import lowered
from tokenworld.core.rules import Ending
from tokenworld.engine import Engine, State
from tokenworld.engine.rows import Record
from tokenworld.engine.searching.keys import Kept
from tokenworld.ground import Command, Raw
from tokenworld.model import BoolType, NumberType, RealType, TextType
from tokenworld.planning.grounding.reach import Reached, reached
from tokenworld.planning.lower.facts import Facts
from tokenworld.verbs.audit.rules import RulesMet

__all__ = ["facts_of", "first_goal", "grounded", "strips", "unmet"]


def facts_of(world: Opened, *, listed: bool = True) -> Facts:
    """The facts of a world in its start state, with or without a list of the stored ones."""
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


class _Fired(RulesMet):
    """Hears which bindings of laws fire."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.bindings = set[tuple[str, tuple[Raw, ...]]]()

    def observe(self, before: Kept, record: Record, after: Kept) -> None:
        self.bindings.update(record.fired)


def unmet(world: Opened, most: int) -> Iterator[str]:
    """The commands, laws and values that exhaustive play finds and the grounding lacks."""
    found = grounded(world)
    simulator = world.simulator
    heard = simulator.listener = _Fired(simulator.engine)
    commands = set(found.commands)
    for state in _states(world, most):
        for command in simulator.commands(state):
            if not command.is_pass and command not in commands:
                yield f"command {simulator.show(state, command)}"
        yield from _values(world, found, state)
    simulator.listener = None
    for title, args in sorted(heard.bindings, key=repr):
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


# ---- random plain worlds -------------------------------------------------------------------

RELATIONS = {
    "free": (), "here": ("A",), "open": ("B",), "near": ("A", "A"), "holds": ("A", "B"),
    "fixed": ("A", "B"), "lit": ("B",),
}  # fmt: skip
"""No rule changes `fixed`."""
OBJECTS = {"A": ("a1", "a2", "a3"), "B": ("b1", "b2")}


def atom(draw: random.Random, names: dict[str, str], but: tuple[str, ...] = ()) -> str:
    """A fact over variables and objects."""
    relation = draw.choice([name for name in RELATIONS if name not in but])
    args = []
    for of in RELATIONS[relation]:
        known = [name for name, kind in names.items() if kind == of]
        args.append(draw.choice([*known, *known, *known, draw.choice(OBJECTS[of])]))
    return f"{relation}({', '.join(args)})"


def action(draw: random.Random, number: int) -> str:
    names = {name: draw.choice("AAB") for name in "xyz"[: draw.randrange(4)]}
    params = ", ".join(f"{name}: {of}" for name, of in names.items())
    asked = [f"require {'not ' * (draw.random() < 0.25)}{atom(draw, names)}"
             for _ in range(draw.randrange(1, 4))]  # fmt: skip
    made = dict.fromkeys(atom(draw, names, ("fixed",)) for _ in range(draw.randrange(1, 3)))
    gone = dict.fromkeys(
        one.removeprefix("require ") if draw.random() < 0.7 and "not " not in one else
        atom(draw, names, ("fixed",))
        for one in asked
    )  # fmt: skip
    changes = [f"add {one}" for one in made]
    changes += [f"remove {one}" for one in gone if one not in made and "fixed" not in one]
    cost = f" cost {draw.randrange(1, 4)}" if draw.random() < 0.3 else ""
    return f"action act{number}({params}){cost} {{ {'  '.join([*asked, *changes])} }}"


def strips(seed: int) -> str:
    """A random world without laws, whose actions only add and delete facts."""
    draw = random.Random(seed)
    relations = "  ".join(
        f"relation {name}({', '.join(f'p{place}: {of}' for place, of in enumerate(kinds))})"
        for name, kinds in RELATIONS.items()
    )
    actions = "\n".join(action(draw, number) for number in range(draw.randrange(2, 6)))
    objects = "  ".join(f"object {one}: {of}" for of, every in OBJECTS.items() for one in every)
    start = dict.fromkeys(atom(draw, {}) for _ in range(draw.randrange(4, 12)))
    adds = "  ".join(f"add {one}" for one in start)
    goal = " and ".join(dict.fromkeys(atom(draw, {}, ("fixed",)) for _ in range(2)))
    world = f"world w {{ setup {{ {adds} }}  goal g: {goal} }}"
    return f"type A  type B\n{relations}\n{objects}\n{actions}\n{world}"


# ---- random plain worlds with conditions -------------------------------------------------------


_LEAVES = ("atom", "not", "eq", "derive")
_CONNECTED = ("atom", "not", "and", "or", "implies", "any", "all", "where", "if")


def condition(draw: random.Random, names: dict[str, str], depth: int) -> str:
    """A condition over variables and objects, with loops, a derive and comparisons."""
    kind = draw.choice(_LEAVES if depth == 0 else _CONNECTED)
    inner = {**names, f"v{depth}": draw.choice("AB")}
    one, other = (condition(draw, names, depth - 1) for _ in "12") if depth else ("", "")
    loop = (
        f"{condition(draw, inner, depth - 1)} for v{depth}: {inner[f'v{depth}']}" if depth else ""
    )
    match kind:
        case "not":
            return f"not {atom(draw, names)}"
        case "eq":
            left, right = (draw.choice([*OBJECTS["A"], *(n for n in names if names[n] == "A")])
                           for _ in "12")  # fmt: skip
            return f"{left} == {right}"
        case "derive":
            return f"seen({draw.choice(OBJECTS['B'])})"
        case "and" | "or" | "implies":
            return f"(({one}) {kind} ({other}))"
        case "any" | "all":
            return f"{kind}({loop})"
        case "where":
            return f"{draw.choice(['any', 'all'])}({loop} where {condition(draw, inner, 0)})"
        case "if":
            return f"(if {one} then {other} else {condition(draw, names, 0)})"
        case _:
            return atom(draw, names)


def branches(draw: random.Random, names: dict[str, str]) -> str:
    """Changes in a branch or a loop."""
    inner = {**names, "u": draw.choice("AB")} if draw.random() < 0.5 else names
    changes = "  ".join(f"{draw.choice(['add', 'remove'])} {atom(draw, inner, ('fixed',))}"
                        for _ in range(draw.randrange(1, 3)))  # fmt: skip
    test = condition(draw, inner, draw.randrange(2))
    if inner is not names:
        return f"for u: {inner['u']} where {test} {{ {changes} }}"
    return f"if {test} {{ {changes} }} else {{ remove {atom(draw, names, ('fixed',))} }}"


def adl(seed: int) -> str:
    """A random world without laws, where conditions decide what actions do, and what is won."""
    draw = random.Random(seed)
    text, _, goal = strips(seed).rpartition("goal g: ")
    first, rest = text.split("action act0(", 1)
    derive = "derive seen(b: B): bool = lit(b) or any(holds(a, b) and near(a, a1) for a: A)"
    more = "\n".join(branching(draw, name) for name in ("more", "most"))
    ends = f"({condition(draw, {}, 2)}) and " if draw.random() < 0.5 else ""
    return f"{first}{derive}\n{more}\naction act0({rest}goal g: {ends}{goal}"


def branching(draw: random.Random, name: str) -> str:
    """An action that is more than a conjunction."""
    names = {one: draw.choice("AB") for one in "xy"[: draw.randrange(3)]}
    params = ", ".join(f"{one}: {of}" for one, of in names.items())
    asked = f"require {condition(draw, names, draw.randrange(3))}"
    changes = f"{branches(draw, names)}  add {atom(draw, names, ('fixed',))}"
    return f"action {name}({params}) {{ {asked}  {changes} }}"
