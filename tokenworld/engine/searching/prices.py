"""What plans pay for commands: the `cost` of an action, in whole units."""

from __future__ import annotations

from tokenworld.engine.compile import Code
from tokenworld.engine.state import State
from tokenworld.ground import Command
from tokenworld.model import NumberType, Term

__all__ = ["Prices"]


class Prices:
    """The prices of one world, in units of the finest decimals that any cost is written with.

    Where no action has a cost, each command costs one.
    """

    def __init__(self, code: Code) -> None:
        self._actions = code.actions
        costs = [one.action.cost for one in code.actions.values()]
        self._any = any(cost is not None for cost in costs)
        self._decimals = max(map(_decimals, costs), default=0)

    def of(self, state: State, command: Command) -> int:
        """What a command costs in a state; to do nothing, or to go on with a long action, costs
        nothing where others have a cost."""
        if not self._any:
            return 1
        long = state.long_of(state.acting) if state.longs else None
        if command.is_pass or (long is not None and command == long.command):
            return 0  # it goes on, and was paid for
        code = self._actions[command.action]
        if code.cost is None:
            return 0
        paid = int(code.cost(state, state, state.acting, *command.args))
        return paid * int(10 ** (self._decimals - _decimals(code.action.cost)))


def _decimals(term: Term | None) -> int:
    return term.type.decimals if term is not None and isinstance(term.type, NumberType) else 0
