"""``tw sweep``: a question for many values of params and many seeds, and a table of the answers.

A sweep is the product of its axes and seeds. Each answer is stored at once, under the digest of all
that it depends on; so a sweep that was stopped goes on where it was, and sweeps share cells.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from pathlib import Path
from statistics import median
from typing import Annotated, assert_never

from tokenworld.diagnostics import Source, fields_json, read_source, usage
from tokenworld.ground import Json
from tokenworld.limits import attempt
from tokenworld.planning.space.policy import wilson
from tokenworld.session import open_world
from tokenworld.session.loading import OpenWorld
from tokenworld.session.rollouts import rollout
from tokenworld.session.solving import check_goal
from tokenworld.store.cells import cell_digest, keep_cell, stored_cells
from tokenworld.store.database import Database
from tokenworld.store.log import RunStore
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import (
    EXIT_NEGATIVE,
    EXIT_OK,
    EXIT_UNKNOWN,
    Output,
    columns,
    write_file,
)
from tokenworld.verbs.sweep.cells import (
    MOST_CELLS,
    Axis,
    Cell,
    Lost,
    Options,
    Task,
    What,
    axes_of,
)
from tokenworld.verbs.sweep.workers import (
    INSTALL,
    Way,
    cores,
    dask_cluster,
    here,
    joblib_missing,
    processes,
)

_MOST_POINTS = 60
"""Up to so many combinations of values each has a line of the table."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of ``tw sweep``, as they were given."""

    params: Annotated[
        tuple[str, ...],
        opt.Option("--param"),
        "NAME=VALUES, as `p=1..9`, `p=1..9..2`, `p=a,b`; for each param.",
    ] = ()
    what: Annotated[What, "The question for each cell."] = "plan"
    seeds: Annotated[int, "Number of seeds for each combination of values."] = 1
    seed: Annotated[int, "The first seed."] = 0
    goal: opt.Goal = None
    time_limit: opt.Whole = None
    cell_limit: Annotated[float, "Seconds for a cell at most."] = 60.0
    states: opt.States = 1_000_000
    worlds: Annotated[int, "Runs of a cell, for rollouts."] = 1
    ticks: opt.Length = 1000
    policy: opt.Policy = "random"
    jobs: Annotated[int | None, "Number of processes; one per core by default."] = None
    dask: Annotated[str | None, "A Dask scheduler's address, or local:N for N processes."] = None
    engine: Annotated[
        str | None, "Plan with this engine only, or with each of several, such as `own,ff`."
    ] = None
    csv: Annotated[Path | None, "Write a line for each cell here."] = None
    store: opt.Store = None


def sweep(
    world: opt.World,
    more: Annotated[tuple[str, ...], "More worlds, each swept alike."],
    out: Output,
    *,
    asked: Asked,
) -> int:
    """0: every cell has its answer; 1: some failed; 3: a limit was hit, of a cell or of all."""
    _check(asked)
    targets = (world, *more)
    engines = [] if asked.engine is None else [one.strip() for one in asked.engine.split(",")]
    parts = [
        ((target, engine), _part(target, engine, asked))
        for target in targets
        for engine in engines or [""]
    ]
    question = parts[0][1] if len(parts) == 1 else _joined(parts, several=len(targets) > 1)
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


def _part(target: str, engine: str, asked: Asked) -> Sweep:
    """The sweep of one world, by one engine if it is named."""
    if engine:
        from tokenworld.planning.planners.by_name import check_engine

        check_engine(engine)
    world = open_world(target)
    check_goal(world, asked.goal)
    script = None if asked.policy == "random" else read_source(Path(asked.policy))
    if script is not None:  # a script for another world is reported before any cell
        rollout(world, worlds=1, ticks=0, policy=script)
    return sweep_of(
        world, asked.what, axes_of(world, asked.params), seeds=asked.seeds, seed=asked.seed,
        options=_options(asked, script, engine),
    )  # fmt: skip


def _joined(parts: Sequence[tuple[tuple[str, str], Sweep]], *, several: bool) -> Joined:
    """Join several sweeps to one, with columns for their differences."""
    heads = [("world", several), ("engine", parts[0][0][1] != "")]
    names = tuple(name for name, there in heads if there)
    found = Joined(
        names,
        tuple(
            (tuple(one for one, (_, there) in zip(label, heads, strict=True) if there), part)
            for label, part in parts
        ),
    )
    if len({label for label, _ in found.parts}) < len(parts):
        raise usage("A world or an engine is given twice.", "Give each once.")
    if len(found) > MOST_CELLS:
        raise usage(f"These are {len(found):,} cells.", f"Take at most {MOST_CELLS:,}.")
    return found


def _options(asked: Asked, script: Source | None, engine: str) -> Options:
    return Options(
        asked.goal, asked.cell_limit, asked.states, asked.worlds, asked.ticks, script, engine
    )


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
        (asked.engine is not None and asked.what != "plan", "Only plans have engines.",
         "Leave `--engine` out, or `--what`."),
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
    sweep = found.sweep
    several = isinstance(sweep, Joined) and "world" in sweep.heads
    name = f"{len(axes[0].shown)} worlds" if several else task.world
    out.line(
        f"{name}: {task.what} of {len(found.rows)} cells, {found.computed} worked out now, "
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
    for line in columns((heads, *rows)):
        out.line(line)


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


# ---- cells answered and kept ---------------------------------------------------------------------


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
class Joined:
    """Sweeps of several worlds, or by several engines, as one: the columns ``heads`` name each of
    ``parts``."""

    heads: tuple[str, ...]
    parts: tuple[tuple[tuple[str, ...], Sweep], ...]

    @property
    def task(self) -> Task:
        return self.parts[0][1].task

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.parts[0][1].seeds

    @property
    def axes(self) -> tuple[Axis, ...]:
        names = [tuple(dict.fromkeys(column)) for column in zip(*dict(self.parts), strict=True)]
        heads = (Axis(name, shown, shown) for name, shown in zip(self.heads, names, strict=True))
        return (*heads, *self.parts[0][1].axes)

    def __len__(self) -> int:
        return sum(len(part) for _, part in self.parts)

    def cells(self) -> Iterator[tuple[tuple[str, ...], Cell]]:
        for names, part in self.parts:
            for shown, cell in part.cells():
                yield (*names, *shown), replace(cell, task=part.task)


@dataclass(frozen=True, slots=True)
class Row:
    """A cell and its result: the JSON form of its `Answer`; ``lost`` says why there is none.

    Without both, the sweep ended before the cell was computed.
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
        """The reasons why there is no result."""
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

    sweep: Sweep | Joined
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
    )
    count = prod(len(axis.values) for axis in axes) * seeds
    if not 1 <= count <= MOST_CELLS:
        message = f"A sweep has 1 to {MOST_CELLS:,} cells, and this one {count:,}."
        hint = "Give fewer values or a step (`1..1000..50`), and `--seeds N` with N from 1."
        raise usage(message, hint)
    return Sweep(task, axes, tuple(seed + stride * number for number in range(seeds)))


def sweep_cells(
    asked: Sweep | Joined,
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
    questions = [cell_digest((cell.task or asked.task).question(cell)) for _, cell in cells]
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
                cell = cells[number][1]
                question = (cell.task or asked.task).question(cell)
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
    """Return the summary of a group of rows: the number of cells by status, then the results."""
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
        "ticks": _ends(_numbers(found, "ticks")),
        "commands": _ends(_numbers(found, "commands")),
        "cost": _ends(_numbers(found, "cost")),
    }


def _runs(found: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    sums = {word: sum(_numbers(found, word)) for word in _RUNS}
    low, high = wilson(sums["won"], sums["runs"]) if sums["runs"] else (0.0, 1.0)
    share = sums["won"] / sums["runs"] if sums["runs"] else None
    return {
        **sums,
        "share_won": {"share": share, "low": low, "high": high},
        "ended_at": _ends([one for row in found for one in _list(row["ended_at"])]),
    }


def _audits(found: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    return {
        "start": {
            "winnable": sum(1 for one in found if one["start"] in ("won", "winnable")),
            "dead": sum(1 for one in found if one["start"] == "dead"),
            "undecided": sum(1 for one in found if one["start"] == "undecided"),
        },
        **{word: _ends(_numbers(found, word)) for word in ("states", *_PLACES, "commands")},
        "dead_ends": _ends(_numbers(found, "dead_ends")),
    }


def _numbers(found: Iterable[Mapping[str, Json]], name: str) -> list[int]:
    return [value for one in found if isinstance(value := one[name], int)]


def _list(value: Json) -> list[int]:
    return [one for one in value if isinstance(one, int)] if isinstance(value, list) else []


def _ends(values: Sequence[int]) -> Json:
    """Least, median and most; nothing of nothing."""
    if not values:
        return None
    return {"least": min(values), "median": median(values), "most": max(values)}
