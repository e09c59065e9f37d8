"""Checking runs: the laws of a record, a stored run (`tw runs verify`), a run beside its replay.

The laws of a record hold before it is stored and are checked again by `verify_chain`. Whether the
named require is really false needs the rules: a replay checks it, not the log."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, cast, get_args

from tokenworld.diagnostics import Diagnostic, fields_json
from tokenworld.ground import STATUSES, Json, NoMatchKind
from tokenworld.store.database import Database, unreadable
from tokenworld.store.read import chained, event_rows, find_run
from tokenworld.store.records import (
    INTENT_SOURCES,
    LANGUAGE,
    OUTCOME,
    Run,
    TickRecord,
    canonical,
    digest_of,
    misfit,
)

Record = Mapping[str, Json]

_CHANGING = ("executed", "interrupted")
# The progress of a long action is part of the state hash, so `waiting` may move it.
_MOVING = (*_CHANGING, "waiting")
_DISCARDING = ("rolled_back", "error")
_NO_MATCH_KINDS = get_args(NoMatchKind)


@dataclass(frozen=True, slots=True)
class Law:
    """A property that every stored outcome has; ``text`` states it."""

    name: str
    text: str
    holds: Callable[[Record], bool]


def broken_law(outcome: Record) -> Law | None:
    """The first law that the outcome breaks, or None. Never raises, whatever the JSON."""
    return next((law for law in LAWS if not law.holds(outcome)), None)


def _is(outcome: Record, *statuses: str) -> bool:
    return outcome.get("status") in statuses


def _object(value: Json | None) -> Record:
    return value if isinstance(value, Mapping) else {}


def _items(value: Json | None) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


_FIXED = {key: OUTCOME[key] for key in OUTCOME if not key.endswith("?")}
_WHOLE = {**_FIXED, "discarded?": OUTCOME["discarded?"], "next?": OUTCOME["next?"]}


def _whole(outcome: Record) -> bool:
    return misfit(outcome, _WHOLE) is None


_OTHERS = {key: shape for key, shape in OUTCOME.items() if key not in _WHOLE}


def _well_formed(outcome: Record) -> bool:
    return misfit(outcome, _OTHERS) is None


def _explains_refusal(outcome: Record) -> bool:
    """The refusal names its require, which is the first false one, with the values it read."""
    if not _is(outcome, "refused"):
        return "refusal" not in outcome
    refusal = _object(outcome.get("refusal"))
    reports = [_object(report) for report in _items(refusal.get("requires"))]
    deciding = next((report for report in reports if report.get("holds") is not True), {})
    return (
        all(isinstance(refusal.get(key), str) for key in ("label", "text"))
        and deciding.get("holds") is False
        and isinstance(deciding.get("values"), Mapping)
        and deciding.get("index") == refusal.get("index")
        and deciding.get("label") == refusal.get("label")
    )


def _explains_no_match(outcome: Record, status: str = "no_match") -> bool:
    if not _is(outcome, status):
        return status not in outcome
    return _object(outcome.get(status)).get("kind") in _NO_MATCH_KINDS


def _explains_breach(outcome: Record) -> bool:
    if not _is(outcome, *_DISCARDING):
        return "breach" not in outcome
    return isinstance(_object(outcome.get("breach")).get("code"), str)


def _explains_itself(outcome: Record) -> bool:
    if _is(outcome, "waiting"):
        progress = _items(outcome.get("progress"))
        return len(progress) == 2 and all(isinstance(number, int) for number in progress)
    if _is(outcome, "interrupted", "halted"):
        return isinstance(outcome.get("cause"), str)
    return True


def _hands_on(outcome: Record) -> bool:
    """Return whether the turn goes to another actor, which the state hash covers."""
    return isinstance(outcome.get("next"), str) and outcome.get("next") != outcome.get("actor")


def _stays(outcome: Record) -> bool:
    if _is(outcome, *_MOVING) or outcome.get("time_passed") is True or _hands_on(outcome):
        return True
    return outcome.get("hash_before") == outcome.get("hash_after")


def _noop_is_true(outcome: Record) -> bool:
    nothing = _is(outcome, "executed") and not _items(outcome.get("changes"))
    return (outcome.get("noop") is True) == nothing


LAWS: tuple[Law, ...] = (
    Law("status", "the status is one of the closed set", lambda o: _is(o, *STATUSES)),
    Law("form", "the outcome has all the parts of a `tw-outcome/1`", _whole),
    Law(
        "no_change",
        "only `executed` and `interrupted` change anything",
        lambda o: _is(o, *_CHANGING) or not _items(o.get("changes")),
    ),
    Law(
        "refusal",
        "`refused`, and nothing else, names the first false require with its values",
        _explains_refusal,
    ),
    Law("no_match", "`no_match`, and nothing else, tells what did not resolve", _explains_no_match),
    Law(
        "yielded",
        "`yielded`, and nothing else, tells the gap that an operator was asked about",
        lambda o: _explains_no_match(o, "yielded"),
    ),
    Law(
        "breach",
        "`rolled_back` and `error`, and nothing else, tell the rule that broke",
        _explains_breach,
    ),
    Law(
        "discarded",
        "only `rolled_back` and `error` discard changes",
        lambda o: _is(o, *_DISCARDING) or not _items(o.get("discarded")),
    ),
    Law(
        "cause",
        "`waiting` tells its progress; `interrupted` and `halted` tell their cause",
        _explains_itself,
    ),
    Law("noop", "`noop` marks exactly what was executed without changes", _noop_is_true),
    Law(
        "laws_need_time",
        "laws change nothing while no time passes",
        lambda o: o.get("time_passed") is True or not _items(o.get("law_changes")),
    ),
    Law(
        "state_stays",
        "the state stays where neither the action nor time nor a turn moves it",
        _stays,
    ),
    Law("parts", "each part has the form that a `tw-outcome/1` gives it", _well_formed),
)


# ---- Checking a stored run without trusting what wrote it: `tw runs verify` ----------------------
# Reads the rows as they lie in the file, recomputes every link of the chain and re-checks the laws
# of every record. It needs no rules; re-executing the run is the business of a replay.


@dataclass(frozen=True, slots=True)
class Breach:
    """The first thing found wrong: at record `seq` (0 is the header), against `law`."""

    seq: int
    law: str
    message: str

    def to_json(self) -> dict[str, Json]:
        return {"tick": self.seq, "law": self.law, "message": self.message}


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of checking a run. ``ticks`` counts the records found good."""

    run: Run
    ticks: int
    breach: Breach | None

    @property
    def ok(self) -> bool:
        return self.breach is None

    def to_json(self) -> dict[str, Json]:
        return {
            "run": self.run.slug,
            "ticks": self.ticks,
            "ok": self.ok,
            "breach": self.breach.to_json() if self.breach else None,
        }

    def diagnostic(self) -> Diagnostic | None:
        """TW1101 with the place of the breach, or None."""
        if self.breach is None:
            return None
        place = f"tick {self.breach.seq}" if self.breach.seq else "the header"
        message = f"Run `{self.run.slug}` is not as it was recorded: {place} {self.breach.message}."
        hint = f"Trust the run up to tick {self.ticks} only." if self.ticks else "Do not trust it."
        return Diagnostic("TW1101", message, hint=hint)


def check_file(store: Database) -> None:
    """Read every page of the file; raises `Failure` TW1101 where it is damaged."""
    with store.reading() as connection:
        findings = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        orphan = connection.execute("PRAGMA foreign_key_check").fetchone()
    if findings != "ok":
        raise unreadable(store.path, f"it is damaged ({findings})")
    if orphan:
        raise unreadable(store.path, f"a row of `{orphan[0]}` belongs to nothing")


def verify_chain(store: Database, run: Run) -> Verification:
    """Check the header, every record and the ending of a run, and stop at the first breach.

    A run without an ending may have lost its last records unseen: nothing pins their number.
    """
    with store.reading() as connection:
        header = connection.execute(
            "SELECT header, genesis FROM run WHERE id = ?", (run.id,)
        ).fetchone()
        rows = connection.execute(
            "SELECT seq, actor, source, text, intent, outcome, status, hash_before, hash_after, "
            "previous, chain FROM tick WHERE run = ? ORDER BY seq",
            (run.id,),
        ).fetchall()
        events = _events(connection, run.id)
    message = _header_breach(store, run, *header)
    if message:
        return Verification(run, 0, Breach(0, "header", message))
    seq, link, state = 0, run.genesis, run.header.start_hash
    for row in rows:
        breach = _tick_breach(_Row(*row), seq + 1, link, state, events.get(row[0], []))
        if breach:
            return Verification(run, seq, breach)
        seq, state, link = row[0], row[8], row[10]
    return Verification(run, seq, _ending_breach(run, seq, link, state))


@dataclass(frozen=True, slots=True)
class _Row:
    """A record of the file, unparsed."""

    seq: int
    actor: str | None
    source: Any
    text: str | None
    intent: str
    outcome: str
    status: str
    hash_before: str
    hash_after: str
    previous: str
    chain: str


def _events(connection: sqlite3.Connection, run: int) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = {}
    for seq, *event in connection.execute(
        "SELECT seq, position, part, fluent, args, old, new, rule FROM event "
        "WHERE run = ? ORDER BY seq, position",
        (run,),
    ):
        found.setdefault(seq, []).append(tuple(event))
    return found


def _header_breach(store: Database, run: Run, header: str, genesis: str) -> str | None:
    if canonical(json.loads(header)) != header or digest_of(json.loads(header)) != genesis:
        return "does not have the hash that was recorded with it"
    sources: Json = [[source.name, source.text] for source in run.header.sources]
    if digest_of(sources) != json.loads(header)["sources"]:
        return "has other source texts than those recorded"
    parent = run.header.parent
    if parent is None:
        return None
    origin = find_run(store, parent.run)
    with store.reading() as connection:
        row = connection.execute(
            "SELECT chain, hash_after FROM tick WHERE run = ? AND seq = ?",
            (parent.run, parent.tick),
        ).fetchone()
    start = (origin.genesis, origin.header.start_hash) if parent.tick == 0 else row
    if run.origin is None or start != (run.origin.chain, run.header.start_hash):
        return f"does not follow tick {parent.tick} of its parent `{origin.slug}`"
    return None


def _tick_breach(
    row: _Row, seq: int, link: str, state: str, events: list[tuple[Any, ...]]
) -> Breach | None:
    """Return the first law of the log that a record breaks, given the record before it."""
    if row.seq != seq:
        return Breach(seq, "gapless", "is missing")
    parsed = _parsed(row)
    if parsed is None:
        return Breach(seq, "canonical", "is not canonical JSON")
    intent, outcome = parsed
    if row.source not in INTENT_SOURCES:
        return Breach(seq, "source", f"has the unknown source `{row.source}`")
    if not isinstance(row.text, str | None):
        return Breach(seq, "text", "has a text column that holds no text")
    if row.previous != link:
        return Breach(seq, "chain", "does not continue the hash chain")
    record = TickRecord(intent, outcome, row.source, row.text)
    if chained(0, seq, link, record).chain != row.chain:
        return Breach(seq, "chain", "does not have the hash that was recorded with it")
    columns = (row.actor, row.status, row.hash_before, row.hash_after)
    keys = ("actor", "status", "hash_before", "hash_after")
    for key, column in zip(keys, columns, strict=True):
        if outcome.get(key) != column:
            return Breach(seq, "columns", f"has another `{key}` in its column than in its outcome")
    law = broken_law(outcome)
    if law:
        return Breach(seq, law.name, f"breaks the law `{law.name}`: {law.text}")
    if row.hash_before != state:
        return Breach(seq, "continuity", "does not start in the state the last one ended in")
    if list(event_rows(outcome)) != events:
        return Breach(seq, "events", "has event rows that are not those of its changes")
    return None


def _parsed(row: _Row) -> tuple[Mapping[str, Json], Mapping[str, Json]] | None:
    """Intent and outcome, or None where a text is not the canonical JSON of an object.

    Their shapes are laws of the record, `broken_law`.
    """
    found = []
    for text in (row.intent, row.outcome):
        try:
            value = json.loads(text)
            if not isinstance(value, dict) or canonical(value) != text:
                return None
        except (ValueError, TypeError, RecursionError):
            return None
        found.append(value)
    return found[0], found[1]


def _ending_breach(run: Run, seq: int, link: str, state: str) -> Breach | None:
    if run.ending is None:
        return None
    if run.ending.ticks < seq:
        return Breach(run.ending.ticks + 1, "ending", "was added after the run was finished")
    if run.ending.ticks > seq:
        message = f"is missing: the run was finished with {run.ending.ticks} ticks"
        return Breach(seq + 1, "ending", message)
    if (run.ending.chain, run.ending.state_hash) != (link, state):
        return Breach(seq, "ending", "is not the one that the run was finished with")
    return None


# ---- Comparing a recorded run with its replay: the pure half of `tw runs replay --verify` --------
# `session` re-executes the intents and hands both lists over; nothing is executed here.


# In the order in which a difference explains the later ones; unlisted ones come last.
_PARTS = (
    "hash_before", "status", "action", "args", "refusal", "no_match", "breach", "draws",
    "changes", "discarded", "law_changes", "time_passed", "fired", "hash_after",
)  # fmt: skip
_WITH_RULES = ("draws", "changes", "discarded", "law_changes")


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first record that came out differently, and the differing part.

    ``part`` is a key of the outcome, or `missing` (the replay ended early) or `extra`. ``rule`` is
    the rule whose effect differs (`law grow`), or "" if there is no single one.
    """

    seq: int
    part: str
    rule: str
    recorded: Json
    replayed: Json

    def to_json(self) -> dict[str, Json]:
        return {**fields_json(self, "seq"), "tick": self.seq, "rule": self.rule or None}

    def diagnostic(self, run: Run) -> Diagnostic:
        """TW1105 with the tick, the rule and both values."""
        by = f" by `{self.rule}`" if self.rule else ""
        match self.part:
            case "missing":
                what = "is not reached by the replay"
            case "extra":
                what = "is made by the replay only"
            case _:
                what = f"differs in `{self.part}`{by} when replayed"
        notes = (f"recorded: {canonical(self.recorded)}", f"replayed: {canonical(self.replayed)}")
        return Diagnostic(
            "TW1105",
            f"Tick {self.seq} of run `{run.slug}` {what}.",
            notes=notes,
            hint="Compare the rules with the sources stored in the run.",
        )


def first_divergence(
    recorded: Sequence[Record], replayed: Sequence[Record], first: int = 1
) -> Divergence | None:
    """The first difference between two lists of outcomes (`Outcome.to_json`), or None.

    `first` is the number of the first record. Values are compared in canonical JSON, so that a
    stored and a fresh outcome compare alike.
    """
    for seq, (old, new) in enumerate(zip_longest(recorded, replayed), first):
        if old is None or new is None:
            part = "missing" if new is None else "extra"
            return Divergence(seq, part, "", _brief(old), _brief(new))
        found = _difference(seq, old, new)
        if found:
            return found
    return None


def world_differs(run: Run, digest: str) -> Diagnostic | None:
    """Return TW1105 for a program other than the one that the run was recorded with."""
    if digest == run.header.digest:
        return None
    return Diagnostic(
        "TW1105",
        f"World `{run.header.world}` is not the one that run `{run.slug}` was recorded with.",
        hint="Replay with the sources stored in the run, or begin a new run.",
    )


def language_differs(run: Run) -> Diagnostic | None:
    """TW1105 where a run was recorded when steps meant something else."""
    if run.header.language == LANGUAGE:
        return None
    return Diagnostic(
        "TW1105",
        f"The language has changed since run `{run.slug}` was recorded: its steps have meaning "
        f"{run.header.language}, those of this version {LANGUAGE}. It cannot be played again.",
        hint=f"Check it with the version that recorded it (token-world {run.header.compiler}), or "
        "record the run again.",
    )


def _difference(seq: int, old: Record, new: Record) -> Divergence | None:
    for part in (*_PARTS, *sorted(old.keys() | new.keys())):
        before, after = old.get(part), new.get(part)
        if _same(before, after):
            continue
        if part in _WITH_RULES:
            return _first_item(seq, part, _list(before), _list(after))
        return Divergence(seq, part, _culprit(part, old, new), before, after)
    return None


def _first_item(seq: int, part: str, old: Sequence[Json], new: Sequence[Json]) -> Divergence:
    """The first entry of two lists that differs, with the rule that made it."""
    pair = next((o, n) for o, n in zip_longest(old, new) if not _same(o, n))
    made = cast(Record, pair[0] if pair[0] is not None else pair[1])
    return Divergence(seq, part, str(made.get("rule", "")), *pair)


def _culprit(part: str, old: Record, new: Record) -> str:
    """The rule that causes a difference outside the lists of changes."""
    if part == "fired":
        pairs = zip_longest(_list(old.get(part)), _list(new.get(part)))
        return str(next(o if o is not None else n for o, n in pairs if o != n))
    action = old.get("action")
    if part in ("status", "refusal") and action and action == new.get("action"):
        return f"action {action}"
    return ""


def _brief(outcome: Record | None) -> Json:
    if outcome is None:
        return None
    return {key: outcome.get(key) for key in ("status", "action", "args")}


def _same(left: Json, right: Json) -> bool:
    return canonical(left) == canonical(right)


def _list(value: Json | None) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
