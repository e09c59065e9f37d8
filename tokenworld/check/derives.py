"""Derived facts: types inferred on demand, recursion stratified (language.md §3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tokenworld.check.context import Context
from tokenworld.check.draft import Abandon, Draft
from tokenworld.check.folds import formal_binders
from tokenworld.check.literals import type_of_ref
from tokenworld.model import (
    BOOL,
    Arithmetic,
    Binder,
    BoolType,
    Choose,
    Compare,
    Derive,
    DeriveCall,
    Fold,
    Implies,
    Me,
    Not,
    Term,
    ValueType,
    children,
    show_type,
    subterms,
)
from tokenworld.syntax import nodes as syn

__all__ = ["check_derives", "derive_type", "stratify"]


def derive_type(name: str, draft: Draft) -> tuple[tuple[Binder, ...], ValueType]:
    """The parameters and type of a derive, checking it now if it is still unchecked.

    A derive that is being checked uses itself, so it is truth-valued unless it says otherwise.
    """
    if name in draft.derives:
        return draft.derives[name].params, draft.derives[name].type
    item = draft.derive_items[name]
    if name in draft.derives_open:
        params = formal_binders(Context(draft), item.params)
        return params, type_of_ref(draft, item.type) if item.type is not None else BOOL
    derive = _check(item, draft)
    return derive.params, derive.type


def _check(item: syn.DeriveDecl, draft: Draft) -> Derive:
    from tokenworld.check.expressions import check, fit

    name = item.name.value
    draft.derives_open.append(name)
    try:
        params = formal_binders(Context(draft), item.params)
        ctx = Context(draft, {binder.name: binder.type for binder in params})
        wanted = type_of_ref(draft, item.type) if item.type is not None else None
        term = check(item.value, ctx, wanted)
        if wanted is not None:
            term = fit(term, wanted, ctx, f"derive `{name}`")
    except Abandon:
        draft.derive_items.pop(name, None)
        raise
    finally:
        draft.derives_open.remove(name)
    kind = wanted if wanted is not None else term.type
    derive = Derive(name, params, term, kind, item.span)
    draft.derives[name] = derive
    return derive


def check_derives(draft: Draft) -> None:
    """Check every derive that nothing needed before."""
    for name in list(draft.derive_items):
        if name in draft.derive_items and name not in draft.derives:
            draft.attempt(lambda name=name: derive_type(name, draft))  # type: ignore[misc]
    _reorder(draft)


def _reorder(draft: Draft) -> None:
    """Declaration order, whatever order they were checked in."""
    draft.derives = {
        name: draft.derives[name] for name in draft.derive_items if name in draft.derives
    }


# ---- stratification -------------------------------------------------------------------


def _calls(term: Term, *, positive: bool = True) -> Iterator[tuple[DeriveCall, bool]]:
    """The derives a term calls, each with whether only monotone operators stand around it."""
    if isinstance(term, DeriveCall):
        yield term, positive
    for child in children(term):
        yield from _calls(child, positive=positive and _monotone(term, child))


def _monotone(parent: Term, child: Term) -> bool:
    match parent:
        case Not() | Arithmetic():
            return False
        case Compare():
            return False
        case Implies(left=left):
            return child is not left
        case Fold(fold=fold, value=value):
            return fold == "any" or (fold == "all" and child is value)
        case Choose(condition=condition):
            return child is not condition
        case _:
            return True


def _reaches(start: str, draft: Draft) -> set[str]:
    found: set[str] = set()
    todo = [start]
    while todo:
        for call, _ in _calls(draft.derives[todo.pop()].value):
            if call.derive in draft.derives and call.derive not in found:
                found.add(call.derive)
                todo.append(call.derive)
    return found


def stratify(draft: Draft) -> None:
    """Mark recursive derives and those that depend on the actor; report bad recursion."""
    reach = {name: _reaches(name, draft) for name in draft.derives}
    for name, derive in draft.derives.items():
        recursive = name in reach[name]
        if recursive:
            _check_cycle(derive, reach, draft)
        terms = [draft.derives[other].value for other in {name, *reach[name]}]
        uses_me = any(isinstance(sub, Me) for term in terms for sub in subterms(term))
        draft.derives[name] = replace(derive, recursive=recursive, uses_me=uses_me)


def _check_cycle(derive: Derive, reach: dict[str, set[str]], draft: Draft) -> None:
    if not isinstance(derive.type, BoolType):
        what = f"`{derive.name}` uses itself and is {show_type(derive.type)}."
        hint = "Only truth-valued derives may be recursive."
        draft.tell("TW0207", what, derive.span, "not truth-valued", hint)
        return
    for call, positive in _calls(derive.value):
        if not positive and (call.derive == derive.name or derive.name in reach[call.derive]):
            what = f"`{derive.name}` depends on itself through a negation or a calculation."
            hint = "A derive may use itself only where more facts can only make it truer."
            draft.tell("TW0207", what, call.span, "not stratified", hint)
            return
