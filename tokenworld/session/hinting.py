"""Hints for whoever plays: from the present state, and where in the past the goal was lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import EngineSimulator
from tokenworld.planning.hints import Hint, hint_from
from tokenworld.planning.ladder import plan
from tokenworld.planning.verdict import Answer
from tokenworld.session.session import Moment, Session

__all__ = ["LastChance", "hint", "last_winnable"]

Cancel = Callable[[], bool]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LastChance:
    """Where a session could last be won.

    ``moment`` is the number of the last winnable moment (0: the start; ``None``: not even that),
    ``tick`` its tick, ``lost_by`` what was asked next, empty if nothing was. ``known`` is false
    where a verdict was not to be had in time: then a later moment may be winnable too.
    """

    moment: int | None
    tick: int | None
    lost_by: str
    known: bool


def hint(
    session: Session,
    goal: str | None,
    *,
    seconds: float,
    say: Say = lambda line: None,
    cancel: Cancel = lambda: False,
) -> Hint:
    """What helps now. Raises `Failure` (TW0813) where the world is over."""
    if session.ended():
        advice = "Undo, or begin a new run."
        raise Failure(Diagnostic("TW0813", "The world is over.", hint=advice))
    simulator = EngineSimulator(session.engine, session.state)
    return hint_from(simulator, session.state, goal, seconds=seconds, say=say, cancel=cancel)


def last_winnable(
    session: Session,
    goal: str | None,
    *,
    seconds: float,
    known: dict[str, Answer] | None = None,
    say: Say = lambda line: None,
    cancel: Cancel = lambda: False,
) -> LastChance:
    """The last moment of the session from which the goal could be reached.

    What is out of reach once stays so, so that the moments are halved rather than walked through.
    ``known`` keeps verdicts by state hash from call to call. When ``cancel`` answers true, what is
    not decided yet stays so.
    """
    moments, verdicts = session.moments, {} if known is None else known
    end = time.monotonic() + seconds
    low, high, sure = -1, len(moments), True
    while high - low > 1:
        middle = len(moments) - 1 if high == len(moments) else (low + high) // 2
        if cancel():
            sure = False
            break
        say(f"asking whether the goal was in reach at tick {moments[middle].state.tick}")
        answer = _answer(session, moments[middle], goal, end, verdicts, cancel)
        sure = sure and answer != "unknown"
        if answer == "winnable":
            low = middle
        else:
            high = middle
    if low < 0:
        return LastChance(None, None, _asked(moments, 0), sure)
    return LastChance(low, moments[low].state.tick, _asked(moments, low + 1), sure)


def _asked(moments: Sequence[Moment], number: int) -> str:
    return moments[number].asked if number < len(moments) else ""


def _answer(
    session: Session,
    moment: Moment,
    goal: str | None,
    end: float,
    known: dict[str, Answer],
    cancel: Cancel,
) -> Answer:
    state = moment.state
    key = f"{session.engine.hash(state)} {goal or ''}"
    if key not in known:
        simulator = EngineSimulator(session.engine, state)
        left = max(end - time.monotonic(), 0.1)
        known[key] = plan(simulator, state, goal, time_limit=left, cancel=cancel).answer
    return known[key]
