"""PDDL pairs as planning tasks: SAS+, and the compiled explorer (extra `fast`).

`tw plan` encodes and explores with these calls, and `tw audit` finds dead ends with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from shared import Json, once, serve, told

from tokenworld.engine import EngineSimulator
from tokenworld.ground import Command
from tokenworld.planning.lower.encode import Encoding, encode, encode_plain
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.search.compiled.search import CompiledBreadthFirst
from tokenworld.planning.search.compiled.tables import Tables
from tokenworld.planning.search.packed.lowered import packed
from tokenworld.planning.search.packed.world import Packed
from tokenworld.planning.space.kernels import nearest, turned_around
from tokenworld.planning.space.packed_graph import Connected
from tokenworld.session.pddl import open_pddl

_CHUNK = 1 << 14


class Tasks:
    def translate(self, domain: str, problem: str) -> Json:
        """Build a SAS+ task from the texts, in memory; the digest is of the remaining ground
        actions."""
        seconds, (names, commands) = once(lambda: _translated(domain, problem))
        return {"seconds": seconds, **told(_words(names, commands))}

    def layers(self, domain: str, problem: str, depth: int) -> Json:
        """Explore all states up to a depth, with parents; the digest is of the number of states up
        to each depth, the time is per state."""
        opened = _opened(domain, problem)
        tables = _tables(opened[1], to_goal=False)
        _through(CompiledBreadthFirst(*opened, tables), 1)  # compiles once
        search = CompiledBreadthFirst(*opened, tables)
        seconds, rows = once(lambda: _through(search, depth))
        return {"seconds": seconds / rows[-1], "digest": " ".join(map(str, rows))}

    def forward(self, domain: str, problem: str, states: int) -> Json:
        """Explore all states up to a number, without edges."""
        opened = _opened(domain, problem)
        tables = _tables(opened[1], to_goal=False)

        def run(most: int) -> CompiledBreadthFirst[Any]:
            search = CompiledBreadthFirst(*opened, tables)
            while search.count[1] < search.count[0] and search.count[0] < most:
                search.expand(int(search.count[1]) + _CHUNK)
            return search

        run(2)  # compiles once
        seconds, search = once(lambda: run(states))
        return {"seconds": seconds, "digest": _seen(search, states)}

    def analyse(self, domain: str, problem: str, states: int) -> Json:
        """Explore the same states with edges, and find the dead ones."""
        _, world, _ = _opened(domain, problem)
        tables = _tables(world, to_goal=True)

        def run(most: int) -> tuple[Connected, int]:
            found = Connected(world, tables, True)
            while found.expanded < found.size and found.size < most:
                found.expand(found.expanded + _CHUNK, None)
            turned = turned_around(found.ends[: found.expanded + 1], found.targets, found.size)
            won = (found.kinds[: found.size] == 1).astype(np.uint8)
            return found, int((nearest(*turned, won) < 0).sum())

        run(2)  # compiles once
        seconds, (found, dead) = once(lambda: run(states))
        return {"seconds": seconds, "digest": _seen(found, states), "count": dead}


def _translated(domain: str, problem: str) -> tuple[list[str], tuple[Command, ...]]:
    """The names of objects, and the commands that remain in the task."""
    engine = open_pddl(Path(domain), Path(problem)).engine
    first = engine.start()
    simulator = EngineSimulator(engine, first)
    facts = Facts(
        engine.instance,
        lambda fluent, args: simulator.read(first, fluent, args),
        stored=lambda fluent: simulator.stored(first, fluent),
    )
    names = list(engine.instance.names)
    found = encode_plain(facts, None) or encode(engine.instance, simulator, first, None)
    if not isinstance(found, Encoding):
        raise ValueError("; ".join(map(str, found.obstacles)))
    return names, tuple(one.command for one in found.task.operators if one.command)


def _words(names: list[str], commands: Iterable[Command]) -> Iterable[str]:
    return (" ".join((one.action, *(names[arg] for arg in one.args))) for one in commands)  # type: ignore[index]


def _opened(domain: str, problem: str) -> tuple[EngineSimulator, Packed, Any]:
    engine = open_pddl(Path(domain), Path(problem)).engine
    first = engine.start()
    simulator = EngineSimulator(engine, first)
    world = packed(simulator, first, None)
    assert world is not None
    return simulator, world, first


def _through(search: CompiledBreadthFirst[Any], depth: int) -> list[int]:
    """The number of states up to each depth."""
    rows = [1]
    for _ in range(depth):
        while int(search.count[1]) < rows[-1]:
            search.expand(min(rows[-1], int(search.count[1]) + _CHUNK))
        rows.append(int(search.count[0]))
    return rows


def _seen(found: Any, states: int) -> str:
    """The number of explored states, if these are all states."""
    return str(found.size) if found.size < states else f"{states} and more"


def _tables(world: Packed, *, to_goal: bool) -> Tables:
    tables = Tables.of(world, to_goal=to_goal)
    assert tables is not None
    return tables


if __name__ == "__main__":
    serve(Tasks())
