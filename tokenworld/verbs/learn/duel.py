"""``tw duel``: which of two plans has the higher mean return, in a world and in its reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final, Literal, assert_never

from tokenworld.diagnostics import usage
from tokenworld.ground import Json
from tokenworld.session.rollouts import Rollout
from tokenworld.session.rollouts import rollout as roll
from tokenworld.verbs.output import EXIT_OK, EXIT_UNKNOWN, Output

__all__ = ["By", "Duel", "compared", "duel"]

By = Literal["reward", "score", "won"]
_Z: Final = 1.959963984540054
"""The deviation of 95 % of a normal distribution, on both sides."""
_FEWEST: Final = 2
"""The least number of runs that tell a spread."""


@dataclass(frozen=True, slots=True)
class Duel:
    """Two plans in one world, run by run with equal seeds. ``difference`` is the mean of the first
    plan's return less the second's, ``low`` and ``high`` its 95 % interval."""

    world: str
    means: tuple[float, float]
    difference: float
    low: float
    high: float
    runs: int

    @property
    def better(self) -> int | None:
        """The plan that is better, 0 or 1; ``None`` where the interval holds 0."""
        return 0 if self.low > 0 else 1 if self.high < 0 else None

    def to_json(self) -> dict[str, Json]:
        return {
            "world": self.world,
            "means": list(self.means),
            "difference": self.difference,
            "interval": [self.low, self.high],
            "better": None if self.better is None else self.better + 1,
            "runs": self.runs,
        }


def duel(
    target: str,
    first: str,
    second: str,
    out: Output,
    *,
    by: By,
    worlds: int,
    ticks: int,
    seed: int,
    reference: str | None,
) -> int:
    """Play both plans, in the reference too where one is named, and tell which is better; 3 where
    the runs do not decide it."""
    if worlds < _FEWEST:
        raise usage("One run tells no spread.", "Give `--worlds 2` or more.")
    plans, say = (first, second), out.each_second()
    found = []
    for place in (target, reference):
        if place is not None:
            rolls = [
                roll(
                    place, worlds=worlds, ticks=ticks, seed=seed, policy=plan,
                    say=lambda done, plan=plan: say(f"{plan}: {done} of {worlds} runs"),  # type: ignore[misc]
                )
                for plan in plans
            ]  # fmt: skip
            found.append(compared(place, *(_returns(one, by) for one in rolls)))
    for line in _told(found, plans, by):
        out.line(line)
    agree = None if reference is None else found[0].better == found[1].better
    if agree is not None:
        out.line(f"model and reference {'agree' if agree else 'do not agree'}")
    duels: list[Json] = [one.to_json() for one in found]
    out.json({
        "schema_version": 1, "ok": True, "by": by, "plans": list(plans), "duels": duels,
        "agree": agree,
    })  # fmt: skip
    return EXIT_OK if all(one.better is not None for one in found) else EXIT_UNKNOWN


def _returns(found: Rollout, by: By) -> list[float]:
    """The return of each run."""
    match by:
        case "reward":
            return [float(one) for one in found.reward]
        case "score":
            return [float(one) for one in found.score]
        case "won":
            goals = {at for at, kind in enumerate(found.kinds) if kind == "goal"}
            return [float(int(one) in goals) for one in found.ending]
        case _:
            assert_never(by)


def compared(world: str, first: Sequence[float], second: Sequence[float]) -> Duel:
    """Compare the returns of two plans, pair by pair. Runs with equal seeds have equal draws as far
    as the plans do the same, so the differences spread less than the returns."""
    runs = len(first)
    gaps = [one - other for one, other in zip(first, second, strict=True)]
    mean = sum(gaps) / runs
    error = sqrt(sum((one - mean) ** 2 for one in gaps) / (runs - 1) / runs)
    return Duel(world, (sum(first) / runs, sum(second) / runs), mean, mean - _Z * error,
                mean + _Z * error, runs)  # fmt: skip


def _told(found: Sequence[Duel], plans: Sequence[str], by: By) -> Iterator[str]:
    heads = ("world", *plans, "difference", "95 %", "better")
    lines = [heads, *(_cells(one, plans) for one in found)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(heads))]
    yield f"mean {by} of {found[0].runs} runs, equal seeds for both plans"
    for line in lines:
        yield "  ".join(
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()


def _cells(one: Duel, plans: Sequence[str]) -> tuple[str, ...]:
    better = "undecided" if one.better is None else plans[one.better]
    interval = f"{one.low:.4g} to {one.high:.4g}"
    means = (f"{mean:.4g}" for mean in one.means)
    return (one.world, *means, f"{one.difference:.4g}", interval, better)
