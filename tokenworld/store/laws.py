"""The laws of a record: what each status promises, re-checked from the record alone.

They hold before a record is stored and are checked again by `verify_chain`. What needs the rules
(is the named require really false?) is the business of a replay, not of the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from tokenworld.ground import STATUSES, Json, NoMatchKind

__all__ = ["LAWS", "Law", "broken_law"]

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


def _is_list(value: Json | None) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _well_formed(outcome: Record) -> bool:
    return (
        outcome.get("format") == "tw-outcome/1"
        and isinstance(outcome.get("tick"), int)
        and isinstance(outcome.get("time_passed"), bool)
        and all(isinstance(outcome.get(key), str) for key in ("hash_before", "hash_after"))
        and all(_are_changes(outcome.get(key)) for key in ("changes", "law_changes"))
        and ("discarded" not in outcome or _are_changes(outcome["discarded"]))
        and isinstance(outcome.get("actor"), str | None)
        and isinstance(outcome.get("next"), str | None)
    )


def _are_changes(value: Json | None) -> bool:
    return _is_list(value) and all(_is_change(_object(change)) for change in _items(value))


def _is_change(change: Record) -> bool:
    return (
        isinstance(change.get("fluent"), str)
        and isinstance(change.get("rule"), str)
        and _is_list(change.get("args"))
        and {"old", "new"} <= change.keys()
    )


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


def _explains_no_match(outcome: Record) -> bool:
    if not _is(outcome, "no_match"):
        return "no_match" not in outcome
    return _object(outcome.get("no_match")).get("kind") in _NO_MATCH_KINDS


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
    """Whether the turn goes to another actor, which the state hash covers."""
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
    Law("form", "the outcome has all the parts of a `tw-outcome/1`", _well_formed),
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
)
