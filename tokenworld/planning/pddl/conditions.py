"""Truth-valued terms as PDDL conditions, exactly: `none` counts as false (language.md §4)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from tokenworld.model import (
    And,
    BoolLiteral,
    Choose,
    Compare,
    DeriveCall,
    EnumLiteral,
    EnumType,
    Fold,
    Implies,
    IsType,
    ListTerm,
    Local,
    Me,
    Member,
    NoneLiteral,
    Not,
    NumberLiteral,
    NumberType,
    ObjectLiteral,
    ObjectType,
    Or,
    ParamRead,
    Read,
    Term,
    is_optional,
)
from tokenworld.planning.pddl.cases import Env, Lazy, Num, Sym, Truth, close
from tokenworld.planning.pddl.folds import FLIPPED, Collections, as_symbol, numeric, text
from tokenworld.planning.pddl.numbers import at_least, at_most, number, same_number
from tokenworld.planning.pddl.terms import symbol_type
from tokenworld.planning.pddl.tree import (
    FALSE,
    TRUE,
    Expr,
    conj,
    disj,
    exists,
    imply,
    neg,
)
from tokenworld.planning.pddl.vocabulary import LiftingError, sort_of

__all__ = ["Conditions"]


class Conditions(Collections):
    """Lifts whole conditions; every result is closed (its own variables are quantified)."""

    def condition(self, term: Term, env: Env) -> Expr:
        with self.scope.block():
            return self._condition(term, env)

    def _condition(self, term: Term, env: Env) -> Expr:
        match term:
            case BoolLiteral(value=value):
                return TRUE if value else FALSE
            case Not(term=inner):
                return neg(self.condition(inner, env))
            case And(terms=terms):
                return conj(self.condition(part, env) for part in terms)
            case Or(terms=terms):
                return disj(self.condition(part, env) for part in terms)
            case Implies(left=left, right=right):
                return imply(self.condition(left, env), self.condition(right, env))
            case Compare():
                return self._compare(term, env)
            case Member(item=item, collection=collection):
                return self._is_in(item, collection, env)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                test = self.condition(condition, env)
                yes, no = self.condition(then, env), self.condition(otherwise, env)
                return disj((conj((test, yes)), conj((neg(test), no))))
            case Fold():
                return self.fold(term, env)
            case _:
                return self._atom(term, env)

    def _atom(self, term: Term, env: Env) -> Expr:
        match term:
            case Read():
                return disj(
                    exists(vars_, conj((*conds, atom)))
                    for vars_, conds, atom in self.reads(term, env)
                )
            case DeriveCall():
                return self._derived(term, env)
            case IsType(term=inner, of=of):
                return close(self.cases(inner, env), lambda value: self._is_a(value, of))
            case Local(name=name):
                return self._local(term, name, env)
            case ParamRead(name=name):
                return TRUE if self.words.instance.params[name] is True else FALSE
            case _:
                raise LiftingError(f"`{term.kind.replace('_', ' ')}` as a condition", term.span)

    def _local(self, term: Local, name: str, env: Env) -> Expr:
        match env[name]:
            case Truth(expr=expr):
                return expr
            case Lazy(term=inner, env=outer):
                return self.condition(inner, outer)
            case _:
                raise LiftingError(f"`{name}` as a condition", term.span)

    def _derived(self, term: DeriveCall, env: Env) -> Expr:
        derive = self.words.instance.program.derives[term.derive]
        if not derive.recursive:
            return disj(
                exists(vars_, conj((*conds, self.condition(one.value, inner))))
                for vars_, conds, one, inner in self.calls(term, env)
            )
        formals = [param.type for param in derive.params]
        head = self.words.recursive(derive)
        return disj(
            exists(vars_, conj((*conds, (head, *(one.text for one in symbols)))))
            for vars_, conds, symbols in self.arguments(formals, term.args, env)
        )

    def _is_a(self, value: Sym | Num, of: str) -> Expr:
        assert isinstance(value, Sym)
        assert isinstance(value.type, ObjectType)
        if self.words.instance.program.is_subtype(value.type.name, of):
            return TRUE
        if value.is_constant or self.words.types.disjoint(value.type, ObjectType(of)):
            return FALSE
        return self.words.types.is_a(value.text, of)

    # ---- equality and order -------------------------------------------------------------

    def _compare(self, term: Compare, env: Env) -> Expr:
        if term.op in ("==", "!="):
            same = self._equal(term.left, term.right, env)
            return same if term.op == "==" else neg(same)
        counted = self.counting(term, env)
        if counted is not None:
            return counted
        if isinstance(symbol := _plain(term.left), EnumType):
            return self._ladder(term, symbol, env)
        exact = all(isinstance(side.type, NumberType) for side in (term.left, term.right))
        return close(
            self.cases(term.left, env),
            lambda a: close(self.cases(term.right, env), lambda b: _order(term.op, a, b, exact)),
        )

    def _equal(self, left: Term, right: Term, env: Env) -> Expr:
        counted = self.counting(Compare("==", left, right, left.type, left.span), env)
        if counted is not None:
            return counted
        if isinstance(left, NoneLiteral) or isinstance(right, NoneLiteral):
            return neg(self.present(right if isinstance(left, NoneLiteral) else left, env))
        if sort_of(left.type) == "truth":
            one, other = self.condition(left, env), self.condition(right, env)
            if TRUE in (one, other) or FALSE in (one, other):
                plain, given = (one, other) if other in (TRUE, FALSE) else (other, one)
                return plain if given == TRUE else neg(plain)
            return disj((conj((one, other)), conj((neg(one), neg(other)))))
        same = self._same(left, right, env)
        if self._may_be_none(left, env) and self._may_be_none(right, env):
            absent = (neg(self.present(left, env)), neg(self.present(right, env)))
            return disj((same, conj(absent)))
        return same

    def _same(self, left: Term, right: Term, env: Env) -> Expr:
        """The two terms have one value, not `none`."""
        with self.scope.block():
            return self._shared(left, right, env)

    def _shared(self, left: Term, right: Term, env: Env) -> Expr:
        match sort_of(left.type), sort_of(right.type):
            case "symbol", "symbol":
                named, other = (right, left) if _is_name(right) else (left, right)
                return close(
                    self.cases(named, env),
                    lambda value: self.equals(other, as_symbol(value), env),
                )
            case "number", "number":
                return close(
                    self.cases(left, env),
                    lambda a: close(
                        self.cases(right, env), lambda b: same_number(numeric(a), numeric(b))
                    ),
                )
            case _:
                raise LiftingError("equality of texts", left.span)

    def equals(self, term: Term, symbol: Sym, env: Env) -> Expr:
        """The condition that a term has the value of ``symbol``; a stored one is asked directly."""
        match term:
            case Local(name=name) if isinstance(bound := env[name], Lazy):
                return self.equals(bound.term, symbol, bound.env)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                test = self.condition(condition, env)
                yes = conj((test, self.equals(then, symbol, env)))
                return disj((yes, conj((neg(test), self.equals(otherwise, symbol, env)))))
            case DeriveCall():
                return disj(
                    exists(vars_, conj((*conds, self.equals(one.value, symbol, inner))))
                    for vars_, conds, one, inner in self.calls(term, env)
                )
            case Read(fluent=fluent_id):
                fluent = self.fluent(fluent_id, term.span)
                value = self.asked(fluent, len(fluent.params), symbol)
                found = product(self.reads(term, env), value)
                return disj(
                    exists(
                        (*vars_, *fit.vars), conj((*conds, *fit.conds, (*atom, text(fit.value))))
                    )
                    for (vars_, conds, atom), fit in found
                )
            case _:
                return close(
                    self.cases(term, env), lambda value: self._identical(as_symbol(value), symbol)
                )

    def _identical(self, one: Sym, other: Sym) -> Expr:
        if one.text == other.text:
            return TRUE
        constants = one.is_constant and other.is_constant
        if constants or self.words.types.disjoint(one.type, other.type):
            return FALSE
        return ("=", other.text, one.text) if one.is_constant else ("=", one.text, other.text)

    def _may_be_none(self, term: Term, env: Env) -> bool:
        match term:
            case Local(name=name):
                bound = env[name]
                return isinstance(bound, Lazy) and self._may_be_none(bound.term, bound.env)
            case Me() | ObjectLiteral() | EnumLiteral() | NumberLiteral():
                return False
            case Read(fluent=fluent_id, args=args):
                fluent = self.words.instance.program.fluents[fluent_id]
                narrow = any(
                    isinstance(par.type, ObjectType) and not self._surely(arg, par.type.name)
                    for par, arg in zip(fluent.params, args, strict=True)
                )
                inner = any(self._may_be_none(arg, env) for arg in args)
                return narrow or inner or is_optional(fluent.type)
            case _:
                return is_optional(term.type) or any(
                    self._may_be_none(part, env) for part in _parts(term)
                )

    def _surely(self, arg: Term, name: str) -> bool:
        of = arg.type
        return isinstance(of, ObjectType) and self.words.instance.program.is_subtype(of.name, name)

    def _ladder(self, term: Compare, of: EnumType, env: Env) -> Expr:
        """Order on a ladder: members are listed, two unknowns ask a static fact."""
        op: str = term.op
        left, right = term.left, term.right
        if isinstance(left, EnumLiteral):
            op, left, right = FLIPPED[op], right, left
        if isinstance(right, EnumLiteral):
            members = self.words.members[of.name]
            chosen = [i for i in range(len(members)) if _ordered(op, i, right.index)]
            return self._among(left, of, chosen, env)
        if op in ("<", ">"):
            first, second = (right, left) if op == "<" else (left, right)
        else:
            first, second = (left, right) if op == "<=" else (right, left)
        head = self.words.ladder(of.name, "at-most")
        fact = close(
            self.cases(first, env),
            lambda a: close(self.cases(second, env), lambda b: (head, text(a), text(b))),
        )
        if op in ("<=", ">="):
            return fact
        return conj((self.present(left, env), self.present(right, env), neg(fact)))

    def _among(self, term: Term, of: EnumType, chosen: Sequence[int], env: Env) -> Expr:
        members = self.words.members[of.name]
        rest = [index for index in range(len(members)) if index not in chosen]

        def one(index: int) -> Expr:
            return self.equals(term, Sym(members[index], EnumType(of.name)), env)

        if len(chosen) <= len(rest):
            return disj(one(index) for index in chosen)
        some = self.present(term, env) if self._may_be_none(term, env) else TRUE
        return conj((some, *(neg(one(index)) for index in rest)))

    # ---- collections and folds ------------------------------------------------------------

    def _is_in(self, item: Term, collection: Term, env: Env) -> Expr:
        match collection:
            case ListTerm(items=items):
                return disj(self._same(item, one, env) for one in items)
            case Local(name=name) if isinstance(bound := env[name], Lazy):
                if isinstance(bound.term, ListTerm):
                    inner = {**bound.env, "": Lazy(item, env)}
                    local = Local("", item.type, item.span)
                    return disj(self._same(local, one, inner) for one in bound.term.items)
        return close(self.cases(item, env), lambda value: self.member(value, collection, env))


def _plain(term: Term) -> object:
    return symbol_type(term.type) if sort_of(term.type) == "symbol" else None


def _is_name(term: Term) -> bool:
    return isinstance(term, (Me, ObjectLiteral, EnumLiteral, Local, ParamRead))


def _parts(term: Term) -> tuple[Term, ...]:
    match term:
        case Choose(then=then, otherwise=otherwise):
            return (then, otherwise)
        case DeriveCall(args=args):
            return args
        case _:
            return ()


def _ordered(op: str, left: int, right: int) -> bool:
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]


def _order(op: str, left: Sym | Num, right: Sym | Num, exact: bool) -> Expr:
    """An order without ``<``; exact numbers are whole, so that ``x < 4`` is ``x <= 3``."""
    one, other = numeric(left), numeric(right)
    match op, exact, other.constant:
        case "<", True, int(limit):
            return at_most(one, number(limit - 1))
        case ">", True, int(limit):
            return at_least(one, number(limit + 1))
        case ">=", _, _:
            return at_least(one, other)
        case "<=", _, _:
            return at_most(one, other)
        case "<", _, _:
            return neg(at_least(one, other))
        case _:
            return neg(at_most(one, other))
