"""The cells of a sweep answered and kept, and exact counts, least, median and most of their rows.

A sweep is the product of its axes and seeds. Each answer is stored at once, under the digest of all
that it depends on; so a sweep that was stopped goes on where it was, and sweeps share cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from statistics import median
from typing import assert_never

from tokenworld.diagnostics import fields_json, usage
from tokenworld.ground import Json
from tokenworld.limits import attempt
from tokenworld.session.loading import OpenWorld
from tokenworld.session.rollouts import interval
from tokenworld.store import Database
from tokenworld.store.cells import cell_digest, keep_cell, stored_cells
from tokenworld.verbs.sweep.axes import MOST_CELLS, Axis
from tokenworld.verbs.sweep.cells import Auditor, Cell, Lost, Options, Task, What
from tokenworld.verbs.sweep.workers import Way

__all__ = ["Group", "Row", "Sweep", "Swept", "by_param", "by_point", "summary", "sweep", "sweep_of"]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep: ``cells`` in the order of the axes, seeds innermost."""

    task: Task
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]

    def __len__(self) -> int:
        return prod(len(axis.values) for axis in self.axes) * len(self.seeds)

    def cells(self) -> Iterator[tuple[tuple[str, ...], Cell]]:
        """Each cell, with the values of its params as authors write them."""
        names = [axis.name for axis in self.axes]
        points = product(*(zip(axis.values, axis.shown, strict=True) for axis in self.axes))
        for point in points:
            params = tuple(zip(names, (value for value, _ in point), strict=True))
            shown = tuple(text for _, text in point)
            for seed in self.seeds:
                yield shown, Cell(params, seed)


@dataclass(frozen=True, slots=True)
class Row:
    """A cell and what came of it: the JSON form of its `Answer`; ``lost`` says why there is none.

    Without both, the sweep ended before it was worked out.
    """

    params: tuple[str, ...]
    seed: int
    answer: Mapping[str, Json] | None
    lost: str = ""

    @property
    def status(self) -> str:
        """``done``, ``limit``, ``failed``, ``lost`` or ``open``."""
        if self.answer is not None:
            return str(self.answer["status"])
        return "lost" if self.lost else "open"

    @property
    def result(self) -> Mapping[str, Json]:
        """The result as text; empty if there is none."""
        found = {} if self.answer is None else self.answer["result"]
        assert isinstance(found, Mapping)
        return found

    @property
    def diagnostics(self) -> tuple[Mapping[str, Json], ...]:
        """Why there is no result."""
        if self.status == "open":
            return ({"code": "TW0813", "severity": "error", "message": "The time was up."},)
        if self.answer is None:
            return ({"code": "TW0812", "severity": "error", "message": self.lost},)
        found = self.answer["diagnostics"]
        assert isinstance(found, list)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Swept:
    """All rows in the order of the sweep; how many were ``stored`` before and ``computed`` now."""

    sweep: Sweep
    rows: tuple[Row, ...]
    stored: int
    computed: int

    def count(self, status: str) -> int:
        return sum(1 for row in self.rows if row.status == status)


def sweep_of(
    world: OpenWorld,
    what: What,
    axes: tuple[Axis, ...],
    *,
    seeds: int,
    seed: int,
    options: Options,
    auditor: Auditor,
) -> Sweep:
    """A sweep over ``seeds`` seeds from ``seed`` on; `Failure` (TW0006) for too many cells.

    A cell of rollouts takes as many seeds as it has runs, so that no run is counted twice.
    """
    from tokenworld import __version__

    stride = options.worlds if what == "rollout" else 1
    task = Task(
        world.loaded.sources,
        world.world.name,
        world.program.digest,
        __version__,
        what,
        options,
        auditor,
    )
    count = prod(len(axis.values) for axis in axes) * seeds
    if not 1 <= count <= MOST_CELLS:
        message = f"A sweep has 1 to {MOST_CELLS:,} cells, and this one {count:,}."
        hint = "Give fewer values or a step (`1..1000..50`), and `--seeds N` with N from 1."
        raise usage(message, hint)
    return Sweep(task, axes, tuple(seed + stride * number for number in range(seeds)))


def sweep(
    asked: Sweep,
    store: Database,
    way: Callable[[int], Way],
    *,
    say: Callable[[int, int], None] = lambda done, stored: None,
) -> Swept:
    """Work out the cells that the store does not have, and keep each at once.

    ``way`` is asked for the number of cells that are left. ``say`` hears how many cells there are
    answers for, and how many of these were there before.
    """
    cells = tuple(asked.cells())
    questions = [cell_digest(asked.task.question(cell)) for _, cell in cells]
    known = stored_cells(store, questions)
    found: dict[int, Mapping[str, Json]] = {
        number: known[digest] for number, digest in enumerate(questions) if digest in known
    }
    before, lost = len(found), dict[int, str]()
    left = tuple((number, cell) for number, (_, cell) in enumerate(cells) if number not in found)

    def work() -> None:
        for number, one in way(len(left))(asked.task, left) if left else ():
            if isinstance(one, Lost):
                lost[number] = one.why
            else:
                question = asked.task.question(cells[number][1])
                found[number] = keep_cell(store, question, fields_json(one))
            say(len(found) + len(lost), before)

    attempt("working out the cells", work, lambda: None)
    rows = tuple(
        Row(shown, cell.seed, found.get(number), lost.get(number, ""))
        for number, (shown, cell) in enumerate(cells)
    )
    return Swept(asked, rows, before, len(found) - before)


Group = tuple[tuple[str, ...], tuple[Row, ...]]
"""Values of params as authors write them, and the rows that have them."""

_STATUSES = ("done", "limit", "failed", "lost", "open")
_ANSWERS = ("winnable", "unwinnable", "unknown")
_PLACES = ("won", "winnable", "dead", "undecided")
_RUNS = ("runs", "won", "lost", "stopped", "running")


def by_point(found: Swept) -> tuple[Group, ...]:
    """The rows of each combination of values, in the order of the sweep."""
    return _grouped((row.params, row) for row in found.rows)


def by_param(found: Swept, place: int) -> tuple[Group, ...]:
    """The rows of each value of one param, whatever the others are."""
    return _grouped(((row.params[place],), row) for row in found.rows)


def _grouped(pairs: Iterable[tuple[tuple[str, ...], Row]]) -> tuple[Group, ...]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for key, row in pairs:
        groups.setdefault(key, []).append(row)
    return tuple((key, tuple(rows)) for key, rows in groups.items())


def summary(what: What, rows: Sequence[Row]) -> dict[str, Json]:
    """The rows of a group as one: how many cells have each status, then what was asked."""
    cells = {word: sum(1 for row in rows if row.status == word) for word in _STATUSES}
    found = [row.result for row in rows if row.result]
    match what:
        case "plan":
            more = _plans(found)
        case "rollout":
            more = _runs([one for one in found if "runs" in one])
        case "audit":
            more = _audits(found)
        case _:
            assert_never(what)
    return {"cells": len(rows), "status": cells, **more}


def _plans(found: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    return {
        **{word: sum(1 for one in found if one["answer"] == word) for word in _ANSWERS},
        "win_with_seed": sum(1 for one in found if one["wins_with_seed"]),
        "ticks": _spread(_numbers(found, "ticks")),
        "commands": _spread(_numbers(found, "commands")),
        "cost": _spread(_numbers(found, "cost")),
    }


def _runs(found: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    sums = {word: sum(_numbers(found, word)) for word in _RUNS}
    low, high = interval(sums["won"], sums["runs"]) if sums["runs"] else (0.0, 1.0)
    share = sums["won"] / sums["runs"] if sums["runs"] else None
    return {
        **sums,
        "share_won": {"share": share, "low": low, "high": high},
        "ended_at": _spread([one for row in found for one in _list(row["ended_at"])]),
    }


def _audits(found: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    return {
        "start": {
            "winnable": sum(1 for one in found if one["start"] in ("won", "winnable")),
            "dead": sum(1 for one in found if one["start"] == "dead"),
            "undecided": sum(1 for one in found if one["start"] == "undecided"),
        },
        **{word: _spread(_numbers(found, word)) for word in ("states", *_PLACES, "commands")},
        "dead_ends": _spread(_numbers(found, "dead_ends")),
    }


def _numbers(found: Iterable[Mapping[str, Json]], name: str) -> list[int]:
    return [value for one in found if isinstance(value := one[name], int)]


def _list(value: Json) -> list[int]:
    return [one for one in value if isinstance(one, int)] if isinstance(value, list) else []


def _spread(values: Sequence[int]) -> Json:
    """Least, median and most; nothing of nothing."""
    if not values:
        return None
    return {"least": min(values), "median": median(values), "most": max(values)}
