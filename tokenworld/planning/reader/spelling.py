"""PDDL names, terms and conditions as they stand in a `.tw` file, nested as they were.

A name stays as it is, in backquotes where it must be (language.md §16).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import assert_never

from tokenworld.planning.pddl.words import kebab
from tokenworld.planning.reader.tree import (
    ROOT,
    Applied,
    Both,
    Calculated,
    Choice,
    Compared,
    Condition,
    Constant,
    Either,
    Equal,
    Fact,
    Implied,
    Negated,
    Number,
    Quantified,
    Symbols,
    TermExpr,
    Truth,
    Typed,
    Undefined,
    Variable,
)
from tokenworld.syntax.tables import tables

__all__ = ["Expressions", "Locals", "Spelling", "conjuncts", "word"]

# ---- spelling ----------------------------------------------------------------------------------

_NAME = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_TYPE = re.compile(r"[A-Z][A-Za-z0-9_]*\Z")


def word(text: str) -> str:
    """A name, in backquotes unless it can stand bare."""
    bare = _NAME.match(text) and text not in tables().keywords
    return text if bare else f"`{text}`"


class Spelling:
    """The `.tw` names of everything that a domain declares."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        declared = [one.name for one in symbols.types.values()]
        every = [*declared, *symbols.implicit.values()]
        self._taken = {name.key for name in every} | {ROOT}
        self.types = {name.key: self._type(name.text) for name in every}
        self.choices = {key: self._choice(one) for key, one in symbols.choices.items()}
        self.foreign = {
            of: name.text
            for name in every
            if kebab((of := self.types[name.key]).strip("`")) != name.text
        }
        """Types whose PDDL spelling the exporter would not guess."""

    def _type(self, text: str) -> str:
        if text.lower() == ROOT:
            return f"`{ROOT}`"
        bare = text[:1].upper() + text[1:]
        return bare if _TYPE.match(bare) else f"`{text}`"

    def _choice(self, choice: Choice) -> str:
        """A name for a union of types: ``AreaOrCrate``, with a number where that is taken."""
        parts = (re.sub("[^A-Za-z0-9]", "", part.text) for part in choice.parts)
        wanted = "Or".join(part[:1].upper() + part[1:] for part in parts)
        wanted = wanted if _TYPE.match(wanted) else f"Either{wanted}"
        name, number = wanted, 2
        while name.lower() in self._taken:
            name, number = f"{wanted}{number}", number + 1
        self._taken.add(name.lower())
        return name

    def type(self, key: str) -> str:
        """A type; the root is `Object` unless the domain declares its own `object`."""
        if key == ROOT and not self.symbols.has_root:
            return "Object"
        return self.choices[key] if key in self.choices else self.types[key]

    def kind(self, param: Typed) -> str:
        """``: Block`` behind a name, or nothing."""
        return "" if param.type is None else f": {self.type(param.type.key)}"

    def predicate(self, key: str) -> str:
        return word(self.symbols.predicates[key].name.text)

    def function(self, key: str) -> str:
        return word(self.symbols.functions[key].name.text)

    def constant(self, key: str) -> str:
        return word(self.symbols.constants[key].name.text)


class Locals:
    """The variables of one rule by lower-case name, and the names they have in the rule.

    A variable that is called like a constant keeps its ``?``, so that both can be named; one that
    hides another gets a number.
    """

    def __init__(self, taken: frozenset[str], names: dict[str, str] | None = None) -> None:
        self._taken = taken
        self.names = names or {}

    def bind(self, params: Iterable[Typed]) -> Locals:
        found = dict(self.names)
        for param in params:
            found[param.name.key] = self._fresh(param.name.text, found)
        return Locals(self._taken, found)

    def _fresh(self, text: str, bound: dict[str, str]) -> str:
        wanted = f"?{text}" if text.lower() in self._taken else text
        used, number, name = set(bound.values()), 2, word(wanted)
        while name in used:
            name, number = word(f"{wanted}_{number}"), number + 1
        return name

    def alias(self, params: Iterable[Typed], names: Iterable[str]) -> Locals:
        """The variables under names that are there already."""
        given = {param.name.key: name for param, name in zip(params, names, strict=True)}
        return Locals(self._taken, {**self.names, **given})

    def __getitem__(self, key: str) -> str:
        return self.names[key]

    def fresh(self, wanted: str, more: Iterable[str]) -> str:
        """A name that no variable and none of ``more`` has."""
        used, number = {*self.names.values(), *more, *self._taken}, 1
        while f"{wanted}{number}" in used:
            number += 1
        return f"{wanted}{number}"


# ---- conditions --------------------------------------------------------------------------------

_IMPLIES, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _UNARY, _ATOM = range(9)


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The top-level conjuncts; none for the true condition."""
    if isinstance(condition, Both):
        return condition.parts
    if isinstance(condition, Truth) and condition.value:
        return ()
    return (condition,)


def _within(text: str, level: int, least: int) -> str:
    return text if level >= least else f"({text})"


class Expressions:
    """Writes the expressions of one domain; ``objects`` are the names of constants and objects."""

    def __init__(self, spelling: Spelling, objects: dict[str, str]) -> None:
        self.spelling = spelling
        self.objects = objects

    # ---- terms ------------------------------------------------------------------------------

    def term(self, term: TermExpr, names: Locals, least: int = _IMPLIES) -> str:
        text, level = self._term(term, names)
        return _within(text, level, least)

    def _term(self, term: TermExpr, names: Locals) -> tuple[str, int]:
        match term:
            case Variable():
                return names[term.key], _ATOM
            case Constant(name=name):
                return self.objects[name.key], _ATOM
            case Number(text=text):
                return _number(text)
            case Applied(function=function, args=args):
                return self._call(self.spelling.function(function.key), args, names), _ATOM
            case Calculated(op=op, parts=parts):
                return self._calculated(op, parts, names)
            case Undefined():
                return "none", _ATOM
            case _:
                assert_never(term)

    def _call(self, name: str, args: tuple[TermExpr, ...], names: Locals) -> str:
        return f"{name}({', '.join(self.term(arg, names) for arg in args)})"

    def _calculated(self, op: str, parts: tuple[TermExpr, ...], names: Locals) -> tuple[str, int]:
        if len(parts) == 1:
            return f"-{self.term(parts[0], names, _ATOM)}", _UNARY
        level = _SUM if op in "+-" else _PRODUCT
        first = self.term(parts[0], names, level)
        rest = (self.term(part, names, level + 1) for part in parts[1:])
        return f" {op} ".join((first, *rest)), level

    # ---- conditions -------------------------------------------------------------------------

    def condition(self, condition: Condition, names: Locals, least: int = _IMPLIES) -> str:
        text, level = self._condition(condition, names)
        return _within(text, level, least)

    def conjunct(self, condition: Condition, names: Locals) -> str:
        """An operand of a written `and`."""
        return self.condition(condition, names, _NOT)

    def _condition(self, condition: Condition, names: Locals) -> tuple[str, int]:
        match condition:
            case Truth(value=value):
                return ("true" if value else "false"), _ATOM
            case Fact():
                return self.fact(condition, names), _ATOM
            case Equal(left=left, right=right):
                return self._compared("==", left, right, names)
            case Compared(op=op, left=left, right=right):
                return self._compared(op, left, right, names)
            case Negated(part=part):
                return f"not {self.condition(part, names, _NOT)}", _NOT
            case Both(parts=parts):
                return " and ".join(self.condition(p, names, _NOT) for p in parts), _AND
            case Either(parts=parts):
                return " or ".join(self.condition(p, names, _AND) for p in parts), _OR
            case Implied(left=before, right=after):
                left_text = self.condition(before, names, _OR)
                return f"{left_text} implies {self.condition(after, names)}", _IMPLIES
            case Quantified(kind=kind, params=params, body=body):
                fold = "all" if kind == "forall" else "any"
                inner = names.bind(params)
                bound = self.binders(params, inner)
                return f"{fold}({self.condition(body, inner)} for {bound})", _ATOM
            case _:
                assert_never(condition)

    def _compared(self, op: str, left: TermExpr, right: TermExpr, names: Locals) -> tuple[str, int]:
        sides = (self.term(side, names, _SUM) for side in (left, right))
        return f" {op} ".join(sides), _COMPARE

    def fact(self, fact: Fact, names: Locals) -> str:
        return self._call(self.spelling.predicate(fact.predicate.key), fact.args, names)

    def binders(self, params: tuple[Typed, ...], names: Locals) -> str:
        """``x: Block, y`` with the names that the variables have."""
        return ", ".join(f"{names[one.name.key]}{self.spelling.kind(one)}" for one in params)


def _number(text: str) -> tuple[str, int]:
    """A number as the language writes it: digits on both sides of the point, no plus sign."""
    sign, digits = ("-", text[1:]) if text[0] == "-" else ("", text.lstrip("+"))
    whole, point, part = digits.partition(".")
    plain = f"{whole or '0'}{'.' + part if part else ''}" if point else whole
    return sign + plain, _UNARY if sign else _ATOM


def formals(params: tuple[Typed, ...], spelling: Spelling) -> str:
    """The formals of a fluent, which need no rule's names: ``x: Block, y``."""
    return ", ".join(f"{word(one.name.text)}{spelling.kind(one)}" for one in params)


__all__ += ["formals"]
