"""Limits of time and memory for one command, in all of its phases.

`limited` puts a timer on the main thread. Ten times a second it looks at the clock and at the
memory of this process and its children; at a limit it raises `Halted` between two steps of Python.
So no phase has to check the limits. `attempt` ends a phase at a limit and returns its partial
result; `phase` names the current phase, for the line of progress and for the diagnostic. Without
`limited`, or in another thread, `attempt` only calls its function.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Literal, TypeVar

T = TypeVar("T")
Why = Literal["time", "memory"]

_LOOK = 0.1
"""Seconds between two looks."""
_GRACE = 0.4
"""Seconds that a phase may take beyond its limit, to end in good order."""
_LAST = 1.4
"""Seconds after the limit at which the command ends even while it prints its partial result."""
_AGAIN = 0.3
"""Seconds until `Halted` is raised again: Python drops an exception raised in a destructor."""
_CHILDREN = 3
"""Two planners run at once, beside our own search."""
_SILENCE = 1.5
"""Seconds without a word after which the phase is named."""
_MOST = 0.94
"""The share of the memory at which a phase is given up: it grows on between two looks."""
_BLOCKS = (__name__, "contextlib", "signal", "enum")
"""The modules that run where a block of `limited` or `phase` is entered or left."""
_ENOUGH = 0.6
"""The share of the memory at which searches stop: what follows them takes some."""


class Halted(BaseException):
    """The time or the memory of the command is used up. No `except Exception` stops it."""

    def __init__(self, why: Why, phase: str) -> None:
        super().__init__(why, phase)
        self.why, self.phase = why, phase


class _Budget:
    """The limits of the running command, and its current phases."""

    def __init__(self, seconds: float | None, memory: int | None, began: float) -> None:
        self.seconds, self.memory = seconds, memory
        self.end = None if seconds is None else began + seconds
        self.began, self.spoke = began, time.monotonic()
        self.outer: _Budget | None = None
        self.phases: list[str] = []
        self.halted: Halted | None = None
        self.raised = 0.0
        self.caught = self.full = self.over = False

    def within(self, outer: _Budget) -> None:
        """Keep the limits of the block around this one as well."""
        self.outer = outer
        self.phases, self.spoke = outer.phases, outer.spoke
        if outer.end is not None:
            self.end = outer.end if self.end is None else min(self.end, outer.end)
        if outer.memory is not None:
            self.memory = outer.memory if self.memory is None else min(self.memory, outer.memory)

    def look(self, number: int, frame: FrameType | None) -> None:
        """Called by the timer. Raises `Halted` if a limit is reached.

        Code that enters or leaves a block is not interrupted, because it could not undo its
        changes; the timer calls again soon.
        """
        if self.over or (frame is not None and frame.f_globals.get("__name__") in _BLOCKS):
            return
        now = time.monotonic()
        self._tell(now)
        if self.end is not None and now >= self.end + _LAST:
            self._halt("time", now)
        elif self.caught:
            return
        elif self.end is not None and now >= self.end + _GRACE:
            self._halt("time", now)
        elif self.memory is not None:
            held = used()
            self.full = held >= self.memory * _ENOUGH
            if held >= self.memory * _MOST:
                self._halt("memory", now)

    def _halt(self, why: Why, now: float) -> None:
        if now < self.raised + _AGAIN:
            return
        self.raised = now
        if self.halted is None:
            self.halted = Halted(why, self.phases[-1] if self.phases else "")
        raise self.halted

    def note(self, halt: Halted) -> None:
        """A phase was given up. Where a limit within this one ended it, there is time for more."""
        if halt.why == "memory" or (self.end is not None and time.monotonic() >= self.end):
            self.caught, self.halted = True, halt

    def _tell(self, now: float) -> None:
        """Name the phase where nobody said anything for a while."""
        if self.phases and now >= self.spoke + _SILENCE:
            self.spoke = now
            line = f"· {self.phases[-1]}, {now - self.began:.0f} s\n"
            with suppress(OSError):  # not by `sys.stderr`, which may be in the middle of a line
                os.write(2, line.encode("utf-8", "replace"))


_budget: _Budget | None = None
_children: set[int] = set()


def used() -> int:
    """The bytes of memory that this process and its children hold."""
    return sum(_resident(str(one)) for one in ("self", *list(_children)))


def _resident(process: str) -> int:
    found = _sizes(process)
    return found[1] if found else _peak() if process == "self" else 0


def _sizes(process: str) -> list[int]:
    """The sizes of a process in bytes, in the order of Linux; none where they are not told."""
    try:
        with open(f"/proc/{process}/statm", "rb") as file:
            return [int(one) * os.sysconf("SC_PAGE_SIZE") for one in file.read().split()]
    except (OSError, ValueError):
        return []


def _peak() -> int:
    """Return the peak memory of this process in bytes, where the present use is unknown."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def count_child(process: int) -> None:
    """Count the memory of a child, until `forget_child`."""
    _children.add(process)


def forget_child(process: int) -> None:
    """The child has ended."""
    _children.discard(process)


@contextmanager
def limited(seconds: float | None, memory: int | None, began: float) -> Iterator[None]:
    """Raise `Halted` in this block when ``seconds`` or ``memory`` (in bytes) are used up.

    ``began`` is the time of `time.monotonic` from which the seconds count. Within another such
    block the limits of both hold. A timer that the caller has set goes on after the block.
    """
    global _budget
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer") or _held_already(seconds, memory, began):
        yield
        return
    outer, budget = _budget, _Budget(seconds, memory, began)
    if outer is not None:
        budget.within(outer)
    _budget = budget
    usual = signal.signal(signal.SIGALRM, budget.look)
    start, (due, every) = time.monotonic(), signal.setitimer(signal.ITIMER_REAL, _LOOK, _LOOK)
    try:
        with _bounded(memory), _quiet():
            budget.look(signal.SIGALRM, None)
            yield
    finally:
        budget.over = True
        if outer is None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, _ignored if usual is signal.SIG_DFL else usual)
        _budget = outer
        if outer is None and due:
            rest = max(due - (time.monotonic() - start), 1e-3)
            signal.setitimer(signal.ITIMER_REAL, rest, every)


def _held_already(seconds: float | None, memory: int | None, began: float) -> bool:
    """Return whether the block around ends no later and asks for no less memory."""
    return (
        _budget is not None
        and memory is None
        and (seconds is None or (_budget.end is not None and _budget.end <= began + seconds))
    )


def _ignored(number: int, frame: FrameType | None) -> None:
    """Do nothing. The timer calls this after a block: a signal that another thread still delivers
    would be an error without a handler."""


@contextmanager
def _quiet() -> Iterator[None]:
    """Do not print `Halted` from a destructor: the timer raises it again outside."""
    usual = sys.unraisablehook

    def hook(lost: sys.UnraisableHookArgs) -> None:
        if lost.exc_type is not Halted:
            usual(lost)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = usual


@contextmanager
def _bounded(memory: int | None) -> Iterator[None]:
    """Let the system refuse memory beyond the limit: a large array may be made between two
    checks."""
    if memory is None or sys.platform != "linux":
        yield
        return
    import resource

    usual = resource.getrlimit(resource.RLIMIT_DATA)
    _, resident, _, _, _, data, *_ = _sizes("self")  # data are more: not all was ever touched
    most, hard = max(data + memory - resident, 0), usual[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, usual)


def left(seconds: float) -> float:
    """The seconds that are left to the command; ``seconds`` where that is less, or without one."""
    if _budget is None or _budget.end is None:
        return seconds
    return max(min(seconds, _budget.end - time.monotonic()), 0.0)


def near() -> Why | None:
    """The limit of the command at which a search had better stop by itself, keeping its states."""
    if _budget is None:
        return None
    if _budget.end is not None and time.monotonic() >= _budget.end:
        return "time"
    return "memory" if _budget.full else None


def room(memory: int) -> int:
    """The bytes that one of several children may take: ``memory``, or a share of the limit."""
    if _budget is None or _budget.memory is None:
        return memory
    return min(memory, _budget.memory // _CHILDREN)


def allows(memory: int) -> bool:
    """Return whether the command may take so many bytes more."""
    return _budget is None or _budget.memory is None or used() + memory <= _budget.memory


def halted() -> Halted | None:
    """Return what ended a phase of this command, if one was ended."""
    return None if _budget is None else _budget.halted


def spoke() -> None:
    """A line of progress was shown: the next one can wait."""
    if _budget is not None:
        _budget.spoke = time.monotonic()


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Name the phase that runs in this block."""
    if _budget is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    budget = _budget
    budget.phases.append(name)
    try:
        yield
    finally:
        budget.phases.pop()


def attempt(name: str, work: Callable[[], T], otherwise: Callable[[], T]) -> T:
    """Return the result of ``work``, or that of ``otherwise`` if a limit is reached before or
    meanwhile.

    ``name`` is the phase. Other exceptions pass through.
    """
    budget = _budget
    if budget is None or threading.current_thread() is not threading.main_thread():
        return work()
    if budget.caught:
        return otherwise()
    try:
        with phase(name):
            return work()
    except Halted as halt:
        if halt.why == "memory":
            halt.__traceback__ = None  # or the objects in its frames are never freed
        budget.note(halt)
    except MemoryError:
        if budget.memory is None:
            raise
        budget.note(Halted("memory", name))
    return otherwise()


def attempt_for(seconds: float, name: str, work: Callable[[], T], otherwise: Callable[[], T]) -> T:
    """`attempt` with a limit of its own. ``otherwise`` is called after it, and so is not ended by
    it."""
    found, halt = list[T](), None
    try:
        with limited(seconds, None, time.monotonic()):
            found = attempt(name, lambda: [work()], list)
            halt = halted()
    except Halted as late:
        halt = late
    if found:
        return found[0]
    if _budget is not None and halt is not None:
        _budget.note(halt)
    return otherwise()
