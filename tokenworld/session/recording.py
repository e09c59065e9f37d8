"""Recording a session in the run store: what was asked, what it came to, where it branched."""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.engine import State
from tokenworld.ground import Json, Outcome
from tokenworld.session.loading import OpenWorld
from tokenworld.store import (
    SNAPSHOT_EVERY,
    IntentSource,
    Parent,
    RunHandle,
    RunHeader,
    RunStore,
    SourceText,
    TickRecord,
)

__all__ = ["Recording"]


@dataclass(slots=True)
class Recording:
    """A run being written. After an undo the next record opens a branch of it."""

    store: RunStore
    handle: RunHandle
    header: RunHeader
    written: int = 0

    @classmethod
    def begin(cls, store: RunStore, world: OpenWorld, start: State, player: str) -> Recording:
        """A new run of ``world`` from its start state."""
        from tokenworld import __version__

        sources = tuple(SourceText(one.name, one.text) for one in world.loaded.sources)
        header = RunHeader(
            world=world.world.name,
            digest=world.program.digest,
            sources=sources,
            compiler=__version__,
            seed=start.seed,
            player=player,
            start_hash=world.engine.hash(start),
        )
        return cls(store, store.begin(header), header)

    @property
    def slug(self) -> str:
        """How the run is named: ``willowbrook-3``."""
        return self.handle.slug

    def append(
        self,
        intent: dict[str, Json],
        outcome: Outcome,
        source: IntentSource,
        text: str | None,
        after: dict[str, Json] | None = None,
    ) -> None:
        """One record, committed before this returns."""
        record = TickRecord(intent, outcome.to_json(), source, text)
        self.handle.append(record, snapshot=after)
        self.written += 1

    def wants_snapshot(self, records: int = 1) -> bool:
        """Whether the whole state goes with the next records."""
        return (self.written + records) % SNAPSHOT_EVERY == 0

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
        self.handle = self.store.begin(header, parent=parent)
        self.header, self.written = header, 0

    def finish(self, reason: str) -> None:
        """Close the run."""
        self.handle.finish(reason)
