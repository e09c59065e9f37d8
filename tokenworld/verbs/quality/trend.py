"""The trend of each dimension over reports: the share of runs in which it is OK.

A report in a folder adds a line to `history.jsonl` there. Grades are compared only if they are of
the same version of a definition (`dimensions.VERSIONS`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

from tokenworld.diagnostics import fields_json, read_source, usage
from tokenworld.ground import Json
from tokenworld.model.schema import CLOSED, shaped
from tokenworld.verbs.output import write_file
from tokenworld.verbs.quality.dimensions import VERSIONS, DimensionId, title_of
from tokenworld.verbs.quality.scorecard import Scorecard

HISTORY: Final = "history.jsonl"
TREND: Final = "Runs in which a dimension is OK, of those that it grades, in the last reports."
_SHOWN: Final = 8
"""Columns of a trend: the last reports."""
_FORMAT: Final = "tw-trend/1"


@dataclass(frozen=True, slots=True)
class Grades:
    """The number of runs of a report that a dimension graded, and of those in which it is OK."""

    __pydantic_config__ = CLOSED
    version: int
    ok: int
    graded: int


@dataclass(frozen=True, slots=True)
class Share:
    """One report: the last of its runs, and the grades of each dimension by its id."""

    __pydantic_config__ = CLOSED
    last: str
    grades: Mapping[str, Grades]

    def to_json(self) -> dict[str, Json]:
        return {"last": self.last, "grades": {k: fields_json(v) for k, v in self.grades.items()}}


def share_of(cards: Iterable[Scorecard]) -> Share:
    """The share of a report with these scorecards, the oldest run first."""
    listed = tuple(cards)
    grades = {}
    for name in get_args(DimensionId):
        found = [one.status for card in listed for one in card.dimensions if one.id == name]
        graded = [one for one in found if one != "N/A"]
        grades[name] = Grades(VERSIONS[name], graded.count("OK"), len(graded))
    return Share(listed[-1].subject.run if listed else "", grades)


def trend_rows(shares: Sequence[Share]) -> list[tuple[str, ...]]:
    """A table of the last reports: the head, and a row for each dimension; none for one report."""
    if len(shares) < 2:
        return []
    last = shares[-_SHOWN:]
    return [("", *(f"to {one.last or '–'}" for one in last)), *_rows(last)]


def _rows(shares: Sequence[Share]) -> Iterator[tuple[str, ...]]:
    for name in get_args(DimensionId):
        yield title_of(name), *(_cell(one.grades.get(name), VERSIONS[name]) for one in shares)


def _cell(found: Grades | None, version: int) -> str:
    if found is None or found.version != version:
        return "other definition"
    return f"{found.ok} of {found.graded}" if found.graded else "–"


def read_shares(path: Path) -> tuple[Share, ...]:
    """The shares of earlier reports; none where there is no file.

    Raises `Failure` TW0006 for a file that is none.
    """
    if not path.is_file():
        return ()
    return tuple(
        _share(path, number, line)
        for number, line in enumerate(read_source(path).text.splitlines(), 1)
        if line.strip()
    )


def _share(path: Path, number: int, line: str) -> Share:
    try:
        found: Any = json.loads(line)
        if not isinstance(found, dict) or found.pop("format", None) != _FORMAT:
            raise ValueError(f"it is no `{_FORMAT}`")
        return shaped(Share, found)
    except (ValueError, RecursionError) as error:
        what = f"Line {number} of `{path}` does not fit: {error}."
        raise usage(what, "Move the file away: a new one is begun.") from None


def write_shares(path: Path, shares: Sequence[Share], hint: str) -> None:
    """Write the shares of all reports."""
    lines = (json.dumps({"format": _FORMAT, **one.to_json()}, sort_keys=True) for one in shares)
    write_file(path, "".join(f"{line}\n" for line in lines), hint)
