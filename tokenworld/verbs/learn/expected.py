"""The exact mean return of a plan, if few enough states are reachable.

A plan is followed through all outcomes at once: states with their probabilities, equal ones merged,
turn by turn. The runs of `session.rollouts` estimate the same mean by sampling.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, assert_never

from tokenworld.diagnostics import Failure, Source
from tokenworld.engine import State
from tokenworld.ground import Command, NoMatch
from tokenworld.prose.intents import IntentLine, read_script
from tokenworld.session.intents import Resolver
from tokenworld.session.loading import OpenWorld
from tokenworld.session.players import random_choices
from tokenworld.session.rollouts import draws_in_setup

By = Literal["reward", "score", "won"]
MOST: Final = 600
"""Commands in states that are followed at most."""
_OUTCOMES: Final = 400
"""Outcomes of one command that are followed at most."""


@dataclass(slots=True)
class _Node:
    """A state that can come about, after so many records."""

    state: State
    records: int
    probability: Fraction


def expected(
    world: OpenWorld, plan: Source | None, by: By, ticks: int, seed: int
) -> Fraction | None:
    """Return the mean return of a script, or of the random player (``None``), over all outcomes.

    ``None`` if there are too many outcomes, for draws of real numbers or in the start state, for
    actors that take turns, and for a policy, which may decide by past observations.
    """
    scripted = plan is not None and not plan.text.lstrip().startswith("{")
    start = world.engine.start(seed)
    if draws_in_setup(world) or len(start.actors) > 1 or not (scripted or plan is None):
        return None
    lines = None if plan is None else read_script(plan)
    try:
        return _Plan(world, lines, by, ticks).mean(start)
    except (_TooMany, Failure):
        return None


class _TooMany(Exception):
    """More commands in states than are followed."""


class _Plan:
    """Follows one plan."""

    def __init__(
        self, world: OpenWorld, lines: tuple[IntentLine, ...] | None, by: By, ticks: int
    ) -> None:
        self._world, self._lines, self._by, self._ticks = world, lines, by, ticks
        self._resolver = Resolver(world)
        self._kinds = {one.name: one.ending for one in world.world.endings}
        self._followed, self._mean = 0, Fraction(0)

    def mean(self, start: State) -> Fraction:
        """Return the mean return."""
        layer, turn = [_Node(start, 0, Fraction(1))], 0
        while layer:
            reached: dict[tuple[str, int], _Node] = {}
            for node in layer:
                self._follow(node, turn, reached)
            layer, turn = list(reached.values()), turn + 1
        return self._mean

    def _follow(self, node: _Node, turn: int, reached: dict[tuple[str, int], _Node]) -> None:
        commands = list(self._commands(node, turn))
        if not commands:
            self._mean += node.probability * self._final(node.state)
        for command, share in commands:
            self._followed += 1
            if self._followed > MOST:
                raise _TooMany
            found = self._world.engine.distribution(node.state, command, _OUTCOMES)
            if found.left_out:
                raise _TooMany
            for one in found.successors:
                probability = node.probability * share * one.probability
                if self._by == "reward":
                    paid = sum((Fraction(x.reward) for x in one.outcomes), Fraction(0))
                    self._mean += probability * paid
                key = one.hash, node.records + len(one.outcomes)
                known = reached.setdefault(key, _Node(one.state, key[1], Fraction(0)))
                known.probability += probability

    def _commands(self, node: _Node, turn: int) -> Iterator[tuple[Command | NoMatch, Fraction]]:
        """Yield the commands that are given in a state, with their probabilities; none at the
        end."""
        if node.records >= self._ticks or self._world.engine.over(node.state):
            return
        if self._lines is not None:
            if turn < len(self._lines):
                line = self._lines[turn].intent
                yield self._resolver.resolve(node.state, line), Fraction(1)
            return
        actions = random_choices(self._world.engine, node.state)
        for every in actions:
            share = Fraction(1, len(actions) * len(every))
            yield from ((one, share) for one in every)

    def _final(self, state: State) -> Fraction:
        """Return the return at the end of a run, without the rewards before it."""
        match self._by:
            case "reward":
                return Fraction(0)
            case "score":
                return Fraction(self._world.engine.score(state))
            case "won":
                first = next(iter(self._world.engine.reached(state)), "")
                return Fraction(self._kinds.get(first) == "goal")
            case _:
                assert_never(self._by)
