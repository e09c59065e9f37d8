"""Where an expression stands: its visible names and what may be used there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from tokenworld.check.draft import Draft
from tokenworld.check.narrowing import Facts, narrowed
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import ObjectType, Term, ValueType, without_none
from tokenworld.syntax import nodes as syn

__all__ = ["BROKEN", "Context", "fresh_local"]

BROKEN = ObjectType("", optional=True)
"""The type of a name whose value could not be checked: its uses are not reported too."""


@frozen
class Context:
    """The surroundings of an expression.

    ``names`` are the locals with their (narrowed) types, ``also`` further types of locals that
    have several. ``world`` is the world whose objects are visible, but for the ``unborn`` ones.
    ``was``: the start of the tick may be read. ``me``: somebody acts.
    """

    draft: Draft
    names: Mapping[str, ValueType] = field(default_factory=dict)
    world: str | None = None
    was: bool = True
    me: bool = True
    also: Mapping[str, tuple[ValueType, ...]] = field(default_factory=dict)
    unborn: frozenset[str] = frozenset()

    def bind(self, name: str, value_type: ValueType) -> Context:
        """The same place with one more local."""
        return replace(self, names={**self.names, name: value_type}, also={**self.also, name: ()})

    def narrow(self, facts: Facts) -> Context:
        """The same place where some locals are known to have narrower types."""
        names, also = dict(self.names), dict(self.also)
        for name, fact in facts.items():
            if name not in names or names[name] is BROKEN:
                continue
            before = (without_none(names[name]), *also.get(name, ()))
            names[name], *rest = narrowed(before, fact, self.draft.types)
            also[name] = tuple(rest)
        return replace(self, names=names, also=also) if facts else self

    def quoted(self, term: Term) -> str:
        """The source text of a term."""
        return self.draft.text(term.span)


def fresh_local(name: syn.Name, ctx: Context) -> None:
    """Report a local that would hide another one, or the acting object (TW0203)."""
    draft = ctx.draft
    if name.value in ctx.names:
        what = f"`{name.value}` is already the name of something here."
        draft.stop("TW0203", what, name.span, "named again", "Choose another name.")
    if draft.actor is not None and draft.actor_name in draft.candidates(name):
        what = f"`{name.value}` is the acting object."
        draft.stop("TW0203", what, name.span, "named again", "Choose another name.")
