"""V4: a step and the list of commands through a session, without texts, beside other simulators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.peers.duel import Question, Side, contest
from benchmarks.peers.environments import SetupError, ours, peer
from benchmarks.peers.traces import PROBLEMS, Problem, trace_of
from benchmarks.speed.figures import Figure, Goal, Sample, at_least
from benchmarks.speed.options import NO_IPC, Options

__all__ = ["figures"]

_STEP, _LIST = "a step through a session", "the list of legal commands"
_PEERS = {
    "unified-planning": ("up_simulator", {"walk": at_least(100), "enumerate": at_least(1000)}),
    "pddlgym": ("pddlgym_core", {"enumerate": at_least(30)}),
    "textworld": ("textworld_logic", {"enumerate": at_least(50)}),
}
_WARM = 20
"""The number of first steps that are not timed."""
_EVERY = 4
"""The number of steps between two lists."""


def figures(options: Options) -> Iterator[Figure]:
    """Each simulator with the problems that it supports."""
    for name, (adapter, goals) in _PEERS.items():
        missing, samples = "" if options.ipc else NO_IPC, dict[str, tuple[Sample, ...]]()
        if options.ipc:
            try:
                sides = Side(ours(), "ours_steps"), Side(peer(name), adapter)
                samples = _played(sides, list(goals), options)
            except SetupError as error:
                missing = str(error)
        yield from _told(name, goals, samples, missing)


def _told(
    name: str, goals: dict[str, Goal], samples: dict[str, tuple[Sample, ...]], missing: str
) -> Iterator[Figure]:
    for op, goal in goals.items():
        what = _STEP if op == "walk" else _LIST
        yield Figure("V4", what, name, goal, samples.get(op, ()), missing)


def _played(
    sides: tuple[Side, Side], ops: Sequence[str], options: Options
) -> dict[str, tuple[Sample, ...]]:
    every = [_on(sides, problem, ops, options) for problem in PROBLEMS]
    return {op: tuple(found[at] for found in every) for at, op in enumerate(ops)}


def _on(
    sides: tuple[Side, Side], problem: Problem, ops: Sequence[str], options: Options
) -> list[Sample]:
    assert options.ipc is not None
    args = {"trace": trace_of(problem), "warm": _WARM}
    known = {
        "walk": Question(problem, "per step", "walk", args),
        "enumerate": Question(problem, "per list", "enumerate", {**args, "every": _EVERY}),
    }
    asked = [known[op] for op in ops]
    return list(contest(sides, problem.files(options.ipc), asked, options.rounds, options.seconds))
