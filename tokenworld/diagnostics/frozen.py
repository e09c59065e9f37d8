"""`frozen`: dataclasses that are cheap to define, for the hundreds of node classes.

The standard ``@dataclass(frozen=True, slots=True)`` compiles six methods for every class, 0.4 ms
each; the tree and the model have some 200 classes, and `tw check` pays for all of them at every
start. Here only ``__init__`` is compiled; equality, hash and representation are shared functions.
Immutability is enforced by the type checker (`dataclass_transform`), not at run time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

__all__ = ["frozen"]

ClassT = TypeVar("ClassT")


def _values(self: object) -> tuple[object, ...]:
    return tuple(getattr(self, name) for name in type(self).__match_args__)  # type: ignore[attr-defined]


def _equal(self: object, other: object) -> object:
    if type(self) is not type(other):
        return NotImplemented
    return _values(self) == _values(other)


def _hash(self: object) -> int:
    return hash((type(self).__name__, _values(self)))


def _show(self: object) -> str:
    names = type(self).__match_args__  # type: ignore[attr-defined]
    shown = (f"{name}={getattr(self, name)!r}" for name in names)
    return f"{type(self).__qualname__}({', '.join(shown)})"


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[ClassT]) -> type[ClassT]:
    """A slotted dataclass whose instances compare, hash and print by their fields.

    A method of these that the class has itself is kept.
    """
    own = {name for name in ("__eq__", "__hash__", "__repr__") if name in vars(cls)}
    made = dataclass(slots=True, repr=False, eq=False)(cls)
    for name, method in (("__eq__", _equal), ("__hash__", _hash), ("__repr__", _show)):
        if name not in own:
            setattr(made, name, method)
    return made
