"""Names, typed lists, terms and conditions from lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, cast

from tokenworld.diagnostics import Span
from tokenworld.planning.reader.faults import Faults, Skip
from tokenworld.planning.reader.sexpr import Group, Item, Word
from tokenworld.planning.reader.tree import (
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
    Name,
    Negated,
    Number,
    Quantified,
    TermExpr,
    Truth,
    Typed,
    Undefined,
    Variable,
)

__all__ = ["Parts", "show"]

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)\Z")
_TEMPORAL = frozenset(("at", "over", "within", "hold-during", "hold-after"))
_TRAJECTORY = frozenset(
    ("always", "sometime", "at-most-once", "sometime-after", "sometime-before", "always-within")
)
_OPERATORS = frozenset(
    (*("and", "or", "not", "imply", "forall", "exists", "when"), "=", "<", ">", "<=", ">=")
)
Quantifier = Literal["forall", "exists"]


def show(item: Item) -> str:
    """The item as text with single spaces."""
    if isinstance(item, Word):
        return item.text
    return "(" + " ".join(show(part) for part in item.items) + ")"


class Parts:
    """Readers of the small parts; each reports what it cannot read and raises `Skip`."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.choices: dict[str, Choice] = {}
        """The unions of types met so far, by key."""

    # ---- names ------------------------------------------------------------------------------

    def name(self, item: Item | None, what: str, place: Span) -> Name:
        """A plain name; ``place`` is where it is missing if there is no item."""
        if item is None:
            raise self.faults.unexpected(f"The {what} is missing.", place, "Add a name.")
        if isinstance(item, Group):
            message = f"A list stands where the {what} should be."
            raise self.faults.unexpected(message, item.span, "Write a name.")
        if item.text[0] in "?:" or item.text == "-":
            message = f"`{item.text}` stands where the {what} should be."
            raise self.faults.unexpected(message, item.span, "Write a name.")
        return Name(item.text, item.span)

    def variable(self, item: Item) -> Name:
        if isinstance(item, Word) and item.text.startswith("?") and len(item.text) > 1:
            return Name(item.text[1:], item.span)
        message = f"`{show(item)[:40]}` stands where a variable should be."
        raise self.faults.unexpected(message, item.span, "Write a name with `?` before it.")

    # ---- typed lists ------------------------------------------------------------------------

    def typed(self, items: Sequence[Item], *, variables: bool) -> tuple[Typed, ...]:
        """``?a ?b - t ?c``: the type after ``-`` is that of all names since the last one."""
        found: list[Typed] = []
        waiting: list[Name] = []
        index = 0
        while index < len(items):
            item = items[index]
            if isinstance(item, Word) and item.text == "-":
                following = items[index + 1] if index + 1 < len(items) else None
                kind = self.type_name(following, item.span, union=variables)
                found += [Typed(name, kind) for name in waiting]
                waiting = []
                index += 2
                continue
            if variables and isinstance(item, Word) and item.text[0] == "-":
                glued = Word(item.text[1:], item.span)  # `?x -block`: read by everybody
                kind = self.type_name(glued, item.span)
                found += [Typed(name, kind) for name in waiting]
                waiting = []
                index += 1
                continue
            waiting.append(self.variable(item) if variables else self.name(item, "name", item.span))
            index += 1
        return (*found, *(Typed(name, None) for name in waiting))

    def type_name(self, item: Item | None, place: Span, *, union: bool = False) -> Name:
        """The type behind ``-``; ``union``: it may be ``(either a b)``."""
        if isinstance(item, Group) and item.head == "either":
            if union:
                return self._choice(item)
            hint = "Declare a type above these and use it."
            what = "`either` in another place than behind a variable"
            raise self.faults.unsupported(what, item.span, hint)
        if item is None:
            raise self.faults.unexpected("A type is missing after `-`.", place, "Write a type.")
        return self.name(item, "type", place)

    def _choice(self, item: Group) -> Name:
        """The union of some types; that of one type is the type."""
        parts = tuple(self.name(part, "type", item.span) for part in item.items[1:])
        if not parts:
            what, hint = "`either` names no type.", "Write two types behind it."
            raise self.faults.unexpected(what, item.span, hint)
        for part in parts:
            if part.key == "object":
                hint = "Leave the type out: every object is an `object`."
                raise self.faults.unsupported("`either` with `object`", part.span, hint)
        if len({part.key for part in parts}) == 1:
            return parts[0]
        distinct = tuple({part.key: part for part in parts}.values())
        text = " ".join(("either", *sorted(part.key for part in distinct)))
        choice = Choice(text, item.span, distinct)
        self.choices.setdefault(choice.key, choice)
        return choice

    def params(self, item: Item | None, place: Span) -> tuple[Typed, ...]:
        """A parenthesised list of variables."""
        if not isinstance(item, Group):
            where = place if item is None else item.span
            hint = "Write them in parentheses, as in `(?x - block)`."
            raise self.faults.unexpected("A list of parameters is missing.", where, hint)
        return self.typed(item.items, variables=True)

    # ---- terms ------------------------------------------------------------------------------

    def term(self, item: Item) -> TermExpr:
        if isinstance(item, Word):
            return self._word(item)
        op, parts = item.head, item.items[1:]
        if op in ("+", "-", "*", "/"):
            if len(parts) < (1 if op == "-" else 2):
                hint = "Give it two operands."
                raise self.faults.unexpected(f"`{op}` lacks an operand.", item.span, hint)
            sign = cast(Literal["+", "-", "*", "/"], op)
            return Calculated(sign, tuple(self.term(part) for part in parts), item.span)
        return self.applied(item)

    def _word(self, word: Word) -> TermExpr:
        if word.text.startswith("?"):
            name = self.variable(word)
            return Variable(name.text, name.span)
        if word.text.startswith("#"):
            hint = "Write the rule as an action."
            raise self.faults.unsupported(f"`{word.text}` (time)", word.span, hint)
        if _NUMBER.match(word.text):
            return Number(word.text, word.span)
        if word.key == "undefined":
            return Undefined(word.span)
        return Constant(self.name(word, "name", word.span))

    def applied(self, item: Item) -> Applied:
        """A function term; a bare word is a function without arguments."""
        if isinstance(item, Word):
            return Applied(self.name(item, "function", item.span), (), item.span)
        head = self.name(item.items[0] if item.items else None, "function", item.span)
        return Applied(head, tuple(self.term(part) for part in item.items[1:]), item.span)

    # ---- conditions -------------------------------------------------------------------------

    def condition(self, item: Item) -> Condition:
        if isinstance(item, Word):
            message = f"`{item.text}` stands where a condition should be."
            raise self.faults.unexpected(message, item.span, f"Write `({item.text})`.")
        if not item.items:
            return Truth(True, item.span)
        return self._headed(item, item.head, item.items[1:])

    def _headed(self, item: Group, head: str, parts: tuple[Item, ...]) -> Condition:
        match head:
            case "and":
                return self._joined(item, parts, conjunction=True)
            case "or":
                return self._joined(item, parts, conjunction=False)
            case "not":
                (part,) = self.exactly(item, 1, "a condition")
                return Negated(self.condition(part), item.span)
            case "imply" | "implies":
                left, right = self.exactly(item, 2, "two conditions")
                return Implied(self.condition(left), self.condition(right), item.span)
            case "forall" | "exists":
                return self._quantified(item, head)
            case "=" | "<" | "<=" | ">" | ">=":
                return self._compared(item, head)
            case "preference":
                hint = "Make it a condition, or leave it out."
                raise self.faults.unsupported("A preference", item.span, hint)
            case _ if head in _TRAJECTORY:
                return self._trajectory(item, head)
            case _ if head in _TEMPORAL and parts and isinstance(parts[0], Word):
                return self._temporal(item, parts[0])
            case _:
                return self.fact(item)

    def _temporal(self, item: Group, first: Word) -> Condition:
        """``(at start …)`` is a timed condition, ``(at ?x ?y)`` a fact like any other."""
        timed = first.key in ("start", "end", "all") and any(
            isinstance(part, Group) for part in item.items[2:]
        )
        if timed:
            hint = "Use an action without duration."
            raise self.faults.unsupported("A timed condition", item.span, hint)
        return self.fact(item)

    def _trajectory(self, item: Group, head: str) -> Condition:
        """``(always (p))`` is a constraint; ``(always ?x)`` would be a fact."""
        if any(isinstance(part, Group) for part in item.items[1:]):
            hint = "Leave it out, or say it with the goal."
            raise self.faults.unsupported(f"The constraint `{head}`", item.span, hint)
        return self.fact(item)

    def _joined(self, item: Group, parts: tuple[Item, ...], *, conjunction: bool) -> Condition:
        read = tuple(self.condition(part) for part in parts)
        if not read:
            return Truth(conjunction, item.span)
        if len(read) == 1:
            return read[0]
        return (Both if conjunction else Either)(read, item.span)

    def _quantified(self, item: Group, kind: Quantifier) -> Condition:
        params, body = self.exactly(item, 2, "variables and a condition")
        bound = self.params(params, item.span)
        inner = self.condition(body)
        return Quantified(kind, bound, inner, item.span) if bound else inner

    def _compared(self, item: Group, op: str) -> Condition:
        left, right = (self.term(part) for part in self.exactly(item, 2, "two terms"))
        if op == "=":
            return Equal(left, right, item.span)
        return Compared(cast(Literal["<", "<=", ">", ">="], op), left, right, item.span)

    def fact(self, item: Item) -> Fact:
        if isinstance(item, Word) or not item.items:
            message = f"`{show(item)[:40]}` stands where a fact should be."
            hint = "Write a predicate with its arguments in parentheses."
            raise self.faults.unexpected(message, item.span, hint)
        head = self.name(item.items[0], "predicate", item.span)
        if head.key in _OPERATORS:
            message = f"`{head.text}` stands where a predicate should be."
            hint = "Name a single fact here."
            raise self.faults.unexpected(message, head.span, hint)
        return Fact(head, tuple(self.term(part) for part in item.items[1:]), item.span)

    def exactly(self, item: Group, count: int, what: str) -> tuple[Item, ...]:
        """The parts behind the head, of which there must be so many."""
        parts = item.items[1:]
        if len(parts) != count:
            message = f"`{item.head}` takes {what}, and {len(parts)} given."
            message = message.replace("and 0 given", "and nothing is given")
            hint = f"Write `({item.head} …)` with {what}."
            raise self.faults.unexpected(message, item.span, hint)
        return parts

    def attempt_condition(self, item: Item) -> Condition | None:
        """A condition, or ``None`` where it was reported."""
        try:
            return self.condition(item)
        except Skip:
            return None
