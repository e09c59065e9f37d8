"""What reading a rule needs to know of the program, and the names that stand for something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Instance, Raw, changed_in_play
from tokenworld.model import (
    Body,
    BoolType,
    Create,
    Destroy,
    EnumType,
    Fluent,
    NumberType,
    ObjectType,
    Program,
    RealType,
    Term,
    TextType,
    ValueType,
    effects_in,
    is_optional,
    without_none,
)
from tokenworld.planning.grounding.rules import Arg, Atom, Const, Literal, Var

__all__ = [
    "UNKNOWN", "Context", "Later", "Names", "Ungroundable", "Way", "is_measured", "is_numeric",
]  # fmt: skip

_MOST_VALUES = 100_000
"""So many numbers of a range are listed at most."""
UNKNOWN = "unknown"
"""Stands for a value that is not known: a draw."""


class Ungroundable(Exception):
    """Raised where even a relaxed set of ground rules cannot be told: what, and where it stands."""

    def __init__(self, what: str, span: Span) -> None:
        super().__init__(what)
        self.what, self.span = what, span


@frozen
class Later:
    """A ``let``: a term and the names that it sees."""

    term: Term
    names: Names


Names = Mapping[str, "Arg | Later | str"]


@frozen
class Way:
    """One way in which a term has a value, and what must hold for it.

    ``kind`` is the type of the value. ``sure``: it has this value whenever that holds, never `none`
    for want of a slot.
    """

    literals: tuple[Literal, ...]
    arg: Arg
    kind: ValueType
    sure: bool


def is_numeric(kind: ValueType) -> bool:
    """Whether slots of a type are kept as ranges."""
    return isinstance(kind, NumberType)


def is_measured(kind: ValueType) -> bool:
    """Whether slots of a type are not kept as tuples: numbers, and what is not kept at all."""
    return isinstance(kind, (NumberType, RealType, TextType))


@dataclass
class Context:
    """One program in one instance. ``loose`` gathers what the rule at hand leaves unjudged, and
    ``exact`` becomes false where more is left open than that facts were not undone."""

    instance: Instance
    loose: list[tuple[str, Span]] = field(default_factory=list)
    exact: bool = True
    depth: int = 0
    _fresh: int = 0
    ranges: dict[str, tuple[Raw, ...]] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        return self.instance.program

    def fresh(self) -> Var:
        """A new variable."""
        self._fresh += 1
        return Var(f"t{self._fresh}")

    def leave(self, what: str, span: Span) -> None:
        """Note a condition or a value that nothing is said of."""
        self.exact = False
        if (what, span) not in self.loose:
            self.loose.append((what, span))

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """All that may happen in play."""
        program = self.program
        found: list[Body] = [law.body for law in program.laws.values()]
        for action in program.actions.values():
            found += [action.body, action.cancelled]
        return tuple(found)

    @cached_property
    def changing(self) -> frozenset[str]:
        """The fluents that play may change."""
        return changed_in_play(self.program)

    @cached_property
    def creates(self) -> bool:
        return self._does(Create)

    @cached_property
    def destroys(self) -> bool:
        return self._does(Destroy)

    def _does(self, what: type[Create] | type[Destroy]) -> bool:
        return any(isinstance(one, what) for body in self.bodies for one in effects_in(body))

    # ---- types ------------------------------------------------------------------------------

    def covers(self, wanted: ValueType, kind: ValueType) -> bool:
        """Whether every value of ``kind`` but `none` is one of ``wanted``."""
        if isinstance(wanted, ObjectType):
            return isinstance(kind, ObjectType) and self.program.is_subtype(kind.name, wanted.name)
        return wanted.kind == kind.kind

    def belongs(self, of: ValueType, arg: Arg) -> Atom | None:
        """The atom that lists a type, with `none` where it is optional; ``None`` where its values
        cannot be listed."""
        if not is_optional(of):
            return self._belongs(of, arg)
        if isinstance(of, ObjectType):
            return self.listed(f"{of.name}?", (*self.instance.members[of.name], None), arg)
        plain = self._belongs(without_none(of), arg)
        if plain is None:
            return None
        values = (*self.ranges[plain.relation], None)
        return self.listed(f"{plain.relation[1:]}?", values, arg)

    def _belongs(self, of: ValueType, arg: Arg) -> Atom | None:
        match of:
            case ObjectType(name=name):
                return Atom(f":{name}", (arg,))
            case BoolType():
                return self.listed("bool", (False, True), arg)
            case EnumType(name=name):
                members = tuple(range(len(self.program.enums[name].members)))
                return self.listed(f"enum {name}", members, arg)
            case NumberType(low=int() as low, high=int() as high) if high - low < _MOST_VALUES:
                return self.listed(f"{low}..{high}", tuple(range(low, high + 1)), arg)
            case _:
                return None

    def listed(self, name: str, values: tuple[Raw, ...], arg: Arg) -> Atom:
        """An atom of a relation of these single values."""
        self.ranges[f":{name}"] = values
        return Atom(f":{name}", (arg,))

    # ---- slots ------------------------------------------------------------------------------

    def surely(self, fluent: Fluent, args: tuple[Way, ...]) -> bool:
        """Whether a slot exists whatever the arguments are."""
        return not self.destroys and all(
            one.sure and self.covers(param.type, one.kind) and not _optional(one)
            for one, param in zip(args, fluent.params, strict=True)
        )


def _optional(way: Way) -> bool:
    if isinstance(way.arg, Const):
        return way.arg.value is None
    kind = way.kind
    return isinstance(kind, (ObjectType, EnumType, NumberType)) and kind.optional
