"""Stored runs and recorded rows, played again.

A run is replayed from its seed: every hash is compared, and the first divergence is named. A
session at one of its records starts at the last stored state whose hash the log confirms, and
continues from there. A row is one JSON object a line, ``tw-row/1``: ``state`` (tw-state),
``intent`` (tw-intent) and the expected results: ``action`` (tw-state after the action's own
changes), ``tick`` (tw-state after the phases) and ``progress`` (``status``, ``score``, ``reward``,
``latched``). Only the results that a row has are compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source
from tokenworld.engine import Engine, State
from tokenworld.ground import FRUITLESS, By, Command, Json, NoMatch, Outcome, value_text
from tokenworld.model import CARRIED, Replay
from tokenworld.model.schema import shaped
from tokenworld.prose.intents import CallIntent, PassIntent, TypedIntent, parse_intent_json
from tokenworld.session.carrying import begun_with
from tokenworld.session.intents import AnyIntent, Resolver, intent_json
from tokenworld.session.loading import OpenWorld, open_text
from tokenworld.session.moments import Moment
from tokenworld.session.recording import Recording
from tokenworld.session.session import Session
from tokenworld.store.check import (
    Divergence,
    Verification,
    first_divergence,
    language_differs,
    verify_chain,
    world_differs,
)
from tokenworld.store.database import Database
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_tick, history, snapshot_before, ticks_of
from tokenworld.store.records import Run, Tick


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The result of a replay. ``verification`` is the check of the log itself, if requested.

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
        """Return whether the run plays again exactly, and its log is sound."""
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
    if recorded and recorded[-1]["status"] in ("interrupted", *FRUITLESS):
        del replayed[len(recorded) :]  # the log ends between the two records of one intent
    divergence = first_divergence(recorded, replayed)
    final = str(replayed[-1]["hash_after"]) if replayed else session.engine.hash(session.state)
    return ReplayReport(run, len(ticks), final, divergence, verification, changed)


def stored_session(run: Run) -> Session:
    """A session of the sources that are stored with a run, at its start: where a game went on with
    changed rules, in the state that it brought along. It remembers no more than its last step.
    `Failure` TW1105 where steps meant something else when it was recorded."""
    changed = language_differs(run)
    if changed is not None:
        raise Failure(changed)
    stored = run.header.sources
    texts = tuple(Source(one.name, None, one.text) for one in stored if one.name != CARRIED)
    carried = next((one.text for one in stored if one.name == CARRIED), None)
    world = open_text(texts, run.header.world)
    if carried is not None:
        world = begun_with(world.loaded, world.world, carried)
    session = Session(world, run.header.seed, operator=True)
    session.remembers = False
    return session


def _played(
    session: Session, ticks: tuple[Tick, ...], say: Callable[[str], None] | None
) -> Iterable[dict[str, Json]]:
    """The records that the intents of a log give now.

    An intent that broke off a long action, or had no effect while time continued one, has two
    records with one intent; it is given once.
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
    """The outcome of a record's intent now; a stop where the runner stopped."""
    if "halt" in tick.intent:
        return (session.halt(str(tick.intent["halt"])),)
    return session.intend(intent_of(tick), by=by_of(tick), hand_over="yield" in tick.intent)


def by_of(tick: Tick) -> By:
    """Return who gave the intent of a record: the player, or the runner for him."""
    return "runner" if tick.outcome.get("by") == "runner" else "player"


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


def meant(resolver: Resolver, state: State, tick: Tick) -> Command | NoMatch:
    """The meaning of the intent of a record in a state."""
    found = resolver.resolve(state, intent_of(tick))
    if isinstance(found, NoMatch) and "yield" in tick.intent:
        return replace(found, yielded=True)
    return found


def asked_in(tick: Tick) -> str:
    """The words that were typed for a record, else the call; empty where the runner stopped."""
    if tick.text is not None:
        return tick.text
    if "halt" in tick.intent:
        return ""
    args = tick.outcome.get("args")
    shown = ", ".join(map(value_text, args.values())) if isinstance(args, dict) else ""
    action = str(tick.outcome.get("action") or "pass")
    return action if action == "pass" else f"{action}({shown})"


def session_at(store: Database, run: Run, seq: int) -> Session:
    """A session in the state after record ``seq`` of a run (0: the state that it starts in).

    Nothing is recorded by it. Raises `Failure`: TW1104 where the run has no such record, TW1105
    where it does not play again as it is stored.
    """
    if seq:
        find_tick(store, run, seq)
    session = stored_session(run)
    ticks = (*_before(store, run), *ticks_of(store, run, seq))
    done = _restore(store, run, seq, session, ticks)
    while done < len(ticks):
        outcomes = again(session, ticks[done])
        done += len(outcomes)
        if done > len(ticks):
            raise _halved(run, seq)
        if outcomes[-1].hash_after != ticks[done - 1].hash_after:
            raise differs(run, done - len(ticks) + seq)
    session.moments = [Moment(session.state, "", (), None, 0)]
    return session


def _before(store: Database, run: Run) -> tuple[Tick, ...]:
    """The history before the start of a branch."""
    whole = history(store, run)
    return whole[: len(whole) - run.ticks]


def _restore(store: Database, run: Run, seq: int, session: Session, ticks: tuple[Tick, ...]) -> int:
    """Go to the last whole state that can be trusted; how many records lie after it."""
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


def differs(run: Run, seq: int) -> Failure:
    """TW1105: the record with this number comes out otherwise than it is stored."""
    message = f"Run `{run.slug}` does not play again as it is stored, from tick {seq} on."
    hint = "Ask `tw runs replay --verify` for the first difference."
    return Failure(Diagnostic("TW1105", message, hint=hint))


def branched(store: RunStore, run: Run, seq: int, player: str) -> Session:
    """Return a session that continues from record ``seq`` in a new run, a branch; see
    `session_at`."""
    session = session_at(store, run, seq)
    branch_off(session, store, run, seq, player)
    return session


def branch_off(session: Session, store: RunStore, run: Run, seq: int, player: str) -> None:
    """Let a session at record ``seq`` of a run be played on, as a branch of it."""
    hashed = session.engine.hash(session.state)
    session.recording = Recording.branch_of(store, run, seq, hashed, player)
    session.player, session.operator, session.remembers = player, False, True
    session.moments = [Moment(session.state, "", (), session.recording.handle.id, 0)]


def resumed(store: RunStore, run: Run) -> Session:
    """Return a session that continues an unfinished run after its last stored record.

    If the program was killed between the two records of one intent, the second is stored first.
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
            raise differs(run, last.seq)
        recording.append(dict(last.intent), outcomes[1], last.source, last.text)
    session.recording, session.operator, session.remembers = recording, False, True
    session.moments = [Moment(session.state, "", (), handle.id, recording.written)]
    return session


FORMAT: Final = "tw-row/1"
_EXPECTED = ("action", "tick", "progress")
_IGNORED = ("format",)


@dataclass(frozen=True, slots=True)
class _RowFile:
    """A ``tw-row/1`` as it is written; the state and the intent have readers of their own."""

    state: dict[str, Any]
    intent: dict[str, Any]
    format: Literal["tw-row/1"] = FORMAT
    action: dict[str, Any] = field(default_factory=dict)
    tick: dict[str, Any] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """One row and its place, such as ``rows.jsonl:3``."""

    place: str
    state: Json
    intent: Mapping[str, Json]
    expected: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing of a row that came out otherwise; ``path`` leads to it in the row."""

    place: str
    path: str
    wanted: Json
    found: Json

    def __str__(self) -> str:
        wanted, found = (json.dumps(one, ensure_ascii=False) for one in (self.wanted, self.found))
        return f"{self.place}: `{self.path}` should be {wanted}, and is {found}"


def read_rows(source: Source) -> tuple[Row, ...]:
    """The rows of a file; `Failure` (TW0006) for a line that is none, with its place."""
    return tuple(_row(source, number, line) for number, line in _lines(source))


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.text.split("\n"), start=1):
        if line.strip():
            yield number, line


def _row(source: Source, number: int, line: str) -> Row:
    try:
        return row_in(line, f"{source.name}:{number}")
    except ValueError as error:
        raise _bad(source, number, str(error)) from None


def row_in(line: str, place: str) -> Row:
    """Return the row of a line. Raises `ValueError` with a clause about the fault of the line."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None
    try:
        row = shaped(_RowFile, found)
    except ValueError as error:
        raise ValueError(f"is no recorded row: {error}") from None
    expected: dict[str, Json] = {key: getattr(row, key) for key in _EXPECTED if key in found}
    if not expected:
        raise ValueError("expects nothing: give `action`, `tick` or `progress`")
    return Row(place, row.state, row.intent, expected)


def _bad(source: Source, number: int, what: str) -> Failure:
    lines = source.text.split("\n")
    start = sum(len(one) + 1 for one in lines[: number - 1])
    end = start + len(lines[number - 1])
    span = source.span(start, end)
    hint = f'Write one `{{"format": "{FORMAT}", "state": …, "intent": …, "tick": …}}` per line.'
    return Failure(Diagnostic("TW0006", f"Line {number} {what}.", span, "this row", hint=hint))


def compare_row(world: OpenWorld, row: Row, seed: int) -> Difference | None:
    """Play a row and return the first difference from its expected results, or ``None``.

    ``seed`` draws if the recorded state names no seed. Raises `Failure` if the state or the intent
    does not fit the world.
    """
    given = row.state if isinstance(row.state, Mapping) else {}
    state = world.engine.restored({"seed": seed, **given}, source=row.place)
    found = _results(world, state, row.intent, row.place)
    for key in _EXPECTED:
        if key in row.expected:
            difference = _first(row, key, row.expected[key], found[key])
            if difference is not None:
                return difference
    return None


def replayed(world: OpenWorld, step: Replay, seed: int) -> tuple[int, str | None]:
    """The number of rows that a scenario's `replay` names, and the first difference."""
    sources = world.loaded.sources
    home = next((one.path for one in sources if one.name == step.span.file), None)
    try:
        rows = read_rows(read_source((home.parent if home is not None else Path()) / step.path))
        found = (compare_row(world, row, seed) for row in rows)
        difference = next((one for one in found if one is not None), None)
    except Failure as failure:
        return 0, failure.diagnostics[0].message
    if not rows:
        return 0, "the file has no row"
    return len(rows), None if difference is None else str(difference)


def _progress(outcome: Outcome) -> dict[str, Json]:
    return {
        "status": outcome.status,
        "score": outcome.score,
        "reward": outcome.reward,
        "latched": list(outcome.latched),
    }


def row_of(world: OpenWorld, state: State, intent: Mapping[str, Json]) -> dict[str, Json]:
    """The row that records the results of an intent in a state, with all that it may expect."""
    return {
        "format": FORMAT,
        "state": world.engine.json(state),
        "intent": dict(intent),
        **_results(world, state, intent, "intent"),
    }


def row_played(
    engine: Engine, state: State, command: Command
) -> tuple[dict[str, Json], State, Outcome]:
    """Play a command: the row that records it, the state after it and the last outcome."""
    after, outcomes = engine.play(state, command)
    actor = None if state.acting is None else state.names[state.acting]
    row = {
        "format": FORMAT,
        "state": engine.json(state),
        "intent": intent_json(command, actor, outcomes[-1].args),
        **_shown(engine, state, command, after, outcomes[-1]),
    }
    return row, after, outcomes[-1]


def _results(
    world: OpenWorld, state: State, intent: Mapping[str, Json], place: str
) -> dict[str, Json]:
    """All that a row may expect, as it comes out."""
    command = Resolver(world).resolve(state, parse_intent_json(json.dumps(intent), place))
    after, outcomes = world.engine.play(state, command)
    return _shown(world.engine, state, command, after, outcomes[-1])


def _shown(
    engine: Engine, state: State, command: Command | NoMatch, after: State, last: Outcome
) -> dict[str, Json]:
    acted = engine.acted(state, command) if isinstance(command, Command) else state
    return {
        "action": engine.json(acted),
        "tick": engine.json(after),
        "progress": _progress(last),
    }


def rows_of_run(store: RunStore, run: Run) -> Iterator[dict[str, Json]]:
    """A recorded run as rows, one per intent, played again from its seed."""
    session = stored_session(run)
    ticks, position = tuple(history(store, run)), 0
    while position < len(ticks):
        given = ticks[position].intent
        intent = {key: one for key, one in given.items() if key not in ("expect", "yield")}
        if "halt" in intent:  # the runner's own record, no intent
            position += 1
            continue
        yield row_of(session.world, session.state, intent)
        position += len(again(session, ticks[position]))


def _first(row: Row, path: str, wanted: Json, found: Json) -> Difference | None:
    """The first place where two JSON values differ; keys that are not wanted are not compared at
    the top."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        top = "." not in path and "[" not in path
        keys = [key for key in wanted if key not in _IGNORED]
        keys += [] if top else [key for key in found if key not in wanted]
        for key in keys:
            difference = _first(row, f"{path}.{key}", wanted.get(key), found.get(key))
            if difference is not None:
                return difference
        return None
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
            difference = _first(row, f"{path}[{index}]", one, other)
            if difference is not None:
                return difference
        return None
    same = wanted == found and isinstance(wanted, bool) == isinstance(found, bool)
    return None if same else Difference(row.place, path, wanted, found)
