"""The types of a program as a PDDL hierarchy, which has one parent per type.

A type keeps its first parent. The others become static unary predicates (``is-portable``): where a
variable of such a type is needed, it is declared with the nearest type that covers all its
objects, and the predicate is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokenworld.model import ROOT, EnumType, ObjectType, Program, ValueType
from tokenworld.planning.pddl.names import Spellings, kebab
from tokenworld.planning.pddl.tree import Expr, Typed

__all__ = ["TypeTree"]


class TypeTree:
    """Spellings of types and enums, and which PDDL type a variable of a type needs."""

    def __init__(self, program: Program, spellings: Spellings) -> None:
        self._program = program
        self._spellings = spellings
        self._foreign = {
            entry.key: entry.values[0]
            for entry in program.pddl
            if entry.values and entry.values[0] != "either"  # a union is a type like others here
        }
        self._implicit = {
            value for entry in program.pddl if entry.key == "implicit" for value in entry.values
        }
        self.spelled = {
            name: spellings.take("type", self._foreign.get(name, kebab(name)))
            for name in program.types
            if name != ROOT
        }
        self.enums = {
            name: spellings.take("type", self._foreign.get(name, kebab(name)))
            for name in program.enums
        }
        self.asked: dict[str, str] = {}
        """Types whose membership predicate is used, with its spelling."""

    def first_parent(self, name: str) -> str:
        """The parent that the PDDL hierarchy keeps."""
        parents = self._program.types[name].parents if name in self._program.types else ()
        return parents[0] if parents else ROOT

    def chain(self, name: str) -> tuple[str, ...]:
        """The type and its PDDL ancestors, the root last."""
        found = [name]
        while found[-1] != ROOT:
            found.append(self.first_parent(found[-1]))
        return tuple(found)

    def _covers(self, name: str, below: str) -> bool:
        """Whether the PDDL type ``name`` has all objects of the type ``below``."""
        return name == ROOT or all(
            name in self.chain(other)
            for other in self._program.types
            if self._program.is_subtype(other, below)
        )

    def place(self, name: str) -> str:
        """The nearest type whose PDDL counterpart has all objects of ``name``."""
        return next(one for one in self.chain(name) if self._covers(one, name))

    def spelling(self, name: str) -> str | None:
        return None if name == ROOT else self.spelled[name]

    def variable(self, name: str, of: ValueType) -> tuple[Typed, Expr | None]:
        """A typed variable, and the question that narrows it down if its PDDL type is wider."""
        if isinstance(of, EnumType):
            return Typed(name, self.enums[of.name]), None
        assert isinstance(of, ObjectType)
        place = self.place(of.name)
        guard = None if place == of.name else self.is_a(name, of.name)
        return Typed(name, self.spelling(place)), guard

    def widest(self, types: Sequence[ValueType]) -> ValueType:
        """The type next to the root; all of them have their place on one way down from it."""
        kinds = [one for one in types if isinstance(one, ObjectType)]
        return min(kinds, key=lambda one: len(self.chain(self.place(one.name))), default=types[0])

    def is_a(self, symbol: str, name: str) -> Expr:
        """The static membership test of a type."""
        if name not in self.asked:
            self.asked[name] = self._spellings.take("fluent", f"is-{self.spelled[name]}")
        return (self.asked[name], symbol)

    def fits(self, actual: ValueType, formal: ValueType) -> bool:
        """Whether a symbol of type ``actual`` may stand where ``formal`` is declared."""
        if isinstance(actual, EnumType) or isinstance(formal, EnumType):
            return (
                isinstance(actual, EnumType)
                and isinstance(formal, EnumType)
                and actual.name == formal.name
            )
        assert isinstance(actual, ObjectType)
        assert isinstance(formal, ObjectType)
        return self.place(formal.name) in self.chain(self.place(actual.name))

    def disjoint(self, left: ValueType, right: ValueType) -> bool:
        """Whether no value has both types."""
        if not isinstance(left, ObjectType) or not isinstance(right, ObjectType):
            return not self.fits(left, right)
        program = self._program
        return not any(
            program.is_subtype(one, left.name) and program.is_subtype(one, right.name)
            for one in program.types
        )

    def declared(self) -> tuple[Typed, ...]:
        """The `:types` section in order of declaration, the built-in root left out."""
        found: list[Typed] = []
        for name in self._program.types:
            if name == ROOT or self.spelled[name] in self._implicit:
                continue
            parent = self.first_parent(name)
            found.append(Typed(self.spelled[name], self.spelling(parent)))
        enums = (Typed(spelling, None) for spelling in self.enums.values())
        return (*found, *enums)
