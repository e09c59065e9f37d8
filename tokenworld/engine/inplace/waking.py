"""When a law must be looked at again: what it rests on, as bits of columns.

Each column has a bit, and so have the population and the passing of time. A law that did nothing
for any of its bindings does nothing until something is written that it rests on: while its
condition holds nowhere, only what the condition reads; where it held and changed nothing, also what
the body reads and writes. A law that reads more than slots, or draws, is looked at in every tick.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.guards import reads_of
from tokenworld.engine.layout import Layout
from tokenworld.engine.trail import Trail
from tokenworld.ground import written
from tokenworld.model import (
    Body,
    Create,
    Law,
    Program,
    TemplateTerm,
    Term,
    body_terms,
    deep_subterms,
    effects_in,
    may_draw,
)

__all__ = [
    "ALWAYS",
    "POPULATION",
    "TIME",
    "Rest",
    "bits_between",
    "bits_of",
    "reading_bits",
    "rest_of",
    "touching_bits",
]

TIME = 1
"""The bit of every tick."""
POPULATION = 2
"""The bit of births."""
ALWAYS = -1
"""All bits: who rests on them rests never."""
_FIRST = 2


@frozen
class Rest:
    """What a law rests on while its condition holds nowhere (``asleep``), and while it holds
    somewhere and nothing changes (``idle``); ``touches`` is what it writes."""

    asleep: int
    idle: int
    touches: int


def bits_of(layout: Layout, fluents: Iterable[str]) -> int:
    """The bits of fluents."""
    found = 0
    for one in fluents:
        found |= 1 << (layout.by_id[one].index + _FIRST)
    return found


def bits_between(one: Trail, other: Trail) -> int:
    """The bits of what may differ between two states; `ALWAYS` for anything (see `trail`)."""
    found = 0
    while one is not other:
        if one.depth < other.depth:
            one, other = other, one
        if one.roll or one.parent is None:
            return ALWAYS
        for index, _ in one.slots:
            found |= 1 << (index + _FIRST)
        for changes in one.journals or ():
            for change in changes:
                found |= 1 << (change[0].index + _FIRST)
        one = one.parent
    return found


def rest_of(layout: Layout, program: Program, law: Law) -> Rest:
    """What a law rests on."""
    touches = touching_bits(layout, program, law.body)
    asleep = reading_bits(layout, program, () if law.when is None else (law.when,))
    if may_draw(law.body) or program.births:
        return Rest(asleep, ALWAYS, touches)
    body = reading_bits(layout, program, tuple(body_terms(law.body)))
    return Rest(asleep, ALWAYS if ALWAYS in (asleep, body) else asleep | body | touches, touches)


def touching_bits(layout: Layout, program: Program, body: Body) -> int:
    """The bits of what a body may write."""
    touches = bits_of(layout, written(program.fluents, body))
    if any(isinstance(one, Create) for one in effects_in(body)):
        touches |= POPULATION
    return touches


def reading_bits(layout: Layout, program: Program, terms: tuple[Term, ...]) -> int:
    """The bits of what terms rest on, who lives always among it."""
    reads = reads_of(program, *terms)
    every = deep_subterms(terms, program.derives)
    if reads is None or any(
        getattr(part, "was", False) or isinstance(part, TemplateTerm) for part in every
    ):
        return ALWAYS
    return bits_of(layout, reads) | POPULATION
