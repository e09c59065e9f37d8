"""What many runs of one world came to: a table of numbers, one row a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

from tokenworld.ground import STATUSES, Json
from tokenworld.model import EndingKind

__all__ = ["Rollout", "Run", "interval", "table_of"]

EngineName = Literal["fast", "plain", "play"]
Numbers = Any
"""A numpy array where numpy is installed, else a list (of lists)."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its counts, the ending that came first (-1: none) and the score at the end."""

    seed: int
    ticks: int
    records: int
    statuses: tuple[int, ...]
    ending: int
    ended_at: int
    score: float
    reward: float
    digest: str


@dataclass(frozen=True, slots=True)
class Rollout:
    """Runs of one world with the seeds ``seed`` to ``seed + worlds - 1``, one entry a run.

    Numbers are numpy arrays where numpy is installed, else lists. Of shape ``(worlds,)``:
    ``seeds``; ``ticks``, the tick number at the end; ``records``; ``ending``, the number in
    ``endings`` of the ending that came first, -1 for none; ``ended_at``, the tick of it, -1 for
    none; ``score`` at the end; ``reward``, all rewards together. Of shape ``(worlds, 9)``:
    ``statuses``, how many records had each of ``tokenworld.ground.STATUSES``. ``digests`` are the
    state hashes at the end, ``None`` unless asked for. ``engine`` is what played: ``fast``
    (compiled), ``plain`` (the same in Python) or ``play`` (the interpreter); ``note`` says why it
    was the interpreter, and ``escaped`` how many runs it finished for another engine.
    """

    world: str
    policy: str
    seed: int
    limit: int
    engine: EngineName
    note: str
    escaped: int
    endings: tuple[str, ...]
    kinds: tuple[EndingKind, ...]
    seeds: Numbers
    ticks: Numbers
    records: Numbers
    statuses: Numbers
    ending: Numbers
    ended_at: Numbers
    score: Numbers
    reward: Numbers
    digests: tuple[str, ...] | None

    @property
    def worlds(self) -> int:
        """How many runs there are."""
        return len(self.seeds)

    def count(self, kind: str) -> int:
        """How many runs came first to an ending of a kind: ``goal``, ``lose`` or ``stop``."""
        chosen = {i for i, one in enumerate(self.kinds) if one == kind}
        return sum(1 for one in self.ending if int(one) in chosen)

    def to_json(self) -> dict[str, Json]:
        """The outcomes, for programs; the runs themselves one list a number."""
        return {
            "world": self.world,
            "policy": self.policy,
            "seed": self.seed,
            "worlds": self.worlds,
            "records_at_most": self.limit,
            "engine": self.engine,
            "note": self.note,
            "escaped": self.escaped,
            "outcomes": dict(_outcomes(self)),
            "endings": {
                name: sum(1 for one in self.ending if int(one) == i)
                for i, name in enumerate(self.endings)
            },
            "statuses": self._statuses(),
            "runs": {
                "ticks": [int(one) for one in self.ticks],
                "records": [int(one) for one in self.records],
                "ending": [int(one) for one in self.ending],
                "ended_at": [int(one) for one in self.ended_at],
                "score": [float(one) for one in self.score],
                "reward": [float(one) for one in self.reward],
            },
            "digests": None if self.digests is None else list(self.digests),
        }

    def _statuses(self) -> dict[str, Json]:
        sums = {name: sum(int(row[i]) for row in self.statuses) for i, name in enumerate(STATUSES)}
        return {name: found for name, found in sums.items() if found}


def _outcomes(rollout: Rollout) -> list[tuple[str, Json]]:
    """Each outcome with its number of runs, their share and its interval."""
    won, lost, stopped = (rollout.count(kind) for kind in ("goal", "lose", "stop"))
    running = rollout.worlds - won - lost - stopped
    found: list[tuple[str, Json]] = []
    for word, runs in (("won", won), ("lost", lost), ("stopped", stopped), ("running", running)):
        low, high = interval(runs, rollout.worlds)
        share = runs / rollout.worlds
        found.append((word, {"runs": runs, "share": share, "low": low, "high": high}))
    return found


def interval(found: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    z, share = 1.959963984540054, found / of
    middle = share + z * z / (2 * of)
    width = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    whole = 1 + z * z / of
    low = 0.0 if found == 0 else (middle - width) / whole
    return low, 1.0 if found == of else (middle + width) / whole


def table_of(runs: Sequence[Run]) -> dict[str, Numbers]:
    """The columns of runs, as arrays where numpy is there."""
    columns: dict[str, list[Any]] = {
        "seeds": [one.seed for one in runs],
        "ticks": [one.ticks for one in runs],
        "records": [one.records for one in runs],
        "statuses": [list(one.statuses) for one in runs],
        "ending": [one.ending for one in runs],
        "ended_at": [one.ended_at for one in runs],
        "score": [one.score for one in runs],
        "reward": [one.reward for one in runs],
    }
    try:
        import numpy as np
    except ImportError:
        return columns
    return {
        name: np.array(values, float if name in ("score", "reward") else np.int64)
        for name, values in columns.items()
    }
