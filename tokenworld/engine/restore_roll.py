"""Who there is in a ``tw-state/1`` file, and whether the program can live with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Instance
from tokenworld.model import ObjectLiteral, ObjectType

__all__ = ["Misfit", "Roll", "mentioned", "read_roll"]


MOST_NUMBERS = 10_000_000
"""There is room for each number that was given, be its object long gone."""


class Misfit(Exception):
    """Where JSON does not fit, as a path inside it, and a clause that says why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


@frozen
class Roll:
    """The objects of a state by number: type (``None``: destroyed) and name; numbers by name."""

    kinds: tuple[str | None, ...]
    names: tuple[str, ...]
    numbers: Mapping[str, int]


def read_roll(instance: Instance, shape: Mapping[str, Any], named: frozenset[str]) -> Roll:
    """Read the objects; those ``named`` must be among them.

    An object that rules name keeps the number it was declared with. Raises `Misfit`.
    """
    living = _living(instance, shape)
    size = _size(shape, living)
    kinds: list[str | None] = [None] * size
    names = [""] * size
    for number, (name, of, path) in living.items():
        _check_declared(instance, name, number, path, named)
        kinds[number], names[number] = of, name
    numbers = {name: number for number, (name, _, _) in living.items()}
    _bury_the_absent(instance, shape, names, numbers, named)
    return Roll(tuple(kinds), tuple(names), numbers)


def _living(instance: Instance, shape: Mapping[str, Any]) -> dict[int, tuple[str, str, str]]:
    """Name, type and path of each object by number."""
    listed = shape.get("objects")
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise Misfit("objects", "a list of objects is needed here")
    found: dict[int, tuple[str, str, str]] = {}
    names: set[str] = set()
    for position, one in enumerate(listed):
        path = f"objects[{position}]"
        if not isinstance(one, Mapping):
            raise Misfit(path, "an object is needed here")
        number, name, of = one.get("id"), one.get("name"), one.get("type")
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise Misfit(f"{path}.id", "a number from 0 is needed here")
        if not isinstance(name, str) or not name:
            raise Misfit(f"{path}.name", "a name is needed here")
        if not isinstance(of, str) or of not in instance.program.types:
            raise Misfit(f"{path}.type", f"the program has no type `{of}`")
        if number in found:
            raise Misfit(f"{path}.id", f"`{found[number][0]}` has this number too")
        if name in names:
            raise Misfit(f"{path}.name", f"another object is called `{name}` too")
        found[number] = (name, of, path)
        names.add(name)
    return found


def _size(shape: Mapping[str, Any], living: Mapping[int, object]) -> int:
    least = max(living, default=-1) + 1
    size = shape.get("next_id", least)
    if not isinstance(size, int) or isinstance(size, bool) or size < least:
        raise Misfit("next_id", f"the next number is at least {least}")
    if size > MOST_NUMBERS:
        raise Misfit("next_id", f"objects are numbered up to {MOST_NUMBERS:,}")
    return size


def _check_declared(
    instance: Instance, name: str, number: int, path: str, named: frozenset[str]
) -> None:
    """Rules know declared objects by number."""
    declared = instance.numbers.get(name)
    if declared is None or declared == number:
        return
    if name in named or name in mentioned(instance):
        raise Misfit(f"{path}.id", f"rules name `{name}`, which has the number {declared}")


def _bury_the_absent(
    instance: Instance,
    shape: Mapping[str, Any],
    names: list[str],
    numbers: dict[str, int],
    named: frozenset[str],
) -> None:
    """Give the names of destroyed objects the numbers that are left over.

    Raises `Misfit` where one is absent that must be there, or has no number left to be dead with.
    """
    for name in sorted(named):
        if name not in numbers:
            raise Misfit("objects", f"`{name}` is missing, and rules name it")
    free = [number for number, name in enumerate(names) if not name]
    for one in instance.objects:
        if one.name not in numbers and one.id in free:
            numbers[one.name], names[one.id] = one.id, one.name
            free.remove(one.id)
    absent = (*sorted(mentioned(instance)), *_long_ago(instance, shape))
    for name in dict.fromkeys(name for name in absent if name not in numbers):
        if not free or name in instance.numbers:
            raise Misfit("objects", f"`{name}` is missing, and rules name it")
        number = _own_number(name, free)
        numbers[name], names[number] = number, name
        free.remove(number)


def _own_number(name: str, free: Sequence[int]) -> int:
    """The number that a created object's name ends in, if it may have been that, else the first."""
    _, _, tail = name.rpartition("_")
    return int(tail) if tail.isdecimal() and int(tail) in free else free[0]


def _long_ago(instance: Instance, shape: Mapping[str, Any]) -> Iterator[str]:
    """The objects that long actions are about: one may have been destroyed since."""
    long = shape.get("long")
    for running in long.values() if isinstance(long, Mapping) else ():
        action = running.get("action") if isinstance(running, Mapping) else None
        if not isinstance(action, str) or action not in instance.program.actions:
            continue
        args = running.get("args")
        for binder in instance.program.actions[action].params:
            value = args.get(binder.name) if isinstance(args, Mapping) else None
            if isinstance(binder.type, ObjectType) and isinstance(value, str):
                yield value


def mentioned(instance: Instance) -> frozenset[str]:
    """The objects that rules and lines of the world name, apart from its objects' own fields."""
    known = _MENTIONED.get(id(instance))
    if known is None or known[0] is not instance:
        while len(_MENTIONED) >= _KEPT:
            del _MENTIONED[next(iter(_MENTIONED))]
        known = _MENTIONED[id(instance)] = (instance, _mentioned(instance))
    return known[1]


_KEPT = 16
_MENTIONED: dict[int, tuple[Instance, frozenset[str]]] = {}
"""What `mentioned` found, by the identity of the instance: many states may be read of one."""


def _mentioned(instance: Instance) -> frozenset[str]:
    program, world = instance.program, instance.world
    rules: list[object] = [
        program.derives, program.actions, program.laws, program.births, program.watches,
        program.invariants, program.conserves, program.called, program.scopes, program.describes,
        world.endings, world.awards, world.pays, world.score,
        [scenario for scenario in program.scenarios if scenario.world == world.name],
    ]  # fmt: skip
    return frozenset((*world.turns, *(name for rule in rules for name in _literals(rule))))


def _literals(node: object) -> Iterator[str]:
    if isinstance(node, ObjectLiteral):
        yield node.name
    elif isinstance(node, Mapping):
        for value in node.values():
            yield from _literals(value)
    elif isinstance(node, (tuple, list)):
        for value in node:
            yield from _literals(value)
    elif is_dataclass(node):
        for one in fields(node):
            yield from _literals(getattr(node, one.name))
