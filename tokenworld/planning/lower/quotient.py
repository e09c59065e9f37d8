"""Merging values that nothing can ever tell apart: a counter is saturated where it stops to matter.

Two values of a variable are alike if every condition takes both or neither, and every operator that
changes the variable leads them to values that are alike. The coarsest such partition is found by
splitting classes until nothing more splits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import replace

from tokenworld.planning.encodings.ir import Effect, Literal, Operator, Task

__all__ = ["merged_values"]

Group = dict[int, int]
"""What an operator does under fixed other conditions: values of the variable to what is stored."""


def merged_values(task: Task) -> Task:
    """The same task with alike values of each variable made one."""
    for number, variable in enumerate(task.variables):
        if len(variable.values) > 2 and variable.kind != "token":
            classes = _classes(task, number)
            if len(set(classes)) < len(classes):
                task = _quotient(task, number, classes)
    return task


def _classes(task: Task, number: int) -> list[int]:
    """The class of each value of a variable: its least member."""
    size = len(task.variables[number].values)
    signatures: list[list[Hashable]] = [[] for _ in range(size)]
    moves: list[Group] = []
    for literals in (task.goal, *(operator.precondition for operator in task.operators)):
        _tell(signatures, number, literals)
    for operator in task.operators:
        for (target, _), group in _groups(operator, number, size).items():
            if target == number:
                moves.append(group)
            else:
                for value, column in enumerate(signatures):
                    column.append(group.get(value))
    return _refined([tuple(column) for column in signatures], moves)


def _tell(signatures: list[list[Hashable]], number: int, literals: tuple[Literal, ...]) -> None:
    for variable, positions in literals:
        if variable == number:
            for value, column in enumerate(signatures):
                column.append(value in positions)


def _groups(
    operator: Operator, number: int, size: int
) -> dict[tuple[int, tuple[Literal, ...]], Group]:
    """The effects that look at or change a variable, by what they change and all else they ask."""
    found: dict[tuple[int, tuple[Literal, ...]], Group] = defaultdict(dict)
    for effect in operator.effects:
        own = [positions for variable, positions in effect.conditions if variable == number]
        if not own and effect.variable != number:
            continue
        rest = tuple(one for one in effect.conditions if one[0] != number)
        group = found[effect.variable, rest]
        for value in own[0] if own else range(size):
            group[value] = effect.value
    return found


def _refined(signatures: list[tuple[Hashable, ...]], moves: list[Group]) -> list[int]:
    """Split classes by where the moves lead until they lead alike everywhere."""
    classes = _numbered(list(signatures))
    while True:
        keys: list[Hashable] = []
        for value, own in enumerate(classes):
            keys.append((own, tuple(classes[group.get(value, value)] for group in moves)))
        finer = _numbered(keys)
        if len(set(finer)) == len(set(classes)):
            return finer
        classes = finer


def _numbered(keys: list[Hashable]) -> list[int]:
    """Each key replaced by the first position where it occurs."""
    first: dict[Hashable, int] = {}
    return [first.setdefault(key, position) for position, key in enumerate(keys)]


def _quotient(task: Task, number: int, classes: list[int]) -> Task:
    """The task with one value per class; effects that have become one are put together."""
    members = sorted(set(classes))
    place = {old: members.index(own) for old, own in enumerate(classes)}
    variable = task.variables[number]
    smaller = replace(
        variable,
        values=tuple(variable.values[one] for one in members),
        initial=place[variable.initial],
    )

    def literals(old: tuple[Literal, ...]) -> tuple[Literal, ...]:
        return tuple(
            (one, tuple(sorted({place[position] for position in positions})))
            if one == number
            else (one, positions)
            for one, positions in old
        )

    def effects(operator: Operator) -> tuple[Effect, ...]:
        made = (
            Effect(
                literals(effect.conditions),
                effect.variable,
                place[effect.value] if effect.variable == number else effect.value,
            )
            for effect in operator.effects
        )
        return _united(list(dict.fromkeys(made)), number, len(members))

    variables = tuple(
        smaller if index == number else one for index, one in enumerate(task.variables)
    )
    operators = tuple(
        replace(one, precondition=literals(one.precondition), effects=effects(one))
        for one in task.operators
    )
    return Task(variables, operators, literals(task.goal))


def _united(effects: list[Effect], number: int, size: int) -> tuple[Effect, ...]:
    """Effects that differ only in the values they ask of a variable, put together."""
    found: dict[tuple[tuple[Literal, ...], int, int], list[tuple[int, ...]]] = {}
    for effect in effects:
        own = [positions for variable, positions in effect.conditions if variable == number]
        rest = tuple(one for one in effect.conditions if one[0] != number)
        asked = own[0] if own else tuple(range(size))
        found.setdefault((rest, effect.variable, effect.value), []).append(asked)
    made = []
    for (rest, variable, value), sets in found.items():
        positions = tuple(sorted({one for asked in sets for one in asked}))
        if variable == number and len(positions) < size:  # what has the value needs no effect
            positions = tuple(one for one in positions if one != value)
        if positions:
            own_ = ((number, positions),) if len(positions) < size else ()
            made.append(Effect(tuple(sorted((*rest, *own_))), variable, value))
    return tuple(made)
