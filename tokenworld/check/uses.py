"""What a program uses: every term it evaluates or prints, wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from tokenworld.check.draft import Draft
from tokenworld.check.plain import sorted_fields
from tokenworld.model import (
    AddFact,
    Assign,
    Effect,
    Fluent,
    NumberType,
    Read,
    RemoveFact,
    Term,
    Transfer,
    subterms,
)

__all__ = ["effects_below", "parts_of", "program_parts", "roots_below", "terms_below"]

# Sets of classes: this walk meets every node of a program at every check.
_TERMS = frozenset(get_args(Term))
_EFFECTS = frozenset(get_args(Effect))
_CHANGES = frozenset((Assign, AddFact, RemoveFact, Transfer))
_ROOTS = _TERMS | _CHANGES


def program_parts(draft: Draft) -> tuple[object, ...]:
    """Everything of a checked draft that holds terms, in the order of the language reference."""
    fluents = draft.memo.of("parts of fluents", (draft.fluents,), lambda: _of_fluents(draft))
    return (
        fluents, tuple(draft.types.values()), tuple(draft.objects.values()),
        tuple(draft.params.values()), tuple(draft.derives.values()),
        tuple(draft.actions.values()), tuple(draft.laws.values()), tuple(draft.births),
        tuple(draft.watches.values()), tuple(draft.invariants.values()),
        tuple(draft.conserves.values()), tuple(draft.called), tuple(draft.scopes),
        tuple(draft.describes), tuple(draft.worlds.values()), tuple(draft.scenarios),
    )  # fmt: skip


def _of_fluents(draft: Draft) -> tuple[object, ...]:
    values = draft.fluents.values()
    return tuple(part for fluent in values for part in (fluent.default, fluent.rows) if part)


def parts_of(kind: type) -> tuple[str, ...]:
    """The fields of a class of the model in which terms and changes may stand, last ones first."""
    found = _PARTS.get(kind)
    if found is None:
        found = _PARTS[kind] = sorted_fields(kind)[1][::-1]
    return found


_PARTS: dict[type, tuple[str, ...]] = {}


def roots_below(part: object, draft: Draft) -> Iterator[Term]:
    """The outermost terms below any part of the model whose values count, in written order.

    A slot that is only written is not among them. A change that is guarded by what it changes (a
    range, `unique`, a containment) reads it: a refusal depends on the old value.
    """
    for one in _below(part, _ROOTS, _ROOTS):
        if type(one) in _TERMS:
            yield one
        else:
            yield from _of_change(one, draft)


def _below(part: object, wanted: frozenset[type], closed: frozenset[type]) -> Iterator[Any]:
    """The nodes of ``wanted`` classes in written order, without what is in a ``closed`` one."""
    todo: list[Any] = [part]
    while todo:
        one = todo.pop()
        kind = type(one)
        if kind in wanted:
            yield one
        if kind is tuple:
            todo += one[::-1]
        elif kind not in closed:
            todo += [getattr(one, name) for name in parts_of(kind)]


def _of_change(part: object, draft: Draft) -> Iterator[Term]:
    match part:
        case Assign(target=target, op=op, value=value):
            if op != "=" and _ranged(draft.fluents.get(target.fluent)):
                yield target
            yield from _of_target(target, draft)
            yield value
        case AddFact(target=target) | RemoveFact(target=target):
            yield from _of_target(target, draft)
        case Transfer(amount=amount, source=source, target=target):
            yield from (amount, source)
            yield from _of_target(target, draft)


def terms_below(part: object, draft: Draft) -> Iterator[Term]:
    """Every term below any part of the model whose value counts, subterms included."""
    for root in roots_below(part, draft):
        yield from subterms(root)


def effects_below(part: object) -> Iterator[Effect]:
    """Every change below any part of the model, nested ones included, in written order."""
    return _below(part, _EFFECTS, _TERMS)


def _of_target(target: Read, draft: Draft) -> Iterator[Term]:
    """The arguments of a written slot, and the slot itself where a constraint guards it."""
    fluent = draft.fluents.get(target.fluent)
    if fluent is not None and (fluent.unique or fluent.nested or fluent.acyclic):
        yield target
    yield from target.args


def _ranged(fluent: Fluent | None) -> bool:
    """Whether adding to a fluent may be refused, so that the old value matters."""
    bounded = fluent is not None and isinstance(fluent.type, NumberType)
    return bounded and fluent is not None and not fluent.clamped and _bounds(fluent)


def _bounds(fluent: Fluent) -> bool:
    return isinstance(fluent.type, NumberType) and fluent.type.low is not None
