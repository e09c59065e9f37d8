"""``tw duel``: which of two plans has the higher mean return, in a world and in its reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final, assert_never

from tokenworld.diagnostics import read_source, usage
from tokenworld.ground import Json
from tokenworld.session import open_world
from tokenworld.session.rollouts import Rollout
from tokenworld.session.rollouts import rollout as roll
from tokenworld.verbs.learn.expected import By, expected
from tokenworld.verbs.output import EXIT_OK, EXIT_UNKNOWN, Output

_Z: Final = 1.959963984540054
"""The deviation of 95 % of a normal distribution, on both sides."""
_FEWEST: Final = 2
"""The least number of runs that tell a spread."""


@dataclass(frozen=True, slots=True)
class Duel:
    """Two plans in one world, run by run with equal seeds, or ``exact``, over all outcomes.
    ``difference`` is the mean of the first plan's return less the second's, ``low`` and ``high``
    its 95 % interval."""

    world: str
    means: tuple[float, float]
    difference: float
    low: float
    high: float
    runs: int
    exact: bool = False

    @property
    def better(self) -> int | None:
        """The plan that is better, 0 or 1; ``None`` where the interval holds 0."""
        return 0 if self.low > 0 else 1 if self.high < 0 else None

    @property
    def decided(self) -> bool:
        """Return whether the better plan is known, or the values are exact."""
        return self.exact or self.better is not None

    def to_json(self) -> dict[str, Json]:
        return {
            "world": self.world,
            "means": list(self.means),
            "difference": self.difference,
            "interval": [self.low, self.high],
            "better": None if self.better is None else self.better + 1,
            "runs": self.runs,
            "exact": self.exact,
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
    """Compare both plans, in the reference too where one is named, and tell which is better; 3
    where runs do not decide it."""
    if worlds < _FEWEST:
        raise usage("One run tells no spread.", "Give `--worlds 2` or more.")
    plans, say = (first, second), out.each_second()
    found = []
    for place in (target, reference):
        if place is not None:
            known = _exact(place, plans, by, ticks, seed)
            if known is not None:
                found.append(known)
                continue
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
    return EXIT_OK if all(one.decided for one in found) else EXIT_UNKNOWN


def _exact(place: str, plans: Sequence[str], by: By, ticks: int, seed: int) -> Duel | None:
    """Compare the exact means; ``None`` where one cannot be computed."""
    world, means = open_world(place), []
    for plan in plans:
        one = expected(world, None if plan == "random" else read_source(plan), by, ticks, seed)
        if one is None:
            return None
        means.append(one)
    gap = float(means[0] - means[1])
    return Duel(place, (float(means[0]), float(means[1])), gap, gap, gap, 0, True)


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
    runs = next((one.runs for one in found if not one.exact), 0)
    yield f"mean {by} of {runs} runs, equal seeds for both plans" if runs else f"exact mean {by}"
    for line in lines:
        yield "  ".join(
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()


def _cells(one: Duel, plans: Sequence[str]) -> tuple[str, ...]:
    open_ = "equal" if one.exact else "undecided"
    better = open_ if one.better is None else plans[one.better]
    interval = "exact" if one.exact else f"{one.low:.4g} to {one.high:.4g}"
    means = (f"{mean:.4g}" for mean in one.means)
    return (one.world, *means, f"{one.difference:.4g}", interval, better)
