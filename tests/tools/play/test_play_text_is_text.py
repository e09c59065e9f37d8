"""Text of a world, a typist or a log is shown as it stands: never as markup, never raw."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from tests.hostile import MARKUP, STEERING, assert_harmless, hostile_world
from tests.tools.play.piloting import details, enter, screen_text, until
from tokenworld.diagnostics import Diagnostic, Failure, visible
from tokenworld.play.model.playback import open_playback
from tokenworld.play.screens.app import PlayApp, Watched
from tokenworld.play.widgets.actions import CommandLine
from tokenworld.play.widgets.shown import content, entitle, link, option
from tokenworld.play.widgets.texts import Details
from tokenworld.session import Session, open_world
from tokenworld.store.log import RunStore
from tokenworld.verbs.output import UNICODE

BAD = "[/x][@click=app.quit]go[/][$t[b]\x1b[2J\x1b]0;o\x07\x9b31m\u202eab\u2066c\u200b\x7f\r"
OURS = re.compile(r"(screen|app)\.[a-z_]+(\(.*\))?|pick\('[a-z]+'\)")
"""What a click may do: the screen's own actions, which name nothing of a world."""


def clicks(app: PlayApp) -> Iterator[str]:
    """Every action that a click somewhere on the screen would run."""
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            action = segment.style.meta.get("@click") if segment.style else None
            if action is not None:
                yield str(action)


def assert_plain(app: PlayApp, where: str) -> None:
    text = screen_text(app)
    assert_harmless(text, where)
    for action in clicks(app):
        assert OURS.fullmatch(action), (where, action)
        assert "quit" not in action, (where, action)
    assert_harmless(app.export_screenshot(), where)


@pytest.fixture
def hostile(tmp_path: Path) -> Session:
    """A world whose every text is hostile, in a file whose name is."""
    path = tmp_path / f"w{BAD.replace('/', '')}.tw"
    path.write_text(hostile_world(BAD), encoding="utf-8")
    return Session.open(str(path), 7)


# ---- the door -----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [*MARKUP, *STEERING, BAD])
def test_what_passes_the_door_is_shown_as_it_stands(bad: str) -> None:
    whole = content(bad, (bad, "bold"), content(bad))
    assert whole.plain == visible(bad) * 3
    assert not any("@" in str(span.style) for span in whole.spans)
    assert str(option(bad).prompt) == visible(bad)
    shown = link("screen.near(1)", bad)
    assert shown.plain == f" {visible(bad)} "
    assert {str(getattr(span.style, "meta", {}).get("@click")) for span in shown.spans} <= {
        "screen.near(1)", "None",
    }  # fmt: skip
    pane = Details()
    entitle(pane, bad, bad)
    assert pane._border_title is not None
    assert pane._border_title.plain == visible(bad).split("\n")[0].expandtabs(4)


# ---- what a log holds ----------------------------------------------------------------------------


async def test_no_text_of_a_log_is_markup(tmp_path: Path) -> None:
    (tmp_path / "w.tw").write_text(hostile_world(BAD), encoding="utf-8")
    path = tmp_path / f"runs{BAD.replace('/', '')}.sqlite"
    with RunStore.open(path) as store:
        session = Session(open_world(str(tmp_path / "w.tw")), 7, store=store, player=BAD)
        for command in ("shout", BAD, "take(other)", "take(other)"):
            session.intend(command, source="llm")
        session.finish(BAD)
        playback = open_playback(path, "w-1")
        app = PlayApp(playback.session, glyphs=UNICODE, watched=Watched(store, playback))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: "read only" in screen_text(app))
            for place in range(1, 5):
                await pilot.press("right")
                await until(pilot, lambda at=place: f"({at} of 4" in screen_text(app))  # type: ignore[misc]
                assert_plain(app, f"record {place}")
            await pilot.press("n")
            await pilot.pause()
            assert_plain(app, "no refusal")
            await pilot.press("b")
            await until(pilot, lambda: "You can" in screen_text(app))
            assert_plain(app, "branch")
            await enter(pilot, "runs")
            await until(pilot, lambda: "Runs of" in screen_text(app))
            assert_plain(app, "runs")


# ---- what is typed ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typed", ["open [/b]", "[@click=app.quit]x[/]", "why [/x]", "[", "".join(STEERING)]
)
async def test_what_is_typed_is_no_markup(app: PlayApp, typed: str) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        command = app.screen.query_one(CommandLine)
        command.value = typed
        await pilot.pause()
        assert_plain(app, "typing")
        await pilot.press("f4")
        await pilot.pause()
        assert_plain(app, "why")
        command.focus()
        await pilot.press("enter")
        await pilot.pause()
        assert_plain(app, "given")
        assert visible(typed.strip()).removeprefix("why ")[:20] in screen_text(app)
        await pilot.press("f5", "up", "f11")
        await pilot.pause()
        assert_plain(app, "record")
        await pilot.press("ctrl+t")
        await pilot.pause()
        assert_plain(app, "timeline")


async def test_what_is_pasted_keeps_what_can_be_seen(app: PlayApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        command = app.screen.query_one(CommandLine)
        command.post_message(_paste("take\u200b robot\x1b[2J\x07\n"))
        await until(pilot, lambda: bool(command.value))
        assert command.value == "take robot[2J"


def _paste(text: str) -> object:
    from textual.events import Paste

    return Paste(text)


# ---- what a world says --------------------------------------------------------------------------


async def test_no_text_of_a_world_is_markup(hostile: Session) -> None:
    app = PlayApp(hostile, glyphs=UNICODE)
    async with app.run_test(size=(200, 60)) as pilot:
        assert "Title [/x][@click=app.quit]go[/]" in screen_text(app)
        for typed in ("shout", "take other", "take(other)", "take(other)", f"take {BAD}", BAD):
            await enter(pilot, typed)
            assert_plain(app, typed)
        assert "No [/x][@click=app.quit]go[/]" in screen_text(app)
        await pilot.press("f2", "f2", "down", "f4")
        await pilot.pause()
        assert_plain(app, "what cannot be done")
        await _every_screen(pilot, app)


KEYS = """
type Key {{ held: bool }}
action take(k: Key) as "take {{k}}" {{ k.held = true }}
world w "{}" {{ object k1: Key goal g: k1.held }}
"""


@pytest.mark.parametrize(
    "title", ["Keys [@click=app.quit]free gift[/] here", "Keys [/i] here", "A\x1b[2J\x1b]0;X\x07"]
)
async def test_a_title_is_no_link(open_text_world: Callable[[str], Session], title: str) -> None:
    app = PlayApp(open_text_world(KEYS.format(title)), glyphs=UNICODE)
    async with app.run_test(size=(120, 40)) as pilot:
        assert screen_text(app).startswith(f" {visible(title)} · tick 0")
        for x in range(1, 60, 4):
            await pilot.click(offset=(x, 0))
        await enter(pilot, "take k1")
        assert app.is_running
        assert "won" in screen_text(app).split("\n")[0]


async def _every_screen(pilot: Pilot[None], app: PlayApp) -> None:
    """Go through every screen and dialog, and look at each."""
    for key in ("f3", "f8", "f9", "f10"):
        await pilot.press(key)
        await until(pilot, lambda: "Thinking" not in details(app))
        assert_plain(app, key)
    for keys in (
        ("f1",), ("ctrl+o", "c"), ("ctrl+t", "up", "n"), ("ctrl+s",), ("ctrl+q",),
    ):  # fmt: skip
        await pilot.press(*keys)
        await pilot.pause()
        assert_plain(app, str(keys))
        await _back(pilot, app)
    for typed in ("laws", "quality", "runs", "reload", "undo"):
        await enter(pilot, typed)
        await pilot.pause()
        assert_plain(app, typed)
        await _back(pilot, app)


async def _back(pilot: Pilot[None], app: PlayApp) -> None:
    while len(app.screen_stack) > 2:
        await pilot.press("escape")
        await pilot.pause()


async def test_the_palette_lists_commands_as_they_are(hostile: Session) -> None:
    app = PlayApp(hostile, glyphs=UNICODE)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        app.screen.query_one(Input).value = "take"
        await until(pilot, lambda: "do: take" in screen_text(app))
        assert "[@click=app.quit]go[/]" in screen_text(app)
        assert_plain(app, "palette")


async def test_names_slots_and_files_that_are_asked_for_are_plain(hostile: Session) -> None:
    app = PlayApp(hostile, glyphs=UNICODE)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("ctrl+o", "e")
        await until(pilot, lambda: bool(app.screen.query("#answer")))
        answer = app.screen.query_one("#answer", Input)
        for typed in ("box", f"{BAD} = 1", "other.full = [/x]"):
            answer.value = typed
            await pilot.pause()
            assert_plain(app, typed)
        await pilot.press("enter")
        await pilot.pause()
        assert_plain(app, "a slot that does not fit")


async def test_what_is_notified_is_plain(app: PlayApp) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        app.notify(BAD)
        app.screen.notify(BAD, markup=True)
        await until(pilot, lambda: screen_text(app).count("[/x]") == 2)
        assert_plain(app, "notice")


async def test_what_goes_wrong_is_told_plainly(app: PlayApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        app.game.fault(Failure(Diagnostic("TW0006", BAD, hint=BAD)))
        app.screen.refresh_all()  # type: ignore[attr-defined]
        await pilot.pause()
        assert "[@click=app.quit]" in screen_text(app)
        assert_plain(app, "fault")
