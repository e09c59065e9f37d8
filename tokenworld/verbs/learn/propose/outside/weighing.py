"""Measure how well rules explain rows; it decides which laws of a program are kept.

An explained row costs its surprise, the negative logarithm of its probability. A row that the
rules cannot produce costs, for each slot that differs in the nearest outcome, as much as a change
that no rule explains (`covering.WORTH`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from tokenworld.diagnostics import Failure
from tokenworld.ground import PASS, NoMatch
from tokenworld.session.loading import OpenWorld
from tokenworld.session.replaying import Row
from tokenworld.verbs.learn.propose.covering import WORTH
from tokenworld.verbs.learn.propose.given.played import differences
from tokenworld.verbs.records.transitions import Transition, fitting

_MOST: Final = 200
"""The greatest number of outcomes of one command that are looked at."""
Shape = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A row with its cost, and the slots that the rules get wrong: the rules' value, the observed
    one. ``before`` and ``after`` are its states."""

    row: Row
    cost: float
    left: tuple[tuple[str, Any, Any], ...]
    before: Shape
    after: Shape

    @property
    def command(self) -> str:
        """The action of the row; its words where it names none."""
        intent = self.row.intent
        return str(intent.get("action") or intent.get("text") or "pass")


def weighed(world: OpenWorld, rows: Iterable[Row]) -> Iterator[Weighed]:
    """Yield the predictions of a world for each row that fits it, compared with the row."""
    listed = list(rows)
    for row, one in zip(listed, fitting(world, listed), strict=True):
        if isinstance(one, Transition):
            yield _weighed(world, row, one)


def _weighed(world: OpenWorld, row: Row, one: Transition) -> Weighed:
    engine = world.engine
    before, after = engine.json(one.state), engine.json(one.seen)
    try:
        logp = engine.logp(one.state, one.intent, one.seen, one.fields).logp
        if isfinite(logp):
            return Weighed(row, -logp, (), before, after)
        intent = PASS if isinstance(one.intent, NoMatch) else one.intent
        found = engine.distribution(one.state, intent, _MOST).successors
        nearest = min((differences(engine.json(x.state), after) for x in found), key=len)
    except Failure:
        nearest = differences(before, after)
    return Weighed(row, WORTH * max(1, len(nearest)), tuple(nearest), before, after)


def aspect_of(slot: str) -> str:
    """Return the fluent of a slot: `full` of `cup.full`, `gap` of `gap(a, b)`."""
    return slot.partition("(")[0].rpartition(".")[2]
