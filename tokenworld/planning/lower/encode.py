"""One world instance as a planning task that is solvable exactly if the world is winnable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tokenworld.ground import Instance, Simulator, StateT
from tokenworld.planning.encodings.ir import Task, Variable, check_plan, decoded, operators_named
from tokenworld.planning.encodings.sas import TooManyEffects, sas_text, single_valued
from tokenworld.planning.encodings.slice import cone_of
from tokenworld.planning.lower.algebra import Obstacle, Refused
from tokenworld.planning.lower.diagram import Explosion
from tokenworld.planning.lower.facts import Facts, facts_of
from tokenworld.planning.lower.plain import plain_encoding
from tokenworld.planning.lower.simplify import simplified
from tokenworld.planning.lower.ticks import assembled
from tokenworld.planning.lower.world import TakenApart
from tokenworld.planning.verdict import PlanStep

__all__ = ["Encoding", "Obstacle", "Unencodable", "encode", "encode_facts", "too_big"]

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
"""What is left to do where the goal holds whatever happens: planners reject a task of nothing."""


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
