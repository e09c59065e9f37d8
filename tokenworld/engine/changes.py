"""Changes of slots, and the breaches that undo them: invariant, range, cycle, undefined number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tokenworld.core import Rules
from tokenworld.core.nodes import Call
from tokenworld.core.walk import subterms, terms_in
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.columns import Column, Key
from tokenworld.ground import Json, Raw, show_value
from tokenworld.model import ROOT, Fluent, FluentParam, ObjectType, Program, TextType

RawChange = tuple[Column, Key, Raw, Raw, str]
"""A committed change: column, key, old value, new value, title of the rule."""


def _life() -> Column:
    nowhere = Span("", 0, 0, 1, 1, 1, 1)
    params = (FluentParam("x", ObjectType(ROOT)),)
    fluent = Fluent(ROOT, ROOT, "attribute", params, TextType(optional=True), None, nowhere)
    return Column(-1, fluent, True, False, None)


LIFE = _life()
"""Records show under this slot that an object begins or ceases to exist: its type or `none`.

No state stores it; it occurs only in changes.
"""


class Breach(Exception):  # a rule of the world was broken; not a defect
    """A change that must not happen: conflict, range, cycle, uniqueness or undefined number."""

    def __init__(self, code: str, kind: str, message: str, rules: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.code, self.kind, self.message, self.rules = code, kind, message, rules

    def blamed(self, title: str) -> Breach:
        """The same breach with the rule under evaluation, where it names none yet."""
        self.rules = self.rules or (title,)
        return self


@frozen
class BreachReport:
    """Why a tick was rolled back or failed: ``rule`` was broken, ``culprits`` broke it."""

    code: str
    kind: str
    message: str
    rule: str = ""
    place: str = ""
    witness: tuple[str, ...] = ()
    culprits: tuple[str, ...] = ()
    before: int | None = None
    after: int | None = None


def net(changes: Sequence[RawChange]) -> list[RawChange]:
    """Changes merged per slot, those that cancel out left out; the last rule is named."""
    merged: dict[tuple[int, Key], RawChange] = {}
    for column, key, old, new, rule in changes:
        place = (column.index, key)
        first = merged[place][2] if place in merged else old
        merged[place] = (column, key, first, new, rule)
    return [change for change in merged.values() if change[2] != change[3]]


def shown_key(program: Program, names: Sequence[str], column: Column, key: Key) -> tuple[Json, ...]:
    """The arguments of a slot in exchange form."""
    return tuple(
        show_value(program, names, param.type, value)
        for param, value in zip(column.fluent.params, column.args(key), strict=True)
    )


# ---- Requires that the language adds -------------------------------------------------------------
# Requires that the language adds to those of the author: ranges, unique values, places.


def shaped_or_bounded(rules: Rules) -> frozenset[str]:
    """The fluents whose writes may be refused: unclamped numbers, unique values, places."""
    return frozenset(
        name
        for name, fluent in rules.program.fluents.items()
        if (fluent.type.kind == "number" and not fluent.clamped)
        or fluent.unique
        or fluent.nested
        or fluent.acyclic
    )


@lru_cache(maxsize=16)
def never_refused(rules: Rules) -> dict[str, bool]:
    """Of each action whether it has none of them: it writes no bounded, unique or nested slot and
    transfers nothing. Kept for the rules that were asked about last: each list of legal commands
    asks, and so does each action where there are secrets."""
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
