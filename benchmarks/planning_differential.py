"""Compare the verdicts of all planners on random finite worlds.

    python -m benchmarks.planning_differential --n 2000 --seed 1

Own exhaustive search, Fast Downward on encoding E and SymK must give one verdict on each
world; every plan is replayed by the interpreter and by unified-planning. The first disagreement is
minimised, printed as a world, and ends the run with 1. What is not compared is counted with its
reason. A progress line goes to stderr every 50 worlds.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.planning_opinions import Compared, Engines, Left, compared
from benchmarks.planning_record import OtherEditionError, Report, load, save
from benchmarks.planning_worlds import Drawn, draw, opened
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, SYMK, find_engine
from tokenworld.verbs.fuzz.campaign import smaller
from tokenworld.verbs.fuzz.constructs import in_program

__all__ = ["Report", "asked", "campaign", "installed", "main", "shrunk"]

SEEDS = 1_000_003
"""The numbers of the worlds of a seed begin at a multiple of this."""
Ask = Callable[[Drawn], "Compared | Left"]


def installed() -> Engines | None:
    """The two planners; ``None`` if one of them, or unified-planning, is missing."""
    downward, symk = find_engine(FAST_DOWNWARD), find_engine(SYMK)
    if downward.path is None or symk.path is None:
        return None
    return Engines(Path(downward.path), Path(symk.path))


def asked(engines: Engines) -> Ask:
    """The question that all planners get."""

    def ask(drawn: Drawn) -> Compared | Left:
        world = opened(drawn.text)
        if world is None:
            return Left("the world does not start")
        if drawn.goal is not None and drawn.goal not in {
            one.name for one in world.instance.world.goals
        }:
            return Left("the goal is gone")
        return compared(world, drawn.goal, engines)

    return ask


def campaign(
    count: int,
    first: int,
    ask: Ask,
    say: Callable[[Report], None] = lambda report: None,
    seconds: float = math.inf,
    before: Report | None = None,
) -> Report:
    """Compare ``n`` worlds from a number on, until the first disagreement or the time limit.

    With the counts ``before`` it continues from there, and adds to them.
    """
    end = time.monotonic() + seconds
    report = Report(next_seed=first) if before is None else before
    while report.worlds < count and report.found is None and time.monotonic() < end:
        number = report.next_seed
        report.next_seed += 1
        report.drawn += 1
        began = time.monotonic()
        drawn = draw(number)
        report.seconds["drawing"] += time.monotonic() - began  # type: ignore[assignment]
        if drawn is None:
            report.left["too small or too large"] += 1
            continue
        result = ask(drawn)
        if isinstance(result, Left):
            report.left[result.reason] += 1
            continue
        report.note(result)
        _count(report, drawn)
        if result.disagreement:
            report.found = (number, drawn, result.disagreement)
        say(report)
    return report


def _count(report: Report, drawn: Drawn) -> None:
    """The constructs that the world uses."""
    world = opened(drawn.text)
    if world is not None:
        report.constructs.update(in_program(world.instance.program, world.instance.world))


def shrunk(drawn: Drawn, disagreement: str, ask: Ask) -> Drawn:
    """The smallest text with a disagreement of the same kind."""
    kind = _kind(disagreement)

    def shows(text: str) -> bool:
        try:
            result = ask(Drawn(text, drawn.goal))
        except Exception:  # a defect of another kind is not what is being shrunk
            return False
        return isinstance(result, Compared) and _kind(result.disagreement) == kind

    return Drawn(smaller(drawn.text, shows), drawn.goal)


def _kind(disagreement: str) -> str:
    """The kind of a disagreement: the opinion, and in a verdict the engine."""
    head, _, rest = disagreement.partition(": ")
    return f"{head}: {rest.split(' says')[0]}" if head == "verdict" else head


def _progress(report: Report, record: Path | None) -> None:
    if record is not None and report.found is None:
        save(record, report)
    if report.worlds % 50 == 0:
        sys.stderr.write(f"{report.worlds:,} worlds, next number {report.next_seed}\n")
        sys.stderr.flush()


def main(options: list[str] | None = None) -> int:
    """Run a campaign; 1 for a disagreement, 2 where a planner is missing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planning_differential")
    parser.add_argument("--n", type=int, default=2_000, help="how many worlds to compare")
    parser.add_argument("--seed", type=int, default=1, help="which worlds")
    parser.add_argument("--start", type=int, help="go on from this number that a report names")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so many")
    parser.add_argument("--record", type=Path, help="add up in this file, and go on where it ends")
    given = parser.parse_args(options)
    engines = installed()
    if engines is None:
        sys.stderr.write("Fast Downward or SymK is missing; `tw doctor` says how to get them.\n")
        return 2
    ask = asked(engines)
    first = given.seed * SEEDS if given.start is None else given.start
    try:
        before = None if given.record is None else load(given.record)
    except OtherEditionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    say = partial(_progress, record=given.record)
    report = campaign(given.n, first, ask, say, 60 * given.minutes, before)
    for line in report.lines():
        sys.stdout.write(f"{line}\n")
    if report.found is None:
        return 0
    number, drawn, disagreement = report.found
    less = shrunk(drawn, disagreement, ask)
    result = ask(less)
    said = result.disagreement if isinstance(result, Compared) else disagreement
    sys.stdout.write(f"seed {number}, goal {drawn.goal}: {disagreement}\nshrunk: {said}\n")
    sys.stdout.write(less.text)
    return 1


if __name__ == "__main__":
    sys.exit(main())
