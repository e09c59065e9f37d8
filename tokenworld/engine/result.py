"""What one unit of a tick came to, in raw values: made by `step`, shown by `record`."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.delta import RawChange, Rule
from tokenworld.engine.state import State
from tokenworld.ground import FRUITLESS, By, Command, LuckyDraw, NoMatch, Status

__all__ = ["BreachReport", "Result"]


@frozen
class BreachReport:
    """Why a tick was rolled back or failed: ``rule`` is what was broken, ``culprits`` by whom."""

    code: str
    kind: str
    message: str
    rule: str = ""
    place: str = ""
    witness: tuple[str, ...] = ()
    culprits: tuple[str, ...] = ()
    before: int | None = None
    after: int | None = None


@dataclass(slots=True)
class Result:
    """One record of a tick. ``refused`` is the index of the first false require (generated ones
    count on from the author's), ``generated`` its kind if the language added it. ``judged`` is the
    state in which the requires were tested, where that is not ``before``: after ``cancelled``.
    ``start`` is the state the tick began with, where it differs from ``before``; ``names`` those of
    the objects that a discarded change may speak of."""

    status: Status
    command: Command | None
    before: State
    after: State
    text: str | None = None
    time_passed: bool = False
    refused: int | None = None
    generated: str = ""
    no_match: NoMatch | None = None
    changes: list[RawChange] = field(default_factory=list)
    law_changes: list[RawChange] = field(default_factory=list)
    discarded: list[RawChange] = field(default_factory=list)
    fired: list[Rule] = field(default_factory=list)
    draws: list[LuckyDraw] = field(default_factory=list)
    latched: tuple[str, ...] = ()
    progress: tuple[int, int] | None = None
    cause: str | None = None
    breach: BreachReport | None = None
    start: State | None = None
    names: tuple[str, ...] | None = None
    judged: State | None = None
    by: By = "player"

    @property
    def fruitless(self) -> bool:
        """Whether the intent came to nothing (language.md §8): the state stays as it is."""
        return self.status in FRUITLESS
