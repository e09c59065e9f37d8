"""Folds over bindings: any, all, count, sum, min, max, first, last (language.md §4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tokenworld.model import Binder, CollectionRange, Fold, RealType
from tokenworld.planning.lower.algebra import Refused, V
from tokenworld.planning.lower.diagram import Mark, Value
from tokenworld.planning.lower.numbers import arithmetic

if TYPE_CHECKING:
    from tokenworld.planning.lower.terms import Env, Terms

__all__ = ["fold", "in_settled_order"]


def fold(terms: Terms[V], term: Fold, env: Env[V]) -> V:
    """The value of a fold."""
    match term.fold:
        case "any":
            return _any(terms, term, env)
        case "all":
            return _all(terms, term, env)
        case "count":
            return _count(terms, term, env)
        case "sum":
            return _sum(terms, term, env)
        case "min" | "max" | "first" | "last":
            return _picked(terms, term, env)


def _any(terms: Terms[V], term: Fold, env: Env[V]) -> V:
    result = terms.false
    for inner, member in terms.bindings(term.binders, term.where, env):
        result = terms.algebra.either(result, partial(_held, terms, term, inner, member))
    return result


def _held(terms: Terms[V], term: Fold, env: Env[V], member: V) -> V:
    """Whether this is a binding and the folded condition holds for it."""
    return terms.algebra.both(member, lambda: terms.condition(term.value, env))


def _all(terms: Terms[V], term: Fold, env: Env[V]) -> V:
    result = terms.true
    for inner, member in terms.bindings(term.binders, term.where, env):
        result = terms.algebra.both(result, partial(_met, terms, term, inner, member))
    return result


def _met(terms: Terms[V], term: Fold, env: Env[V], member: V) -> V:
    """Whether the folded condition holds, if this is a binding."""
    outside = terms.algebra.negate(member)
    return terms.algebra.either(outside, lambda: terms.condition(term.value, env))


def _count(terms: Terms[V], term: Fold, env: Env[V]) -> V:
    algebra, result = terms.algebra, terms.algebra.const(0)
    one, nothing = algebra.const(1), algebra.const(0)
    for inner, member in terms.bindings(term.binders, term.where, env):
        counts = _held(terms, term, inner, member)
        step = algebra.choose(counts, lambda: one, lambda: nothing)
        result = algebra.lift(("arithmetic", "+"), arithmetic("+"), result, step)
    return result


def _sum(terms: Terms[V], term: Fold, env: Env[V]) -> V:
    algebra = terms.algebra
    nothing = algebra.const(0.0 if isinstance(term.type, RealType) else 0)
    result = nothing
    for inner, member in terms.bindings(term.binders, term.where, env):
        step = algebra.choose(member, partial(_value, terms, term, inner), lambda: nothing)
        result = algebra.lift(("arithmetic", "+"), arithmetic("+"), result, step)
    return result


def _value(terms: Terms[V], term: Fold, env: Env[V]) -> V:
    return terms.true if term.value is None else terms.value(term.value, env)


def _picked(terms: Terms[V], term: Fold, env: Env[V]) -> V:
    """The extreme, first or last element; `none` if there is none."""
    if term.fold in ("first", "last") and not in_settled_order(terms, term.binders):
        reason = "it depends on an order that changes"
        refused = Refused(f"`{term.fold}` of a collection", term.span, reason)
        return terms.algebra.refuse(refused)
    result = terms.algebra.const(Mark.UNSET)
    for inner, member in terms.bindings(term.binders, term.where, env):
        result = _preferred(terms, term, result, member, inner)
    return terms.algebra.lift("met", _met_or_none, result)


def _preferred(terms: Terms[V], term: Fold, best: V, member: V, env: Env[V]) -> V:
    algebra, better = terms.algebra, _BETTER[term.fold]

    def taken() -> V:
        return algebra.lift(("pick", term.fold), better, best, _value(terms, term, env))

    return algebra.choose(member, taken, lambda: best)


def _met_or_none(value: Value) -> Value:
    return None if value is Mark.UNSET else value


def in_settled_order(terms: Terms[V], binders: tuple[Binder, ...]) -> bool:
    """Whether bindings come in an order that the state does not change."""
    return all(
        terms.collections.settled(binder.domain.collection)
        for binder in binders
        if isinstance(binder.domain, CollectionRange)
    )


def _extreme(smaller: bool) -> Callable[[Value, Value], Value]:
    def better(best: Value, value: Value) -> Value:
        if best is Mark.UNSET or best is Mark.BROKEN:
            return value if best is Mark.UNSET else best
        if not isinstance(best, (int, float)) or not isinstance(value, (int, float)):
            return value
        return min(best, value) if smaller else max(best, value)

    return better


def _first(best: Value, value: Value) -> Value:
    return value if best is Mark.UNSET else best


def _last(best: Value, value: Value) -> Value:
    return best if best is Mark.BROKEN else value


_BETTER: dict[str, Callable[[Value, Value], Value]] = {
    "min": _extreme(True),
    "max": _extreme(False),
    "first": _first,
    "last": _last,
}
