"""``tw sweep``: a question for many values of params and many seeds, and a table of the answers."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from tokenworld.diagnostics import Source, read_source, usage
from tokenworld.ground import Json
from tokenworld.session import open_world
from tokenworld.session.rollouts import rollout
from tokenworld.session.solving import check_goal
from tokenworld.store import RunStore
from tokenworld.verbs.files import write_file
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output
from tokenworld.verbs.sweep.axes import axes_of
from tokenworld.verbs.sweep.cells import Auditor, Options, What
from tokenworld.verbs.sweep.results import Group, Row, Swept, by_param, by_point, summary, sweep_of
from tokenworld.verbs.sweep.results import sweep as sweep_cells
from tokenworld.verbs.sweep.workers import (
    INSTALL,
    Way,
    cores,
    dask_cluster,
    here,
    joblib_missing,
    processes,
)

__all__ = ["Asked", "sweep"]


_MOST_POINTS = 60
"""Up to so many combinations of values each has a line of the table."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of ``tw sweep``, as they were given."""

    params: tuple[str, ...]
    what: What
    seeds: int
    seed: int
    goal: str | None
    cell_limit: float
    states: int
    worlds: int
    ticks: int
    policy: str
    jobs: int | None
    dask: str | None
    csv: Path | None
    store: Path | None


def sweep(target: str, out: Output, asked: Asked, auditor: Auditor) -> int:
    """0: every cell has its answer; 1: some failed; 3: a limit was hit, of a cell or of all."""
    _check(asked)
    world = open_world(target)
    check_goal(world, asked.goal)
    script = None if asked.policy == "random" else read_source(Path(asked.policy))
    if script is not None:  # a script that is for another world is told before any cell
        rollout(world, worlds=1, ticks=0, policy=script)
    options = _options(asked, script)
    question = sweep_of(
        world, asked.what, axes_of(world, asked.params),
        seeds=asked.seeds, seed=asked.seed, options=options, auditor=auditor,
    )  # fmt: skip
    way = _way(asked, out)
    with RunStore.open(asked.store) as store:
        found = sweep_cells(question, store, way, say=_saying(out, len(question)))
    _tell(found, out)
    if asked.csv is not None:
        write_file(asked.csv, _csv(found), "Name a file that can be written, with `--csv`.")
        out.line(f"wrote {asked.csv}")
    out.json({**_json(found), "csv": None if asked.csv is None else str(asked.csv)})
    if found.count("failed") or found.count("lost"):
        return EXIT_NEGATIVE
    return EXIT_UNKNOWN if found.count("limit") or found.count("open") else EXIT_OK


def _options(asked: Asked, script: Source | None) -> Options:
    return Options(asked.goal, asked.cell_limit, asked.states, asked.worlds, asked.ticks, script)


def _check(asked: Asked) -> None:
    """Usage: what no sweep can do, before anything is opened."""
    wrong = (
        (asked.worlds < 1, "A cell of rollouts has one run at least.", "Give `--worlds N`, N > 0."),
        (asked.ticks < 0, "A run has no less than 0 records.", "Give `--ticks T` from 0."),
        (asked.states < 1, "An audit looks at one state at least.", "Give `--states N`, N > 0."),
        (not asked.cell_limit > 0, "A cell needs some time.", "Give `--cell-limit S` above 0."),
        (asked.jobs is not None and asked.jobs < 1, "Nobody is to work.", "Give `--jobs 1`."),
        (asked.jobs is not None and asked.dask is not None, "A cluster has its own workers.",
         "Give `--jobs` or `--dask`, not both."),
        (asked.policy != "random" and asked.what != "rollout", "Only rollouts have a policy.",
         "Add `--what rollout`, or leave `--policy` out."),
        (asked.goal is not None and asked.what == "rollout", "Rollouts have no goal of their own.",
         "Leave `--goal` out: the table tells every ending."),
    )  # fmt: skip
    for given, message, hint in wrong:
        if given:
            raise usage(message, hint)


def _way(asked: Asked, out: Output) -> Callable[[int], Way]:
    """The workers for the number of cells left."""
    if asked.dask is not None:
        cluster = dask_cluster(asked.dask)
        return lambda cells: cluster

    def choose(cells: int) -> Way:
        jobs = min(cores() if asked.jobs is None else asked.jobs, cells)
        if jobs > 1 and not joblib_missing():
            return processes(jobs)
        if asked.jobs != 1 and cells > 1 and joblib_missing():
            out.note(
                "`joblib` is not installed: the cells are worked out one after another. "
                f"With `{INSTALL}` all cores work."
            )
        return here

    return choose


def _saying(out: Output, cells: int) -> Callable[[int, int], None]:
    say = out.each_second()
    return lambda done, stored: say(f"{done} of {cells} cells ({stored} were stored)")


# ---- for people -----------------------------------------------------------------------------


def _tell(found: Swept, out: Output) -> None:
    task, axes = found.sweep.task, found.sweep.axes
    out.line(
        f"{task.world}: {task.what} of {len(found.rows)} cells, {found.computed} worked out now, "
        f"{found.stored} stored before"
    )
    points = by_point(found)
    if len(points) <= _MOST_POINTS:
        _table([axis.name for axis in axes], points, found, out)
    for place, axis in enumerate(axes if len(axes) > 1 else ()):
        out.line()
        _table([axis.name], by_param(found, place), found, out)
    for line in _trouble(found):
        out.note(line)


def _table(names: Sequence[str], groups: Sequence[Group], found: Swept, out: Output) -> None:
    """A line a group; the columns are as wide as they must be."""
    what = found.sweep.task.what
    rows = [(*key, *_columns(what, summary(what, rows)).values()) for key, rows in groups]
    heads = (*names, *_columns(what, summary(what, ())))
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        cells = (text.rjust(width) for text, width in zip(row, widths, strict=True))
        out.line("  ".join(cells))


def _columns(what: What, found: Mapping[str, Json]) -> dict[str, str]:
    """The columns of a line by their heads."""
    words: tuple[str, ...]
    cells = {"cells": str(found["cells"])}
    match what:
        case "plan":
            words = ("winnable", "unwinnable", "unknown", "win_with_seed")
            cells |= {word.replace("_", " "): str(found[word]) for word in words}
            cells |= {"ticks": _spread(found["ticks"]), "cost": _spread(found["cost"])}
        case "rollout":
            words = ("runs", "won", "lost", "stopped", "running")
            cells |= {word: str(found[word]) for word in words}
            cells |= {
                "share won": _share(found["share_won"]),
                "ended at": _spread(found["ended_at"]),
            }
        case "audit":
            start = found["start"]
            assert isinstance(start, Mapping)
            cells |= {f"start {word}": str(many) for word, many in start.items()}
            words = ("states", "won", "winnable", "dead", "undecided", "commands")
            cells |= {word: _spread(found[word]) for word in words}
        case _:
            assert_never(what)
    status = found["status"]
    assert isinstance(status, Mapping)
    told = [f"{many} {word}" for word, many in status.items() if many and word != "done"]
    return {**cells, "not done": ", ".join(told) or "-"}


def _spread(value: Json) -> str:
    """``3 4.5 9``: least, median, most; one number where all are equal."""
    if not isinstance(value, Mapping):
        return "-"
    least, middle, most = (value[word] for word in ("least", "median", "most"))
    return str(least) if least == most else f"{least} {middle:g} {most}"


def _share(value: Json) -> str:
    assert isinstance(value, Mapping)
    if value["share"] is None:
        return "-"
    return f"{value['share']:.1%} ({value['low']:.1%} to {value['high']:.1%})"


def _trouble(found: Swept) -> list[str]:
    """Each reason why cells have no answer once, with how many and the first of them."""
    names = [axis.name for axis in found.sweep.axes]
    first: dict[str, Row] = {}
    count: Counter[str] = Counter()
    for row in found.rows:
        if row.status in ("failed", "lost", "open"):
            why = "; ".join(_why(one) for one in row.diagnostics)
            first.setdefault(why, row)
            count[why] += 1
    lines = []
    for why, row in first.items():
        where = [f"{name}={text}" for name, text in zip(names, row.params, strict=True)]
        cells = f"{count[why]} cell{'s' if count[why] > 1 else ''}"
        lines.append(f"{why}\n  {cells}, the first with {', '.join((*where, f'seed {row.seed}'))}")
    if found.count("lost") or found.count("open"):
        lines.append("  help: Such cells are not stored; the same sweep asks for them again.")
    return lines


def _why(one: Mapping[str, Json]) -> str:
    span = one.get("span")
    place = ""
    if isinstance(span, Mapping):
        place = f" ({span.get('file')}:{span.get('line')}:{span.get('column')})"
    return f"error[{one['code']}]: {one['message']}{place}"


# ---- for programs ---------------------------------------------------------------------------


def _json(found: Swept) -> dict[str, object]:
    task, axes = found.sweep.task, found.sweep.axes
    names = [axis.name for axis in axes]
    return {
        "schema_version": 1,
        "world": task.world,
        "what": task.what,
        "params": {axis.name: list(axis.shown) for axis in axes},
        "seeds": list(found.sweep.seeds),
        "computed": found.computed,
        "stored": found.stored,
        "cells": [_cell_json(names, row) for row in found.rows],
        "summary": [
            {"params": dict(zip(names, key, strict=True)), **summary(task.what, rows)}
            for key, rows in by_point(found)
        ],
        "by_param": {
            name: [
                {"value": key[0], **summary(task.what, rows)}
                for key, rows in by_param(found, place)
            ]
            for place, name in enumerate(names)
        },
    }


def _cell_json(names: Sequence[str], row: Row) -> dict[str, object]:
    return {
        "params": dict(zip(names, row.params, strict=True)),
        "seed": row.seed,
        "status": row.status,
        "result": row.result,
        "diagnostics": list(row.diagnostics),
    }


def _csv(found: Swept) -> str:
    """A line a cell. Columns of parts are ``endings.NAME``; lists are parted by spaces."""
    flat = [_flat(row.result) for row in found.rows]
    more = dict.fromkeys(name for one in flat for name in one)
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    write([*(axis.name for axis in found.sweep.axes), "seed", "status", *more, "diagnostic"])
    for row, one in zip(found.rows, flat, strict=True):
        why = "; ".join(_why(found) for found in row.diagnostics)
        write([*row.params, row.seed, row.status, *(one.get(name, "") for name in more), why])
    return text.getvalue()


def _flat(result: Mapping[str, Json], before: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in result.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{name}.")
        elif isinstance(value, list):
            found[before + name] = " ".join(map(str, value))
        else:
            found[before + name] = "" if value is None else str(value)
    return found
