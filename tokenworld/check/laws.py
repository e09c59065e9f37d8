"""The laws pass: laws that meet in one phase, ranges they may leave, `was` that never differs."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.check.aliasing import skeleton
from tokenworld.check.draft import Draft
from tokenworld.check.relations import can_equal
from tokenworld.diagnostics import Related
from tokenworld.model import (
    And,
    Arithmetic,
    Assign,
    Body,
    BoolLiteral,
    Compare,
    EnumLiteral,
    Fluent,
    If,
    Law,
    NumberLiteral,
    NumberType,
    Read,
    Rescale,
    Term,
    Transfer,
    effects_in,
    subterms,
    terms_of,
)

__all__ = ["check_laws"]


def check_laws(draft: Draft) -> None:
    """TW0501, TW0503 and TW0504."""
    laws = list(draft.laws.values())
    for position, law in enumerate(laws):
        for other in laws[position + 1 :]:
            if law.phase == other.phase and _simultaneous(law, draft):
                _meet(law, other, draft)
        _ranges(law, draft)
        _was(law, draft)


def _simultaneous(law: Law, draft: Draft) -> bool:
    return law.phase not in draft.phases or draft.phases[law.phase].order == "simultaneous"


# ---- two laws, one slot -----------------------------------------------------------------


def _sets(law: Law) -> Iterator[Assign]:
    """What a law sets whenever it runs: assignments outside `if`, `for` and chance."""
    for effect in law.body:
        if isinstance(effect, Assign) and effect.op == "=":
            yield effect


def _meet(law: Law, other: Law, draft: Draft) -> None:
    """Two laws that always run and set one slot to different constants (TW0501)."""
    if law.when is not None or other.when is not None:
        return
    for one in _sets(law):
        for two in _sets(other):
            if _conflict(one, two, draft):
                what = f"`{law.name}` and `{other.name}` give one slot different values."
                hint = "Give one of them a condition that excludes the other, or a later phase."
                related = (Related(one.span, f"set by `{law.name}`"),)
                label = f"set by `{other.name}` too"
                draft.tell("TW0501", what, two.span, label, hint, related)
                return


def _conflict(one: Assign, two: Assign, draft: Draft) -> bool:
    kinds = (NumberLiteral, EnumLiteral, BoolLiteral)
    if one.target.fluent != two.target.fluent:
        return False
    if not isinstance(one.value, kinds) or not isinstance(two.value, kinds):
        return False
    if skeleton(one.value) == skeleton(two.value):
        return False
    pairs = zip(one.target.args, two.target.args, strict=True)
    return all(can_equal(draft.types, left.type, right.type) for left, right in pairs)


# ---- ranges -----------------------------------------------------------------------------


def _ranges(law: Law, draft: Draft) -> None:
    """Every change of a bounded number is proved from the law's condition (else TW0503)."""
    for effect, known in _guarded(law.body, _conjuncts(law.when)):
        if isinstance(effect, Assign) and effect.op != "=":
            fluent = draft.fluents[effect.target.fluent]
            if not _stays(effect, fluent, known):
                _warn(law, effect, fluent, draft)


def _guarded(
    body: Body, known: tuple[Term, ...]
) -> Iterator[tuple[Assign | Transfer, tuple[Term, ...]]]:
    """The changes of numbers in a body with the conditions that hold there."""
    for effect in body:
        if isinstance(effect, If):
            yield from _guarded(effect.then, (*known, *_conjuncts(effect.condition)))
            yield from _guarded(effect.otherwise, known)
        elif isinstance(effect, (Assign, Transfer)):
            yield effect, known
        else:
            for inner in effects_in((effect,)):
                if isinstance(inner, (Assign, Transfer)):
                    yield inner, known


def _conjuncts(condition: Term | None) -> tuple[Term, ...]:
    if condition is None:
        return ()
    if isinstance(condition, And):
        return tuple(part for term in condition.terms for part in _conjuncts(term))
    return (condition,)


def _stays(effect: Assign, fluent: Fluent, known: tuple[Term, ...]) -> bool:
    kind, by = fluent.type, effect.value.type
    if not isinstance(kind, NumberType) or fluent.clamped:
        return True
    if not isinstance(by, NumberType):
        return False
    up = effect.op == "+="
    lowers = by.low is None or (by.low < 0 if up else True)
    raises = by.high is None or (by.high > 0 if up else by.low is None or by.low < 0)
    high = not raises or kind.high is None or _bounded(effect, known, kind.high, above=True)
    low = not lowers or kind.low is None or _bounded(effect, known, kind.low, above=False)
    return high and low


def _bounded(effect: Assign, known: tuple[Term, ...], limit: int, *, above: bool) -> bool:
    """Whether a known comparison keeps the slot on the right side of ``limit``."""
    return any(_implies(part, effect, limit, above=above) for part in known)


def _implies(part: Term, effect: Assign, limit: int, *, above: bool) -> bool:
    if not isinstance(part, Compare) or not isinstance(part.right, NumberLiteral):
        return _swapped(part, effect, above=above)
    strict = 1 if part.op in ("<", ">") else 0
    if part.op not in (("<", "<=") if above else (">", ">=")):
        return False
    bound = part.right.value - strict if above else part.right.value + strict
    left = _plain(part.left)
    if _is_slot(left, effect):
        by = effect.value.type
        assert isinstance(by, NumberType)
        step = by.high if (effect.op == "+=") == above else by.low
        if step is None:
            return False
        reached = bound + step if effect.op == "+=" else bound - (by.high or 0)
        return reached <= limit if above else reached >= limit
    op = "+" if effect.op == "+=" else "-"
    if isinstance(left, Arithmetic) and left.op == op and _is_slot(_plain(left.left), effect):
        same = skeleton(_plain(left.right)) == skeleton(_plain(effect.value))
        return same and (bound <= limit if above else bound >= limit)
    return False


def _swapped(part: Term, effect: Assign, *, above: bool) -> bool:
    """``x >= e`` keeps ``x -= e`` at 0 or more."""
    if above or effect.op != "-=" or not isinstance(part, Compare) or part.op not in (">", ">="):
        return False
    same = skeleton(_plain(part.right)) == skeleton(_plain(effect.value))
    return _is_slot(_plain(part.left), effect) and same


def _plain(term: Term) -> Term:
    return term.term if isinstance(term, Rescale) else term


def _is_slot(term: Term, effect: Assign) -> bool:
    return isinstance(term, Read) and skeleton(term) == skeleton(effect.target)


def _warn(law: Law, effect: Assign, fluent: Fluent, draft: Draft) -> None:
    what = f"`{law.name}` may take `{fluent.name}` out of its range; the tick is then rolled back."
    hint = f"Add a condition to the law that keeps it inside, or make `{fluent.name}` `clamped`."
    related = (Related(fluent.span, "its range"),)
    draft.tell("TW0503", what, effect.span, "may leave the range", hint, related)


# ---- was --------------------------------------------------------------------------------


def _was(law: Law, draft: Draft) -> None:
    """`was` of a fluent that nothing writes never differs (TW0504)."""
    written = _written(draft)
    terms = [*([law.when] if law.when is not None else [])]
    terms += [term for effect in effects_in(law.body) for term in terms_of(effect)]
    for term in terms:
        for part in subterms(term):
            if isinstance(part, Read) and part.was and part.fluent not in written:
                name = draft.fluents[part.fluent].name
                what = f"Nothing changes `{name}`, so `was` never differs from it."
                draft.tell("TW0504", what, part.span, "never changes", "Leave out `was`.")


def _written(draft: Draft) -> frozenset[str]:
    from tokenworld.check.writes import written_slots

    rules = [law.body for law in draft.laws.values()]
    rules += [body for one in draft.actions.values() for body in (one.body, one.cancelled)]
    return frozenset(
        write.fluent
        for body in rules
        for effect in effects_in(body)
        for write in written_slots(effect, draft)
    )
