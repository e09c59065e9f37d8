"""What the names of a domain and its problems stand for, found without regard to case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tokenworld.planning.reader.tree import (
    Choice,
    DerivedDecl,
    Domain,
    FunctionDecl,
    Name,
    PredicateDecl,
    Problem,
    Typed,
)

__all__ = ["ROOT", "TOTAL_COST", "Symbols"]

ROOT = "object"
TOTAL_COST = "total-cost"


@dataclass(slots=True)
class Symbols:
    """The declarations of a domain by lower-case name; the first of two of one name counts."""

    domain: Domain
    types: dict[str, Typed] = field(default_factory=dict)
    implicit: dict[str, Name] = field(default_factory=dict)
    """Types that are only used, as the parent of others."""
    choices: dict[str, Choice] = field(default_factory=dict)
    """The unions of types that variables have."""
    constants: dict[str, Typed] = field(default_factory=dict)
    predicates: dict[str, PredicateDecl] = field(default_factory=dict)
    functions: dict[str, FunctionDecl] = field(default_factory=dict)
    derived: dict[str, list[DerivedDecl]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        domain = self.domain
        for of in domain.types:
            self.types.setdefault(of.name.key, of)
        for of in domain.types:
            parent = of.type
            if parent is not None and parent.key not in (*self.types, ROOT):
                self.implicit.setdefault(parent.key, parent)
        for choice in domain.choices:
            self.choices.setdefault(choice.key, choice)
        for constant in domain.constants:
            self.constants.setdefault(constant.name.key, constant)
        for predicate in domain.predicates:
            self.predicates.setdefault(predicate.name.key, predicate)
        for function in domain.functions:
            self.functions.setdefault(function.name.key, function)
        for derived in domain.derived:
            self.derived.setdefault(derived.name.key, []).append(derived)

    @property
    def has_root(self) -> bool:
        """Whether the domain declares a type `object` of its own."""
        return ROOT in self.types

    def knows_type(self, key: str) -> bool:
        return key == ROOT or key in self.types or key in self.implicit or key in self.choices

    def above_choice(self, choice: Choice) -> list[str]:
        """The nearest type that is above all parts of a union, and the wider unions."""
        parts = [part.key for part in choice.parts]
        chains = [tuple(self.chain(part)) for part in parts]
        common = (key for key in chains[0] if all(key in chain for chain in chains))
        nearest = [key for key in common if key not in (*parts, ROOT)][:1]
        wider = (
            one.key
            for one in self.choices.values()
            if {part.key for part in one.parts} > set(parts)
        )
        return [*nearest, *wider]

    def choices_with(self, key: str) -> Iterator[str]:
        """The unions that a type is a part of."""
        for choice in self.choices.values():
            if key in (part.key for part in choice.parts):
                yield choice.key

    def objects(self, problem: Problem) -> dict[str, Typed]:
        """Constants and objects by lower-case name."""
        found = dict(self.constants)
        for one in problem.objects:
            found.setdefault(one.name.key, one)
        return found

    def own_objects(self, problem: Problem) -> Iterator[Typed]:
        """The objects of a problem in order, each once, without those of the domain."""
        seen = set(self.constants)
        for one in problem.objects:
            if one.name.key not in seen:
                seen.add(one.name.key)
                yield one

    def above(self, key: str) -> Iterator[str]:
        """A type, those above it, and the unions with one of them."""
        for one in self.chain(key):
            yield one
            yield from self.choices_with(one)

    def chain(self, key: str) -> Iterator[str]:
        """A type and those above it, as far as declared; ends in a cycle too."""
        seen: set[str] = set()
        while key not in seen:
            seen.add(key)
            yield key
            above = self.types.get(key)
            if above is None or above.type is None:
                return
            key = above.type.key
