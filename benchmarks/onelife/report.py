"""The parts of `python -m benchmarks --learn` that are about Crafter: points 2, 4, 5b, 6 and 7."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measure import WrongResultError
from benchmarks.onelife import fits, plans
from benchmarks.onelife.believing import Believing, learned
from benchmarks.onelife.documents import small_world
from benchmarks.onelife.laws import CLOCK, NARROW, WIDE, Observables, explored
from benchmarks.onelife.models import Copied, Exact, Model, Randomized
from benchmarks.onelife.protocol import by_scenario, measured, table, transitions
from benchmarks.onelife.scenarios import SCENARIOS, Scenario
from tokenworld.session import open_world

__all__ = ["Sizes", "crafter_parts"]

_EXACT = "tests/domains/test_crafter.py::test_a_step_has_the_outcomes_of_the_game"


@dataclass(frozen=True)
class Sizes:
    """How much is measured: scenarios and trials of the protocol, steps of the episode, seeds,
    transitions and map of the fits, runs of each plan."""

    trials: int = 10
    scenarios: tuple[Scenario, ...] = SCENARIOS
    steps: int = 400
    seeds: int = 5
    transitions: int = 2_000
    area: int = 24
    runs: int = 40
    world: str = "crafter"
    """Where the episode is; empty: the map of the scenarios."""
    seed: int = 1
    episode: int = 1
    """The seed of the episode."""


@dataclass
class _Known:
    """What one part leaves to the next: fitted probabilities."""

    values: dict[str, float] = field(default_factory=dict)


def crafter_parts(parts: tuple[str, ...], sizes: Sizes) -> Iterator[str]:
    """The lines of the chosen parts."""
    known = _Known()
    if "2" in parts:
        yield from _exact()
    if "4" in parts:
        yield from _fits(sizes, known)
    if "5b" in parts or "6" in parts:
        yield from _ranked(sizes, "5b" in parts)
    if "7" in parts:
        yield from _duels(sizes, known)


def _exact() -> Iterator[str]:
    yield "2. one-step distributions, compared with the package `crafter` (150 pairs)"
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", _EXACT
    ]  # fmt: skip
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise WrongResultError(f"a step of Crafter differs:\n{ran.stdout[-2000:]}")
    yield f"   {ran.stdout.strip().splitlines()[-1]}; 20,000 pairs: `-m slow`"
    yield ""


def _fits(sizes: Sizes, known: _Known) -> Iterator[str]:
    yield (f"4. fits from {sizes.transitions} transitions, maps of {sizes.area} by {sizes.area} "
           f"tiles")  # fmt: skip
    found: list[fits.Recovered] = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, sizes.seeds + 1):
            found.append(fits.recovered(Path(folder), sizes.area, seed, sizes.transitions))
            yield from fits.judged(found[-1])
    yield from fits.table(found)
    yield ""
    known.values = {one.learned.name: one.value for one in found[0].fit.params}


def _ranked(sizes: Sizes, laws: bool) -> Iterator[str]:
    rows = transitions(sizes.scenarios, sizes.seed)
    count = sum(map(len, rows.values()))
    with tempfile.TemporaryDirectory() as folder:
        models: list[Model] = [Copied(), Randomized(), Exact(small_world(Path(folder)))]
        if laws:
            models += _learned(sizes, Path(folder))
        yield (f"6. OneLife's protocol: {len(rows)} scenarios, {count} transitions, "
               f"{sizes.trials} trials")  # fmt: skip
        found = measured(models, rows, sizes.trials, sizes.seed)
    yield from table(found)
    yield ""
    yield from by_scenario(found)
    yield ""


def _learned(sizes: Sizes, folder: Path) -> Iterator[Believing]:
    """The laws of one episode, with fitted weights and without, on each list of observables."""
    world = open_world(sizes.world or str(folder / "small.tw"))
    episode = explored(world, sizes.episode, sizes.steps)
    for name, slots in (("OneLife's list", NARROW), ("wide", WIDE), ("with clock", CLOCK)):
        what = Observables(slots)
        yield from learned(episode, what, name, folder)


def _duels(sizes: Sizes, known: _Known) -> Iterator[str]:
    yield "7. comparisons of plans"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if not known.values:
            few = fits.recovered(place, sizes.area, sizes.seed, min(300, sizes.transitions))
            known.values = {one.learned.name: one.value for one in few.fit.params}
        yield from plans.table(list(plans.duels(place, known.values, sizes.runs)))
    yield ""
