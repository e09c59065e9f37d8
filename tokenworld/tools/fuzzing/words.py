"""The words a random world is made of: types, fluents, derives, each with its kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

__all__ = ["BOOL", "Derived", "Fact", "Kind", "Vocabulary", "number"]


@dataclass(frozen=True)
class Kind:
    """A value type: ``tag`` is bool, enum, object, number, int, real or text."""

    tag: str
    name: str = ""
    low: int = 0
    high: int = 0
    decimals: int = 0
    unit: str = ""
    optional: bool = False

    def written(self) -> str:
        """As an author writes it."""
        mark = "?" if self.optional else ""
        if self.tag in ("enum", "object"):
            return self.name + mark
        if self.tag == "number":
            return f"{number(self.low, self)} to {number(self.high, self)}"
        return self.tag + mark


BOOL = Kind("bool")


def number(value: int, kind: Kind) -> str:
    """A scaled number with its decimals and unit."""
    sign, digits = ("-" if value < 0 else ""), str(abs(value)).rjust(kind.decimals + 1, "0")
    if kind.unit == "%":
        return f"{sign}{abs(value)}%"
    if kind.decimals:
        digits = f"{digits[: -kind.decimals]}.{digits[-kind.decimals :]}"
    return f"{sign}{digits}{kind.unit}"


@dataclass(frozen=True)
class Fact:
    """A stored fluent. ``owner`` is its type if it is an attribute, ``params`` else.

    ``inverse`` and ``closure`` name the collections it adds on its other end. ``given``: a
    module declares it.
    """

    name: str
    kind: Kind
    owner: str = ""
    params: tuple[Kind, ...] = ()
    static: bool = False
    table: bool = False
    relation: bool = False
    inverse: str = ""
    closure: str = ""
    nested: bool = False
    clamped: bool = False
    unique: bool = False
    given: bool = False


@dataclass(frozen=True)
class Derived:
    """A derive and the facts that it reads."""

    name: str
    kind: Kind
    params: tuple[Kind, ...]
    reads: frozenset[str]


@dataclass
class Vocabulary:
    """What rules may speak of. ``below`` maps each object type to itself and its subtypes."""

    random: Random
    below: dict[str, list[str]]
    enums: dict[str, tuple[str, ...]]
    ladders: set[str]
    facts: list[Fact] = field(default_factory=list)
    derives: list[Derived] = field(default_factory=list)
    params: dict[str, Kind] = field(default_factory=dict)
    events: dict[str, tuple[Kind, ...]] = field(default_factory=dict)
    actions: dict[str, tuple[Kind, ...]] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    units: list[str] = field(default_factory=list)
    grid: bool = False
    fresh: int = 0

    def is_a(self, kind: str, of: str) -> bool:
        """Whether one object type is another or below it."""
        return of == "Object" or kind in self.below[of]

    def name(self, prefix: str) -> str:
        """A name that nothing else has."""
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def attributes(self, kind: str) -> list[Fact]:
        """The attributes of a type, inherited ones included."""
        return [one for one in self.facts if one.owner and self.is_a(kind, one.owner)]
