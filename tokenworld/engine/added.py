"""Requires that the language adds to those of the author: ranges, unique values, places."""

from __future__ import annotations

from tokenworld.core import Rules
from tokenworld.core.nodes import Call
from tokenworld.core.walk import subterms, terms_in

__all__ = ["never_refused", "shaped_or_bounded"]


def shaped_or_bounded(rules: Rules) -> frozenset[str]:
    """The fluents of which a write may be refused: unclamped numbers, unique values, places."""
    return frozenset(
        name
        for name, fluent in rules.program.fluents.items()
        if (fluent.type.kind == "number" and not fluent.clamped)
        or fluent.unique
        or fluent.nested
        or fluent.acyclic
    )


def never_refused(rules: Rules) -> dict[str, bool]:
    """Of each action whether it has none of them: it writes no bounded, unique or nested slot and
    transfers nothing."""
    risky, births = shaped_or_bounded(rules), tuple(one.body for one in rules.births)
    found = {}
    for name, action in rules.actions.items():
        creates = rules.footprint((), (action.body,)).creates
        bodies = (action.body, *(births if creates else ()))
        parts = (part for body in bodies for term in terms_in(body) for part in subterms(term))
        moves = any(isinstance(one, Call) and one.op == "amount" for one in parts)
        touched = rules.footprint((), bodies)
        found[name] = not (moves or touched.destroys or touched.named & risky)
    return found
