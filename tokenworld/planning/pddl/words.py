"""The words of an exported task: spellings of names, types, fluents, objects, and the way back.

PDDL ignores case, allows letters, digits, ``-`` and ``_``, and keeps one namespace each for types,
fluents, actions and objects. A name that is legal stays as it is, so raw names come out verbatim;
a second use of one spelling gets the name of its owner as a prefix, or a number as a suffix.
Helpers are made on demand and kept in order: membership tests of types (`TypeTree`), static
facts about ladders, and derived predicates for closures and recursive derives.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal, assert_never

from tokenworld import model as m
from tokenworld.core.program import Rules, lowered
from tokenworld.core.rules import Ending
from tokenworld.diagnostics import Span
from tokenworld.ground import PASS, Command, Instance, LuckyDraw, Raw
from tokenworld.planning.pddl.tree import Expr, Signature, Typed

Kind = Literal["type", "fluent", "action", "object"]

_RESERVED = frozenset(
    (
        *("and", "or", "not", "imply", "forall", "exists", "when", "either", "assign"),
        *("increase", "decrease", "scale-up", "scale-down", "define", "domain", "problem"),
        *("total-cost", "total-time", "preference", "sometime", "always", "within", "number"),
        *("is-violated", "minimize", "maximize"),
    )
)
_LEGAL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def legal(name: str) -> str:
    """The nearest legal PDDL name: ``blue key`` becomes ``blue-key``."""
    word = name if _LEGAL.match(name) else _OTHER.sub("-", name).strip("-")
    if not word or not word[0].isalpha():
        word = f"n-{word}".rstrip("-")
    return f"{word}-" if word.lower() in _RESERVED else word


def kebab(name: str) -> str:
    """A capitalised name as PDDL writers spell types: ``ToolBox`` becomes ``tool-box``."""
    return _HUMP.sub("-", name).lower() if name[:1].isupper() else name


def pddl_entries(program: m.Program) -> dict[str, tuple[str, ...]]:
    """The lines of the ``pddl`` block, with the facts that the rules do not contain."""
    return {entry.key: entry.values for entry in program.pddl}


LABEL = "constraint"
"""The label of the requires that constraints of an imported problem add to actions."""


def made(program: m.Program) -> frozenset[str]:
    """The fluents and actions that an import made of constraints and preferences."""
    names = pddl_entries(program).get("made")
    if names is None:
        return frozenset()
    return frozenset(names).union(one.id for one in program.fluents.values() if one.monitor)


def metric_of(program: m.Program, cost: int) -> Fraction | None:
    """The metric of a plan of an imported problem whose costs are another measure of it.

    The entry ``scale`` has a sign, a constant and a unit: the metric is the sign times the sum of
    the constant and the cost by the unit.
    """
    entry = pddl_entries(program).get("scale")
    if entry is None:
        return None
    sign, constant, unit = map(Fraction, entry[0].split())
    return sign * (constant + cost / unit)


def shown_metric(metric: Fraction) -> str:
    """A metric as a decimal number, or as a fraction where it is none."""
    digits = len(str(metric.denominator))
    whole = metric * 10 ** (3 * digits)
    if whole.denominator != 1:
        return str(metric)
    text = f"{float(metric):.{3 * digits}f}" if abs(whole) < 10**15 else str(float(metric))
    return text.rstrip("0").rstrip(".")


def union_type(parts: Sequence[str]) -> str:
    """The type of a variable that may be any of several: ``(either a b)``."""
    return f"(either {' '.join(parts)})"


def parts_of_union(word: str) -> tuple[str, ...]:
    """The types that `union_type` put together; none for any other type."""
    return tuple(word[1:-1].split()[1:]) if word.startswith("(either ") else ()


class Spellings:
    """The names taken so far, per kind and without regard to case."""

    def __init__(self) -> None:
        self._taken: dict[Kind, set[str]] = {
            "type": set(),
            "fluent": set(),
            "action": set(),
            "object": set(),
        }

    def take(self, kind: Kind, wanted: str, owner: str = "") -> str:
        """A free spelling close to ``wanted``; ``owner`` goes in front if it is taken."""
        taken, plain = self._taken[kind], legal(wanted)
        tries = [plain, legal(f"{owner}-{wanted}")] if owner else [plain]
        for word in tries:
            if word.lower() not in taken:
                break
        else:
            number = 2
            while f"{tries[-1]}-{number}".lower() in taken:
                number += 1
            word = f"{tries[-1]}-{number}"
        taken.add(word.lower())
        return word


@dataclass(frozen=True, slots=True)
class Fixed:
    """An argument that the PDDL action has built in."""

    value: Raw


@dataclass(frozen=True, slots=True)
class StepOrigin:
    """The meaning of a PDDL action: a command, `pass` (empty), or a forced step (``None``).

    ``args`` gives for each parameter of the action the position among the PDDL arguments, or its
    built-in value. ``outcome`` numbers the outcomes of chance from 1 (0: no chance); ``draws``
    lists them where they are known. ``branches`` has for each `chance` of a lifted action its place
    and the branch that is taken. The other PDDL arguments are values that slots have: ``held`` has
    for each, by position, the fluent and its arguments, as in ``args``.
    """

    action: str | None
    args: tuple[int | Fixed, ...] = ()
    outcome: int = 0
    draws: tuple[LuckyDraw, ...] = ()
    branches: tuple[tuple[str, int], ...] = ()
    held: tuple[tuple[str, tuple[int | Fixed, ...]], ...] = ()


@dataclass(slots=True)
class Names:
    """The way back: PDDL actions and objects by lower-case spelling.

    ``words`` is the way there: the spelling of an object by its number, with ``""``, and of a
    member of an enum by its place, with the name of the enum.
    """

    steps: dict[str, StepOrigin] = field(default_factory=dict)
    objects: dict[str, Raw] = field(default_factory=dict)
    words: dict[tuple[str, Raw], str] = field(default_factory=dict)

    def command(self, name: str, args: tuple[str, ...]) -> Command | None:
        """The command of a PDDL step; ``None`` for a forced step such as a phase.

        Raises `KeyError` for a name that the exported pair does not have.
        """
        origin = self.steps[name.lower()]
        if origin.action is None:
            return None
        if not origin.action:
            return PASS

        def value(arg: int | Fixed) -> Raw:
            return arg.value if isinstance(arg, Fixed) else self.objects[args[arg].lower()]

        return Command(origin.action, tuple(value(arg) for arg in origin.args))


# ---- types --------------------------------------------------------------------------------


class TypeTree:
    """Spellings of types and enums, and which PDDL type a variable of a type needs."""

    def __init__(self, program: m.Program, spellings: Spellings) -> None:
        self._program = program
        self._spellings = spellings
        entries = pddl_entries(program)
        self._foreign = {
            name: values[0]
            for name, values in entries.items()
            if values and values[0] != "either"  # a union is a type like others here
        }
        self._implicit = frozenset(entries.get("implicit", ()))
        self.spelled = {
            name: spellings.take("type", self._foreign.get(name, kebab(name)))
            for name in program.types
            if name != m.ROOT
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
        return parents[0] if parents else m.ROOT

    def chain(self, name: str) -> tuple[str, ...]:
        """The type and its PDDL ancestors, the root last."""
        found = [name]
        while found[-1] != m.ROOT:
            found.append(self.first_parent(found[-1]))
        return tuple(found)

    def _covers(self, name: str, below: str) -> bool:
        """Return whether the PDDL type ``name`` has all objects of the type ``below``."""
        return name == m.ROOT or all(
            name in self.chain(other)
            for other in self._program.types
            if self._program.is_subtype(other, below)
        )

    def place(self, name: str) -> str:
        """The nearest type whose PDDL counterpart has all objects of ``name``."""
        return next(one for one in self.chain(name) if self._covers(one, name))

    def spelling(self, name: str) -> str | None:
        return None if name == m.ROOT else self.spelled[name]

    def variable(self, name: str, of: m.ValueType) -> tuple[Typed, Expr | None]:
        """A typed variable, and the question that narrows it down if its PDDL type is wider."""
        if isinstance(of, m.EnumType):
            return Typed(name, self.enums[of.name]), None
        assert isinstance(of, m.ObjectType)
        place = self.place(of.name)
        guard = None if place == of.name else self.is_a(name, of.name)
        return Typed(name, self.spelling(place)), guard

    def widest(self, types: Sequence[m.ValueType]) -> m.ValueType:
        """The type next to the root; all of them have their place on one way down from it."""
        kinds = [one for one in types if isinstance(one, m.ObjectType)]
        return min(kinds, key=lambda one: len(self.chain(self.place(one.name))), default=types[0])

    def is_a(self, symbol: str, name: str) -> Expr:
        """The static membership test of a type."""
        if name not in self.asked:
            self.asked[name] = self._spellings.take("fluent", f"is-{self.spelled[name]}")
        return (self.asked[name], symbol)

    def fits(self, actual: m.ValueType, formal: m.ValueType) -> bool:
        """Return whether a symbol of type ``actual`` may be used where ``formal`` is declared."""
        if isinstance(actual, m.EnumType) or isinstance(formal, m.EnumType):
            return (
                isinstance(actual, m.EnumType)
                and isinstance(formal, m.EnumType)
                and actual.name == formal.name
            )
        assert isinstance(actual, m.ObjectType)
        assert isinstance(formal, m.ObjectType)
        return self.place(formal.name) in self.chain(self.place(actual.name))

    def disjoint(self, left: m.ValueType, right: m.ValueType) -> bool:
        """Return whether no value has both types."""
        if not isinstance(left, m.ObjectType) or not isinstance(right, m.ObjectType):
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
            if name == m.ROOT or self.spelled[name] in self._implicit:
                continue
            parent = self.first_parent(name)
            found.append(Typed(self.spelled[name], self.spelling(parent)))
        enums = (Typed(spelling, None) for spelling in self.enums.values())
        return (*found, *enums)


# ---- vocabulary --------------------------------------------------------------------------------

Sort = Literal["truth", "symbol", "number", "other"]
Ladder = Literal["next", "prev", "at-most"]


class LiftingError(Exception):
    """A construct without an exact lifted form, and its place."""

    def __init__(self, construct: str, span: Span) -> None:
        super().__init__(construct)
        self.construct = construct
        self.span = span


def sort_of(of: m.ValueType) -> Sort:
    """The form of a value in PDDL: a fact, an argument of a fact, or a number."""
    match of:
        case m.BoolType():
            return "truth"
        case m.EnumType() | m.ObjectType():
            return "symbol"
        case m.NumberType() | m.RealType():
            return "number"
        case m.TextType() | m.NoneType() | m.CollectionType():
            return "other"
        case _:
            assert_never(of)


def symbol_type(of: m.ValueType) -> m.EnumType | m.ObjectType:
    """The type of a symbol, `none` left out."""
    plain = m.without_none(of)
    assert isinstance(plain, (m.EnumType, m.ObjectType))
    return plain


@dataclass
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
    asked: dict[tuple[str, int], list[m.ValueType]] = field(default_factory=dict)
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
            for fluent in sorted(
                program.fluents.values(), key=lambda one: one.fluent_kind == "attribute"
            )
        }
        self.derives = {
            derive.name: take("fluent", derive.name)
            for derive in self.rules.derives.values()
            if derive.recursive
        }
        for of, words in (("", self.objects), *self.members.items()):
            for number, word in enumerate(words):
                self.names.objects[word.lower()] = number
                self.names.words[of, number] = word

    @cached_property
    def rules(self) -> Rules:
        """The rules of the program, in core."""
        return lowered(self.instance.program)

    @cached_property
    def valued(self) -> dict[str, m.EnumType | m.ObjectType]:
        """The predicates of fluents whose last argument is their value, and its type."""
        fluents = self.instance.program.fluents.values()
        symbols = (one for one in fluents if sort_of(one.type) == "symbol")
        return {self.fluents[one.id]: symbol_type(one.type) for one in symbols}

    @cached_property
    def unique(self) -> frozenset[str]:
        """The predicates of fluents no two objects share a value of."""
        fluents = self.instance.program.fluents.values()
        return frozenset(self.fluents[one.id] for one in fluents if one.unique)

    @property
    def endings(self) -> tuple[Ending, ...]:
        """The goal, lose and stop lines of the world."""
        return self.rules.worlds[self.instance.world.name].endings

    def _fluent(self, fluent: m.Fluent, shared: bool) -> str:
        if fluent.fluent_kind != "attribute":
            return self.spellings.take("fluent", fluent.name)
        owner = fluent.params[0].type
        assert isinstance(owner, m.ObjectType)
        prefix = self.types.spelled.get(owner.name, "object")
        wanted = f"{prefix}-{fluent.name}" if shared else fluent.name
        return self.spellings.take("fluent", wanted, prefix)

    @staticmethod
    def lacks(fluent: m.Fluent) -> str:
        """The reason why a fluent has no lifted form, empty if it has one."""
        sort = sort_of(fluent.type)
        if sort == "other":
            return f"text `{fluent.name}` in a rule"
        if sort == "number" and m.is_optional(fluent.type):
            return f"number `{fluent.name}` that may be `none`"
        if any(sort_of(param.type) != "symbol" for param in fluent.params):
            return f"`{fluent.name}` over numbers or truth values"
        return ""

    def symbol(self, of: m.ValueType, raw: Raw) -> str:
        """The spelling of an object or a member of an enum."""
        assert isinstance(raw, int)
        return self.members[of.name][raw] if isinstance(of, m.EnumType) else self.objects[raw]

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

    def closure(self, fluent: m.Fluent) -> str:
        """The derived predicate of a closure: ``(inside ?x ?c)`` for a chain from ?x to ?c."""
        if fluent.id not in self.closures:
            wanted = fluent.closure or f"{self.fluents[fluent.id]}-chain"
            self.closures[fluent.id] = self.spellings.take("fluent", wanted)
        return self.closures[fluent.id]

    def widen(self, fluent: m.Fluent, position: int, of: m.EnumType | m.ObjectType) -> None:
        """Declare an argument, or the value as the last one, so that it may be of type ``of``."""
        self.asked.setdefault((fluent.id, position), []).append(of)

    def _declared(self, fluent: m.Fluent, position: int, of: m.ValueType) -> str | None:
        types = [of, *self.asked.get((fluent.id, position), ())]
        return self.types.variable("", self.types.widest(types))[0].type

    def signature(self, fluent: m.Fluent) -> Signature:
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
