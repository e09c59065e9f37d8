"""One cell of a sweep: what planning, playing or auditing a world gives for some params and a seed.

`answer` is a function of its arguments alone. They hold the texts of the world's files, so that a
cell can be worked out in another process or on another machine, with the same answer.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Literal, assert_never

from tokenworld.diagnostics import Diagnostic, Failure, Source, limit_reached, to_json
from tokenworld.engine import Engine
from tokenworld.ground import STATUSES, Json, NotConstant, Raw
from tokenworld.limits import Halted, limited
from tokenworld.model import NumberType
from tokenworld.session.loading import Loaded, OpenWorld, compile_world, open_text
from tokenworld.session.rollouts import Rollout, rollout
from tokenworld.session.solving import solve

__all__ = [
    "Answer",
    "Auditor",
    "Cell",
    "Lost",
    "Options",
    "Status",
    "Task",
    "What",
    "answer",
    "attempt",
]


What = Literal["plan", "rollout", "audit"]
Status = Literal["done", "limit", "failed"]
Auditor = Callable[[OpenWorld, str | None, int, float, int], tuple[bool, Mapping[str, Json]]]
"""World, goal, states, seconds and seed to the counts of an audit, and whether it saw all states.

The command line passes the function of ``tw audit``; workers import it by its name."""
FORMAT = "tw-cell/1"
_ONE_AT_A_TIME = Lock()
"""A worker of a cluster may have several threads, and an engine has its memory."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of each cell; the key leaves out options that the question does not use.

    ``time_limit`` is in seconds for a cell, ``states`` for an audit; ``worlds`` runs a cell of at
    most ``ticks`` records; ``script`` is the file that plays, by chance where there is none.
    """

    goal: str | None = None
    time_limit: float = 60.0
    states: int = 1_000_000
    worlds: int = 1
    ticks: int = 1000
    script: Source | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """The task that all cells of a sweep share. ``program`` is the digest of its sources."""

    sources: tuple[Source, ...]
    world: str
    program: str
    compiler: str
    what: What
    options: Options
    auditor: Auditor

    def question(self, cell: Cell) -> dict[str, Json]:
        """All that the answer of a cell depends on, for the store."""
        return {
            "format": FORMAT,
            "world": self.world,
            "program": self.program,
            "compiler": self.compiler,
            "what": self.what,
            "params": dict(cell.params),
            "seed": cell.seed,
            "options": self._asked(),
        }

    def _asked(self) -> dict[str, Json]:
        options, script = self.options, self.options.script
        limit: dict[str, Json] = {"time_limit": options.time_limit}
        match self.what:
            case "plan":
                return {**limit, "goal": options.goal}
            case "audit":
                return {**limit, "goal": options.goal, "states": options.states}
            case "rollout":
                played = "" if script is None else hashlib.sha256(script.text.encode()).hexdigest()
                return {
                    **limit, "worlds": options.worlds, "ticks": options.ticks, "script": played,
                }  # fmt: skip
            case _:
                assert_never(self.what)
        assert_never(self.what)


@dataclass(frozen=True, slots=True)
class Cell:
    """The raw values of the params that the sweep sets, and the (first) seed."""

    params: tuple[tuple[str, Raw], ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a cell. ``limit``: the result is what was found within the limits; ``failed``:
    the world cannot be used with these params, ``diagnostics`` say why and ``result`` is empty."""

    status: Status
    result: Mapping[str, Json]
    diagnostics: tuple[Mapping[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer: the worker ended, or met a defect. Nothing is stored, so the next sweep asks."""

    why: str


def attempt(task: Task, cell: Cell) -> Answer | Lost:
    """`answer`, with a defect as what became of this one cell."""
    try:
        with _ONE_AT_A_TIME, limited(task.options.time_limit, None, time.monotonic()):
            return answer(task, cell)
    except Halted as halt:
        return Answer("limit", {}, (_plain(limit_reached(halt.why, halt.phase)),))
    except Exception as error:
        return Lost(f"{type(error).__name__}: {error}")


def answer(task: Task, cell: Cell) -> Answer:
    """Work out a cell."""
    try:
        world = _world(task, cell)
        match task.what:
            case "plan":
                return _planned(world, cell, task.options)
            case "audit":
                return _audited(world, cell, task)
            case "rollout":
                return _rolled(world, cell, task.options)
            case _:
                assert_never(task.what)
        assert_never(task.what)
    except Failure as failure:
        return _failed(*failure.diagnostics)


def _failed(*found: Diagnostic) -> Answer:
    return Answer("failed", {}, tuple(_plain(one) for one in found))


def _plain(one: Diagnostic) -> dict[str, Json]:
    """A diagnostic for programs."""
    found: dict[str, Json] = to_json(one)  # type: ignore[assignment]
    return found


# ---- the world with its params --------------------------------------------------------------


@lru_cache(maxsize=1)
def _opened(sources: tuple[Source, ...], name: str) -> OpenWorld:
    return open_text(sources, name)


@lru_cache(maxsize=2)
def _engine(
    sources: tuple[Source, ...], name: str, params: tuple[tuple[str, Raw], ...]
) -> tuple[Loaded, Engine]:
    opened = _opened(sources, name)
    return opened.loaded, compile_world(opened.program, opened.world, dict(params))


def _world(task: Task, cell: Cell) -> OpenWorld:
    """The world of a cell; `Failure` where these params are not for it."""
    from tokenworld import __version__

    opened = _opened(task.sources, task.world)
    if (opened.program.digest, __version__) != (task.program, task.compiler):
        raise RuntimeError(f"this worker has version {__version__}, the sweep {task.compiler}")
    try:
        loaded, engine = _engine(task.sources, task.world, cell.params)
    except NotConstant as error:
        what = "With these params another param has no value."
        hint = "Sweep over values for which its default can be calculated."
        raise Failure(Diagnostic("TW0308", what, error.term.span, "undefined", hint=hint)) from None
    world = OpenWorld(loaded, opened.world, engine)
    _in_range(world)
    return world


def _in_range(world: OpenWorld) -> None:
    """A default that builds on another param may leave its range where that one is set."""
    for name, param in world.program.params.items():
        value, kind = world.instance.params[name], param.type
        if not isinstance(kind, NumberType) or not isinstance(value, int):
            continue
        low, high = kind.low, kind.high
        if (low is not None and value < low) or (high is not None and value > high):
            what = f"With these params the default of `{name}` is outside its range."
            hint = f"Sweep over other values, or set `{name}` as well."
            raise Failure(Diagnostic("TW0308", what, param.span, "declared here", hint=hint))


# ---- the three questions --------------------------------------------------------------------


def _planned(world: OpenWorld, cell: Cell, options: Options) -> Answer:
    start = world.engine.start(cell.seed)
    found = solve(world.engine, start, options.goal, time_limit=options.time_limit)
    won = found.answer == "winnable"
    return Answer(
        "limit" if found.answer == "unknown" else "done",
        {
            "answer": found.answer,
            "claim": found.claim,
            "commands": len(found.plan) if won else None,
            "ticks": found.ticks if won else None,
            "cost": found.cost if won else None,
            "optimal": found.optimal,
            "wins_with_seed": found.wins_with_seed,
        },
        tuple(_plain(one) for one in found.notes if one.is_error),
    )


def _audited(world: OpenWorld, cell: Cell, task: Task) -> Answer:
    options = task.options
    whole, counts = task.auditor(world, options.goal, options.states, options.time_limit, cell.seed)
    return Answer("done" if whole else "limit", counts)


class _OutOfTime(Exception):
    """The runs of a cell took longer than they may; ``done`` of them are over."""

    def __init__(self, done: int) -> None:
        super().__init__(done)
        self.done = done


def _rolled(world: OpenWorld, cell: Cell, options: Options) -> Answer:
    try:
        found = rollout(
            world,
            worlds=options.worlds,
            ticks=options.ticks,
            seed=cell.seed,
            policy="random" if options.script is None else options.script,
            say=_watch(options),
        )
    except _OutOfTime as late:
        return Answer("limit", {"runs_done": late.done})
    return Answer("done", _counts(found))


def _watch(options: Options) -> Callable[[int], None]:
    """Ends the runs at the time limit; the last run of all may be late."""
    end = time.monotonic() + options.time_limit

    def watch(done: int) -> None:
        if done < options.worlds and time.monotonic() > end:
            raise _OutOfTime(done)

    return watch


def _counts(found: Rollout) -> dict[str, Json]:
    """Exact counts and lists: what adds up over cells without rounding."""
    won, lost, stopped = (found.count(kind) for kind in ("goal", "lose", "stop"))
    ended = [int(one) for one in found.ending]
    statuses = [sum(int(row[place]) for row in found.statuses) for place in range(len(STATUSES))]
    return {
        "runs": found.worlds,
        "won": won,
        "lost": lost,
        "stopped": stopped,
        "running": found.worlds - won - lost - stopped,
        "endings": {name: ended.count(place) for place, name in enumerate(found.endings)},
        "ended_at": [int(one) for one in found.ended_at if int(one) >= 0],
        "records": sum(int(one) for one in found.records),
        "statuses": {n: many for n, many in zip(STATUSES, statuses, strict=True) if many},
        "score": [float(one) for one in found.score],
        "reward": [float(one) for one in found.reward],
    }
