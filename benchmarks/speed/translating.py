"""V6: from PDDL to SAS+, beside Fast Downward's translator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.peers.duel import Question, Side, contest
from benchmarks.peers.environments import SetupError, ours, peer
from benchmarks.peers.traces import Problem
from benchmarks.speed.figures import Figure, Sample, at_least
from benchmarks.speed.options import NO_IPC, Options

__all__ = ["figures", "problems"]


def problems(ipc: Path) -> Iterator[Problem]:
    """The second problem (or the only one) of every family that has one `domain.pddl`."""
    for family in sorted(one.parent for one in ipc.glob("*/domain.pddl")):
        every = sorted(one.stem for one in family.glob("*.pddl") if one.name != "domain.pddl")
        if every:
            yield Problem(f"{family.name}/{every[min(1, len(every) - 1)]}")


def figures(options: Options) -> Iterator[Figure]:
    """One problem per family, measured once, because there are many families."""
    missing, samples = "" if options.ipc else NO_IPC, list[Sample]()
    if options.ipc:
        try:
            sides = Side(ours(), "ours_tasks"), Side(peer("fast-downward"), "downward")
            for one in problems(options.ipc):
                asked = Question(one, "in all", "translate", one.files(options.ipc))
                samples += contest(sides, None, [asked], 1, options.seconds)
        except SetupError as error:
            missing = str(error)
    goal, beside = at_least(3), "Fast Downward's translator"
    yield Figure("V6", "from PDDL to SAS+", beside, goal, tuple(samples), missing)
