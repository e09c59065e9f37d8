"""Encoding E of plain worlds, straight from their ground actions.

Where nothing happens but what is commanded, and commands make facts true and false, there is
nothing that decision diagrams would have to find out: each ground action that can ever be done is
one operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokenworld.core.rules import Ending
from tokenworld.ground import Command
from tokenworld.planning.encodings.ir import Effect, Literal, Operator, Task, Variable
from tokenworld.planning.grounding.reach import rank, reach_of
from tokenworld.planning.grounding.task import GroundOperator, GroundTask, Pair, plain_task
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.operators import scale_of
from tokenworld.planning.search.packed.admission import is_plain

__all__ = ["grounded", "in_order", "plain_encoding", "plain_goal", "plain_operators"]


def plain_goal(facts: Facts, goal: str | None) -> Ending | None:
    """The goal line of a world in which nothing happens but what is commanded."""
    instance, program = facts.instance, facts.program
    lines = facts.rules.worlds[instance.world.name].goals
    alone = len(lines) == 1 and goal in (None, lines[0].name)
    if not alone or program.conserves or program.births or len(instance.world.turns) > 1:
        return None
    return lines[0] if is_plain(instance, goal) and facts.running is None else None


def grounded(
    facts: Facts, line: Ending, *, grouped: bool, whole: bool = False
) -> GroundTask | None:
    """The ground task of a plain world; ``None`` where it is not one."""
    found = reach_of(facts, always=True)
    return None if found is None else plain_task(facts, found, line, grouped=grouped, whole=whole)


def plain_encoding(facts: Facts, goal: str | None) -> Task | None:
    """The task of a plain world; ``None`` where it is none, or where its goal is out of reach: the
    general way has more to say of why."""
    line = plain_goal(facts, goal)
    made = None if line is None else grounded(facts, line, grouped=False)
    if made is None or made.goal is None or any(one[6] < 0 for one in made.operators):
        return None
    variables = tuple(
        Variable(facts.slot_name(group[0]), "slot", (False, True), int(first == 0), *group[0])
        for group, first in zip(made.variables, made.initial, strict=True)
    )
    goals = tuple(sorted((*_literals(made.goal[0], 1), *_literals(made.goal[1], 0))))
    return Task(variables, tuple(plain_operators(facts, made)), goals)


def _literals(pairs: Sequence[Pair], position: int) -> Iterator[Literal]:
    return ((number, (position,)) for number, _ in pairs)


def plain_operators(facts: Facts, made: GroundTask) -> Iterator[Operator]:
    """The operators over variables of single facts, in the order of the interpreter's commands."""
    ordered = in_order(facts, made)
    scale = scale_of(max((one[6] for one in ordered), default=0))
    costed = any(action.cost is not None for action in facts.rules.actions.values())
    for number, one in enumerate(ordered):
        name = f"o{number} {_shown(facts, one)}"
        cost = one[6] * scale + 1 if costed else 1
        condition = tuple(sorted((*_literals(one[2], 1), *_literals(one[3], 0))))
        effects = [Effect((), variable, 1) for variable, _ in one[4]]
        effects += [Effect((), variable, 0) for variable, _ in one[5]]
        yield Operator(name, condition, tuple(effects), cost, Command(one[0], one[1]))


def in_order(facts: Facts, made: GroundTask) -> list[GroundOperator]:
    """The operators as the interpreter lists commands."""
    ranks = {name: place for place, name in enumerate(facts.program.actions)}
    return sorted(made.operators, key=lambda one: (ranks[one[0]], rank(one[1])))


def _shown(facts: Facts, one: GroundOperator) -> str:
    params = facts.rules.actions[one[0]].params
    return f"{one[0]}({', '.join(str(arg) for arg in facts.shown_args(params, one[1]))})"
