"""What the quality of a run is computed from: one plain fact sheet per record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenworld.ground import Status
from tokenworld.store import IntentSource

__all__ = ["REFUSE_LIKE", "Fact", "Window", "window_of"]

REFUSE_LIKE: tuple[Status, ...] = ("refused", "no_match", "rolled_back")
_DONE: tuple[Status, ...] = ("executed", "waiting", "interrupted")


@dataclass(frozen=True, slots=True)
class Fact:
    """One record as the dimensions see it; ``seq`` is its place in the history, from 1.

    ``verb`` is the action that the intent resolved to (empty for `pass` and for no match), ``text``
    the free text of the player, if there is any. ``expected``: a scenario expected this status.
    ``faults`` says in which respects the record fails its re-check; ``unchecked`` that its
    narration is literal prose. ``blamed`` names the invariant and the rules of a rollback.
    """

    seq: int
    status: Status
    source: IntentSource = "human"
    verb: str = ""
    text: str | None = None
    expected: bool = False
    faults: tuple[str, ...] = ()
    unchecked: bool = False
    blamed: tuple[str, ...] = ()

    @property
    def refused_like(self) -> bool:
        """Whether it counts among R: it was refused, and nobody had expected that."""
        return self.status in REFUSE_LIKE and not self.expected

    @property
    def used(self) -> str:
        """The verb that was really done, or begun; empty for none."""
        return self.verb if self.status in _DONE else ""


@dataclass(frozen=True, slots=True)
class Window:
    """The last ``requested`` records that count, and what stood before them.

    ``facts`` are those in the window; ``before`` all earlier ones. Records of the status `halted`
    are in neither.
    """

    requested: int
    before: tuple[Fact, ...]
    facts: tuple[Fact, ...]

    @property
    def n(self) -> int:
        """Ticks in the window."""
        return len(self.facts)

    @property
    def first(self) -> int | None:
        return self.facts[0].seq if self.facts else None

    @property
    def last(self) -> int | None:
        return self.facts[-1].seq if self.facts else None

    @property
    def errors(self) -> tuple[int, ...]:
        """The ticks with the status `error`."""
        return tuple(fact.seq for fact in self.facts if fact.status == "error")

    def buckets(self, size: int) -> tuple[tuple[Fact, ...], ...]:
        """The window in pieces of ``size`` from its first tick; the last one may be shorter."""
        return tuple(self.facts[at : at + size] for at in range(0, self.n, size))


def window_of(history: Sequence[Fact], requested: int) -> Window:
    """The window at the end of a run."""
    counted = tuple(fact for fact in history if fact.status != "halted")
    cut = max(0, len(counted) - requested)
    return Window(requested, counted[:cut], counted[cut:])
