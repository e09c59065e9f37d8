"""What each part of a program mentions, found in one walk and kept with the part."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from tokenworld.check.draft import Draft
from tokenworld.check.uses import effects_below, program_parts, terms_below
from tokenworld.check.writes import written_slots
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    BuiltinCall,
    ClosureOf,
    DeriveCall,
    Emit,
    InverseOf,
    Local,
    ParamRead,
    Read,
)

__all__ = ["Mentions", "all_mentions", "mentions"]

_NOTHING = frozenset[str]()


@frozen
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


_NAMED: Final[dict[type, tuple[str, str]]] = {
    Read: ("fluents", "fluent"), InverseOf: ("fluents", "fluent"), ClosureOf: ("fluents", "fluent"),
    DeriveCall: ("derives", "derive"), ParamRead: ("params", "name"), Local: ("names", "name"),
}  # fmt: skip
"""Under which of the `Mentions` a term counts, and where it says the name."""


def _look(part: object, draft: Draft) -> Mentions:
    said = defaultdict[str, set[str]](set)
    for term in terms_below(part, draft):
        named = _NAMED.get(type(term))
        if named is not None:
            said[named[0]].add(getattr(term, named[1]))
        elif isinstance(term, BuiltinCall) and term.name in ("did", "busy") and term.detail:
            said["watched"].add(term.detail)
    effects = tuple(effects_below(part))
    said["events"].update(one.event for one in effects if isinstance(one, Emit))
    said["written"].update(
        write.fluent
        for one in effects
        for write in written_slots(one, draft)
        if write.op != "destroy"
    )
    return Mentions(**{name: frozenset(names) for name, names in said.items()})
