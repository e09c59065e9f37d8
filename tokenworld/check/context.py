"""Where an expression stands: its visible names and what may be used there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tokenworld.check.draft import Draft
from tokenworld.model import ObjectType, Term, ValueType

__all__ = ["BROKEN", "Context"]

BROKEN = ObjectType("", optional=True)
"""The type of a name whose value could not be checked: its uses are not reported too."""


@dataclass(frozen=True, slots=True)
class Context:
    """The surroundings of an expression.

    ``names`` are the locals with their (narrowed) types, ``world`` the world whose objects are
    visible. ``was``: the start of the tick may be read. ``settled``: prose of a body, which sees
    what it created. ``prefer``: names that read as the actor.
    """

    draft: Draft
    names: Mapping[str, ValueType] = field(default_factory=dict)
    world: str | None = None
    was: bool = True
    me: bool = True

    def bind(self, name: str, value_type: ValueType) -> Context:
        """The same place with one more local."""
        return replace(self, names={**self.names, name: value_type})

    def narrow(self, facts: Mapping[str, ValueType]) -> Context:
        """The same place where some locals are known to have narrower types."""
        known = {name: kind for name, kind in facts.items() if name in self.names}
        return replace(self, names={**self.names, **known}) if known else self

    def quoted(self, term: Term) -> str:
        """The source text of a term."""
        return self.draft.text(term.span)
