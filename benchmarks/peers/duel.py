"""Compare two sides alternately: digests first, then the costs of the rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.peers.environments import Environment
from benchmarks.peers.worker import PeerError, Worker
from benchmarks.speed.figures import Sample

__all__ = ["Question", "Side", "ask_in_turns", "contest"]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Side:
    """An adapter in an environment."""

    environment: Environment
    adapter: str

    def worker(self, seconds: float) -> Worker:
        """Start a process of this side with a time limit."""
        return Worker(self.environment, self.adapter, seconds)


@dataclass(frozen=True, slots=True)
class Question:
    """A question for both sides about a problem. ``unit`` is what the seconds are for.

    ``ours`` replaces ``args`` for our side; ``their_op`` replaces ``op`` for the other side.
    """

    problem: str
    unit: str
    op: str
    args: Json = field(default_factory=dict)
    ours: Json = field(default_factory=dict)
    their_op: str = ""


def contest(
    sides: tuple[Side, Side],
    load: Json | None,
    questions: Sequence[Question],
    rounds: int,
    seconds: float,
) -> Iterator[Sample]:
    """Load a problem on both sides in fresh processes, and ask them alternately.

    A side that fails leaves the rest unanswered. ``load`` is ``None`` if each question loads.
    """
    with sides[0].worker(seconds) as own, sides[1].worker(seconds) as other:
        why = "" if load is None else _loaded(own, other, load)
        for question in questions:
            if not why and not (own.alive and other.alive):
                why = "not asked after that"
            if why:
                yield Sample(question.problem, question.unit, failed=why)
            else:
                yield ask_in_turns(own, other, question, rounds)


def _loaded(own: Worker, other: Worker, load: Json) -> str:
    """Why the two cannot be compared; empty if both have loaded the same problem."""
    try:
        first, second = own.ask("load", **load), other.ask("load", **load)
    except PeerError as error:
        return str(error)
    return "" if first["digest"] == second["digest"] else "the start states differ"


def ask_in_turns(own: Worker, other: Worker, question: Question, rounds: int) -> Sample:
    """Ask ours, theirs, ours, theirs …; no time counts if the digests differ."""
    ours, theirs = list[float](), list[float]()
    for _ in range(rounds):
        try:
            first, second = _turn(own, other, question)
        except PeerError as error:
            return Sample(question.problem, question.unit, failed=str(error))
        if first["digest"] != second["digest"]:
            return Sample(question.problem, question.unit, failed=_differ(first, second))
        ours.append(float(first["seconds"]))
        theirs.append(float(second["seconds"]))
    return Sample(question.problem, question.unit, tuple(ours), tuple(theirs))


def _turn(own: Worker, other: Worker, question: Question) -> tuple[Json, Json]:
    """The answers of both sides. Raises `PeerError`, which names the side without an answer."""
    try:
        first = own.ask(question.op, **{**question.args, **question.ours})
    except PeerError as error:
        raise PeerError(f"ours: {error}") from None
    try:
        return first, other.ask(question.their_op or question.op, **question.args)
    except PeerError as error:
        raise PeerError(f"theirs: {error}") from None


def _differ(first: Json, second: Json) -> str:
    counts = [one.get("count") for one in (first, second)]
    told = "" if None in counts or counts[0] == counts[1] else f" ({counts[0]:g}, {counts[1]:g})"
    return (
        f"results differ: ours {first['digest']}, theirs {second['digest']}{told}; no time counts"
    )
