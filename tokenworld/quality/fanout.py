"""The dimension about the graph of the world: does it keep its connections?

A node is a live object; an edge is a true fact of a relation, or a reference that is not `none`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tokenworld.engine import State
from tokenworld.engine.digest import shown_keys
from tokenworld.model import BoolType, ObjectType
from tokenworld.quality.dimension import Dimension, exact, graded, missing, shown

__all__ = ["CHECKPOINT_EVERY", "Checkpoint", "checkpoint", "graph_fan_out"]

CHECKPOINT_EVERY = 10
SLOPE_POINTS, FAILING_DELTAS = 5, 3
FALLING = Fraction(-2, 100)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The graph after a tick."""

    seq: int
    edges: int
    nodes: int

    @property
    def fan_out(self) -> Fraction:
        return Fraction(self.edges, self.nodes) if self.nodes else Fraction(0)


def checkpoint(seq: int, state: State) -> Checkpoint:
    """Counts the graph of a state."""
    return Checkpoint(seq, _edges(state), sum(kind is not None for kind in state.kinds))


def _edges(state: State) -> int:
    total = 0
    for column in state.layout.columns:
        relation = isinstance(column.fluent.type, BoolType)
        kind = column.fluent.fluent_kind
        if kind == "table" or (relation and kind == "attribute"):
            continue
        if relation or isinstance(column.fluent.type, ObjectType):
            values = (state.get(column, key) for key in shown_keys(state, column))
            total += sum(value is True if relation else value is not None for value in values)
    return total


def graph_fan_out(points: Sequence[Checkpoint]) -> Dimension:
    """s = 10 (f_last - f_first) / ticks between them, over the last five checkpoints."""
    limits = {"ok": "slope >= 0",
              "fail": "each of the last 3 checkpoint deltas < -0.02 per 10 ticks"}  # fmt: skip
    if len(points) < 2:
        return missing("graph_fan_out", "fewer than 2 checkpoints", limits)
    chosen = points[-SLOPE_POINTS:]
    slope = _per_ten(chosen[0], chosen[-1])
    deltas = [_per_ten(one, other) for one, other in pairwise(points)][-FAILING_DELTAS:]
    falling = len(deltas) == FAILING_DELTAS and all(delta < FALLING for delta in deltas)
    trend = "steady" if slope == 0 else "trending up" if slope > 0 else "trending down"
    return Dimension(
        "graph_fan_out",
        graded(ok=slope >= 0, fail=falling),
        f"slope={shown(slope, 3)}  ({trend})",
        {
            "slope": exact(slope),
            "deltas": [exact(delta) for delta in deltas],
            "checkpoints": [[one.seq, one.edges, one.nodes] for one in points],
        },
        limits,
        tuple(late.seq for early, late in pairwise(points) if _per_ten(early, late) < 0),
        tuple((one.seq, one.fan_out) for one in points),
    )


def _per_ten(first: Checkpoint, last: Checkpoint) -> Fraction:
    return 10 * (last.fan_out - first.fan_out) / (last.seq - first.seq)
