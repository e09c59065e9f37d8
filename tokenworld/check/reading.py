"""The slots that a term reads, with what is known where it reads them (language.md §5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tokenworld.check.aliasing import Knowledge
from tokenworld.check.rulebook import Vocabulary
from tokenworld.check.substitution import freshened, inlined
from tokenworld.diagnostics import Span
from tokenworld.model import (
    And,
    Choose,
    ClosureOf,
    CollectionRange,
    DeriveCall,
    Fold,
    Implies,
    InverseOf,
    Or,
    Read,
    Term,
    children,
    fluents_read,
)

__all__ = ["SlotRead", "slots_read"]

SlotRead = tuple[str, tuple[Term, ...] | None, Span, Knowledge]
"""A slot that is read: fluent, arguments (``None``: any), where, what is known there."""


def slots_read(term: Term, draft: Vocabulary, known: Knowledge) -> Iterator[SlotRead]:
    """The slots a term reads. Conditions count: ``x != y and y.n > 1`` reads ``n`` of another."""
    match term:
        case Fold(binders=binders):
            fold = freshened(term, {binder.name for binder in binders})
            inner = known.folded(fold)
            for binder in fold.binders:
                if isinstance(binder.domain, CollectionRange):
                    yield from slots_read(binder.domain.collection, draft, known)
            if fold.where is not None:
                yield from slots_read(fold.where, draft, known.folded(replace(fold, where=None)))
            if fold.value is not None:
                yield from slots_read(fold.value, draft, inner)
        case And(terms=terms) | Or(terms=terms):
            for part in terms:
                yield from slots_read(part, draft, known)
                known = known.given(part, holds=isinstance(term, And))
        case Implies(left=left, right=right):
            yield from slots_read(left, draft, known)
            yield from slots_read(right, draft, known.given(left))
        case Choose(condition=condition, then=then, otherwise=otherwise):
            yield from slots_read(condition, draft, known)
            yield from slots_read(then, draft, known.given(condition))
            yield from slots_read(otherwise, draft, known.given(condition, holds=False))
        case _:
            yield from _own(term, draft, known)
            for part in children(term):
                yield from slots_read(part, draft, known)


def _own(term: Term, draft: Vocabulary, known: Knowledge) -> Iterator[SlotRead]:
    """The slots that a term reads itself, not in its parts."""
    match term:
        case Read(fluent=fluent, args=args, was=False):
            yield fluent, args, term.span, known
        case InverseOf(fluent=fluent, was=False) | ClosureOf(fluent=fluent, was=False):
            yield fluent, None, term.span, known
        case DeriveCall(was=False):
            yield from _derived(term, draft, known)
        case _:
            return


def _derived(call: DeriveCall, draft: Vocabulary, known: Knowledge) -> Iterator[SlotRead]:
    """What a derive reads, as if it were written out; a recursive one may read any slot."""
    opened = inlined(call, draft.derives)
    if opened is not None:
        for fluent, args, _, inner in slots_read(opened, draft, known):
            yield fluent, args, call.span, inner
    else:
        for fluent in sorted(fluents_read((call,), draft.derives)):
            yield fluent, None, call.span, known
