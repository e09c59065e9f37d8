"""Counters that grow with every tick and never come back (TW0906)."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.check.draft import Draft
from tokenworld.check.uses import effects_below, terms_below
from tokenworld.check.writes import written_slots
from tokenworld.diagnostics import Related
from tokenworld.model import (
    Action,
    Assign,
    Birth,
    Body,
    Effect,
    Fluent,
    If,
    Law,
    NumberType,
    Read,
    bodies,
    effects_in,
)

__all__ = ["check_growth"]


def check_growth(draft: Draft) -> None:
    """An `int` that laws increase, under no condition on it, and that nothing decreases."""
    fluents = draft.fluents
    endless = draft.memo.of(
        "endless", (fluents,), lambda: [one for one in fluents.values() if _has_no_end(one)]
    )
    if not endless:
        return
    actions, laws = tuple(draft.actions.values()), tuple(draft.laws.values())
    rules: tuple[Action | Law | Birth, ...] = (*actions, *laws, *draft.births)
    falls = draft.memo.each("falling", rules, lambda rule: _falling(rule, draft))
    falling = frozenset[str]().union(*falls)
    raised: dict[str, list[Law]] = {}
    for law, names in zip(laws, draft.memo.each("raised", laws, _raised), strict=True):
        for name in names:
            raised.setdefault(name, []).append(law)
    for fluent in endless:
        if fluent.id in raised and fluent.id not in falling:
            found = _increase(fluent, raised[fluent.id], draft)
            if found is not None:
                _tell(*found, fluent, draft)


def _has_no_end(fluent: Fluent) -> bool:
    return isinstance(fluent.type, NumberType) and fluent.type.high is None


def _raised(law: Law) -> frozenset[str]:
    """The fluents that a law adds to, under whatever condition."""
    changes = (one for one in effects_in(law.body) if isinstance(one, Assign))
    return frozenset(one.target.fluent for one in changes if _rises(one))


def _falling(rule: Action | Law | Birth, draft: Draft) -> frozenset[str]:
    """The fluents that a rule may set to less."""
    return frozenset(name for one in effects_below(rule) for name in _falls(one, draft))


def _tell(law: Law, effect: Assign, fluent: Fluent, draft: Draft) -> None:
    what = f"`{fluent.name}` grows without bound: `{law.name}` adds to it and nothing takes away."
    hint = "Give it a range with `clamped`, a condition, or use `tick()` to count ticks."
    related = (Related(fluent.span, "it has no upper end"),)
    draft.tell("TW0906", what, effect.span, "adds in every tick", hint, related)


def _increase(fluent: Fluent, laws: list[Law], draft: Draft) -> tuple[Law, Assign] | None:
    """The first law that adds to the fluent whatever its value."""
    for law in laws:
        if _reads(law.when, fluent, draft):
            continue
        for effect in _unguarded(law.body, fluent, draft):
            if isinstance(effect, Assign) and effect.target.fluent == fluent.id and _rises(effect):
                return law, effect
    return None


def _unguarded(body: Body, fluent: Fluent, draft: Draft) -> Iterator[Effect]:
    """The changes of a body that no test of the fluent guards."""
    for effect in body:
        if isinstance(effect, If) and _reads(effect.condition, fluent, draft):
            continue
        yield effect
        for inner in bodies(effect):
            yield from _unguarded(inner, fluent, draft)


def _reads(part: object, fluent: Fluent, draft: Draft) -> bool:
    return any(
        isinstance(term, Read) and term.fluent == fluent.id for term in terms_below(part, draft)
    )


def _rises(effect: Assign) -> bool:
    """`+=` of an amount that is never negative and sometimes positive."""
    kind = effect.value.type
    if effect.op != "+=" or not isinstance(kind, NumberType):
        return False
    return kind.low is not None and kind.low >= 0 and kind.high != 0


def _falls(effect: Effect, draft: Draft) -> Iterator[str]:
    """The fluents that a change may set to less."""
    if not isinstance(effect, Assign):
        yield from (write.fluent for write in written_slots(effect, draft))
    elif not _rises(effect) and not _still(effect):
        yield effect.target.fluent


def _still(effect: Assign) -> bool:
    kind = effect.value.type
    return effect.op != "=" and isinstance(kind, NumberType) and kind.low == kind.high == 0
