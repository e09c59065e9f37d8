"""V1: the CPU time of whole verbs over all bundled worlds, beside an earlier commit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.before_after import Asked, Side, both, questions, times
from benchmarks.measure import WrongResultError
from benchmarks.peers.environments import SetupError
from benchmarks.speed.figures import Figure, Sample, at_most
from benchmarks.speed.options import Options

__all__ = ["figures"]

_STATES = 5000
"""The limit of states of an audit."""
_DOMAINS = Path(__file__).parents[2] / "domains"
_EACH, _SUM = at_most(1.15), at_most(1.0)


def figures(options: Options) -> Iterator[Figure]:
    """Each verb, then the sum of all. Each world is measured once, because there are many."""
    rows = sorted(options.rows.glob("*.jsonl.gz")) if options.rows else []
    sums = list[Sample]()
    with tempfile.TemporaryDirectory(prefix="tw-verbs-") as made:
        try:
            sides = both(options.base, Path(made).resolve())
        except SetupError as error:
            yield Figure("V1", "CPU of all verbs", options.base, _SUM, missing=str(error))
            return
        for verb, asked, found in questions(_DOMAINS, rows, _STATES):
            samples = tuple(_summed(sides, asked, found))
            sums += [one for one in samples if one.ours]
            yield Figure("V1", f"CPU of `tw {verb}`", options.base, _EACH, samples)
    if not rows:
        missing = "no recorded rows: name their folder with `--bytesized32 DIR`"
        yield Figure("V1", "CPU of `tw conform`", options.base, _EACH, missing=missing)
    whole = Sample(
        f"{len(sums)} verbs", "in all",
        (sum(one.ours[0] for one in sums),), (sum(one.theirs[0] for one in sums),),
    )  # fmt: skip
    yield Figure("V1", "CPU of these verbs together", options.base, _SUM, (whole,) if sums else ())


def _summed(
    sides: tuple[Side, Side], asked: Asked, found: Sequence[tuple[str, str]]
) -> Iterator[Sample]:
    """The sums over worlds that both sides answer, if any, then the differing answers."""
    spent, failed = list[tuple[float, float]](), list[Sample]()
    for name, target in found:
        try:
            one = times(*sides, asked, name, target, 1)
        except WrongResultError as error:
            failed.append(Sample(name, "", failed=str(error)))
            continue
        if one is not None:
            spent.append(one)
    if spent:
        before, after = (sum(side) for side in zip(*spent, strict=True))
        what = "text games" if asked.verb == "conform" else f"{len(spent)} of {len(found)}"
        yield Sample(what, "in all", (after,), (before,))
    yield from failed
