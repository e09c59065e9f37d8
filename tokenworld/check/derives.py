"""The derives and strata passes: derived facts and their recursion (language.md §3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from tokenworld import model as m
from tokenworld.check.draft import Draft
from tokenworld.check.typing.expressions import derive_type
from tokenworld.model import children, show_type, subterms


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


def _calls(term: m.Term, *, positive: bool = True) -> Iterator[tuple[m.DeriveCall, bool]]:
    """The derives a term calls, each with whether only monotone operators stand around it."""
    if isinstance(term, m.DeriveCall):
        yield term, positive
    for child in children(term):
        yield from _calls(child, positive=positive and _monotone(term, child))


def _monotone(parent: m.Term, child: m.Term) -> bool:
    match parent:
        case m.Not() | m.Arithmetic():
            return False
        case m.Compare():
            return False
        case m.Implies(left=left):
            return child is not left
        case m.Fold(fold=fold, value=value):
            return fold == "any" or (fold == "all" and child is value)
        case m.Choose(condition=condition):
            return child is not condition
        case (
            m.LeafTerm() | m.StateTerm() | m.And() | m.Or() | m.Member() | m.IsType() | m.Negate()
            | m.Rescale() | m.ToReal() | m.ListTerm() | m.BuiltinCall() | m.TemplateTerm()
        ):  # fmt: skip
            return True
        case _:
            assert_never(parent)


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
        uses_me = any(isinstance(sub, m.Me) for term in terms for sub in subterms(term))
        draft.derives[name] = replace(derive, recursive=recursive, uses_me=uses_me)


def _check_cycle(derive: m.Derive, reach: dict[str, set[str]], draft: Draft) -> None:
    for param in derive.params:
        if isinstance(param.type, (m.BoolType, m.RealType)):
            what = f"`{derive.name}` uses itself, and `{param.name}` has no list of values."
            hint = "Give it objects, members or whole numbers of a range."
            draft.tell("TW0207", what, param.span, show_type(param.type), hint)
            return
    if not isinstance(derive.type, m.BoolType):
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
