"""Recorded transitions (``tw-row/1``, as `tw runs rows` writes them), read line by line."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import State
from tokenworld.ground import Command, Json, NoMatch
from tokenworld.prose.intents import parse_intent_json
from tokenworld.session.intents import Resolver
from tokenworld.session.loading import OpenWorld
from tokenworld.session.replaying import Row, row_in
from tokenworld.verbs.records.rows import BadRow, lines_of

_WHOLE = ("objects", "functions", "relations", "tick", "outcomes")
_PARTS = ("functions", "relations")
_HINT = "Record them with `tw run` and `tw runs rows`."


@dataclass(frozen=True, slots=True)
class Transition:
    """A state, an intent, and the observed state after the tick.

    ``fields`` are the observed fluents; ``None``: the whole state.
    """

    place: str
    state: State
    intent: Command | NoMatch
    seen: State
    fields: frozenset[str] | None = None


def world_rows(paths: Iterable[Path]) -> Iterator[Row | BadRow]:
    """The rows of files, plain or packed; a line that is none is a `BadRow`.

    Raises `Failure` (TW0001) where a file cannot be opened.
    """
    for path in paths:
        number = 0
        try:
            for number, line in enumerate(lines_of(path), start=1):
                if line.strip():
                    yield _row(line, f"{path}:{number}")
        except (EOFError, zlib.error) as error:
            yield BadRow(f"{path}:{number + 1}", f"the file is torn here ({error})")
        except OSError as error:
            what = f"`{path}` cannot be read: {error.strerror or error}."
            raise Failure(Diagnostic("TW0001", what, hint=_HINT)) from None


def _row(line: bytes, place: str) -> Row | BadRow:
    try:
        return row_in(line.decode("utf-8"), place)
    except UnicodeDecodeError:
        return BadRow(place, "the line is no UTF-8 text")
    except ValueError as error:
        return BadRow(place, f"the line {error}")


def transitions(
    world: OpenWorld, paths: Iterable[Path], seed: int = 0
) -> Iterator[Transition | BadRow]:
    """The transitions of files; a line that is none, or that does not fit the world, is a `BadRow`.

    Raises `Failure` (TW0001) where a file cannot be opened.
    """
    return fitting(world, world_rows(paths), seed)


def fitting(
    world: OpenWorld, rows: Iterable[Row | BadRow], seed: int = 0
) -> Iterator[Transition | BadRow]:
    """The transitions of rows; one that does not fit the world is a `BadRow`."""
    resolver, states = Resolver(world), _States(world)
    for row in rows:
        yield _transition(world, resolver, states, row, seed) if isinstance(row, Row) else row


def _transition(
    world: OpenWorld, resolver: Resolver, states: _States, row: Row, seed: int
) -> Transition | BadRow:
    try:
        return _fitting(world, resolver, states, row, seed)
    except ValueError as error:
        return BadRow(row.place, f"the line {error}")
    except Failure as failure:
        return BadRow(row.place, failure.diagnostics[0].message.rstrip("."))


def _fitting(
    world: OpenWorld, resolver: Resolver, states: _States, row: Row, seed: int
) -> Transition | BadRow:
    """The transition of a row; `Failure` where the world has no place for it."""
    given, tick = _mapping(row.state), row.expected.get("tick")
    if not isinstance(tick, Mapping):
        return BadRow(row.place, "the row tells no state after the tick")
    for shown in (given, tick):
        if shown.get("world", world.world.name) != world.world.name:
            here = f"the row is of the world `{shown['world']}`, not of `{world.world.name}`"
            return BadRow(row.place, here)
    state = states.restored({"seed": seed, **given}, row.place)
    seen = states.restored({**given, **tick, "seed": state.seed}, f"{row.place}: tick")
    intent = resolver.resolve(state, parse_intent_json(json.dumps(dict(row.intent)), row.place))
    return Transition(row.place, state, intent, seen, _observed(world, tick))


class _States:
    """Converts states. A row mostly begins with the state that the row before ended with, or with
    a similar one; then only the difference is read."""

    def __init__(self, world: OpenWorld) -> None:
        self._engine = world.engine
        self._last: tuple[Mapping[str, Any], State] | None = None

    def restored(self, shown: Mapping[str, Any], place: str) -> State:
        """The state that JSON shows; `Failure` (TW0006) where it does not fit the world."""
        if self._last is not None and self._last[0] == shown:
            return self._last[1]
        state = self._revised(shown)
        if state is None:
            state = self._engine.restored(shown, source=place)
        self._last = shown, state
        return state

    def _revised(self, shown: Mapping[str, Any]) -> State | None:
        """The state as a revision of the last one; ``None`` where they differ in more than values,
        or it cannot be read: reading the whole tells why."""
        if self._last is None:
            return None
        found = _difference(self._last[0], shown)
        if found is None or not self._plain(name for of in _PARTS for name in found[of]):
            return None
        try:
            return self._engine.revised(self._last[1], found)
        except Failure:
            return None

    def _plain(self, names: Iterable[str]) -> bool:
        """Return whether slots of these fluents that are not listed have their default."""
        columns = (self._engine.layout.by_id.get(name) for name in names)
        return all(
            one is not None and not one.fluent.rows and not one.fluent.symmetric
            and one.default is not True for one in columns
        )  # fmt: skip


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the difference for `Engine.revised`, or ``None`` if the states have other
    objects, another order of them, or actions that take time."""
    try:
        if any(old[one] != new[one] for one in ("format", "next_id")) or old["long"] or new["long"]:
            return None
        if len(old["objects"]) != len(new["objects"]):
            return None
        pairs = zip(old["objects"], new["objects"], strict=True)
        changed = [(x, y) for x, y in pairs if x != y]
        if any({**x, "attrs": y["attrs"]} != y for x, y in changed):
            return None
        found: dict[str, Any] = {**new, "objects": [y for _, y in changed], "contents": {}}
        found["gone"] = {}
        for part in _PARTS:
            if old[part].keys() != new[part].keys():
                return None
            rows = [(name, old[part][name], now) for name, now in new[part].items()]
            rows = [(name, was, now) for name, was, now in rows if was != now]
            found[part] = {name: _without(now, was) for name, was, now in rows}
            found["gone"][part] = {name: _gone(part, was, now) for name, was, now in rows}
    except (KeyError, TypeError, AttributeError):
        return None
    return found


def _without(rows: list[Any], others: list[Any]) -> list[Any]:
    known = set(map(repr, others))
    return [one for one in rows if repr(one) not in known]


def _gone(part: str, was: list[Any], now: list[Any]) -> list[Any]:
    """The rows whose arguments are no longer listed."""
    if part == "relations":
        return _without(was, now)
    listed = {repr(one[0]) for one in now}
    return [one for one in was if repr(one[0]) not in listed]


def _observed(world: OpenWorld, tick: Mapping[str, Json]) -> frozenset[str] | None:
    """The fluents that a row tells of after the tick."""
    if all(one in tick for one in _WHOLE):
        return None
    parts = {"attribute": "objects"}
    told = set()
    for fluent in world.program.fluents.values():
        part = "relations" if fluent.type.kind == "bool" else "functions"
        if parts.get(fluent.fluent_kind, part) in tick:
            told.add(fluent.id)
    return frozenset(told)


def _mapping(found: Json) -> Mapping[str, Json]:
    return found if isinstance(found, Mapping) else {}
