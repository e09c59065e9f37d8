"""Collections as candidates with conditions: inverses, closures and lists.

A collection has no value; it is the list of everything that could be in it, each with the condition
under which it is. The list is in the collection's order where that order does not change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Generic

from tokenworld.ground import Raw
from tokenworld.model import (
    Binder,
    Choose,
    ClosureOf,
    CollectionRange,
    CollectionType,
    DeriveCall,
    IntervalRange,
    InverseOf,
    ListTerm,
    ObjectType,
    Term,
    TypeRange,
    ValueType,
)
from tokenworld.planning.lower.algebra import Refused, V, conj, disj
from tokenworld.planning.lower.numbers import truth

if TYPE_CHECKING:
    from tokenworld.planning.lower.terms import Env, Terms

__all__ = ["Collections"]


def _element(kind: ValueType) -> ValueType:
    return kind.element if isinstance(kind, CollectionType) else kind


_Closures = dict[tuple[str, Raw, bool, int], dict[Raw, V]]
Element = tuple[V, V]
"""A value and the condition under which it is in the collection."""


class Collections(Generic[V]):
    """The collections of one evaluator."""

    def __init__(self, terms: Terms[V]) -> None:
        self._terms = terms
        self.forget()

    def forget(self) -> None:
        self._closures: _Closures[V] = {}

    def exchanged(self, closures: _Closures[V]) -> _Closures[V]:
        """Go on with other closures that were worked out; those so far."""
        before, self._closures = self._closures, closures
        return before

    def range_of(self, binder: Binder, env: Env[V]) -> Iterator[Element[V]]:
        """What a loop variable can be, each with its condition."""
        terms, algebra = self._terms, self._terms.algebra
        match binder.domain:
            case TypeRange(of=ObjectType(name=name)):
                for number in terms.facts.objects(name):
                    yield algebra.const(number), terms.alive(number, env.was)
            case TypeRange(of=of):
                for value in terms.facts.domain(of) or ():
                    yield algebra.const(value), terms.true
            case IntervalRange(low=low, high=high):
                for number in range(low, high + 1):
                    yield algebra.const(number), terms.true
            case CollectionRange(collection=collection, only=only):
                for item, member in self.elements(collection, env):
                    kept = algebra.negate(terms.equals(item, terms.none))
                    if only is not None:
                        kept = terms.is_type(item, _element(collection.type), only)
                    yield item, conj(algebra, kept, member)

    def member(self, item: V, collection: Term, env: Env[V]) -> V:
        """``item in collection``; `none` is in nothing."""
        terms, algebra = self._terms, self._terms.algebra
        result = terms.false
        for value, member in self.elements(collection, env):
            found = conj(algebra, terms.equals(item, value), member)
            result = disj(algebra, result, found)
        present = algebra.negate(terms.equals(item, terms.none))
        return algebra.both(present, lambda: result)

    def settled(self, collection: Term) -> bool:
        """Whether its candidates come in an order that never changes."""
        match collection:
            case ListTerm():
                return True
            case ClosureOf(fluent=fluent):
                kind = self._terms.facts.program.fluents[fluent].fluent_kind
                return kind == "relation"
            case InverseOf(fluent=fluent):
                return not self._terms.facts.program.fluents[fluent].ordered
            case Choose(then=then, otherwise=otherwise):
                return self.settled(then) and self.settled(otherwise)
            case DeriveCall(derive=name):
                return self.settled(self._terms.facts.program.derives[name].value)
            case _:
                return False

    def elements(self, collection: Term, env: Env[V]) -> list[Element[V]]:
        """The candidates of a collection with their conditions."""
        match collection:
            case ListTerm(items=items):
                return [(self._terms.value(item, env), self._terms.true) for item in items]
            case InverseOf(fluent=fluent, of=of, was=was):
                return self._inverse(fluent, self._terms.value(of, env), env.was or was)
            case ClosureOf(fluent=fluent, of=of, was=was):
                kind = of.type
                return self._closure(fluent, self._terms.value(of, env), kind, env.was or was)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                return self._either(self._terms.condition(condition, env), then, otherwise, env)
            case DeriveCall(derive=name, args=args, was=was):
                derive = self._terms.facts.program.derives[name]
                values = [self._terms.value(arg, env) for arg in args]
                names = [param.name for param in derive.params]
                inner = type(env)(dict(zip(names, values, strict=True)), env.was or was)
                return self.elements(derive.value, inner)
            case _:
                reason = "its members are not known"
                raise Refused("collection", collection.span, reason)

    def _either(self, condition: V, then: Term, otherwise: Term, env: Env[V]) -> list[Element[V]]:
        algebra = self._terms.algebra
        sides = ((then, condition), (otherwise, algebra.negate(condition)))
        return [
            (value, conj(algebra, side, member))
            for collection, side in sides
            if not algebra.never(side)
            for value, member in self.elements(collection, env)
        ]

    def _inverse(self, fluent_id: str, of: V, was: bool) -> list[Element[V]]:
        terms, algebra = self._terms, self._terms.algebra
        present = algebra.negate(terms.equals(of, terms.none))
        found = []
        for number in self._sources(fluent_id):
            same = terms.equals(terms.read(fluent_id, (number,), was), of)
            member = conj(algebra, present, same)
            if not algebra.never(member):
                found.append((algebra.const(number), member))
        return found

    def _sources(self, fluent_id: str) -> tuple[int, ...]:
        kind = self._terms.facts.program.fluents[fluent_id].params[0].type
        return self._terms.facts.objects(kind.name) if isinstance(kind, ObjectType) else ()

    # ---- closures -------------------------------------------------------------------------

    def _closure(self, fluent_id: str, of: V, kind: ValueType, was: bool) -> list[Element[V]]:
        terms, algebra = self._terms, self._terms.algebra
        universe = terms.universe(kind)
        targets = [value for value in algebra.possible(of, universe) or () if value is not None]
        candidates: dict[Raw, None] = {}
        for target in targets:
            candidates.update(dict.fromkeys(self._leading(fluent_id, target, was)))
        found = []
        for number in sorted(one for one in candidates if isinstance(one, int)):

            def member(target: Raw, number: int = number) -> V:
                table = {} if target is None else self._leading(fluent_id, target, was)
                return table.get(number, terms.false)

            held = algebra.bind(of, universe, member)
            if not algebra.never(held):
                found.append((algebra.const(number), held))
        return found

    def _leading(self, fluent_id: str, target: Raw, was: bool) -> dict[Raw, V]:
        """What leads to an object along an attribute, or is reached from it along a relation."""
        key = (fluent_id, target, was, self._terms.fixpoints.stage)
        if key not in self._closures:
            relation = self._terms.facts.program.fluents[fluent_id].fluent_kind == "relation"
            step = self._reached if relation else self._inside
            found: dict[Raw, V] = {}
            # No chain is longer than there are objects. (Where each round costs more, as for what
            # is *not* within something that may be in itself, no round would ever be the last.)
            for _ in range(len(self._terms.facts.instance.names) + 1):
                if (new := step(fluent_id, target, was, found)) == found:
                    break
                found = new
            self._closures[key] = found
        return self._closures[key]

    def _inside(self, fluent_id: str, target: Raw, was: bool, before: dict[Raw, V]) -> dict[Raw, V]:
        terms, algebra = self._terms, self._terms.algebra
        universe = terms.universe(terms.facts.program.fluents[fluent_id].type)

        def leads(value: Raw) -> V:
            return terms.true if value == target else before.get(value, terms.false)

        table = {
            number: algebra.bind(terms.read(fluent_id, (number,), was), universe, leads)
            for number in self._sources(fluent_id)
        }
        return {number: held for number, held in table.items() if not algebra.never(held)}

    def _reached(
        self, fluent_id: str, source: Raw, was: bool, before: dict[Raw, V]
    ) -> dict[Raw, V]:
        terms, algebra = self._terms, self._terms.algebra
        kind = terms.facts.program.fluents[fluent_id].params[1].type
        table: dict[Raw, V] = {}
        for number in terms.facts.objects(kind.name) if isinstance(kind, ObjectType) else ():
            held = self._related(fluent_id, source, number, was)
            for middle, reached in before.items():
                link = self._related(fluent_id, middle, number, was)
                held = disj(algebra, held, conj(algebra, reached, link))
            if not algebra.never(held):
                table[number] = held
        return table

    def _related(self, fluent_id: str, left: Raw, right: Raw, was: bool) -> V:
        related = self._terms.read(fluent_id, (left, right), was)
        return self._terms.algebra.lift("truth", truth, related)

    def nested_inside(self, fluent_id: str, target: int) -> dict[Raw, V]:
        """For each object the condition under which it is within ``target``, now."""
        return self._leading(fluent_id, target, False)
