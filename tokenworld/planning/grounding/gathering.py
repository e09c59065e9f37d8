"""Conditions on collections, and the variables of loops: some member is found by joining."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenworld.model import (
    Binder,
    ClosureOf,
    CollectionRange,
    CollectionType,
    Compare,
    Fold,
    IntervalRange,
    InverseOf,
    ListTerm,
    NumberType,
    Or,
    Term,
    TypeRange,
    ValueType,
)
from tokenworld.planning.grounding.absence import may_lack
from tokenworld.planning.grounding.context import (
    Context,
    Names,
    Ungroundable,
)
from tokenworld.planning.grounding.rules import (
    Arg,
    Atom,
    Either,
    Literal,
    Same,
)
from tokenworld.planning.grounding.values import MOST_WAYS

if TYPE_CHECKING:
    from tokenworld.planning.grounding.conditions import Conditions

__all__ = ["Gathered"]

_ALWAYS: Either = ((),)


class Gathered:
    """Reads what conditions say of collections, in one context."""

    def __init__(self, context: Context, conditions: Conditions) -> None:
        self._context, self._conditions = context, conditions

    def member(self, item: Term, collection: Term, names: Names, wanted: bool) -> Either:
        if isinstance(collection, ListTerm):
            same = [Compare("==", item, one, item.type, item.span) for one in collection.items]
            every = Or(tuple(same), item.type, item.span)
            if may_lack(self._context, item) or any(
                may_lack(self._context, one) for one in collection.items
            ):
                return (
                    self._conditions.granted()
                    if not wanted
                    else self._conditions.ways(every, names)
                )
            return self._conditions.ways(every, names, wanted)
        if not wanted:
            return self._conditions.granted()
        found = []
        for way in self._conditions.values.ways(item, names):
            inside = self.inside(collection, way.arg, names)
            if inside is None:
                return self._conditions.unjudged(collection)
            found += [(*way.literals, *one) for one in inside]
        return tuple(found) or self._conditions.unjudged(item)

    def inside(self, collection: Term, arg: Arg, names: Names) -> Either | None:
        """Every way in which something is in a collection; ``None`` where that is not known."""
        self._context.exact = False
        match collection:
            case InverseOf(fluent=fluent, of=of):
                return self._linked(fluent, of, arg, names)
            case ClosureOf(fluent=fluent, of=of):
                flat = self._context.program.fluents[fluent].fluent_kind == "relation"
                return self._linked(f"*{fluent}", of, arg, names, flat)
            case ListTerm(items=items):
                every = [self._conditions.values.ways(item, names) for item in items]
                if not all(every):
                    return None
                return tuple(
                    (*way.literals, Same("==", arg, way.arg)) for ways in every for way in ways
                )
            case _:
                return None

    def _linked(
        self, relation: str, of: Term, arg: Arg, names: Names, flat: bool = False
    ) -> Either | None:
        ways = self._conditions.values.ways(of, names)
        if not ways:
            return None
        return tuple(
            (*way.literals, Atom(relation, (way.arg, arg) if flat else (arg, way.arg)))
            for way in ways
        )

    def fold(self, fold: Fold, names: Names, wanted: bool) -> Either:
        """Some binding is found by joining; of all of them nothing is asked."""
        if (fold.fold == "any") != wanted:
            return self._conditions.granted()
        self._context.exact = False
        found: list[tuple[Literal, ...]] = []
        try:
            every = self.bound(fold.binders, names)
        except Ungroundable:
            return self._conditions.unjudged(fold)
        for literals, inner in every:
            where = _ALWAYS if fold.where is None else self._conditions.ways(fold.where, inner)
            value = (
                _ALWAYS if fold.value is None else self._conditions.ways(fold.value, inner, wanted)
            )
            found += [(*literals, *one, *other) for one in where for other in value]
        return tuple(found) if len(found) <= MOST_WAYS else self._conditions.granted()

    def bound(
        self, binders: tuple[Binder, ...], names: Names
    ) -> list[tuple[tuple[Literal, ...], Names]]:
        """Every way to bind loop variables, with the names that are seen then."""
        found: list[tuple[tuple[Literal, ...], Names]] = [((), names)]
        for binder in binders:
            found = [
                ((*literals, *more), {**seen, binder.name: var})
                for literals, seen in found
                for more, var in self._binding(binder, seen)
            ]
        return found

    def _binding(self, binder: Binder, names: Names) -> list[tuple[tuple[Literal, ...], Arg]]:
        var = self._context.fresh()
        match binder.domain:
            case TypeRange(of=of):
                listed = self._context.belongs(of, var)
            case IntervalRange(low=low, high=high):
                listed = self._context.belongs(NumberType(low, high), var)
            case CollectionRange(collection=collection, only=only):
                return self._drawn(binder, collection, only, var, names)
        if listed is None:
            raise Ungroundable(f"the variable `{binder.name}` without bounds", binder.span)
        return [((listed,), var)]

    def _drawn(
        self, binder: Binder, collection: Term, only: str | None, var: Arg, names: Names
    ) -> list[tuple[tuple[Literal, ...], Arg]]:
        kind = Atom(f":{only}", (var,)) if only is not None else None
        kept: tuple[Literal, ...] = () if kind is None else (kind,)
        inside = self.inside(collection, var, names)
        if inside is not None:
            return [((*way, *kept), var) for way in inside]
        self._context.leave("collection", binder.span)
        of = kind or self._context.belongs(_element(collection.type), var)
        if of is None:
            raise Ungroundable(f"the variable `{binder.name}` without bounds", binder.span)
        return [((of,), var)]


def _element(kind: ValueType) -> ValueType:
    return kind.element if isinstance(kind, CollectionType) else kind
