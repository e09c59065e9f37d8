"""Going back in a stored run: the session as it was after any of its records.

It starts at the last stored whole state that the log vouches for, and gives the intents since then
again; what comes of them must have the hashes that are stored.
"""

from __future__ import annotations

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import State
from tokenworld.session.recording import Recording
from tokenworld.session.replaying import again, stored_session
from tokenworld.session.session import Moment, Session
from tokenworld.store import (
    Database,
    Run,
    RunStore,
    Tick,
    find_tick,
    history,
    snapshot_before,
    ticks_of,
)

__all__ = ["branched", "resumed", "session_at"]


def session_at(store: Database, run: Run, seq: int) -> Session:
    """A session in the state after record ``seq`` of a run (0: the state that it starts in).

    Nothing is recorded by it. Raises `Failure`: TW1104 where the run has no such record, TW1105
    where it does not play again as it is stored.
    """
    if seq:
        find_tick(store, run, seq)
    session = stored_session(run)
    ticks = (*_before(store, run), *ticks_of(store, run, seq))
    done = _leap(store, run, seq, session, ticks)
    while done < len(ticks):
        outcomes = again(session, ticks[done])
        done += len(outcomes)
        if done > len(ticks):
            raise _halved(run, seq)
        if outcomes[-1].hash_after != ticks[done - 1].hash_after:
            raise _differs(run, done - len(ticks) + seq)
    session.moments = [Moment(session.state, "", (), None, 0)]
    return session


def _before(store: Database, run: Run) -> tuple[Tick, ...]:
    """What led to the start of a branch."""
    whole = history(store, run)
    return whole[: len(whole) - run.ticks]


def _leap(store: Database, run: Run, seq: int, session: Session, ticks: tuple[Tick, ...]) -> int:
    """Go to the last whole state that can be trusted; how many records lie behind it."""
    found = snapshot_before(store, run, seq)
    if found is None:
        return 0
    place, shown, stored_hash = found
    position = len(ticks) - seq + place
    try:
        state = session.engine.restored(shown, source="the snapshot")
    except Failure:
        return 0
    sound = session.engine.hash(state) == stored_hash == ticks[position - 1].hash_after
    if state.turn or not sound:
        return 0  # the state that a round began with is not part of a snapshot
    session.moments = [Moment(state, "", (), None, 0)]
    return position


def _halved(run: Run, seq: int) -> Failure:
    """An intent that cancels a long action has two records, and no state of its own between."""
    message = f"Tick {seq} of run `{run.slug}` and the next one came of one intent."
    return Failure(Diagnostic("TW1104", message, hint=f"Name tick {seq + 1}, or {seq - 1}."))


def _differs(run: Run, seq: int) -> Failure:
    message = f"Run `{run.slug}` does not play again as it is stored, from tick {seq} on."
    hint = "Ask `tw runs replay --verify` for the first difference."
    return Failure(Diagnostic("TW1105", message, hint=hint))


def branched(store: RunStore, run: Run, seq: int, player: str) -> Session:
    """A session that goes on from record ``seq`` in a new run, a branch; see `session_at`."""
    session = session_at(store, run, seq)
    state: State = session.state
    session.player = player
    session.recording = Recording.branch_of(store, run, seq, session.engine.hash(state), player)
    session.moments = [Moment(state, "", (), session.recording.handle.id, 0)]
    return session


def resumed(store: RunStore, run: Run) -> Session:
    """A session that goes on with a run that was not finished, behind its last stored record.

    Where the program was killed between the two records of one intent, the second is stored first.
    Raises `Failure` TW1102 for a run that was finished, else as `session_at` does.
    """
    handle = store.resume(run.id)
    last = find_tick(store, run, run.ticks) if run.ticks else None
    cut = last is not None and last.status == "interrupted"
    session = session_at(store, run, run.ticks - 1 if cut else run.ticks)
    session.player = run.header.player
    recording = Recording(store, handle, run.header, run.ticks)
    if cut and last is not None:
        outcomes = again(session, last)
        if len(outcomes) != 2 or outcomes[0].hash_after != last.hash_after:
            raise _differs(run, last.seq)
        recording.append(dict(last.intent), outcomes[1], last.source, last.text)
    session.recording = recording
    session.moments = [Moment(session.state, "", (), handle.id, recording.written)]
    return session
