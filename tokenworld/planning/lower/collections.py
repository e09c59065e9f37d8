"""Collections as candidates with conditions: inverses, closures and lists.

A collection has no value; it is the list of everything that could be in it, each with the condition
under which it is. The list is in the collection's order where that order does not change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from tokenworld.core import TermVisitor
from tokenworld.core.nodes import Binder, Choice, DeriveCall, Members, Term
from tokenworld.ground import Raw
from tokenworld.model import CollectionType, IntervalRange, ObjectType, TypeRange, ValueType
from tokenworld.planning.lower.algebra import Algebra, Env, Refused, Universe, V, conj, disj
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.numbers import truth


class Evaluator(Protocol[V]):
    """The part of the evaluator of terms (`Terms`) that collections use."""

    facts: Facts
    algebra: Algebra[V]
    true: V
    false: V
    none: V

    @property
    def stage(self) -> int:
        """The number of the round of a fixpoint, 0 outside of any."""

    def value(self, term: Term, env: Env[V]) -> V: ...

    def condition(self, term: Term | None, env: Env[V]) -> V: ...

    def stored(self, fluent_id: str, args: tuple[Raw, ...], was: bool) -> V: ...

    def alive(self, number: int, was: bool = False) -> V: ...

    def equals(self, left: V, right: V) -> V: ...

    def is_type(self, value: V, kind: ValueType, of: str) -> V: ...

    def universe(self, value_type: ValueType) -> Universe: ...


Element = tuple[V, V]
"""A value and the condition under which it is in the collection."""
_Closures = dict[tuple[str, Raw, bool, int], dict[Raw, V]]


def _element_type(kind: ValueType) -> ValueType:
    return kind.element if isinstance(kind, CollectionType) else kind


class Collections(TermVisitor[Env[V], list[Element[V]]]):
    """The collections of one evaluator: candidates with their conditions."""

    def __init__(self, terms: Evaluator[V]) -> None:
        self._terms, self._fluents = terms, terms.facts.program.fluents
        self._settled = _Settled(terms.facts)
        self.forget()

    def forget(self) -> None:
        self._closures: _Closures[V] = {}

    def exchanged(self, closures: _Closures[V]) -> _Closures[V]:
        """Use other computed closures from now on; returns those so far."""
        before, self._closures = self._closures, closures
        return before

    def range_of(self, binder: Binder, env: Env[V]) -> Iterator[Element[V]]:
        """The values of a loop variable, each with its condition."""
        terms, algebra, domain = self._terms, self._terms.algebra, binder.domain
        if isinstance(domain, TypeRange) and isinstance(domain.of, ObjectType):
            for number in terms.facts.objects(domain.of.name):
                yield algebra.const(number), terms.alive(number, env.was)
        elif isinstance(domain, TypeRange):
            for value in terms.facts.domain(domain.of) or ():
                yield algebra.const(value), terms.true
        elif isinstance(domain, IntervalRange):
            for number in range(domain.low, domain.high + 1):
                yield algebra.const(number), terms.true
        else:
            kind = _element_type(domain.type)
            for item, member in self.term(domain, env):
                kept = algebra.negate(terms.equals(item, terms.none))
                if binder.only is not None:
                    kept = terms.is_type(item, kind, binder.only)
                yield item, conj(algebra, kept, member)

    def member(self, item: V, collection: Term, env: Env[V]) -> V:
        """``item in collection``; `none` is in nothing."""
        terms, algebra = self._terms, self._terms.algebra
        result = terms.false
        for value, member in self.term(collection, env):
            found = conj(algebra, terms.equals(item, value), member)
            result = disj(algebra, result, found)
        present = algebra.negate(terms.equals(item, terms.none))
        return algebra.both(present, lambda: result)

    def settled(self, collection: Term) -> bool:
        """Return whether its candidates come in an order that never changes."""
        return self._settled.term(collection, None)

    # ---- the candidates of a collection -----------------------------------------------------

    def _unknown(self, term: Term, env: Env[V]) -> list[Element[V]]:
        raise Refused("collection", term.span, "its members are not known")

    constant = object_name = param_value = variable = actor = read = call = _unknown
    fold = type_test = text = _unknown

    def members(self, term: Members, env: Env[V]) -> list[Element[V]]:
        terms, was = self._terms, env.was or term.was
        if term.by == "list":
            return [(terms.value(item, env), terms.true) for item in term.items]
        of = terms.value(term.of, env)
        if term.by == "inverse":
            return self._inverse(term.fluent, of, was)
        return self._closure(term.fluent, of, term.of.type, was)

    def choice(self, term: Choice, env: Env[V]) -> list[Element[V]]:
        algebra, condition = self._terms.algebra, self._terms.condition(term.condition, env)
        sides = ((term.then, condition), (term.otherwise, algebra.negate(condition)))
        return [
            (value, conj(algebra, side, member))
            for collection, side in sides
            if not algebra.never(side)
            for value, member in self.term(collection, env)
        ]

    def derive_call(self, term: DeriveCall, env: Env[V]) -> list[Element[V]]:
        derive = self._terms.facts.rules.derives[term.derive]
        values = [self._terms.value(arg, env) for arg in term.args]
        names = [param.name for param in derive.params]
        inner = Env(dict(zip(names, values, strict=True)), env.was or term.was, env.actor)
        return self.term(derive.value, inner)

    def _inverse(self, fluent_id: str, of: V, was: bool) -> list[Element[V]]:
        terms, algebra = self._terms, self._terms.algebra
        present = algebra.negate(terms.equals(of, terms.none))
        found = []
        for number in self._sources(fluent_id):
            same = terms.equals(terms.stored(fluent_id, (number,), was), of)
            member = conj(algebra, present, same)
            if not algebra.never(member):
                found.append((algebra.const(number), member))
        return found

    def _sources(self, fluent_id: str) -> tuple[int, ...]:
        kind = self._fluents[fluent_id].params[0].type
        return self._terms.facts.objects(kind.name) if isinstance(kind, ObjectType) else ()

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
        """The objects that lead to one along an attribute, or that it reaches along a relation."""
        key = (fluent_id, target, was, self._terms.stage)
        if key not in self._closures:
            relation = self._fluents[fluent_id].fluent_kind == "relation"
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
        universe = terms.universe(self._fluents[fluent_id].type)

        def leads(value: Raw) -> V:
            return terms.true if value == target else before.get(value, terms.false)

        table = {
            number: algebra.bind(terms.stored(fluent_id, (number,), was), universe, leads)
            for number in self._sources(fluent_id)
        }
        return {number: held for number, held in table.items() if not algebra.never(held)}

    def _reached(
        self, fluent_id: str, source: Raw, was: bool, before: dict[Raw, V]
    ) -> dict[Raw, V]:
        terms, algebra = self._terms, self._terms.algebra
        kind = self._fluents[fluent_id].params[1].type
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
        related = self._terms.stored(fluent_id, (left, right), was)
        return self._terms.algebra.lift("truth", truth, related)


class _Settled(TermVisitor[None, bool]):
    """Tests whether the candidates of a collection have the same order in all states."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def _changes(self, term: Term, env: None) -> bool:
        return False

    constant = object_name = param_value = variable = actor = read = call = _changes
    fold = type_test = text = _changes

    def members(self, term: Members, env: None) -> bool:
        if term.by == "list":
            return True
        fluent = self._facts.program.fluents[term.fluent]
        return fluent.fluent_kind == "relation" if term.by == "closure" else not fluent.ordered

    def choice(self, term: Choice, env: None) -> bool:
        return self.term(term.then, env) and self.term(term.otherwise, env)

    def derive_call(self, term: DeriveCall, env: None) -> bool:
        return self.term(self._facts.rules.derives[term.derive].value, env)
