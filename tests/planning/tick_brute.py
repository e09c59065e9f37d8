"""What a player can reach by brute force, with the luck of a tick as play has it.

Every command is tried in every state, legal or not, and `pass`. A draw is known by its key: one
that a fruitless command made falls the same way again until the tick has passed or the draw is
taken. Nothing is shared with the searches but `Engine.play`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.ground import PASS, Command, Json, parameter_domains

__all__ = ["Brute"]

Key = tuple[str, tuple[Json, ...], int]
Memo = dict[Key, int]
Node = str
_FRUITLESS = ("refused", "no_match", "yielded", "rolled_back", "error")


class _Drawing:
    """Draws that remember earlier results, and take listed choices for new ones."""

    def __init__(self, memo: Memo, choices: Sequence[int]) -> None:
        self.memo, self._choices = dict(memo), tuple(choices)
        self.seen, self.chance = list[list[int]](), Fraction(1)

    def choose(self, key: Key, seed: int, tick: int, weights: Sequence[int], site: str = "") -> int:
        possible = [index for index, weight in enumerate(weights) if weight]
        if key not in self.memo and len(possible) > 1:
            place = len(self.seen)
            self.seen.append(possible)
            taken = possible[self._choices[place]] if place < len(self._choices) else possible[0]
            self.memo[key] = taken
            self.chance *= Fraction(weights[taken], sum(weights))
        return self.memo.get(key, possible[0])

    def uniform(self, key: Key, seed: int, tick: int) -> float:
        raise NotImplementedError


@dataclass
class Brute:
    """All nodes with the successors of every command; a node is a state and the known draws of its
    tick."""

    engine: Engine
    goal: str | None = None
    most: int = 3_000
    moves: dict[Node, list[list[tuple[Node, Fraction]]]] = field(default_factory=dict)
    won: set[Node] = field(default_factory=set)
    states: dict[str, State] = field(default_factory=dict)
    start: Node = ""

    def __post_init__(self) -> None:
        first = self.engine.start()
        self.start = self._name(first, {})
        waiting = [(first, Memo())]
        while waiting:
            state, memo = waiting.pop()
            name = self._name(state, memo)
            if name in self.moves:
                continue
            assert len(self.moves) < self.most, "the world is too large"
            here = self.moves[name] = []
            self.states[_plain(self.engine, state)] = state
            if EngineSimulator(self.engine, state).won(state, self.goal):
                self.won.add(name)
            if self.engine.reached(state):
                continue
            for command in self._commands(state):
                move = list[tuple[Node, Fraction]]()
                for after, known, chance in self._after(state, memo, command):
                    move.append((self._name(after, known), chance))
                    waiting.append((after, known))
                assert sum(chance for _, chance in move) == 1
                here.append(move)

    def _commands(self, state: State) -> Iterator[Command]:
        instance = self.engine.instance
        for name, action in instance.program.actions.items():
            for args in product(*parameter_domains(instance, action.params)):
                yield Command(name, args)
        yield PASS

    def _after(
        self, state: State, memo: Memo, command: Command
    ) -> Iterator[tuple[State, Memo, Fraction]]:
        waiting = [()]
        while waiting:
            choices = waiting.pop()
            luck = _Drawing(memo, choices)
            after, records = self.engine.play(state, command, luck)
            always = self.engine.instance.world.time_always
            kept = ("rolled_back", "error") if always else _FRUITLESS
            if records[-1].status in kept:
                assert self.engine.hash(after) == self.engine.hash(state)
            yield after, (luck.memo if after.tick == state.tick else {}), luck.chance
            for place in range(len(choices), len(luck.seen)):
                more = range(1, len(luck.seen[place]))
                waiting += [(*choices, *[0] * (place - len(choices)), one) for one in more]

    def _name(self, state: State, memo: Memo) -> Node:
        """The identity of a node: later draws are numbered from the next one."""
        coming = {
            (rule, args, number - state.drawn.get((rule, args), 0)): choice
            for (rule, args, number), choice in memo.items()
        }
        known = sorted(f"{key} {choice}" for key, choice in coming.items() if key[2] >= 0)
        return f"{_plain(self.engine, state)} {known}"

    # ---- answers ------------------------------------------------------------------------------

    @property
    def winnable(self) -> bool:
        """Whether a goal is reachable with some draws."""
        return bool(self.won)

    def probability(self) -> float:
        """The probability of winning with best play."""
        value = {name: float(name in self.won) for name in self.moves}
        shares = {
            name: [[(to, float(p)) for to, p in move] for move in moves]
            for name, moves in self.moves.items()
            if name not in self.won
        }
        change = 1.0
        while change > 1e-12:
            change = 0.0
            for name, moves in shares.items():
                worth = (sum(value[to] * p for to, p in move) for move in moves)
                best = max(worth, default=0.0)
                change, value[name] = max(change, best - value[name]), best
        return value[self.start]

    def certain(self) -> bool:
        """Whether the goal can be kept reachable for all draws."""
        kept = set(self.moves)
        while True:
            good = set(self.won) & kept
            while more := {
                name
                for name in kept - good
                if any(
                    all(to in kept for to, _ in move) and any(to in good for to, _ in move)
                    for move in self.moves[name]
                )
            }:
                good |= more
            if good == kept:
                return self.start in kept
            kept = good


def _plain(engine: Engine, state: State) -> str:
    found = dict(engine.json(state))
    for name in ("tick", "seed", "score", "awarded", "fired", "drawn", "draws"):
        found.pop(name, None)
    return json.dumps([found, state.turn], sort_keys=True)
