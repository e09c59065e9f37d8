"""A stored run looked at: any of its records with the state after it, one after the other.

Nothing is written. The records are those of the log; the states come of playing its intents again
by the rules stored with it, and each has to have the hash that is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tokenworld.diagnostics import Failure
from tokenworld.engine import State
from tokenworld.ground import Outcome, Status
from tokenworld.session.moments import Moment
from tokenworld.session.replaying import (
    again,
    asked_in,
    branch_off,
    differs,
    session_at,
    stored_session,
)
from tokenworld.session.session import Session
from tokenworld.store.database import Database
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, list_runs, ticks_of
from tokenworld.store.records import Run, Tick

REFUSED: Final[frozenset[Status]] = frozenset({"refused", "no_match", "rolled_back", "error"})
"""The statuses of records that did not go through."""

_KEPT: Final = 1000
"""States that are kept, so that going back costs nothing."""
_FAR: Final = 150
"""Farther than this, a stored whole state is nearer than the last one that was seen."""


def stored_runs(path: Path) -> tuple[Run, ...]:
    """The runs of a store, the latest first. Raises `Failure` where it cannot be read."""
    with Database.open(path, writable=False) as opened:
        return tuple(reversed(list_runs(opened)))


def open_playback(path: Path, reference: str | int | None) -> Playback:
    """The run that a store has under an id, a slug or a world's name, at its start.

    Raises `Failure`: TW1104 for no such run, TW11xx for a store that cannot be read, and the
    errors of the checker if this version rejects the stored rules.
    """
    with Database.open(path, writable=False) as opened:
        run = find_run(opened, reference)
        ticks = ticks_of(opened, run)
        start = session_at(opened, run, 0) if run.origin is not None else stored_session(run)
    return Playback(path, run, ticks, start)


@dataclass(frozen=True, slots=True)
class _Stop:
    """A moment between two intents: its state, and the result of the intent before it."""

    state: State
    asked: str
    outcomes: tuple[Outcome, ...]


class Playback:
    """A run at one of its places: 0 is its start, n is after its record n.

    An intent that broke off a long action has two records: one can stand after both of them only.
    """

    def __init__(self, path: Path, run: Run, ticks: tuple[Tick, ...], start: Session) -> None:
        self.path, self.run, self.ticks, self.session = path, run, ticks, start
        self.place = 0
        self._stops: dict[int, _Stop] = {0: _Stop(start.state, "", ())}

    @property
    def outcome(self) -> Outcome | None:
        """The record at this place; ``None`` at the start."""
        found = self.session.moments[-1].outcomes
        return found[-1] if found else None

    def refusal(self, step: int, place: int | None = None) -> int | None:
        """The next place (``step`` 1) or the one before (-1) that did not go through."""
        at = (self.place if place is None else place) + step
        while 1 <= at <= len(self.ticks):
            if self.ticks[at - 1].status in REFUSED:
                return at
            at += step
        return None

    def go(self, place: int, cancel: Callable[[], bool] = lambda: False) -> int:
        """Stand at a place, or at the next one after it; where one stands then.

        Raises `Failure` TW1105 where the run does not play again as it is stored; then one stands
        before the record that differs.
        """
        wanted = min(max(place, 0), len(self.ticks))
        at = max(one for one, stop in self._stops.items()
                 if one < wanted or (one == wanted and (stop.outcomes or not one)))  # fmt: skip
        if wanted - at > _FAR:
            at = self._restore(wanted, at)
        while at < wanted and not cancel():
            at = self._on(at)
        self._stand(at)
        return at

    def _restore(self, wanted: int, at: int) -> int:
        """Go to a stored whole state before a far place; the record before it is played again."""
        with Database.open(self.path, writable=False) as opened:
            for near in (wanted - 1, wanted - 2):
                try:
                    state = session_at(opened, self.run, near).state
                except Failure as failure:
                    if failure.diagnostics[0].code != "TW1104":
                        raise
                    continue
                self._keep(near, _Stop(self._own(state), "", ()))
                return near
        return at

    def _own(self, state: State) -> State:
        """A state of another engine of the same rules as one of this session's."""
        own = state.fork()
        own.layout = self.session.engine.layout
        return own

    def _on(self, at: int) -> int:
        """Play the next intent; the place after it."""
        session, tick = self.session, self.ticks[at]
        session.moments = [Moment(self._stops[at].state, "", (), None, 0)]
        outcomes = again(session, tick)
        behind = at + len(outcomes)
        logged = self.ticks[at:behind]
        if [one.hash_after for one in outcomes] != [one.hash_after for one in logged]:
            self._stand(at)
            raise differs(self.run, at + 1)
        self._keep(behind, _Stop(session.state, asked_in(tick), outcomes))
        return behind

    def _keep(self, place: int, stop: _Stop) -> None:
        self._stops[place] = stop
        while len(self._stops) > _KEPT:
            del self._stops[next(one for one in self._stops if one not in (0, place))]

    def _stand(self, at: int) -> None:
        stop = self._stops[at]
        before = self._stops.get(at - max(1, len(stop.outcomes)))
        past = [] if before is None or at == 0 else [Moment(before.state, "", (), None, 0)]
        self.session.moments = [*past, Moment(stop.state, stop.asked, stop.outcomes, None, 0)]
        self.place = at


def branch_from(store: RunStore, playback: Playback) -> Session:
    """The playback's session, which goes on from the place where one stands in a new run of a
    person's own. The playback is at its end with it."""
    branch_off(playback.session, store, playback.run, playback.place, "human")
    return playback.session
