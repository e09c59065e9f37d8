"""What a narration claims, held against the state that its reader sees afterwards.

A line of prose is a template. Its bare words claim nothing that could be checked; every slot claims
a value. The slot is evaluated again, with the same bindings, in the state at the end of the record:
a line that told of 3 logs is false where a law has burnt one meanwhile. What the reader cannot see
any more, because it is gone or out of sight, is not held against the line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tokenworld.engine.reference import Fault
from tokenworld.engine.reference import State as PlainState
from tokenworld.engine.reference.bodies import Line
from tokenworld.engine.reference.env import Env
from tokenworld.engine.reference.record import Record
from tokenworld.engine.reference.words import Words
from tokenworld.model import (
    CollectionType,
    Local,
    ObjectLiteral,
    ObjectType,
    Slot,
    Template,
    Term,
    subterms,
)

__all__ = ["Claims", "claims_of"]


@dataclass(frozen=True, slots=True)
class Claims:
    """How many claims of a record could be checked, and those that are false afterwards."""

    checked: int
    false: tuple[str, ...]


def claims_of(words: Words, record: Record) -> Claims:
    """Every claim of what a record said."""
    found = [one for line in record.spoken for one in _of_line(words, line, record.after)]
    return Claims(len(found), tuple(dict.fromkeys(one for one in found if one)))


def _of_line(words: Words, line: Line, after: PlainState) -> Iterator[str]:
    """One text per claim that was checked: empty where it is true, else what is wrong."""
    # Prose of a body is rendered before the tick is counted; the hour it tells is not disputed.
    later = replace(line.env, state=_at(after, line.env.state.tick), tables={}, pasts={})
    if isinstance(line.what, Template):
        for slot in line.what.parts:
            if isinstance(slot, Slot):
                yield from _of_slot(words, slot, line.env, later)
    elif line.what is not None and _visible(words, [line.what], later):
        yield from _compared(
            words.described(line.what, line.env), words.described(line.what, later)
        )


def _at(state: PlainState, tick: int) -> PlainState:
    return replace(state, tick=tick, hash="")


def _of_slot(words: Words, slot: Slot, then: Env, later: Env) -> Iterator[str]:
    try:
        if not _visible(words, _objects(words, slot.term, then), later):
            return
        told = words.shown(slot.term, then, slot.article)
        now = words.shown(slot.term, later, slot.article)
    except (Fault, KeyError):
        return  # what it speaks of is gone, or has no value any more
    yield from _compared(told, now)


def _compared(told: str, now: str) -> Iterator[str]:
    yield "" if told == now else f"it told `{told}` where it is `{now}`"


def _objects(words: Words, term: Term, env: Env) -> list[int]:
    """The objects that a slot speaks of: those that are named in it, and its value."""
    found = []
    for part in subterms(term):
        if isinstance(part, Local | ObjectLiteral) and isinstance(part.type, ObjectType):
            found.append(words.value(part, env) if _bound(part, env) else None)
    value: Any = words.value(term, env)
    if isinstance(term.type, ObjectType):
        found.append(value)
    elif isinstance(term.type, CollectionType) and isinstance(term.type.element, ObjectType):
        found += value
    return [one for one in found if one is not None]


def _bound(part: Local | ObjectLiteral, env: Env) -> bool:
    """A local of a fold inside the term has no value outside of it."""
    return not isinstance(part, Local) or part.name in env.locals


def _visible(words: Words, objects: list[int], env: Env) -> bool:
    return all(
        one == env.me or (one in env.state.kinds and words.in_scope(one, env)) for one in objects
    )
