"""Nothing blocks the screen: while heavy work runs beside it, keys are heard and ticks are played.

No clock is read. A heavy work holds on until the screen has answered; were it in the screen's own
thread, it would wait for ever, and the test would fail by its limit.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tools.play.conftest import WORLDS
from tests.tools.play.piloting import enter, screen_text, until
from tokenworld.planning.search.interpreted import Limits
from tokenworld.planning.space.graph import explore
from tokenworld.planning.verdict import Verdict
from tokenworld.play.model.timeline import RadarPlanner
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.screens.timeline import TimelineScreen
from tokenworld.play.widgets.actions import CommandLine
from tokenworld.session import Session
from tokenworld.store.log import RunStore
from tokenworld.verbs.output import UNICODE

PATIENCE = 60.0
NOTHING = Verdict("unknown", None, None, "", "")


class Heavy:
    """Pure Python that keeps a thread and the interpreter's lock busy until it is told to stop."""

    def __init__(self) -> None:
        self.begun, self.stop = threading.Event(), threading.Event()
        self.thread: int | None = None
        self.rounds = 0

    def work(self) -> None:
        self.thread = threading.get_ident()
        self.begun.set()
        limit = 2_000_000
        while not self.stop.is_set() and self.rounds < limit:
            self.rounds += sum(1 for _ in range(100)) // 100
        assert self.rounds < limit, "nobody stopped it: the screen did not turn"


@pytest.fixture
def heavy() -> Iterator[Heavy]:
    """Work that ends with the test at the latest; where that goes well, it ends it before, as the
    loop waits for its threads."""
    found = Heavy()
    yield found
    found.stop.set()


async def test_keys_are_heard_while_a_planner_works(
    app: PlayApp, heavy: Heavy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(self: Session, **_: object) -> Verdict:
        heavy.work()
        return NOTHING

    monkeypatch.setattr(Session, "plan", plan)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3")
        await until(pilot, heavy.begun.is_set)
        await pilot.press("s", "w")
        assert app.screen.query_one(CommandLine).value == "sw"
        assert not heavy.stop.is_set()
        assert heavy.thread != threading.get_ident()
        await enter(pilot, "take robot")
        assert app.game.session.tick == 1
        assert "Ticks" in screen_text(app)
        heavy.stop.set()


async def test_the_timeline_answers_while_the_radar_works(
    app: PlayApp, heavy: Heavy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(self: RadarPlanner, *_: object, **__: object) -> Verdict:
        heavy.work()
        return NOTHING

    monkeypatch.setattr(RadarPlanner, "ask", ask)
    async with app.run_test(size=(120, 40)) as pilot:
        for one in ("take robot", "wind robot"):
            await enter(pilot, one)
        await pilot.press("ctrl+t", "d")
        await until(pilot, heavy.begun.is_set)
        assert isinstance(app.screen, TimelineScreen)
        await pilot.press("up", "enter")  # back to the first tick
        assert app.game.session.tick == 1
        assert app.screen.asking
        assert heavy.thread != threading.get_ident()
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        await enter(pilot, "sweep")
        assert app.game.session.tick == 2
        heavy.stop.set()


async def test_ticks_are_played_while_the_run_is_scored(
    heavy: Heavy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from tokenworld.play.screens import quality as scoring

    score_run = scoring.score_run

    def slowly(*args: object) -> object:
        heavy.work()
        return score_run(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(scoring, "score_run", slowly)
    with RunStore.open(tmp_path / "runs.sqlite") as store:
        app = PlayApp(Session.open(str(WORLDS / "attic.tw"), 7, store=store), glyphs=UNICODE)
        async with app.run_test(size=(80, 24)) as pilot:
            screen = app.screen
            assert isinstance(screen, PlayScreen)
            await enter(pilot, "take robot")
            screen.rescore()
            await until(pilot, heavy.begun.is_set)
            await enter(pilot, "wind robot")
            assert app.game.session.tick == 2
            assert screen.scoring
            heavy.stop.set()
            await until(pilot, lambda: not screen.scoring)


COUNTERS = """
type Dial { n: 0 to 9 = 0 }
actor me: Dial
action turn(d: Dial) as "turn {d}" { require d.n < 9 else full "No."  d.n += 1 }
world w {
  object a, b, c, d, e, f, g, h, i, j: Dial
  goal far: all(d.n == 9 for d: Dial)
}
"""


async def test_a_state_space_explored_beside_the_screen_lets_it_turn(
    open_text_world: Callable[[str], Session], app: PlayApp
) -> None:
    """The exploring of an audit, of ten thousand million states, goes on in a thread until the
    screen has heard five keys. Were it held back, exploring would come to its limit first."""
    twin, stop = open_text_world(COUNTERS), threading.Event()
    limits = Limits(10**9, PATIENCE)

    class Stopped(Exception):
        pass

    def until_stopped(now: object) -> None:
        if stop.is_set():
            raise Stopped

    def run() -> None:
        with contextlib.suppress(Stopped):
            explore(twin.simulator(), twin.state, None, limits, progress=until_stopped)

    thread = threading.Thread(target=run)
    async with app.run_test(size=(80, 24)) as pilot:
        command = app.screen.query_one(CommandLine)
        thread.start()
        for turn in range(5):
            await pilot.press("x")
            assert len(command.value) == turn + 1
        under_way = thread.is_alive()
        stop.set()
        thread.join(PATIENCE)
    assert under_way
    assert not thread.is_alive()
