"""The words of an exported task: fluents, objects, enum members and the helpers rules ask for.

Helpers are made on demand and remembered in order: membership tests of types (`TypeTree`), static
facts about ladders, and derived predicates for closures and recursive derives.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.ground import Instance
from tokenworld.model import (
    BoolType,
    CollectionType,
    Derive,
    EnumType,
    Fluent,
    NoneType,
    NumberType,
    ObjectType,
    RealType,
    TextType,
    ValueType,
)
from tokenworld.planning.pddl.names import Names, Spellings
from tokenworld.planning.pddl.tree import Signature, Typed
from tokenworld.planning.pddl.types import TypeTree

__all__ = ["Ladder", "LiftingError", "Sort", "Vocabulary", "sort_of"]

Sort = Literal["truth", "symbol", "number", "other"]
Ladder = Literal["next", "prev", "at-most"]


class LiftingError(Exception):
    """A construct without an exact lifted form: what it is and where it stands."""

    def __init__(self, construct: str, span: Span) -> None:
        super().__init__(construct)
        self.construct = construct
        self.span = span


def sort_of(of: ValueType) -> Sort:
    """How PDDL holds a value: as a fact, as an argument of a fact, or as a number."""
    match of:
        case BoolType():
            return "truth"
        case EnumType() | ObjectType():
            return "symbol"
        case NumberType() | RealType():
            return "number"
        case TextType() | NoneType() | CollectionType():
            return "other"


@dataclass(slots=True)
class Vocabulary:
    """Spellings of everything, and which objects and helpers the rules use so far."""

    instance: Instance
    spellings: Spellings = field(default_factory=Spellings)
    names: Names = field(default_factory=Names)
    types: TypeTree = field(init=False)
    fluents: dict[str, str] = field(init=False)
    derives: dict[str, str] = field(init=False)
    objects: tuple[str, ...] = field(init=False)
    members: dict[str, tuple[str, ...]] = field(init=False)
    constants: set[int] = field(default_factory=set)
    """Numbers of the objects that rules name."""
    ladders: dict[tuple[str, Ladder], str] = field(default_factory=dict)
    closures: dict[str, str] = field(default_factory=dict)
    asked: dict[tuple[str, int], list[ValueType]] = field(default_factory=dict)
    """Wider types than the declared one that rules ask about, by fluent and position."""
    luck: bool = False
    """Whether draws keep their probabilities (PPDDL)."""

    def __post_init__(self) -> None:
        program, take = self.instance.program, self.spellings.take
        for word in ("reward", "goal-achieved") if self.luck else ():
            take("fluent", word)  # they are PPDDL's own
        self.types = TypeTree(program, self.spellings)
        self.objects = tuple(take("object", one.name) for one in self.instance.objects)
        self.members = {
            enum.name: tuple(
                take("object", member, self.types.enums[enum.name]) for member in enum.members
            )
            for enum in program.enums.values()
        }
        shared = Counter(fluent.name.lower() for fluent in program.fluents.values())
        self.fluents = {
            fluent.id: self._fluent(fluent, shared[fluent.name.lower()] > 1)
            for fluent in sorted(program.fluents.values(), key=_attribute_last)
        }
        self.derives = {
            derive.name: take("fluent", derive.name)
            for derive in program.derives.values()
            if derive.recursive
        }
        for number, word in enumerate(self.objects):
            self.names.objects[word.lower()] = number
        for words in self.members.values():
            for index, word in enumerate(words):
                self.names.objects[word.lower()] = index

    def _fluent(self, fluent: Fluent, shared: bool) -> str:
        if fluent.fluent_kind != "attribute":
            return self.spellings.take("fluent", fluent.name)
        owner = fluent.params[0].type
        assert isinstance(owner, ObjectType)
        prefix = self.types.spelled.get(owner.name, "object")
        wanted = f"{prefix}-{fluent.name}" if shared else fluent.name
        return self.spellings.take("fluent", wanted, prefix)

    def constant(self, number: int) -> str:
        """The spelling of an object that a rule names: it becomes a domain constant."""
        self.constants.add(number)
        return self.objects[number]

    def ladder(self, enum: str, kind: Ladder) -> str:
        """The static predicate of a ladder: neighbours (its ends stay) or order."""
        if (enum, kind) not in self.ladders:
            spelled = self.types.enums[enum]
            wanted = f"{spelled}-at-most" if kind == "at-most" else f"{kind}-{spelled}"
            self.ladders[enum, kind] = self.spellings.take("fluent", wanted)
        return self.ladders[enum, kind]

    def closure(self, fluent: Fluent) -> str:
        """The derived predicate of a closure: ``(inside ?x ?c)`` for a chain from ?x to ?c."""
        if fluent.id not in self.closures:
            wanted = fluent.closure or f"{self.fluents[fluent.id]}-chain"
            self.closures[fluent.id] = self.spellings.take("fluent", wanted)
        return self.closures[fluent.id]

    def widen(self, fluent: Fluent, position: int, of: EnumType | ObjectType) -> None:
        """Declare an argument, or the value as the last one, so that it may be of type ``of``."""
        self.asked.setdefault((fluent.id, position), []).append(of)

    def _declared(self, fluent: Fluent, position: int, of: ValueType) -> str | None:
        types = [of, *self.asked.get((fluent.id, position), ())]
        return self.types.variable("", self.types.widest(types))[0].type

    def signature(self, fluent: Fluent) -> Signature:
        """The declaration of a fluent: formals as named, a symbol's value as the last one."""
        params = [
            Typed(
                f"?{param.name}" if param.name.isidentifier() else f"?x{index + 1}",
                self._declared(fluent, index, param.type) if param.typed else None,
            )
            for index, param in enumerate(fluent.params)
        ]
        if sort_of(fluent.type) == "symbol":
            value = self._declared(fluent, len(fluent.params), fluent.type)
            taken = {param.name for param in params}
            base = value or "value"
            word = base if f"?{base}" not in taken else f"{base}-value"
            params.append(Typed(f"?{word}", value))
        return Signature(self.fluents[fluent.id], tuple(params))

    def recursive(self, derive: Derive) -> str:
        return self.derives[derive.name]


def _attribute_last(fluent: Fluent) -> bool:
    """Relations, functions and tables keep their names; attributes give way."""
    return fluent.fluent_kind == "attribute"
