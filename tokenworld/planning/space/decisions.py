"""The graph as a decision problem (an MDP): the choices of a player, their random outcomes, and the
best probability of the goal.

Strong-cyclic plans keep the goal in reach with all luck. A quotient is the problem without its
irrelevant parts: sure states, hopeless states, end components. Exact values are fractions, found by
policy iteration, group by group; their linear systems are solved by p-adic lifting and checked
exactly. Bounds are used if fractions would take too long.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from math import isqrt, lcm

from tokenworld.ground import StateT
from tokenworld.planning.space.graph import Graph, Move, Node, strong_components

# ---- Choices and shares -------------------------------------------------------------------------
# Where the graph does not show all (open nodes, outcomes that are left out), a problem is built
# twice: ``cautious`` counts all that as lost, the other one as won. What holds in the first holds;
# what fails in the second fails.

GOAL, PIT = -1, -2
"""The states after a win, and those from which no play wins."""

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
    """The choices at each node (none at ends), each marked as cautious or bold.

    ``ends[n]`` is the end that node n counts as: itself, `GOAL` or `PIT`. ``exact``: the graph is
    complete, so cautious and bold results are equal.
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
# A state is *sure* if a player who chooses well can always keep the goal reachable; by
# playing on he then reaches it with probability 1. The set is the greatest fixpoint: states from
# which the goal cannot be reached by choices that stay within the set are taken out, until none
# is. The first round takes out those from which it cannot be reached at all.


@dataclass(frozen=True, slots=True)
class Sure:
    """The sure states with their commands: ``policy[n]`` is a choice of node n.

    ``rank`` is the round in which every other state was removed: luck can drive play from there to
    states of lower rank, and at last to states that cannot reach the goal.
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
    """A path on which luck drives a player who goes for the goal to a state that cannot reach it.

    Steps of node, choice and the node that luck takes, from the start, which is not sure; the last
    one leads to `PIT` or to a state of rank 0. The player takes a shortest way to the goal as long
    as luck is with him.
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

    With ``kept`` only choices count that never leave these states, else all possible outcomes.
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
# other. All its states have the same value, so each becomes one state that can only be left. What
# remains has one solution of its equations, and every way of choosing ends somewhere.


@dataclass(frozen=True, slots=True)
class Option:
    """A way to leave a state of the quotient: its node and choice, and its shares.

    Shares lead to states of the quotient, `GOAL` or `PIT`.
    """

    node: int
    choice: Choice
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    """The part of a problem that is left to be solved.

    ``options[s]``: the ways to leave state s. ``members[s]``: its nodes. ``state_of`` maps every
    node to its state, `GOAL` (sure to win) or `PIT` (sure not to). ``order``: the states in groups
    that depend on each other, each after all that it depends on.
    """

    options: tuple[tuple[Option, ...], ...]
    members: tuple[tuple[int, ...], ...]
    state_of: Mapping[int, int]
    order: tuple[tuple[int, ...], ...]
    sure: Sure


def quotient_of(problem: Problem) -> Quotient:
    """Remove the states with a known value, and merge those of equal value."""
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
    """The targets of choices that never leave ``inside``."""
    found: dict[int, None] = {}
    for choice in problem.choices[node]:
        if all(target in inside for target, _ in choice.shares):
            found |= dict.fromkeys(target for target, _ in choice.shares)
    return tuple(found)


# ---- Linear systems over fractions --------------------------------------------------------------
# Elimination over fractions drowns in digits. Here the matrix is factorised once modulo a prime;
# the solution is lifted digit by digit, read back as fractions, and put into every equation. Only
# what fulfils them all is an answer, so that nothing needs to be believed of the way there.

Row = Mapping[int, Fraction]
"""Factors of unknowns (0 and above); the constant is kept under `CONSTANT`."""

CONSTANT = -2
_PRIMES = ((1 << 31) - 1, (1 << 61) - 1, (1 << 89) - 1)
_FIRST_DIGITS = 4

_Sparse = list[list[tuple[int, int]]]


class TooLong(Exception):
    """The time for an exact answer is up."""


def solved(rows: Mapping[int, Row], deadline: float) -> dict[int, Fraction]:
    """The solution of ``x = sum(factor * unknown) + constant`` for every x.

    The system has one solution. ``deadline`` is a time of `time.monotonic`; `TooLong` where it
    passes.
    """
    places = {state: place for place, state in enumerate(rows)}
    matrix, right = _whole(rows, places)
    for prime in _PRIMES:
        factors = _Factors.of(matrix, prime, deadline)
        if factors is not None:
            found = _lifted(matrix, right, factors, deadline)
            return {state: found[place] for state, place in places.items()}
    raise TooLong  # singular modulo three primes: it has more than one solution


def _whole(rows: Mapping[int, Row], places: Mapping[int, int]) -> tuple[_Sparse, list[int]]:
    """The equations as ``matrix * x = right`` in whole numbers."""
    matrix: _Sparse = []
    right: list[int] = []
    for state, row in rows.items():
        line = {places[state]: Fraction(1)}
        for other, factor in row.items():
            if other != CONSTANT:
                line[places[other]] = line.get(places[other], Fraction(0)) - factor
        constant = row.get(CONSTANT, Fraction(0))
        scale = lcm(constant.denominator, *(one.denominator for one in line.values()))
        matrix.append([(place, int(one * scale)) for place, one in line.items() if one])
        right.append(int(constant * scale))
    return matrix, right


class _Factors:
    """A matrix modulo a prime as lower and upper triangle, its rows reordered."""

    def __init__(self, rows: list[list[int]], order: list[int], prime: int) -> None:
        self._rows, self._order, self.prime = rows, order, prime
        self._inverse = [pow(row[place], -1, prime) for place, row in enumerate(rows)]

    @classmethod
    def of(cls, matrix: _Sparse, prime: int, deadline: float) -> _Factors | None:
        """The triangles in one square, ``None`` where the matrix is singular modulo the prime."""
        size = len(matrix)
        rows = [[0] * size for _ in matrix]
        for row, line in zip(rows, matrix, strict=True):
            for place, value in line:
                row[place] = value % prime
        order = list(range(size))
        for step in range(size):
            if time.monotonic() > deadline:
                raise TooLong
            pivot = next((place for place in range(step, size) if rows[place][step]), None)
            if pivot is None:
                return None
            rows[step], rows[pivot] = rows[pivot], rows[step]
            order[step], order[pivot] = order[pivot], order[step]
            _cleared(rows, step, prime)
        return cls(rows, order, prime)

    def solve(self, right: list[int]) -> list[int]:
        """The solution modulo the prime."""
        prime, rows = self.prime, self._rows
        found: list[int] = []
        for place, at in enumerate(self._order):
            row = rows[place]
            known = sum(row[column] * found[column] for column in range(place) if row[column])
            found.append((right[at] - known) % prime)
        for place in range(len(rows) - 1, -1, -1):
            row = rows[place]
            known = sum(
                row[column] * found[column] for column in range(place + 1, len(row)) if row[column]
            )
            found[place] = (found[place] - known) * self._inverse[place] % prime
        return found


def _cleared(rows: list[list[int]], step: int, prime: int) -> None:
    """Take an unknown out of all rows below; its factor stays in its place."""
    above = rows[step]
    tail, inverse = above[step + 1 :], pow(above[step], -1, prime)
    for row in rows[step + 1 :]:
        if row[step]:
            factor = row[step] = row[step] * inverse % prime
            row[step + 1 :] = [
                (one - factor * other) % prime if other else one
                for one, other in zip(row[step + 1 :], tail, strict=True)
            ]


def _lifted(
    matrix: _Sparse, right: list[int], factors: _Factors, deadline: float
) -> list[Fraction]:
    """Digit after digit of the solution, until fractions can be read that fulfil the equations."""
    rest, digits, power = list(right), [0] * len(right), 1
    wanted, count = _FIRST_DIGITS, 0
    while True:
        if time.monotonic() > deadline:
            raise TooLong
        digit = factors.solve(rest)
        digits = [one + power * more for one, more in zip(digits, digit, strict=True)]
        power *= factors.prime
        rest = [
            (one - sum(value * digit[place] for place, value in line)) // factors.prime
            for one, line in zip(rest, matrix, strict=True)
        ]
        count += 1
        if count == wanted:
            found = _fractions(digits, power)
            if found is not None and _fulfils(matrix, right, found):
                return found
            wanted *= 2


def _fractions(digits: list[int], modulus: int) -> list[Fraction] | None:
    """The fractions with small numerators and denominators that the residues represent."""
    most = isqrt(modulus // 2)
    found = []
    for residue in digits:
        before, now, last, factor = modulus, residue % modulus, 0, 1
        while now > most:
            quotient = before // now
            before, now = now, before - quotient * now
            last, factor = factor, last - quotient * factor
        if factor == 0 or abs(factor) > most:
            return None
        found.append(Fraction(now, factor))
    return found


def _fulfils(matrix: _Sparse, right: list[int], found: list[Fraction]) -> bool:
    return all(
        sum((value * found[place] for place, value in line), Fraction(0)) == constant
        for line, constant in zip(matrix, right, strict=True)
    )


# ---- Exact values -------------------------------------------------------------------------------
# A group is solved when all that it leads to is. It begins with the options that look best to an
# iteration in doubles; their linear equations are solved over fractions, and wherever another
# option is strictly better, it is taken, until none is. Every policy of a quotient ends somewhere,
# so each system has one solution.

_ZERO, _ONE = Fraction(0), Fraction(1)


def exact_values(
    quotient: Quotient, guess: Mapping[int, Option], deadline: float
) -> tuple[dict[int, Fraction], dict[int, Option]]:
    """The value of every state, and an option that has it.

    ``guess`` are options to begin with; where there is none the first one is taken. ``deadline`` is
    a time of `time.monotonic`. Raises `TooLong` where it passes.
    """
    values = {GOAL: _ONE, PIT: _ZERO}
    policy: dict[int, Option] = {}
    for group in quotient.order:
        for state in group:
            if quotient.options[state]:
                policy[state] = guess.get(state, quotient.options[state][0])
        _solve(quotient, group, values, policy, deadline)
    return values, policy


def _solve(
    quotient: Quotient,
    group: tuple[int, ...],
    values: dict[int, Fraction],
    policy: dict[int, Option],
    deadline: float,
) -> None:
    inside = frozenset(group)
    while True:
        rows = {s: _row(policy[s], inside, values) if s in policy else {} for s in group}
        values |= solved(rows, deadline)
        if not _improve(quotient, group, values, policy):
            return


def _row(option: Option, inside: frozenset[int], values: Mapping[int, Fraction]) -> Row:
    """The equation of a state: unknowns of its own group, and the rest as a constant."""
    row = {CONSTANT: _ZERO}
    for target, chance in option.shares:
        if target in inside:
            row[target] = row.get(target, _ZERO) + chance
        else:
            row[CONSTANT] += chance * values[target]
    return row


def _improve(
    quotient: Quotient,
    group: tuple[int, ...],
    values: Mapping[int, Fraction],
    policy: dict[int, Option],
) -> bool:
    """Take strictly better options; whether there was one."""
    better = False
    for state in group:
        best = values[state]
        for option in quotient.options[state]:
            if (worth := _worth(option, values)) > best:
                policy[state], best, better = option, worth, True
    return better


def _worth(option: Option, values: Mapping[int, Fraction]) -> Fraction:
    return sum((chance * values[target] for target, chance in option.shares), _ZERO)


# ---- Bounds -------------------------------------------------------------------------------------
# Values are raised from 0 and lowered from 1 until they meet. Every sum is rounded outwards, so
# that the bounds hold whenever the iteration stops.

_NEAR = 1e-9
"""The iteration of a group stops when its bounds are this near to each other."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """For every state of a quotient lower and upper bounds, and an option with the lower one."""

    low: Mapping[int, float]
    high: Mapping[int, float]
    policy: Mapping[int, Option]


def bounded_values(quotient: Quotient, deadline: float) -> Bounds:
    """Bounds for all states; they are as near as the time until ``deadline`` allows.

    ``deadline`` is a time of `time.monotonic`.
    """
    low, high = {GOAL: 1.0, PIT: 0.0}, {GOAL: 1.0, PIT: 0.0}
    policy: dict[int, Option] = {}
    for group in quotient.order:
        low |= dict.fromkeys(group, 0.0)
        high |= {state: 1.0 if quotient.options[state] else 0.0 for state in group}
        shares = {state: _rounded(quotient.options[state]) for state in group}
        while _round(group, shares, low, high, policy) and time.monotonic() < deadline:
            pass
    return Bounds(low, high, policy)


_Shares = list[tuple[Option, list[tuple[int, float, float]]]]


def _rounded(options: tuple[Option, ...]) -> _Shares:
    """Options with every probability as a lower and an upper double."""
    return [(one, [(t, *_around(chance)) for t, chance in one.shares]) for one in options]


def _around(chance: Fraction) -> tuple[float, float]:
    near = float(chance)
    if Fraction(near) == chance:
        return near, near
    return _down(near), _up(near)


def _round(
    group: tuple[int, ...],
    shares: Mapping[int, _Shares],
    low: dict[int, float],
    high: dict[int, float],
    policy: dict[int, Option],
) -> bool:
    """Do one round over a group; return whether another one is useful."""
    widest, moved = 0.0, False
    for state in group:
        raised, lowered = low[state], 0.0
        for option, targets in shares[state]:
            sum_low = sum_high = 0.0
            for target, least, most in targets:
                sum_low = _down(sum_low + _down(least * low[target]))
                sum_high = _up(sum_high + _up(most * high[target]))
            if sum_low > raised:
                raised, policy[state] = sum_low, option
            lowered = max(lowered, sum_high)
        lowered = min(lowered, high[state])
        moved = moved or raised > low[state] or lowered < high[state]
        low[state], high[state] = raised, lowered
        widest = max(widest, lowered - raised)
    return moved and widest > _NEAR


def _down(value: float) -> float:
    return max(math.nextafter(value, -math.inf), 0.0) if value else 0.0


def _up(value: float) -> float:
    return math.nextafter(value, math.inf) if value else 0.0


# ---- The value of a graph -----------------------------------------------------------------------

Number = Fraction | float
_FOR_BOUNDS = 0.5
"""The share of the time that bounds may take; an exact answer is sought in the rest."""


@dataclass(frozen=True, slots=True)
class Value:
    """The greatest probability of reaching the goal from the start: between ``low`` and ``high``.

    Both are fractions where they are exact; equal fractions are the exact value. ``moves`` is a
    policy with a value of at least ``low``: the number of the move by node.
    """

    low: Number
    high: Number
    moves: Mapping[int, int]

    @property
    def exact(self) -> Fraction | None:
        """The exact value where it is known."""
        known = isinstance(self.low, Fraction) and self.low == self.high
        return self.low if known and isinstance(self.low, Fraction) else None


def value_of(graph: Graph[StateT], deadline: float) -> Value:
    """Solve a graph; ``deadline`` is a time of `time.monotonic`."""
    cautious = problem_of(graph, cautious=True)
    quotient = quotient_of(cautious)
    solved = _solved(quotient, cautious.start, deadline)
    moves = _moves(cautious, quotient, solved.policy)
    if cautious.exact or solved.low == 1:
        return Value(solved.low, solved.high, moves)
    bold = problem_of(graph, cautious=False)
    upper = _solved(quotient_of(bold), bold.start, deadline)
    return Value(solved.low, upper.high, moves)


@dataclass(frozen=True, slots=True)
class _Solved:
    low: Number
    high: Number
    policy: Mapping[int, Option]


def _solved(quotient: Quotient, start: int, deadline: float) -> _Solved:
    state = quotient.state_of[start]
    now = time.monotonic()
    bounds = bounded_values(quotient, now + (deadline - now) * _FOR_BOUNDS)
    try:
        values, policy = exact_values(quotient, bounds.policy, deadline)
        return _Solved(values[state], values[state], policy)
    except TooLong:
        if state in (GOAL, PIT):
            sure = Fraction(1 if state == GOAL else 0)
            return _Solved(sure, sure, bounds.policy)
        return _Solved(bounds.low[state], bounds.high[state], bounds.policy)


def _moves(problem: Problem, quotient: Quotient, policy: Mapping[int, Option]) -> dict[int, int]:
    """The move of each node: the choice of its state, or a step within it towards that choice."""
    found = {node: choice.move for node, choice in quotient.sure.policy.items()}
    for state, option in policy.items():
        members = quotient.members[state]
        found |= {n: c.move for n, c in _ways(problem, members, option).items()}
    return found


def _ways(problem: Problem, members: tuple[int, ...], option: Option) -> dict[int, Choice]:
    """Steps of the members of an end component to the node of an option, and then that."""
    inside, found = set(members), {option.node: option.choice}
    layer = [option.node]
    while layer:
        reached = list[int]()
        for node in members:
            for choice in problem.choices[node]:
                targets = {target for target, _ in choice.shares}
                if node not in found and targets <= inside and targets & set(layer):
                    found[node] = choice
                    reached.append(node)
        layer = reached
    return found
