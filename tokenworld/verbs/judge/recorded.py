"""The tier `conform`: recorded rows, of the world itself (``tw-row/1``) or of a text game.

Rows of a text game need a mapping: the one beside the world's file, or beside the rows where a
world has no file, as in `tw author`.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.session.replaying import FORMAT, Row, compare_row
from tokenworld.verbs.conform import KEPT, Conforming, rows_for, told
from tokenworld.verbs.judge.findings import Finding, finding
from tokenworld.verbs.judge.playing import Case
from tokenworld.verbs.records.properties import MAPPING_FILE, mapping_beside
from tokenworld.verbs.records.replay import Games, games_of
from tokenworld.verbs.records.rows import BadRow, lines_of
from tokenworld.verbs.records.transitions import world_rows

_USABLE: Final = "Give rows of this world."
_EXAMPLES: Final = 2
_LONGEST: Final = 2_000
"""Rows of a file that a model is shown, and characters of each."""


def conform(case: Case) -> Iterator[Finding]:
    """The world answers recorded rows as they are."""
    paths = [Path(one) for one in case.contract.rows]
    own = [one for one in paths if _is_own(one)]
    rest = [one for one in paths if one not in own]
    figures = {"rows": 0, "wrong": 0, "bad": 0}
    if own:
        yield from _own(case, own, figures)
    if rest:
        yield from _of_games(case, rest, figures)
    if paths:
        case.figures["conform"] = dict(figures)


def _is_own(path: Path) -> bool:
    """Return whether a file has rows of `tw runs rows`, by its first line."""
    try:
        found = json.loads(next((one for one in lines_of(path) if one.strip()), b"null"))
    except (OSError, EOFError, ValueError, RecursionError, zlib.error):
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT


# ---- rows of the world itself -------------------------------------------------------------------


def _own(case: Case, paths: Sequence[Path], figures: dict[str, int]) -> Iterator[Finding]:
    if not case.worlds:
        yield finding("bad-row", "There is no world for the rows.", hint="Declare a world.")
        return
    bad: list[str] = []
    for row in _rows(paths):
        figures["rows"] += 1
        case.say(f"{figures['rows']} rows")
        if isinstance(row, BadRow):
            bad.append(f"{row.place}: {row.why}")
            continue
        try:
            difference = _difference(case, row)
        except Failure as failure:
            bad.append(f"{row.place}: {failure.diagnostics[0].message}")
            continue
        if difference is not None:
            figures["wrong"] += 1
            if figures["wrong"] <= KEPT:
                text = f"The world answers {row.place} wrongly."
                shown = [f"intent: {json.dumps(row.intent, ensure_ascii=False)}", difference]
                hint = "Correct the rule that wrote it."
                yield finding("wrong-row", text, evidence=shown, hint=hint)
    figures["bad"] += len(bad)
    if bad:
        text = f"{len(bad)} recorded rows cannot be used."
        yield finding("bad-row", text, evidence=bad[:KEPT], hint=_USABLE)


def _rows(paths: Sequence[Path]) -> Iterator[Row | BadRow]:
    """The rows of files; from an unreadable part on there is one bad row."""
    try:
        yield from world_rows(paths)
    except Failure as failure:
        yield BadRow("rows", failure.diagnostics[0].message)


def _difference(case: Case, row: Row) -> str | None:
    """Return the first difference, in the world that the row names, else in the first one."""
    named = row.state.get("world") if isinstance(row.state, dict) else None
    world = next((one for one in case.worlds if one.world.name == named), case.worlds[0])
    found = compare_row(world, row, 0)
    return None if found is None else str(found)


# ---- rows of text games -------------------------------------------------------------------------


def _of_games(case: Case, paths: Sequence[Path], figures: dict[str, int]) -> Iterator[Finding]:
    try:
        games = _games(case, paths[0])
        found = Conforming(games, strictly=True, say=case.say)
        found.take(rows_for(games, paths))
    except Failure as failure:
        one = failure.diagnostics[0]
        yield finding("bad-row", one.message, one.span, hint=one.hint)
        return
    yield from _answered(found)
    figures["rows"] += sum(tally.rows for tally in found.tallies.values())
    figures["wrong"] += sum(tally.wrong for tally in found.tallies.values())
    figures["bad"] += found.bad


def _games(case: Case, rows: Path) -> Games:
    if case.source.path is not None:
        return games_of(str(case.source.path))
    if not case.worlds:
        return Games({})
    return Games.of(case.worlds[0], mapping_beside(rows))


def _answered(found: Conforming) -> Iterator[Finding]:
    """The bad rows as one finding, and the wrong answers that were kept."""
    tallies = tuple(found.tallies.values())
    bad = [one for tally in tallies for one in tally.bad_rows]
    if bad:
        text = f"{found.bad} recorded rows cannot be used; the first is {bad[0].place}."
        told_ = [f"{one.place}: {one.why}" for one in bad]
        yield finding("bad-row", text, evidence=told_, hint=_USABLE)
    elif not tallies:
        yield finding("bad-row", "The files have no rows.", hint=_USABLE)
    for miss in (miss for tally in tallies for miss in tally.misses):
        text = f"The world answers {miss.place} wrongly (`{miss.action}`)."
        lines = [line.strip() for line in told(miss) if line.strip()][1:]
        hint = "Correct the rule that wrote it."
        yield finding("wrong-row", text, evidence=lines, hint=hint)


# ---- for models ---------------------------------------------------------------------------------


def examples(paths: Sequence[str]) -> str:
    """Return the first rows of each file, and the mapping beside it: `tw author` shows them.

    Raises `Failure` (TW0001) for a file that is gone.
    """
    parts: list[str] = []
    for path in map(Path, paths):
        try:
            first = [one.decode("utf-8", "replace") for one in islice(lines_of(path), _EXAMPLES)]
        except OSError as error:
            message = f"`{path}` cannot be read: {error.strerror or error}."
            raise Failure(Diagnostic("TW0001", message, hint=_USABLE)) from None
        except (EOFError, zlib.error):
            first = []
        cut = (one if len(one) <= _LONGEST else f"{one[:_LONGEST]}…" for one in first)
        parts += [f"The first rows of `{path.name}`:", *cut]
        mapping = path.parent / MAPPING_FILE
        if not _is_own(path) and mapping.is_file():
            parts += ["The mapping of their names:", mapping.read_text("utf-8", "replace")]
    return "\n".join(parts)
