"""The changes of a body as PDDL effects (language.md §5): all read the state before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.model import (
    ROOT,
    AddFact,
    Arithmetic,
    Assign,
    Body,
    BoolLiteral,
    Chance,
    DescribeEffect,
    DrawChance,
    Effect,
    Emit,
    Fluent,
    For,
    If,
    Let,
    Local,
    NoneLiteral,
    NumberType,
    ObjectLiteral,
    ObjectType,
    Pick,
    Read,
    RemoveFact,
    Reward,
    Say,
    Swap,
    Term,
    Transfer,
)
from tokenworld.planning.pddl.cases import Case, Env, Lazy, Num, Sym, close
from tokenworld.planning.pddl.chances import lift_chance, lift_let, lift_pick, lift_reward
from tokenworld.planning.pddl.conditions import Conditions
from tokenworld.planning.pddl.guards import number_effects
from tokenworld.planning.pddl.numbers import at_least, negate, number
from tokenworld.planning.pddl.terms import symbol_type
from tokenworld.planning.pddl.tree import FALSE, TRUE, Expr, neg
from tokenworld.planning.pddl.vocabulary import LiftingError, sort_of
from tokenworld.planning.pddl.writes import Guarded, Place, Write

__all__ = ["Effects", "Pins"]

Pins = Mapping[tuple[Expr, ...], Sym | None]
"""Values that the precondition fixes: the atom of a slot without its value, and the value
(``None``: the slot has none)."""


class Effects:
    """Lifts bodies into effects; `writes` keeps what the guards must look at."""

    def __init__(self, terms: Conditions, pins: Pins) -> None:
        self.terms = terms
        self.pins = pins
        self.effects: list[Guarded] = []
        self.writes: list[Write] = []
        self.asked: list[Expr] = []
        """Conditions that a transfer adds: its amount is not negative."""
        self.lucky: list[Write] = []
        """The writes that only some outcome of chance makes."""
        self._branches = 0

    def branch(self) -> int:
        """A new number for the sides of a choice."""
        self._branches += 1
        return self._branches

    def walk(self, body: Body, env: Env, place: Place) -> Env:
        """Lift a body; the result binds its lets too."""
        for index, effect in enumerate(body):
            match effect:
                case Let(value=DrawChance(probability=asked)) if self.terms.words.luck:
                    lift_let(self, effect, asked, body[index + 1 :], env, place)
                    return env
                case Let(name=name, value=value):
                    env = {**env, name: self._let(value, env, effect.span)}
                case _:
                    with self.terms.scope.block():
                        self.terms.scope.reserve(place.conds)
                        self._effect(effect, env, place)
        return env

    def _let(self, value: object, env: Env, span: Span) -> Lazy:
        if not isinstance(value, Term):
            raise LiftingError("a draw of chance in this place", span)
        return Lazy(value, env)

    def _effect(self, effect: Effect, env: Env, place: Place) -> None:
        match effect:
            case Assign():
                self._assign(effect, env, place)
            case AddFact(target=target) | RemoveFact(target=target):
                self._fact(target, isinstance(effect, AddFact), env, place)
            case If():
                self._if(effect, env, place)
            case For(binders=binders, where=where, body=body):
                with self.terms.scope.block():
                    for vars_, conds, inner in self.terms.bind(binders, where, env):
                        loops = (*place.loops, *(var.name for var in vars_))
                        self.walk(body, inner, replace(place.inside(vars_, conds), loops=loops))
            case Transfer():
                self._transfer(effect, env, place)
            case Swap():
                self._swap(effect, env, place)
            case Chance() if self.terms.words.luck:
                lift_chance(self, effect, env, place)
            case Pick() if self.terms.words.luck:
                lift_pick(self, effect, env, place)
            case Reward(amount=amount) if self.terms.words.luck:
                lift_reward(self, amount, env, place)
            case Say() | Emit() | DescribeEffect() | Reward() | Let():
                pass
            case _:
                raise LiftingError(f"`{effect.kind}`", effect.span)

    def _if(self, effect: If, env: Env, place: Place) -> None:
        self._branches += 1
        number = self._branches
        test = self.terms.condition(effect.condition, env)
        for side, body in ((True, effect.then), (False, effect.otherwise)):
            cond = test if side else neg(test)
            if cond != FALSE and body:
                inner = place.inside((), (cond,))
                self.walk(body, env, replace(inner, branch=(*place.branch, (number, side))))

    # ---- targets ----------------------------------------------------------------------

    def _targets(
        self, target: Read, env: Env, place: Place
    ) -> list[tuple[Place, Fluent, tuple[Sym, ...]]]:
        fluent = self.terms.fluent(target.fluent, target.span)
        formals = [param.type for param in fluent.params]
        return [
            (place.inside(vars_, conds), fluent, symbols)
            for vars_, conds, symbols in self.terms.arguments(formals, target.args, env)
        ]

    def _atom(self, fluent: Fluent, args: Sequence[Sym]) -> tuple[Expr, ...]:
        return (self.terms.words.fluents[fluent.id], *(arg.text for arg in args))

    def put(self, place: Place, literal: Expr) -> None:
        self.effects.append(Guarded(place.vars, place.conds, literal))

    def _fact(self, target: Read, value: bool, env: Env, place: Place) -> None:
        with self.terms.scope.block():
            for where, fluent, args in self._targets(target, env, place):
                orders = [args, args[::-1]] if fluent.symmetric else [args]
                for order in orders:
                    atom = self._atom(fluent, order)
                    self.put(where, atom if value else ("not", atom))
                self.writes.append(Write(where, fluent, args, "add", value, target.span))

    def _assign(self, effect: Assign, env: Env, place: Place) -> None:
        with self.terms.scope.block():
            for where, fluent, args in self._targets(effect.target, env, place):
                match sort_of(fluent.type):
                    case "truth":
                        self._set_truth(where, fluent, args, effect.value, env, effect.span)
                    case "symbol":
                        self._set_symbol(where, fluent, args, effect.value, env, effect.span)
                    case _:
                        self._set_number(where, fluent, args, effect, env)

    # ---- truths and symbols -------------------------------------------------------------

    def _set_truth(
        self, place: Place, fluent: Fluent, args: tuple[Sym, ...], term: Term, env: Env, span: Span
    ) -> None:
        test, atom = self.terms.condition(term, env), self._atom(fluent, args)
        for value, cond in ((True, test), (False, neg(test))):
            if cond != FALSE:
                self.put(place.inside((), (cond,)), atom if value else ("not", atom))
        fixed = test == TRUE if isinstance(term, BoolLiteral) else None
        self.writes.append(Write(place, fluent, args, "set", fixed, span))

    def _set_symbol(
        self,
        place: Place,
        fluent: Fluent,
        args: tuple[Sym, ...],
        term: Term,
        env: Env,
        span: Span,
        partner: int = 0,
    ) -> None:
        """Add the new value under the cases of the term, delete the old one where it differs."""
        atom = self._atom(fluent, args)
        with self.terms.scope.block():
            options = tuple(self._fitting(self.terms.cases(term, env), fluent))
        if not self._holds(atom, term, env):
            self._delete_old(place, fluent, atom, term, env)
            for case in options:
                assert isinstance(case.value, Sym)
                self.put(place.inside(case.vars, case.conds), (*atom, case.value.text))
        value = _one_symbol(term, options)
        write = Write(place, fluent, args, "set", value, span, partner=partner, options=options)
        self.writes.append(write)

    def _holds(self, atom: tuple[Expr, ...], term: Term, env: Env) -> bool:
        """Whether the precondition already says that the slot has this value."""
        pinned = self.pins.get(atom)
        if pinned is None:
            return atom in self.pins and isinstance(term, NoneLiteral)
        return self.terms.equals(term, pinned, env) == TRUE

    def _fitting(self, cases: Sequence[Case], fluent: Fluent) -> list[Case]:
        of = symbol_type(fluent.type)
        return [
            Case(case.vars + fit.vars, case.conds + fit.conds, fit.value)
            for case in cases
            if isinstance(case.value, Sym)
            for fit in self.terms.fit(case.value, of)
        ]

    def _delete_old(
        self, place: Place, fluent: Fluent, atom: tuple[Expr, ...], term: Term, env: Env
    ) -> None:
        pinned = self.pins.get(atom)
        if pinned is None and atom in self.pins:
            return
        with self.terms.scope.block():
            if pinned is not None:
                keep = self.terms.equals(term, pinned, env)
                self.put(place.inside((), (neg(keep),)), ("not", (*atom, pinned.text)))
                return
            var, symbol = self.terms.value_variable(fluent)
            held = (*atom, var.name)
            keep = self.terms.equals(term, symbol, env)
            self.put(place.inside((var,), (held, neg(keep))), ("not", held))

    # ---- numbers ------------------------------------------------------------------------

    def _set_number(
        self, place: Place, fluent: Fluent, args: tuple[Sym, ...], effect: Assign, env: Env
    ) -> None:
        value = effect.value
        factor = None if effect.op != "=" else _factor(effect.target, value)
        if factor is not None and not fluent.clamped and not _bounded(fluent):
            self._scale(place, fluent, args, factor, env, effect.span)
            return
        low, high = _interval(value)
        for case in self.terms.cases(value, env):
            amount = negate(case.value) if effect.op == "-=" else case.value
            assert isinstance(amount, Num)
            ends = (_flip(high), _flip(low)) if effect.op == "-=" else (low, high)
            how: Literal["set", "add"] = "set" if effect.op == "=" else "add"
            where = place.inside(case.vars, case.conds)
            write = Write(where, fluent, args, how, amount, effect.span, *ends)
            self.writes.append(write)
            self.effects += number_effects(self.terms.words, write)

    def _scale(
        self,
        place: Place,
        fluent: Fluent,
        args: tuple[Sym, ...],
        factor: tuple[str, Term],
        env: Env,
        span: Span,
    ) -> None:
        for case in self.terms.cases(factor[1], env):
            assert isinstance(case.value, Num)
            where = place.inside(case.vars, case.conds)
            self.put(where, (factor[0], self._atom(fluent, args), case.value.expr))
            self.writes.append(Write(where, fluent, args, "set", case.value, span))

    def _transfer(self, effect: Transfer, env: Env, place: Place) -> None:
        low, _ = _interval(effect.amount)
        if low is None or low < 0:
            self._not_negative(effect.amount, env, place)
        for target, op in ((effect.source, "-="), (effect.target, "+=")):
            step = Assign(target, "-=" if op == "-=" else "+=", effect.amount, effect.span)
            self._assign(step, env, place)

    def _not_negative(self, amount: Term, env: Env, place: Place) -> None:
        if not place.unconditional:
            raise LiftingError("conditional `transfer` of an amount that may be negative",
                               amount.span)  # fmt: skip
        with self.terms.scope.block():
            test = close(
                self.terms.cases(amount, env),
                lambda value: at_least(value, number(0)) if isinstance(value, Num) else FALSE,
            )
        self.asked.append(test)

    def _swap(self, effect: Swap, env: Env, place: Place) -> None:
        self._branches += 1
        pair = self._branches
        for target, value in ((effect.left, effect.right), (effect.right, effect.left)):
            with self.terms.scope.block():
                for where, fluent, args in self._targets(target, env, place):
                    if sort_of(fluent.type) != "symbol":
                        raise LiftingError("`swap` of numbers or truth values", effect.span)
                    self._set_symbol(where, fluent, args, value, env, effect.span, pair)


def _one_symbol(term: Term, options: Sequence[Case]) -> Sym | None:
    """The symbol that a term always is, if it is one."""
    if isinstance(term, NoneLiteral):
        return Sym("none", ObjectType(ROOT))
    if len(options) == 1 and not options[0].conds and isinstance(options[0].value, Sym):
        return options[0].value
    return None


def _factor(target: Read, value: Term) -> tuple[str, Term] | None:
    """``f(x) = f(x) * k`` as a scale effect."""
    if isinstance(value, Arithmetic) and value.op in ("*", "/"):
        left = value.left
        same = isinstance(left, Read) and left.fluent == target.fluent
        if same and isinstance(left, Read) and _same_args(left, target):
            return ("scale-up" if value.op == "*" else "scale-down", value.right)
    return None


def _same_args(one: Read, other: Read) -> bool:
    def name(term: Term) -> object:
        return term.name if isinstance(term, (Local, ObjectLiteral)) else id(term)

    return [name(arg) for arg in one.args] == [name(arg) for arg in other.args]


def _bounded(fluent: Fluent) -> bool:
    of = fluent.type
    return isinstance(of, NumberType) and (of.low is not None or of.high is not None)


def _interval(term: Term) -> tuple[int | None, int | None]:
    of = term.type
    return (of.low, of.high) if isinstance(of, NumberType) else (None, None)


def _flip(bound: int | None) -> int | None:
    return None if bound is None else -bound
