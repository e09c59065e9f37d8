"""What a run and its ticks are made of: plain data, before and after it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from tokenworld.ground import Json, Status

__all__ = [
    "INTENT_SOURCES",
    "Ending",
    "IntentSource",
    "Origin",
    "Parent",
    "Reference",
    "Run",
    "RunHeader",
    "SourceText",
    "Tick",
    "TickRecord",
    "Timing",
]

IntentSource = Literal["human", "script", "planner", "random", "adversarial", "llm", "scenario"]
INTENT_SOURCES: tuple[IntentSource, ...] = get_args(IntentSource)


@dataclass(frozen=True, slots=True)
class SourceText:
    """One file of the program as it was when the run began."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Parent:
    """Where a branch leaves another run: after its record ``tick`` (0 is its start state)."""

    run: int
    tick: int


@dataclass(frozen=True, slots=True)
class Origin:
    """The same place by content, as the genesis of the branch hashes it: tick and chain hash."""

    tick: int
    chain: str


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What a run needs to be played again, even when the files have changed since.

    ``digest`` identifies the checked program, ``start_hash`` the state before the first record.
    ``carried`` is set for a game that went on with changed rules: where the run it left stood. Its
    start state then is among the sources; a branch has the same sources.
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


@dataclass(frozen=True, slots=True)
class Timing:
    """Wall time (ISO 8601) and duration: kept beside the log, never hashed, never compared."""

    started: str
    microseconds: int


@dataclass(frozen=True, slots=True)
class TickRecord:
    """One record to append: who spoke, what was meant and what the engine made of it.

    ``intent`` is enough to replay the tick: ``action`` with ``args``, or ``text``, or ``pass``.
    ``outcome`` is `Outcome.to_json`; status, actor and hashes are taken from it and nowhere else.
    ``text`` is what was typed, word for word, where anything was typed.
    """

    intent: Mapping[str, Json]
    outcome: Mapping[str, Json]
    source: IntentSource
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Tick:
    """One stored record of a run; ``seq`` counts from 1 without gaps."""

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


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run was closed; it pins the number of records and the last link of the chain."""

    reason: str
    ticks: int
    state_hash: str
    chain: str


@dataclass(frozen=True, slots=True)
class Reference:
    """That a finished run passed the gate: with which verdict, over how many ticks at most."""

    verdict: Literal["HEALTHY", "DEGRADED"]
    window: int


@dataclass(frozen=True, slots=True)
class Run:
    """One stored run; ``id`` and ``slug`` belong to the store, all else to the run itself.

    ``state_hash`` and ``last_status`` are those of the last record. ``header.parent`` is None for
    a branch whose parent is not in this store; ``origin`` still tells where it came from.
    ``reference`` is set for a release run that passed the gate.
    """

    id: int
    slug: str
    header: RunHeader
    genesis: str
    origin: Origin | None
    ticks: int
    state_hash: str
    last_status: Status | None
    ending: Ending | None
    timing: Timing | None = None
    reference: Reference | None = None
