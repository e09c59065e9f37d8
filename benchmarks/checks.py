"""`python -m benchmarks --check`: compare different ways to one result, without measuring."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from benchmarks.editing import OF_ALL, OF_ONE_ITEM, editing
from benchmarks.measure import WrongResultError
from tokenworld.assets import domains_folder
from tokenworld.diagnostics import read_source
from tokenworld.engine import EngineSimulator
from tokenworld.ground import Command
from tokenworld.planning.referee import replay
from tokenworld.planning.search.compiled import available
from tokenworld.planning.search.compiled.search import CompiledBreadthFirst
from tokenworld.planning.search.compiled.tables import Tables
from tokenworld.planning.search.interpreted import Breadth, Exhausted, Found, Limits, Search
from tokenworld.planning.search.packed.lowered import packed
from tokenworld.planning.search.packed.searches import PackedBreadthFirst
from tokenworld.planning.search.packed.world import WON, Packed
from tokenworld.session import Session, check_text, open_world
from tokenworld.session.players import random_player
from tokenworld.session.replaying import replay_run
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run

__all__ = ["report"]

_TICKS, _SEED = 400, 7
_TIMES = 81
"""The number of repetitions of 45 lines with the edited items."""
_BLOCKS_STATES = 22
"""Three blocks: 13 arrangements with an empty hand, and 3 times 3 with a held block."""
_WORLDS = ("taxi/world.tw", "skirmish/more.tw:three", "frozen_lake/large.tw")
"""A world without laws, one with laws, one with chance."""
_CHUNK = 1 << 14


def report() -> Iterator[str]:
    """A line for each check that holds. Raises `WrongResultError` for the first that fails."""
    yield f"checked: {_sound()} worlds, each without an error"
    editing(_TIMES, 1, {**OF_ONE_ITEM, **OF_ALL})
    yield "checked again after edits: as a whole text is"
    _plays()
    yield f"{_TICKS} ticks of chance: the same as its intents again, recorded, and replayed"
    yield f"a plan of {_plans()} steps: found twice, and replayed"
    for target in _WORLDS:
        yield f"{target}: {_explored(target)}"
    if find_spec("crafter") is not None:
        yield f"OneLife's protocol: {_protocol()}"
    if available():
        yield f"kitchen: {_dead_ends():,} dead ends; the states are the same without edges"


def _agree(what: str, *results: object) -> None:
    """Raise `WrongResultError` unless all results are equal."""
    if len(set(results)) != 1:
        raise WrongResultError(f"{what}: {', '.join(map(str, results))}")


def _sound() -> int:
    paths = sorted(domains_folder().glob("*/world.tw"))
    for path in paths:
        if not check_text(read_source(path)).ok:
            raise WrongResultError(f"`{path}` is not sound")
    return len(paths)


# ---- playing ----------------------------------------------------------------------------------


def _plays() -> None:
    """Random play, a repetition of its intents, its record, and its replay from the log."""
    world = open_world("cottage")
    session, given = Session(world, _SEED), list[Command]()
    for intent in islice(random_player(session), _TICKS):
        session.intend(intent)
        given.append(intent)  # type: ignore[arg-type]
    final = session.engine.hash(session.state)
    again = Session(world, _SEED)
    for command in given:
        again.intend(command)
    _agree("random play, and its intents again", final, again.engine.hash(again.state))
    with tempfile.TemporaryDirectory() as folder:
        _agree("play, recorded play, replayed log", final, *_recorded(Path(folder), given))


def _recorded(folder: Path, given: list[Command]) -> tuple[str, str]:
    """The last state of a recorded run, and of its log."""
    with RunStore.open(folder / "runs.sqlite") as store:
        session = Session(open_world("cottage"), _SEED, store=store, player="random")
        for command in given:
            session.intend(command, source="random")
        session.finish("done")
        report = replay_run(store, find_run(store, None), verify=True)
    if not report.ok:
        raise WrongResultError("a recorded run does not replay")
    return session.engine.hash(session.state), report.final_hash


# ---- searching --------------------------------------------------------------------------------


def _plans() -> int:
    """Plan blocks twice and replay the plan; explore all states of blocks."""
    session = Session.open("blocks")
    simulator = EngineSimulator(session.engine, session.state)
    first, second = (Search(simulator, session.state, None).run(Limits()) for _ in range(2))
    if not isinstance(first, Found) or not isinstance(second, Found):
        raise WrongResultError("blocks has a plan, and the search finds none")
    _agree("blocks, searched twice", first.steps, second.steps)
    if not replay(simulator, session.state, first.steps, None).ok:
        raise WrongResultError("the plan of blocks does not survive the replay")

    class Endless(EngineSimulator):
        def won(self, state: object, goal: str | None) -> bool:
            return False

    endless = Endless(session.engine, session.state)
    states, _ = _told(Search(endless, session.state, None).run(Limits()))
    _agree("the states of three blocks", states, _BLOCKS_STATES)
    return len(first.steps)


def _explored(target: str) -> str:
    """All states by the interpreter, packed and, if numba is installed, compiled."""
    session, simulator, world = _packed(target)
    state = session.state
    expected = _told(Search(simulator, state, None, frontier=Breadth()).run(Limits()))
    found = _told(PackedBreadthFirst(simulator, world, state).run(Limits()))
    _agree(f"{target}, packed and interpreted", found, expected)
    tables = Tables.of(world, to_goal=True) if available() else None
    if tables is None:
        return f"{expected[0]:,} states, packed and interpreted"
    compiled = _told(CompiledBreadthFirst(simulator, world, state, tables).run(Limits()))
    _agree(f"{target}, compiled and interpreted", compiled[1], expected[1])
    return f"{expected[0]:,} states, packed, compiled and interpreted"


def _protocol() -> str:
    """The exact rules among mutants of two scenarios, in the three columns."""
    from benchmarks.onelife.documents import small_world
    from benchmarks.onelife.models import Exact
    from benchmarks.onelife.protocol import COLUMNS, measured, transitions
    from benchmarks.onelife.scenarios import SCENARIOS

    some = [one for one in SCENARIOS if one.name in ("collect_wood", "place_table (in vain)")]
    with tempfile.TemporaryDirectory() as folder:
        (found,) = measured([Exact(small_world(Path(folder)))], transitions(some, 1), 1, 1)
    ranks = tuple(found.mean(one, "first")[0] for one in COLUMNS)
    _agree("the ranks of the exact rules", ranks, (0.5, 1.0, 1.0))
    return f"the exact rules have Rank@1 {' / '.join(map(str, ranks))}"


def _dead_ends() -> int:
    """All states of the kitchen, explored without and with edges."""
    import numpy as np

    from tokenworld.planning.space.kernels import nearest, turned_around
    from tokenworld.planning.space.packed_graph import Connected

    session, simulator, world = _packed("kitchen/world.tw")
    tables = Tables.of(world, to_goal=True)
    if tables is None:
        raise WrongResultError("the kitchen cannot be compiled")
    found = Connected(world, tables, False)
    while found.expanded < found.size:
        found.expand(found.expanded + _CHUNK, None)
    turned = turned_around(found.ends[: found.expanded + 1], found.targets, found.size)
    won = (found.kinds[: found.size] == WON).astype(np.uint8)
    on = np.array([tables.arrays[-1][0], 0], np.uint64)  # past the first goal
    onward = replace(tables, arrays=(*tables.arrays[:-1], on))
    search = CompiledBreadthFirst(simulator, world, session.state, onward)
    while search.count[1] < search.count[0]:
        search.expand(int(search.count[1]) + _CHUNK)
    _agree("the kitchen, with edges and without", found.size, search.size)
    return int((nearest(*turned, won) < 0).sum())


def _packed(target: str) -> tuple[Session, EngineSimulator, Packed]:
    session = Session.open(f"{domains_folder()}/{target}")
    simulator = session.simulator()
    world = packed(simulator, session.state, None)
    if world is None:
        raise WrongResultError(f"{target} cannot be packed")
    return session, simulator, world


def _told(result: object) -> tuple[int, int | None]:
    """The number of explored states, and the length of the plan."""
    match result:
        case Found(steps=steps, states=states):
            return states, len(steps)
        case Exhausted(states=states):
            return states, None
    raise WrongResultError(f"a search came to {result}")
