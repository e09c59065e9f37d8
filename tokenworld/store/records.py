"""The plain data of runs and ticks, the hash chain over them, and the shapes of their JSON.

Nothing here touches the database.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NoReturn, get_args

from tokenworld.ground import STATUSES, By, Json, NoMatchKind, Status
from tokenworld.store.usage import UNTOLD, Usage

IntentSource = Literal["human", "script", "planner", "random", "adversarial", "llm", "scenario"]
LANGUAGE = 4
"""The version of the semantics of a step (language.md §8, §13).

Runs without one in their header have 1: there a fruitless intent could break off a long action and
hand on the turn. Draws of 2 were BLAKE2b hashes of their keys; the state hash of 3 was over a list
of all objects.
"""
INTENT_SOURCES: tuple[IntentSource, ...] = get_args(IntentSource)
Passed = Literal["HEALTHY", "DEGRADED"]
VERDICTS: tuple[Passed, ...] = get_args(Passed)


@dataclass(frozen=True, slots=True)
class SourceText:
    """One file of the program as it was when the run began."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Parent:
    """The parent of a branch: a run, and its record ``tick`` (0 is its start state)."""

    run: int
    tick: int


@dataclass(frozen=True, slots=True)
class Origin:
    """The same place by content, as the genesis of the branch hashes it: tick and chain hash."""

    tick: int
    chain: str


@dataclass(frozen=True, slots=True)
class RunHeader:
    """The parts of a run that are needed to play it again, even when the files have changed since.

    ``digest`` identifies the checked program, ``start_hash`` the state before the first record.
    ``carried`` is set for a game that went on with changed rules: where the run it left stood. Its
    start state then is among the sources; a branch has the same sources. ``language`` is the
    version of the meaning of steps.
    """

    world: str
    digest: str
    sources: tuple[SourceText, ...]
    compiler: str
    seed: int
    player: str
    start_hash: str
    params: Mapping[str, Json] = field(default_factory=dict)
    parent: Parent | None = None
    carried: Origin | None = None
    language: int = LANGUAGE


@dataclass(frozen=True, slots=True)
class Timing:
    """Wall time (ISO 8601) and duration: kept beside the log, never hashed, never compared."""

    started: str
    microseconds: int


@dataclass(frozen=True, slots=True)
class TickRecord:
    """One record to append: the source of an intent, the intent and its outcome.

    ``intent`` is enough to replay the tick: ``action`` with ``args``, or ``text``, or ``pass``.
    ``outcome`` is `Outcome.to_json`; status, actor and hashes are taken from it and nowhere else.
    ``text`` is the typed text, word for word, if there is one.
    """

    intent: Mapping[str, Json]
    outcome: Mapping[str, Json]
    source: IntentSource
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Tick:
    """One stored record of a run; ``seq`` counts from 1 without gaps. ``prose`` is the text of a
    narrator on the intent that ended with this record, ``usage`` the tokens of a model for it."""

    run: int
    seq: int
    actor: str | None
    source: IntentSource
    text: str | None
    intent: Mapping[str, Json]
    outcome: Mapping[str, Json]
    status: Status
    hash_before: str
    hash_after: str
    previous: str
    chain: str
    timing: Timing | None = None
    prose: str | None = None
    usage: Usage = UNTOLD


@dataclass(frozen=True, slots=True)
class Ending:
    """The ending of a closed run; it pins the number of records and the last link of the chain."""

    reason: str
    ticks: int
    state_hash: str
    chain: str


@dataclass(frozen=True, slots=True)
class Reference:
    """The note that a finished run passed the gate: with which verdict, over how many ticks at
    most."""

    verdict: Passed
    window: int


@dataclass(frozen=True, slots=True)
class Run:
    """One stored run; ``id`` and ``slug`` belong to the store, all else to the run itself.

    ``link`` (of the chain), ``state_hash`` and ``last_status`` are those of the last record.
    ``header.parent`` is None for a branch whose parent is not in this store; ``origin`` still tells
    where it came from.
    ``reference`` is set for a release run that passed the gate.
    """

    id: int
    slug: str
    header: RunHeader
    genesis: str
    origin: Origin | None
    ticks: int
    link: str
    state_hash: str
    last_status: Status | None
    ending: Ending | None
    timing: Timing | None = None
    reference: Reference | None = None


# ---- The hash chain: SHA-256 over the previous hash and the canonical JSON of a record -----------
# The first link hangs on the *genesis*, the hash of the run's header, and the genesis of a branch
# holds the link of its parent. So no record, header or parent changes unseen. The chain has no
# secret: whoever keeps the last link of a run elsewhere can prove that all before it is as it was.


def canonical(value: Json) -> str:
    """Canonical JSON: sorted keys, no spaces, UTF-8.

    Raises `ValueError` for a number that JSON cannot hold (infinite, not a number, too long).
    """
    text = json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
        default=_plain,
    )
    return storable(text)


def storable(text: str) -> str:
    r"""The text with lone surrogates, which UTF-8 cannot hold, as ``\udc80``.

    A terminal hands over bytes that are not UTF-8 in this way; in JSON the escape is lossless.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return whole.encode("utf-8", "backslashreplace").decode("utf-8")
    return text


def digest_of(value: Json) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal."""
    return _sha256(canonical(value))


def link(
    previous: str,
    *,
    seq: int,
    source: str,
    text: str | None,
    intent: Mapping[str, Json],
    outcome: Mapping[str, Json],
) -> str:
    """The chain hash of a record that follows the link (or genesis) ``previous``."""
    record: dict[str, Json] = {
        "seq": seq,
        "actor": outcome.get("actor"),
        "source": source,
        "text": text,
        "intent": intent,
        "outcome": outcome,
    }
    return _sha256(previous + canonical(record))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _plain(value: object) -> object:
    """Mappings and sequences that the JSON writer does not know as the ones that it does."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


# ---- shapes --------------------------------------------------------------------------------------
# The shapes of what a store holds: rows, headers, intents and outcomes, checked as they are read.
#
# A shape is a type, `ANY`, ``[shape]`` (a list), ``(shape, …)`` (a list of that length), a
# mapping of keys to shapes (an object; a key that ends in ``?`` may be missing, further keys may
# be there), `Maybe` (or nothing) or `OneOf` (one of some values).
#
# Not by pydantic: every verb that reads or records a run would import it, which takes a seventh of
# the CPU of `tw runs`.


ANY: Final = object()
"""Any JSON value."""


@dataclass(frozen=True, slots=True)
class Maybe:
    """A shape, or nothing."""

    shape: Any


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some values."""

    values: Collection[Json]


_CHANGE = {"fluent": str, "args": [ANY], "old": ANY, "new": ANY, "rule": str}
_REQUIRE = {
    "index": int,
    "label": str,
    "condition?": str,
    "text?": str,
    "holds": Maybe(bool),
    "values": {},
    "span?": str,
}
_REFUSAL = {
    "label": str,
    "text": str,
    "index": int,
    "span?": str,
    "failed": [_REQUIRE],
    "requires": [_REQUIRE],
}
_BREACH = {
    "code": str,
    "message?": str,
    "rule?": str,
    "place?": str,
    "witness?": [str],
    "culprits?": [str],
}
_DRAW = {
    "rule": str,
    "args": [ANY],
    "draw": int,
    "choice": int,
    "alternatives": int,
    "site?": str,
    "chances?": [float],
}
_NO_MATCH = {"kind": OneOf(get_args(NoMatchKind)), "message": str, "suggestions": [str]}

OUTCOME: Final[Mapping[str, Any]] = {
    "format": OneOf(("tw-outcome/1",)),
    "tick": int,
    "status": OneOf(STATUSES),
    "actor": Maybe(str),
    "by?": OneOf(get_args(By)),
    "action": str,
    "args": {},
    "time_passed": bool,
    "changes": [_CHANGE],
    "law_changes": [_CHANGE],
    "fired": [str],
    "said": [str],
    "events": [(str, [ANY])],
    "reward": float,
    "score": float,
    "hash_before": str,
    "hash_after": str,
    "text?": str,
    "refusal?": _REFUSAL,
    "no_match?": _NO_MATCH,
    "yielded?": _NO_MATCH,
    "discarded?": [_CHANGE],
    "draws?": [_DRAW],
    "latched?": [str],
    "progress?": (int, int),
    "cause?": str,
    "breach?": _BREACH,
    "noop?": bool,
    "next?": str,
}
"""A ``tw-outcome/1``."""

INTENT: Final[Mapping[str, Any]] = {
    "format?": OneOf(("tw-intent/1",)),
    "actor?": Maybe(str),
    "action?": str,
    "args?": {},
    "text?": str,
    "pass?": bool,
    "halt?": str,
    "expect?": str,
    "yield?": bool,
}
"""A ``tw-intent/1``, or the note that the runner stopped."""

_PLACE = {"tick": int, "chain": str}
HEADER: Final[Mapping[str, Any]] = {
    "world": str,
    "digest": str,
    "compiler": str,
    "seed": int,
    "player": str,
    "start_hash": str,
    "params": {},
    "parent": Maybe(_PLACE),
    "carried?": _PLACE,
    "language?": int,
}
"""The header of a ``tw-run/1``."""


def parsed(text: object, shape: Any = ANY) -> Any:
    """The value of a JSON text that has a shape; else `ValueError`, which says where it differs."""
    if not isinstance(text, str):
        raise ValueError("a text column holds no text")
    return fitting(json.loads(text, parse_float=_finite, parse_constant=_no_number), shape)


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _no_number(digits)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def fitting(value: Any, shape: Any) -> Any:
    """The value, which has a shape; else `ValueError`, which says where it differs."""
    wrong = misfit(value, shape)
    if wrong is not None:
        raise ValueError(f"{wrong or 'it'} is not as it was written")
    return value


def misfit(value: Any, shape: Any) -> str | None:
    """Return where a value does not have a shape, as ``.refusal.requires[0]``; ``None`` where it
    has."""
    if shape is ANY:
        return None
    if isinstance(shape, type):
        number = shape is float and type(value) is int
        return None if type(value) is shape or number else ""
    if isinstance(shape, Maybe):
        return None if value is None else misfit(value, shape.shape)
    if isinstance(shape, OneOf):
        return None if value in shape.values else ""
    return _in_object(value, shape) if isinstance(shape, dict) else _in_list(value, shape)


def _in_object(value: Any, shape: Mapping[str, Any]) -> str | None:
    if not isinstance(value, (dict, Mapping)):  # the first is tested faster
        return ""
    for key, one in shape.items():
        name = key.removesuffix("?")
        if name not in value:
            if name == key:
                return f".{name}"
        elif (wrong := misfit(value[name], one)) is not None:
            return f".{name}{wrong}"
    return None


def _in_list(value: Any, shape: Sequence[Any]) -> str | None:
    if not isinstance(value, list | tuple):
        return ""
    shapes: Iterable[Any] = shape if isinstance(shape, tuple) else (shape[0] for _ in value)
    if isinstance(shape, tuple) and len(value) != len(shape):
        return ""
    for number, (item, one) in enumerate(zip(value, shapes, strict=True)):
        if (wrong := misfit(item, one)) is not None:
            return f"[{number}]{wrong}"
    return None
