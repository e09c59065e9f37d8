"""Recorded transitions (``tw-row/1``, as `tw runs rows` writes them), read line by line."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import State
from tokenworld.ground import Command, Json, NoMatch
from tokenworld.prose.intents import parse_intent_json
from tokenworld.session.intents import Resolver
from tokenworld.session.loading import OpenWorld
from tokenworld.session.replaying import Row, row_in
from tokenworld.verbs.records.rows import BadRow, lines_of

__all__ = ["Transition", "fitting", "transitions", "world_rows"]

_WHOLE = ("objects", "functions", "relations", "tick", "outcomes")
_HINT = "Record them with `tw run` and `tw runs rows`."


@dataclass(frozen=True, slots=True)
class Transition:
    """A state, what was intended in it, and the state that was observed after the tick. ``fields``
    are the fluents that were observed; ``None``: the whole state was."""

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
    resolver = Resolver(world)
    for row in rows:
        yield _transition(world, resolver, row, seed) if isinstance(row, Row) else row


def _transition(world: OpenWorld, resolver: Resolver, row: Row, seed: int) -> Transition | BadRow:
    try:
        return _fitting(world, resolver, row, seed)
    except ValueError as error:
        return BadRow(row.place, f"the line {error}")
    except Failure as failure:
        return BadRow(row.place, failure.diagnostics[0].message.rstrip("."))


def _fitting(world: OpenWorld, resolver: Resolver, row: Row, seed: int) -> Transition | BadRow:
    """The transition of a row; `Failure` where the world has no place for it."""
    given, tick = _mapping(row.state), row.expected.get("tick")
    if not isinstance(tick, Mapping):
        return BadRow(row.place, "the row tells no state after the tick")
    for shown in (given, tick):
        if shown.get("world", world.world.name) != world.world.name:
            here = f"the row is of the world `{shown['world']}`, not of `{world.world.name}`"
            return BadRow(row.place, here)
    engine = world.engine
    state = engine.restored({"seed": seed, **given}, source=row.place)
    observed = {**given, **tick, "seed": state.seed}
    seen = engine.restored(observed, source=f"{row.place}: tick")
    intent = resolver.resolve(state, parse_intent_json(json.dumps(dict(row.intent)), row.place))
    return Transition(row.place, state, intent, seen, _observed(world, tick))


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
