"""Replaying a stored run from its seed: every hash compared, the first divergence named."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tokenworld.diagnostics import Diagnostic, Source
from tokenworld.ground import Json, Outcome
from tokenworld.model import CARRIED
from tokenworld.prose import CallIntent, PassIntent, TypedIntent
from tokenworld.session.carrying import begun_with
from tokenworld.session.intents import AnyIntent
from tokenworld.session.loading import open_text
from tokenworld.session.session import Session
from tokenworld.store import (
    Divergence,
    Run,
    RunStore,
    Tick,
    Verification,
    first_divergence,
    history,
    verify_chain,
    world_differs,
)

__all__ = ["ReplayReport", "again", "intent_of", "replay_run", "stored_session"]


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What a replay found. ``verification`` is the check of the log itself, if it was asked for.

    ``changed`` says that the files differ today from those of the run (which are kept in it).
    """

    run: Run
    records: int
    final_hash: str
    divergence: Divergence | None
    verification: Verification | None
    changed: Diagnostic | None

    @property
    def ok(self) -> bool:
        """Whether the run plays again exactly, and its log is sound."""
        sound = self.verification is None or self.verification.ok
        return self.divergence is None and sound

    def to_json(self) -> dict[str, Json]:
        divergence = self.divergence
        return {
            "schema_version": 1,
            "run": self.run.slug,
            "world": self.run.header.world,
            "seed": self.run.header.seed,
            "records": self.records,
            "state_hash": self.final_hash,
            "ok": self.ok,
            "verified": None if self.verification is None else self.verification.to_json(),
            "divergence": None
            if divergence is None
            else {"record": divergence.seq, "part": divergence.part, "rule": divergence.rule},
        }


def replay_run(
    store: RunStore,
    run: Run,
    *,
    verify: bool,
    say: Callable[[str], None] | None = None,
) -> ReplayReport:
    """Play a run again from the sources stored with it.

    Raises `Failure` where the store is corrupt or the stored sources do not check any more.
    """
    verification = verify_chain(store, run) if verify else None
    session = stored_session(run)
    changed = world_differs(run, session.world.program.digest)
    ticks = tuple(history(store, run))
    replayed = list(_played(session, ticks, say))
    recorded = [tick.outcome for tick in ticks]
    if recorded and recorded[-1]["status"] == "interrupted":
        del replayed[len(recorded) :]  # the log ends between the two records of one intent
    divergence = first_divergence(recorded, replayed)
    final = str(replayed[-1]["hash_after"]) if replayed else session.engine.hash(session.state)
    return ReplayReport(run, len(ticks), final, divergence, verification, changed)


def stored_session(run: Run) -> Session:
    """A session of the sources that are stored with a run, at its start: where a game went on with
    changed rules, in the state that it brought along."""
    stored = run.header.sources
    texts = tuple(Source(one.name, None, one.text) for one in stored if one.name != CARRIED)
    carried = next((one.text for one in stored if one.name == CARRIED), None)
    world = open_text(texts, run.header.world)
    if carried is not None:
        world = begun_with(world.loaded, world.world, carried)
    return Session(world, run.header.seed)


def _played(
    session: Session, ticks: tuple[Tick, ...], say: Callable[[str], None] | None
) -> Iterable[dict[str, Json]]:
    """The records that the intents of a log give now.

    An intent that cancelled a long action has two records with one intent; it is given once.
    """
    position = 0
    while position < len(ticks):
        outcomes = again(session, ticks[position])
        for outcome in outcomes:
            yield outcome.to_json()
        position += len(outcomes)
        if say is not None and position % 500 == 0:
            say(f"replayed {position} of {len(ticks)} records")


def again(session: Session, tick: Tick) -> tuple[Outcome, ...]:
    """What comes of a record's intent now; where the runner stopped, that it did."""
    if "halt" in tick.intent:
        return (session.halt(str(tick.intent["halt"])),)
    return session.intend(intent_of(tick))


def intent_of(tick: Tick) -> AnyIntent:
    """The intent of a record, to be given again."""
    stored = tick.intent
    actor = stored.get("actor")
    who = actor if isinstance(actor, str) else None
    if stored.get("pass"):
        return PassIntent(who)
    if isinstance(stored.get("text"), str):
        return TypedIntent(str(stored["text"]), who)
    args = stored.get("args")
    return CallIntent(str(stored.get("action")), dict(args) if isinstance(args, dict) else {}, who)
