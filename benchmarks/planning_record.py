"""The counts of a campaign of `planning_differential`, in a file, so that runs add up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.planning_opinions import Compared
from benchmarks.planning_worlds import EDITION, Drawn

__all__ = ["OtherEditionError", "Report", "load", "save"]

_COUNTERS = ("verdicts", "left", "stepped", "lengths", "states", "constructs", "seconds")
_NUMBERED = ("lengths", "states")
_PLAIN = ("worlds", "drawn", "plans", "next_seed")


class OtherEditionError(Exception):
    """The file has counts of another generator."""


@dataclass
class Report:
    """The counts of a campaign.

    ``lengths`` counts winnable worlds by the ticks of the shortest plan, ``states`` unwinnable ones
    by the number of reachable states.
    """

    worlds: int = 0
    drawn: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    stepped: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    states: Counter[int] = field(default_factory=Counter)
    constructs: Counter[str] = field(default_factory=Counter)
    plans: int = 0
    next_seed: int = 0
    found: tuple[int, Drawn, str] | None = None

    def note(self, result: Compared) -> None:
        """Count one world that was compared."""
        self.worlds += 1
        self.plans += result.plans
        self.verdicts["winnable" if result.winnable else "unwinnable"] += 1
        (self.lengths if result.winnable else self.states)[result.size] += 1
        self.said.update(result.said.items())
        self.stepped.update(result.stepped)
        self.seconds.update(result.seconds)

    def lines(self) -> Iterator[str]:
        """The report as text."""
        verdicts = ", ".join(f"{count:,} {name}" for name, count in self.verdicts.most_common())
        yield f"worlds compared: {self.worlds:,} ({verdicts}); drawn: {self.drawn:,}"
        yield f"  the next number is {self.next_seed} (generator {EDITION})"
        shown = (f"{ticks}: {count:,}" for ticks, count in sorted(self.lengths.items()))
        yield f"  winnable worlds by ticks of the shortest plan: {', '.join(shown)}"
        if self.states:
            quarters = (str(one) for one in _quarters(sorted(self.states.elements())))
            yield f"  unwinnable worlds by reachable states, in quarters: {' '.join(quarters)}"
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


def _quarters(ordered: Sequence[int]) -> Iterator[int]:
    """The minimum, the quartiles and the maximum."""
    return (ordered[(len(ordered) - 1) * part // 4] for part in range(5))


def save(path: Path, report: Report) -> None:
    """Write the counts, without a disagreement."""
    told: dict[str, Any] = {"generator": EDITION}
    told |= {name: getattr(report, name) for name in (*_PLAIN, *_COUNTERS)}
    told["said"] = [[*key, count] for key, count in sorted(report.said.items())]
    waiting = path.with_name(f"{path.name}.new")
    waiting.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    waiting.replace(path)


def load(path: Path) -> Report | None:
    """The counts before; ``None`` if there is no file. Raises `OtherEditionError`."""
    if not path.exists():
        return None
    told = json.loads(path.read_text(encoding="utf-8"))
    if told["generator"] != EDITION:
        raise OtherEditionError(f"{path} counts worlds of generator {told['generator']}.")
    report = Report(**{name: told[name] for name in _PLAIN})
    for name in _COUNTERS:
        counted = told[name].items()
        numbered = name in _NUMBERED
        getattr(report, name).update({int(k) if numbered else k: v for k, v in counted})
    report.said.update({(name, said): count for name, said, count in told["said"]})
    return report
