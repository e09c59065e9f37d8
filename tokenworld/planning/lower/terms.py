"""Evaluating terms of core in an algebra (language.md §4).

Parameters and loop variables are bound to values of the algebra, mostly constants; reads of slots
go to the algebra, which folds those that no rule writes. Folds run over the objects of the
instance, derives are inlined for each binding of their parameters, recursive ones are unrolled to
their least fixpoint. A collection has no value; it is the list of everything that could be in it,
each with the condition under which it is, in the collection's order where that does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from itertools import product
from math import floor, prod
from typing import Generic, Literal

from tokenworld import model as m
from tokenworld.core import TermVisitor
from tokenworld.core import nodes as core
from tokenworld.core.rules import Derive
from tokenworld.core.walk import binder_terms, parts, subterms
from tokenworld.ground import Raw, constant
from tokenworld.planning.lower.algebra import (
    ALIVE,
    AWARD,
    CLOCK,
    DID,
    LONG,
    RING,
    Algebra,
    Env,
    Mark,
    Refused,
    Universe,
    V,
    Value,
    conj,
)
from tokenworld.planning.lower.collections import Collections
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.numbers import arithmetic, builtin, compare, equal, to_real, truth

# ---- recursive derives --------------------------------------------------------------------------
# Every member of a group of derives that use each other starts false everywhere and is evaluated
# again and again from the round before, until nothing changes (language.md §3). In a round only
# those are evaluated that asked for something that the round before has changed.

_MOST_BINDINGS = 4_000
Table = dict[tuple[Raw, ...], V]
Called = tuple[str, tuple[Raw, ...]]
"""A derive with its arguments."""
Body = Callable[[Derive, tuple[Raw, ...], bool, Raw], V]
"""The value of a derive's expression for constant arguments."""


class Fixpoints(Generic[V]):
    """The recursive derives of one evaluator. ``stage`` numbers the evaluations in rounds, 0 is
    outside of any.

    ``body`` evaluates the expression of a derive.
    """

    def __init__(self, facts: Facts, false: V, body: Body[V]) -> None:
        self._facts, self._false, self._body = facts, false, body
        self._groups: dict[str, tuple[Derive, ...]] = {}
        self._evaluations = 0
        self._asked: set[Called] = set()
        self.forget()

    def forget(self) -> None:
        self._tables: dict[tuple[str, bool, Raw], Table[V]] = {}
        self.stage = 0

    def value(self, derive: Derive, args: tuple[Raw, ...], was: bool, actor: Raw = None) -> V:
        """The derive for constant arguments (inside a round: as of the round before)."""
        table = self._tables.get((derive.name, was, actor))
        if table is None:
            self._unroll(self._group(derive), was, actor)
            table = self._tables[derive.name, was, actor]
        self._asked.add((derive.name, args))
        return table.get(args, self._false)

    def _unroll(self, group: tuple[Derive, ...], was: bool, actor: Raw) -> None:
        bindings = {one.name: self._bindings(one) for one in group}
        for one in group:
            self._tables[one.name, was, actor] = dict.fromkeys(bindings[one.name], self._false)
        outer = self.stage, self._asked
        every = [(one, args) for one in group for args in bindings[one.name]]
        asked, waiting = dict[Called, set[Called]](), every
        while waiting:
            new = dict[Called, V]()
            for one, args in waiting:
                self._evaluations += 1
                self.stage, self._asked = self._evaluations, set()
                new[one.name, args] = self._body(one, args, was, actor)
                asked[one.name, args] = self._asked
            changed = set[Called]()
            for (name, args), value in new.items():
                table = self._tables[name, was, actor]
                if table[args] != value:
                    table[args] = value
                    changed.add((name, args))
            waiting = [one for one in every if not asked[one[0].name, one[1]].isdisjoint(changed)]
        self.stage, self._asked = outer

    def _bindings(self, derive: Derive) -> list[tuple[Raw, ...]]:
        choices = self._facts.choices(derive.params)
        count = prod(len(one) for one in choices)
        if count > _MOST_BINDINGS:
            reason = f"its {count:,} bindings are too many to unroll"
            raise Refused(f"recursive derive `{derive.name}`", derive.span, reason)
        return list(product(*choices))

    def _group(self, derive: Derive) -> tuple[Derive, ...]:
        """The derives that use each other in a circle with this one."""
        if derive.name not in self._groups:
            derives = self._facts.rules.derives
            reach = {one.name: _reached(one, derives) for one in derives.values() if one.recursive}
            own = reach[derive.name]
            self._groups[derive.name] = tuple(
                derives[name]
                for name in reach
                if name == derive.name or (name in own and derive.name in reach[name])
            )
        return self._groups[derive.name]


def _reached(derive: Derive, derives: Mapping[str, Derive]) -> frozenset[str]:
    """The derives that one uses, directly or through others."""
    found: set[str] = set()
    waiting = [derive]
    while waiting:
        for part in subterms(waiting.pop().value):
            if isinstance(part, core.DeriveCall) and part.derive not in found:
                found.add(part.derive)
                waiting.append(derives[part.derive])
    return frozenset(found)


# ---- terms --------------------------------------------------------------------------------------

_LATEST = 1_000
"""The latest tick that a clock counts to."""
_LEAVES = (core.Constant, core.ObjectName, core.ParamValue, core.Actor, core.Variable)


class Terms(TermVisitor[Env[V], V]):
    """An evaluator over one algebra; results are cached until `forget`."""

    def __init__(self, facts: Facts, algebra: Algebra[V]) -> None:
        self.facts, self.algebra = facts, algebra
        self.true, self.false = algebra.const(True), algebra.const(False)
        self.none = algebra.const(None)
        self.collections: Collections[V] = Collections(self)
        self.fixpoints: Fixpoints[V] = Fixpoints(facts, self.false, self.body)
        self._free: dict[int, tuple[core.Term, tuple[str, ...], bool]] = {}
        lasting = not (facts.unborn or facts.rules.destroys)
        self._lasting = lasting and bool(algebra.single(self.true))
        """Whether all objects exist all the time, and no algebra asks for the reason."""
        self.forget()

    def forget(self) -> None:
        """Clear the caches, because the algebra's slots have changed."""
        self._memo: dict[Hashable, V] = {}
        self._rows: dict[str, dict[tuple[Raw, ...], V]] = {}
        self.fixpoints.forget()
        self.collections.forget()

    @property
    def stage(self) -> int:
        """The number of the round of a fixpoint, 0 outside of any."""
        return self.fixpoints.stage

    # ---- entry ----------------------------------------------------------------------------

    def value(self, term: core.Term, env: Env[V]) -> V:
        """The value of a term."""
        if type(term) in _LEAVES:
            return self.term(term, env)
        _, names, recursive = self._free.get(id(term)) or self._names(term)
        looked = tuple([env.look(name) for name in names])
        stage = self.fixpoints.stage if recursive else 0
        key = (id(term), env.was, env.actor, stage, looked)
        found = self._memo.get(key)
        if found is None and key not in self._memo:
            found = self._memo[key] = self._computed(term, env)
        return found  # type: ignore[return-value]  # `None` may itself be a value of the algebra

    def _names(self, term: core.Term) -> tuple[core.Term, tuple[str, ...], bool]:
        """The names on which a term depends, and whether it does on a recursive derive, whose value
        changes from round to round; the term is kept, as its id is the key."""
        found = self._free[id(term)] = (term, _free_names(term), self._recurs(term))
        return found

    def _recurs(self, term: core.Term) -> bool:
        derives = self.facts.rules.derives
        called = {one.derive for one in subterms(term) if isinstance(one, core.DeriveCall)}
        every = called.union(*(_reached(derives[one], derives) for one in called))
        return any(derives[one].recursive for one in every)

    def _computed(self, term: core.Term, env: Env[V]) -> V:
        return self.term(term, env)

    def condition(self, term: core.Term | None, env: Env[V]) -> V:
        """A term as a condition (`none` counts as false); no term is true."""
        return self.true if term is None else self._truth(self.value(term, env))

    def _truth(self, value: V) -> V:
        return self.algebra.lift("truth", truth, value)

    # ---- leaves and choices -----------------------------------------------------------------

    def constant(self, term: core.Constant, env: Env[V]) -> V:
        return self.algebra.const(term.value)

    def object_name(self, term: core.ObjectName, env: Env[V]) -> V:
        return self.algebra.const(self.facts.instance.numbers[term.name])

    def param_value(self, term: core.ParamValue, env: Env[V]) -> V:
        return self.algebra.const(self.facts.instance.params[term.name])

    def variable(self, term: core.Variable, env: Env[V]) -> V:
        return env.look(term.name)

    def actor(self, term: core.Actor, env: Env[V]) -> V:
        return self.algebra.const(self.facts.instance.me if env.actor is None else env.actor)

    def choice(self, term: core.Choice, env: Env[V]) -> V:
        return self.algebra.choose(
            self.condition(term.condition, env),
            lambda: self.value(term.then, env),
            lambda: self.value(term.otherwise, env),
        )

    def type_test(self, term: core.TypeTest, env: Env[V]) -> V:
        return self.is_type(self.value(term.term, env), term.term.type, term.of)

    def text(self, term: core.Text, env: Env[V]) -> V:
        words = [part.text for part in term.template.parts if isinstance(part, core.Words)]
        if len(words) < len(term.template.parts):
            reason = "a text made of values is not one of finitely many"
            return self.algebra.refuse(Refused("text with `{…}`", term.span, reason))
        return self.algebra.const("".join(words))

    def members(self, term: core.Members, env: Env[V]) -> V:
        reason = "a collection has no value of its own"
        return self.algebra.refuse(Refused("collection", term.span, reason))

    # ---- operators and built-in functions ---------------------------------------------------

    def call(self, term: core.Call, env: Env[V]) -> V:
        match term.op:
            case "and":
                return self._all(term.args, env)
            case "or":
                return self._any(term.args, env)
            case "not":
                return self.algebra.negate(self.condition(term.args[0], env))
            case "in":
                item, collection = term.args
                return self.collections.member(self.value(item, env), collection, env)
            case "mod" if (ring := self._ring(term, env)) is not None:
                return ring
            case "==" | "<" | "<=" as op if (clock := self._clocked(op, term, env)) is not None:
                return clock
            case "score":
                return self._score(term, env)
            case _:
                return self._called(term, [self.value(arg, env) for arg in term.args])

    def _all(self, terms: tuple[core.Term, ...], env: Env[V]) -> V:
        result = self.true
        for term in terms:
            result = self.algebra.both(result, partial(self.condition, term, env))
        return result

    def _any(self, terms: tuple[core.Term, ...], env: Env[V]) -> V:
        result = self.false
        for term in terms:
            result = self.algebra.either(result, partial(self.condition, term, env))
        return result

    def _called(self, term: core.Call, values: list[V]) -> V:
        """An operation on values."""
        algebra, op = self.algebra, term.op
        match op:
            case "==" | "<" | "<=":
                return algebra.lift(("compare", op), compare(op), *values)
            case "+" | "-" | "*" | "/" | "div" | "mod":
                return algebra.lift(("arithmetic", op), arithmetic(op), *values)
            case "neg":
                zero = algebra.const(0)
                return algebra.lift(("arithmetic", "-"), arithmetic("-"), zero, *values)
            case "scale":
                return algebra.lift(("arithmetic", "*"), arithmetic("*"), *values)
            case "real":
                decimals = decimals_of(term.args[0].type)
                return algebra.lift(("real", decimals), to_real(decimals), *values)
            case "amount":  # the body that takes it asks that it is not negative
                return values[0]
            case "busy":
                return self._busy(values[0], term.detail)
            case "did":
                return self._did(term, values)
            case _:
                return self._numeric(term, values)

    def _numeric(self, term: core.Call, values: list[V]) -> V:
        kinds = tuple(arg.type for arg in term.args)
        ladder = kinds[0] if term.op in ("next", "prev") else None
        enums = self.facts.program.enums
        rungs = len(enums[ladder.name].members) if isinstance(ladder, m.EnumType) else 0
        function = builtin(term.op, kinds, rungs)
        if function is not None:
            digits = decimals_of(kinds[0]) if kinds else 0
            return self.algebra.lift((term.op, digits, rungs), function, *values)
        reason = "a search state leaves it out"
        if term.op == "tick":
            reason = (
                "it counts without end; finite are `tick() mod n` and comparisons, with constants"
            )
        return self.algebra.refuse(Refused(f"`{term.op}()`", term.span, reason))

    def _ring(self, term: core.Call, env: Env[V]) -> V | None:
        """``(tick() + c) mod n`` for constants, a ring that every tick turns; else ``None``."""
        offset, algebra = _tick_offset(term.args[0]), self.algebra
        if offset is None:
            return None
        modulus = algebra.possible(self.value(term.args[1], env), lambda: None) or ()
        if len(modulus) != 1 or not isinstance(modulus[0], int) or modulus[0] < 1:
            return None
        turn, shift = algebra.slot((RING, (modulus[0],)), False), algebra.const(offset)
        moved = algebra.lift(("arithmetic", "+"), arithmetic("+"), turn, shift)
        size = algebra.const(modulus[0])
        return algebra.lift(("arithmetic", "mod"), arithmetic("mod"), moved, size)

    def _clocked(self, op: Literal["==", "<", "<="], term: core.Call, env: Env[V]) -> V | None:
        """``tick() + c`` compared with a constant, by a clock that stops after it; else ``None``.

        For ticks above the constant the result is the same.
        """
        offsets = [_tick_offset(one) for one in term.args]
        if offsets.count(None) != 1:
            return None
        place, algebra = int(offsets[0] is None), self.algebra
        other = algebra.possible(self.value(term.args[1 - place], env), lambda: None) or ()
        offset = offsets[place] or 0
        if len(other) != 1 or isinstance(other[0], bool) or not isinstance(other[0], (int, float)):
            return None
        last = max(floor(other[0]) - offset + 1, 0)
        if last > _LATEST:
            reason = f"a clock of more than {_LATEST:,} ticks is too large"
            return algebra.refuse(Refused("`tick()`", term.span, reason))
        clock = algebra.slot((CLOCK, (last,)), False)
        moved = algebra.lift(("arithmetic", "+"), arithmetic("+"), clock, algebra.const(offset))
        sides = [algebra.const(other[0]), algebra.const(other[0])]
        sides[place] = moved
        return algebra.lift(("compare", op), compare(op), *sides)

    def _score(self, term: core.Call, env: Env[V]) -> V:
        """The world's own expression and the awards that were given, all of them whole numbers."""
        world, algebra = self.facts.rules.worlds[self.facts.instance.world.name], self.algebra
        own = () if world.score is None else (world.score,)
        for one in (*own, *(award.amount for award in world.awards)):
            if not isinstance(one.type, m.NumberType) or one.type.decimals:
                reason = "it is not always a whole number"
                return algebra.refuse(Refused("`score`", term.span, reason))
        for award in world.awards:
            if award.footprint.was or award.footprint.asks - {"tick", "id"}:
                reason = "whether it is given depends on more than the state at the end of a tick"
                return algebra.refuse(Refused("`award`", award.span, reason))

        def counted(value: Value) -> Value:
            return 0 if value is None else value

        def amount(one: core.Term) -> V:
            return algebra.lift("score", counted, self.value(one, env))

        total = amount(world.score) if world.score is not None else algebra.const(0)
        for number, award in enumerate(world.awards):
            given = algebra.slot((AWARD, (number,)), False)
            more = algebra.choose(given, partial(amount, award.amount), partial(algebra.const, 0))
            total = algebra.lift(("arithmetic", "+"), arithmetic("+"), total, more)
        return total

    def _acting(self, actor: V) -> V:
        """Return the condition that an object acts; if several take turns, that it may be any."""
        if len(actors := self.facts.instance.actors) > 1:
            return self.algebra.lift("actor", lambda one: one in actors, actor)
        me = self.algebra.const(self.facts.instance.me)
        return self.algebra.lift(("compare", "=="), compare("=="), actor, me)

    def _busy(self, actor: V, action: str) -> V:
        stages = self.facts.stages_of(action)

        def runs(stage: Value) -> bool:
            return stage in stages if action else stage is not None

        running = self.algebra.lift(("busy", action), runs, self.algebra.slot((LONG, ()), False))
        return self.algebra.both(self._acting(actor), lambda: running)

    def _did(self, term: core.Call, args: list[V]) -> V:
        values = [(arg, one.type) for arg, one in zip(args[1:], term.args[1:], strict=True)]

        def done() -> V:
            return self.each(
                values, lambda found: self.algebra.slot((DID, (term.detail, *found)), False)
            )

        return self.algebra.both(self._acting(args[0]), done)

    # ---- reads and derives ------------------------------------------------------------------

    def universe(self, value_type: m.ValueType) -> Universe:
        """All values of a type and `none`."""

        def values() -> tuple[Raw, ...] | None:
            found = self.facts.domain(value_type)
            return found if found is None or None in found else (*found, None)

        return values

    def read(self, term: core.Read, env: Env[V]) -> V:
        was = env.was or term.was
        return self.each(self._args(term, env), lambda args: self.stored(term.fluent, args, was))

    def derive_call(self, term: core.DeriveCall, env: Env[V]) -> V:
        was, actor = env.was or term.was, env.actor
        args = self._args(term, env)
        return self.each(args, lambda args: self.derived(term.derive, args, was, actor))

    def _args(self, term: core.Read | core.DeriveCall, env: Env[V]) -> list[tuple[V, m.ValueType]]:
        return [(self.value(arg, env), arg.type) for arg in term.args]

    def each(
        self, values: list[tuple[V, m.ValueType]], function: Callable[[tuple[Raw, ...]], V]
    ) -> V:
        """``function`` of every combination of the values, put together again."""
        known = [one for value, _ in values for one in self.algebra.single(value)]
        if len(known) == len(values):
            return function(tuple(known))

        def step(position: int, args: tuple[Raw, ...]) -> V:
            if position == len(values):
                return function(args)
            value, kind = values[position]
            universe = self.universe(kind)
            return self.algebra.bind(value, universe, lambda arg: step(position + 1, (*args, arg)))

        return step(0, ())

    def alive(self, number: int, was: bool = False) -> V:
        """Return the condition that an object exists."""
        return self.true if self._lasting else self.algebra.slot((ALIVE, (number,)), was)

    def stored(self, fluent_id: str, args: tuple[Raw, ...], was: bool) -> V:
        """The value of a stored fluent for constant arguments."""
        fluent = self.facts.program.fluents[fluent_id]
        if not self.facts.has_slot(fluent, args):
            return self.algebra.const(self.facts.missing(fluent, args))
        if fluent.fluent_kind == "table":
            return self._row(fluent, args)
        slot = self.facts.slot(fluent, args)
        value = self.algebra.slot(slot, was)
        if self._lasting:
            return value
        gone = self.algebra.const(self.facts.missing(fluent, args))
        for number in self.facts.objects_in(slot):
            value = self._while(self.alive(number, was), value, gone)
        return value

    def _while(self, exists: V, value: V, gone: V) -> V:
        return self.algebra.choose(exists, lambda: value, lambda: gone)

    def _row(self, fluent: m.Fluent, args: tuple[Raw, ...]) -> V:
        table, instance = self._rows.get(fluent.id), self.facts.instance
        known = (instance.numbers, instance.params)
        if table is None:
            table = self._rows[fluent.id] = {
                tuple(constant(key, *known) for key in row.keys): self.algebra.const(
                    constant(row.value, *known)
                )
                for row in fluent.rows
            }
        if args in table:
            return table[args]
        if fluent.default is not None:
            return self.algebra.const(constant(fluent.default, *known))
        return self.false if isinstance(fluent.type, m.BoolType) else self.none

    def derived(self, name: str, args: tuple[Raw, ...], was: bool, actor: Raw = None) -> V:
        """A derive for constant arguments."""
        derive = self.facts.rules.derives[name]
        if None in args:
            return self.false if isinstance(derive.type, m.BoolType) else self.none
        if derive.recursive:
            return self.fixpoints.value(derive, args, was, actor)
        return self.body(derive, args, was, actor)

    def body(self, derive: Derive, args: tuple[Raw, ...], was: bool, actor: Raw = None) -> V:
        """The value of a derive's expression with its parameters bound."""
        names = {
            param.name: self.algebra.const(arg)
            for param, arg in zip(derive.params, args, strict=True)
        }
        value = self.value(derive.value, Env(names, was, actor))
        return self._truth(value) if isinstance(derive.type, m.BoolType) else value

    # ---- bindings ---------------------------------------------------------------------------

    def bindings(
        self, binders: tuple[core.Binder, ...], where: core.Term | None, env: Env[V]
    ) -> Iterator[tuple[Env[V], V]]:
        """The bindings of loop variables, each with the condition under which it is one."""
        yield from self._bindings(binders, where, env, self.true)

    def _bindings(
        self, binders: tuple[core.Binder, ...], where: core.Term | None, env: Env[V], so_far: V
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

    def in_settled_order(self, binders: tuple[core.Binder, ...]) -> bool:
        """Return whether bindings come in an order that the state does not change."""
        return all(self.collections.settled(one) for one in binder_terms(binders))

    def is_type(self, value: V, kind: m.ValueType, of: str) -> V:
        """Return the condition that a value is a living object of a type."""

        def belongs(one: Raw) -> V:
            if not isinstance(one, int) or not self.facts.is_a(one, of):
                return self.false
            return self.alive(one)

        return self.algebra.bind(value, self.universe(kind), belongs)

    def exist(self, params: tuple[core.Binder, ...], args: tuple[Raw, ...]) -> V:
        """Return the condition that every object among the arguments of a rule exists."""
        result = self.true
        if self._lasting:
            return result
        for param, arg in zip(params, args, strict=True):
            if isinstance(param.type, m.ObjectType) and isinstance(arg, int):
                result = conj(self.algebra, result, self.alive(arg))
        return result

    def equals(self, left: V, right: V) -> V:
        """``==`` with `none` as an ordinary value."""
        return self.algebra.lift("equal", equal, left, right)

    # ---- folds ------------------------------------------------------------------------------

    def fold(self, term: core.Fold, env: Env[V]) -> V:
        match term.fold:
            case "any":
                return self._some(term, env)
            case "all":
                return self._every(term, env)
            case "count":
                return self._count(term, env)
            case "sum":
                return self._sum(term, env)
            case "min" | "max" | "first" | "last":
                return self._picked(term, env)

    def _some(self, term: core.Fold, env: Env[V]) -> V:
        result = self.false
        for inner, member in self.bindings(term.binders, term.where, env):
            result = self.algebra.either(result, partial(self._held, term, inner, member))
        return result

    def _held(self, term: core.Fold, env: Env[V], member: V) -> V:
        """Return the condition that this is a binding for which the folded condition holds."""
        return self.algebra.both(member, lambda: self.condition(term.value, env))

    def _every(self, term: core.Fold, env: Env[V]) -> V:
        result = self.true
        for inner, member in self.bindings(term.binders, term.where, env):
            result = self.algebra.both(result, partial(self._met, term, inner, member))
        return result

    def _met(self, term: core.Fold, env: Env[V], member: V) -> V:
        """Return the condition that the folded condition holds, if this is a binding."""
        outside = self.algebra.negate(member)
        return self.algebra.either(outside, lambda: self.condition(term.value, env))

    def _count(self, term: core.Fold, env: Env[V]) -> V:
        held = (
            self._held(term, inner, member)
            for inner, member in self.bindings(term.binders, term.where, env)
        )
        return self.counted(held)

    def counted(self, conditions: Iterator[V] | list[V]) -> V:
        """The number of the conditions that hold."""
        algebra = self.algebra
        total, one, nothing = algebra.const(0), algebra.const(1), algebra.const(0)
        for condition in conditions:
            step = algebra.choose(condition, lambda: one, lambda: nothing)
            total = algebra.lift(("arithmetic", "+"), arithmetic("+"), total, step)
        return total

    def _sum(self, term: core.Fold, env: Env[V]) -> V:
        algebra = self.algebra
        nothing = algebra.const(0.0 if isinstance(term.type, m.RealType) else 0)
        result = nothing
        for inner, member in self.bindings(term.binders, term.where, env):
            step = algebra.choose(member, partial(self._element, term, inner), lambda: nothing)
            result = algebra.lift(("arithmetic", "+"), arithmetic("+"), result, step)
        return result

    def _element(self, term: core.Fold, env: Env[V]) -> V:
        return self.true if term.value is None else self.value(term.value, env)

    def _picked(self, term: core.Fold, env: Env[V]) -> V:
        """The extreme, first or last element; `none` if there is none."""
        if term.fold in ("first", "last") and not self.in_settled_order(term.binders):
            reason = "it depends on an order that changes"
            refused = Refused(f"`{term.fold}` of a collection", term.span, reason)
            return self.algebra.refuse(refused)
        result = self.algebra.const(Mark.UNSET)
        for inner, member in self.bindings(term.binders, term.where, env):
            result = self._preferred(term, result, member, inner)
        return self.algebra.lift("met", _met_or_none, result)

    def _preferred(self, term: core.Fold, best: V, member: V, env: Env[V]) -> V:
        algebra, better = self.algebra, _BETTER[term.fold]

        def taken() -> V:
            return algebra.lift(("pick", term.fold), better, best, self._element(term, env))

        return algebra.choose(member, taken, lambda: best)


def decimals_of(value_type: m.ValueType) -> int:
    """The decimals by which values of a type are scaled."""
    return value_type.decimals if isinstance(value_type, m.NumberType) else 0


def _tick_offset(term: core.Term) -> int | None:
    """``c`` where the term is ``tick() + c``; ``None`` where it is something else."""
    if not isinstance(term, core.Call):
        return None
    if term.op == "tick":
        return 0
    if term.op not in ("+", "-") or not isinstance(term.args[1], core.Constant):
        return None
    inner, shift = _tick_offset(term.args[0]), term.args[1].value
    if inner is None or shift is None:
        return None
    return inner + shift if term.op == "+" else inner - shift


def _free_names(term: core.Term) -> tuple[str, ...]:
    """The names that the value of a term depends on."""
    if isinstance(term, core.Variable):
        return (term.name,)
    if not isinstance(term, core.Fold):
        return tuple(dict.fromkeys(name for part in parts(term) for name in _free_names(part)))
    free: dict[str, None] = {}
    bound: set[str] = set()
    for binder in term.binders:
        for collection in binder_terms((binder,)):
            names = _free_names(collection)
            free.update(dict.fromkeys(name for name in names if name not in bound))
        bound.add(binder.name)
    for part in (term.where, term.value):
        names = () if part is None else _free_names(part)
        free.update(dict.fromkeys(name for name in names if name not in bound))
    return tuple(free)


# ---- folding raw values -----------------------------------------------------------------------


def _met_or_none(value: Value) -> Value:
    return None if value is Mark.UNSET else value


def _extreme(smaller: bool) -> Callable[[Value, Value], Value]:
    def better(best: Value, value: Value) -> Value:
        if best is Mark.UNSET or best is Mark.BROKEN:
            return value if best is Mark.UNSET else best
        if not isinstance(best, (int, float)):
            return value if value is Mark.BROKEN else best  # over `none` it is `none`
        if not isinstance(value, (int, float)):
            return value
        return min(best, value) if smaller else max(best, value)

    return better


def _first(best: Value, value: Value) -> Value:
    return value if best is Mark.UNSET else best


def _last(best: Value, value: Value) -> Value:
    return best if best is Mark.BROKEN else value


_BETTER: dict[m.FoldKind, Callable[[Value, Value], Value]] = {
    "min": _extreme(True),
    "max": _extreme(False),
    "first": _first,
    "last": _last,
}
