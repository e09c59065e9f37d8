"""Walking terms and bodies: children, every subterm, every change, and rebuilding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

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
    TemplateTerm,
    Term,
    ToReal,
)

__all__ = ["bodies", "children", "effects_in", "map_children", "subterms", "terms_of"]

Change = Callable[[Term], Term]


def _binder_terms(binders: tuple[Binder, ...]) -> Iterator[Term]:
    for binder in binders:
        if isinstance(binder.domain, CollectionRange):
            yield binder.domain.collection


def children(term: Term) -> tuple[Term, ...]:
    """The direct subterms in written order (ranges of binders included)."""
    match term:
        case Read(args=args) | DeriveCall(args=args) | BuiltinCall(args=args):
            return args
        case InverseOf(of=of) | ClosureOf(of=of):
            return (of,)
        case Not(term=inner) | Negate(term=inner) | IsType(term=inner):
            return (inner,)
        case Rescale(term=inner) | ToReal(term=inner):
            return (inner,)
        case And(terms=terms) | Or(terms=terms):
            return terms
        case Implies(left=left, right=right) | Compare(left=left, right=right):
            return (left, right)
        case Arithmetic(left=left, right=right) | Member(item=left, collection=right):
            return (left, right)
        case Choose(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case ListTerm(items=items):
            return items
        case Fold(value=value, binders=binders, where=where):
            parts = (*_binder_terms(binders), where, value)
            return tuple(part for part in parts if part is not None)
        case TemplateTerm(template=template):
            return tuple(part.term for part in template.parts if isinstance(part, Slot))
        case _:
            return ()


def subterms(term: Term) -> Iterator[Term]:
    """The term itself and everything below it, parents first."""
    yield term
    for child in children(term):
        yield from subterms(child)


def _map_binders(binders: tuple[Binder, ...], change: Change) -> tuple[Binder, ...]:
    def one(binder: Binder) -> Binder:
        if not isinstance(binder.domain, CollectionRange):
            return binder
        domain = replace(binder.domain, collection=change(binder.domain.collection))
        return replace(binder, domain=domain)

    return tuple(one(binder) for binder in binders)


def map_children(term: Term, change: Change) -> Term:
    """The same term with each direct subterm replaced by ``change(subterm)``."""
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
                binders=_map_binders(term.binders, change),
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


def bodies(effect: Effect) -> tuple[Body, ...]:
    """The nested bodies of a change, in written order."""
    match effect:
        case If(then=then, otherwise=otherwise):
            return (then, otherwise)
        case For(body=body):
            return (body,)
        case Chance(branches=branches, otherwise=otherwise):
            return (*(branch.body for branch in branches), otherwise)
        case Pick(body=body, otherwise=otherwise):
            return (body, otherwise)
        case _:
            return ()


def effects_in(body: Body) -> Iterator[Effect]:
    """Every change of a body, nested ones included, in written order."""
    for effect in body:
        yield effect
        for inner in bodies(effect):
            yield from effects_in(inner)


def _present(*terms: Term | None) -> tuple[Term, ...]:
    return tuple(term for term in terms if term is not None)


def _let_terms(value: Term | Draw) -> tuple[Term, ...]:
    match value:
        case DrawChance(probability=probability):
            return (probability,)
        case DrawPick(binders=binders, where=where, weight=weight):
            return (*_binder_terms(binders), *_present(where, weight))
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
            return (*_binder_terms(binders), *_present(where))
        case Chance(branches=branches):
            return tuple(branch.probability for branch in branches)
        case Pick(binders=binders, where=where, weight=weight):
            return (*_binder_terms(binders), *_present(where, weight))
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
