"""From the slice to the task: variables, the operators of a tick, the goal.

One tick is a command (the token stands at `act`), then one operator per phase that matters, each
moving the token on; a random phase has a step per coin before it. A new intent that breaks off a
long action with a ``cancelled`` block is two operators: the block, then the command.
"""

from __future__ import annotations

from tokenworld.planning.encodings.ir import Effect, Literal, Operator, Task, Variable
from tokenworld.planning.encodings.slice import Cone
from tokenworld.planning.lower.commands import Commands
from tokenworld.planning.lower.operators import Draft, Operators
from tokenworld.planning.lower.phases import ACT, Phases
from tokenworld.planning.lower.world import TakenApart

__all__ = ["assembled"]


def assembled(world: TakenApart, cone: Cone, over: bool) -> Task:
    """The task of one sliced world. ``over``: the world has ended, nothing can be done any more."""
    operators = Operators(world, cone)
    phases = Phases(world, cone, operators)
    phases.token = operators.declare(Variable("turn", "token", phases.names, ACT))
    operators.declare_slots()
    if not over:
        Commands(world, cone, operators, phases).add()
        phases.add()
    goal = _goal(world, cone, operators, (phases.token, (ACT,)))
    made: tuple[Operator, ...] = operators.finished()
    return Task(tuple(operators.variables), made, goal)


def _goal(
    world: TakenApart, cone: Cone, operators: Operators, at_act: Literal
) -> tuple[Literal, ...]:
    """The token at `act` and the goal; a goal with several ways gets an operator for each."""
    ways = [path for path, value in world.diagrams.paths(cone.won) if value is True]
    if len(ways) == 1:
        return (at_act, *operators.literals(ways[0]))
    reached = operators.declare(Variable("won", "aux", (False, True), 0))
    operators.add(Draft("win", cone.won, [], (at_act,), (Effect((), reached, 1),)))
    return ((reached, (1,)),)
