"""The laws pass: laws that meet in one phase, and `was` that never differs (language.md §7).

A pair of laws in a sequential phase depends on their order if one binding writes a slot that a
binding of the other reads or writes. Slots are told apart by the aliasing rules of §5; slots that
cannot be told apart count as equal, so a pair that is not listed never depends on the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Literal

from tokenworld import model as m
from tokenworld.check.analysis.aliasing import Knowledge, skeleton, slots_read
from tokenworld.check.analysis.intervals import (
    PlacedWrite,
    Translator,
    entry,
    placed_writes,
    unlike,
)
from tokenworld.check.analysis.substitution import Rulebook, renamed
from tokenworld.check.analysis.uses import check_was, written_slots
from tokenworld.check.draft import Draft
from tokenworld.check.typing.types import assignable, can_equal
from tokenworld.diagnostics import Related, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import binders_of, effects_in, subterms, terms_of


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


def _assigned(law: m.Law) -> _Assigned:
    changes = (one for one in effects_in(law.body) if isinstance(one, m.Assign))
    return law.phase, frozenset(one.target.fluent for one in changes)


def _rivals(assigned: list[_Assigned]) -> list[tuple[int, int]]:
    """The positions of two laws of one phase that assign to one fluent, in order."""
    setters: dict[tuple[str, str], list[int]] = {}
    for position, (phase, fluents) in enumerate(assigned):
        for fluent in fluents:
            setters.setdefault((phase, fluent), []).append(position)
    shared = (some for some in setters.values() if len(some) > 1)
    return sorted({pair for some in shared for pair in combinations(some, 2)})


def _simultaneous(law: m.Law, draft: Draft) -> bool:
    return law.phase not in draft.phases or draft.phases[law.phase].order == "simultaneous"


# ---- two laws, one slot -----------------------------------------------------------------


def _changes(law: m.Law, words: Translator) -> Iterator[PlacedWrite]:
    """The assignments that a law makes whenever the facts hold: no draw, no loop."""
    for one in placed_writes(law.body, entry(law, words), law.name, law.params):
        if isinstance(one.step.effect, m.Assign) and one.step.certain and not one.step.loops:
            yield one


def _meet(law: m.Law, other: m.Law, draft: Draft) -> None:
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


def _conflict(one: PlacedWrite, two: PlacedWrite, law: m.Law, other: m.Law, draft: Draft) -> bool:
    if one.target.fluent != two.target.fluent or not (one.sets or two.sets):
        return False
    names = _same_slot(one, two, other)
    if names is None:
        return False
    seen = two.moved(lambda term: renamed(term, names))
    follows = one.facts.implies(seen.facts) and _covers(one, two, draft)
    leads = seen.facts.implies(one.facts) and _covers(two, one, draft)
    if not (follows or leads) or one.facts.excludes(seen.facts):
        return False
    return not (one.sets and seen.sets) or unlike(one.facts, one.value, seen.facts, seen.value)


def _same_slot(one: PlacedWrite, two: PlacedWrite, other: m.Law) -> dict[str, str] | None:
    """Names for the other law's variables under which both write one slot."""
    names = {binder.name: f"{binder.name} of {other.name}" for binder in other.params}
    for mine, theirs in zip(one.target.args, two.target.args, strict=True):
        if isinstance(mine, m.Local) and isinstance(theirs, m.Local):
            names[theirs.name] = mine.name
    target = renamed(two.target, names)
    assert isinstance(target, m.Read)
    return names if skeleton(target.args) == skeleton(one.target.args) else None


def _covers(one: PlacedWrite, two: PlacedWrite, draft: Draft) -> bool:
    """Return whether every slot that the first writes is one that the second writes."""
    pairs = zip(one.target.args, two.target.args, strict=True)
    return all(assignable(draft.types, mine.type, theirs.type) for mine, theirs in pairs)


Use = Literal["reads", "writes"]


@frozen
class OrderPair:
    """``first`` writes ``what`` (a fluent's name, or a type that gains or loses objects)."""

    phase: str
    first: str
    second: str
    what: str
    use: Use
    write: Span
    other: Span


@frozen
class _Access:
    """A slot that one binding of a law reads or writes; ``args`` ``None``: any slot."""

    fluent: str
    args: tuple[m.Term, ...] | None
    use: Use
    op: str
    span: Span
    known: Knowledge
    value: m.Term | None = None


def order_pairs(book: Rulebook) -> tuple[OrderPair, ...]:
    """Every pair of laws of sequential phases, each law with itself too, one entry per fluent."""
    found: list[OrderPair] = []
    for phase in book.phases.values():
        if phase.order == "simultaneous":
            continue
        laws = [law for law in book.laws.values() if law.phase == phase.name]
        for position, law in enumerate(laws):
            for other in laws[position:]:
                found += _pairs(law, other, phase, book)
    return tuple(found)


def _pairs(law: m.Law, other: m.Law, phase: m.Phase, book: Rulebook) -> Iterator[OrderPair]:
    names = {one.name: f"{one.name} of {other.name}" for one in other.params}
    mine = list(_accesses(law, {}, book))
    theirs = list(_accesses(other, names, book))
    seen: set[str] = set()
    for writer, reader, one, two in _both_ways(law, other, mine, theirs):
        if one.fluent in seen or not _meets(one, two, law, other, names):
            continue
        seen.add(one.fluent)
        name = book.fluents[one.fluent].name
        yield OrderPair(phase.name, writer, reader, name, two.use, one.span, two.span)
    yield from _lives(law, other, phase, book)


def _both_ways(
    law: m.Law, other: m.Law, mine: list[_Access], theirs: list[_Access]
) -> Iterator[tuple[str, str, _Access, _Access]]:
    """Each write of one law with each use by the other, and the other way round."""
    ways = [(law, other, mine, theirs)]
    if law is not other:
        ways.append((other, law, theirs, mine))
    for writer, reader, writes, uses in ways:
        for one in writes:
            if one.use == "writes":
                yield from ((writer.name, reader.name, one, two) for two in uses)


def _accesses(law: m.Law, names: dict[str, str], book: Rulebook) -> Iterator[_Access]:
    base = Knowledge(book.types, book.fluents)
    terms = [law.when] if law.when is not None else []
    for effect in effects_in(law.body):
        terms += terms_of(effect)
        for write in written_slots(effect, book):
            args = None if write.args is None else _named(write.args, names)
            yield _Access(
                write.fluent, args, "writes", write.op, write.span, base, write.value
            )  # fmt: skip
        if isinstance(effect, m.Create):
            own = m.Local(f"{effect.name} made", m.ObjectType(effect.of), effect.span)
            for given in effect.fields:
                yield _Access(given.fluent, (own,), "writes", "create", given.span, base)
    for term in terms:
        for fluent, args, span, known in slots_read(renamed(term, names), book, base):
            yield _Access(fluent, args, "reads", "", span, known)


def _named(args: tuple[m.Term, ...], names: dict[str, str]) -> tuple[m.Term, ...]:
    return tuple(renamed(arg, names) for arg in args)


def _meets(one: _Access, two: _Access, law: m.Law, other: m.Law, names: dict[str, str]) -> bool:
    """Return whether a write and a use may be of one slot, in an order that matters."""
    if one.fluent != two.fluent or one.op == two.op == "create":
        return False
    if two.use == "writes" and one.op == two.op and _agree(one, two):
        return False
    if two.use == "writes" and {one.op, two.op} <= {"+=", "-="}:
        return _stops(one, one.known)
    if one.args is None or two.args is None:
        return True
    if law is other and _same_binding(one, two, names):
        return False
    return not two.known.different(one.args, two.args)


def _agree(one: _Access, two: _Access) -> bool:
    """Return whether two writes of one kind leave the same, whichever comes last."""
    if one.op in ("add", "remove", "destroy"):
        return True
    return isinstance(one.value, m.ConstantTerm) and skeleton(one.value) == skeleton(two.value)


def _stops(one: _Access, known: Knowledge) -> bool:
    """Increments add up in any order, unless the number stops at the ends of its range."""
    return known.fluents[one.fluent].clamped


def _same_binding(one: _Access, two: _Access, names: dict[str, str]) -> bool:
    """Return whether equal slots mean equal bindings: every variable is an argument of both."""
    assert one.args is not None
    assert two.args is not None
    shared = {
        mine.name
        for mine, theirs in zip(one.args, two.args, strict=True)
        if isinstance(mine, m.Local)
        and isinstance(theirs, m.Local)
        and names.get(mine.name) == theirs.name
    }
    return bool(names) and names.keys() <= shared


# ---- laws that create or destroy objects ------------------------------------------------


def _lives(law: m.Law, other: m.Law, phase: m.Phase, book: Rulebook) -> Iterator[OrderPair]:
    """One law makes or ends objects, the other one goes through objects of that type."""
    ways = [(law, other)] if law is other else [(law, other), (other, law)]
    for maker, user in ways:
        for effect in effects_in(maker.body):
            kind = _kind(effect)
            binder = None if kind is None else _counts(user, kind, book, maker is user)
            if kind is not None and binder is not None:
                use: Use = "reads"
                yield OrderPair(
                    phase.name, maker.name, user.name, kind.name, use, effect.span, binder.span
                )
                return


def _kind(effect: object) -> m.ObjectType | None:
    if isinstance(effect, m.Create):
        return m.ObjectType(effect.of)
    if isinstance(effect, m.Destroy) and isinstance(effect.target.type, m.ObjectType):
        return effect.target.type
    return None


def _counts(law: m.Law, kind: m.ObjectType, book: Rulebook, itself: bool) -> m.Binder | None:
    """A variable of a law that runs over the objects of a type."""
    binders = [] if itself else list(law.params)
    terms = [law.when] if law.when is not None else []
    for effect in effects_in(law.body):
        terms += terms_of(effect)
        binders += binders_of(effect)
    for term in terms:
        for part in subterms(term):
            binders += part.binders if isinstance(part, m.Fold) else ()
    for binder in binders:
        runs = isinstance(binder.domain, m.TypeRange) and isinstance(binder.type, m.ObjectType)
        if runs and can_equal(book.types, binder.type, kind):
            return binder
    return None
