"""Conditions and terms as `.tw` expressions, nested as they were (language.md §16)."""

from __future__ import annotations

from typing import assert_never

from tokenworld.planning.reader.spelling import Locals, Spelling, word
from tokenworld.planning.reader.tree import (
    Applied,
    Both,
    Calculated,
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
    TermExpr,
    Truth,
    Typed,
    Undefined,
    Variable,
)

__all__ = ["Expressions", "conjuncts"]

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
