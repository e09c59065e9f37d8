"""Collections, loops and folds: binders as variables, membership as facts, counting by copies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

from tokenworld.model import (
    Binder,
    ClosureOf,
    CollectionRange,
    Compare,
    EnumType,
    Fold,
    IntervalRange,
    InverseOf,
    Local,
    ObjectType,
    Term,
    TypeRange,
)
from tokenworld.planning.pddl.cases import Bound, Env, Lazy, Num, Sym, close
from tokenworld.planning.pddl.numbers import number
from tokenworld.planning.pddl.terms import Terms, symbol_type
from tokenworld.planning.pddl.tree import (
    TRUE,
    Expr,
    Typed,
    conj,
    disj,
    exists,
    forall,
    imply,
    neg,
    top_conjuncts,
)
from tokenworld.planning.pddl.vocabulary import LiftingError, sort_of

__all__ = ["as_symbol", "FLIPPED", "Binding", "Collections", "numeric", "text"]

Binding = tuple[tuple[Typed, ...], tuple[Expr, ...], Env]
"""Variables of a binder, the conditions on them, and the names bound to them."""

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The same comparison with its sides exchanged."""

_MOST_COPIES = 4
"""Counting to n is written with n variables; beyond this the text would be unreadable."""


def as_symbol(value: Sym | Num) -> Sym:
    """The value as a symbol: its type says that it is one."""
    assert isinstance(value, Sym)
    return value


def numeric(value: Sym | Num) -> Num:
    """The value as a number: its type says that it is one."""
    assert isinstance(value, Num)
    return value


def text(value: Sym | Num) -> str:
    """The word of a symbol."""
    return as_symbol(value).text


class Collections(Terms):
    """Lifts what ranges over several objects; `Conditions` completes it."""

    def bind(self, binders: Sequence[Binder], where: Term | None, env: Env) -> list[Binding]:
        """The variables of a fold or loop; intervals and lists are written out."""
        rounds: list[Binding] = [((), (), env)]
        for binder in binders:
            rounds = [
                ((*vars_, *more), (*conds, *asked), {**inner, binder.name: bound})
                for vars_, conds, inner in rounds
                for more, asked, bound in self._range(binder, inner)
            ]
        if where is None:
            return rounds
        return [
            (vars_, (*conds, *top_conjuncts(self.condition(where, inner))), inner)
            for vars_, conds, inner in rounds
        ]

    def _range(
        self, binder: Binder, env: Env
    ) -> list[tuple[tuple[Typed, ...], tuple[Expr, ...], Bound]]:
        match binder.domain:
            case IntervalRange(low=low, high=high):
                return [((), (), number(value)) for value in range(low, high + 1)]
            case TypeRange(of=of):
                if sort_of(of) != "symbol":
                    raise LiftingError("a binder over numbers or truth values", binder.span)
                return [self._variable(binder.name, symbol_type(of))]
            case CollectionRange(collection=collection, only=only):
                if not isinstance(collection, (InverseOf, ClosureOf)):
                    raise LiftingError("iteration over a list", binder.span)
                element = ObjectType(only) if only else symbol_type(binder.type)
                vars_, conds, symbol = self._variable(binder.name, element)
                inside = self.member(symbol, collection, env)
                return [(vars_, (*conds, inside), symbol)]

    def _variable(
        self, base: str, of: EnumType | ObjectType
    ) -> tuple[tuple[Typed, ...], tuple[Expr, ...], Sym]:
        name = self.scope.fresh(base)
        var, guard = self.words.types.variable(name, of)
        return (var,), (() if guard is None else (guard,)), Sym(name, of)

    # ---- membership -----------------------------------------------------------------------

    def member(self, item: Sym | Num, collection: Term, env: Env) -> Expr:
        with self.scope.block():
            match collection:
                case InverseOf(fluent=fluent_id, of=of, was=False):
                    return close(
                        self.cases(of, env),
                        lambda value: self._fact(fluent_id, as_symbol(item), as_symbol(value), of),
                    )
                case ClosureOf(fluent=fluent_id, of=of, was=False):
                    return close(
                        self.cases(of, env),
                        lambda value: self._chain(fluent_id, as_symbol(item), as_symbol(value), of),
                    )
                case Local(name=name) if isinstance(bound := env[name], Lazy):
                    return self.member(item, bound.term, bound.env)
                case _:
                    raise LiftingError("membership in this collection", collection.span)

    def _fact(self, fluent_id: str, item: Sym, value: Sym, of: Term) -> Expr:
        fluent = self.fluent(fluent_id, of.span)
        head = self.words.fluents[fluent_id]
        pairs = product(self.asked(fluent, 0, item), self.asked(fluent, len(fluent.params), value))
        return disj(
            exists(
                (*a.vars, *b.vars),
                conj((*a.conds, *b.conds, (head, text(a.value), text(b.value)))),
            )
            for a, b in pairs
        )

    def _chain(self, fluent_id: str, item: Sym, value: Sym, of: Term) -> Expr:
        """``item`` is in the closure of ``value``: it leads there, or is reached if a relation."""
        fluent = self.fluent(fluent_id, of.span)
        head = self.words.closure(fluent)
        if fluent.fluent_kind == "relation":
            start, end, formals = value, item, [one.type for one in fluent.params]
        else:
            start, end, formals = item, value, [fluent.params[0].type, fluent.type]
        pairs = product(
            self.fit(start, symbol_type(formals[0])), self.fit(end, symbol_type(formals[1]))
        )
        return disj(
            exists(
                (*a.vars, *b.vars),
                conj((*a.conds, *b.conds, (head, text(a.value), text(b.value)))),
            )
            for a, b in pairs
        )

    # ---- folds ------------------------------------------------------------------------------

    def fold(self, term: Fold, env: Env) -> Expr:
        if term.fold not in ("any", "all"):
            raise LiftingError(f"`{term.fold}` as a condition", term.span)
        rounds = self.bind(term.binders, term.where, env)
        found: list[Expr] = []
        for vars_, conds, inner in rounds:
            holds = TRUE if term.value is None else self.condition(term.value, inner)
            if term.fold == "any":
                found.append(exists(vars_, conj((*conds, holds))))
            else:
                found.append(forall(vars_, imply(conj(conds), holds)))
        return disj(found) if term.fold == "any" else conj(found)

    def counting(self, term: Compare, env: Env) -> Expr | None:
        """``count(…) op n``: at least n different objects, for small n."""
        op: str = term.op
        left, right = term.left, term.right
        if isinstance(right, Fold) and right.fold == "count":
            op, left, right = FLIPPED.get(op, op), right, left
        if not isinstance(left, Fold) or left.fold != "count":
            return None
        cases = self.cases(right, env)
        constant = cases[0].value if len(cases) == 1 and not cases[0].conds else None
        if not isinstance(constant, Num) or not isinstance(constant.constant, int):
            raise LiftingError("`count` against a number that changes", left.span)
        n = constant.constant
        match op:
            case ">=" | "<":
                enough = self._many(left, n, env)
                return enough if op == ">=" else neg(enough)
            case ">" | "<=":
                enough = self._many(left, n + 1, env)
                return enough if op == ">" else neg(enough)
            case _:
                exact = conj((self._many(left, n, env), neg(self._many(left, n + 1, env))))
                return exact if op == "==" else neg(exact)

    def _many(self, fold: Fold, n: int, env: Env) -> Expr:
        if n <= 0:
            return TRUE
        if n > _MOST_COPIES or len(fold.binders) != 1:
            raise LiftingError(f"`count` up to {n}", fold.span)
        truth = fold.value is not None and sort_of(fold.value.type) == "truth"
        with self.scope.block():
            copies = [self.bind(fold.binders, fold.where, env) for _ in range(n)]
            if any(len(copy) != 1 or len(copy[0][0]) != 1 for copy in copies):
                raise LiftingError("`count` over an interval", fold.span)
            vars_ = [copy[0][0][0] for copy in copies]
            parts: list[Expr] = [cond for copy in copies for cond in copy[0][1]]
            if truth and fold.value is not None:
                parts += [self.condition(fold.value, copy[0][2]) for copy in copies]
            pairs = combinations([var.name for var in vars_], 2)
            parts += [("not", ("=", one, other)) for one, other in pairs]
            return exists(vars_, conj(parts))
