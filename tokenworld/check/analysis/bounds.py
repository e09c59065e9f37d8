"""The bounds pass: numbers that may leave, or must leave, the range of their slot (language.md §7).

A number that a law may take out of its range is a warning (TW0503): its write is proved to stay
inside from the conditions known where it stands, with every other increment that its phase may add
to the slot. A value that is always outside is an error: as a value (TW0308), as a step that no
value of the range survives (TW0406); so are comparisons and clamps without meaning in the ranges
they meet (TW0406), and probabilities that always add up to more than 1 (TW0409).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations

from tokenworld import model as m
from tokenworld.check.analysis.aliasing import Knowledge, Population, repeats, skeleton
from tokenworld.check.analysis.intervals import (
    Facts,
    PlacedWrite,
    Translator,
    entry,
    outside,
    placed_writes,
    range_of,
    said,
    steps_of,
)
from tokenworld.check.analysis.linear import Interval, constant, hull
from tokenworld.check.analysis.substitution import renamed
from tokenworld.check.analysis.uses import nodes_below
from tokenworld.check.draft import Draft
from tokenworld.check.typing.types import can_equal
from tokenworld.diagnostics import Related, Span
from tokenworld.model import effects_in, is_optional, map_children, show_type, targets_of


def check_bounds(draft: Draft) -> None:
    """TW0503, and TW0308 and TW0406 for writes that are always outside, and TW0409."""
    draft.each("bounds", draft.rules, lambda rule: _rule(rule, draft))
    check_comparing(draft)
    check_leaving(draft)


def _rule(rule: m.Action | m.Law, draft: Draft) -> None:
    words = Translator(draft)
    if _concerns(rule.body):
        _bounded(rule.body, entry(rule, words), rule.name, draft)
    if isinstance(rule, m.Action) and _concerns(rule.cancelled):
        _bounded(rule.cancelled, Facts(words), rule.name, draft)


def _bounded(body: m.Body, facts: Facts, name: str, draft: Draft) -> None:
    _never_fits(tuple(_ranged(body, facts, name, (), draft)), draft)
    _chances(body, facts, draft)


def _concerns(body: m.Body) -> bool:
    """Return whether a body changes numbers or draws."""
    return any(
        isinstance(effect, m.Chance)
        or any(isinstance(target.type, m.NumberType) for target in targets_of(effect))
        for effect in effects_in(body)
    )


# ---- always outside ---------------------------------------------------------------------


def _ranged(
    body: m.Body, facts: Facts, rule: str, params: tuple[m.Binder, ...], draft: Draft
) -> Iterator[PlacedWrite]:
    """The writes of a body to numbers with a range that are not clamped."""
    for write in placed_writes(body, facts, rule, params):
        fluent = draft.fluents[write.target.fluent]
        kind = fluent.type
        if isinstance(kind, m.NumberType) and kind.low is not None and not fluent.clamped:
            yield write


def _never_fits(writes: tuple[PlacedWrite, ...], draft: Draft) -> None:
    """Report values and single steps that provably leave the range in every state."""
    for write in writes:
        fluent = draft.fluents[write.target.fluent]
        low, high = range_of(fluent)
        alone = sum(one.target.fluent == write.target.fluent for one in writes) == 1
        if not write.sets and not (alone and not write.binders):
            continue
        form = write.form if write.sets else write.form.plus(write.facts.form(write.target))
        found = write.facts.interval(form)
        if found is None or not outside(found, low, high):
            continue
        where = said(found, fluent)
        if write.sets:
            what = f"This value is {where}, and `{fluent.name}` is {show_type(fluent.type)}."
            hint = "Write a value inside the range, or widen the range."
            draft.tell("TW0308", what, write.span, "always outside the range", hint)
        else:
            what = f"No value of `{fluent.name}` survives this change: it would be {where}."
            hint = f"Change it by less, widen the range, or make `{fluent.name}` `clamped`."
            related = (Related(fluent.span, f"its range: {show_type(fluent.type)}"),)
            draft.tell("TW0406", what, write.span, "always outside the range", hint, related)


# ---- chances ----------------------------------------------------------------------------


def _chances(body: m.Body, facts: Facts, draft: Draft) -> None:
    """Probabilities that provably add up to more than 1 (TW0409)."""
    for step in steps_of(body, facts):
        if isinstance(step.effect, m.Chance):
            total = constant(0)
            for branch in step.effect.branches:
                total = total.plus(step.facts.form(branch.probability))
            found = step.facts.interval(total)
            if found is not None and found.low is not None and found.low > 1:
                first, last = step.effect.branches[0], step.effect.branches[-1]
                span = first.probability.span.join(last.probability.span)
                what = "The probabilities always add up to more than 1."
                hint = "Lower them, so that they add up to 1 or less."
                draft.tell("TW0409", what, span, f"{float(found.low):g} or more", hint)


_MIRRORED: dict[m.CompareOp, m.CompareOp] = {
    "==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}  # fmt: skip


def check_comparing(draft: Draft) -> None:
    """Check the comparisons of each rule and derive, but not of invariants and goals.

    An invariant may demand more than a range, and a planner answers for a goal.
    """
    for fluent in draft.fluents.values():
        bounded = isinstance(fluent.type, m.NumberType) and fluent.type.low is not None
        if fluent.clamped and not bounded:
            what = f"`{fluent.name}` is {show_type(fluent.type)}: it has no ends to stop at."
            hint = "Give it a range, such as `0 to 100`, or leave out `clamped`."
            draft.tell("TW0406", what, fluent.span, "clamped without a range", hint)
    draft.each("comparing", tuple(_rules(draft)), lambda node: _look(node, draft))


def _look(node: object, draft: Draft) -> None:
    words = Translator(draft)
    for term in _below(node):
        if isinstance(term, m.Compare):
            _comparison(term, draft)
        elif term.name == "clamp":
            _clamp(term, words, draft)


def _rules(draft: Draft) -> Iterator[object]:
    yield from draft.derives.values()
    yield from draft.actions.values()
    yield from draft.laws.values()
    yield from draft.watches.values()
    yield from (*draft.births, *draft.called, *draft.scopes, *draft.describes)
    yield from (world.setups for world in draft.worlds.values())


def _below(node: object) -> Iterable[m.Compare | m.BuiltinCall]:
    """Yield each comparison and call below a node once; guards contain copies of quoted terms."""
    found: dict[Span, m.Compare | m.BuiltinCall] = {}
    for one in nodes_below(node, (m.Compare, m.BuiltinCall)):
        found.setdefault(one.span, one)
    return found.values()


def _plain(term: m.Term) -> m.Term:
    return term.term if isinstance(term, m.Rescale) else term


def _comparison(term: m.Compare, draft: Draft) -> None:
    """A ranged value and a constant outside its range: the answer is known already."""
    left, right, op = term.left, term.right, term.op
    if isinstance(left, m.NumberLiteral):
        left, right, op = right, left, _MIRRORED[op]
    if not isinstance(_plain(left), (m.Read, m.ParamRead, m.Local)):
        return
    answer = _answer(left, right, op)
    if answer is None:
        return
    said = draft.text(left.span)
    what = f"`{said}` is {show_type(_plain(left).type)}, so this is always {answer}."
    hint = "Compare with a number inside the range, or widen the range."
    draft.tell("TW0406", what, term.span, f"always {answer}", hint)


def _answer(left: m.Term, right: m.Term, op: m.CompareOp) -> str | None:
    """The constant result of a comparison, ``true`` or ``false``; ``None`` if it varies."""
    kind = left.type
    if not isinstance(right, m.NumberLiteral) or not isinstance(kind, m.NumberType):
        return None
    if kind.low is None or kind.high is None or kind.low <= right.value <= kind.high:
        return None
    if op in ("==", "!="):
        return "false" if op == "==" else "true"
    holds = (op in ("<", "<=")) == (right.value > kind.high)
    if holds:
        return None if is_optional(kind) else "true"
    return "false"


def _clamp(call: m.BuiltinCall, words: Translator, draft: Draft) -> None:
    """``clamp(x, lo, hi)`` whose lower end always lies above the upper one."""
    _, low, high = call.args
    if not isinstance(call.type, m.NumberType):
        return
    gap = words.interval_of(words.form(low).minus(words.form(high)))
    if gap.low is not None and gap.low > 0:
        what = f"`{draft.text(low.span)}` always lies above `{draft.text(high.span)}`."
        hint = "Write the lower end first: `clamp(x, low, high)`."
        draft.tell("TW0406", what, call.span, "no number lies between", hint)


_Laws = Mapping[str, tuple[PlacedWrite, ...]]
_CHOICES = 4
"""The number of other writes that are combined in every way; more all count as possible."""


def check_leaving(draft: Draft) -> None:
    """Each write of a law stays in range, with what its phase may add to the slot."""
    people = Population.of(draft)
    laws = list(draft.laws.values())
    fluents = draft.memo.each("counted", laws, lambda law: _counted(law, draft))
    counted = [(law, some) for law, some in zip(laws, fluents, strict=True) if some]
    by_slot: dict[tuple[str, str], list[m.Law]] = {}
    for law, some in counted:
        for fluent in some:
            by_slot.setdefault((law.phase, fluent), []).append(law)
    for law, some in counted:
        beside = {one.name for fluent in some for one in by_slot[law.phase, fluent]}
        group = [one for one in laws if one.name in beside] if len(beside) > 1 else [law]
        parts = (law, *group, *people.key)
        draft.once("leaving", parts, partial(_stays, law, group, people, draft))


def _counted(law: m.Law, draft: Draft) -> frozenset[str]:
    """The ranged fluents that a law changes: only laws that share one are looked at together."""
    facts = Facts(Translator(draft))
    writes = _ranged(law.body, facts, law.name, law.params, draft)
    return frozenset(write.target.fluent for write in writes)


def _stays(law: m.Law, group: list[m.Law], people: Population, draft: Draft) -> None:
    words = Translator(draft)
    writes = {
        one.name: tuple(_ranged(one.body, entry(one, words), one.name, one.params, draft))
        for one in group
    }
    _may_leave(law, writes, people, draft)


def _may_leave(law: m.Law, laws: _Laws, people: Population, draft: Draft) -> None:
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
    write: PlacedWrite,
    law: m.Law,
    laws: _Laws,
    people: Population,
    draft: Draft,
) -> Interval | None:
    """The interval of the slot after the phase; ``None`` if the write never happens."""
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


def _turn(write: PlacedWrite, law: m.Law) -> PlacedWrite:
    """In turn, only the loops of a body repeat a change; the other bindings read its result."""
    return replace(write, binders=tuple(one for one in write.binders if one not in law.params))


def _turns(writes: list[PlacedWrite], law: m.Law) -> list[PlacedWrite]:
    return [_turn(write, law) for write in writes]


def _sequential(law: m.Law, draft: Draft) -> bool:
    return law.phase in draft.phases and draft.phases[law.phase].order != "simultaneous"


def _beside(write: PlacedWrite, law: m.Law, laws: _Laws, draft: Draft) -> Iterator[PlacedWrite]:
    """The other steps that may be added in the same evaluation as this one."""
    for name, writes in laws.items():
        other = draft.laws[name]
        if other.phase != law.phase or (other.name != law.name and _sequential(law, draft)):
            continue
        for one in writes:
            apart = other.name == law.name and _exclusive(one, write)
            if one is not write and not one.sets and not apart:
                yield one


def _exclusive(one: PlacedWrite, other: PlacedWrite) -> bool:
    """Return whether two writes of one body are in different branches of one effect."""
    return any(
        left[0] == right[0] and left[1] != right[1]
        for left, right in zip(one.step.path, other.step.path, strict=False)
    )


def _joins(one: PlacedWrite, write: PlacedWrite) -> bool:
    """Return whether one write surely comes with the other, to the same slot."""
    if one.rule != write.rule or one.step.path != write.step.path[: len(one.step.path)]:
        return False
    alike = skeleton(one.target.args) == skeleton(write.target.args)
    return alike and set(one.binders) <= set(write.binders)


def _meets(write: PlacedWrite, other: PlacedWrite, draft: Draft) -> bool:
    """Return whether two writes may hit one slot."""
    if write.target.fluent != other.target.fluent:
        return False
    pairs = zip(write.target.args, other.target.args, strict=True)
    if not all(can_equal(draft.types, one.type, two.type) for one, two in pairs):
        return False
    constants = Knowledge(draft.types, draft.fluents)
    return write.rule != other.rule or not constants.different(write.target.args, other.target.args)


def _seen_from(write: PlacedWrite, other: PlacedWrite) -> PlacedWrite:
    """Another law's write in terms of this one's variables, for the case that the slot is one."""
    if other.rule == write.rule:
        return other
    names = {binder.name: f"{binder.name} of {other.rule}" for binder in other.binders}
    for mine, theirs in zip(write.target.args, other.target.args, strict=True):
        if isinstance(mine, m.Local) and isinstance(theirs, m.Local):
            names[theirs.name] = mine.name
    there = skeleton(renamed(other.target, names))

    def change(term: m.Term) -> m.Term:
        return _met(renamed(term, names), there, write.target)

    binders = tuple(replace(one, name=names.get(one.name, one.name)) for one in other.binders)
    return replace(other.moved(change), binders=binders)


def _met(term: m.Term, slot: object, read: m.Read) -> m.Term:
    """The term with every read of a slot as this law reads it."""
    if skeleton(term) == slot:
        return read
    return map_children(term, lambda part: _met(part, slot, read))


def _subsets(others: list[PlacedWrite]) -> Iterator[list[PlacedWrite]]:
    """The sets of other writes that may happen too: all choices of a few, or many, each open."""
    if len(others) > _CHOICES:
        yield [replace(one, optional=True) for one in others]
        return
    for size in range(len(others) + 1):
        yield from (list(chosen) for chosen in combinations(others, size))


def _summed(write: PlacedWrite, others: list[PlacedWrite], people: Population) -> Interval | None:
    """The interval of the slot if these changes happen together; ``None`` if they cannot."""
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
