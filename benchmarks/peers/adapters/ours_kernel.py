"""What the compiled explorer (extra `fast`) is asked: searches, layers, dead ends, bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from shared import Json, once

from tokenworld.engine import EngineSimulator
from tokenworld.planning import Found, Limits
from tokenworld.planning.explore.compiled import CompiledSearch, Tables
from tokenworld.planning.explore.packed import Packed

_CHUNK = 1 << 14


def solved(simulator: EngineSimulator, world: Packed, start: Any) -> Json:
    """A shortest plan; seconds for each state that was generated."""
    tables = _tables(world, to_goal=True)
    CompiledSearch(simulator, world, start, tables).run(Limits(states=2))  # compiles once
    search = CompiledSearch(simulator, world, start, tables)
    seconds, result = once(lambda: search.run(Limits()))
    assert isinstance(result, Found)
    return {
        "seconds": seconds / search.generated,
        "digest": str(len(result.steps)),
        "count": search.generated,
    }


def layers(simulator: EngineSimulator, world: Packed, start: Any, depth: int) -> Json:
    """All states up to a depth, with parents, told by how many there are up to each depth."""
    tables = _tables(world, to_goal=False)
    _through(CompiledSearch(simulator, world, start, tables), 1)  # compiles once
    search = CompiledSearch(simulator, world, start, tables)
    seconds, rows = once(lambda: _through(search, depth))
    return {
        "seconds": seconds / rows[-1],
        "digest": " ".join(map(str, rows)),
        "count": search.generated,
    }


def _through(search: CompiledSearch[Any], depth: int) -> list[int]:
    """How many states there are up to each depth."""
    rows = [1]
    for _ in range(depth):
        while int(search.count[1]) < rows[-1]:
            search.expand(min(rows[-1], int(search.count[1]) + _CHUNK))
        rows.append(int(search.count[0]))
    return rows


def weighed(simulator: EngineSimulator, world: Packed, start: Any, depth: int) -> Json:
    """The bytes of a state with its parent: how much a process grows while it searches.

    A child process is asked, so that what this one has held before does not count.
    """
    tables = _tables(world, to_goal=False)
    _through(CompiledSearch(simulator, world, start, tables), 1)  # compiles once
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        before = _held("VmRSS")
        search = CompiledSearch(simulator, world, start, tables)
        rows = _through(search, depth)
        told = f"{1024 * (_held('VmHWM') - before) / rows[-1]} {' '.join(map(str, rows))}"
        os.write(theirs, told.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as answer:
        weight, _, digest = answer.read().partition(" ")
    os.waitpid(child, 0)
    return {"seconds": float(weight), "digest": digest}


def _held(name: str) -> int:
    """Kilobytes of this process, as the system counts them."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def forward(simulator: EngineSimulator, world: Packed, start: Any, states: int) -> Json:
    """All states, as far as so many; no edges are kept."""
    tables = _tables(world, to_goal=False)

    def run(most: int) -> CompiledSearch[Any]:
        search = CompiledSearch(simulator, world, start, tables)
        while search.count[1] < search.count[0] and search.count[0] < most:
            search.expand(int(search.count[1]) + _CHUNK)
        return search

    run(2)  # compiles once
    seconds, search = once(lambda: run(states))
    return {"seconds": seconds, "digest": _seen(search, states)}


def analysed(simulator: EngineSimulator, world: Packed, start: Any, states: int) -> Json:
    """The same states with their edges, and from which of them the goal is out of reach."""
    import numpy as np

    from tokenworld.planning.space.compiled_graph import Connected
    from tokenworld.planning.space.kernel_back import nearest, turned_around

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


def _seen(found: Any, states: int) -> str:
    """How many states were seen, if it was all of them."""
    return str(found.size) if found.size < states else f"{states} and more"


def _tables(world: Packed, *, to_goal: bool) -> Tables:
    tables = Tables.of(world, to_goal=to_goal)
    assert tables is not None
    return tables
