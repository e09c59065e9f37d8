"""What a search has to tell states of a world apart by (language.md §19, state keys of a search).

Two states with equal keys have equal futures: all that a rule, a goal, an ending or an award reads
is in the key. So a search that has seen all keys has seen all that can happen, whatever the types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from tokenworld.engine.births import creates, play_bodies
from tokenworld.engine.clock import Clock, clock_of
from tokenworld.engine.layout import Layout
from tokenworld.ground import written
from tokenworld.model import (
    Body,
    BuiltinCall,
    Create,
    TemplateTerm,
    Term,
    calls,
    effects_in,
    looks_back,
    objects_named,
    slot_terms,
    subterms,
    telling_terms,
)


class KeyShape:
    """The columns, clocks and moments that keys of one world are made of."""

    def __init__(self, layout: Layout) -> None:
        self._layout, self._instance = layout, layout.instance

    @cached_property
    def terms(self) -> Sequence[Term]:
        """The terms that decide what follows."""
        return telling_terms(self._instance.program, self._instance.world)

    @cached_property
    def clock(self) -> Clock:
        """What rules read of the number of the tick."""
        return clock_of(self._instance, self.terms)

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The columns that can differ: those that some rule may write."""
        fluents = dict(self._instance.program.fluents)
        changed: frozenset[str] = frozenset()
        for body in self._bodies:
            changed |= written(fluents, body)
        return tuple(one.index for one in self._layout.columns if one.fluent.id in changed)

    @cached_property
    def looks_back(self) -> bool:
        """Whether a rule reads what happened earlier in the tick: `was` or `did`."""
        return looks_back(self.terms) or calls(self.terms, "did")

    @cached_property
    def awards(self) -> bool:
        """Whether a rule reads the score, and so the awards that were given."""
        return calls(self.terms, "score")

    @cached_property
    def numbers(self) -> bool:
        """Whether a rule reads the number of an object that play may have created, or its name,
        which may rest on it: then the living are not counted on from those before the search."""
        effects = (one for body in self._bodies for one in effects_in(body))
        made = {one.of for one in effects if isinstance(one, Create)}
        if not made:
            return False
        read, is_subtype = set(self._numbered()), self._instance.program.is_subtype
        return any(is_subtype(one, of) or is_subtype(of, one) for one in read for of in made)

    def _numbered(self) -> Iterator[str]:
        """The types of the objects whose numbers or names are read."""
        for part in (part for term in self.terms for part in subterms(term)):
            if isinstance(part, BuiltinCall) and part.name == "id":
                yield from objects_named(part.args)
            elif isinstance(part, TemplateTerm):
                yield from objects_named(slot_terms(part.template))

    @cached_property
    def _bodies(self) -> Sequence[Body]:
        """The bodies that run in play; `birth` rules where something is created."""
        program, found = self._instance.program, play_bodies(self._instance.program)
        return [*found, *(birth.body for birth in program.births)] if creates(found) else found
