"""The declarations of a PDDL domain by their lower-case names, and how a `.tw` file spells them.

PDDL ignores case. A name stays as it is, in backquotes where it must be (language.md §16).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.planning.pddl.words import kebab
from tokenworld.planning.reader.sexpr import Faults, Word
from tokenworld.syntax.tables import tables

ROOT = "object"
TOTAL_COST = "total-cost"
PAID = "(total-cost)"
"""The key of the cost among the functions that an action changes; no function has this name."""
FRACTION = "/"
"""A decimal or a division among the functions that one expression relates."""


@frozen
class Choice(Word):
    """``(either a b)``: two types or more, as the type of a variable.

    It is a name like any other, so that a type is always a name; its text has the parts in order of
    letters, so that equal unions have equal keys.
    """

    parts: tuple[Word, ...]


@frozen
class Typed:
    """A name of a typed list (a variable without its ``?``); ``type`` is ``None`` if not given."""

    name: Word
    type: Word | None


def alternatives(of: Word | None) -> tuple[Word, ...]:
    """Return the types of an `either`, else the type itself."""
    if isinstance(of, Choice):
        return of.parts
    return () if of is None else (of,)


@frozen
class Signature:
    """A predicate or function; ``result`` is the type of an object fluent, else ``None``."""

    name: Word
    params: tuple[Typed, ...]
    result: Word | None = None


@dataclass(slots=True)
class Symbols:
    """The declarations of a domain by lower-case name; the first of two of one name counts.

    ``implicit`` are the types that are only used, as the parent of others; ``choices`` the unions
    of types that variables have, in the order of their first use; ``derived`` the derived
    predicates. ``counted``: `total-cost` is a function like any other, for the rules do more with
    it than to increase it.
    """

    types: dict[str, Typed] = field(default_factory=dict)
    implicit: dict[str, Word] = field(default_factory=dict)
    choices: dict[str, Choice] = field(default_factory=dict)
    constants: dict[str, Typed] = field(default_factory=dict)
    predicates: dict[str, Signature] = field(default_factory=dict)
    functions: dict[str, Signature] = field(default_factory=dict)
    derived: set[str] = field(default_factory=set)
    counted: bool = False

    @property
    def numbers(self) -> list[Signature]:
        """The functions, without the total cost."""
        every = self.functions.values()
        return [one for one in every if self.counted or one.name.key != TOTAL_COST]

    @property
    def has_root(self) -> bool:
        """Return whether the domain declares a type `object` of its own."""
        return ROOT in self.types

    @property
    def names_root(self) -> bool:
        """Return whether that type is the root of all other types."""
        above = self.types[ROOT].type if self.has_root else None
        return self.has_root and (above is None or above.key == ROOT)

    # ---- types ------------------------------------------------------------------------------

    def parents(self, key: str) -> tuple[Word, ...]:
        """The types right above one: with `either`, all that it names."""
        declared = self.types.get(key)
        return () if declared is None else alternatives(declared.type)

    def chain(self, key: str) -> Iterator[str]:
        """A type and those above it, as far as declared, nearer ones first; cycles end too."""
        seen, waiting = set[str](), deque((key,))
        while waiting:
            one = waiting.popleft()
            if one not in seen:
                seen.add(one)
                yield one
                waiting += (parent.key for parent in self.parents(one))

    def above(self, key: str) -> Iterator[str]:
        """A type, those above it, and the unions with one of them."""
        for one in self.chain(key):
            yield one
            yield from (choice.key for choice in self.choices_with(one))

    def choices_with(self, key: str) -> Iterator[Choice]:
        """The unions that a type is a part of."""
        for choice in self.choices.values():
            if key in (part.key for part in choice.parts):
                yield choice

    def above_choice(self, choice: Choice) -> list[Word]:
        """The nearest type that is above all parts of a union, and the wider unions."""
        keys = [part.key for part in choice.parts]
        chains = [tuple(self.chain(key)) for key in keys]
        common = (key for key in chains[0] if all(key in chain for chain in chains))
        nearest = [key for key in common if key not in (*keys, ROOT)][:1]
        named = [self.types[key].name if key in self.types else self.implicit[key]
                 for key in nearest]  # fmt: skip
        wider = (one for one in self.choices.values()
                 if {part.key for part in one.parts} > set(keys))  # fmt: skip
        return [*named, *wider]

    # ---- checks -----------------------------------------------------------------------------

    def check_type(self, of: Word | None, faults: Faults) -> None:
        """The type is declared."""
        if isinstance(of, Choice):
            for part in of.parts:
                self.check_type(part, faults)
            if of.key not in self.choices:
                hint = "Declare a type above these in the domain, and use it."
                what = "`either` that the domain itself does not have is not supported."
                faults.tell("TW0810", what, of.span, hint=hint, names=True)
        elif of is not None and of.key not in (ROOT, *self.types, *self.implicit):
            known = [*(one.name.text for one in self.types.values()), ROOT]
            faults.unknown("type", of, known, "Declare it in `:types`.")

    def check_typed(self, params: Iterable[Typed], kind: str, faults: Faults) -> None:
        """The types are declared and no name comes twice."""
        listed = tuple(params)
        once(faults, kind, (param.name for param in listed))
        for param in listed:
            self.check_type(param.type, faults)

    def check_cycles(self, faults: Faults) -> None:
        """No type is among its own ancestors."""
        for of in self.types.values():
            key = of.name.key
            above = [one.key for one in alternatives(of.type) if one.key not in (key, ROOT)]
            if any(key in self.chain(one) for one in above):
                what = f"The type `{of.name.text}` is above itself."
                hint = "Give it another parent."
                faults.tell("TW0206", what, of.name.span, hint=hint, names=True)


def once(faults: Faults, kind: str, names: Iterable[Word]) -> None:
    """No name comes twice."""
    seen: dict[str, Span] = {}
    for name in names:
        if name.key in seen:
            faults.twice(kind, name, seen[name.key])
        seen.setdefault(name.key, name.span)


# ---- spelling ----------------------------------------------------------------------------------

_NAME = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_TYPE = re.compile(r"[A-Z][A-Za-z0-9_]*\Z")


def word(text: str) -> str:
    """A name, in backquotes unless it can be written without."""
    bare = _NAME.match(text) and text not in tables().keywords
    return text if bare else f"`{text}`"


class Spelling:
    """The `.tw` names of the types of a domain and of the unions that its variables have."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        declared = [one.name for one in symbols.types.values()]
        every = [*declared, *symbols.implicit.values()]
        self._taken = {name.key for name in every} | {ROOT}
        self.types = {name.key: _type(name.text) for name in every}
        self._choices: dict[str, str] = {}
        self.foreign = {
            of: name.text
            for name in every
            if kebab((of := self.types[name.key]).strip("`")) != name.text
        }
        """Types whose PDDL spelling the exporter would not guess."""

    def choice(self, choice: Choice) -> str:
        """The name of a union of types: ``AreaOrCrate``, with a number where that is taken."""
        if choice.key not in self._choices:
            first = self.symbols.choices.get(choice.key, choice)
            parts = (re.sub("[^A-Za-z0-9]", "", part.text) for part in first.parts)
            wanted = "Or".join(part[:1].upper() + part[1:] for part in parts)
            wanted = wanted if _TYPE.match(wanted) else f"Either{wanted}"
            name, number = wanted, 2
            while name.lower() in self._taken:
                name, number = f"{wanted}{number}", number + 1
            self._taken.add(name.lower())
            self._choices[choice.key] = name
        return self._choices[choice.key]

    def type(self, of: Word) -> str:
        """A type; the root is `Object` unless the domain declares its own `object`."""
        if isinstance(of, Choice):
            return self.choice(of)
        if of.key == ROOT and not self.symbols.has_root:
            return "Object"
        return self.types.get(of.key, of.text)  # one that is unknown was reported

    def kind(self, param: Typed) -> str:
        """``: Block`` after a name, or nothing; a declared ``object`` is the type of all."""
        if param.type is None:
            return f": {self.types[ROOT]}" if self.symbols.names_root else ""
        return f": {self.type(param.type)}"

    def formals(self, params: tuple[Typed, ...]) -> str:
        """The formals of a fluent, which need no rule's names: ``x: Block, y``."""
        return ", ".join(f"{word(one.name.text)}{self.kind(one)}" for one in params)

    def binders(self, params: Iterable[Typed], names: Locals) -> str:
        """``x: Block, y`` with the names that the variables have in a rule."""
        return ", ".join(f"{names.names[one.name.key]}{self.kind(one)}" for one in params)


def _type(text: str) -> str:
    if text.lower() == ROOT:
        return f"`{ROOT}`"
    bare = text[:1].upper() + text[1:]
    return bare if _TYPE.match(bare) else f"`{text}`"


@dataclass(frozen=True, slots=True)
class Locals:
    """The variables of one rule by lower-case name, and the names they have in the rule.

    A variable that is called like a constant (``taken``) keeps its ``?``, so that both can be
    named; one that hides another gets a number.
    """

    taken: frozenset[str]
    names: dict[str, str]

    def bind(self, params: Iterable[Typed]) -> Locals:
        found = dict(self.names)
        for param in params:
            found[param.name.key] = self._fresh(param.name.text, found)
        return replace(self, names=found)

    def _fresh(self, text: str, bound: dict[str, str]) -> str:
        wanted = f"?{text}" if text.lower() in self.taken else text
        used, number, name = set(bound.values()), 2, word(wanted)
        while name in used:
            name, number = word(f"{wanted}_{number}"), number + 1
        return name

    def alias(self, params: Iterable[Typed], names: Iterable[str]) -> Locals:
        """The variables under names that are there already."""
        given = {param.name.key: name for param, name in zip(params, names, strict=True)}
        return replace(self, names={**self.names, **given})

    def fresh(self, wanted: str, more: Iterable[str]) -> str:
        """A name that no variable and none of ``more`` has."""
        used, number = {*self.names.values(), *more, *self.taken}, 1
        while f"{wanted}{number}" in used:
            number += 1
        return f"{wanted}{number}"


# ---- expressions -------------------------------------------------------------------------------

IMPLIES, OR, AND, NOT, COMPARE, SUM, PRODUCT, UNARY, ATOM = range(9)
"""The precedence of operators, loosest first."""


@frozen
class Phrase:
    """A term or condition as `.tw` text, and the precedence of its outermost operator.

    ``reads`` are the predicates and functions that its value depends on. ``numbers`` are the
    functions from whose values the value of a term is computed (and `FRACTION`). ``parts`` are the
    operands of a written `and`; none of the true condition.
    """

    text: str
    level: int
    span: Span
    reads: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    parts: tuple[Phrase, ...] | None = None

    def within(self, least: int) -> str:
        """The text as an operand, in parentheses where it binds less tightly than ``least``."""
        return self.text if self.level >= least else f"({self.text})"

    @property
    def conjuncts(self) -> tuple[Phrase, ...]:
        return (self,) if self.parts is None else self.parts


def joined(op: str, level: int, parts: tuple[Phrase, ...], span: Span, *least: int) -> Phrase:
    """Operands with an operator between them; ``least`` for the first one and for the others."""
    first, rest = least[0], least[-1]
    texts = (one.within(rest if at else first) for at, one in enumerate(parts))
    reads = frozenset[str]().union(*(one.reads for one in parts))
    numbers = frozenset[str]().union(*(one.numbers for one in parts))
    return Phrase(f" {op} ".join(texts), level, span, reads, numbers)
