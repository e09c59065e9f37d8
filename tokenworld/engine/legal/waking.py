"""What a list of commands depends on, as bits of columns.

Each column has a bit, and so have the population and the passing of time. A list stays right until
something is written that it depends on.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokenworld.engine.guards import reads_of
from tokenworld.engine.layout import Layout
from tokenworld.engine.trail import Trail
from tokenworld.ground import written
from tokenworld.model import (
    Body,
    Create,
    Program,
    TemplateTerm,
    Term,
    deep_subterms,
    effects_in,
)

__all__ = [
    "ALWAYS",
    "TIME",
    "bits_between",
    "reading_bits",
    "touching_bits",
]

TIME = 1
"""The bit of every tick."""
POPULATION = 2
"""The bit of births."""
ALWAYS = -1
"""All bits: who rests on them rests never."""
_FIRST = 2


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
