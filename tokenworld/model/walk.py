"""Walking terms and bodies: children, every subterm, every change, and rebuilding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter, is_
from typing import Any, Final

from tokenworld.model.effects import (
    AddFact,
    Assign,
    Body,
    Chance,
    Create,
    DescribeEffect,
    Destroy,
    Draw,
    DrawChance,
    DrawPick,
    DrawUniform,
    Effect,
    Emit,
    For,
    If,
    Let,
    Pick,
    RemoveFact,
    Reward,
    Say,
    Swap,
    Transfer,
)
from tokenworld.model.terms import (
    And,
    Arithmetic,
    Binder,
    BuiltinCall,
    Choose,
    ClosureOf,
    CollectionRange,
    Compare,
    DeriveCall,
    Fold,
    Implies,
    InverseOf,
    IsType,
    ListTerm,
    Member,
    Negate,
    Not,
    Or,
    Read,
    Rescale,
    Slot,
    Template,
    TemplateTerm,
    Term,
    ToReal,
)
from tokenworld.model.vocabulary import Derive

__all__ = [
    "binder_terms",
    "bodies",
    "children",
    "deep_subterms",
    "effects_in",
    "fluents_read",
    "map_children",
    "slot_terms",
    "subterms",
    "targets_of",
    "terms_of",
]

Change = Callable[[Term], Term]


def binder_terms(binders: Iterable[Binder]) -> Iterator[Term]:
    """The collections that binders range over."""
    for binder in binders:
        if isinstance(binder.domain, CollectionRange):
            yield binder.domain.collection


def _fold_parts(term: Fold) -> tuple[Term, ...]:
    parts = (*binder_terms(term.binders), term.where, term.value)
    return tuple(part for part in parts if part is not None)


def slot_terms(template: Template) -> tuple[Term, ...]:
    """What stands in the slots of a text, in written order."""
    return tuple(part.term for part in template.parts if isinstance(part, Slot))


def _slot_terms(term: TemplateTerm) -> tuple[Term, ...]:
    return slot_terms(term.template)


def _inner(term: Any) -> tuple[Term, ...]:
    return (term.term,)


def _of(term: Any) -> tuple[Term, ...]:
    return (term.of,)


_PARTS: Final[dict[type, Callable[[Any], tuple[Term, ...]]]] = {
    **dict.fromkeys((Read, DeriveCall, BuiltinCall), attrgetter("args")),
    **dict.fromkeys((InverseOf, ClosureOf), _of),
    **dict.fromkeys((Not, Negate, IsType, Rescale, ToReal), _inner),
    **dict.fromkeys((And, Or), attrgetter("terms")),
    **dict.fromkeys((Implies, Compare, Arithmetic), attrgetter("left", "right")),
    Member: attrgetter("item", "collection"),
    Choose: attrgetter("condition", "then", "otherwise"),
    ListTerm: attrgetter("items"),
    Fold: _fold_parts,
    TemplateTerm: _slot_terms,
}
"""The direct subterms by class: every pass walks every term, and a chain of cases is slow."""


def children(term: Term) -> tuple[Term, ...]:
    """The direct subterms in written order (ranges of binders included)."""
    parts = _PARTS.get(type(term))
    return () if parts is None else parts(term)


def subterms(term: Term) -> Iterator[Term]:
    """The term itself and everything below it, parents first."""
    todo = [term]
    while todo:
        one = todo.pop()
        yield one
        parts = _PARTS.get(type(one))
        if parts is not None:
            todo += parts(one)[::-1]


def deep_subterms(terms: Iterable[Term], derives: Mapping[str, Derive]) -> Iterator[Term]:
    """Every subterm, those of the derives that are called included, each derive once."""
    todo, seen = list(terms), set[str]()
    for term in todo:  # grows while it is walked
        for part in subterms(term):
            yield part
            if isinstance(part, DeriveCall) and part.derive not in seen:
                seen.add(part.derive)
                if part.derive in derives:
                    todo.append(derives[part.derive].value)


def fluents_read(terms: Iterable[Term], derives: Mapping[str, Derive]) -> frozenset[str]:
    """The fluents that terms read, through derives."""
    reads = (Read, InverseOf, ClosureOf)
    return frozenset(
        part.fluent for part in deep_subterms(terms, derives) if isinstance(part, reads)
    )


def _map_binders(binders: tuple[Binder, ...], change: Change) -> tuple[Binder, ...]:
    def one(binder: Binder) -> Binder:
        if not isinstance(binder.domain, CollectionRange):
            return binder
        domain = replace(binder.domain, collection=change(binder.domain.collection))
        return replace(binder, domain=domain)

    return tuple(one(binder) for binder in binders)


def map_children(term: Term, change: Change) -> Term:
    """The same term with each direct subterm replaced by ``change(subterm)``.

    Where nothing changes, it is the very same term.
    """
    parts = children(term)
    changed = tuple([change(part) for part in parts])
    if all(map(is_, parts, changed)):
        return term
    given = iter(changed)
    return _rebuilt(term, lambda _: next(given))


def _rebuilt(term: Term, change: Change) -> Term:
    """The same term with its subterms changed, each once and in written order."""
    match term:
        case Read() | DeriveCall() | BuiltinCall():
            return replace(term, args=tuple(change(arg) for arg in term.args))
        case InverseOf() | ClosureOf():
            return replace(term, of=change(term.of))
        case Not() | Negate() | IsType() | Rescale() | ToReal():
            return replace(term, term=change(term.term))
        case And() | Or():
            return replace(term, terms=tuple(change(part) for part in term.terms))
        case Implies() | Compare() | Arithmetic():
            return replace(term, left=change(term.left), right=change(term.right))
        case Member():
            return replace(term, item=change(term.item), collection=change(term.collection))
        case Choose():
            parts = (change(term.condition), change(term.then), change(term.otherwise))
            return replace(term, condition=parts[0], then=parts[1], otherwise=parts[2])
        case ListTerm():
            return replace(term, items=tuple(change(item) for item in term.items))
        case Fold():
            return replace(
                term,
                binders=_map_binders(term.binders, change),  # first: they are written first
                where=None if term.where is None else change(term.where),
                value=None if term.value is None else change(term.value),
            )
        case TemplateTerm():
            parts_ = tuple(
                replace(part, term=change(part.term)) if isinstance(part, Slot) else part
                for part in term.template.parts
            )
            return replace(term, template=replace(term.template, parts=parts_))
        case _:
            return term


def _both(effect: If) -> tuple[Body, ...]:
    return (effect.then, effect.otherwise)


def _once(effect: For) -> tuple[Body, ...]:
    return (effect.body,)


def _by_chance(effect: Chance) -> tuple[Body, ...]:
    return (*(branch.body for branch in effect.branches), effect.otherwise)


def _picked(effect: Pick) -> tuple[Body, ...]:
    return (effect.body, effect.otherwise)


_BODIES: Final[dict[type, Callable[[Any], tuple[Body, ...]]]] = {
    If: _both, For: _once, Chance: _by_chance, Pick: _picked,
}  # fmt: skip


def bodies(effect: Effect) -> tuple[Body, ...]:
    """The nested bodies of a change, in written order."""
    nested = _BODIES.get(type(effect))
    return () if nested is None else nested(effect)


def effects_in(body: Body) -> Iterator[Effect]:
    """Every change of a body, nested ones included, in written order."""
    for effect in body:
        yield effect
        for inner in bodies(effect):
            yield from effects_in(inner)


def targets_of(effect: Effect) -> tuple[Read, ...]:
    """The slots that one change names as its targets (not those of nested bodies)."""
    match effect:
        case Assign(target=target) | AddFact(target=target) | RemoveFact(target=target):
            return (target,)
        case Transfer(source=source, target=target):
            return (source, target)
        case Swap(left=left, right=right):
            return (left, right)
        case _:
            return ()


def _present(*terms: Term | None) -> tuple[Term, ...]:
    return tuple(term for term in terms if term is not None)


def _let_terms(value: Term | Draw) -> tuple[Term, ...]:
    match value:
        case DrawChance(probability=probability):
            return (probability,)
        case DrawPick(binders=binders, where=where, weight=weight):
            return (*binder_terms(binders), *_present(where, weight))
        case DrawUniform(low=low, high=high):
            return (low, high)
        case _:
            return (value,)


def terms_of(effect: Effect) -> tuple[Term, ...]:
    """The terms a change evaluates itself (not those of nested bodies).

    Targets count by their arguments only: writing a slot does not read it. Prose is left out:
    it is rendered on the state after the body and never counts as a read.
    """
    match effect:
        case Let(value=value):
            return _let_terms(value)
        case Assign(target=target, value=assigned):
            return (*target.args, assigned)
        case AddFact(target=target) | RemoveFact(target=target):
            return target.args
        case If(condition=condition):
            return (condition,)
        case For(binders=binders, where=where):
            return (*binder_terms(binders), *_present(where))
        case Chance(branches=branches):
            return tuple(branch.probability for branch in branches)
        case Pick(binders=binders, where=where, weight=weight):
            return (*binder_terms(binders), *_present(where, weight))
        case Create(fields=fields):
            return tuple(field.value for field in fields)
        case Destroy(target=destroyed):
            return (destroyed,)
        case Transfer(amount=amount, source=source, target=target):
            return (amount, *source.args, *target.args)
        case Swap(left=left, right=right):
            return (left, right)
        case Emit(args=args):
            return args
        case Reward(amount=amount):
            return (amount,)
        case Say() | DescribeEffect():
            return ()
