"""The graph as a decision problem: what a player can choose, and what luck may make of it.

Where the graph does not show all (open nodes, refusals by luck, luck that stays the same when a
free action is repeated), a problem is built twice: ``cautious`` counts all that as lost, the other
one as won. What holds in the first holds; what fails in the second fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tokenworld.ground import StateT
from tokenworld.planning.space.graph import Graph, Move, Node

__all__ = ["GOAL", "PIT", "Choice", "Problem", "problem_of"]

GOAL, PIT = -1, -2
"""Where play has been won, and where it never will be."""
_ONE = Fraction(1)

Share = tuple[int, Fraction]
"""A target (a node, `GOAL` or `PIT`) and its probability."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to do in a state: move ``move`` of its node, and where that may lead.

    Probabilities sum to 1 and are above 0; each target is there once.
    """

    move: int
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """For each node what can be chosen there (nothing at ends), and whether it is a cautious one.

    ``ends[n]`` is what node n counts as: itself, `GOAL` or `PIT`. ``exact``: the graph shows all,
    so that cautious and bold are the same.
    """

    choices: tuple[tuple[Choice, ...], ...]
    ends: tuple[int, ...]
    exact: bool

    @property
    def start(self) -> int:
        return self.ends[0]


def problem_of(graph: Graph[StateT], *, cautious: bool) -> Problem:
    """The decision problem of a graph."""
    if not graph.trusted:
        known = [_end(graph, node, cautious=cautious, known=False) for node in graph.nodes()]
        return Problem(tuple(() for _ in known), tuple(known), False)
    ends = [_end(graph, node, cautious=cautious, known=True) for node in graph.nodes()]
    exact = graph.complete
    choices = list[tuple[Choice, ...]]()
    for node in graph.nodes():
        here = graph.odds(node)
        exact = exact and all(move.steady for move in here)
        found = (c for i, move in enumerate(here) for c in _choices(i, move, ends, cautious))
        choices.append(tuple(found))
    return Problem(tuple(choices), tuple(ends), exact)


def _end(graph: Graph[StateT], node: Node, *, cautious: bool, known: bool) -> int:
    """The node itself, or `GOAL` or `PIT` where it is an end."""
    if graph.won[node]:
        return GOAL
    if graph.lost[node]:
        return PIT
    if graph.open(node) or not known:
        return PIT if cautious else GOAL
    return node if graph.choices(node) else PIT


def _choices(number: int, move: Move, ends: list[int], cautious: bool) -> Iterable[Choice]:
    """What a move is worth as a choice; a bold player also chooses luck that stays the same."""
    if move.free and len(move.targets) > 1:
        if not cautious:
            for target in move.targets:
                yield Choice(number, ((ends[target], _ONE),))
        return
    shares: dict[int, Fraction] = {}
    for target, chance in zip(move.targets, move.chances, strict=True):
        shares[ends[target]] = shares.get(ends[target], Fraction(0)) + chance
    if move.missing:
        rest = PIT if cautious else GOAL
        shares[rest] = shares.get(rest, Fraction(0)) + move.missing
    yield Choice(number, tuple(shares.items()))
