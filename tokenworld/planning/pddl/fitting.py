"""Symbols where a fluent is declared for another type, and the fluents that a rule can name."""

from __future__ import annotations

from tokenworld.diagnostics import Span
from tokenworld.model import EnumType, Fluent, ObjectType, ValueType, is_optional, without_none
from tokenworld.planning.pddl.cases import Case, Scope, Sym
from tokenworld.planning.pddl.tree import Expr
from tokenworld.planning.pddl.vocabulary import LiftingError, Vocabulary, sort_of

__all__ = ["Fitting", "symbol_type"]


def symbol_type(of: ValueType) -> EnumType | ObjectType:
    """The type of a symbol, `none` left out."""
    plain = without_none(of)
    assert isinstance(plain, (EnumType, ObjectType))
    return plain


class Fitting:
    """The words of a task and the variables of one rule."""

    def __init__(self, words: Vocabulary, scope: Scope) -> None:
        self.words = words
        self.scope = scope

    def fluent(self, fluent_id: str, span: Span) -> Fluent:
        """The fluent, if it can stand in a lifted rule."""
        found = self.words.instance.program.fluents[fluent_id]
        sort = sort_of(found.type)
        if sort == "other":
            raise LiftingError(f"text `{found.name}` in a rule", span)
        if sort == "number" and is_optional(found.type):
            raise LiftingError(f"number `{found.name}` that may be `none`", span)
        if any(sort_of(param.type) != "symbol" for param in found.params):
            raise LiftingError(f"`{found.name}` over numbers or truth values", span)
        return found

    def asked(self, fluent: Fluent, position: int, symbol: Sym) -> list[Case]:
        """The symbol as an argument or value of a fact that is only asked for.

        No fact speaks of an object that the fluent is not about, so the predicate may be declared
        for as wide a type as it is asked with. A number has to be read where there is one.
        """
        of = [*(param.type for param in fluent.params), fluent.type][position]
        formal = symbol_type(of)
        if sort_of(fluent.type) == "number" or self.words.types.disjoint(symbol.type, formal):
            return self.fit(symbol, formal)
        if not self.words.types.fits(symbol.type, formal):
            self.words.widen(fluent, position, symbol.type)
        return [Case((), (), symbol)]

    def fit(self, symbol: Sym, formal: EnumType | ObjectType) -> list[Case]:
        """The symbol where ``formal`` is declared: itself, a narrower variable, or nothing."""
        if self.words.types.disjoint(symbol.type, formal):
            return []
        if self.words.types.fits(symbol.type, formal):
            return [Case((), (), symbol)]
        base = self.words.types.spelled.get(formal.name, "object")
        var, guard = self.words.types.variable(self.scope.fresh(base), formal)
        same: Expr = ("=", var.name, symbol.text)
        conds = (same,) if guard is None else (same, guard)
        return [Case((var,), conds, Sym(var.name, formal))]
