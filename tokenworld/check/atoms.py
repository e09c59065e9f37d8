"""The atoms of a condition: the parts whose values explain a refusal (language.md §9)."""

from __future__ import annotations

from collections.abc import Collection

from tokenworld.check.draft import Draft
from tokenworld.model import (
    Atom,
    BuiltinCall,
    ClosureOf,
    CollectionType,
    DeriveCall,
    Fold,
    InverseOf,
    Local,
    ParamRead,
    Read,
    Term,
    children,
    subterms,
)

__all__ = ["atoms_of"]

_READING = (Read, DeriveCall, Fold, ParamRead, InverseOf, ClosureOf)


def atoms_of(condition: Term, draft: Draft, lets: Collection[str] = ()) -> tuple[Atom, ...]:
    """Reads, derives, folds, params and ``lets`` of a condition, outermost first, each text once.

    Subterms that use variables bound inside the condition have no single value and are left out,
    and so are collections: the fold over them tells more.
    """
    found: dict[str, Term] = {}
    _collect(condition, frozenset(), draft, lets, found)
    return tuple(Atom(text, term) for text, term in found.items())


def _collect(
    term: Term,
    bound: frozenset[str],
    draft: Draft,
    lets: Collection[str],
    found: dict[str, Term],
) -> None:
    inner = bound
    if isinstance(term, Fold):
        inner = bound | {binder.name for binder in term.binders}
    telling = isinstance(term, (*_READING, BuiltinCall))
    telling = telling or (isinstance(term, Local) and term.name in lets)
    if telling and not _uses(term, bound) and not isinstance(term.type, CollectionType):
        found.setdefault(draft.text(term.span), term)
    for child in children(term):
        _collect(child, inner, draft, lets, found)


def _uses(term: Term, names: frozenset[str]) -> bool:
    return any(isinstance(part, Local) and part.name in names for part in subterms(term))
