"""Evaluating terms of the model in an algebra (language.md §4).

Parameters and loop variables are bound to values of the algebra, mostly constants; reads of slots
go to the algebra, which folds those that no rule writes. Folds run over the objects of the
instance, derives are inlined for each binding of their parameters, recursive ones are unrolled to
their least fixpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from itertools import product
from typing import Generic

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw
from tokenworld.model import (
    And,
    Arithmetic,
    Binder,
    BoolLiteral,
    BoolType,
    BuiltinCall,
    Choose,
    ClosureOf,
    CollectionRange,
    Compare,
    Derive,
    DeriveCall,
    EnumLiteral,
    Fold,
    Implies,
    InverseOf,
    IsType,
    ListTerm,
    Local,
    Me,
    Member,
    Negate,
    NoneLiteral,
    Not,
    NumberLiteral,
    ObjectLiteral,
    ObjectType,
    Or,
    ParamRead,
    Read,
    Rescale,
    TemplateTerm,
    Term,
    TextPart,
    ToReal,
    ValueType,
    children,
)
from tokenworld.planning.lower.algebra import (
    ALIVE,
    Algebra,
    Refused,
    Universe,
    V,
    conj,
)
from tokenworld.planning.lower.builtins import builtin_value, decimals_of, ring_of
from tokenworld.planning.lower.collections import Collections
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.fixpoints import Fixpoints
from tokenworld.planning.lower.folds import fold
from tokenworld.planning.lower.numbers import arithmetic, compare, equal, to_real, truth

__all__ = ["Env", "Later", "Terms"]


class Later(Generic[V]):
    """A value computed when it is first asked for: a ``let`` that may not be needed."""

    def __init__(self, compute: Callable[[], V]) -> None:
        self._compute: Callable[[], V] | None = compute
        self._value: V | None = None

    def value(self) -> V:
        if self._compute is not None:
            self._value, self._compute = self._compute(), None
        return self._value  # type: ignore[return-value]  # `None` may be a value of the algebra


@frozen
class Env(Generic[V]):
    """What names stand for. ``was``: every read is of the state at the start of the tick."""

    names: Mapping[str, V | Later[V]] = field(default_factory=dict)
    was: bool = False

    def bind(self, name: str, value: V | Later[V]) -> Env[V]:
        return replace(self, names={**self.names, name: value})

    def look(self, name: str) -> V:
        """The value a name stands for."""
        found = self.names[name]
        return found.value() if isinstance(found, Later) else found


class Terms(Generic[V]):
    """An evaluator over one algebra; results are remembered until `forget`."""

    def __init__(self, facts: Facts, algebra: Algebra[V]) -> None:
        self.facts, self.algebra = facts, algebra
        self.true, self.false = algebra.const(True), algebra.const(False)
        self.none = algebra.const(None)
        self.collections: Collections[V] = Collections(self)
        self.fixpoints: Fixpoints[V] = Fixpoints(self)
        self._free: dict[int, tuple[str, ...]] = {}
        self.forget()

    def forget(self) -> None:
        """Drop what is remembered: the algebra's slots have changed."""
        self._memo: dict[Hashable, V] = {}
        self._rows: dict[str, dict[tuple[Raw, ...], V]] = {}
        self.fixpoints.forget()
        self.collections.forget()

    # ---- entry ----------------------------------------------------------------------------

    def value(self, term: Term, env: Env[V]) -> V:
        """The value of a term."""
        match term:
            case BoolLiteral(value=value) | NumberLiteral(value=value):
                return self.algebra.const(value)
            case EnumLiteral(index=index):
                return self.algebra.const(index)
            case NoneLiteral():
                return self.none
            case ObjectLiteral(name=name):
                return self.algebra.const(self.facts.instance.numbers[name])
            case ParamRead(name=name):
                return self.algebra.const(self.facts.instance.params[name])
            case Me():
                return self.algebra.const(self.facts.instance.me)
            case Local(name=name):
                return env.look(name)
            case _:
                return self._remembered(term, env)

    def condition(self, term: Term | None, env: Env[V]) -> V:
        """A term as a condition (`none` counts as false); no term is true."""
        return self.true if term is None else self._truth(self.value(term, env))

    def _truth(self, value: V) -> V:
        return self.algebra.lift("truth", truth, value)

    def _remembered(self, term: Term, env: Env[V]) -> V:
        names = self._free.get(id(term))
        if names is None:
            names = self._free[id(term)] = _free_names(term)
        key = (id(term), env.was, self.fixpoints.stage, tuple([env.look(name) for name in names]))
        found = self._memo.get(key)
        if found is None and key not in self._memo:
            found = self._memo[key] = self._computed(term, env)
        return found  # type: ignore[return-value]  # `None` may itself be a value of the algebra

    def _computed(self, term: Term, env: Env[V]) -> V:
        algebra = self.algebra
        match term:
            case Read() | DeriveCall():
                return self._call(term, env)
            case Not(term=inner):
                return algebra.negate(self.condition(inner, env))
            case And(terms=terms):
                return self._all(terms, env)
            case Or(terms=terms):
                return self._any(terms, env)
            case Implies(left=left, right=right):
                premise = algebra.negate(self.condition(left, env))
                return algebra.either(premise, lambda: self.condition(right, env))
            case Compare(op=op, left=left, right=right):
                sides = self.value(left, env), self.value(right, env)
                return algebra.lift(("compare", op), compare(op), *sides)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                return algebra.choose(
                    self.condition(condition, env),
                    lambda: self.value(then, env),
                    lambda: self.value(otherwise, env),
                )
            case Member(item=item, collection=collection):
                return self.collections.member(self.value(item, env), collection, env)
            case IsType(term=inner, of=of):
                return self.is_type(self.value(inner, env), inner.type, of)
            case Fold():
                return fold(self, term, env)
            case TemplateTerm():
                return self._text(term)
            case InverseOf() | ClosureOf() | ListTerm():
                reason = "a collection has no value of its own"
                return algebra.refuse(Refused("collection", term.span, reason))
            case _:
                return self._number(term, env)

    def _number(self, term: Term, env: Env[V]) -> V:
        algebra = self.algebra
        match term:
            case Arithmetic(op=op, left=left, right=right):
                if op == "mod" and (ring := ring_of(self, left, right, env)) is not None:
                    return ring
                sides = self.value(left, env), self.value(right, env)
                return algebra.lift(("arithmetic", op), arithmetic(op), *sides)
            case Negate(term=inner):
                sides = algebra.const(0), self.value(inner, env)
                return algebra.lift(("arithmetic", "-"), arithmetic("-"), *sides)
            case Rescale(term=inner, digits=digits):
                factor = algebra.const(10**digits)
                value = self.value(inner, env)
                return algebra.lift(("arithmetic", "*"), arithmetic("*"), value, factor)
            case ToReal(term=inner):
                decimals = decimals_of(inner.type)
                value = self.value(inner, env)
                return algebra.lift(("real", decimals), to_real(decimals), value)
            case BuiltinCall():
                return builtin_value(self, term, env)
            case _:
                raise TypeError(f"not a term: {term!r}")

    def _all(self, terms: tuple[Term, ...], env: Env[V]) -> V:
        result = self.true
        for term in terms:
            result = self.algebra.both(result, partial(self.condition, term, env))
        return result

    def _any(self, terms: tuple[Term, ...], env: Env[V]) -> V:
        result = self.false
        for term in terms:
            result = self.algebra.either(result, partial(self.condition, term, env))
        return result

    def _text(self, term: TemplateTerm) -> V:
        parts = [part.text for part in term.template.parts if isinstance(part, TextPart)]
        if len(parts) < len(term.template.parts):
            reason = "a text made of values is not one of finitely many"
            return self.algebra.refuse(Refused("text with `{…}`", term.span, reason))
        return self.algebra.const("".join(parts))

    # ---- reads and derives ----------------------------------------------------------------

    def universe(self, value_type: ValueType) -> Universe:
        """All values of a type and `none`."""

        def values() -> tuple[Raw, ...] | None:
            found = self.facts.domain(value_type)
            return found if found is None or None in found else (*found, None)

        return values

    def _call(self, term: Read | DeriveCall, env: Env[V]) -> V:
        was = env.was or term.was
        values = [(self.value(arg, env), arg.type) for arg in term.args]
        if isinstance(term, Read):
            return self.each(values, lambda args: self.read(term.fluent, args, was))
        return self.each(values, lambda args: self.derived(term.derive, args, was))

    def each(
        self, values: list[tuple[V, ValueType]], function: Callable[[tuple[Raw, ...]], V]
    ) -> V:
        """``function`` of every combination of the values, put together again."""

        def step(position: int, args: tuple[Raw, ...]) -> V:
            if position == len(values):
                return function(args)
            value, kind = values[position]
            universe = self.universe(kind)
            return self.algebra.bind(value, universe, lambda arg: step(position + 1, (*args, arg)))

        return step(0, ())

    def alive(self, number: int, was: bool = False) -> V:
        """Whether an object exists."""
        return self.algebra.slot((ALIVE, (number,)), was)

    def read(self, fluent_id: str, args: tuple[Raw, ...], was: bool) -> V:
        """The value of a stored fluent for constant arguments."""
        fluent = self.facts.program.fluents[fluent_id]
        if not self.facts.has_slot(fluent, args):
            return self.algebra.const(self.facts.missing(fluent, args))
        if fluent.fluent_kind == "table":
            return self._row(fluent_id, args)
        slot = self.facts.slot(fluent, args)
        value = self.algebra.slot(slot, was)
        gone = self.algebra.const(self.facts.missing(fluent, args))
        for number in self.facts.objects_in(slot):
            value = self._while(self.alive(number, was), value, gone)
        return value

    def _while(self, exists: V, value: V, gone: V) -> V:
        return self.algebra.choose(exists, lambda: value, lambda: gone)

    def _row(self, fluent_id: str, args: tuple[Raw, ...]) -> V:
        table = self._rows.get(fluent_id)
        fluent = self.facts.program.fluents[fluent_id]
        if table is None:
            table = self._rows[fluent_id] = {}
            for row in fluent.rows:
                keys = [(self.value(key, Env()), key.type) for key in row.keys]
                (constant,) = self._constants(keys)
                table[constant] = self.value(row.value, Env())
        if args in table:
            return table[args]
        if fluent.default is not None:
            return self.value(fluent.default, Env())
        return self.false if isinstance(fluent.type, BoolType) else self.none

    def _constants(self, values: list[tuple[V, ValueType]]) -> list[tuple[Raw, ...]]:
        parts = (self.algebra.possible(value, self.universe(kind)) or () for value, kind in values)
        return list(product(*parts))

    def derived(self, name: str, args: tuple[Raw, ...], was: bool) -> V:
        """A derive for constant arguments."""
        derive = self.facts.program.derives[name]
        if None in args:
            return self.false if isinstance(derive.type, BoolType) else self.none
        if derive.recursive:
            return self.fixpoints.value(derive, args, was)
        return self.body(derive, args, was)

    def body(self, derive: Derive, args: tuple[Raw, ...], was: bool) -> V:
        """The value of a derive's expression with its parameters bound."""
        names = {
            param.name: self.algebra.const(arg)
            for param, arg in zip(derive.params, args, strict=True)
        }
        value = self.value(derive.value, Env(names, was))
        return self._truth(value) if isinstance(derive.type, BoolType) else value

    # ---- bindings -------------------------------------------------------------------------

    def bindings(
        self, binders: tuple[Binder, ...], where: Term | None, env: Env[V]
    ) -> Iterator[tuple[Env[V], V]]:
        """The bindings of loop variables, each with the condition under which it is one."""
        yield from self._bindings(binders, where, env, self.true)

    def _bindings(
        self, binders: tuple[Binder, ...], where: Term | None, env: Env[V], so_far: V
    ) -> Iterator[tuple[Env[V], V]]:
        if not binders:
            held = self.algebra.both(so_far, lambda: self.condition(where, env))
            if not self.algebra.never(held):
                yield env, held
            return
        first, rest = binders[0], binders[1:]
        for value, member in self.collections.range_of(first, env):
            held = conj(self.algebra, so_far, member)
            if not self.algebra.never(held):
                yield from self._bindings(rest, where, env.bind(first.name, value), held)

    def is_type(self, value: V, kind: ValueType, of: str) -> V:
        """Whether a value is a living object of a type."""

        def belongs(one: Raw) -> V:
            if not isinstance(one, int) or not self.facts.is_a(one, of):
                return self.false
            return self.alive(one)

        return self.algebra.bind(value, self.universe(kind), belongs)

    def exist(self, params: tuple[Binder, ...], args: tuple[Raw, ...]) -> V:
        """Whether every object among the arguments of a rule exists."""
        result = self.true
        for param, arg in zip(params, args, strict=True):
            if isinstance(param.type, ObjectType) and isinstance(arg, int):
                result = conj(self.algebra, result, self.alive(arg))
        return result

    def equals(self, left: V, right: V) -> V:
        """``==`` with `none` as an ordinary value."""
        return self.algebra.lift("equal", equal, left, right)


def _free_names(term: Term) -> tuple[str, ...]:
    """The locals that the value of a term depends on."""
    if isinstance(term, Local):
        return (term.name,)
    if not isinstance(term, Fold):
        return tuple(dict.fromkeys(name for part in children(term) for name in _free_names(part)))
    free: dict[str, None] = {}
    bound: set[str] = set()
    for binder in term.binders:
        if isinstance(binder.domain, CollectionRange):
            names = _free_names(binder.domain.collection)
            free.update(dict.fromkeys(name for name in names if name not in bound))
        bound.add(binder.name)
    for part in (term.where, term.value):
        names = () if part is None else _free_names(part)
        free.update(dict.fromkeys(name for name in names if name not in bound))
    return tuple(free)
