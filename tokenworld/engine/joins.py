"""All bindings of an action whose requires hold, found by generated nested loops.

For a small world it is quickest to look for what is possible from the facts: each parameter is
bound by what says most about it (a function of what is bound already, the rows of a fact that play
never changes, a relation that holds, a test on each object), and every require is tested as soon as
all that it speaks of is bound. Only facts that such a loop looks up by some of their arguments get
an index, and only facts that never change in play.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tokenworld.engine.compile import Code, extend
from tokenworld.engine.indexes import Index
from tokenworld.engine.loops import Loops
from tokenworld.engine.probe import is_atom
from tokenworld.engine.state import State
from tokenworld.ground import Command, conjuncts
from tokenworld.model import Action, EnumType, Let, ObjectType, is_optional

__all__ = ["Join", "compile_join"]

MOST_PARAMS = 8


@dataclass(frozen=True, slots=True)
class Join:
    """The generated loops of one action: ``commands(S, W, me, made, *tables)`` are those of all its
    bindings that hold, in the order of the product of the candidates. ``made`` has the command of
    each binding."""

    commands: Callable[..., list[Command]]
    needs: tuple[Index, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that the tables are made of."""
        return tuple(one.column.index for one in self.needs)

    def tables(self, state: State) -> tuple[Any, ...]:
        """What the loops look rows up in; right until a column of `columns` is another one."""
        return tuple(one.build(state) for one in self.needs)


def compile_join(code: Code, action: Action, state: State) -> Join | None:
    """The loops of an action, in an order that suits the facts of a state; ``None`` where its
    requires are not all facts and equations (`probe.is_atom`) about objects and enums."""
    if any(isinstance(one, Let) for one in action.guards) or len(action.params) > MOST_PARAMS:
        return None
    parts = list(conjuncts(require.condition for require in action.requires))
    if not all(is_atom(part) for part in parts) or not all(
        isinstance(one.type, (ObjectType, EnumType)) and not is_optional(one.type)
        for one in action.params
    ):
        return None
    writer = Loops(code.emitter, action.params, parts, state)
    text, name = writer.function()
    texts = [text for _, text in code.emitter.texts]  # those that requires compare with
    code.emitter.texts.clear()
    extend(code, "\n".join([*texts, text]))
    return Join(code.space[name], tuple(writer.indexes))
