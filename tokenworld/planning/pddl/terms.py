"""Terms of core in PDDL: conditions, values by cases, collections and counting.

Every condition is closed (its own variables are quantified) and exact: `none` counts as false
(language.md §4). What has no lifted form raises `LiftingError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import assert_never

from tokenworld import model as m
from tokenworld.core import nodes as core
from tokenworld.core.walk import parts
from tokenworld.diagnostics import Span
from tokenworld.planning.pddl import tree
from tokenworld.planning.pddl.values import (
    FLIPPED,
    Bound,
    Case,
    Env,
    Lazy,
    Num,
    Scope,
    Sym,
    Truth,
    Value,
    arithmetic,
    as_number,
    as_symbol,
    as_truth,
    choose_number,
    close,
    comparison,
    crossed,
    implication,
    is_none,
    negate,
    number,
    ordered,
    same_number,
    sure,
)
from tokenworld.planning.pddl.words import (
    Ladder,
    LiftingError,
    Vocabulary,
    sort_of,
    symbol_type,
)

Atom = tuple[tree.Expr, ...]

_MOST_COPIES = 4
"""Counting to n is written with n variables; beyond this the text would be unreadable."""


def _is_count(term: core.Term) -> bool:
    return isinstance(term, core.Fold) and term.fold == "count"


def _is_name(term: core.Term) -> bool:
    named = (core.Actor, core.ObjectName, core.Constant, core.Variable, core.ParamValue)
    return isinstance(term, named)


def _word(term: core.Term) -> str:
    """The word for a term without a lifted form."""
    if isinstance(term, core.Call):
        return f"`{term.op}()`" if term.op.isidentifier() else f"`{term.op}`"
    if isinstance(term, core.Fold):
        return f"`{term.fold}`"
    return {core.Members: "collection", core.Text: "text"}.get(type(term), "this term")


class Terms:
    """Lifts the terms of one rule; its `Scope` gives variables different names. ``held`` are the
    slots whose values the precondition fixes."""

    def __init__(self, words: Vocabulary) -> None:
        self.words = words
        self.scope = Scope()
        self.held: Mapping[Atom, Sym] = {}

    # ---- conditions -------------------------------------------------------------------------

    def condition(self, term: core.Term, env: Env) -> tree.Expr:
        """The condition that a truth-valued term is true."""
        with self.scope.block():
            return close(self.cases(term, env), as_truth)

    def _called(self, term: core.Call, env: Env) -> tree.Expr:
        match term.op:
            case "not":
                return tree.neg(self.condition(term.args[0], env))
            case "and":
                return tree.conj(self.condition(part, env) for part in term.args)
            case "or":
                implied = implication(term)
                if implied is not None:
                    left, right = implied
                    return tree.imply(self.condition(left, env), self.condition(right, env))
                return tree.disj(self.condition(part, env) for part in term.args)
            case "==":
                return self._equal(term.args[0], term.args[1], env)
            case "<" | "<=":
                return self._ordered(term, env)
            case "in":
                return self._is_in(term.args[0], term.args[1], env)
            case _:
                raise LiftingError(f"{_word(term)} as a condition", term.span)

    def _is_a(self, value: Value, of: str) -> tree.Expr:
        symbol = as_symbol(value)
        assert isinstance(symbol.type, m.ObjectType)
        if self.words.instance.program.is_subtype(symbol.type.name, of):
            return tree.TRUE
        if symbol.is_constant or self.words.types.disjoint(symbol.type, m.ObjectType(of)):
            return tree.FALSE
        return self.words.types.is_a(symbol.text, of)

    # ---- equality and order -----------------------------------------------------------------

    def _equal(self, left: core.Term, right: core.Term, env: Env) -> tree.Expr:
        if _is_count(left) or _is_count(right):
            return self._counted("==", left, right, env)
        if is_none(left) or is_none(right):
            return tree.neg(self.present(right if is_none(left) else left, env))
        if sort_of(left.type) == "truth":
            one, other = self.condition(left, env), self.condition(right, env)
            if tree.TRUE in (one, other) or tree.FALSE in (one, other):
                plain, given = (one, other) if other in (tree.TRUE, tree.FALSE) else (other, one)
                return plain if given == tree.TRUE else tree.neg(plain)
            return tree.disj((tree.conj((one, other)), tree.conj((tree.neg(one), tree.neg(other)))))
        same = self._same(left, right, env)
        if self._may_be_none(left, env) and self._may_be_none(right, env):
            absent = (tree.neg(self.present(left, env)), tree.neg(self.present(right, env)))
            return tree.disj((same, tree.conj(absent)))
        return same

    def _same(self, left: core.Term, right: core.Term, env: Env) -> tree.Expr:
        """The two terms have one value, not `none`."""
        with self.scope.block():
            match sort_of(left.type), sort_of(right.type):
                case "symbol", "symbol":
                    named, other = (right, left) if _is_name(right) else (left, right)
                    return close(
                        self.cases(named, env),
                        lambda value: self.equals(other, as_symbol(value), env),
                    )
                case "number", "number":
                    return self._numbers(left, right, env, same_number)
                case _:
                    raise LiftingError("equality of texts", left.span)

    def _numbers(
        self, left: core.Term, right: core.Term, env: Env, test: Callable[[Num, Num], tree.Expr]
    ) -> tree.Expr:
        return close(
            self.cases(left, env),
            lambda a: close(self.cases(right, env), lambda b: test(as_number(a), as_number(b))),
        )

    def equals(self, term: core.Term, symbol: Sym, env: Env) -> tree.Expr:
        """The condition that a term has the value of ``symbol``; a stored one is asked directly."""
        cases = self.cases(term, env, symbol)
        return close(cases, lambda value: self._identical(as_symbol(value), symbol))

    def _identical(self, one: Sym, other: Sym) -> tree.Expr:
        if one.text == other.text:
            return tree.TRUE
        constants = one.is_constant and other.is_constant
        if constants or self.words.types.disjoint(one.type, other.type):
            return tree.FALSE
        return ("=", other.text, one.text) if one.is_constant else ("=", one.text, other.text)

    def _may_be_none(self, term: core.Term, env: Env) -> bool:
        if isinstance(term, core.Variable):
            bound = env[term.name]
            return isinstance(bound, Lazy) and self._may_be_none(bound.term, bound.env)
        if m.is_optional(term.type) or isinstance(term, core.Fold):
            return m.is_optional(term.type)
        if isinstance(term, core.Read) and self._narrows(term):
            return True
        sides = parts(term)[1:] if isinstance(term, core.Choice) else parts(term)
        return is_none(term) or any(self._may_be_none(one, env) for one in sides)

    def _narrows(self, term: core.Read) -> bool:
        """Return whether an argument may be an object that the fluent is not about."""
        params = self.words.instance.program.fluents[term.fluent].params
        return any(
            isinstance(param.type, m.ObjectType) and not self._surely(arg, param.type.name)
            for param, arg in zip(params, term.args, strict=True)
        )

    def _surely(self, arg: core.Term, name: str) -> bool:
        of = arg.type
        return isinstance(of, m.ObjectType) and self.words.instance.program.is_subtype(
            of.name, name
        )

    def _ordered(self, term: core.Call, env: Env) -> tree.Expr:
        op, left, right = comparison(term)
        if _is_count(left) or _is_count(right):
            return self._counted(op, left, right, env)
        if sort_of(left.type) == "symbol":
            of = symbol_type(left.type)
            assert isinstance(of, m.EnumType)
            return self._ladder(term, of, env)
        exact = all(isinstance(side.type, m.NumberType) for side in (left, right))
        return self._numbers(left, right, env, lambda a, b: ordered(op, a, b, exact))

    def _ladder(self, term: core.Call, of: m.EnumType, env: Env) -> tree.Expr:
        """Order on a ladder: members are listed, two unknowns ask a static fact."""
        left, right = term.args
        for op, one, limit in ((FLIPPED[term.op], right, left), (term.op, left, right)):
            if isinstance(limit, core.Constant) and limit.value is not None:
                at, size = limit.value, len(self.words.members[of.name])
                chosen = {"<": range(at), "<=": range(at + 1),
                          ">": range(at + 1, size), ">=": range(at, size)}[op]  # fmt: skip
                return self._among(one, of, chosen, env)
        first, second = (right, left) if term.op == "<" else (left, right)
        head = self.words.ladder(of.name, "at-most")
        fact = close(
            self.cases(first, env),
            lambda a: close(
                self.cases(second, env), lambda b: (head, as_symbol(a).text, as_symbol(b).text)
            ),
        )
        if term.op == "<=":
            return fact
        return tree.conj((self.present(left, env), self.present(right, env), tree.neg(fact)))

    def _among(self, term: core.Term, of: m.EnumType, chosen: Sequence[int], env: Env) -> tree.Expr:
        members = self.words.members[of.name]
        rest = [index for index in range(len(members)) if index not in chosen]

        def one(index: int) -> tree.Expr:
            return self.equals(term, Sym(members[index], m.EnumType(of.name)), env)

        if len(chosen) <= len(rest):
            return tree.disj(one(index) for index in chosen)
        some = self.present(term, env) if self._may_be_none(term, env) else tree.TRUE
        return tree.conj((some, *(tree.neg(one(index)) for index in rest)))

    def present(self, term: core.Term, env: Env) -> tree.Expr:
        """The condition that a term is not `none`."""
        if sort_of(term.type) == "number" and not self._may_be_none(term, env):
            return tree.TRUE
        with self.scope.block():
            return close(self.cases(term, env), lambda _: tree.TRUE)

    # ---- values -----------------------------------------------------------------------------

    def cases(self, term: core.Term, env: Env, wanted: Sym | None = None) -> list[Case[Value]]:
        """The cases of a term; of a symbol only those that may be ``wanted``, if it is given."""
        match term:
            case core.Variable(name=name):
                bound = env[name]
                if isinstance(bound, Lazy):
                    return self.cases(bound.term, bound.env, wanted)
                return [sure(bound)]
            case core.Constant(value=raw):
                return self.constant(raw, term.type, term.span)
            case core.ParamValue(name=name):
                return self.constant(self.words.instance.params[name], term.type, term.span)
            case core.ObjectName(name=name):
                instance = self.words.instance
                found = instance.numbers.get(name)
                if found not in instance.members[m.ROOT]:
                    raise LiftingError(f"`{name}`, which does not exist here", term.span)
                return self._object(found)
            case core.Actor():
                me = self.words.instance.me
                if me is None:
                    raise LiftingError("`me` where nobody acts", term.span)
                return self._object(me)
            case core.Read():
                return list(self._read(term, env, wanted))
            case core.Choice(condition=condition, then=then, otherwise=otherwise):
                test = self.condition(condition, env)
                first = [case.under(test) for case in self._part(then, env, wanted)]
                rest = [case.under(tree.neg(test)) for case in self._part(otherwise, env, wanted)]
                return first + rest
            case core.DeriveCall():
                return list(self._derived(term, env, wanted))
            case core.Call() if sort_of(term.type) == "truth":
                return [sure(Truth(self._called(term, env)))]
            case core.Call():
                return self._computed(term, env)
            case core.Fold(fold="any" | "all"):
                return [sure(Truth(self._quantified(term, env)))]
            case core.TypeTest(term=inner, of=of):
                test = close(self.cases(inner, env), lambda value: self._is_a(value, of))
                return [sure(Truth(test))]
            case core.Fold() | core.Members() | core.Text():
                raise LiftingError(f"{_word(term)} as a value", term.span)
            case _:
                assert_never(term)

    def _part(self, term: core.Term, env: Env, wanted: Sym | None = None) -> list[Case[Value]]:
        """The cases of a part of a term; a truth is one condition, and so is a wanted value."""
        if sort_of(term.type) == "truth":
            return [sure(Truth(self.condition(term, env)))]
        if wanted is not None:
            return [sure(wanted).under(self.equals(term, wanted, env))]
        return self.cases(term, env)

    def _derived(
        self, term: core.DeriveCall, env: Env, wanted: Sym | None
    ) -> Iterator[Case[Value]]:
        derive = self.words.rules.derives[term.derive]
        if not derive.recursive:
            for call in self._calls(term, env):
                yield from (call.then(one) for one in self._part(derive.value, call.value, wanted))
            return
        head = self.words.derives[derive.name]
        formals = [param.type for param in derive.params]
        for case in self.arguments(formals, term.args, env):
            yield case.gives(Truth((head, *(one.text for one in case.value))))

    def constant(self, raw: object, of: m.ValueType, span: Span) -> list[Case[Value]]:
        """The case of a value that is known; none of `none`."""
        if raw is None:
            return []
        kind = m.without_none(of)
        match kind:
            case m.EnumType(name=enum) if isinstance(raw, int):
                return [sure(Sym(self.words.members[enum][raw], m.EnumType(enum)))]
            case m.ObjectType() if isinstance(raw, int):
                return self._object(raw)
            case m.BoolType():
                return [sure(Truth(tree.TRUE if raw else tree.FALSE))]
            case m.NumberType() | m.RealType() if isinstance(raw, (int, float)):
                return [sure(number(raw))]
            case (
                m.EnumType() | m.ObjectType() | m.NumberType() | m.RealType() | m.TextType()
                | m.NoneType() | m.CollectionType()
            ):  # fmt: skip
                raise LiftingError("this value", span)
            case _:
                assert_never(kind)

    def _object(self, found: int) -> list[Case[Value]]:
        of = m.ObjectType(self.words.instance.objects[found].of)
        return [sure(Sym(self.words.constant(found), of))]

    def _computed(self, term: core.Call, env: Env) -> list[Case[Value]]:
        match term.op:
            case "neg":
                return [one.gives(negate(one.value)) for one in self.cases(term.args[0], env)]
            case "amount":
                return self.cases(term.args[0], env)
            case "real":
                of = term.args[0].type
                scale = number(10**of.decimals if isinstance(of, m.NumberType) else 1)
                return [one.gives(arithmetic("/", one.value, scale, term.span))
                        for one in self.cases(term.args[0], env)]  # fmt: skip
            case "scale" | "+" | "-" | "*" | "/" | "div" | "mod":
                op = "*" if term.op == "scale" else term.op
                sides = crossed(self.cases(one, env) for one in term.args)
                return [
                    one.gives(arithmetic(op, one.value[0], one.value[1], term.span))
                    for one in sides
                ]
            case "next" | "prev":
                return self._neighbour(term.op, term.args[0], env)
            case _:
                return self._chosen(term, env)

    def _chosen(self, term: core.Call, env: Env) -> list[Case[Value]]:
        """`min`, `max` and similar functions of numbers."""
        found: list[Case[Value]] = []
        for one in crossed(self.cases(arg, env) for arg in term.args):
            values = [value for value in one.value if isinstance(value, Num)]
            chosen = choose_number(term.op, values, term.span)
            found += [one.then(Case((), tests, value)) for tests, value in chosen]
        return found

    def _neighbour(self, kind: Ladder, arg: core.Term, env: Env) -> list[Case[Value]]:
        found: list[Case[Value]] = []
        of = symbol_type(arg.type)
        for case in self.cases(arg, env):
            assert isinstance(of, m.EnumType)
            new = self._variable(self.words.types.enums[of.name], of)
            step: tree.Expr = (self.words.ladder(of.name, kind), as_symbol(case.value).text,
                          new.value.text)  # fmt: skip
            found.append(case.then(Case(new.vars, (step,), new.value)))
        return found

    # ---- fluents ----------------------------------------------------------------------------

    def fluent(self, fluent_id: str, span: Span) -> m.Fluent:
        """Return the fluent, if a lifted rule can use it."""
        found = self.words.instance.program.fluents[fluent_id]
        if why := self.words.lacks(found):
            raise LiftingError(why, span)
        return found

    def _asked(self, fluent: m.Fluent, position: int, symbol: Sym) -> list[Case[Sym]]:
        """The symbol as an argument or value of a fact in a condition.

        No fact is about an object outside the fluent's domain, so the predicate may be declared for
        a type as wide as its uses. A number has to be read if there is one.
        """
        of = [*(param.type for param in fluent.params), fluent.type][position]
        formal = symbol_type(of)
        if sort_of(fluent.type) == "number" or self.words.types.disjoint(symbol.type, formal):
            return self.fit(symbol, formal)
        if not self.words.types.fits(symbol.type, formal):
            self.words.widen(fluent, position, symbol.type)
        return [sure(symbol)]

    def fit(self, symbol: Sym, formal: m.EnumType | m.ObjectType) -> list[Case[Sym]]:
        """The symbol where ``formal`` is declared: itself, a narrower variable, or nothing."""
        if self.words.types.disjoint(symbol.type, formal):
            return []
        if self.words.types.fits(symbol.type, formal):
            return [sure(symbol)]
        base = self.words.types.spelled.get(formal.name, "object")
        narrow = self._variable(base, formal)
        return [narrow.under(("=", narrow.value.text, symbol.text))]

    def arguments(
        self,
        formals: Sequence[m.ValueType],
        args: Sequence[core.Term],
        env: Env,
        asked: m.Fluent | None = None,
    ) -> Iterator[Case[tuple[Sym, ...]]]:
        """All combinations of cases of some arguments, each made to fit its formal.

        ``asked`` is a fluent whose arguments are only read.
        """
        return crossed(
            self._argument(of, arg, env, None if asked is None else (asked, position))
            for position, (of, arg) in enumerate(zip(formals, args, strict=True))
        )

    def _argument(
        self, of: m.ValueType, arg: core.Term, env: Env, asked: tuple[m.Fluent, int] | None
    ) -> list[Case[Sym]]:
        if sort_of(of) != "symbol":
            raise LiftingError("number or truth value as an argument of a fluent", arg.span)
        found: list[Case[Sym]] = []
        for case in self.cases(arg, env):
            if isinstance(case.value, Sym):
                formal = symbol_type(of)
                fits = self._asked(*asked, case.value) if asked else self.fit(case.value, formal)
                found += [case.then(one) for one in fits]
        return found

    def reads(self, term: core.Read, env: Env) -> Iterator[Case[Atom]]:
        """The atom without a value, per combination of arguments."""
        if term.was:
            raise LiftingError("`was`", term.span)
        fluent = self.fluent(term.fluent, term.span)
        formals = [param.type for param in fluent.params]
        for case in self.arguments(formals, term.args, env, fluent):
            asked: tuple[tree.Expr, ...] = ()
            if sort_of(fluent.type) == "number":
                asked = tuple(self._members(case.value, formals))
            atom = (self.words.fluents[fluent.id], *(symbol.text for symbol in case.value))
            yield case.then(Case((), asked, atom))

    def _members(
        self, symbols: Sequence[Sym], formals: Sequence[m.ValueType]
    ) -> Iterator[tree.Expr]:
        """The type tests under which a numeric fluent is read only where it is defined."""
        for symbol, of in zip(symbols, formals, strict=True):
            if isinstance(of, m.ObjectType) and isinstance(symbol.type, m.ObjectType):
                program = self.words.instance.program
                if not program.is_subtype(symbol.type.name, of.name):
                    yield self.words.types.is_a(symbol.text, of.name)

    def _read(self, term: core.Read, env: Env, wanted: Sym | None) -> Iterator[Case[Value]]:
        fluent = self.fluent(term.fluent, term.span)
        for case in self.reads(term, env):
            match sort_of(fluent.type):
                case "number":
                    yield case.gives(Num(case.value))
                case "symbol" if wanted is None and case.value in self.held:
                    yield case.gives(self.held[case.value])
                case "symbol" if wanted is not None:
                    for fit in self._asked(fluent, len(fluent.params), wanted):
                        held = (*case.value, fit.value.text)
                        yield case.then(fit).then(Case((), (held,), wanted))
                case "symbol":
                    var, symbol = self.value_variable(fluent)
                    yield case.then(Case((var,), ((*case.value, var.name),), symbol))
                case _:
                    yield case.gives(Truth(case.value))

    def value_variable(self, fluent: m.Fluent) -> tuple[tree.Typed, Sym]:
        """A new variable for the value of a fluent (the fact itself narrows it down)."""
        of = symbol_type(fluent.type)
        enums, spelled = self.words.types.enums, self.words.types.spelled
        base = enums[of.name] if isinstance(of, m.EnumType) else spelled.get(of.name, "x")
        found = self._variable(base, of)
        return found.vars[0], found.value

    def _variable(self, base: str, of: m.EnumType | m.ObjectType) -> Case[Sym]:
        """A new variable, and the guard that narrows it down where it needs one."""
        name = self.scope.fresh(base)
        var, guard = self.words.types.variable(name, of)
        return Case((var,), () if guard is None else (guard,), Sym(name, of))

    # ---- derives ----------------------------------------------------------------------------

    def _calls(self, term: core.DeriveCall, env: Env) -> Iterator[Case[Env]]:
        """The names that a derive sees, per combination of the cases of its arguments."""
        if term.was:
            raise LiftingError("`was`", term.span)
        params = self.words.rules.derives[term.derive].params
        lists = [self._actual(par, arg, env) for par, arg in zip(params, term.args, strict=True)]
        names = [par.name for par in params]
        for case in crossed(lists):
            yield case.gives(dict(zip(names, case.value, strict=True)))

    def _actual(self, param: core.Binder, arg: core.Term, env: Env) -> Sequence[Case[Bound]]:
        return [sure(Lazy(arg, env))] if sort_of(param.type) == "other" else self._part(arg, env)

    # ---- binders and collections ------------------------------------------------------------

    def bind(
        self, binders: Sequence[core.Binder], where: core.Term | None, env: Env
    ) -> list[Case[Env]]:
        """The variables of a fold or loop with the names bound to them; intervals are written
        out."""
        rounds: list[Case[Env]] = [sure(env)]
        for binder in binders:
            rounds = [
                one.then(new.gives({**one.value, binder.name: new.value}))
                for one in rounds
                for new in self._range(binder, one.value)
            ]
        if where is None:
            return rounds
        return [
            one.then(Case((), tree.top_conjuncts(self.condition(where, one.value)), one.value))
            for one in rounds
        ]

    def _range(self, binder: core.Binder, env: Env) -> Sequence[Case[Sym] | Case[Num]]:
        match binder.domain:
            case m.IntervalRange(low=low, high=high):
                return [sure(number(value)) for value in range(low, high + 1)]
            case m.TypeRange(of=of):
                if sort_of(of) != "symbol":
                    raise LiftingError("a binder over numbers or truth values", binder.span)
                return [self._variable(binder.name, symbol_type(of))]
            case core.Members(by="inverse" | "closure") as collection:
                element = m.ObjectType(binder.only) if binder.only else symbol_type(binder.type)
                new = self._variable(binder.name, element)
                inside = self._member(new.value, collection, env)
                return [new.then(Case((), (inside,), new.value))]
            case (
                core.LeafTerm() | core.Read() | core.Members() | core.Call() | core.Fold()
                | core.Choice() | core.TypeTest() | core.DeriveCall() | core.Text()
            ):  # fmt: skip
                raise LiftingError("iteration over a list", binder.span)
            case _:
                assert_never(binder.domain)

    def _is_in(self, item: core.Term, collection: core.Term, env: Env) -> tree.Expr:
        while isinstance(collection, core.Variable) and isinstance(env[collection.name], Lazy):
            bound = env[collection.name]
            assert isinstance(bound, Lazy)
            env = {**bound.env, "": Lazy(item, env)}
            item, collection = core.Variable("", item.type, item.span), bound.term
        if isinstance(collection, core.Members) and collection.by == "list":
            return tree.disj(self._same(item, one, env) for one in collection.items)
        return close(
            self.cases(item, env), lambda value: self._member(as_symbol(value), collection, env)
        )

    def _member(self, item: Sym, collection: core.Term, env: Env) -> tree.Expr:
        match collection:
            case core.Members(by="inverse" | "closure", was=False):
                lead = self._points if collection.by == "inverse" else self._leads
                with self.scope.block():
                    return close(
                        self.cases(collection.of, env),
                        lambda value: lead(collection, item, as_symbol(value)),
                    )
            case _:
                raise LiftingError("membership in this collection", collection.span)

    def _points(self, term: core.Members, item: Sym, value: Sym) -> tree.Expr:
        fluent = self.fluent(term.fluent, term.of.span)
        holder, held = self._asked(fluent, 0, item), self._asked(fluent, len(fluent.params), value)
        return _some(self.words.fluents[term.fluent], holder, held)

    def _leads(self, term: core.Members, item: Sym, value: Sym) -> tree.Expr:
        """``item`` is in the closure of ``value``: it leads there, or is reached if a relation."""
        fluent = self.fluent(term.fluent, term.of.span)
        head = self.words.closure(fluent)
        if fluent.fluent_kind == "relation":
            start, end, formals = value, item, [one.type for one in fluent.params]
        else:
            start, end, formals = item, value, [fluent.params[0].type, fluent.type]
        first, last = (symbol_type(one) for one in formals)
        return _some(head, self.fit(start, first), self.fit(end, last))

    # ---- folds ------------------------------------------------------------------------------

    def _quantified(self, term: core.Fold, env: Env) -> tree.Expr:
        found: list[tree.Expr] = []
        for case in self.bind(term.binders, term.where, env):
            body = tree.TRUE if term.value is None else self.condition(term.value, case.value)
            if term.fold == "any":
                found.append(case.holds(body))
            else:
                found.append(tree.forall(case.vars, tree.imply(tree.conj(case.conds), body)))
        return tree.disj(found) if term.fold == "any" else tree.conj(found)

    def _counted(self, op: str, left: core.Term, right: core.Term, env: Env) -> tree.Expr:
        """``count(…) op n``: at least n different objects, for small n."""
        if _is_count(right):
            op, left, right = FLIPPED.get(op, op), right, left
        assert isinstance(left, core.Fold)
        cases = self.cases(right, env)
        constant = cases[0].value if len(cases) == 1 and not cases[0].conds else None
        if not isinstance(constant, Num) or not isinstance(constant.constant, int):
            raise LiftingError("`count` against a number that changes", left.span)
        n = constant.constant
        match op:
            case ">=" | "<":
                enough = self._many(left, n, env)
                return enough if op == ">=" else tree.neg(enough)
            case ">" | "<=":
                enough = self._many(left, n + 1, env)
                return enough if op == ">" else tree.neg(enough)
            case "==":
                return tree.conj((self._many(left, n, env), tree.neg(self._many(left, n + 1, env))))
            case _:
                raise LiftingError(f"`count` and `{op}`", left.span)

    def _many(self, fold: core.Fold, n: int, env: Env) -> tree.Expr:
        if n <= 0:
            return tree.TRUE
        if n > _MOST_COPIES or len(fold.binders) != 1:
            raise LiftingError(f"`count` up to {n}", fold.span)
        truth = fold.value is not None and sort_of(fold.value.type) == "truth"
        with self.scope.block():
            lists = [self.bind(fold.binders, fold.where, env) for _ in range(n)]
            if any(len(one) != 1 or len(one[0].vars) != 1 for one in lists):
                raise LiftingError("`count` over an interval", fold.span)
            (copies,) = crossed(lists)
            parts: list[tree.Expr] = [*copies.conds]
            if truth and fold.value is not None:
                parts += [self.condition(fold.value, inner) for inner in copies.value]
            pairs = combinations([var.name for var in copies.vars], 2)
            parts += [("not", ("=", one, other)) for one, other in pairs]
            return tree.exists(copies.vars, tree.conj(parts))


def _some(head: str, first: Sequence[Case[Sym]], second: Sequence[Case[Sym]]) -> tree.Expr:
    """A fact about two symbols, in some combination of their cases."""
    return close(crossed((first, second)), lambda both: (head, *(one.text for one in both)))
