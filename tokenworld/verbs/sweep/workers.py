"""The workers of a sweep: this process, processes of this machine, or a Dask cluster.

All give the same answers; only the order in which they come differs. A worker that ends in the
middle of a cell costs that cell alone.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from asyncio import CancelledError
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from typing import Any, Protocol

from tokenworld.diagnostics import Diagnostic, Failure, usage
from tokenworld.limits import near
from tokenworld.verbs.sweep.cells import Answer, Cell, Lost, Task, attempt

INSTALL = "pip install 'token-world[cluster]'"
_CONNECT_SECONDS = 20
_WATCH_SECONDS = 0.5
_AHEAD = 4
"""So many cells a thread of a cluster are handed out at a time."""

Numbered = Sequence[tuple[int, Cell]]
Found = Iterator[tuple[int, Answer | Lost]]


class Way(Protocol):
    """Answers for numbered cells, in any order, each once."""

    def __call__(self, task: Task, cells: Numbered) -> Found: ...


def here(task: Task, cells: Numbered) -> Found:
    """One after another in this process."""
    for number, cell in cells:
        found = attempt(task, cell)
        if near() is not None:  # it was cut short by the limit of the sweep, and is none of its own
            return
        yield number, found


# ---- processes of this machine --------------------------------------------------------------


def joblib_missing() -> bool:
    """Return whether cells can only be computed one after another."""
    return find_spec("joblib") is None


def cores() -> int:
    """The number of cells that this machine can compute at once."""
    if joblib_missing():
        return 1
    import joblib

    return int(joblib.cpu_count())


def processes(jobs: int) -> Way:
    """``jobs`` worker processes of joblib."""

    def way(task: Task, cells: Numbered) -> Found:
        left = dict(cells)
        try:
            for number, found in _pool(task, cells, jobs):
                del left[number]
                yield number, found
            return
        except _terminated() as error:
            why = str(error).partition("\n")[0]
        # One cell ended its worker, and the pool with it. Halves find out which.
        rest = tuple(left.items())
        if len(rest) == 1:
            yield rest[0][0], Lost(f"a worker process ended: {why}")
            return
        for half in (rest[: len(rest) // 2], rest[len(rest) // 2 :]):
            yield from way(task, half)

    return way


def _terminated() -> type[Exception]:
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    found: type[Exception] = TerminatedWorkerError
    return found


def _pool(task: Task, cells: Numbered, jobs: int) -> Found:
    from joblib import Parallel, delayed

    pool = Parallel(
        n_jobs=jobs, return_as="generator_unordered", initializer=_end_with, initargs=(os.getpid(),)
    )
    with warnings.catch_warnings():  # of cells that an interrupted sweep leaves undone
        warnings.filterwarnings("ignore", ".*still being processed by the workers")
        yield from pool(delayed(_numbered)(task, number, cell) for number, cell in cells)


def _numbered(task: Task, number: int, cell: Cell) -> tuple[int, Answer | Lost]:
    return number, attempt(task, cell)


def _end_with(parent: int) -> None:
    """End this worker where the sweep was killed: nobody waits for its answers any more."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    if os.name == "posix":  # elsewhere a process keeps the number of a parent that is gone
        threading.Thread(target=watch, daemon=True).start()


# ---- a cluster ------------------------------------------------------------------------------


def dask_cluster(address: str) -> Way:
    """The workers of a Dask scheduler, or with ``local:N`` N processes of a cluster made for this.

    Raises `Failure`: TW0811 without the extra, TW0006 for an address at which nothing answers.
    """
    if find_spec("distributed") is None:
        what = "`dask` is not installed, so no cluster can be asked."
        raise Failure(Diagnostic("TW0811", what, hint=f"Run `{INSTALL}`."))
    workers = _local(address)

    def way(task: Task, cells: Numbered) -> Found:
        with _client(address, workers) as client:
            yield from _submitted(client, task, cells)

    return way


def _local(address: str) -> int | None:
    """N of ``local:N``."""
    kind, _, number = address.partition(":")
    if kind != "local":
        return None
    if number.isascii() and number.isdigit() and 1 <= int(number) <= 1000:
        return int(number)
    hint = "Write `--dask local:2` for two processes, or the address of a scheduler."
    raise usage(f"`{address}` names no cluster.", hint)


@contextmanager
def _client(address: str, workers: int | None) -> Iterator[Any]:
    import logging

    from distributed import Client, LocalCluster

    if workers is not None:
        with _uninterrupted():
            cluster = LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True,
                dashboard_address=None, silence_logs=logging.CRITICAL,
            )  # fmt: skip
        with cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(address, timeout=_CONNECT_SECONDS)
        client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:  # a TimeoutError is an OSError
        what = f"No Dask worker answers at `{address}`: {type(error).__name__}."
        hint = "Start `dask scheduler` and `dask worker ADDRESS`, or take `--dask local:2`."
        raise usage(what, hint) from None
    with client:
        yield client


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes begun here do not hear Ctrl-C, which is for the sweep alone: it ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _submitted(client: Any, task: Task, cells: Numbered) -> Found:
    """Cells are handed out as others come back: a cluster never holds more than a few a thread."""
    from distributed import as_completed

    waiting, numbers = iter(cells), {}
    threads = sum(client.nthreads().values())

    def more(count: int) -> Iterable[Any]:
        for number, cell in islice(waiting, count):
            future = client.submit(attempt, task, cell, pure=False)
            numbers[future.key] = number
            yield future

    under_way = as_completed(list(more(_AHEAD * max(threads, 1))))
    for future in under_way:
        yield numbers.pop(future.key), _outcome(future)
        under_way.update(list(more(1)))


def _outcome(future: Any) -> Answer | Lost:
    """The answer; where it went away with its worker, the cluster works it out once more here."""
    try:
        found: Answer | Lost = future.result()
    except (Exception, CancelledError) as error:
        why = str(error).partition("\n")[0]
        return Lost(f"the cluster did not answer: {type(error).__name__}: {why}")
    return found
