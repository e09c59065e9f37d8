"""Effects as changes, in written order.

A `.tw` body may not read what it changed before (TW0403), while PDDL has no such rule: all effects
read the state before. So a condition or a value that an earlier effect changes is named with `let`
at the start of the body, and a `forall` that reads such a thing stands before the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from tokenworld.diagnostics import Span
from tokenworld.planning.reader.conditions import Expressions
from tokenworld.planning.reader.spelling import Locals
from tokenworld.planning.reader.symbols import TOTAL_COST, Symbols
from tokenworld.planning.reader.tree import (
    Applied,
    Calculated,
    Change,
    Compared,
    Condition,
    Effect,
    Equal,
    Fact,
    ForEach,
    Literal_,
    TermExpr,
    When,
    leaves,
)

__all__ = ["Bodies", "Line", "costs", "is_cost"]

Line = tuple[str, Span]
"""A line of the `.tw` text and the place in the PDDL that it comes from."""


def is_cost(effect: Effect) -> bool:
    return isinstance(effect, Change) and effect.target.function.key == TOTAL_COST


def costs(effects: Iterable[Effect]) -> tuple[TermExpr, ...]:
    """What an action adds to ``total-cost``, in written order."""
    found = (one.value for one in effects if isinstance(one, Change) and is_cost(one))
    return tuple(found)


@dataclass(slots=True)
class _Frame:
    """A body, or one round of a loop: what was changed so far and what was named before."""

    changed: set[str]
    lets: list[Line] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


class Bodies:
    """Writes the effects of the rules of one domain."""

    def __init__(self, symbols: Symbols, expressions: Expressions) -> None:
        self.expressions = expressions
        self._below = {key: frozenset(_feeds(symbols, key)) for key in symbols.derived}

    def body(self, effects: tuple[Effect, ...], names: Locals, indent: str) -> list[Line]:
        """The changes of an action; its costs are written elsewhere."""
        kept = tuple(one for one in effects if not is_cost(one))
        return self._framed(kept, names, indent, _Frame(set()))

    def _framed(
        self, effects: tuple[Effect, ...], names: Locals, indent: str, frame: _Frame
    ) -> list[Line]:
        found = self._block(self._ordered(effects), names, indent, frame)
        return [*((indent + text, span) for text, span in frame.lets), *found]

    def _ordered(self, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
        """The effects with loops that read what comes to be changed moved before the change.

        Two loops over the same variables that each read what the other changes become one.
        """
        early: list[ForEach] = []
        rest: list[Effect] = []
        changed: set[str] = set()
        for effect in effects:
            if isinstance(effect, ForEach) and changed & self._reads_of(effect):
                self._first(effect, early, rest)
            else:
                rest.append(effect)
            changed |= _writes(effect)
        return (*early, *rest)

    def _first(self, loop: ForEach, early: list[ForEach], rest: list[Effect]) -> None:
        written = _writes(loop)
        for listed in (early, rest):
            for index, other in enumerate(listed):
                if (
                    isinstance(other, ForEach)
                    and written & self._reads_of(other)
                    and _alike(loop, other)
                ):
                    joined = (*other.effects, *loop.effects)
                    listed[index] = ForEach(other.params, joined, other.span)
                    return
        early.append(loop)

    def _block(
        self, effects: tuple[Effect, ...], names: Locals, indent: str, frame: _Frame
    ) -> list[Line]:
        found: list[Line] = []
        for effect in effects:
            found += self._effect(effect, names, indent, frame)
            frame.changed |= _writes(effect)
        return found

    def _effect(self, effect: Effect, names: Locals, indent: str, frame: _Frame) -> list[Line]:
        match effect:
            case Literal_(fact=fact, positive=positive):
                text = self._target(fact, names, frame)
                return [(f"{indent}{'add' if positive else 'remove'} {text}", fact.span)]
            case Change():
                return [(indent + self.change(effect, names, frame), effect.span)]
            case When(condition=condition, effects=effects, span=span):
                test = self.expressions.condition(condition, names)
                if frame.changed & self._reads(condition):
                    test = self._named(test, condition.span, names, frame)
                inner = self._block(effects, names, indent + "  ", frame)
                return [(f"{indent}if {test} {{", span), *inner, (indent + "}", span)]
            case ForEach():
                return self._loop(effect, names, indent, frame)
            case _:
                assert_never(effect)

    def _loop(self, loop: ForEach, names: Locals, indent: str, frame: _Frame) -> list[Line]:
        """A loop over one `when` asks its condition before the first round: ``where``."""
        inside = _Frame(set(), names=frame.names)
        if not loop.params:
            return self._framed(loop.effects, names, indent, inside)
        bound = names.bind(loop.params)
        head, effects = self.expressions.binders(loop.params, bound), loop.effects
        if len(effects) == 1 and isinstance(effects[0], When):
            head += f" where {self.expressions.condition(effects[0].condition, bound)}"
            effects = effects[0].effects
        inner = self._framed(effects, bound, indent + "  ", inside)
        return [(f"{indent}for {head} {{", loop.span), *inner, (indent + "}", loop.span)]

    def _target(self, fact: Fact, names: Locals, frame: _Frame) -> str:
        """A fact to be changed; an argument that was changed before is named first."""
        args: list[str] = []
        for arg in fact.args:
            text = self.expressions.term(arg, names)
            stale = frame.changed & self._term_reads(arg)
            args.append(self._named(text, arg.span, names, frame) if stale else text)
        return f"{self.expressions.spelling.predicate(fact.predicate.key)}({', '.join(args)})"

    def change(self, change: Change, names: Locals, frame: _Frame | None = None) -> str:
        """``f(x) += 1`` and its kin."""
        target = self.expressions.term(change.target, names)
        tight = 7 if change.op in ("scale-up", "scale-down") else 0
        value = self.expressions.term(change.value, names, tight)
        if frame is not None and frame.changed & self._term_reads(change.value):
            value = self._named(value, change.span, names, frame)
        match change.op:
            case "assign":
                return f"{target} = {value}"
            case "increase":
                return f"{target} += {value}"
            case "decrease":
                return f"{target} -= {value}"
            case "scale-up":
                return f"{target} = {target} * {value}"
            case "scale-down":
                return f"{target} = {target} / {value}"
            case _:
                assert_never(change.op)

    def _named(self, text: str, span: Span, names: Locals, frame: _Frame) -> str:
        name = names.fresh("before", frame.names)
        frame.names.append(name)
        frame.lets.append((f"let {name} = {text}", span))
        return name

    # ---- what is read and written -----------------------------------------------------------

    def _reads(self, condition: Condition) -> set[str]:
        found: set[str] = set()
        for key in _mentions(condition):
            found |= {key} | self._below.get(key, frozenset())
        return found

    def _term_reads(self, term: TermExpr) -> set[str]:
        return set(_of_term(term))

    def _reads_of(self, effect: Effect) -> set[str]:
        match effect:
            case When(condition=condition, effects=effects):
                inner = [self._reads_of(one) for one in effects]
                return self._reads(condition).union(*inner)
            case ForEach(effects=effects):
                return set().union(*(self._reads_of(one) for one in effects))
            case Change(value=value):
                return self._term_reads(value)
            case Literal_(fact=fact):
                return set().union(*(self._term_reads(arg) for arg in fact.args))
            case _:
                assert_never(effect)


def _alike(one: ForEach, other: ForEach) -> bool:
    """Whether two loops have the same variables of the same types."""

    def shape(loop: ForEach) -> list[tuple[str, str | None]]:
        return [(p.name.key, None if p.type is None else p.type.key) for p in loop.params]

    return shape(one) == shape(other)


def _writes(effect: Effect) -> set[str]:
    match effect:
        case Literal_(fact=fact):
            return {fact.predicate.key}
        case Change(target=target):
            return {target.function.key}
        case When(effects=effects) | ForEach(effects=effects):
            return set().union(*(_writes(one) for one in effects))
        case _:
            assert_never(effect)


def _mentions(condition: Condition) -> Iterator[str]:
    """The predicates and functions in a condition."""
    for leaf in leaves(condition):
        match leaf:
            case Fact(predicate=predicate, args=args):
                yield predicate.key
                for arg in args:
                    yield from _of_term(arg)
            case Equal(left=left, right=right) | Compared(left=left, right=right):
                yield from _of_term(left)
                yield from _of_term(right)
            case _:
                pass


def _of_term(term: TermExpr) -> Iterator[str]:
    match term:
        case Applied(function=function, args=args):
            yield function.key
            for arg in args:
                yield from _of_term(arg)
        case Calculated(parts=parts):
            for part in parts:
                yield from _of_term(part)
        case _:
            return


def _feeds(symbols: Symbols, key: str) -> set[str]:
    """Everything that a derived predicate depends on, itself included."""
    found, waiting = {key}, [key]
    while waiting:
        for derived in symbols.derived.get(waiting.pop(), ()):
            new = set(_mentions(derived.condition)) - found
            found |= new
            waiting += sorted(new)
    return found
