"""Running Fast Downward on SAS+ text: a child process with limits, in a process group of its own.

The program is the C++ search inside an installed package; neither that package nor
unified-planning is imported. Two searches run side by side: *ff* finds plans, *blind* proves that
there are none. Every process is killed at the end, also after an interrupt.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Literal

from tokenworld.diagnostics import Diagnostic, in_seconds
from tokenworld.planning.planners.children import Child
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, SYMK, find_engine

INSTALL = "pip install 'token-world[classical]'"
_POLL = 0.02
"""Seconds between two looks at the children."""
_MEMORY = 2 << 30
_CLOSING = 16
_VARIES = re.compile(r"\btime\b|memory|bytes|\bKB\b|load factor", re.IGNORECASE)
"""Words in lines of a log that differ from run to run."""

AnswerKind = Literal["plan", "no plan", "no proof", "limit", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Configuration:
    """A search of Fast Downward. ``complete``: it ends without a plan only where there is none.

    ``optimal``: no plan costs less than the one it finds. ``program`` is the file it is run with,
    where that is another one than usual (SymK). ``anytime``: it goes on after a plan and numbers
    the files of its plans from 1, each better than the one before. It starts ``after`` so many
    seconds, or when the searches before it have ended. Beside others it runs ``most`` seconds.
    ``driver`` is the command of Fast Downward's driver where ``search`` is one of its aliases.
    """

    name: str
    search: str
    complete: bool
    optimal: bool = False
    program: Path | None = None
    anytime: bool = False
    after: float = 0.0
    most: float = inf
    driver: tuple[str, ...] = ()


FF = Configuration(
    "ff", "let(hff,ff(),lazy_greedy([hff],preferred=[hff],cost_type=one))", complete=True
)
BLIND = Configuration("blind", "astar(blind())", complete=True, optimal=True)
HMAX = Configuration("hmax", "astar(hmax())", complete=True, optimal=True)
LAMA = Configuration(
    "lama",
    "let(hlm,landmark_sum(lm_factory=lm_reasonable_orders_hps(lm_rhw()),pref=false),"
    "let(hff,ff(),lazy_greedy([hff,hlm],preferred=[hff,hlm],cost_type=one,reopen_closed=false)))",
    complete=False,
)
"""The first iteration of LAMA (Richter and Westphal, JAIR 2010)."""
ANYTIME = Configuration(
    "lama-anytime",
    "let(hlm,landmark_sum(lm_factory=lm_reasonable_orders_hps(lm_zg()),pref=false),let(hff,ff(),"
    "iterated([lazy_greedy([hff,hlm],preferred=[hff,hlm],cost_type=one,reopen_closed=false),"
    "lazy_greedy([hff,hlm],preferred=[hff,hlm],reopen_closed=false),"
    + ",".join(f"lazy_wastar([hff,hlm],preferred=[hff,hlm],w={w})" for w in (5, 3, 2, 1))
    + "],repeat_last=true)))",
    complete=False,
    anytime=True,
)
"""LAMA: first any plan, then ever cheaper ones. That it ends proves nothing: landmarks may err."""
SYMBOLIC = Configuration("symk", "sym_bd()", complete=False, optimal=True)


_LAYER = re.compile(rb"\] f = ([0-9]+),")


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one search.

    ``operators`` are the names of a plan, in order. ``detail`` is a clause. ``note`` is the
    diagnostic of a failure (TW0812) or a limit (TW0813). ``exit_code`` and ``closing``, the last
    lines it wrote without times and sizes, are there where it ended by itself.
    """

    configuration: str
    result: AnswerKind
    detail: str
    seconds: float
    operators: tuple[str, ...] = ()
    note: Diagnostic | None = None
    exit_code: int | None = None
    closing: tuple[str, ...] = ()


def find_downward() -> Path | Diagnostic:
    """The path of the program, or the diagnostic that says how to install it (TW0811)."""
    for package in (FAST_DOWNWARD, SYMK):  # SymK is a Fast Downward with more searches
        found = find_engine(package)
        if found.path is not None:
            return Path(found.path)
    return Diagnostic(
        "TW0811",
        "Fast Downward is not installed, so only our own search can answer.",
        hint=f"Run `{INSTALL}`.",
    )


def run_searches(
    program: Path,
    text: str,
    configurations: Sequence[Configuration],
    *,
    seconds: float,
    memory: int = _MEMORY,
    cancel: Callable[[], bool] = lambda: False,
    accept: Callable[[Answer], bool] | None = None,
    better: Callable[[Answer], None] = lambda answer: None,
    bounded: Callable[[int], None] = lambda cost: None,
) -> tuple[Answer, ...]:
    """Run searches in parallel on one SAS+ text; yield their answers in the order of arrival.

    ``better`` is called with each plan of an anytime search as soon as it is written, ``bounded``
    with each cost of the encoding which an optimal search has shown to be the least.
    """
    settles = accept or (lambda answer: answer.result in ("plan", "no plan"))
    answers: list[Answer] = []
    with tempfile.TemporaryDirectory(prefix="tokenworld-") as folder:
        task = Path(folder) / "task.sas"
        task.write_text(text, encoding="utf-8")
        with _runs(program, task, memory, seconds) as start:
            for answer in _answers(configurations, start, seconds, cancel, better, bounded):
                answers.append(answer)
                if settles(answer):
                    break
    return tuple(answers)


# ---- children -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Run:
    """A search in progress: its process, and the files it writes."""

    configuration: Configuration
    child: Child
    log: Path
    plan: Path
    begun: float
    found: int = 0
    read: int = 0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun


@contextmanager
def _runs(
    program: Path, task: Path, memory: int, seconds: float
) -> Iterator[Callable[[Configuration], _Run]]:
    """Yield a function that starts a search; at the end, kill every search still running."""
    runs: list[_Run] = []

    def start(configuration: Configuration) -> _Run:
        runs.append(_start(program, configuration, task, memory, seconds))
        return runs[-1]

    try:
        yield start
    finally:
        for run in runs:
            run.child.kill()


def _start(
    program: Path, configuration: Configuration, task: Path, memory: int, seconds: float
) -> _Run:
    """Start one search in a session, and so a process group, of its own."""
    log = task.with_name(f"{configuration.name}.log")
    plan = task.with_name(f"{configuration.name}.plan")
    command = _command(configuration.program or program, configuration, task, plan, seconds)
    with task.open("rb") as stdin, log.open("wb") as stdout:
        child = Child(
            command, memory=memory, folder=task.parent, stdin=stdin, stdout=stdout,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
    return _Run(configuration, child, log, plan, time.monotonic())


def _command(
    program: Path, configuration: Configuration, task: Path, plan: Path, seconds: float
) -> tuple[str, ...]:
    """The command of a search; a portfolio wants to know its time."""
    search = configuration.search
    if configuration.driver:
        limit = ("--search-time-limit", f"{max(int(seconds), 1)}s")
        options = ("--alias", search, "--plan-file", str(plan), *limit)
        return (*configuration.driver, *options, str(task))
    return (str(program), "--search", search, "--internal-plan-file", str(plan))


# ---- answers ------------------------------------------------------------------------------


def _answers(
    configurations: Sequence[Configuration],
    start: Callable[[Configuration], _Run],
    seconds: float,
    cancel: Callable[[], bool],
    better: Callable[[Answer], None],
    bounded: Callable[[int], None],
) -> Iterator[Answer]:
    """Start each search when it is due; yield the answers of the runs as they end or are ended."""
    begun, waiting, open_ = time.monotonic(), list(configurations), list[_Run]()
    while waiting or open_:
        passed = time.monotonic() - begun
        while waiting and (passed >= waiting[0].after or not open_):
            open_.append(start(waiting.pop(0)))
        ended = [one for one in open_ if one.child.process.poll() is not None]
        for run in open_:
            for cost in _bounds(run):
                bounded(cost)
            for answer in _meanwhile(run):
                better(answer)
        for run in ended:
            open_.remove(run)
            code = run.child.process.returncode
            yield replace(_answer(run, code), exit_code=code, closing=_closing(run))
        for run in [one for one in open_[1:] if one.seconds >= one.configuration.most]:
            open_.remove(run)
            run.child.kill()
            yield _ended(run, *_used_up(run.configuration.most))
        stopped = _stopped(begun + seconds, seconds, cancel) if open_ else None
        if stopped is not None:
            for run in open_:
                run.child.kill()
                yield _ended(run, *stopped)
            return
        if open_:
            time.sleep(_POLL)


def _meanwhile(run: _Run) -> Iterator[Answer]:
    """The plans that an anytime search has written since it was last asked."""
    while run.configuration.anytime:
        file = run.plan.with_name(f"{run.plan.name}.{run.found + 1}")
        operators = _operators(file, ended=False)
        if operators is None:
            return
        run.found += 1
        detail = f"its plan {run.found}"
        yield Answer(run.configuration.name, "plan", detail, run.seconds, operators)


def _bounds(run: _Run) -> tuple[int, ...]:
    """The layers that an A* search has begun since it was last asked: no plan costs less."""
    if not run.configuration.optimal:
        return ()
    with suppress(OSError), run.log.open("rb") as log:
        log.seek(run.read)
        lines, whole, _ = log.read().rpartition(b"\n")
        run.read += len(lines) + len(whole)
        return tuple(int(one) for one in _LAYER.findall(lines))
    return ()


def _operators(file: Path, *, ended: bool) -> tuple[str, ...] | None:
    """The operators in a plan file; ``None`` where it is missing, or half done, not ``ended``."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    if not ended and not (lines and lines[-1].startswith(";")):
        return None  # what a plan costs is its last line
    return tuple(line.strip()[1:-1] for line in lines if line.strip().startswith("("))


def _stopped(
    end: float, seconds: float, cancel: Callable[[], bool]
) -> tuple[AnswerKind, str] | None:
    if cancel():
        return "cancelled", "it was cancelled"
    if time.monotonic() >= end:
        return _used_up(seconds)
    return None


def _used_up(seconds: float) -> tuple[AnswerKind, str]:
    return "limit", f"its limit of {in_seconds(seconds)} was reached"


def _ended(run: _Run, kind: AnswerKind, detail: str) -> Answer:
    return Answer(run.configuration.name, kind, detail, run.seconds, (), _note(run, kind, detail))


def _answer(run: _Run, code: int) -> Answer:
    """The meaning of an exit code (Fast Downward's documented codes)."""
    match code:
        case 0 | 1 | 2 | 3:  # 1 to 3: a portfolio found a plan before it reached a limit
            return _plan(run)
        case 11 if run.configuration.complete:
            return _ended(run, "no plan", "it searched all there is and found no plan")
        case 11 | 12:
            kind: AnswerKind = "failed" if run.configuration.complete else "no proof"
            return _ended(run, kind, "it stopped without a plan and without a proof")
        case 22 | 24:
            return _ended(run, "limit", "its memory limit was reached")
        case 23:
            return _ended(run, "limit", "its time limit was reached")
        case _ if code < 0:
            return _ended(run, "failed", f"it was killed by signal {-code}{_last_line(run)}")
        case _:
            return _ended(run, "failed", f"it ended with exit code {code}{_last_line(run)}")


def _plan(run: _Run) -> Answer:
    """The operators in the plan file, the last one of an anytime search."""
    anytime = run.configuration.anytime and run.found > 0  # SymK's does not number its plans
    file = run.plan.with_name(f"{run.plan.name}.{run.found}") if anytime else run.plan
    names = _operators(file, ended=True)
    if names is None:
        return _ended(run, "failed", f"it reported success and wrote no plan{_last_line(run)}")
    detail = f"it found {run.found} plans and no better one" if anytime else "it found a plan"
    return Answer(run.configuration.name, "plan", detail, run.seconds, names)


def _last_line(run: _Run) -> str:
    """The last lines of its output, for the diagnostic."""
    with suppress(OSError):
        lines = run.log.read_text(encoding="utf-8", errors="replace").splitlines()
        said = [line.strip() for line in lines if line.strip()]
        if said:
            return f", its last words were `{said[-1][:160]}`"
    return ""


def _closing(run: _Run) -> tuple[str, ...]:
    """The last lines of its log that would be the same in another run."""
    with suppress(OSError):
        lines = run.log.read_text(encoding="utf-8", errors="replace").splitlines()
        said = (re.sub(r"^\[t=[^]]*\] *", "", line).strip() for line in lines)
        return tuple([one[:200] for one in said if one and not _VARIES.search(one)][-_CLOSING:])
    return ()


def _note(run: _Run, kind: AnswerKind, detail: str) -> Diagnostic | None:
    engine = f"Fast Downward ({run.configuration.name})"
    if kind == "failed":
        hint = "Run `tw doctor` to see whether it is installed well."
        return Diagnostic("TW0812", f"{engine} gave no answer: {detail}.", hint=hint)
    if kind == "limit":
        hint = "Raise `--time-limit`, or make the world smaller."
        return Diagnostic("TW0813", f"{engine} was stopped: {detail}.", hint=hint)
    return None
