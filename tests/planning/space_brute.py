"""Explore a world by brute force: dictionaries over the JSON of states.

It shares nothing with the explicit graph: states are identified by the printed JSON, commands are
those of the engine, and draws are tried in every combination.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.ground import PASS, Command

__all__ = ["brute"]


class Choosing:
    """Draws that take listed choices, then the first possible ones, and record the alternatives."""

    def __init__(self, choices: tuple[int, ...]) -> None:
        self.choices, self.seen = choices, list[list[int]]()

    def choose(
        self, key: object, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        possible = [index for index, weight in enumerate(weights) if weight]
        self.seen.append(possible)
        place = len(self.seen) - 1
        return possible[self.choices[place]] if place < len(self.choices) else possible[0]

    def uniform(self, key: object, seed: int, tick: int) -> float:
        raise NotImplementedError


def after(engine: Engine, state: State, command: Command) -> list[State]:
    """All outcomes of an intent."""
    found, waiting = list[State](), list[tuple[int, ...]]([()])
    while waiting:
        choices = waiting.pop()
        luck = Choosing(choices)
        result, records = engine.play(state, command, luck)
        if records[-1].status in ("executed", "waiting", "interrupted"):
            found.append(result)
        for place in range(len(choices), len(luck.seen)):
            more = range(1, len(luck.seen[place]))
            waiting += [(*choices, *[0] * (place - len(choices)), one) for one in more]
    return found


def plain(engine: Engine, state: State, ring: int) -> str:
    """The identity of a state: its JSON without clock, draws and score."""
    found = dict(engine.json(state))
    for name in ("tick", "seed", "score", "awarded", "fired"):
        found.pop(name, None)
    return json.dumps([found, state.tick % ring], sort_keys=True)


def brute(engine: Engine, start: State, ring: int = 1) -> list[int]:
    """The numbers of won, winnable and dead states; ``ring``: rules read `tick() mod ring`."""
    edges, won, waiting = dict[str, set[str]](), set[str](), [start]
    simulator = EngineSimulator(engine, start)
    while waiting:
        state = waiting.pop()
        name = plain(engine, state, ring)
        if name in edges:
            continue
        edges[name] = set()
        if simulator.won(state, None):
            won.add(name)
        if engine.reached(state):
            continue
        for command in (*(one for one in simulator.commands(state) if not one.is_pass), PASS):
            for one in after(engine, state, command):
                edges[name].add(plain(engine, one, ring))
                waiting.append(one)
    good = set(won)
    while more := {name for name, ends in edges.items() if ends & good} - good:
        good |= more
    return [len(won), len(good - won), len(edges) - len(good)]
