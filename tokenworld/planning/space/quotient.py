"""A decision problem without what cannot matter: sure states, hopeless states, end components.

An end component is a set of states in which a player can stay for ever and go from any to any
other. All its states are worth the same, so each becomes one state that can only be left. What
remains has one solution of its equations, and every way of choosing ends somewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from tokenworld.planning.space.certain import Sure, sure_states
from tokenworld.planning.space.components import strong_components
from tokenworld.planning.space.decisions import GOAL, PIT, Choice, Problem, Share

__all__ = ["Option", "Quotient", "quotient_of"]


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
    """What is left to be solved.

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
