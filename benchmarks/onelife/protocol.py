"""The ranking of successors in three columns.

*As coded*: what the public code does. The candidates are the true successor, a sample of the model
itself and the mutants; a sample never counts as right, since states are compared with their random
sources, and scenarios of one name replace each other (23 of 38 are left). *Repaired*: the same
candidates of all 38 scenarios, and whatever equals the true successor counts as it. *As written*:
the pseudocode of the paper, which ranks the true successor among the mutants only.

Ranks are expected ones: candidates with equal scores come in every order with equal chance. Each
scenario counts once, whatever its length; the interval is that of the mean over scenarios.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb, sqrt
from typing import Final

from benchmarks.onelife.documents import distance, leaves
from benchmarks.onelife.models import Model, canonical
from benchmarks.onelife.mutating import mutants
from benchmarks.onelife.scenarios import SCENARIOS, Observed, Scenario, observed

__all__ = ["COLUMNS", "PUBLISHED", "Measured", "kept", "measured", "placed", "table", "transitions"]

COLUMNS: Final = ("as coded", "repaired", "as written")
PUBLISHED: Final = (
    ("OneLife, *published*", 0.187, 0.479, 8.764, 0.058),
    ("random, *published*", None, None, 121.5, 0.809),
)
"""Rank@1, MRR, raw and normalized edit distance of the paper's table."""
HAND_WRITTEN: Final = "0.197 to 0.268 / 0.495 to 0.519"
"""Rank@1 and MRR of the laws in the public code, run on a stand-in for the package that is not."""
_Z: Final = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Placed:
    """The expected place of the true successor among ``among`` candidates."""

    first: float
    reciprocal: float
    recall: float


@dataclass
class Measured:
    """Means of one model by column and scenario: Rank@1, MRR and normalized recall; and of its
    samples: raw and normalized edit distances by scenario."""

    name: str
    places: dict[str, dict[str, list[Placed]]] = field(
        default_factory=lambda: {one: defaultdict(list) for one in COLUMNS}
    )
    edits: dict[str, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))

    def mean(self, column: str, what: str) -> tuple[float, float]:
        """The mean over scenarios, and half of its 95 % interval."""
        return _mean(
            [_average(getattr(one, what) for one in found)
             for found in self.places[column].values()]
        )  # fmt: skip

    def edit(self, which: int) -> float:
        """The mean raw (0) or normalized (1) edit distance over scenarios."""
        return _mean([_average(one[which] for one in found) for found in self.edits.values()])[0]

    def reciprocal_of(self, column: str, scenario: str) -> float:
        return _average(one.reciprocal for one in self.places[column][scenario])


def _average(found: Iterable[float]) -> float:
    every = list(found)
    return sum(every) / len(every)


def _mean(found: Sequence[float]) -> tuple[float, float]:
    mean = _average(found)
    if len(found) < 2:
        return mean, 0.0
    spread = sum((one - mean) ** 2 for one in found) / (len(found) - 1)
    return mean, _Z * sqrt(spread / len(found))


def placed(above: int, equal: int, right: int, among: int) -> Placed:
    """The best place of ``right`` candidates that are right, with ``equal`` others of their score
    and ``above`` with a higher one, if equal scores come in any order."""
    tied, places = right + equal, list[tuple[int, float]]()
    for best in range(1, equal + 2):
        share = comb(tied - best, right - 1) / comb(tied, right)
        places.append((above + best, share))
    first = sum(share for place, share in places if place == 1)
    reciprocal = sum(share / place for place, share in places)
    mean = sum(share * place for place, share in places)
    return Placed(first, reciprocal, 1 - (mean - 1) / max(1, among - 1))


def kept() -> tuple[Scenario, ...]:
    """The scenarios that are left where those of one name replace each other."""
    return tuple({one.coded: one for one in SCENARIOS}.values())


def transitions(scenarios: Sequence[Scenario], seed: int) -> dict[str, list[Observed]]:
    """The transitions of each scenario."""
    return {one.name: observed(one, seed + at) for at, one in enumerate(scenarios)}


def measured(
    models: Sequence[Model], rows: Mapping[str, Sequence[Observed]], trials: int, seed: int
) -> list[Measured]:
    """Rank all models by the same mutants, each transition once in a trial."""
    found = [Measured(one.name) for one in models]
    coded = {one.name for one in kept()}
    for trial in range(trials):
        for scenario, listed in rows.items():
            for at, one in enumerate(listed):
                key = f"{seed} {trial} {scenario} {at}"
                others = [x for _, x in mutants(one.before, one.action, random.Random(key))]
                for model, into in zip(models, found, strict=True):
                    _rank(model, one, others, random.Random(f"{key} sample"), into,
                          scenario in coded)  # fmt: skip
    return found


def _rank(
    model: Model, one: Observed, others: Sequence[dict[str, object]], dice: random.Random,
    into: Measured, coded: bool,
) -> None:  # fmt: skip
    truth, sample = model.score(one, one.after), model.sample(one, dice)
    raw = distance(sample, one.after)
    into.edits[one.scenario].append((raw, raw / len(leaves(one.after))))
    mine = canonical(one.after)
    scores = [(model.score(one, x), canonical(x) == mine) for x in others]
    own = model.score(one, sample), canonical(sample) == mine
    candidates = {
        "as coded": [*((score, False) for score, _ in scores), (own[0], False)],
        "repaired": [*scores, own],
        "as written": [(score, False) for score, _ in scores],
    }
    for column, listed in candidates.items():
        if column == "as coded" and not coded:
            continue
        right = 1 + sum(same for _, same in listed)
        above = sum(score > truth for score, same in listed if not same)
        equal = sum(score == truth for score, same in listed if not same)
        into.places[column][one.scenario].append(placed(above, equal, right, len(listed) + 1))


# ---- telling ------------------------------------------------------------------------------------


def table(found: Sequence[Measured]) -> Iterator[str]:
    """Rank@1 / MRR of each model in the three columns, and the edit distance of its samples."""
    heads = "".join(f"{one:>23}" for one in COLUMNS)
    yield f"{'Rank@1 / MRR':<34}{heads}{'edits':>9}{'share':>8}"
    for one in found:
        cells = "".join(f"{_cell(one, column):>23}" for column in COLUMNS)
        yield f"{one.name:<34}{cells}{one.edit(0):>9.3f}{one.edit(1):>8.3f}"
    for name, first, reciprocal, raw, share in PUBLISHED:
        shown = "-" if first is None else f"{first:.3f} / {reciprocal:.3f}"
        yield f"{name:<34}{shown:>23}{'-':>23}{'-':>23}{raw:>9.3f}{share:>8.3f}"
    yield f"OneLife's hand-written laws, *measured with its code at design time*: {HAND_WRITTEN}"


def _cell(one: Measured, column: str) -> str:
    if not one.places[column]:
        return "-"
    (first, half), (reciprocal, _) = one.mean(column, "first"), one.mean(column, "reciprocal")
    return f"{first:.3f} ±{half:.2f} / {reciprocal:.3f}"


def by_scenario(found: Sequence[Measured]) -> Iterator[str]:
    """MRR of each model by scenario in the repaired column, grouped by mechanic."""
    coded = {one.name for one in kept()}
    yield f"{'MRR, repaired':<34}{''.join(f'{at:>8}' for at in range(1, 1 + len(found)))}"
    for mechanic in sorted({one.mechanic for one in SCENARIOS}):
        yield mechanic
        for one in (x for x in SCENARIOS if x.mechanic == mechanic):
            if one.name in found[0].places["repaired"]:
                cells = "".join(f"{x.reciprocal_of('repaired', one.name):>8.3f}" for x in found)
                mark = "*" if one.name in coded else " "
                yield f" {mark} {one.name:<31}{cells}"
    yield "; ".join(f"{at}: {one.name}" for at, one in enumerate(found, 1))
    yield "*: kept where scenarios of one name replace each other"
