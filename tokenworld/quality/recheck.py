"""Re-checking a log record by record with the reference evaluator: what groundedness counts.

Nothing that the engine said is believed here. Each intent of the log is given again to an evaluator
that shares no code with the engine, and the record is held against what comes of it: the laws of
statuses, the status itself, the require that refused, the changes, the narration and its claims.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tokenworld.engine.reference import Fault, Reference
from tokenworld.engine.reference import State as PlainState
from tokenworld.engine.reference.record import Record, outcome
from tokenworld.ground import Command, Json, NoMatch
from tokenworld.quality.claims import claims_of
from tokenworld.store import broken_law

__all__ = ["Checked", "Plain", "checked", "play_plainly"]

Outcome = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Checked:
    """In which respects a record does not stand.

    ``faults`` are lies of the log; ``claims`` what its narration, true to the rules, tells falsely;
    ``unchecked``: it spoke, and claimed nothing.
    """

    faults: tuple[str, ...]
    claims: tuple[str, ...] = ()
    unchecked: bool = False


@dataclass(frozen=True, slots=True)
class Plain:
    """A record of the reference, as it is and as ``tw-outcome/1``."""

    record: Record
    shown: Outcome


def play_plainly(
    reference: Reference, state: PlainState, intent: Command | NoMatch
) -> tuple[PlainState, tuple[Plain, ...]]:
    """The state after an intent and its records, by the reference."""
    words = reference.words
    records = reference.round.intent(state, intent)
    try:
        found = tuple(Plain(one, outcome(words, one)) for one in records)
    except Fault as fault:  # a text or the score has no value: the intent is in error
        records = reference.round.dropped(state, records[-1].command, fault)
        found = tuple(Plain(one, outcome(words, one)) for one in records)
    return records[-1].after, found


def checked(reference: Reference, logged: Outcome, plain: Plain | None) -> Checked:
    """A logged outcome held against the reference's record of the same intent."""
    law = broken_law(logged)
    faults = [] if law is None else [f"breaks the law `{law.name}`: {law.text}"]
    if plain is None:
        return Checked((*faults, "nothing of the kind comes of its intent"))
    faults += _differences(logged, plain.shown)
    claims = claims_of(reference.words, plain.record)
    false = tuple(f"its narration is not true: {one}" for one in claims.false)
    return Checked(tuple(faults), false, bool(plain.record.spoken) and not claims.checked)


def _differences(logged: Outcome, found: Outcome) -> Iterator[str]:
    """What the log says otherwise than the reference."""
    if logged.get("status") != found["status"]:
        yield f"it is logged as {logged.get('status')}, and comes out {found['status']}"
    for key in ("action", "args", "time_passed"):
        if not _same(logged.get(key), found[key]):
            yield f"its `{key}` is logged as {_shown(logged.get(key))}, not {_shown(found[key])}"
    for key, what in (("changes", "changes"), ("law_changes", "changes by laws")):
        if not _same(_sorted(logged.get(key)), _sorted(found[key])):
            yield f"its {what} are not those that a replay makes"
    if found["status"] == "refused" == logged.get("status"):
        yield from _refusal(logged.get("refusal"), found["refusal"])
    if not _same(logged.get("said"), found["said"]):
        yield "its narration is not what the rules say"


def _refusal(logged: Json, found: Json) -> Iterator[str]:
    """The named require is the first one that is false in the state before."""
    told, true = (one if isinstance(one, Mapping) else {} for one in (logged, found))
    if (told.get("index"), told.get("label")) != (true.get("index"), true.get("label")):
        yield f"it names the require `{told.get('label')}`, and `{true.get('label')}` is false"


def _sorted(changes: Json) -> list[str]:
    """Changes are a set."""
    listed: Sequence[Json] = changes if isinstance(changes, Sequence) else ()
    return sorted(json.dumps(one, sort_keys=True) for one in listed)


def _same(left: Json, right: Json) -> bool:
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def _shown(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
