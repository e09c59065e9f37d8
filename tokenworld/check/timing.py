"""Measure the CPU time of each pass of a check, for authors of large files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

from tokenworld.check import Checked, Pass, Watch, run_pass
from tokenworld.check.draft import Draft


@dataclass(frozen=True, slots=True)
class Timed:
    """A check and the CPU seconds of its steps, in order; the last entry is the whole."""

    checked: Checked
    steps: tuple[tuple[str, float], ...]


def timed(check: Callable[[Watch], Checked]) -> Timed:
    """Measure a check that hands its passes to a `Watch`.

    What comes before the first pass counts as `reading`, what comes behind the last one as
    `starting`: the worlds are compiled there. CPU time, so that other programs count little.
    """
    marks: list[tuple[str, float]] = [("", process_time())]
    spent: list[tuple[str, float]] = []

    def watch(step: Pass, draft: Draft) -> None:
        begin = process_time()
        if len(marks) == 1:
            spent.append(("reading", begin - marks[0][1]))
        run_pass(step, draft)
        marks.append((step.name, process_time()))
        spent.append((step.name, marks[-1][1] - begin))

    checked = check(watch)
    end = process_time()
    name = "reading" if len(marks) == 1 else "starting"
    spent.append((name, end - marks[-1][1]))
    return Timed(checked, (*spent, ("all", end - marks[0][1])))
