"""The value of a term by cases: symbols, numbers, nested reads, choices, built-in functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from tokenworld.model import (
    ROOT,
    Arithmetic,
    Binder,
    BuiltinCall,
    Choose,
    Derive,
    DeriveCall,
    EnumLiteral,
    EnumType,
    Fluent,
    Fold,
    Local,
    Me,
    Negate,
    NoneLiteral,
    NumberLiteral,
    NumberType,
    ObjectLiteral,
    ObjectType,
    ParamRead,
    Read,
    Rescale,
    Term,
    ToReal,
    ValueType,
    without_none,
)
from tokenworld.planning.pddl.cases import Bound, Case, Env, Lazy, Num, Sym, Truth, close
from tokenworld.planning.pddl.fitting import Fitting, symbol_type
from tokenworld.planning.pddl.numbers import arithmetic, choose_number, negate, number
from tokenworld.planning.pddl.tree import TRUE, Expr, Typed, neg
from tokenworld.planning.pddl.vocabulary import Ladder, LiftingError, sort_of

__all__ = ["Terms", "symbol_type"]

_Join = Callable[[Sym | Num, Sym | Num], list[Case]]


class Terms(Fitting, ABC):
    """Lifts the terms of one rule; `Conditions` completes it."""

    @abstractmethod
    def condition(self, term: Term, env: Env) -> Expr:
        """The condition that the term is true."""

    # ---- values ---------------------------------------------------------------------

    def cases(self, term: Term, env: Env) -> list[Case]:
        """The cases of a term that has a symbol or a number as value."""
        match term:
            case Local(name=name):
                return self._bound(env[name], term)
            case NoneLiteral():
                return []
            case NumberLiteral(value=value):
                return [Case((), (), number(value))]
            case EnumLiteral(enum=enum, index=index):
                return [Case((), (), Sym(self.words.members[enum][index], EnumType(enum)))]
            case Me() | ObjectLiteral() | ParamRead():
                return self._constant(term)
            case Read():
                return self._read(term, env)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                test = self.condition(condition, env)
                first = [case.under(test) for case in self.cases(then, env)]
                return first + [case.under(neg(test)) for case in self.cases(otherwise, env)]
            case DeriveCall():
                return self._inlined(term, env)
            case _:
                return self._computed(term, env)

    def _bound(self, bound: Bound, term: Local) -> list[Case]:
        match bound:
            case Sym() | Num():
                return [Case((), (), bound)]
            case Lazy(term=inner, env=env):
                return self.cases(inner, env)
            case Truth():
                raise LiftingError("truth value as a value", term.span)

    def _constant(self, term: Me | ObjectLiteral | ParamRead) -> list[Case]:
        instance = self.words.instance
        match term:
            case Me(span=span):
                number_ = instance.me
                if number_ is None:
                    raise LiftingError("`me` where nobody acts", span)
            case ObjectLiteral(name=name, span=span):
                number_ = instance.numbers.get(name)
                if number_ not in instance.members[ROOT]:
                    raise LiftingError(f"`{name}`, which does not exist here", span)
            case ParamRead(name=name, type=of):
                return self._param(instance.params[name], of, term)
        of_ = ObjectType(instance.objects[number_].of)
        return [Case((), (), Sym(self.words.constant(number_), of_))]

    def _param(self, raw: object, of: ValueType, term: ParamRead) -> list[Case]:
        match without_none(of):
            case _ if raw is None:
                return []
            case EnumType(name=enum) if isinstance(raw, int):
                return [Case((), (), Sym(self.words.members[enum][raw], EnumType(enum)))]
            case ObjectType() if isinstance(raw, int):
                kind = ObjectType(self.words.instance.objects[raw].of)
                return [Case((), (), Sym(self.words.constant(raw), kind))]
            case _ if isinstance(raw, (int, float)) and not isinstance(raw, bool):
                return [Case((), (), number(raw))]
            case _:
                raise LiftingError(f"param `{term.name}`", term.span)

    # ---- fluents ----------------------------------------------------------------------

    def arguments(
        self,
        formals: Sequence[ValueType],
        args: Sequence[Term],
        env: Env,
        asked: Fluent | None = None,
    ) -> Iterator[tuple[tuple[Typed, ...], tuple[Expr, ...], tuple[Sym, ...]]]:
        """All combinations of cases of some arguments, each made to fit its formal.

        ``asked`` is a fluent of which the arguments are only asked about.
        """
        lists = [
            self._argument(of, arg, env, None if asked is None else (asked, position))
            for position, (of, arg) in enumerate(zip(formals, args, strict=True))
        ]
        for combined in product(*lists):
            found = [case.value for case in combined if isinstance(case.value, Sym)]
            vars_ = tuple(var for case in combined for var in case.vars)
            conds = tuple(cond for case in combined for cond in case.conds)
            yield vars_, conds, tuple(found)

    def _argument(
        self, of: ValueType, arg: Term, env: Env, asked: tuple[Fluent, int] | None
    ) -> list[Case]:
        if sort_of(of) != "symbol":
            raise LiftingError("number or truth value as an argument of a fluent", arg.span)
        return [
            replace(fit, vars=case.vars + fit.vars, conds=case.conds + fit.conds)
            for case in self.cases(arg, env)
            if isinstance(case.value, Sym)
            for fit in (
                self.fit(case.value, symbol_type(of))
                if asked is None
                else self.asked(*asked, case.value)
            )
        ]

    def reads(
        self, term: Read, env: Env
    ) -> Iterator[tuple[tuple[Typed, ...], tuple[Expr, ...], tuple[Expr, ...]]]:
        """Per combination of arguments: variables, conditions, and the atom without a value."""
        if term.was:
            raise LiftingError("`was`", term.span)
        fluent = self.fluent(term.fluent, term.span)
        formals = [param.type for param in fluent.params]
        for vars_, conds, symbols in self.arguments(formals, term.args, env, fluent):
            asked: tuple[Expr, ...] = ()
            if sort_of(fluent.type) == "number":
                asked = tuple(self._members(symbols, formals))
            atom = (self.words.fluents[fluent.id], *(symbol.text for symbol in symbols))
            yield vars_, (*conds, *asked), atom

    def _members(self, symbols: Sequence[Sym], formals: Sequence[ValueType]) -> Iterator[Expr]:
        """What must be asked so that a numeric fluent is read only where it is defined."""
        for symbol, of in zip(symbols, formals, strict=True):
            if isinstance(of, ObjectType) and isinstance(symbol.type, ObjectType):
                program = self.words.instance.program
                if not program.is_subtype(symbol.type.name, of.name):
                    yield self.words.types.is_a(symbol.text, of.name)

    def _read(self, term: Read, env: Env) -> list[Case]:
        fluent = self.fluent(term.fluent, term.span)
        found: list[Case] = []
        for vars_, conds, atom in self.reads(term, env):
            match sort_of(fluent.type):
                case "number":
                    found.append(Case(vars_, conds, Num(atom)))
                case "symbol":
                    var, symbol = self.value_variable(fluent)
                    held = (*atom, var.name)
                    found.append(Case((*vars_, var), (*conds, held), symbol))
                case _:
                    raise LiftingError("truth value as a value", term.span)
        return found

    def value_variable(self, fluent: Fluent) -> tuple[Typed, Sym]:
        """A new variable for the value of a fluent (the fact itself narrows it down)."""
        of = symbol_type(fluent.type)
        enums, spelled = self.words.types.enums, self.words.types.spelled
        base = enums[of.name] if isinstance(of, EnumType) else spelled.get(of.name, "x")
        name = self.scope.fresh(base)
        return self.words.types.variable(name, of)[0], Sym(name, of)

    # ---- derives ----------------------------------------------------------------------

    def calls(
        self, term: DeriveCall, env: Env
    ) -> Iterator[tuple[tuple[Typed, ...], tuple[Expr, ...], Derive, Env]]:
        """A derive with its arguments put in, per combination of their cases."""
        if term.was:
            raise LiftingError("`was`", term.span)
        derive = self.words.instance.program.derives[term.derive]
        lists = [
            self._actual(par, arg, env) for par, arg in zip(derive.params, term.args, strict=True)
        ]
        for combined in product(*lists):
            vars_ = tuple(var for found, _, _ in combined for var in found)
            conds = tuple(cond for _, found, _ in combined for cond in found)
            inner = {
                par.name: bound for par, (_, _, bound) in zip(derive.params, combined, strict=True)
            }
            yield vars_, conds, derive, inner

    def _actual(
        self, param: Binder, arg: Term, env: Env
    ) -> list[tuple[tuple[Typed, ...], tuple[Expr, ...], Bound]]:
        match sort_of(param.type):
            case "truth":
                return [((), (), Truth(self.condition(arg, env)))]
            case "other":
                return [((), (), Lazy(arg, env))]
            case _:
                return [(case.vars, case.conds, case.value) for case in self.cases(arg, env)]

    def _inlined(self, term: DeriveCall, env: Env) -> list[Case]:
        return [
            replace(case, vars=vars_ + case.vars, conds=conds + case.conds)
            for vars_, conds, derive, inner in self.calls(term, env)
            for case in self.cases(derive.value, inner)
        ]

    # ---- numbers and ladders ----------------------------------------------------------

    def _computed(self, term: Term, env: Env) -> list[Case]:
        match term:
            case Negate(term=inner):
                return [replace(one, value=negate(one.value)) for one in self.cases(inner, env)]
            case Rescale(term=inner, digits=digits):
                factor = number(10**digits)
                return [
                    replace(one, value=arithmetic("*", one.value, factor, term.span))
                    for one in self.cases(inner, env)
                ]
            case ToReal(term=inner):
                of = inner.type
                scale = number(10**of.decimals if isinstance(of, NumberType) else 1)
                return [
                    replace(one, value=arithmetic("/", one.value, scale, term.span))
                    for one in self.cases(inner, env)
                ]
            case Arithmetic(op=op, left=left, right=right):
                return self._pairs(
                    self.cases(left, env),
                    self.cases(right, env),
                    lambda a, b: [Case((), (), arithmetic(op, a, b, term.span))],
                )
            case BuiltinCall():
                return self._builtin(term, env)
            case Fold(fold=fold):
                raise LiftingError(f"`{fold}` as a value", term.span)
            case _:
                raise LiftingError(f"`{term.kind.replace('_', ' ')}` as a value", term.span)

    def _pairs(self, left: list[Case], right: list[Case], join: _Join) -> list[Case]:
        found: list[Case] = []
        for one, other in product(left, right):
            for case in join(one.value, other.value):
                vars_ = one.vars + other.vars + case.vars
                found.append(Case(vars_, one.conds + other.conds + case.conds, case.value))
        return found

    def _builtin(self, term: BuiltinCall, env: Env) -> list[Case]:
        if term.name in ("next", "prev"):
            return self._neighbour(term, env)
        lists = [self.cases(arg, env) for arg in term.args]
        found: list[Case] = []
        for combined in product(*lists):
            vars_ = tuple(var for case in combined for var in case.vars)
            conds = tuple(cond for case in combined for cond in case.conds)
            values = [case.value for case in combined if isinstance(case.value, Num)]
            for tests, value in choose_number(term.name, values, term.span):
                found.append(Case(vars_, conds + tests, value))
        return found

    def _neighbour(self, term: BuiltinCall, env: Env) -> list[Case]:
        found: list[Case] = []
        kind: Ladder = "next" if term.name == "next" else "prev"
        for case in self.cases(term.args[0], env):
            of = symbol_type(term.args[0].type)
            assert isinstance(case.value, Sym)
            assert isinstance(of, EnumType)
            name = self.scope.fresh(self.words.types.enums[of.name])
            var = self.words.types.variable(name, of)[0]
            step: Expr = (self.words.ladder(of.name, kind), case.value.text, name)
            found.append(Case((*case.vars, var), (*case.conds, step), Sym(name, of)))
        return found

    def present(self, term: Term, env: Env) -> Expr:
        """The condition that a term is not `none`."""
        with self.scope.block():
            return close(self.cases(term, env), lambda _: TRUE)
