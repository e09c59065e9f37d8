"""The graph as a decision problem: what a player can choose, and what luck may make of it.

Strong-cyclic plans keep the goal in reach whatever luck does. A quotient is the problem without
what cannot matter: sure states, hopeless states, end components.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from tokenworld.ground import StateT
from tokenworld.planning.space.components import strong_components
from tokenworld.planning.space.graph import Graph, Move, Node

# ---- Choices and shares -------------------------------------------------------------------------
# Where the graph does not show all (open nodes, outcomes that are left out), a problem is built
# twice: ``cautious`` counts all that as lost, the other one as won. What holds in the first holds;
# what fails in the second fails.

GOAL, PIT = -1, -2
"""Where play has been won, and where it never will be."""

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
        exact = exact and all(move.missing == 0 for move in here)
        choices.append(tuple(_choice(i, move, ends, cautious) for i, move in enumerate(here)))
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


def _choice(number: int, move: Move, ends: list[int], cautious: bool) -> Choice:
    """A move as a choice."""
    shares: dict[int, Fraction] = {}
    for target, chance in zip(move.targets, move.chances, strict=True):
        shares[ends[target]] = shares.get(ends[target], Fraction(0)) + chance
    if move.missing:
        rest = PIT if cautious else GOAL
        shares[rest] = shares.get(rest, Fraction(0)) + move.missing
    return Choice(number, tuple(shares.items()))


# ---- Strong-cyclic plans ------------------------------------------------------------------------
# A state is *sure* if a player who chooses well can keep the goal reachable whatever happens; by
# playing on he then reaches it with probability 1. The set is the greatest fixpoint: states from
# which the goal cannot be reached by choices that stay within the set are taken out, until none
# is. The first round takes out those from which it cannot be reached at all.


@dataclass(frozen=True, slots=True)
class Sure:
    """The sure states with what to do in each: ``policy[n]`` is a choice of node n.

    ``rank`` tells of every other state in which round it was taken out: luck can drive play from
    there to states of lower rank, and at last to where the goal is out of reach.
    """

    policy: dict[int, Choice]
    rank: dict[int, int]
    holds: bool


def sure_states(problem: Problem) -> Sure:
    """The greatest set of states in which the goal can be kept in reach."""
    rank: dict[int, int] = {}
    kept = {GOAL, PIT, *range(len(problem.choices))}
    for round_ in count():
        policy = {node: one for node, (one, _) in _towards(problem.choices, kept).items()}
        gone = [node for node in kept if node != GOAL and node not in policy]
        if not gone:
            break
        rank |= dict.fromkeys(gone, round_)
        kept.difference_update(gone)
    return Sure(policy, rank, problem.start in kept)


def risky_path(problem: Problem, sure: Sure) -> tuple[tuple[int, Choice, int], ...]:
    """How luck can drive a player who goes for the goal to where it is out of reach.

    Steps of node, choice and where luck leads, from the start, which is not sure; the last one
    leads to `PIT` or to a state of rank 0. The player takes a shortest way to the goal as long as
    luck is with him.
    """
    steps = list[tuple[int, Choice, int]]()
    node = problem.start
    towards = _towards(problem.choices)
    while node != PIT and sure.rank[node] > 0:
        choice, wanted = towards[node]
        worse = [t for t, _ in choice.shares if t in sure.rank and sure.rank[t] < sure.rank[node]]
        after = min(worse, key=lambda t: (sure.rank[t], t)) if worse else wanted
        steps.append((node, choice, after))
        node = after
    return tuple(steps)


def _towards(
    choices: Sequence[Sequence[Choice]], kept: set[int] | None = None
) -> dict[int, tuple[Choice, int]]:
    """For each state from which the goal can be reached: a step of a shortest way there.

    With ``kept`` only choices count that never leave these states, else all that luck may bring.
    """
    sources: dict[int, list[tuple[int, Choice]]] = {}
    for node, here in enumerate(choices):
        for choice in here if kept is None or node in kept else ():
            if kept is None or all(target in kept for target, _ in choice.shares):
                for target, _ in choice.shares:
                    sources.setdefault(target, []).append((node, choice))
    found: dict[int, tuple[Choice, int]] = {}
    layer = [GOAL]
    while layer:
        reached = list[int]()
        for target in layer:
            for node, choice in sources.get(target, ()):
                if node not in found:
                    found[node] = (choice, target)
                    reached.append(node)
        layer = reached
    return found


# ---- Quotients ----------------------------------------------------------------------------------
# An end component is a set of states in which a player can stay for ever and go from any to any
# other. All its states are worth the same, so each becomes one state that can only be left. What
# remains has one solution of its equations, and every way of choosing ends somewhere.


@dataclass(frozen=True, slots=True)
class Option:
    """A way to leave a state of the quotient: the node and choice it stands for, and its shares.

    Shares lead to states of the quotient, `GOAL` or `PIT`.
    """

    node: int
    choice: Choice
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    """The part of a problem that is left to be solved.

    ``options[s]``: the ways to leave state s. ``members[s]``: the nodes that it stands for.
    ``state_of`` maps every node to its state, `GOAL` (sure to win) or `PIT` (sure not to).
    ``order``: the states in groups that depend on each other, each after all that it depends on.
    """

    options: tuple[tuple[Option, ...], ...]
    members: tuple[tuple[int, ...], ...]
    state_of: Mapping[int, int]
    order: tuple[tuple[int, ...], ...]
    sure: Sure


def quotient_of(problem: Problem) -> Quotient:
    """Take out what is clear, and merge what is worth the same."""
    sure = sure_states(problem)
    open_ = [n for n in range(len(problem.choices)) if n not in sure.policy and sure.rank[n] > 0]
    groups = _end_components(problem, open_)
    state_of: dict[int, int] = {GOAL: GOAL, PIT: PIT}
    state_of |= dict.fromkeys(sure.policy, GOAL)
    state_of |= {node: PIT for node, rank in sure.rank.items() if rank == 0}
    for state, group in enumerate(groups):
        state_of |= dict.fromkeys(group, state)
    options = tuple(_options(problem, group, state, state_of) for state, group in enumerate(groups))
    targets = [tuple(dict.fromkeys(_targets(one))) for one in options]
    order = strong_components(range(len(groups)), targets.__getitem__)
    members = tuple(tuple(group) for group in groups)
    return Quotient(options, members, state_of, tuple(tuple(group) for group in order), sure)


def _targets(options: tuple[Option, ...]) -> list[int]:
    return [target for one in options for target, _ in one.shares if target >= 0]


def _options(
    problem: Problem, group: list[int], state: int, state_of: Mapping[int, int]
) -> tuple[Option, ...]:
    """The choices of a group that may leave it."""
    found = list[Option]()
    for node in group:
        for choice in problem.choices[node]:
            shares: dict[int, Fraction] = {}
            for target, chance in choice.shares:
                after = state_of[target]
                shares[after] = shares.get(after, Fraction(0)) + chance
            if set(shares) != {state}:
                found.append(Option(node, choice, tuple(shares.items())))
    return tuple(found)


def _end_components(problem: Problem, nodes: list[int]) -> list[list[int]]:
    """All ``nodes`` in groups: the largest end components, and every other node by itself.

    Components are split until every choice that is kept stays inside its own component.
    """
    found = list[list[int]]()
    waiting = [nodes]
    while waiting:
        part = waiting.pop()
        inside = set(part)
        stays = {node: _stays(problem, node, inside) for node in part}
        groups = strong_components(part, stays.__getitem__)
        if len(groups) == 1:
            found.append(sorted(part))
        else:
            waiting += groups
    return sorted(found)


def _stays(problem: Problem, node: int, inside: set[int]) -> tuple[int, ...]:
    """Where choices lead that never leave ``inside``."""
    found: dict[int, None] = {}
    for choice in problem.choices[node]:
        if all(target in inside for target, _ in choice.shares):
            found |= dict.fromkeys(target for target, _ in choice.shares)
    return tuple(found)
