"""Strong-cyclic plans: the goal stays in reach whatever luck does.

A state is *sure* if a player who chooses well can keep the goal reachable whatever happens; by
playing on he then reaches it with probability 1. The set is the greatest fixpoint: states from
which the goal cannot be reached by choices that stay within the set are taken out, until none is.
The first round takes out those from which it cannot be reached at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from tokenworld.planning.space.compiled_luck import compiled_sure, worth_while
from tokenworld.planning.space.decisions import GOAL, PIT, Choice, Problem

__all__ = ["Sure", "plain_sure_states", "risky_path", "sure_states"]


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
    if worth_while(problem.choices):
        policy, taken = compiled_sure(problem)
        return Sure(policy, taken, problem.start not in taken)
    return plain_sure_states(problem)


def plain_sure_states(problem: Problem) -> Sure:
    """The same in plain Python."""
    rank: dict[int, int] = {}
    kept = {GOAL, PIT, *range(len(problem.choices))}
    for round_ in count():
        policy = _reaching(problem.choices, kept)
        gone = [node for node in kept if node != GOAL and node not in policy]
        if not gone:
            break
        rank |= dict.fromkeys(gone, round_)
        kept.difference_update(gone)
    return Sure(policy, rank, problem.start in kept)


def _reaching(choices: Sequence[Sequence[Choice]], kept: set[int]) -> dict[int, Choice]:
    """What to do to come nearer to the goal, by choices that never leave ``kept``.

    States from which that does not lead to the goal are left out.
    """
    sources: dict[int, list[tuple[int, Choice]]] = {}
    for node in sorted(kept - {GOAL, PIT}):
        for choice in choices[node]:
            if all(target in kept for target, _ in choice.shares):
                for target, _ in choice.shares:
                    sources.setdefault(target, []).append((node, choice))
    policy: dict[int, Choice] = {}
    layer = [GOAL]
    while layer:
        reached = list[int]()
        for target in layer:
            for node, choice in sources.get(target, ()):
                if node not in policy:
                    policy[node] = choice
                    reached.append(node)
        layer = reached
    return policy


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


def _towards(choices: Sequence[Sequence[Choice]]) -> dict[int, tuple[Choice, int]]:
    """For each state from which luck may lead to the goal: a step of a shortest way there."""
    sources: dict[int, list[tuple[int, Choice]]] = {}
    for node, here in enumerate(choices):
        for choice in here:
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
