"""What a search has to tell states of a world apart by, and whether that is enough."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from tokenworld.engine.births import creates, play_bodies
from tokenworld.engine.clock import deciding_terms, rings
from tokenworld.engine.layout import Layout
from tokenworld.ground import written
from tokenworld.model import (
    Body,
    BuiltinCall,
    Create,
    ObjectType,
    Term,
    calls,
    effects_in,
    looks_back,
    subterms,
)

__all__ = ["KeyShape"]


class KeyShape:
    """The columns, clocks and moments that keys of one world are made of."""

    def __init__(self, layout: Layout) -> None:
        self._layout, self._instance = layout, layout.instance

    @cached_property
    def terms(self) -> Sequence[Term]:
        """The terms that decide what follows."""
        return deciding_terms(self._instance)

    @cached_property
    def ticks(self) -> tuple[int, ...]:
        """The moduli by which rules read `tick()`."""
        return self._rings[0]

    @property
    def rings_only(self) -> bool:
        """Whether rules read `tick()` by such a remainder alone."""
        return self._rings[1]

    @cached_property
    def _rings(self) -> tuple[tuple[int, ...], bool]:
        return rings(self._instance, self.terms)

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
    def exact(self) -> bool:
        """Whether equal keys mean equal futures and there are finitely many."""
        return self._rings[1] and not self._reads_score and not self._reads_numbers and self._finite

    @cached_property
    def _bodies(self) -> Sequence[Body]:
        """The bodies that run in play; `birth` rules where something is created."""
        program, found = self._instance.program, play_bodies(self._instance.program)
        return [*found, *(birth.body for birth in program.births)] if creates(found) else found

    @cached_property
    def _reads_numbers(self) -> bool:
        """Whether a rule reads the number of an object that play may have created."""
        program = self._instance.program
        made = {one.of for body in self._bodies for one in effects_in(body)
                if isinstance(one, Create)}  # fmt: skip
        read = (
            part.args[0].type
            for term in self.terms
            for part in subterms(term)
            if isinstance(part, BuiltinCall) and part.name == "id" and part.args
        )
        return any(
            isinstance(kind, ObjectType)
            and any(program.is_subtype(of, kind.name) or program.is_subtype(kind.name, of)
                    for of in made)
            for kind in read
        )  # fmt: skip

    @cached_property
    def _reads_score(self) -> bool:
        """Whether a rule reads the score, which keys leave out."""
        return calls(self.terms, "score")

    @cached_property
    def _finite(self) -> bool:
        fluents = self._layout.columns
        for index in self.kept:
            kind = fluents[index].fluent.type
            if kind.kind in ("real", "text"):
                return False
            if kind.kind == "number" and (kind.low is None or kind.high is None):
                return False
        return True
