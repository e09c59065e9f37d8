"""The cells of a sweep: the values of params (``laying=1..9``, ``bite=10%,25%``), and the answer
that planning, playing or auditing a world gives for some of them and a seed.

`answer` is a function of its arguments alone. They hold the texts of the world's files, so that a
cell can be worked out in another process or on another machine, with the same answer.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from math import isfinite
from threading import Lock
from typing import Literal, assert_never

from tokenworld import model as m
from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    Source,
    Span,
    did_you_mean,
    limit_reached,
    to_json,
)
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.ground import STATUSES, Json, NotConstant, Raw, read_value
from tokenworld.limits import Halted, limited
from tokenworld.planning.verdict import Verdict
from tokenworld.session.loading import Loaded, OpenWorld, compile_world, open_text
from tokenworld.session.rollouts import Rollout, rollout
from tokenworld.session.solving import solve, wins_under_seed

What = Literal["plan", "rollout", "audit"]
Status = Literal["done", "limit", "failed"]
FORMAT = "tw-cell/1"
_ONE_AT_A_TIME = Lock()
"""A worker of a cluster may have several threads, and an engine has its memory."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of each cell; the key leaves out options that the question does not use.

    ``time_limit`` is in seconds for a cell, ``states`` for an audit; ``worlds`` runs a cell of at
    most ``ticks`` records; ``script`` is the file that plays, by chance where there is none.
    ``engine`` plans alone; all engines in order where none is named.
    """

    goal: str | None = None
    time_limit: float = 60.0
    states: int = 1_000_000
    worlds: int = 1
    ticks: int = 1000
    script: Source | None = None
    engine: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """The task that all cells of a sweep share. ``program`` is the digest of its sources."""

    sources: tuple[Source, ...]
    world: str
    program: str
    compiler: str
    what: What
    options: Options

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
                engine: dict[str, Json] = {"engine": options.engine} if options.engine else {}
                return {**limit, "goal": options.goal, **engine}
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
    """The raw values of the params that the sweep sets, and the (first) seed.

    ``task`` is set where the cells of a sweep do not share one: for other worlds or engines.
    """

    params: tuple[tuple[str, Raw], ...]
    seed: int
    task: Task | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for a cell.

    ``limit``: the result is the partial one within the limits; ``failed``: the world cannot be used
    with these params, ``diagnostics`` say why and ``result`` is empty.
    """

    status: Status
    result: Mapping[str, Json]
    diagnostics: tuple[Mapping[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer: the worker ended, or met a defect. Nothing is stored, so the next sweep asks."""

    why: str


def attempt(task: Task, cell: Cell) -> Answer | Lost:
    """`answer`, with a defect as what became of this one cell."""
    task = cell.task or task
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
        if not isinstance(kind, m.NumberType) or not isinstance(value, int):
            continue
        low, high = kind.low, kind.high
        if (low is not None and value < low) or (high is not None and value > high):
            what = f"With these params the default of `{name}` is outside its range."
            hint = f"Sweep over other values, or set `{name}` as well."
            raise Failure(Diagnostic("TW0308", what, param.span, "declared here", hint=hint))


# ---- the three questions --------------------------------------------------------------------


def _planned(world: OpenWorld, cell: Cell, options: Options) -> Answer:
    start = world.engine.start(cell.seed)
    if options.engine:
        found = _by_engine(world, start, options)
    else:
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


def _by_engine(world: OpenWorld, start: State, options: Options) -> Verdict:
    """The verdict of one engine; its plan is also tried under the draws of the seed."""
    from tokenworld.planning.planners.by_name import plan_by

    simulator = EngineSimulator(world.engine, start)
    limit = options.time_limit
    found = plan_by(simulator, start, options.goal, options.engine, seconds=limit)
    if found.answer != "winnable":
        return found
    wins = wins_under_seed(world.engine, start, found.steps, options.goal)
    return found.with_seed(start.seed, wins)


def _audited(world: OpenWorld, cell: Cell, task: Task) -> Answer:
    from tokenworld.verbs.audit.analysis import audit_counts

    options = task.options
    whole, counts = audit_counts(world, options.goal, options.states, options.time_limit, cell.seed)
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


# ---- the values of params ------------------------------------------------------------------------


MOST_CELLS = 1_000_000
"""So many values, and so many cells, a sweep has at most."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A param and the values it takes, in the order given; ``shown`` are these as authors write."""

    name: str
    values: tuple[Raw, ...]
    shown: tuple[str, ...]


def axes_of(world: OpenWorld, given: Sequence[str]) -> tuple[Axis, ...]:
    """The axes of ``name=values`` options; `Failure` (TW0006) with the place of the param.

    Values are parted by commas: constants as in the world's file, and ranges of numbers
    ``low..high`` or ``low..high..step``. The step is one unit of the last declared decimal.
    """
    axes: list[Axis] = []
    for one in given:
        axis = _axis(world, one)
        if any(axis.name == other.name for other in axes):
            what = f"The param `{axis.name}` is given twice."
            raise _refused(what, "Give all its values in one `--param`, parted by commas.")
        axes.append(axis)
    return tuple(axes)


def _axis(world: OpenWorld, given: str) -> Axis:
    name, equals, values = given.partition("=")
    name = name.strip()
    if not equals or not name or not values.strip():
        hint = "Write `--param NAME=VALUES`: `laying=1..9`, `bite=10%,25%`."
        raise _refused(f"`{given}` gives no param its values.", hint)
    param = _declared(world, name)
    words = [word.strip() for word in values.split(",")]
    found = [value for word in words for value in _Values(world, param).of(word)]
    seen: set[Raw] = set()
    for value in found:
        if value in seen:
            what = f"`{name}` takes the value {_shown(world, param, value)} twice."
            raise _refused(what, "Give each value once.", param.span)
        seen.add(value)
    return Axis(name, tuple(found), tuple(_shown(world, param, one) for one in found))


def _refused(message: str, hint: str, span: Span | None = None) -> Failure:
    label = "" if span is None else "declared here"
    return Failure(Diagnostic("TW0006", message, span, label, hint=hint))


def _declared(world: OpenWorld, name: str) -> m.Param:
    params = world.program.params
    if name in params:
        return params[name]
    known = ", ".join(f"`{one}`" for one in params)
    hint = did_you_mean(name, params) or (
        f"Its params are {known}." if known else "Declare one: `param bite: 0 to 9 = 3`."
    )
    what = f"The world `{world.world.name}` has no param `{name}`."
    raise Failure(Diagnostic("TW0006", what, world.world.span, "this world", hint=hint))


@dataclass(frozen=True, slots=True)
class _Values:
    """Reads the values of one param."""

    world: OpenWorld
    param: m.Param

    def of(self, word: str) -> Iterator[Raw]:
        """The values of one part between commas."""
        parts = [part.strip() for part in word.split("..")]
        if len(parts) == 1 or not isinstance(self.param.type, m.NumberType):
            yield self._one(word)
        elif len(parts) > 3:
            hint = "Write `low..high` or `low..high..step`."
            raise _refused(f"`{word}` is no range.", hint, self.param.span)
        else:
            yield from self._range(word, parts, self.param.type)

    def _range(self, word: str, parts: Sequence[str], kind: m.NumberType) -> range:
        low, high = self._number(parts[0]), self._number(parts[1])
        step = self._number(parts[2], free=kind) if len(parts) == 3 else 1
        if step < 1 or low > high:
            what = f"The range `{word}` of `{self.param.name}` is empty."
            hint = "Begin with the smaller number, and let the step be above 0."
            raise _refused(what, hint, self.param.span)
        found = range(low, high + 1, step)
        if len(found) > MOST_CELLS:
            what = f"The range `{word}` has {len(found):,} values."
            raise _refused(what, f"Take at most {MOST_CELLS:,}, with a step.", self.param.span)
        return found

    def _number(self, word: str, free: m.NumberType | None = None) -> int:
        """An end of a range, or with ``free`` its step, which no bounds hold."""
        kind = self.param.type
        if free is not None:
            kind = m.NumberType(None, None, free.decimals, free.unit)
        value = self._one(word, kind)
        assert isinstance(value, int)  # a value of NumberType
        return value

    def _one(self, word: str, kind: m.ValueType | None = None) -> Raw:
        try:
            return self._read(word, kind or self.param.type)
        except ValueError as reason:
            what = f"`{word}` does not fit the param `{self.param.name}`: {reason}."
            raise _refused(what, self._hint(), self.param.span) from None

    def _read(self, word: str, kind: m.ValueType) -> Raw:
        program, value = self.world.program, word if word != "none" else None
        match kind:
            case _ if value is None:
                return read_value(program, {}, kind, None)
            case m.NumberType():
                return read_value(program, {}, kind, _bare(word, kind))
            case m.BoolType() if word in ("true", "false"):
                return word == "true"
            case m.RealType() if isfinite(float(word)):
                return float(word)
            case (
                m.BoolType() | m.EnumType() | m.ObjectType() | m.RealType() | m.TextType()
                | m.NoneType() | m.CollectionType()
            ):  # fmt: skip
                return read_value(program, self.world.instance.numbers, kind, word)
            case _:
                assert_never(kind)

    def _hint(self) -> str:
        match self.param.type:
            case m.NumberType(low=int(low), high=int(high)) as kind:
                ends = " to ".join(m.scaled_text(x, kind.decimals, kind.unit) for x in (low, high))
                return f"Give numbers from {ends}."
            case m.EnumType(name=enum):
                return f"Give some of {', '.join(self.world.program.enums[enum].members)}."
            case m.BoolType():
                return "Give `true`, `false` or both, parted by a comma."
            case (
                m.NumberType() | m.ObjectType() | m.RealType() | m.TextType() | m.NoneType()
                | m.CollectionType()
            ):  # fmt: skip
                return "Give values as the declaration has them."
            case _:
                assert_never(self.param.type)


def _bare(word: str, kind: m.NumberType) -> str:
    """The digits of a number: without its unit, a percentage as a part of one."""
    if kind.unit == "%" and word.endswith("%"):
        try:
            return str(Decimal(word[:-1]).scaleb(-2))
        except InvalidOperation:
            raise ValueError(f"{word!r} is not a number") from None
    return word.removesuffix(kind.unit) if kind.unit else word


def _shown(world: OpenWorld, param: m.Param, value: Raw) -> str:
    """A value as authors write it."""
    match param.type:
        case _ if value is None:
            return "none"
        case m.NumberType() as kind if isinstance(value, int):
            return m.scaled_text(value, kind.decimals, kind.unit)
        case m.EnumType(name=enum) if isinstance(value, int):
            return world.program.enums[enum].members[value]
        case m.BoolType():
            return "true" if value else "false"
        case m.ObjectType() if isinstance(value, int):
            return world.instance.names[value]
        case (
            m.NumberType() | m.EnumType() | m.ObjectType() | m.RealType() | m.TextType()
            | m.NoneType() | m.CollectionType()
        ):  # fmt: skip
            return str(value)
        case _:
            assert_never(param.type)
