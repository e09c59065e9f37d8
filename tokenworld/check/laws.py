"""The laws pass: laws that meet in one phase, and `was` that never differs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from tokenworld.check.aliasing import skeleton
from tokenworld.check.draft import Draft
from tokenworld.check.intervals import Facts, entry, steps_of
from tokenworld.check.past import check_was
from tokenworld.check.relations import assignable
from tokenworld.check.substitution import renamed
from tokenworld.check.terms import Translator
from tokenworld.diagnostics import Related, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import Assign, Law, Local, NumberType, Read, Term, TextType, effects_in

__all__ = ["check_laws"]


def check_laws(draft: Draft) -> None:
    """TW0501 and TW0504."""
    laws = list(draft.laws.values())
    assigned = draft.memo.each("assigned", laws, _assigned)
    for position, later in draft.memo.whole("rivals", assigned, lambda: _rivals(assigned)):
        law, other = laws[position], laws[later]
        if _simultaneous(law, draft):
            draft.once("meet", (law, other), lambda a=law, b=other: _meet(a, b, draft))  # type: ignore[misc]
    check_was(draft)


_Assigned = tuple[str, frozenset[str]]
"""A phase and the fluents that a law assigns to there: only laws that share one can meet."""


def _assigned(law: Law) -> _Assigned:
    changes = (one for one in effects_in(law.body) if isinstance(one, Assign))
    return law.phase, frozenset(one.target.fluent for one in changes)


def _rivals(assigned: list[_Assigned]) -> list[tuple[int, int]]:
    """The positions of two laws of one phase that assign to one fluent, in order."""
    setters: dict[tuple[str, str], list[int]] = {}
    for position, (phase, fluents) in enumerate(assigned):
        for fluent in fluents:
            setters.setdefault((phase, fluent), []).append(position)
    shared = (some for some in setters.values() if len(some) > 1)
    return sorted({pair for some in shared for pair in combinations(some, 2)})


def _simultaneous(law: Law, draft: Draft) -> bool:
    return law.phase not in draft.phases or draft.phases[law.phase].order == "simultaneous"


# ---- two laws, one slot -----------------------------------------------------------------


@frozen
class _Change:
    """What a law does to one slot whenever the facts hold: not by a draw, not in a loop."""

    target: Read
    value: Term
    sets: bool
    facts: Facts
    span: Span

    def named(self, names: dict[str, str]) -> _Change:
        """The same with variables under other names."""

        def change(term: Term) -> Term:
            return renamed(term, names)

        target = change(self.target)
        assert isinstance(target, Read)
        return _Change(target, change(self.value), self.sets, self.facts.moved(change), self.span)


def _changes(law: Law, words: Translator) -> Iterator[_Change]:
    for step in steps_of(law.body, entry(law, words)):
        effect, facts = step.effect, step.facts
        if isinstance(effect, Assign) and step.certain and not step.loops:
            target = facts.open(effect.target)
            assert isinstance(target, Read)
            yield _Change(target, facts.open(effect.value), effect.op == "=", facts, effect.span)


def _meet(law: Law, other: Law, draft: Draft) -> None:
    """Two laws that provably give one slot two values (TW0501), told once for a pair."""
    words = Translator(draft)
    for one in _changes(law, words):
        for two in _changes(other, words):
            if _conflict(one, two, law, other, draft):
                what = f"`{law.name}` and `{other.name}` give one slot different values."
                hint = "Give one of them a condition that excludes the other, or a later phase."
                related = (Related(one.span, f"set by `{law.name}`"),)
                label = f"set by `{other.name}` too"
                draft.tell("TW0501", what, two.span, label, hint, related)
                return


def _conflict(one: _Change, two: _Change, law: Law, other: Law, draft: Draft) -> bool:
    if one.target.fluent != two.target.fluent or not (one.sets or two.sets):
        return False
    names = _same_slot(one, two, law, other)
    if names is None:
        return False
    seen = two.named(names)
    follows = one.facts.implies(seen.facts) and _covers(one, two, draft)
    leads = seen.facts.implies(one.facts) and _covers(two, one, draft)
    if not (follows or leads) or one.facts.excludes(seen.facts):
        return False
    return not (one.sets and seen.sets) or _unlike(one, seen)


def _same_slot(one: _Change, two: _Change, law: Law, other: Law) -> dict[str, str] | None:
    """Names for the other law's variables under which both write one slot."""
    names = {binder.name: f"{binder.name} of {other.name}" for binder in other.params}
    for mine, theirs in zip(one.target.args, two.target.args, strict=True):
        if isinstance(mine, Local) and isinstance(theirs, Local):
            names[theirs.name] = mine.name
    target = renamed(two.target, names)
    assert isinstance(target, Read)
    return names if skeleton(target.args) == skeleton(one.target.args) else None


def _covers(one: _Change, two: _Change, draft: Draft) -> bool:
    """Whether every slot that the first writes is one that the second writes."""
    pairs = zip(one.target.args, two.target.args, strict=True)
    return all(assignable(draft.types, mine.type, theirs.type) for mine, theirs in pairs)


def _unlike(one: _Change, two: _Change) -> bool:
    """Whether two values are provably different where both laws act."""
    for value in (one.value, two.value):
        optional = isinstance(value.type, NumberType) and value.type.optional
        if optional or isinstance(value.type, TextType):
            return False
    gap = one.facts.also(two.facts).interval(
        one.facts.form(one.value).minus(two.facts.form(two.value))
    )
    return gap is not None and gap.without_zero
