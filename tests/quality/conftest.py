"""Runs to be scored: facts made by hand, and recorded runs that are forged."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import Session
from tokenworld.session.loading import open_text
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, ticks_of
from tokenworld.store.records import Run, TickRecord
from tokenworld.verbs.quality.dimensions import Fact
from tokenworld.verbs.quality.scorecard import Scorecard, Subject, judge

SUBJECT = Subject("willowbrook-3", "willowbrook", "Willowbrook", "d1", "human")


@pytest.fixture
def card() -> Callable[..., Scorecard]:
    """The scorecard of facts, 50 ticks by default."""

    def make(found: Sequence[Fact], window: int = 50, **more: Any) -> Scorecard:
        return judge(SUBJECT, found, window, **more)

    return make


WORLD = """type Lamp { oil: 0 to 9 clamped = 9  lit: bool = false  seen: bool = false }
actor me: Lamp
phase burning
action light() as "light" { require not me.lit else already "It burns already."  me.lit = true }
action snuff() as "snuff" { require me.lit else dark "It is dark."  me.lit = false }
action tell() as "tell" { me.seen = true  say "There is {me.oil} oil." }
action hint() as "hint" takes 0 { say "There is {me.oil} oil." }
action hum() as "hum" { say "You hum." }
law burn(l: Lamp) during burning when l.lit { l.oil -= 1 }
world w "A lamp" { object lamp: Lamp }
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.open(tmp_path / ".tw" / "runs.sqlite") as opened:
        yield opened


@pytest.fixture
def play(store: RunStore) -> Callable[..., Run]:
    """Record typed commands in the lamp world (or another text with a world ``w``)."""

    def make(*lines: str, text: str = WORLD, player: str = "script", seed: int = 0) -> Run:
        world = open_text((Source("w.tw", None, text),), "w")
        session = Session(world, seed, store=store, player=player)
        for line in lines:
            session.intend(line, source="script")
        session.finish("done")
        assert session.recording is not None
        return find_run(store, session.recording.handle.id)

    return make


@pytest.fixture
def forge(store: RunStore) -> Callable[..., Run]:
    """A copy of a run whose record ``seq`` differs, hashed again. The store accepts it, because it
    contradicts neither itself nor its neighbours."""

    def make(run: Run, seq: int, lie: Callable[[dict[str, Any]], None]) -> Run:
        handle = store.begin(run.header)
        for tick in ticks_of(store, run):
            outcome = copy.deepcopy(dict(tick.outcome))
            if tick.seq == seq:
                lie(outcome)
            handle.append(TickRecord(tick.intent, outcome, tick.source, tick.text))
        return handle.run()

    return make
