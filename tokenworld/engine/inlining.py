"""Derives that stand where they are called: a call costs more than most of them.

A derive that is short and not recursive is written out, with the names of the arguments in place of
its parameters; what it means is what its function says.
"""

from __future__ import annotations

from itertools import takewhile
from typing import assert_never

from tokenworld.model import (
    And,
    Arithmetic,
    Binder,
    BoolLiteral,
    BuiltinCall,
    Compare,
    CompositeTerm,
    DeriveCall,
    Fold,
    Implies,
    IsType,
    LeafTerm,
    Local,
    Member,
    Not,
    NumberTerm,
    Or,
    Program,
    StateTerm,
    TemplateTerm,
    Term,
    conjuncts,
    deep_subterms,
    subterms,
)

__all__ = ["is_truth", "short_derives", "steady"]

_SHORT = 24
"""Terms of a derive, those of the derives that it spells out included."""


def short_derives(program: Program) -> frozenset[str]:
    """The derives that are written out."""
    sizes: dict[str, int] = {}
    return frozenset(name for name in program.derives if _size(program, name, sizes) <= _SHORT)


def _size(program: Program, name: str, sizes: dict[str, int]) -> int:
    """The terms of a derive when all is written out; more than enough where it is recursive."""
    derive = program.derives[name]
    if derive.recursive:
        return _SHORT + 1
    if name not in sizes:
        sizes[name] = sum(
            1 + (_size(program, part.derive, sizes) if isinstance(part, DeriveCall) else 0)
            for part in subterms(derive.value)
        )
    return sizes[name]


def steady(
    program: Program, binders: tuple[Binder, ...], where: Term | None
) -> tuple[list[Term], list[Term]]:
    """The first parts of a condition that are the same for every binding and surely have a value,
    and the rest. The first may be tested once, also where there is no binding at all; a part behind
    another one stays there, which may have made sure that it has a value."""
    parts = [] if where is None else list(conjuncts((where,)))
    own = {binder.name for binder in binders}
    first = list(takewhile(lambda one: _is_steady(program, one, own), parts)) if own else []
    return first, parts[len(first) :]


def _is_steady(program: Program, part: Term, own: set[str]) -> bool:
    if any(isinstance(one, Local) and one.name in own for one in subterms(part)):
        return False
    return not any(
        isinstance(one, (Arithmetic, BuiltinCall, Fold, TemplateTerm))
        for one in deep_subterms((part,), program.derives)
    )


def is_truth(term: Term) -> bool:
    """Whether the expression of a truth-valued term gives true or false, never `none`."""
    match term:
        case BoolLiteral() | Compare() | IsType() | Member() | Not():
            return True
        case And(terms=terms) | Or(terms=terms):
            return all(map(is_truth, terms))
        case LeafTerm() | StateTerm() | Implies() | NumberTerm() | CompositeTerm():
            return False
        case _:
            assert_never(term)
