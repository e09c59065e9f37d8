"""A small run to record; the outcomes are made by hand, without the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tokenworld.ground import Change, Json, NoMatch, Outcome, Refusal, RequireReport
from tokenworld.store.log import RunHandle, RunStore
from tokenworld.store.records import RunHeader, SourceText, Tick, TickRecord


def _header(**different: Any) -> RunHeader:
    fields: dict[str, Any] = {
        "world": "cellar",
        "digest": "d1",
        "sources": (SourceText("cellar.tw", "world cellar { }\n"),),
        "compiler": "0.1.0",
        "seed": 7,
        "player": "human",
        "start_hash": "s0",
        "params": {"rate": 1.5},
    }
    return RunHeader(**{**fields, **different})


def _outcome(number: int, status: str = "executed", **different: Any) -> Outcome:
    """Outcome `number` of the sample: state ``s(n-1)`` becomes ``s(n)`` if it is executed."""
    before = f"s{number - 1}"
    false = RequireReport(
        0, "locked", "x.lock != locked", "Locked.", False, {"x.lock": "locked"}, "c.tw:3:1"
    )
    by_status: dict[str, dict[str, Any]] = {
        "executed": {
            "changes": (Change("at", ("lamp",), "vault", f"p{number}", "action take"),),
            "law_changes": (Change("heat", ("pot",), number - 1, number, "law warm"),),
            "fired": ("law warm",),
            "time_passed": True,
            "hash_after": f"s{number}",
        },
        "refused": {"refusal": Refusal("locked", "Locked.", 0, "c.tw:3:1", (false,))},
        "rolled_back": {
            "breach": {"code": "TW1001", "rule": "invariant one_place"},
            "discarded": (Change("at", ("lamp",), "a", "b", "action take"),),
        },
        "no_match": {"no_match": NoMatch("unknown_verb", "No such verb.", ("take",))},
        "waiting": {"progress": (1, 3), "time_passed": True, "hash_after": f"s{number}"},
        "interrupted": {"cause": "take", "hash_after": f"s{number}"},
        "error": {"breach": {"code": "TW1003", "rule": "law warm"}},
        "halted": {"cause": "won"},
        "yielded": {"no_match": NoMatch("unknown_verb", "No such verb.", yielded=True)},
    }
    fields: dict[str, Any] = {
        "tick": number - 1,
        "status": status,
        "actor": "hero",
        "action": "take",
        "args": {"it": "lamp"},
        "hash_before": before,
        "hash_after": before,
    }
    return Outcome(**{**fields, **by_status[status], **different})


def _record(number: int, status: str = "executed", **different: Any) -> TickRecord:
    outcome = _outcome(number, status, **different)
    intent: dict[str, Json] = {"actor": "hero", "action": "take", "args": {"it": "lamp"}}
    return TickRecord(intent, outcome.to_json(), "human", "take lamp")


def _play(run: RunHandle, ticks: int) -> list[Tick]:
    """Append executed ticks to the sample run."""
    first = run.run().ticks + 1
    return [run.append(_record(number)) for number in range(first, first + ticks)]


@pytest.fixture
def make_header() -> Callable[..., RunHeader]:
    return _header


@pytest.fixture
def make_outcome() -> Callable[..., Outcome]:
    return _outcome


@pytest.fixture
def make_record() -> Callable[..., TickRecord]:
    return _record


@pytest.fixture
def play() -> Callable[[RunHandle, int], list[Tick]]:
    return _play


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[RunStore]:
    with RunStore.open(path) as opened:
        yield opened


@pytest.fixture
def run(store: RunStore) -> RunHandle:
    return store.begin(_header())
