"""One world instance as a planning task that is solvable exactly if the world is winnable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tokenworld.core import lowered
from tokenworld.core.rules import Ending
from tokenworld.ground import Command, Instance, Simulator, StateT
from tokenworld.planning.encodings.ir import (
    Effect,
    Literal,
    Operator,
    Task,
    TooManyEffects,
    Variable,
    check_plan,
    decoded,
    operators_named,
    sas_text,
    single_valued,
)
from tokenworld.planning.encodings.slice import cone_of
from tokenworld.planning.grounding.reach import rank, reach_of
from tokenworld.planning.grounding.task import GroundOperator, GroundTask, Pair, plain_task
from tokenworld.planning.lower.algebra import Obstacle, Refused
from tokenworld.planning.lower.diagram import Explosion
from tokenworld.planning.lower.facts import Facts, facts_of
from tokenworld.planning.lower.simplify import simplified
from tokenworld.planning.lower.ticks import assembled, scale_of
from tokenworld.planning.lower.world import TakenApart
from tokenworld.planning.verdict import PlanStep

__all__ = [
    "Encoding",
    "Obstacle",
    "Unencodable",
    "encode",
    "encode_facts",
    "grounded",
    "in_order",
    "plain_encoding",
    "plain_goal",
    "plain_operators",
    "too_big",
]

_MOST_NODES = 600_000


@dataclass(frozen=True)
class Encoding:
    """Encoding E of one world from one state.

    ``task`` has single-valued literals only; ``plain`` is the same with sets of values, and without
    the variables that watch them. ``unreachable``: the goal is out of reach even if nothing were
    ever undone, which a planner finds out at once.
    """

    task: Task
    unreachable: bool = False
    plain: Task | None = None

    @cached_property
    def text(self) -> str:
        """The task as SAS+ text."""
        return sas_text(self.task)

    @property
    def digest(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        from hashlib import sha256

        return sha256(self.text.encode()).hexdigest()

    def plan(self, names: Sequence[str]) -> tuple[PlanStep, ...]:
        """The plan that a planner's operator names mean.

        Raises `decode.NotAPlan` where they are no plan of the task.
        """
        operators = operators_named(self.task, names)
        check_plan(self.task, operators)
        return decoded(operators)


@dataclass(frozen=True, slots=True)
class Unencodable:
    """Why there is no encoding: every construct that stands in the way, with its place."""

    obstacles: tuple[Obstacle, ...]


def encode(
    instance: Instance,
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    limit: int = _MOST_NODES,
    late: Callable[[], bool] | None = None,
) -> Encoding | Unencodable:
    """Encode the search for ``goal`` (any goal line if ``None``) from ``state``.

    Values of slots come from the simulator. ``limit`` bounds the nodes of the decision diagrams,
    ``late`` the time: where it says so, the world is given up as one whose diagrams are too big.
    Whatever has no place in the encoding is reported as an obstacle: nothing is left out silently.
    """
    over = simulator.lost(state) or not (simulator.commands(state) or simulator.won(state, goal))
    facts = facts_of(simulator, state, instance)
    return encode_facts(facts, goal, over=over, limit=limit, late=late)


def encode_facts(
    facts: Facts,
    goal: str | None,
    *,
    over: bool = False,
    limit: int = _MOST_NODES,
    late: Callable[[], bool] | None = None,
) -> Encoding | Unencodable:
    """As `encode`, from the facts of a state; ``over``: play has ended there."""
    instance = facts.instance
    plain = None if over else plain_encoding(facts, goal)
    if plain is not None:
        return Encoding(plain, plain=plain) if plain.goal else Encoding(_WON, plain=_WON)
    try:
        world = TakenApart(facts, goal, limit, late)
        cone = cone_of(world)
        obstacles = (*world.analysis.obstacles, *cone.obstacles)
        if obstacles:
            return Unencodable(tuple(dict.fromkeys(obstacles)))
        task, reachable = simplified(assembled(world, cone, over))
    except Refused as refused:
        return Unencodable((refused.obstacle,))
    except Explosion as explosion:
        return Unencodable((too_big(instance, explosion),))
    if not task.goal:
        return Encoding(_WON, plain=_WON)
    try:
        return Encoding(single_valued(task), not reachable, task)
    except TooManyEffects as error:
        return Unencodable((_too_many(instance, error),))


_WON = Task((Variable("won", "aux", (False, True), 1),), (), ((0, (1,)),))
"""The task where the goal holds whatever happens: planners reject an empty one."""


def _too_many(instance: Instance, error: TooManyEffects) -> Obstacle:
    """The obstacle of a rule that has too many effects once each condition names one value."""
    reason = f"with it the world takes more than {error.most:,} effects of single values"
    command = error.operator.command
    action = None if command is None else instance.program.actions.get(command.action)
    if action is None:
        return Obstacle(f"`{error.operator.name}`", instance.world.span, reason)
    return Obstacle(f"the action `{action.name}`", action.span, reason)


def too_big(instance: Instance, explosion: Explosion) -> Obstacle:
    """The obstacle of a world whose decision diagrams outgrow their limit."""
    reason = f"its decision diagrams grow beyond {explosion.size:,} nodes"
    if explosion.late:
        reason = "its decision diagrams are not done in the time that there is for them"
    return Obstacle(f"world `{instance.world.name}`", instance.world.span, reason)


# ---- plain worlds -------------------------------------------------------------------------------
# Where nothing happens but what is commanded, and commands make facts true and false, there is
# nothing that decision diagrams would have to find out: each ground action that can ever be done is
# one operator.


def plain_goal(facts: Facts, goal: str | None) -> Ending | None:
    """The goal line of a world in which nothing happens but what is commanded."""
    instance, program = facts.instance, facts.program
    lines = facts.rules.worlds[instance.world.name].goals
    alone = len(lines) == 1 and goal in (None, lines[0].name)
    if not alone or program.conserves or program.births or len(instance.world.turns) > 1:
        return None
    return lines[0] if is_plain(instance, goal) and facts.running is None else None


def is_plain(instance: Instance, goal: str | None) -> bool:
    """Whether nothing happens but what is commanded, and play ends at the goal only."""
    program, world = instance.program, instance.world
    by_itself = (program.laws, program.watches, program.invariants, world.awards)
    goals = [line for line in world.endings if line.ending == "goal"]
    return (
        not any(by_itself)
        and not world.endless
        and world.outcomes == "latched"
        and not any(one.draws for one in lowered(program).in_play)
        and all(one.takes is None and one.until is None for one in program.actions.values())
        and len(goals) == len(world.endings)
        and (goal is None or len(goals) == 1)
    )


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
