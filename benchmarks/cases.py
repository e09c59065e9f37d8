"""What is measured, each with the check that its result is right."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchmarks.measure import Row, WrongResultError, least
from tokenworld.assets import domains_folder
from tokenworld.diagnostics import read_source
from tokenworld.engine import EngineSimulator
from tokenworld.ground import Command
from tokenworld.planning import Capped, Found, Limits, Search
from tokenworld.planning.replay import replay
from tokenworld.session import Session, check_text, open_world
from tokenworld.session.players import random_player
from tokenworld.session.replaying import replay_run
from tokenworld.store import RunStore, find_run

__all__ = ["check_times", "play", "search"]

TICKS = 400
SEED = 7
STATES = 3000
BLOCKS_STATES = 22
"""Three blocks: 13 arrangements with an empty hand, and 3 times 3 with one block in it."""


def agree(what: str, *results: object) -> None:
    """Raise `WrongResultError` unless all results are equal."""
    if len(set(results)) != 1:
        raise WrongResultError(f"{what}: {', '.join(map(str, results))}")


# ---- checking ---------------------------------------------------------------------------------


def check_times() -> Iterator[Row]:
    """From text to a checked program whose worlds can start, per world."""
    for path in sorted(domains_folder().glob("*/world.tw")):
        source = read_source(path)
        check_text(source)  # the tables of the grammar are loaded once per process
        seconds, checked = least(lambda source=source: check_text(source))  # type: ignore[misc]
        if not checked.ok:
            raise WrongResultError(f"`{path}` is not sound")
        lines = source.text.count("\n")
        note = f"{1e6 * seconds / lines:.0f} µs a line"
        yield Row(f"check {path.parent.name}", 1e3 * seconds, "ms", note)


# ---- playing ----------------------------------------------------------------------------------


def play() -> Iterator[Row]:
    """Random play, the same intents again, and the same recorded and replayed from the log."""
    world = open_world("cottage")

    def at_random() -> tuple[str, tuple[Command, ...]]:
        session, given = Session(world, SEED), []
        for intent in islice(random_player(session), TICKS):
            session.intend(intent)
            given.append(intent)
        return session.engine.hash(session.state), tuple(given)  # type: ignore[arg-type]

    def again() -> str:
        session = Session(world, SEED)
        for command in given:
            session.intend(command)
        return session.engine.hash(session.state)

    slow, (final, given) = least(at_random)
    fast, repeated = least(again)
    agree("random play, twice, and its intents again", final, at_random()[0], repeated)
    yield Row("play cottage, random player", TICKS / slow, "records/s")
    note = f"{slow / fast:.1f} times the speed: no list of legal commands"
    yield Row("the same intents again", TICKS / fast, "records/s", note)
    with tempfile.TemporaryDirectory() as folder:
        yield from _recorded(Path(folder) / "runs.sqlite", given, final, fast)


def _recorded(path: Path, given: tuple[Command, ...], final: str, fast: float) -> Iterator[Row]:
    world = open_world("cottage")
    with RunStore.open(path) as store:

        def record() -> str:
            session = Session(world, SEED, store=store, player="random")
            for command in given:
                session.intend(command, source="random")
            session.finish("done")
            return session.engine.hash(session.state)

        seconds, recorded = least(record)
        run = find_run(store, None)
        verifying, report = least(lambda: replay_run(store, run, verify=True))
        if not report.ok:
            raise WrongResultError("a recorded run does not replay")
    agree("play, recorded play, replayed log", final, recorded, report.final_hash)
    note = f"{seconds / fast:.1f} times the time of the same without a log"
    yield Row("the same, recorded", TICKS / seconds, "records/s", note)
    note = f"{verifying / seconds:.1f} times the time of recording"
    yield Row("replay and verify", TICKS / verifying, "records/s", note)


# ---- searching --------------------------------------------------------------------------------


def search() -> Iterator[Row]:
    """Our own search: a plan that the interpreter accepts, and states a second."""
    session = Session.open("blocks")
    simulator = EngineSimulator(session.engine, session.state)

    def solve() -> Found:
        result = Search(simulator, session.state, None).run(Limits())
        if not isinstance(result, Found):
            raise WrongResultError("blocks has a plan, and the search finds none")
        return result

    seconds, found = least(solve)
    if not replay(simulator, session.state, found.steps, None).ok:
        raise WrongResultError("the plan of blocks does not survive the replay")
    agree("blocks, searched twice", found.steps, solve().steps)
    yield Row("search blocks to its goal", 1e3 * seconds, "ms", f"{len(found.steps)} steps")
    row, states = _rate("blocks")
    agree("the states of three blocks", states, BLOCKS_STATES)
    yield row
    yield _rate("cottage")[0]


def _rate(name: str) -> tuple[Row, int]:
    """States a second and their number, for a goal that is never reached."""
    session = Session.open(name)

    class Endless(EngineSimulator):
        def won(self, state: object, goal: str | None) -> bool:
            return False

    simulator = Endless(session.engine, session.state)
    limits = Limits(states=STATES)

    def explore() -> int:
        result = Search(simulator, session.state, None).run(limits)
        return result.states if not isinstance(result, Found) else 0

    seconds, states = least(explore)
    agree(f"{name}, explored twice", states, explore())
    capped = isinstance(Search(simulator, session.state, None).run(limits), Capped)
    note = f"of {states:,}, then stopped" if capped else f"all {states:,} of them"
    return Row(f"search {name}", states / seconds, "states/s", note), states
