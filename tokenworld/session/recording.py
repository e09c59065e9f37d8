"""Recording a session in the run store: its intents, their records, its branches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tokenworld.engine import State
from tokenworld.ground import Json, Outcome
from tokenworld.model import CARRIED
from tokenworld.session.loading import OpenWorld
from tokenworld.store.log import SNAPSHOT_EVERY, RunHandle, RunStore
from tokenworld.store.records import (
    IntentSource,
    Origin,
    Parent,
    Run,
    RunHeader,
    SourceText,
    TickRecord,
    Timing,
)
from tokenworld.store.usage import Usage


def _now(microseconds: int = 0) -> Timing:
    """The wall clock, for people alone: no hash, no replay and no verdict reads it."""
    return Timing(datetime.now(UTC).isoformat(timespec="milliseconds"), microseconds)


def _sources(world: OpenWorld) -> tuple[SourceText, ...]:
    """The texts of a world, and the state that it begins with where that was carried over."""
    texts = tuple(SourceText(one.name, one.text) for one in world.loaded.sources)
    start = world.world.start
    if start is None or start.path != CARRIED:
        return texts
    return (*texts, SourceText(CARRIED, start.text))


@dataclass(slots=True)
class Recording:
    """A run being written. After an undo the next record opens a branch of it."""

    store: RunStore
    handle: RunHandle
    header: RunHeader
    written: int = 0

    @classmethod
    def begin(
        cls,
        store: RunStore,
        world: OpenWorld,
        start: State,
        player: str,
        carried: Origin | None = None,
    ) -> Recording:
        """A new run of ``world`` from its start state; ``carried``: the place in the run whose game
        continues in it with changed rules."""
        from tokenworld import __version__

        header = RunHeader(
            world=world.world.name,
            digest=world.program.digest,
            sources=_sources(world),
            compiler=__version__,
            seed=start.seed,
            player=player,
            start_hash=world.engine.hash(start),
            carried=carried,
        )
        return cls(store, store.begin(header, timing=_now()), header)

    @classmethod
    def branch_of(
        cls, store: RunStore, run: Run, seq: int, start_hash: str, player: str
    ) -> Recording:
        """A new run that leaves a stored one after its record ``seq``."""
        header = replace(
            run.header, player=player, start_hash=start_hash, parent=None, carried=None
        )
        handle = store.begin(header, parent=Parent(run.id, seq), timing=_now())
        return cls(store, handle, header)

    @property
    def slug(self) -> str:
        """The name of the run: ``willowbrook-3``."""
        return self.handle.slug

    def append(
        self,
        intent: dict[str, Json],
        outcome: Outcome,
        source: IntentSource,
        text: str | None,
        after: dict[str, Json] | None = None,
        microseconds: int = 0,
    ) -> None:
        """One record, committed before this returns; ``microseconds`` is how long it took."""
        record = TickRecord(intent, outcome.to_json(), source, text)
        self.handle.append(record, timing=_now(microseconds), snapshot=after)
        self.written += 1

    def narrate(self, prose: str) -> None:
        """Store the prose about the intent that the last record ended."""
        self.handle.narrate(self.written, prose)

    def used(self, usage: Usage) -> None:
        """Store the tokens that a model used for the intent that the last record ended."""
        self.handle.used(self.written, usage)

    def wants_snapshot(self) -> bool:
        """Return whether the whole state goes with the next record."""
        return (self.written + 1) % SNAPSHOT_EVERY == 0

    def branch(self, run: int | None, keep: int, state_hash: str) -> None:
        """Go on in a new run that leaves ``run`` after its record ``keep``."""
        header = RunHeader(
            world=self.header.world,
            digest=self.header.digest,
            sources=self.header.sources,
            compiler=self.header.compiler,
            seed=self.header.seed,
            player=self.header.player,
            start_hash=state_hash,
            params=self.header.params,
        )
        parent = Parent(self.handle.id if run is None else run, keep)
        self.handle = self.store.begin(header, parent=parent, timing=_now())
        self.header, self.written = header, 0

    def finish(self, reason: str) -> None:
        """Close the run."""
        self.handle.finish(reason)
