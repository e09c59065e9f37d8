"""A long session holds its memory, and every moment of it is as it was."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from tokenworld.ground import LuckyDraw, Outcome
from tokenworld.play.model.timeline import Timeline
from tokenworld.session import OpenWorld, Session
from tokenworld.session import moments as past
from tokenworld.session.players import random_player
from tokenworld.session.replaying import replay_run
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, list_runs

ROOT = Path(__file__).parents[2]
WILLOWBROOK = ROOT / "domains" / "willowbrook" / "world.tw"


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few moments are held, so that a short session has a past that was put away."""
    monkeypatch.setattr(past, "HELD", 20)
    monkeypatch.setattr(past, "EVERY", 8)
    monkeypatch.setattr(past, "RECENT", 10)


def played(session: Session, turns: int) -> list[tuple[str, str, tuple[Outcome, ...]]]:
    """Hash, what was asked and what came of it, of every moment played."""
    found = []
    for intent in islice(random_player(session), turns):
        outcomes = session.intend(intent, source="random")
        asked = session.moments[-1].asked
        found.append((session.engine.hash(session.state), asked, outcomes))
    return found


def shown(
    session: Session, moments: list[past.Moment]
) -> list[tuple[str, str, tuple[Outcome, ...]]]:
    return [(session.engine.hash(one.state), one.asked, one.outcomes) for one in moments]


@pytest.mark.parametrize("name", ["willowbrook", "cellar", "cottage", "skirmish", "greenhouse"])
def test_every_moment_is_as_it_was(name: str) -> None:
    session = Session.open(str(ROOT / "domains" / name / "world.tw"), 7)
    told = played(session, 120)
    assert sum(one.held is None for one in session.moments) > 90
    assert shown(session, session.moments[1:]) == told
    assert shown(session, session.moments[:0:-1]) == told[::-1]
    assert session.moments[0].state.tick == 0


def test_words_that_are_read_late_are_those_of_their_moment(willowbrook: OpenWorld) -> None:
    """Commands as such, not as words; the words for things change with the rules."""
    early, late = Session(willowbrook, 3), Session(willowbrook, 3)
    read, commands = list[str](), islice(random_player(early), 120)
    for one in commands:
        early.intend(one)
        read.append(early.moments[-1].asked)
        late.intend(one)
    assert len(set(read)) > 20
    assert [one.asked for one in late.apart(past=True).moments[1:]] == read
    assert [one.asked for one in late.moments[1:]] == read


def test_play_goes_on_after_a_long_undo_as_it_would_have(willowbrook: OpenWorld) -> None:
    session, fresh = Session(willowbrook, 7), Session(willowbrook, 7)
    told = played(session, 100)
    for _ in range(70):
        assert session.undo()
    assert session.engine.hash(session.state) == told[29][0]
    played(fresh, 30)
    assert played(session, 60) == played(fresh, 60)
    assert shown(session, session.moments[1:31]) == told[:30]


def test_the_timeline_goes_to_moments_that_were_put_away(willowbrook: OpenWorld) -> None:
    session = Session(willowbrook, 7)
    timeline = Timeline(session)
    told = played(session, 60)
    timeline.sync()
    timeline.jump(timeline.nodes[11])
    other = played(session, 60)
    timeline.sync()
    assert [len(line) for line in timeline.lines] == [61, 60]
    first, second = timeline.nodes[60], timeline.nodes[120]
    assert timeline.common(first, second).number == 11
    assert session.engine.hash(first.moment.state) == told[-1][0]
    timeline.jump(first)
    assert session.same_facts(first.moment.state)
    timeline.jump(timeline.nodes[70])
    assert shown(session, session.moments[12:]) == other[: 70 - 60]


def test_a_branch_of_a_moment_that_was_put_away_is_recorded(
    willowbrook: OpenWorld, store: RunStore
) -> None:
    session = Session(willowbrook, 7, store=store)
    played(session, 60)
    for _ in range(45):
        session.undo()
    played(session, 30)
    session.finish("done")
    runs = list_runs(store)
    assert [one.ticks for one in runs] == [60, 30]
    assert runs[1].header.parent is not None
    assert runs[1].header.parent.tick == 15
    assert replay_run(store, find_run(store, runs[1].id), verify=True).ok


def test_states_that_play_did_not_lead_to_are_kept(willowbrook: OpenWorld) -> None:
    session = Session(willowbrook, 7)
    told = played(session, 10)
    session.halt("for a rest")
    session.reseed(99)
    told += [(session.engine.hash(session.state), "", session.moments[-1].outcomes)]
    told += played(session, 50)
    assert shown(session, session.moments[1:]) == told


def test_draws_that_were_forced_are_forced_again(
    tiny: Callable[[str], OpenWorld],
) -> None:
    world = tiny(
        "type T { n: 0 to 9 = 0 }\nactor me: T\n"
        'action roll() as "roll" { chance 90% { me.n = 1 } else { me.n = 2 } }\n'
        "world w { object hero: T }\n"
    )
    session = Session(world, 1)
    (outcome,) = session.intend("roll")
    (draw,) = outcome.draws
    other = LuckyDraw(draw.rule, draw.args, draw.draw, 1 - draw.choice, draw.alternatives)
    session.undo()
    (forced,) = session.intend("roll", draws=(other,))
    assert forced.changes != outcome.changes
    hashed = session.engine.hash(session.state)
    played(session, 60)
    assert session.moments[1].held is None
    assert session.engine.hash(session.moments[1].state) == hashed


def test_another_thread_reads_the_past_while_play_goes_on(willowbrook: OpenWorld) -> None:
    session = Session(willowbrook, 7)
    told = played(session, 100)
    twin = session.apart(past=True)
    found: list[tuple[str, str, tuple[Outcome, ...]]] = []
    reader = threading.Thread(target=lambda: found.extend(shown(twin, twin.moments[1:])))
    reader.start()
    played(session, 100)
    reader.join()
    assert found == told
    assert played(twin, 40) == played(_at(session, 100), 40)


def _at(session: Session, number: int) -> Session:
    session.travel(session.moments[: number + 1])
    return session


def test_a_full_disk_loses_nothing(willowbrook: OpenWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(willowbrook, 7)
    told = played(session, 40)
    session._past._opened()._rows.execute("PRAGMA max_page_count = 1")
    told += played(session, 80)
    assert session._past._full
    assert shown(session, session.moments[1:]) == told


def test_a_session_that_does_not_remember_has_two_moments(willowbrook: OpenWorld) -> None:
    session = Session(willowbrook, 7)
    session.remembers = False
    told = played(session, 30)
    assert shown(session, session.moments[1:]) == told[-1:]
    assert len(session.moments) == 2


def test_play_leaves_nothing_to_the_collector() -> None:
    """Cycles are freed late, and the later the longer a session is."""
    session = Session.open(str(WILLOWBROOK), 7)
    intents = random_player(session)
    for intent in islice(intents, 120):
        session.intend(intent, source="random")
    gc.collect()
    gc.disable()
    try:
        for intent in islice(intents, 40):
            session.intend(intent, source="random")
        assert gc.collect() == 0
    finally:
        gc.enable()


MEASURED = """
import sys
from itertools import islice
from tokenworld.cli import _main
from tokenworld.session import Session
from tokenworld.session.players import random_player

def resident():
    return int(open("/proc/self/statm").read().split()[1])

def sized(world, store, ticks):
    if store:
        code = _main(["run", world, "--player", "random", "--ticks", str(ticks), "--seed", "7",
                      "--halt-refusals", "0", "--store", store, "--json"])
        assert code == 0
        return resident()
    session = Session.open(world, 7)
    for intent in islice(random_player(session), ticks):
        session.intend(intent, source="random")
    session.moments[ticks // 2].state
    return resident()

print(sized(sys.argv[1], sys.argv[2], int(sys.argv[3])), file=sys.stderr)
"""


def _resident(store: str, ticks: int) -> int:
    """Pages that a process has after so many ticks."""
    ran = subprocess.run(
        [sys.executable, "-c", MEASURED, str(WILLOWBROOK), store, str(ticks)],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    return int(ran.stderr.strip().splitlines()[-1])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux for the size")
@pytest.mark.parametrize("recorded", [False, True])
def test_a_hundred_thousand_ticks_hold_their_memory(tmp_path: Path, recorded: bool) -> None:
    store = str(tmp_path / "{}.sqlite") if recorded else ""
    few = _resident(store.format("few"), 10_000)
    assert _resident(store.format("many"), 100_000) <= 1.3 * few
