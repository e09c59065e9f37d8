"""Recorded rows: a state, an intent, and what must come of it (language.md §15, `replay`).

A row is a JSON object on a line of its own, ``tw-row/1``: ``state`` (tw-state) and ``intent``
(tw-intent), and what is expected: ``action`` (tw-state after the action's own changes), ``tick``
(tw-state after the phases) and ``progress`` (``status``, ``score``, ``reward``, ``latched``).
What a row does not say is not compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source
from tokenworld.engine import State
from tokenworld.ground import Command, Json, Outcome
from tokenworld.model import Replay
from tokenworld.prose import parse_intent_json
from tokenworld.session.intents import Resolver
from tokenworld.session.loading import OpenWorld
from tokenworld.session.replaying import stored_session
from tokenworld.store import Run, RunStore, history

__all__ = ["Difference", "Row", "compare_row", "read_rows", "replayed", "row_of", "rows_of_run"]

FORMAT = "tw-row/1"
_EXPECTED = ("action", "tick", "progress")
_PROGRESS = ("status", "score", "reward", "latched")
_IGNORED = ("format",)


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
    place = f"{source.name}:{number}"
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise _bad(source, number, "is not JSON") from None
    if not isinstance(found, dict) or found.get("format", FORMAT) != FORMAT:
        raise _bad(source, number, "is no recorded row")
    state, intent = found.get("state"), found.get("intent")
    if not isinstance(state, dict) or not isinstance(intent, dict):
        raise _bad(source, number, "has no `state` or no `intent`")
    expected = {key: found[key] for key in _EXPECTED if key in found}
    if not expected or not all(isinstance(one, dict) for one in expected.values()):
        raise _bad(source, number, "expects nothing: give `action`, `tick` or `progress`")
    return Row(place, state, intent, expected)


def _bad(source: Source, number: int, what: str) -> Failure:
    lines = source.text.split("\n")
    start = sum(len(one) + 1 for one in lines[: number - 1])
    end = start + len(lines[number - 1])
    span = source.span(start, end)
    hint = f'Write one `{{"format": "{FORMAT}", "state": …, "intent": …, "tick": …}}` per line.'
    return Failure(Diagnostic("TW0006", f"Line {number} {what}.", span, "this row", hint=hint))


def compare_row(world: OpenWorld, row: Row, seed: int) -> Difference | None:
    """Play a row; the first difference from what it expects, ``None`` if there is none.

    ``seed`` draws where the recorded state names no seed. Raises `Failure` where the state or the
    intent does not fit the world.
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
    """How many rows a scenario's `replay` names, and the first thing that is wrong with them."""
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
    """The row that records what an intent comes to in a state, all that it may expect included."""
    return {
        "format": FORMAT,
        "state": world.engine.json(state),
        "intent": dict(intent),
        **_results(world, state, intent, "intent"),
    }


def _results(
    world: OpenWorld, state: State, intent: Mapping[str, Json], place: str
) -> dict[str, Json]:
    """All that a row may expect, as it comes out."""
    engine = world.engine
    command = Resolver(world).resolve(state, parse_intent_json(json.dumps(intent), place))
    after, outcomes = engine.play(state, command)
    acted = engine.acted(state, command) if isinstance(command, Command) else state
    return {
        "action": engine.json(acted),
        "tick": engine.json(after),
        "progress": _progress(outcomes[-1]),
    }


def rows_of_run(store: RunStore, run: Run) -> Iterator[dict[str, Json]]:
    """A recorded run as rows, one per intent, played again from its seed."""
    session = stored_session(run)
    ticks, position = tuple(history(store, run)), 0
    while position < len(ticks):
        intent = {key: one for key, one in ticks[position].intent.items() if key != "expect"}
        if "halt" in intent:  # the runner's own record, no intent
            position += 1
            continue
        yield row_of(session.world, session.state, intent)
        position += len(session.intend(parse_intent_json(json.dumps(intent))))


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
