"""Putting terms in the place of locals: `let` values, arguments of derives, other names."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from tokenworld.model import (
    Derive,
    DeriveCall,
    Fold,
    Local,
    Term,
    is_optional,
    map_children,
    subterms,
)

__all__ = ["freshened", "inlined", "locals_of", "renamed", "substituted"]


def locals_of(term: Term) -> frozenset[str]:
    """The names of locals that a term mentions, those it binds itself included."""
    return frozenset(part.name for part in subterms(term) if isinstance(part, Local))


def substituted(term: Term, given: Mapping[str, Term]) -> Term:
    """The term with each local in ``given`` replaced; variables of folds are kept apart."""
    if not given:
        return term
    match term:
        case Local(name=name) if name in given:
            return _narrowed(given[name], term)
        case Fold(binders=binders):
            bound = {binder.name for binder in binders}
            inner = {name: value for name, value in given.items() if name not in bound}
            clash = bound & {name for value in inner.values() for name in locals_of(value)}
            fold = freshened(term, clash) if clash else term
            return map_children(fold, lambda part: substituted(part, inner))
        case _:
            return map_children(term, lambda part: substituted(part, given))


def _narrowed(value: Term, local: Local) -> Term:
    """A value is present wherever its name is known to be."""
    if is_optional(value.type) and not is_optional(local.type):
        return replace(value, type=local.type)
    return value


def freshened(fold: Fold, clash: Set[str]) -> Fold:
    """The same fold with other names for some of its variables."""
    names: dict[str, Term] = {
        binder.name: Local(f"{binder.name}'", binder.type, binder.span)
        for binder in fold.binders
        if binder.name in clash
    }
    opened = map_children(fold, lambda part: substituted(part, names))
    assert isinstance(opened, Fold)
    binders = tuple(
        replace(binder, name=f"{binder.name}'") if binder.name in clash else binder
        for binder in opened.binders
    )
    return replace(opened, binders=binders)


def renamed(term: Term, names: Mapping[str, str]) -> Term:
    """The term with locals under other names."""
    given: dict[str, Term] = {
        part.name: replace(part, name=names[part.name])
        for part in subterms(term)
        if isinstance(part, Local) and part.name in names
    }
    return substituted(term, given)


def inlined(call: DeriveCall, derives: Mapping[str, Derive]) -> Term | None:
    """What a derive says for these arguments; ``None`` if it is recursive or unknown."""
    derive = derives.get(call.derive)
    if derive is None or derive.recursive or call.was or len(derive.params) != len(call.args):
        return None
    given = {binder.name: arg for binder, arg in zip(derive.params, call.args, strict=True)}
    return substituted(derive.value, given)
