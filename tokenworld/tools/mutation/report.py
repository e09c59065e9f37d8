"""``tw mutate``: the share of mutants that a world's own tests notice."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tokenworld.session.loading import load_program, split_target
from tokenworld.tools.mutation.judge import Judge, Verdict
from tokenworld.tools.mutation.operators import Mutant, mutants
from tokenworld.tools.output import EXIT_NEGATIVE, EXIT_OK, Output

__all__ = ["mutate"]

_PROGRESS = 1.0
"""Seconds between lines of progress."""

Judged = list[tuple[Mutant, Verdict]]


def mutate(
    file: str, out: Output, *, sample: int | None, seed: int, seconds: float, least: float
) -> int:
    """Judge the mutants of a file's own rules; 1 if fewer than ``least`` percent are noticed.

    ``sample`` judges that many of them, drawn with ``seed``; ``seconds`` bounds the planning for
    each goal.
    """
    path = split_target(file)[0]
    loaded = load_program(path)
    own = {one.name for one in loaded.sources if one.path == path}
    every = [one for one in mutants(loaded.program) if one.span.file in own]
    chosen = every
    if sample is not None and sample < len(every):
        picked = sorted(random.Random(seed).sample(range(len(every)), sample))
        chosen = [every[index] for index in picked]
    judged = _judged(Judge(loaded, seconds), chosen, out)
    _tell(judged, len(every), out)
    noticed = sum(verdict != "survived" for _, verdict in judged)
    share = 100 * noticed / len(judged) if judged else 100.0
    out.json(
        {
            "schema_version": 1,
            "file": str(Path(file)),
            "mutants": len(every),
            "judged": len(judged),
            "noticed": noticed,
            "verdicts": dict(sorted(Counter(verdict for _, verdict in judged).items())),
            "survivors": [_survivor(one) for one, verdict in judged if verdict == "survived"],
        }
    )
    return EXIT_OK if share >= least else EXIT_NEGATIVE


def _judged(judge: Judge, chosen: Sequence[Mutant], out: Output) -> Judged:
    judged: Judged = []
    told = time.monotonic()
    for number, mutant in enumerate(chosen):
        if time.monotonic() - told > _PROGRESS:
            told = time.monotonic()
            out.progress(f"{number} of {len(chosen)} mutants")
        judged.append((mutant, judge.judge(mutant.program)))
    return judged


def _tell(judged: Judged, total: int, out: Output) -> None:
    for mutant, verdict in judged:
        if verdict == "survived":
            out.line(f"survived: {mutant.span}: {mutant.operator}: {mutant.what}")
    counts = Counter(verdict for _, verdict in judged)
    noticed = len(judged) - counts["survived"]
    by = ", ".join(f"{number} by {name}" for name, number in sorted(counts.items())
                   if name != "survived")  # fmt: skip
    share = f"{noticed} of {len(judged)}"
    out.line(f"{share} mutants noticed ({by or 'none'}); {total} in all")


def _survivor(mutant: Mutant) -> dict[str, str]:
    return {"operator": mutant.operator, "what": mutant.what, "place": str(mutant.span)}
