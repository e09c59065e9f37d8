"""The storage of each fluent: one column per fluent, in order of declaration.

A fluent of one object is a *list* by object number, a fact without arguments a list of length 1,
every other fluent a *dict* from argument tuples to values that differ from the default (a
truth-valued one: the tuples that hold). Fluents with an inverse keep the children of each object
in a list beside.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any

from tokenworld import model as m
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Instance, Raw, constant, implicit_default

Key = int | tuple[Raw, ...]


@frozen
class Column:
    """One fluent's storage. ``by_object``: indexed by object number; ``single``: no arguments."""

    index: int
    fluent: m.Fluent
    by_object: bool
    single: bool
    default: Raw
    sparse: bool = field(init=False, compare=False)
    """Whether a slot with its default is no fact."""
    tupled: bool = field(init=False, compare=False)
    """Whether the column is a dict keyed by argument tuples."""
    has_children: bool = field(init=False, compare=False)
    """Whether the objects pointing at each object are kept in order."""
    always: bool = field(init=False, compare=False)
    """Whether a slot is never `none`, not even if the object that it should hold is destroyed."""
    truth: bool = field(init=False, compare=False)
    """Whether the fluent is true or false, so that `none` counts as false."""
    shaped: bool = field(init=False, compare=False)
    """Whether a value must fit the others: unique, nested, acyclic."""
    bounded: bool = field(init=False, compare=False)
    """Whether a value must fit a range or a kind of number."""
    named: tuple[int, ...] = field(init=False, compare=False)
    """The places of a tuple key that hold objects."""

    def __post_init__(self) -> None:
        fluent = self.fluent
        kind = fluent.type
        worked_out = {
            "tupled": not (self.by_object or self.single),
            "sparse": fluent.scratch or not (self.by_object or self.single),
            "has_children": fluent.inverse is not None or fluent.closure is not None,
            "always": not m.is_optional(kind) and kind.kind not in ("bool", "object"),
            "truth": kind.kind == "bool",
            "shaped": fluent.unique or fluent.nested or fluent.acyclic,
            "bounded": kind.kind in ("number", "real"),
            "named": _named(fluent) if not self.by_object else (),
        }
        for name, value in worked_out.items():  # once for each fluent, read at every change
            object.__setattr__(self, name, value)

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


def _named(fluent: m.Fluent) -> tuple[int, ...]:
    return tuple(
        place for place, one in enumerate(fluent.params) if isinstance(one.type, m.ObjectType)
    )


class Layout:
    """The columns of one program's fluents; `kids` numbers those that keep children.

    ``hashes`` is what `digest` keeps: hashes of facts.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        fluents = tuple(instance.program.fluents.values())
        self.columns = tuple(
            _column(index, fluent, instance) for index, fluent in enumerate(fluents)
        )
        self.hashes: tuple[tuple[str, ...], dict[tuple[Any, ...], int]] = ((), {})
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
            if isinstance(of, m.ObjectType):
                found[column.index] = frozenset(below.get(of.name, ()))
        return found


def _column(index: int, fluent: m.Fluent, instance: Instance) -> Column:
    one_object = len(fluent.params) == 1 and isinstance(fluent.params[0].type, m.ObjectType)
    default = implicit_default(fluent.type)
    if fluent.default is not None and fluent.fluent_kind != "attribute":
        default = constant(fluent.default, instance.numbers, instance.params)
    return Column(index, fluent, one_object, not fluent.params, default)
