"""Two sides in turns: equal digests first, then the ratios of the rounds."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from benchmarks.peers.worker import PeerError, Worker

__all__ = ["Measured", "Question", "ask_in_turns"]


@dataclass(frozen=True, slots=True)
class Question:
    """What both sides are asked; ``ours`` and ``theirs`` differ where their words do.

    ``goal`` is the number of the goal that it measures, ``unit`` what the seconds are for.
    ``measure``: answers are seconds, or bytes in their place.
    """

    goal: str
    what: str
    problem: str
    unit: str
    op: str
    args: dict[str, Any]
    ours: dict[str, Any] | None = None
    their_op: str = ""
    measure: Literal["seconds", "bytes"] = "seconds"


@dataclass(frozen=True, slots=True)
class Measured:
    """The seconds of both sides, round by round; ``failed`` says why there are none."""

    question: Question
    ours: tuple[float, ...] = ()
    theirs: tuple[float, ...] = ()
    failed: str = ""

    @property
    def ratios(self) -> tuple[float, ...]:
        """How many times the time of ours the other side takes, in each round."""
        return tuple(one / own for own, one in zip(self.ours, self.theirs, strict=True))

    @property
    def ratio(self) -> float:
        return median(self.ratios)


def ask_in_turns(own: Worker, other: Worker, question: Question, rounds: int) -> Measured:
    """Ours, theirs, ours, theirs …; no time counts where the digests differ."""
    first, second = _turn(own, other, question)
    if isinstance(second, str):
        return Measured(question, failed=second)
    if first["digest"] != second["digest"]:
        return Measured(question, failed=_differ(first, second))
    ours, theirs = [float(first["seconds"])], [float(second["seconds"])]
    for _ in range(rounds - 1):
        first, second = _turn(own, other, question)
        if isinstance(second, str):
            return Measured(question, failed=second)
        ours.append(float(first["seconds"]))
        theirs.append(float(second["seconds"]))
    return Measured(question, tuple(ours), tuple(theirs))


def _turn(
    own: Worker, other: Worker, question: Question
) -> tuple[dict[str, Any], dict[str, Any] | str]:
    try:
        first = own.ask(question.op, **{**question.args, **(question.ours or {})})
    except PeerError as error:
        return {}, f"ours: {error}"
    try:
        return first, other.ask(question.their_op or question.op, **question.args)
    except PeerError as error:
        return first, f"theirs: {error}"


def _differ(first: dict[str, Any], second: dict[str, Any]) -> str:
    counts = [one.get("count") for one in (first, second)]
    told = "" if None in counts or counts[0] == counts[1] else f" ({counts[0]:g}, {counts[1]:g})"
    return (
        f"results differ: ours {first['digest']}, theirs {second['digest']}{told}; no time counts"
    )
