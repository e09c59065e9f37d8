"""Effects as changes, in written order.

A `.tw` body may not read what it changed before (TW0403), while PDDL has no such rule: all effects
read the state before. So a condition or a value that an earlier effect changes is named with `let`
at the start of the body, and a `forall` that reads such a thing stands before the change (see
`ordering`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from tokenworld.diagnostics import Span
from tokenworld.planning.reader.conditions import Expressions
from tokenworld.planning.reader.ordering import Dependence, is_cost, without_costs, writes
from tokenworld.planning.reader.spelling import Locals
from tokenworld.planning.reader.symbols import Symbols
from tokenworld.planning.reader.tree import (
    Change,
    Effect,
    Fact,
    ForEach,
    Literal_,
    TermExpr,
    When,
)

__all__ = ["Bodies", "Line", "costs"]

Line = tuple[str, Span]
"""A line of the `.tw` text and the place in the PDDL that it comes from."""


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
        self.dependence = Dependence(symbols)

    def body(self, effects: tuple[Effect, ...], names: Locals, indent: str) -> list[Line]:
        """The changes of an action; its costs are written elsewhere."""
        return self._framed(without_costs(effects), names, indent, _Frame(set()))

    def _framed(
        self, effects: tuple[Effect, ...], names: Locals, indent: str, frame: _Frame
    ) -> list[Line]:
        placed = tuple(one.effect for one in self.dependence.ordered(effects))
        found = self._block(placed, names, indent, frame)
        return [*((indent + text, span) for text, span in frame.lets), *found]

    def _block(
        self, effects: tuple[Effect, ...], names: Locals, indent: str, frame: _Frame
    ) -> list[Line]:
        found: list[Line] = []
        for effect in effects:
            found += self._effect(effect, names, indent, frame)
            frame.changed |= writes(effect)
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
                if frame.changed & self.dependence.reads(condition):
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
            stale = frame.changed & self.dependence.term_reads(arg)
            args.append(self._named(text, arg.span, names, frame) if stale else text)
        return f"{self.expressions.spelling.predicate(fact.predicate.key)}({', '.join(args)})"

    def change(self, change: Change, names: Locals, frame: _Frame | None = None) -> str:
        """``f(x) += 1`` and its kin."""
        target = self.expressions.term(change.target, names)
        tight = 7 if change.op in ("scale-up", "scale-down") else 0
        value = self.expressions.term(change.value, names, tight)
        if frame is not None and frame.changed & self.dependence.term_reads(change.value):
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
