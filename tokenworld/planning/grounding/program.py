"""A whole program as rules over relations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tokenworld.diagnostics import Span
from tokenworld.ground import Instance, conjuncts
from tokenworld.model import (
    Action,
    Body,
    Draw,
    Law,
    Let,
    Require,
    Term,
)
from tokenworld.planning.grounding.bodies import Bodies
from tokenworld.planning.grounding.conditions import Conditions
from tokenworld.planning.grounding.context import UNKNOWN, Context, Later, Names, Ungroundable
from tokenworld.planning.grounding.rules import (
    Atom,
    Const,
    Literal,
    Rule,
    Same,
    Source,
    Var,
    slots_in,
    variables_in,
)
from tokenworld.planning.grounding.values import MOST_WAYS
from tokenworld.planning.lower.numbers import may_break

__all__ = ["Relaxed", "relaxed"]


@dataclass(frozen=True)
class Relaxed:
    """A program as rules. ``sources`` are its actions and laws in order, by ``action name`` and
    ``law name``; ``rules`` all that is no part of one alone."""

    context: Context
    sources: dict[str, Source]
    rules: tuple[Rule, ...]

    @property
    def loose(self) -> tuple[tuple[str, Span], ...]:
        """What is left unjudged, each with its place."""
        return tuple(dict.fromkeys(one for source in self.sources.values() for one in source.loose))


def relaxed(instance: Instance) -> Relaxed:
    """The rules of a program in an instance; raises `Ungroundable` where there are none."""
    return _Reader(instance).read()


class _Reader:
    def __init__(self, instance: Instance) -> None:
        self._context = Context(instance)
        self._conditions = Conditions(self._context)
        self._bodies = Bodies(self._context, self._conditions)

    def read(self) -> Relaxed:
        program, sources = self._context.program, dict[str, Source]()
        if program.births:
            raise Ungroundable("`birth`: objects that do not exist yet", program.births[0].span)
        rules = []
        for action in program.actions.values():
            sources[f"action {action.name}"], more = self._source("action", action)
            rules += more
        for law in program.laws.values():
            sources[f"law {law.name}"], more = self._source("law", law)
            rules += more
        rules += self._derives()
        rules += self._nests()
        return Relaxed(self._context, sources, (*rules, *self._closures(rules, sources)))

    # ---- actions and laws ---------------------------------------------------------------------

    def _source(self, kind: str, rule: Action | Law) -> tuple[Source, list[Rule]]:
        context = self._context
        context.loose, context.exact = [], True
        params = tuple(Var(f"p{place}") for place, _ in enumerate(rule.params))
        source = Source(f"{kind} {rule.name}", params)
        names: Names = {one.name: var for one, var in zip(rule.params, params, strict=True)}
        listed: list[Literal] = []
        for binder, var in zip(rule.params, params, strict=True):
            fits = context.belongs(binder.type, var)
            if fits is None:
                raise Ungroundable(f"`{rule.name}` with its parameter `{binder.name}`", binder.span)
            listed.append(fits)
        if isinstance(rule, Law):
            rules = self._law(source, rule, names, listed)
        else:
            rules = self._action(source, rule, names, listed)
        source.loose, source.exact = context.loose, context.exact
        return source, rules

    def _action(
        self, source: Source, action: Action, names: Names, listed: list[Literal]
    ) -> list[Rule]:
        requires: list[tuple[Term, Names]] = []
        for guard in action.guards:
            if isinstance(guard, Require):
                requires.append((guard.condition, names))
            elif isinstance(guard, Let):
                names = {**names, guard.name: self._meaning(guard, names)}
        source.ways = self._ways(requires, listed)
        rules = list(self._bodies.of(source, self._drawn(action), names))
        if action.cancelled or action.takes is not None or action.until is not None:
            self._context.exact = False
        if action.cost is not None:
            self._priced(source, action.cost, names)
        rules += self._bodies.of(source, action.cancelled, names)
        return rules

    def _priced(self, source: Source, cost: Term, names: Names) -> None:
        """What an action costs, where that rests on its arguments alone."""
        made = self._conditions.values.measures(cost, names)
        fluents = self._context.program.fluents
        changing = self._context.changing
        read = [name for _, amount in made for name in slots_in(amount)]
        if (
            len(made) != 1
            or any(name in changing or name not in fluents for name in read)
            or any(variables_in(one) - set(source.params) for one in made[0][0])
        ):
            self._context.exact = False
        else:
            source.price = made[0][1]

    def _meaning(self, guard: Let, names: Names) -> Later | str:
        value = guard.value
        if isinstance(value, Draw):
            return UNKNOWN
        return Later(value, names)

    @staticmethod
    def _drawn(action: Action) -> Body:
        """The body with the draws that stand between the requires and it."""
        lets = tuple(
            one for one in action.guards if isinstance(one, Let) and isinstance(one.value, Draw)
        )
        return (*lets, *action.body)

    def _ways(
        self, terms: list[tuple[Term, Names]], listed: list[Literal]
    ) -> tuple[tuple[Literal, ...], ...]:
        found: tuple[tuple[Literal, ...], ...] = (tuple(listed),)
        for term, names in terms:
            more = self._conditions.ways(term, names)
            if len(found) * len(more) > MOST_WAYS:
                self._context.leave("condition with so many ways", term.span)
                continue
            found = tuple((*one, *other) for one in found for other in more)
        return found

    def _law(self, source: Source, law: Law, names: Names, listed: list[Literal]) -> list[Rule]:
        """A law is there where its condition can hold; where the condition may be in error it is
        left in, for an error is not to be lost."""
        self._context.exact = False
        source.ways = self._ways([(part, names) for part in self._sound(law)], listed)
        return list(self._bodies.of(source, law.body, names))

    def _sound(self, law: Law) -> Iterator[Term]:
        """The parts of a law's condition before the first that may be in error."""
        for part in conjuncts(() if law.when is None else (law.when,)):
            if may_break(self._context.program, part):
                self._context.leave("condition after one that may be in error", part.span)
                return
            yield part

    # ---- what follows by itself -----------------------------------------------------------------

    def _derives(self) -> Iterator[Rule]:
        """Recursive derives: their least fixpoint is theirs."""
        for derive in self._context.program.derives.values():
            if not derive.recursive:
                continue
            params = tuple(Var(f"p{place}") for place, _ in enumerate(derive.params))
            names: Names = {one.name: var for one, var in zip(derive.params, params, strict=True)}
            listed: list[Literal] = []
            for binder, var in zip(derive.params, params, strict=True):
                fits = self._context.belongs(binder.type, var)
                if fits is None:
                    raise Ungroundable(f"the derive `{derive.name}`", binder.span)
                listed.append(fits)
            head = Atom(f"?{derive.name}", params)
            for way in self._ways([(derive.value, names)], listed):
                yield Rule(head, way)

    def _nests(self) -> Iterator[Rule]:
        """What is in a thing that is destroyed comes to be where that was."""
        if not self._context.destroys:
            return
        thing, inner, outer = Var("thing"), Var("inner"), Var("outer")
        for fluent in self._context.program.fluents.values():
            if fluent.nested and len(fluent.params) == 1:
                body = (Atom(fluent.id, (thing, inner)), Atom(fluent.id, (inner, outer)))
                yield Rule(Atom(fluent.id, (thing, outer)), body)

    def _closures(self, rules: list[Rule], sources: dict[str, Source]) -> Iterator[Rule]:
        """What leads to something along a fluent, for those that are asked about."""
        literals = [one for rule in rules for one in rule.body]
        literals += [one for source in sources.values() for way in source.ways for one in way]
        asked = dict.fromkeys(
            one.relation[1:]
            for one in literals
            if isinstance(one, Atom) and one.relation.startswith("*")
        )
        first, second, third = Var("first"), Var("second"), Var("third")
        for name in asked:
            step = Atom(name, (first, second))
            there = Same("!=", second, Const(None))
            yield Rule(Atom(f"*{name}", (first, second)), (step, there))
            on = Atom(f"*{name}", (second, third))
            yield Rule(Atom(f"*{name}", (first, third)), (step, on))
