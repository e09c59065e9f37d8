"""Rules proposed from recorded rows of text games, judged on walks that they were not learned from.

    python -m benchmarks --learn --bytesized32 DIR [GAME …]

``DIR`` has the published rows of each game (``GAME.jsonl.gz``) and walks of other seeds
(``GAME.walks.jsonl.gz``). Rules are learned from 50, 200, 1,000 and all published rows, drawn with
a fixed seed, and judged strictly by the engine on those rows of the walks whose state and command
no learned row has. The first figure is of the rows that change something. Beside it: the nearest
learned row's outcome; copying the state is right for none of these rows.

Without walks of a game, ``DIR`` may have the rows of `python -m benchmarks.fresh_walks -o DIR`
(``GAME.jsonl``): the last quarter of their walks is judged, which is of other seeds than those that
are learned from. ``--rows N …`` are other numbers of rows; 0: all.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.measure import WrongResultError
from tokenworld.diagnostics import Failure
from tokenworld.verbs.learn.propose.judging import Judged, apart, copied, judged_text, nearest
from tokenworld.verbs.learn.propose.verb import learned_texts
from tokenworld.verbs.records.rows import TextRow, read_text_rows

SIZES: Final = (50, 200, 1_000, 0)
"""Rows to learn from; 0: all of them."""
LANDMARK: Final = 0.599
"""GPT-4's share over 31 games with rules written by people (Wang et al. 2024): other conditions."""


def report(
    folder: Path | None, games: Sequence[str], sizes: Sequence[int] = SIZES
) -> Iterator[str]:
    """The lines of the curve, one for each game and size, then the means."""
    if folder is None:
        raise WrongResultError("the rows are not there: give `--bytesized32 DIR`")
    every = [one.name.partition(".")[0] for suffix in (".walks.jsonl.gz", ".jsonl")
             for one in folder.glob(f"*{suffix}")]  # fmt: skip
    if unknown := [one for one in games if one not in every]:
        known = ", ".join(sorted(set(every)))
        raise WrongResultError(f"no rows of {', '.join(unknown)} are there, only of {known}")
    names = list(games) or sorted(set(every))
    heads = (("rows", 7), ("changing", 20), ("command", 10), ("all", 9), ("nearest", 9),
             ("copy", 8), ("s", 7))  # fmt: skip
    yield f"{'game':<22}" + "".join(f"{head:>{width}}" for head, width in heads)
    means: dict[int, list[float]] = {}
    for name in names:
        known, walks = _parts(folder, name)
        for size in sizes:
            some = known if not size else random.Random(1).sample(known, min(size, len(known)))
            line, share = _line(name, some, walks)
            means.setdefault(size, []).append(share)
            yield line
    for size, shares in means.items():
        mean = sum(shares) / len(shares)
        yield f"{'mean of the games':<22}{size or 'all':>7}{mean:>20.1%}"
    yield f"GPT-4, 31 games, rules written by people, other rows: {LANDMARK:.1%}"


def _parts(folder: Path, name: str) -> tuple[list[TextRow], list[TextRow]]:
    """The rows to learn from, and the walks to judge by."""
    walks = folder / f"{name}.walks.jsonl.gz"
    if walks.exists():
        return _rows(folder / f"{name}.jsonl.gz"), _rows(walks)
    rows = _rows(folder / f"{name}.jsonl")
    starts = [at for at, one in enumerate(rows) if one.number == 0]
    cut = starts[len(starts) * 3 // 4]
    return rows[:cut], rows[cut:]


def _rows(path: Path) -> list[TextRow]:
    return [one for one in read_text_rows(path) if isinstance(one, TextRow)]


def _line(name: str, known: Sequence[TextRow], walks: Sequence[TextRow]) -> tuple[str, float]:
    rows = list(apart(known, walks))
    begun = time.process_time()
    try:
        judged = judged_text(learned_texts(known, lambda text: None).made, rows)
    except Failure as failure:  # it counts as nothing right
        return f"{name:<22}{len(known):>7}  {failure.diagnostics[0].message}", 0.0
    seconds = time.process_time() - begun
    step, act = judged.dynamic["step"], judged.dynamic["act"]
    share = step.share or 0.0
    cells = f"{step.right} of {step.rows}, {share:.1%}"
    others = (_percent(act.share), _percent(judged.every["step"].share),
              *(_percent(_share(one)) for one in (nearest(known, rows), copied(rows))))  # fmt: skip
    return (f"{name:<22}{len(known):>7}{cells:>20}{others[0]:>10}{others[1]:>9}{others[2]:>9}"
            f"{others[3]:>8}{seconds:>7.1f}"), share  # fmt: skip


def _share(judged: Judged) -> float | None:
    return judged.dynamic["step"].share


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
