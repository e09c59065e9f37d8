"""What a slot holds after a simultaneous block: all its writes put together (language.md §5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokenworld.model import BoolType, Fluent, NumberType, RealType
from tokenworld.planning.lower.bodies import Write
from tokenworld.planning.lower.diagram import Diagram, Diagrams, Mark, Value

__all__ = ["is_agreed", "is_inside", "merged"]


def merged(
    diagrams: Diagrams, fluent: Fluent, old: Diagram, writes: Sequence[Write[Diagram]]
) -> Diagram:
    """The value of a slot after all ``writes``; a `Mark` where they cannot be put together.

    All ``=`` must agree, all ``+=`` add up, a clamped slot is clamped once, ``add`` beats
    ``remove``.
    """
    added, removed = diagrams.false, diagrams.false
    given = stepped = diagrams.leaf(Mark.UNSET)
    for write in writes:
        match write.op:
            case "add":
                added = diagrams.either(added, write.condition)
            case "remove":
                removed = diagrams.either(removed, write.condition)
            case "set":
                value = write.value
                if isinstance(fluent.type, BoolType):
                    value = diagrams.lift("stored truth", _stored_truth, value)
                given = diagrams.lift("give", _give, write.condition, value, given)
            case "inc":
                stepped = diagrams.lift("step", _step, write.condition, write.value, stepped)
    stored = diagrams.lift(("store", fluent.id), _store(fluent), given, stepped, old)
    stored = diagrams.choose(removed, diagrams.false, stored)
    return diagrams.choose(added, diagrams.true, stored)


def is_agreed(diagrams: Diagrams, value: Diagram) -> Diagram:
    """Where the writes to a slot agree and are defined."""
    return diagrams.lift("agreed", lambda one: one not in (Mark.CLASH, Mark.BROKEN), value)


def is_inside(diagrams: Diagrams, value: Diagram) -> Diagram:
    """Where a number is not outside its range."""
    return diagrams.lift("inside", lambda one: one is not Mark.OUTSIDE, value)


def _stored_truth(value: Value) -> Value:
    return False if value is None else value


def _give(condition: Value, value: Value, given: Value) -> Value:
    if condition is not True:
        return condition if condition is Mark.BROKEN else given
    if given is Mark.UNSET or given == value:
        return value
    return given if given is Mark.BROKEN else Mark.CLASH


def _step(condition: Value, step: Value, so_far: Value) -> Value:
    if condition is not True:
        return condition if condition is Mark.BROKEN else so_far
    if step is Mark.BROKEN or so_far is Mark.BROKEN:
        return Mark.BROKEN
    total = so_far if isinstance(so_far, (int, float)) else 0
    return total + step if isinstance(step, (int, float)) else total


def _store(fluent: Fluent) -> Callable[[Value, Value, Value], Value]:
    def store(given: Value, step: Value, old: Value) -> Value:
        if Mark.BROKEN in (given, step):
            return Mark.BROKEN
        if given is Mark.UNSET and step is Mark.UNSET:
            return old
        if given is not Mark.UNSET:
            return _bounded(fluent, given) if step is Mark.UNSET else Mark.CLASH
        if not isinstance(old, (int, float)) or not isinstance(step, (int, float)):
            return old
        return _bounded(fluent, old + step)

    return store


def _bounded(fluent: Fluent, value: Value) -> Value:
    """The value as it is stored: clamped, or `Mark.OUTSIDE`."""
    kind = fluent.type
    if isinstance(kind, RealType) and isinstance(value, int):
        return float(value)
    if not isinstance(kind, NumberType) or not isinstance(value, int):
        return value
    if kind.low is not None and value < kind.low:
        return kind.low if fluent.clamped else Mark.OUTSIDE
    if kind.high is not None and value > kind.high:
        return kind.high if fluent.clamped else Mark.OUTSIDE
    return value
