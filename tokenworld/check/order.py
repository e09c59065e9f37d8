"""Pairs of laws whose result may depend on the order in a sequential phase (language.md §7).

One binding writes a slot that another one reads or writes. Slots are told apart by the aliasing
rules of §5; what cannot be told apart counts, so a pair that is not listed never depends on order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from tokenworld.check.aliasing import Knowledge, skeleton
from tokenworld.check.reading import slots_read
from tokenworld.check.relations import can_equal
from tokenworld.check.rulebook import Rulebook
from tokenworld.check.substitution import renamed
from tokenworld.check.writes import written_slots
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    Binder,
    Create,
    Destroy,
    Fold,
    For,
    Law,
    Local,
    ObjectType,
    Phase,
    Pick,
    Term,
    TypeRange,
    effects_in,
    subterms,
    terms_of,
)

__all__ = ["OrderPair", "order_pairs"]

Use = Literal["reads", "writes"]
_CONSTANTS = ("bool_literal", "number_literal", "enum_literal", "none_literal", "object_literal")


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
    args: tuple[Term, ...] | None
    use: Use
    op: str
    span: Span
    known: Knowledge
    value: Term | None = None


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


def _pairs(law: Law, other: Law, phase: Phase, book: Rulebook) -> Iterator[OrderPair]:
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
    law: Law, other: Law, mine: list[_Access], theirs: list[_Access]
) -> Iterator[tuple[str, str, _Access, _Access]]:
    """Each write of one law with each use by the other, and the other way round."""
    ways = [(law, other, mine, theirs)]
    if law is not other:
        ways.append((other, law, theirs, mine))
    for writer, reader, writes, uses in ways:
        for one in writes:
            if one.use == "writes":
                yield from ((writer.name, reader.name, one, two) for two in uses)


def _accesses(law: Law, names: dict[str, str], book: Rulebook) -> Iterator[_Access]:
    base = Knowledge(book.types, book.fluents)
    terms = [law.when] if law.when is not None else []
    for effect in effects_in(law.body):
        terms += terms_of(effect)
        for write in written_slots(effect, book):
            args = None if write.args is None else _named(write.args, names)
            yield _Access(
                write.fluent, args, "writes", write.op, write.span, base, write.value
            )  # fmt: skip
        if isinstance(effect, Create):
            own = Local(f"{effect.name} made", ObjectType(effect.of), effect.span)
            for given in effect.fields:
                yield _Access(given.fluent, (own,), "writes", "create", given.span, base)
    for term in terms:
        for fluent, args, span, known in slots_read(renamed(term, names), book, base):
            yield _Access(fluent, args, "reads", "", span, known)


def _named(args: tuple[Term, ...], names: dict[str, str]) -> tuple[Term, ...]:
    return tuple(renamed(arg, names) for arg in args)


def _meets(one: _Access, two: _Access, law: Law, other: Law, names: dict[str, str]) -> bool:
    """Whether a write and a use may be of one slot, in an order that matters."""
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
    """Whether two writes of one kind leave the same, whichever comes last."""
    if one.op in ("add", "remove", "destroy"):
        return True
    alike = one.value is not None and skeleton(one.value) == skeleton(two.value)
    return alike and one.value is not None and one.value.kind in _CONSTANTS


def _stops(one: _Access, known: Knowledge) -> bool:
    """Increments add up in any order, unless the number stops at the ends of its range."""
    return known.fluents[one.fluent].clamped


def _same_binding(one: _Access, two: _Access, names: dict[str, str]) -> bool:
    """Whether equal slots mean equal bindings: every variable is an argument of both."""
    assert one.args is not None
    assert two.args is not None
    shared = {
        mine.name
        for mine, theirs in zip(one.args, two.args, strict=True)
        if isinstance(mine, Local)
        and isinstance(theirs, Local)
        and names.get(mine.name) == theirs.name
    }
    return bool(names) and names.keys() <= shared


# ---- who there is -----------------------------------------------------------------------


def _lives(law: Law, other: Law, phase: Phase, book: Rulebook) -> Iterator[OrderPair]:
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


def _kind(effect: object) -> ObjectType | None:
    if isinstance(effect, Create):
        return ObjectType(effect.of)
    if isinstance(effect, Destroy) and isinstance(effect.target.type, ObjectType):
        return effect.target.type
    return None


def _counts(law: Law, kind: ObjectType, book: Rulebook, itself: bool) -> Binder | None:
    """A variable of a law that runs over the objects of a type."""
    binders = [] if itself else list(law.params)
    terms = [law.when] if law.when is not None else []
    for effect in effects_in(law.body):
        terms += terms_of(effect)
        if isinstance(effect, (For, Pick)):
            binders += effect.binders
    for term in terms:
        for part in subterms(term):
            binders += part.binders if isinstance(part, Fold) else ()
    for binder in binders:
        runs = isinstance(binder.domain, TypeRange) and isinstance(binder.type, ObjectType)
        if runs and can_equal(book.types, binder.type, kind):
            return binder
    return None
