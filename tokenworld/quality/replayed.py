"""A stored run played again: the engine leads to each tick, the reference judges those that count.

The engine starts at a stored whole state where there is one that the log vouches for, so that the
quality of a long run costs what its window costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tokenworld.diagnostics import Failure
from tokenworld.engine import State
from tokenworld.engine.reference import Reference
from tokenworld.engine.reference import State as PlainState
from tokenworld.ground import Command, Json, NoMatch
from tokenworld.prose import EnglishProse
from tokenworld.quality.fanout import CHECKPOINT_EVERY, Checkpoint, checkpoint
from tokenworld.quality.recheck import Checked, Plain, checked, play_plainly
from tokenworld.session import OpenWorld
from tokenworld.session.intents import Resolver
from tokenworld.session.mirroring import between_rounds, mirrored
from tokenworld.session.replaying import intent_of
from tokenworld.store import Tick

__all__ = ["Replayed", "Snapshot", "replayed"]

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A whole state as it is stored, after record ``seq`` of the history."""

    seq: int
    state: Mapping[str, Json]
    state_hash: str


@dataclass(slots=True)
class Replayed:
    """What a second playing of the last records showed, by their place in the history."""

    checks: dict[int, Checked] = field(default_factory=dict)
    checkpoints: list[Checkpoint] = field(default_factory=list)


def replayed(
    world: OpenWorld,
    seed: int,
    ticks: Sequence[Tick],
    first: int,
    snapshot: Snapshot | None = None,
    say: Say | None = None,
) -> Replayed:
    """Play a history again and check its records from the one with the number ``first`` on."""
    return _Player(world, ticks, first, say).play(seed, snapshot)


class _Player:
    """The engine, and beside it the reference once the first record to be checked is near."""

    def __init__(
        self, world: OpenWorld, ticks: Sequence[Tick], first: int, say: Say | None
    ) -> None:
        self._engine, self._ticks, self._first, self._say = world.engine, ticks, first, say
        self._resolver = Resolver(world)
        self._reference = Reference(world.instance, EnglishProse())
        self._plain: PlainState | None = None
        self._found = Replayed()

    def play(self, seed: int, snapshot: Snapshot | None) -> Replayed:
        place, state = self._begin(seed, snapshot)
        clean, since = state, list[Command | NoMatch]()
        while place < len(self._ticks):
            if place + 1 >= self._first and self._plain is None:
                self._plain = self._mirror(clean, since)
            if "halt" in self._ticks[place].intent:  # the runner's own record: nothing happened
                self._halted(place)
                place += 1
                continue
            intent = self._resolver.resolve(state, intent_of(self._ticks[place]))
            state, outcomes = self._engine.play(state, intent)
            self._check(place, len(outcomes), intent)
            place += len(outcomes)
            self._note(place, state)
            clean, since = (state, []) if between_rounds(state) else (clean, [*since, intent])
        return self._found

    def _begin(self, seed: int, snapshot: Snapshot | None) -> tuple[int, State]:
        """The snapshot, if it is what the log says that it is, else the start."""
        if snapshot is not None:
            try:
                state = self._engine.restored(snapshot.state, source="the snapshot")
            except Failure:
                return 0, self._engine.start(seed)
            logged = self._ticks[snapshot.seq - 1].hash_after
            if between_rounds(state) and self._engine.hash(state) == snapshot.state_hash == logged:
                return snapshot.seq, state
        return 0, self._engine.start(seed)

    def _mirror(self, clean: State, since: Sequence[Command | NoMatch]) -> PlainState:
        plain = mirrored(self._reference, clean)
        for intent in since:
            plain, _ = play_plainly(self._reference, plain, intent)
        return plain

    def _check(self, place: int, records: int, intent: Command | NoMatch) -> None:
        """Hold the records of an intent against those of the reference."""
        if self._plain is None:
            return
        self._plain, plain = play_plainly(self._reference, self._plain, intent)
        for index in range(records):
            if self._first <= place + index + 1 <= len(self._ticks):
                own = plain[index] if index < len(plain) else None
                self._keep(place + index, own)

    def _keep(self, place: int, plain: Plain | None) -> None:
        logged = self._ticks[place].outcome
        self._found.checks[place + 1] = checked(self._reference, logged, plain)

    def _halted(self, place: int) -> None:
        """Where the runner stopped, nothing else may be told."""
        outcome = self._ticks[place].outcome
        if place + 1 >= self._first:
            bare = outcome["hash_before"] == outcome["hash_after"] and not outcome["time_passed"]
            lies = outcome["status"] != "halted" or not bare
            faults = ("the runner stopped here, and something else is told",) if lies else ()
            self._found.checks[place + 1] = Checked(faults)

    def _note(self, place: int, state: State) -> None:
        if place >= self._first and place % CHECKPOINT_EVERY == 0:
            self._found.checkpoints.append(checkpoint(place, state))
        if self._say is not None and place % 1000 == 0:
            self._say(f"played {place:,} of {len(self._ticks):,} records again")
