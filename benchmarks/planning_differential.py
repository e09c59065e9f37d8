"""Does everybody agree on what can be won? Random finite worlds, asked of all planners.

    python -m benchmarks.planning_differential --n 2000 --seed 1

Own exhaustive search, Fast Downward on encodings E and D and SymK must give one verdict on each
world; every plan is replayed by the interpreter and stepped through by unified-planning. The first
disagreement is shrunk, printed as a world, and ends the run with 1. What is not compared is counted
with its reason. A line about how far it is goes to the error output every 50 worlds.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.planning_opinions import Compared, Engines, Left, compared
from benchmarks.planning_worlds import Drawn, draw, opened
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, SYMK, find_engine
from tokenworld.tools.fuzzing.constructs import in_program
from tokenworld.tools.fuzzing.shrinking import smaller

__all__ = ["Report", "asked", "campaign", "installed", "main", "shrunk"]

SEEDS = 1_000_003
"""The worlds of one seed are numbered from a multiple of this on."""
Ask = Callable[[Drawn], "Compared | Left"]


@dataclass
class Report:
    """What a campaign came to."""

    worlds: int = 0
    drawn: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    stepped: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    constructs: Counter[str] = field(default_factory=Counter)
    plans: int = 0
    next_seed: int = 0
    found: tuple[int, Drawn, str] | None = None

    def note(self, result: Compared) -> None:
        """Count one world that was compared."""
        self.worlds += 1
        self.plans += result.plans
        self.verdicts["winnable" if result.winnable else "unwinnable"] += 1
        self.said.update(result.said.items())
        self.stepped.update(result.stepped)
        self.seconds.update(result.seconds)

    def lines(self) -> Iterator[str]:
        """The report as people read it."""
        verdicts = ", ".join(f"{count:,} {name}" for name, count in self.verdicts.most_common())
        yield f"worlds compared: {self.worlds:,} ({verdicts}); drawn: {self.drawn:,}"
        yield f"  the next number is {self.next_seed}"
        for reason, count in self.left.most_common():
            yield f"  left out: {count:,} {reason}"
        for (name, said), count in sorted(self.said.items()):
            yield f"  {name}: {count:,} {said}"
        yield f"plans replayed by the interpreter: {self.plans:,}"
        for name, count in sorted(self.stepped.items()):
            yield f"  unified-planning: {count:,} {name}"
        shown = (f"{name} {count:,}" for name, count in self.constructs.most_common())
        yield f"constructs ({len(self.constructs)}): {', '.join(shown)}"
        spent = (f"{name} {seconds:.0f}" for name, seconds in self.seconds.most_common())
        yield f"wall-clock seconds: {', '.join(spent)}"
        yield f"disagreements: {0 if self.found is None else 1}"


def installed() -> Engines | None:
    """The two planners; ``None`` where one of them, or unified-planning, is missing."""
    downward, symk = find_engine(FAST_DOWNWARD), find_engine(SYMK)
    if downward.path is None or symk.path is None:
        return None
    return Engines(Path(downward.path), Path(symk.path))


def asked(engines: Engines) -> Ask:
    """The question put to all of them."""

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
) -> Report:
    """Compare so many worlds from a number on, until the first disagreement or the time is up."""
    end = time.monotonic() + seconds
    report = Report(next_seed=first)
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
    """Which constructs the world has."""
    world = opened(drawn.text)
    if world is not None:
        report.constructs.update(in_program(world.instance.program, world.instance.world))


def shrunk(drawn: Drawn, disagreement: str, ask: Ask) -> Drawn:
    """The least text that still shows a disagreement of the same kind."""
    kind = _kind(disagreement)

    def shows(text: str) -> bool:
        try:
            result = ask(Drawn(text, drawn.goal))
        except Exception:  # a defect of another kind is not what is being shrunk
            return False
        return isinstance(result, Compared) and _kind(result.disagreement) == kind

    return Drawn(smaller(drawn.text, shows), drawn.goal)


def _kind(disagreement: str) -> str:
    """What a disagreement is about: the opinion, and in a verdict the engine."""
    head, _, rest = disagreement.partition(": ")
    return f"{head}: {rest.split(' says')[0]}" if head == "verdict" else head


def _progress(report: Report) -> None:
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
    given = parser.parse_args(options)
    engines = installed()
    if engines is None:
        sys.stderr.write("Fast Downward or SymK is missing; `tw doctor` says how to get them.\n")
        return 2
    ask = asked(engines)
    first = given.seed * SEEDS if given.start is None else given.start
    report = campaign(given.n, first, ask, _progress, 60 * given.minutes)
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
