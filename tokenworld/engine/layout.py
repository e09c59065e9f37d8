"""Where each fluent is stored: one column per fluent, in order of declaration.

A fluent of one object is a *list* by object number, a fact without arguments a list of length 1,
every other fluent a *dict* from argument tuples to values that differ from the default (a
truth-valued one: the tuples that hold). Fluents with an inverse keep the children of each object
in a list beside.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tokenworld.ground import Instance, Raw, constant
from tokenworld.model import (
    BoolType,
    EnumType,
    Fluent,
    NumberType,
    ObjectType,
    RealType,
    TextType,
    ValueType,
    is_optional,
)

__all__ = ["Column", "Layout", "implicit_default"]

Key = int | tuple[Raw, ...]


def implicit_default(value_type: ValueType) -> Raw:
    """The value of a slot that nothing sets (language.md §2)."""
    if is_optional(value_type):
        return None
    match value_type:
        case BoolType():
            return False
        case EnumType():
            return 0
        case NumberType(low=low, high=high):
            below = low is not None and low > 0
            above = high is not None and high < 0
            return low if below or above else 0
        case RealType():
            return 0.0
        case TextType():
            return ""
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Column:
    """One fluent's storage. ``by_object``: indexed by object number; ``single``: no arguments."""

    index: int
    fluent: Fluent
    by_object: bool
    single: bool
    default: Raw

    @property
    def tupled(self) -> bool:
        """Whether the column is a dict keyed by argument tuples."""
        return not (self.by_object or self.single)

    @property
    def has_children(self) -> bool:
        """Whether the objects pointing at each object are kept in order."""
        return self.fluent.inverse is not None or self.fluent.closure is not None

    @property
    def always(self) -> bool:
        """Whether a slot is never `none`, not even when what it was to hold is destroyed."""
        kind = self.fluent.type
        return not is_optional(kind) and kind.kind not in ("bool", "object")

    def key(self, args: tuple[Raw, ...]) -> Key:
        """The storage key of an argument tuple."""
        if self.single:
            return 0
        if self.by_object:
            assert isinstance(args[0], int)
            return args[0]
        if self.fluent.symmetric and args[0] is not None and args[1] is not None:
            return tuple(sorted(args))  # type: ignore[type-var]
        return args

    def args(self, key: Key) -> tuple[Raw, ...]:
        """The argument tuple of a storage key."""
        if self.single:
            return ()
        return key if isinstance(key, tuple) else (key,)


class Layout:
    """The columns of one program's fluents; `kids` numbers those that keep children."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        fluents = tuple(instance.program.fluents.values())
        self.columns = tuple(
            _column(index, fluent, instance) for index, fluent in enumerate(fluents)
        )
        self.by_id = {column.fluent.id: column for column in self.columns}

    @cached_property
    def owners(self) -> dict[int, frozenset[str]]:
        """The types whose objects have a slot in each column indexed by object."""
        below: dict[str, set[str]] = {}
        for name, kind in self.instance.program.types.items():
            for ancestor in kind.ancestors:
                below.setdefault(ancestor, set()).add(name)
        found = {}
        for column in self.columns:
            of = column.fluent.params[0].type if column.by_object else None
            if isinstance(of, ObjectType):
                found[column.index] = frozenset(below.get(of.name, ()))
        return found

    @cached_property
    def pointing(self) -> tuple[Column, ...]:
        """Columns whose values are objects: what a destroyed object must leave."""
        return tuple(c for c in self.columns if isinstance(c.fluent.type, ObjectType))


def _column(index: int, fluent: Fluent, instance: Instance) -> Column:
    one_object = len(fluent.params) == 1 and isinstance(fluent.params[0].type, ObjectType)
    default = implicit_default(fluent.type)
    if fluent.default is not None and fluent.fluent_kind != "attribute":
        default = constant(fluent.default, instance.numbers, instance.params)
    return Column(index, fluent, one_object, not fluent.params, default)
