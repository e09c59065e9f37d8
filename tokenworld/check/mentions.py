"""What each part of a program mentions, found in one walk and kept with the part."""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.check.draft import Draft
from tokenworld.check.uses import effects_below, program_parts, terms_below
from tokenworld.check.writes import written_slots
from tokenworld.model import (
    BuiltinCall,
    ClosureOf,
    DeriveCall,
    Emit,
    InverseOf,
    Let,
    Local,
    ParamRead,
    Read,
)

__all__ = ["Mentions", "all_mentions", "mentions"]

_NOTHING = frozenset[str]()


@dataclass(frozen=True, slots=True)
class Mentions:
    """Names that the terms and changes of a part mention.

    ``written`` leaves out what is only cleared with a destroyed object, ``watched`` are the
    actions asked for with `did` or `busy`.
    """

    fluents: frozenset[str] = _NOTHING
    derives: frozenset[str] = _NOTHING
    params: frozenset[str] = _NOTHING
    names: frozenset[str] = _NOTHING
    watched: frozenset[str] = _NOTHING
    events: frozenset[str] = _NOTHING
    written: frozenset[str] = _NOTHING
    lets: tuple[Let, ...] = ()


def mentions(part: object, draft: Draft) -> Mentions:
    """What one part of the model mentions."""
    return draft.memo.of("mentions", (part,), lambda: _look(part, draft))


def all_mentions(draft: Draft) -> Mentions:
    """What the whole program mentions (local names apart)."""
    parts = [
        one
        for part in program_parts(draft)
        for one in (part if isinstance(part, tuple) else (part,))
        if one is not None
    ]
    found = draft.memo.each("mentions of parts", parts, lambda part: mentions(part, draft))
    return draft.memo.whole("all mentions", found, lambda: _joined(found))


def _joined(found: list[Mentions]) -> Mentions:
    return Mentions(
        fluents=_NOTHING.union(*(one.fluents for one in found)),
        derives=_NOTHING.union(*(one.derives for one in found)),
        params=_NOTHING.union(*(one.params for one in found)),
        watched=_NOTHING.union(*(one.watched for one in found)),
        events=_NOTHING.union(*(one.events for one in found)),
        written=_NOTHING.union(*(one.written for one in found)),
    )


def _look(part: object, draft: Draft) -> Mentions:
    fluents, derives, params = set[str](), set[str](), set[str]()
    names, watched = set[str](), set[str]()
    for term in terms_below(part, draft):
        match term:
            case Read(fluent=name) | InverseOf(fluent=name) | ClosureOf(fluent=name):
                fluents.add(name)
            case Local(name=name):
                names.add(name)
            case DeriveCall(derive=name):
                derives.add(name)
            case ParamRead(name=name):
                params.add(name)
            case BuiltinCall(name="did" | "busy", detail=str() as name):
                watched.add(name)
            case _:
                pass
    effects = tuple(effects_below(part))
    events = frozenset(one.event for one in effects if isinstance(one, Emit))
    written = frozenset(
        write.fluent
        for one in effects
        for write in written_slots(one, draft)
        if write.op != "destroy"
    )
    return Mentions(
        frozenset(fluents), frozenset(derives), frozenset(params), frozenset(names),
        frozenset(watched), events, written, tuple(one for one in effects if isinstance(one, Let)),
    )  # fmt: skip
