"""Numbers that a law may take out of their range (TW0503, language.md §7).

A law's write is proved to stay inside from what is known where it stands, with every other
increment that its phase may add to the slot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations

from tokenworld.check.aliasing import Knowledge, skeleton
from tokenworld.check.draft import Draft
from tokenworld.check.intervals import Facts, entry
from tokenworld.check.linear import Interval, hull
from tokenworld.check.multiplicity import Population, repeats
from tokenworld.check.numbers import NumberWrite, number_writes, outside, range_of, said
from tokenworld.check.relations import can_equal
from tokenworld.check.substitution import renamed
from tokenworld.check.terms import Translator
from tokenworld.diagnostics import Related, Span
from tokenworld.model import (
    Law,
    Local,
    Read,
    Term,
    map_children,
    show_type,
)

__all__ = ["check_leaving"]

_Laws = Mapping[str, tuple[NumberWrite, ...]]
_CHOICES = 4
"""How many other writes are combined in every way; more are all counted as possible."""


def check_leaving(draft: Draft) -> None:
    """Each write of a law stays in range, with what its phase may add to the slot."""
    people = Population.of(draft)
    laws = list(draft.laws.values())
    fluents = draft.memo.each("counted", laws, lambda law: _counted(law, draft))
    counted = [(law, some) for law, some in zip(laws, fluents, strict=True) if some]
    by_slot: dict[tuple[str, str], list[Law]] = {}
    for law, some in counted:
        for fluent in some:
            by_slot.setdefault((law.phase, fluent), []).append(law)
    for law, some in counted:
        beside = {one.name for fluent in some for one in by_slot[law.phase, fluent]}
        group = [one for one in laws if one.name in beside] if len(beside) > 1 else [law]
        parts = (law, *group, *people.key)
        draft.once("leaving", parts, partial(_stays, law, group, people, draft))


def _counted(law: Law, draft: Draft) -> frozenset[str]:
    """The ranged fluents that a law changes: only laws that share one are looked at together."""
    facts = Facts(Translator(draft))
    writes = number_writes(law.body, facts, law.name, law.params, draft)
    return frozenset(write.target.fluent for write in writes)


def _stays(law: Law, group: list[Law], people: Population, draft: Draft) -> None:
    words = Translator(draft)
    writes = {
        one.name: tuple(number_writes(one.body, entry(one, words), one.name, one.params, draft))
        for one in group
    }
    _may_leave(law, writes, people, draft)


def _may_leave(law: Law, laws: _Laws, people: Population, draft: Draft) -> None:
    """Each write of a law stays in range, with what its phase may add to the slot (TW0503)."""
    told: set[tuple[str, Span]] = set()
    for write in laws[law.name]:
        fluent = draft.fluents[write.target.fluent]
        low, high = range_of(fluent)
        found = _reached(write, law, laws, people, draft)
        inside = found is None or (
            found.low is not None and found.low >= low
            and found.high is not None and found.high <= high
        )  # fmt: skip
        certain = found is not None and outside(found, low, high)
        if found is not None and not inside and not certain and (law.name, write.span) not in told:
            told.add((law.name, write.span))
            what = (
                f"`{law.name}` may take `{fluent.name}` out of its range: it may become "
                f"{said(found, fluent)}, and the tick is then rolled back."
            )
            hint = (
                "Add a condition to the law that keeps it inside, "
                f"or make `{fluent.name}` `clamped`."
            )
            related = (Related(fluent.span, f"its range: {show_type(fluent.type)}"),)
            draft.tell("TW0503", what, write.span, "may leave the range", hint, related)


def _reached(
    write: NumberWrite,
    law: Law,
    laws: _Laws,
    people: Population,
    draft: Draft,
) -> Interval | None:
    """Where the slot may lie after the phase; ``None`` if the write never happens."""
    if write.sets:
        return write.facts.interval(write.form)
    beside = [one for one in _beside(write, law, laws, draft) if _meets(write, one, draft)]
    others = [_seen_from(write, one) for one in beside]
    always = [one for one in others if _joins(one, write)]
    maybe = [one for one in others if not _joins(one, write)]
    sequential = _sequential(law, draft)
    if sequential:
        write, always, maybe = _turn(write, law), _turns(always, law), _turns(maybe, law)
    found = [
        one
        for part in _subsets(maybe)
        if (one := _summed(write, [*always, *part], people)) is not None
    ]
    return hull(found) if found else None


def _turn(write: NumberWrite, law: Law) -> NumberWrite:
    """In turn, only the loops of a body repeat a change; the other bindings read its result."""
    return replace(write, binders=tuple(one for one in write.binders if one not in law.params))


def _turns(writes: list[NumberWrite], law: Law) -> list[NumberWrite]:
    return [_turn(write, law) for write in writes]


def _sequential(law: Law, draft: Draft) -> bool:
    return law.phase in draft.phases and draft.phases[law.phase].order != "simultaneous"


def _beside(write: NumberWrite, law: Law, laws: _Laws, draft: Draft) -> Iterator[NumberWrite]:
    """The other steps that may be added in the same evaluation as this one."""
    for name, writes in laws.items():
        other = draft.laws[name]
        if other.phase != law.phase or (other.name != law.name and _sequential(law, draft)):
            continue
        for one in writes:
            apart = other.name == law.name and _exclusive(one, write)
            if one is not write and not one.sets and not apart:
                yield one


def _exclusive(one: NumberWrite, other: NumberWrite) -> bool:
    """Whether two writes of one body stand in different branches of one effect."""
    return any(
        left[0] == right[0] and left[1] != right[1]
        for left, right in zip(one.path, other.path, strict=False)
    )


def _joins(one: NumberWrite, write: NumberWrite) -> bool:
    """Whether one write surely comes with the other, to the same slot."""
    if one.rule != write.rule or one.path != write.path[: len(one.path)]:
        return False
    alike = skeleton(one.target.args) == skeleton(write.target.args)
    return alike and set(one.binders) <= set(write.binders)


def _meets(write: NumberWrite, other: NumberWrite, draft: Draft) -> bool:
    """Whether two writes may hit one slot."""
    if write.target.fluent != other.target.fluent:
        return False
    pairs = zip(write.target.args, other.target.args, strict=True)
    if not all(can_equal(draft.types, one.type, two.type) for one, two in pairs):
        return False
    constants = Knowledge(draft.types, draft.fluents)
    return write.rule != other.rule or not constants.different(write.target.args, other.target.args)


def _seen_from(write: NumberWrite, other: NumberWrite) -> NumberWrite:
    """Another law's write in terms of this one's variables, for the case that the slot is one."""
    if other.rule == write.rule:
        return other
    names = {binder.name: f"{binder.name} of {other.rule}" for binder in other.binders}
    for mine, theirs in zip(write.target.args, other.target.args, strict=True):
        if isinstance(mine, Local) and isinstance(theirs, Local):
            names[theirs.name] = mine.name
    there = skeleton(renamed(other.target, names))

    def change(term: Term) -> Term:
        return _met(renamed(term, names), there, write.target)

    target = change(other.target)
    assert isinstance(target, Read)
    return replace(
        other,
        target=replace(other.target, args=tuple(renamed(arg, names) for arg in other.target.args)),
        value=change(other.facts.open(other.value)),
        facts=other.facts.moved(change),
        binders=tuple(replace(one, name=names.get(one.name, one.name)) for one in other.binders),
    )


def _met(term: Term, slot: object, read: Read) -> Term:
    """The term with every read of a slot as this law reads it."""
    if skeleton(term) == slot:
        return read
    return map_children(term, lambda part: _met(part, slot, read))


def _subsets(others: list[NumberWrite]) -> Iterator[list[NumberWrite]]:
    """Which of the others happen too: every choice of a few, or all of many, each left open."""
    if len(others) > _CHOICES:
        yield [replace(one, optional=True) for one in others]
        return
    for size in range(len(others) + 1):
        yield from (list(chosen) for chosen in combinations(others, size))


def _summed(write: NumberWrite, others: list[NumberWrite], people: Population) -> Interval | None:
    """Where the slot lies if these changes happen together; ``None`` if they cannot."""
    facts, total = write.facts, write.facts.form(write.target)
    for one in others:
        if not one.optional:
            facts = facts.also(one.facts)
    several: list[Interval] = []
    for one in (write, *others):
        times = repeats(one.target.args, one.binders, one.facts.true, people)
        if times == 1 and not one.optional:
            total = total.plus(one.form)
        else:
            each = facts.interval(one.form)
            if each is None:
                return None
            several.append(_repeated(each, times, least=0 if one.optional else 1))
    found = facts.interval(total)
    if found is None:
        return None
    for interval in several:
        low = None if None in (found.low, interval.low) else _of(found.low) + _of(interval.low)
        high = None if None in (found.high, interval.high) else _of(found.high) + _of(interval.high)
        found = Interval(low, high)
    return found


def _of(value: Fraction | None) -> Fraction:
    assert value is not None
    return value


def _repeated(each: Interval, times: int | None, least: int) -> Interval:
    """The sum of ``least`` to ``times`` values of an interval (``None``: any number of times)."""

    def end(value: Fraction | None, outward: bool) -> Fraction | None:
        if value is None:
            return None
        if outward:
            return None if times is None else value * times
        return value * least

    low = end(each.low, outward=each.low is not None and each.low < 0)
    high = end(each.high, outward=each.high is not None and each.high > 0)
    return Interval(low, high)
