"""Conditions and effects that are PDDL already, written word for word.

A program in the fragment of PDDL (relations, unbounded functions, derives over objects) is not
compiled: each construct has one counterpart, and nesting, order and names stay as written
(language.md §16). What is outside the fragment raises `Richer`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tokenworld.ground import scaled_text
from tokenworld.model import (
    ROOT,
    AddFact,
    And,
    Arithmetic,
    Assign,
    Binder,
    Body,
    BoolLiteral,
    Compare,
    DeriveCall,
    DescribeEffect,
    Effect,
    Emit,
    Fold,
    For,
    If,
    Implies,
    Let,
    Local,
    Negate,
    NoneLiteral,
    Not,
    NumberLiteral,
    NumberType,
    ObjectLiteral,
    ObjectType,
    Or,
    Read,
    RemoveFact,
    Say,
    Term,
    ToReal,
    TypeRange,
)
from tokenworld.planning.pddl.tree import FALSE, TRUE, Expr, Typed

__all__ = ["Env", "Plain", "Richer", "joined", "verbatim"]

_WORD = re.compile(r"[^\s();?\"'`{}\[\]:-][^\s();?\"'`{}\[\]]*\Z")
_TAKEN = frozenset(
    (
        *("and", "or", "not", "imply", "forall", "exists", "when", "either", "assign", "undefined"),
        *(
            "increase",
            "decrease",
            "scale-up",
            "scale-down",
            "preference",
            "=",
            "<",
            ">",
            "<=",
            ">=",
        ),
        *("+", "*", "/", "total-cost", "probabilistic", "oneof"),
    )
)

Env = Mapping[str, Expr]
"""What the local names of a rule stand for: variables, and the terms of its lets."""


class Richer(Exception):
    """The program says something that PDDL has no word for."""


def verbatim(name: str) -> str:
    """The name as it is; `Richer` where PDDL cannot have it."""
    if not _WORD.match(name) or name.lower() in _TAKEN:
        raise Richer
    return name


def joined(parts: Sequence[Expr]) -> Expr:
    """A written conjunction: one part stands alone, none is true."""
    return parts[0] if len(parts) == 1 else ("and", *parts)


@dataclass(slots=True)
class Plain:
    """Writes terms; ``types`` are the PDDL types by name, ``derived`` the derives kept as such."""

    types: Mapping[str, str]
    derived: frozenset[str]
    fluents: frozenset[str] = field(default_factory=frozenset)

    # ---- variables --------------------------------------------------------------------------

    def bind(self, binders: Sequence[Binder], env: Env) -> tuple[tuple[Typed, ...], Env]:
        """The variables of a rule or a loop, typed as written."""
        found, inner = [], dict(env)
        for binder in binders:
            if not isinstance(binder.domain, TypeRange) or not isinstance(binder.type, ObjectType):
                raise Richer
            kind = self.type(binder.type.name) if binder.typed else None
            word = binder.name if binder.name.startswith("?") else f"?{binder.name}"
            verbatim(word[1:])
            found.append(Typed(word, kind))
            inner[binder.name] = word
        return tuple(found), inner

    def type(self, name: str) -> str:
        return "object" if name == ROOT else self.types[name]

    def _variables(self, binders: Sequence[Binder], env: Env) -> tuple[Expr, Env]:
        typed, inner = self.bind(binders, env)
        words: list[str] = []
        for index, one in enumerate(typed):
            late = one.type is None and any(other.type for other in typed[index + 1 :])
            kind = "object" if late else one.type
            words += [one.name] if kind is None else [one.name, "-", kind]
        return tuple(words), inner

    # ---- terms ------------------------------------------------------------------------------

    def term(self, term: Term, env: Env) -> Expr:
        match term:
            case Local(name=name):
                return env[name]
            case ObjectLiteral(name=name):
                return verbatim(name)
            case NumberLiteral(value=value, type=NumberType(decimals=decimals, unit="")):
                return scaled_text(value, decimals)
            case ToReal(term=inner):
                return self.term(inner, env)
            case NoneLiteral():
                return "undefined"
            case Read(was=False):
                return self.read(term, env)
            case Negate(term=inner):
                part = self.term(inner, env)
                return f"-{part}" if isinstance(inner, NumberLiteral) else ("-", part)
            case Arithmetic(op=op, left=left, right=right) if op in ("+", "-", "*", "/"):
                return (op, self.term(left, env), self.term(right, env))
            case _:
                raise Richer

    def read(self, term: Read, env: Env) -> tuple[Expr, ...]:
        if term.was or term.fluent not in self.fluents:
            raise Richer
        return (verbatim(term.fluent), *(self.term(arg, env) for arg in term.args))

    # ---- conditions -------------------------------------------------------------------------

    def condition(self, term: Term, env: Env) -> Expr:
        match term:
            case BoolLiteral(value=value):
                return TRUE if value else FALSE
            case Local(name=name):
                return env[name]
            case Read():
                return self.read(term, env)
            case DeriveCall(derive=derive, args=args, was=False) if derive in self.derived:
                return (verbatim(derive), *(self.term(arg, env) for arg in args))
            case Not(term=inner):
                return ("not", self.condition(inner, env))
            case And(terms=terms) | Or(terms=terms):
                head = "and" if isinstance(term, And) else "or"
                return (head, *(self.condition(one, env) for one in terms))
            case Implies(left=left, right=right):
                return ("imply", self.condition(left, env), self.condition(right, env))
            case Compare(op=op, left=left, right=right):
                return self._compared(op, self.term(left, env), self.term(right, env))
            case Fold():
                return self._fold(term, env)
            case _:
                raise Richer

    def _compared(self, op: str, left: Expr, right: Expr) -> Expr:
        if op == "!=":
            return ("not", ("=", left, right))
        return ("=" if op == "==" else op, left, right)

    def _fold(self, fold: Fold, env: Env) -> Expr:
        if fold.fold not in ("any", "all") or fold.value is None:
            raise Richer
        variables, inner = self._variables(fold.binders, env)
        body = self.condition(fold.value, inner)
        where = None if fold.where is None else self.condition(fold.where, inner)
        if fold.fold == "any":
            return ("exists", variables, body if where is None else ("and", where, body))
        return ("forall", variables, body if where is None else ("imply", where, body))

    # ---- effects ----------------------------------------------------------------------------

    def effects(self, body: Body, env: Env) -> list[Expr]:
        """The effects of a body in written order; a `let` is put in where it is used."""
        found: list[Expr] = []
        for effect in body:
            if isinstance(effect, Let):
                env = {**env, effect.name: self.named(effect, env)}
            else:
                found += self._effect(effect, env)
        return found

    def named(self, let: Let, env: Env) -> Expr:
        """What a `let` stands for."""
        if not isinstance(let.value, Term):
            raise Richer
        try:
            return self.term(let.value, env)
        except Richer:
            return self.condition(let.value, env)

    def _effect(self, effect: Effect, env: Env) -> list[Expr]:
        match effect:
            case AddFact(target=target):
                return [self.read(target, env)]
            case RemoveFact(target=target):
                return [("not", self.read(target, env))]
            case Assign():
                return [self._assign(effect, env)]
            case If(condition=condition, then=then, otherwise=()):
                return [("when", self.condition(condition, env), self._body(then, env))]
            case For(binders=binders, where=where, body=body):
                variables, inner = self._variables(binders, env)
                done = self._body(body, inner)
                if where is not None:
                    done = ("when", self.condition(where, inner), done)
                return [("forall", variables, done)]
            case Say() | Emit() | DescribeEffect():
                return []
            case _:
                raise Richer

    def _body(self, body: Body, env: Env) -> Expr:
        return joined(self.effects(body, env))

    def _assign(self, effect: Assign, env: Env) -> Expr:
        target = self.read(effect.target, env)
        if effect.op != "=":
            op = "increase" if effect.op == "+=" else "decrease"
            return (op, target, self.term(effect.value, env))
        value = self.term(effect.value, env)
        match value:
            case ("*" | "/" as sign, first, factor) if first == target:
                return ("scale-up" if sign == "*" else "scale-down", target, factor)
            case _:
                return ("assign", target, value)
