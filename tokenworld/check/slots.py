"""The slots that changes write."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.check.intervals import Facts
from tokenworld.check.relations import can_equal
from tokenworld.check.rulebook import Vocabulary
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    AddFact,
    Assign,
    Destroy,
    Effect,
    ObjectType,
    RemoveFact,
    Swap,
    Term,
    Transfer,
    ValueType,
)

__all__ = ["Write", "written_slots"]


@frozen
class Write:
    """A change on the path so far; ``args`` is ``None`` where any slot may be meant.

    ``maybe``: it stands in a branch that the path may not have taken. ``facts`` is what is known
    where it stands, ``None`` where that cannot be told any more; ``drawn``: a draw decides on it.
    """

    fluent: str
    args: tuple[Term, ...] | None
    op: str
    value: Term | None
    span: Span
    maybe: bool = False
    facts: Facts | None = None
    drawn: bool = False


def written_slots(effect: Effect, draft: Vocabulary) -> Iterator[Write]:
    """The slots that one change writes (not those of nested bodies)."""
    match effect:
        case Assign(target=target, op=op, value=value):
            yield Write(target.fluent, target.args, op, value, effect.span)
        case AddFact(target=target):
            yield Write(target.fluent, target.args, "add", None, effect.span)
        case RemoveFact(target=target):
            yield Write(target.fluent, target.args, "remove", None, effect.span)
        case Transfer(source=source, target=target):
            yield Write(source.fluent, source.args, "-=", None, effect.span)
            yield Write(target.fluent, target.args, "+=", None, effect.span)
        case Swap(left=left, right=right):
            yield Write(left.fluent, left.args, "=", right, effect.span)
            yield Write(right.fluent, right.args, "=", left, effect.span)
        case Destroy(target=destroyed):
            yield from _destroyed(destroyed, effect.span, draft)
        case _:
            return


def _destroyed(target: Term, span: Span, draft: Vocabulary) -> Iterator[Write]:
    """Destroying leaves every slot that may hold or belong to the object."""
    for fluent in draft.fluents.values():
        if isinstance(fluent.type, ObjectType) and can_equal(draft.types, fluent.type, target.type):
            yield Write(fluent.id, None, "destroy", None, span)
        elif any(_held(param.type, target, draft) for param in fluent.params):
            args = (target,) if len(fluent.params) == 1 else None
            yield Write(fluent.id, args, "destroy", None, span)


def _held(kind: ValueType, target: Term, draft: Vocabulary) -> bool:
    return isinstance(kind, ObjectType) and can_equal(draft.types, kind, target.type)
