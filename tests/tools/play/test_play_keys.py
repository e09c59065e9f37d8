"""Every key of every screen is pressed, and each does what its name says.

A walk goes through one application, press by press. A press names the key by its id and says what
holds after it, which does not hold before. All walks together have to press all keys that there
are: a key that nobody walks over fails a test of its own.
"""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from textual.binding import Binding
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import OptionList

from tests.tools.play.conftest import DOMAINS, WORLDS
from tests.tools.play.piloting import details, enter, keys, screen_text, until
from tests.tools.play.test_play_quality import BAD
from tests.tools.play.test_play_watching import GAME
from tokenworld import play as package
from tokenworld.play.model.playback import open_playback
from tokenworld.play.screens.app import PlayApp, Settings, Watched, key_bindings
from tokenworld.play.screens.dialogs import AskDialog, HelpDialog, QuitDialog, SaveDialog
from tokenworld.play.screens.inspecting import InspectScreen
from tokenworld.play.screens.jump import JumpScreen
from tokenworld.play.screens.quality import QualityScreen
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.screens.timeline import TimelineScreen, TraceScreen
from tokenworld.play.screens.watching import RunsScreen, WatchScreen
from tokenworld.play.widgets.actions import ActionList, CommandLine, TickList
from tokenworld.play.widgets.texts import Details, QualityStrip
from tokenworld.session import Session, open_world
from tokenworld.store.log import RunStore
from tokenworld.verbs.output import UNICODE

Holds = Callable[[PlayApp], bool]


@dataclass(frozen=True, slots=True)
class Press:
    """``key`` is one of the binding ``id``. Before it, the commands of ``give`` are given, the keys
    of ``prior`` pressed, and ``typed`` is typed; then ``ready`` holds, and ``holds`` does not."""

    id: str
    key: str
    holds: Holds
    give: tuple[str, ...] = ()
    prior: tuple[str, ...] = ()
    typed: str = ""
    ready: Holds = field(default=lambda _: True)


def on(screen: type[Screen[object]]) -> Holds:
    return lambda app: isinstance(app.screen, screen)


def focus(widget: type[DOMNode]) -> Holds:
    return lambda app: isinstance(app.focused, widget)


def shows(text: str) -> Holds:
    return lambda app: text in screen_text(app)


def tells(text: str) -> Holds:
    return lambda app: text in details(app)


def tick(number: int) -> Holds:
    return lambda app: app.game.session.tick == number


def noted(text: str) -> Holds:
    return lambda app: text in app.game.entries[-1].text


def typed(text: str) -> Holds:
    return lambda app: app.screen.query_one(CommandLine).value == text


def row(number: int) -> Holds:
    return lambda app: app.screen.query(OptionList).first().highlighted == number


def scrolled(holds: Callable[[float, float], bool]) -> Holds:
    """Of how far the details are scrolled, and how far they can be."""

    def found(app: PlayApp) -> bool:
        pane = app.screen.query_one(Details)
        return holds(pane.scroll_y, pane.max_scroll_y)

    return found


def place(number: int) -> Holds:
    return lambda app: isinstance(app.screen, WatchScreen) and app.screen.playback.place == number


def over(app: PlayApp) -> bool:
    return app.return_code == 0


def changed_only(app: PlayApp) -> bool:
    return "● robot.wound" in screen_text(app) and "child.energy" not in screen_text(app)


def scratch(app: PlayApp) -> bool:
    return app.game.session.moments[-1].scratch


def resting(app: PlayApp) -> bool:
    return isinstance(app.screen, TimelineScreen) and not app.screen.asking


def speed(number: int) -> Holds:
    return lambda app: isinstance(app.screen, WatchScreen) and app.screen._speed == number


def closing(
    id: str, keys: str, screen: type[Screen[object]], opens: str, prior: tuple[str, ...] = ()
) -> tuple[Press, ...]:
    """Each key that leaves a screen; it is open at first, and ``opens`` opens it again."""
    first, *rest = keys.split(",")
    ready, back = on(screen), on(PlayScreen)
    again = (Press(id, one, back, prior=(opens,), ready=ready) for one in rest)
    return Press(id, first, back, prior=prior, ready=ready), *again


GAME_KEYS: Final = (
    Press("play.help", "f1", on(HelpDialog)),
    *closing("help.close", "escape,f1,q,enter", HelpDialog, "f1"),
    Press("play.actions", "f2", focus(ActionList)),
    Press("play.leave", "escape", focus(CommandLine)),
    Press("play.scaffold", "f11", tells("action polish("), typed="polish robot"),
    Press("play.ticks", "f5", focus(TickList), give=("take robot",)),
    Press("play.reload", "ctrl+n", noted("have the text that is played")),
    Press("play.go_on", "ctrl+g", tick(4), give=("sweep",), ready=tick(2)),
    Press("play.undo", "ctrl+z", noted("Undone: ")),
    Press("play.redo", "ctrl+y", tick(4)),
    Press("play.quit", "ctrl+q", on(QuitDialog)),
    Press("quit.no", "n", on(PlayScreen)),
    Press("quit.no", "escape", on(PlayScreen), prior=("ctrl+q",), ready=on(QuitDialog)),
    Press("quit.yes", "y", over, prior=("ctrl+q",), ready=on(QuitDialog)),
)
ASKING = Press("play.quit", "ctrl+q", on(QuitDialog), give=("take robot",))
WALKS: Final[dict[str, tuple[Press, ...]]] = {
    "game": GAME_KEYS,
    "quit by enter": (ASKING, Press("quit.yes", "enter", over)),
    "quit by ctrl+q": (ASKING, Press("quit.yes", "ctrl+q", over)),
    "lists": (
        Press("list.down", "down", row(1), prior=("f2",)),
        Press("list.up", "up", row(0)),
        Press("list.last", "end", row(4)),
        Press("list.first", "home", row(0)),
        Press("list.page_down", "pagedown", row(4)),
        Press("list.page_up", "pageup", row(0)),
        Press("list.select", "enter", tick(1)),
    ),
    "panes": (
        Press("pane.down", "down", scrolled(lambda y, _: y > 0), give=("force trunk",),
              prior=("f4",), ready=focus(Details)),
        Press("pane.up", "up", scrolled(lambda y, _: y == 0)),
        Press("pane.last", "end", scrolled(lambda y, most: y == most > 0)),
        Press("pane.first", "home", scrolled(lambda y, _: y == 0)),
        Press("pane.page_down", "pagedown", scrolled(lambda y, _: y > 1)),
        Press("pane.page_up", "pageup", scrolled(lambda y, _: y == 0)),
    ),
    "command line": (
        Press("command.older", "up", typed("look"), give=("look",)),
        Press("command.newer", "down", typed("")),
        Press("command.complete", "tab", typed("take robot"), typed="ta",
              ready=lambda app: "take robot" in screen_text(app).split("\n")[22]),
    ),
    "planning": (
        Press("play.why", "f4", tells("would be refused"), typed="open oak chest"),
        Press("play.satisfy", "f10", tells("becomes possible by:")),
        Press("play.accept", "enter", typed("open oak chest"), prior=("ctrl+u", "f4"),
              ready=focus(Details)),
        Press("play.hint", "f3", tells("✓ Winnable"), prior=("ctrl+u",),
              ready=lambda app: app.game.session.why_not("open oak chest").allowed),
        Press("play.way", "f8", tells("away.")),
        Press("play.last", "f9", tells("The goal is still in reach.")),
        Press("play.step", "f6", tells(" steps are played.")),
        Press("play.run", "f7", lambda app: app.game.session.won()),
    ),
    "guiding": (
        Press("play.source", "ctrl+r", shows("Source: action take"), typed="take robot"),
        Press("play.jump", "ctrl+f", on(JumpScreen)),
        Press("jump.close", "escape", on(PlayScreen), ready=on(JumpScreen)),
        Press("jump.close", "ctrl+f", on(PlayScreen), prior=("ctrl+f",), ready=on(JumpScreen)),
        Press("tour.next", "ctrl+e", shows("Tour: 2 of 6"), prior=("ctrl+u",), give=("tour",)),
    ),
    "laws": (
        Press("play.laws", "ctrl+l", on(TraceScreen), give=("take robot", "wind robot", "sweep")),
        Press("laws.earlier", "left", shows(": 2 of 3")),
        Press("laws.earlier", "p", shows(": 1 of 3")),
        Press("laws.later", "right", shows(": 2 of 3")),
        Press("laws.later", "n", shows(": 3 of 3")),
        Press("laws.help", "f1", shows("This pane: laws")),
        Press("laws.help", "question_mark", shows("This pane: laws"), prior=("escape",)),
        *closing("laws.close", "escape,q", TraceScreen, "ctrl+l", prior=("escape",)),
    ),
    "state": (
        Press("play.inspect", "ctrl+o", on(InspectScreen), give=("take robot", "wind robot")),
        Press("inspect.changed", "c", changed_only),
        Press("inspect.undo", "u", tick(1)),
        Press("inspect.redo", "r", tick(2)),
        Press("inspect.edit", "e", on(AskDialog)),
        Press("ask.no", "escape", on(InspectScreen)),
        Press("inspect.drop", "x", lambda app: not scratch(app), ready=scratch,
              prior=("e", *keys("robot.wound = 0"), "enter")),
        Press("inspect.help", "f1", shows("This pane: inspect")),
        Press("inspect.help", "question_mark", shows("This pane: inspect"), prior=("escape",)),
        *closing("inspect.close", "escape,q", InspectScreen, "ctrl+o", prior=("escape",)),
    ),
    "saving": (
        Press("play.save", "ctrl+s", on(SaveDialog), give=("take robot",)),
        Press("save.save", "enter", on(AskDialog)),
        Press("ask.no", "escape", on(SaveDialog)),
        *closing("save.close", "escape,q", SaveDialog, "ctrl+s"),
        Press("save.copy", "c", lambda app: "take robot" in app.clipboard, prior=("ctrl+s",)),
    ),
    "timeline": (
        Press("play.timeline", "ctrl+t", on(TimelineScreen), give=("take robot", "wind robot")),
        Press("timeline.radar", "d", lambda app: not resting(app), ready=resting),
        Press("timeline.undo", "u", tick(1)),
        Press("timeline.redo", "r", tick(2)),
        Press("timeline.jump", "enter", tick(1), prior=("up",), ready=row(2)),
        Press("timeline.mark", "m", shows("» ● take robot")),
        Press("timeline.name", "n", on(AskDialog)),
        Press("timeline.laws", "l", on(TraceScreen), prior=("escape",)),
        Press("timeline.help", "f1", shows("This pane: timeline"), prior=("escape",)),
        Press("timeline.help", "question_mark", shows("This pane: timeline"), prior=("escape",)),
        *closing("timeline.close", "escape,q", TimelineScreen, "ctrl+t", prior=("escape",)),
    ),
    "quality": (
        Press("play.operator", "f12", lambda app: app.game.operator, give=BAD),
        Press("quality.open", "enter", on(QualityScreen), prior=("tab",),
              ready=focus(QualityStrip)),
        Press("quality.help", "f1", shows("This pane: quality")),
        Press("quality.help", "question_mark", shows("This pane: quality"), prior=("escape",)),
        Press("quality.close", "q", on(PlayScreen), prior=("escape",), ready=on(QualityScreen)),
        Press("quality.close", "escape", on(PlayScreen), prior=("enter",),
              ready=on(QualityScreen)),
        Press("quality.go", "enter", focus(TickList), prior=("enter", *["down"] * 4),
              ready=row(4)),
    ),
    "stored run": (
        Press("watch.next", "right", place(1), ready=place(0)),
        Press("watch.next", "l", place(2)),
        Press("watch.before", "left", place(1)),
        Press("watch.before", "h", place(0)),
        Press("watch.refusal", "n", place(2)),
        Press("watch.refusal_before", "p", place(2), prior=("n",), ready=place(4)),
        Press("watch.slower", "minus", speed(0), ready=speed(1)),
        Press("watch.faster", "plus", speed(1)),
        Press("watch.faster", "equals_sign", speed(2)),
        Press("watch.play", "space", place(len(GAME))),
        Press("watch.help", "f1", shows("This pane: records")),
        Press("watch.help", "question_mark", shows("This pane: records"), prior=("escape",)),
        Press("watch.branch", "b", on(PlayScreen), prior=("escape",)),
        Press("runs.help", "f1", shows("This pane: runs"), give=("runs",)),
        Press("runs.help", "question_mark", shows("This pane: runs"), prior=("escape",)),
        Press("runs.open", "enter", on(WatchScreen), prior=("escape",), ready=on(RunsScreen)),
        Press("watch.close", "escape", on(PlayScreen)),
        Press("watch.close", "q", on(PlayScreen), give=("runs",), prior=("enter",),
              ready=on(WatchScreen)),
        Press("runs.close", "escape", on(PlayScreen), give=("runs",), ready=on(RunsScreen)),
        Press("runs.close", "q", on(PlayScreen), give=("runs",), ready=on(RunsScreen)),
    ),
}  # fmt: skip
WORLD: Final = {"planning": DOMAINS / "cellar" / "world.tw"}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], PlayApp]]:
    """The application of a walk; recorded, or a stored run, where the walk is about that."""
    with RunStore.open(tmp_path / "runs.sqlite") as store:

        def make(walk: str) -> PlayApp:
            if walk == "stored run":
                return _stored(store)
            recorded = store if walk == "quality" else None
            session = Session.open(str(WORLD.get(walk, WORLDS / "attic.tw")), 7, store=recorded)
            return PlayApp(session, glyphs=UNICODE, settings=Settings(watch=False))

        yield make


def _stored(store: RunStore) -> PlayApp:
    session = Session(open_world(str(WORLDS / "attic.tw")), 7, store=store, player="llm")
    for command in GAME:
        session.intend(command, source="llm")
    session.finish("done")
    playback = open_playback(store.path, "attic-1")
    return PlayApp(playback.session, glyphs=UNICODE, watched=Watched(store, playback))


async def _press(pilot: Pilot[None], app: PlayApp, press: Press) -> None:
    for text in press.give:
        await enter(pilot, text)
    for key in press.prior:
        await pilot.press(key)
    await pilot.press(*keys(press.typed))
    await until(pilot, lambda: press.ready(app))
    assert not press.holds(app), f"{press.id} {press.key}: it holds before"
    await pilot.press(press.key)
    try:
        await until(pilot, lambda: press.holds(app))
    except AssertionError:
        raise AssertionError(f"{press.id} {press.key}: no change\n{screen_text(app)}") from None


@pytest.mark.parametrize("walk", WALKS)
async def test_every_key_does_what_its_name_says(
    opened: Callable[[str], PlayApp], walk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def waits(self: object, *_: object, cancel: Callable[[], bool], **__: object) -> None:
        while not cancel():
            time.sleep(0.01)

    monkeypatch.setattr("tokenworld.play.model.timeline.RadarPlanner.ask", waits)
    app = opened(walk)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for press in WALKS[walk]:
            await _press(pilot, app, press)


def _bound() -> Iterator[Binding]:
    """The keys of all classes of the package, wherever they are written."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        for one in vars(module).values():
            here = isinstance(one, type) and one.__module__ == module.__name__
            if here and issubclass(one, DOMNode):
                yield from one.__dict__.get("BINDINGS", ())


def test_all_keys_are_pressed_and_have_ids() -> None:
    bound = {(one.id, key) for one in _bound() for key in one.key.split(",")}
    assert len(bound) > 90
    pressed = {(one.id, one.key) for walk in WALKS.values() for one in walk}
    assert pressed == bound
    assert {one.id for one in key_bindings()} == {id for id, _ in bound}
