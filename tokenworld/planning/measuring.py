"""The bytes that keys and states take, for the estimates that memory caps go by."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

__all__ = ["OUTCOME_BYTES", "size_of"]

_CONTAINERS = (dict, tuple, list, set, frozenset)
OUTCOME_BYTES = 2048
"""Bytes of a state that comes of a command, where none was measured."""


def size_of(thing: object, beside: object = None) -> int:
    """The bytes of a key or state: itself and all containers in it that ``beside`` does not hold.

    Numbers, names and other objects are left out: states share them.
    """
    shared = {id(part) for part in _containers(beside)}
    found = (part for part in _containers(thing) if id(part) not in shared)
    return sys.getsizeof(thing) + sum(map(sys.getsizeof, found))


def _containers(thing: object) -> Iterator[object]:
    """The containers in something, itself left out."""
    waiting = [*_parts(thing), *(getattr(thing, one, None) for one in _slots(thing))]
    while waiting:
        part = waiting.pop()
        if isinstance(part, _CONTAINERS):
            yield part
            waiting.extend(_parts(part))


def _slots(thing: object) -> Sequence[str]:
    found: Sequence[str] = getattr(type(thing), "__slots__", ())
    return found


def _parts(thing: object) -> Iterable[object]:
    match thing:
        case dict():
            return (*thing.keys(), *thing.values())
        case tuple() | list() | set() | frozenset():
            return thing
        case _:
            return ()
