"""The environment of terms, and the comparison of values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tokenworld.core.nodes import Term
from tokenworld.engine.reference.values import Slot, State
from tokenworld.ground import Raw
from tokenworld.model import NumberType


@dataclass(frozen=True)
class Env:
    """The environment of a term: a state, the state at the start of the tick, the actor, the
    locals.

    ``given`` are the fields of objects that this very body creates, ``tables`` the recursive
    derives as far as they are known; nothing may be written to the states while it is in use.
    """

    state: State
    was: State
    me: int | None
    locals: dict[str, Any] = field(default_factory=dict)
    given: dict[Slot, Raw] = field(default_factory=dict)
    made: dict[int, str] = field(default_factory=dict)
    tables: dict[tuple[str, int, int], set[tuple[Raw, ...]]] = field(default_factory=dict)
    pasts: dict[tuple[int, int, int], State] = field(default_factory=dict)

    def bind(self, name: str, value: Any) -> Env:
        """The same with one more local."""
        return replace(self, locals={**self.locals, name: value})

    def only(self, names: dict[str, Any]) -> Env:
        """The same with other locals: the inside of a derive or of a name rule."""
        return replace(self, locals=names)


def decimals_of(term: Term) -> int:
    """The number of decimals of the whole number that represents a term's value."""
    return term.type.decimals if isinstance(term.type, NumberType) else 0


def compared(op: str, left: Any, right: Any) -> bool:
    """`none` equals `none`; the other comparisons are false over it."""
    if op == "==":
        return bool(left == right)
    if left is None or right is None:
        return False
    return bool(left < right if op == "<" else left <= right)
