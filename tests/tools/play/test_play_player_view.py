"""What a player sees at three sizes of the terminal, and operator mode, compared as text."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.tools.play.conftest import DOMAINS
from tests.tools.play.piloting import enter, screen_text, until
from tests.tools.play.test_play_snapshots import Compare, typing
from tokenworld.play.model.game import Game
from tokenworld.play.model.hints import goal_lines
from tokenworld.play.model.view import View
from tokenworld.play.screens.app import PlayApp, PlayCommands, Settings
from tokenworld.play.screens.dialogs import HelpDialog
from tokenworld.play.screens.keys import as_list, keys_here
from tokenworld.session import Session
from tokenworld.verbs.output import UNICODE, plain_text

FINDINGS: Final = Path(__file__).parents[2] / "findings" / "play"
GAMES: Final = {
    "cellar": (DOMAINS / "cellar" / "world.tw", ("take brass key", "open oak chest")),
    "rover": (FINDINGS / "rover.tw", ("drive south",)),
    "bakery": (FINDINGS / "bakery.tw", ("buy flour", "bake bread")),
}
THREE = pytest.mark.parametrize("size", [(80, 24), (100, 30), (140, 40)])


def started(name: str) -> PlayApp:
    return PlayApp(Session.open(str(GAMES[name][0]), 0), glyphs=UNICODE)


@THREE
@pytest.mark.parametrize("name", GAMES)
def test_the_screen(compare: Compare, name: str, size: tuple[int, int]) -> None:
    assert compare(started(name), terminal_size=size, run_before=typing(*GAMES[name][1]))


@THREE
def test_operator_mode(compare: Compare, size: tuple[int, int]) -> None:
    assert compare(started("cellar"), terminal_size=size, run_before=typing(last=("f12",)))


@pytest.mark.parametrize("compare", ["svg"], indirect=True)
def test_a_map_in_colour(compare: Compare) -> None:
    assert compare(started("rover"), terminal_size=(80, 24), run_before=typing("drive south"))


async def test_a_terminal_that_is_too_small_is_told() -> None:
    app = started("cellar")
    async with app.run_test(size=(79, 24)) as pilot:
        await until(pilot, lambda: "Too small: 79x24, needs 80x24" in screen_text(app))
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "The Cellar" in screen_text(app))


def test_what_takes_long_is_done_in_words() -> None:
    game = Game(Session.open(str(FINDINGS / "bakery.tw"), 0), UNICODE)
    for one in ("buy flour", "buy flour", "buy yeast", "bake bread", "bake bread"):
        game.give(one)
    assert "`bake bread` is done." in [one.text for one in game.entries]


def test_the_goals_are_named_with_their_conditions() -> None:
    session = Session.open(str(FINDINGS / "lighthouse.tw"), 0)
    assert plain_text(goal_lines(session)).split("\n") == [
        "Goal `beacon`: great_light.burning",
        "Goal `escape`: skiff.launched and keeper.at == jetty",
    ]


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("go cellar", ("go to cellar", "go to jetty")),
        ("go to", ("go to jetty", "go to cellar")),  # not `go to hall`, where the keeper stands
        ("unlock iron door", ("unlock iron door with rusty key",)),
    ],
)
def test_suggestions_name_what_was_typed_and_what_may_be_given(
    typed: str, suggested: tuple[str, ...]
) -> None:
    session = Session.open(str(FINDINGS / "lighthouse.tw"), 0)
    (outcome,) = session.intend(typed)
    assert outcome.no_match is not None
    assert outcome.no_match.suggestions == suggested
    assert session.tick == 0


async def test_the_palette_has_each_thing_once() -> None:
    """Neither a name nor an action twice, from whichever of the providers."""
    app = started("cellar")
    async with app.run_test(size=(80, 24)):
        found = [(name, run) for name, _, run in PlayCommands(app.screen)._screen_entries()]
        found += [(one.title, one.callback) for one in app.get_system_commands(app.screen)]
        assert len({name.casefold() for name, _ in found}) == len(found)
        assert len({str(run) for _, run in found}) == len(found)
        # the picture is among the exports, the keys are in the help
        assert {"Screenshot", "Keys"}.isdisjoint(name for name, _ in found)


async def test_a_question_mark_tells_the_keys_of_the_pane() -> None:
    app = started("cellar")
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.press("f5", "question_mark")
        await until(pilot, lambda: "This pane: ticks" in screen_text(app))
        found = screen_text(app)
        assert found.index("Keys of this pane") < found.index("Page Down: A page down")
        assert found.index("How to play") < found.index("F3: The next step")
        await pilot.press("escape", "escape")
        await enter(pilot, "?")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))


async def test_the_help_tells_the_keys_that_are_in_force() -> None:
    """Every key of the screen with an id stands in the help, as the user set it."""
    session = Session.open(str(GAMES["cellar"][0]), 0)
    app = PlayApp(session, glyphs=UNICODE, settings=Settings({"play.undo": "alt+z,alt+u"}))
    async with app.run_test(size=(80, 24)):
        here = keys_here(app.screen, alone=False)
        told = {key for one in here.everywhere for key in one.keys}
        assert {"F1", "F8", "Ctrl+T", "Ctrl+P", "Alt+Z", "Alt+U"} <= told
        assert "Ctrl+Z" not in told
        assert all(one.told for part in (here.pane, here.everywhere) for one in part)
        assert ("Tab", "Take the suggestion") in [(*one.keys, one.told) for one in here.pane]
        assert "- **Alt\\+Z, Alt\\+U**: Take" in as_list(here.everywhere)


def test_what_can_be_in_no_place_is_not_told_among_its_things() -> None:
    view = View(Session.open(str(DOMAINS / "smugglers" / "world.tw"), 7))
    told = plain_text(view.lines).split("\n")
    heading = told.index("In no place:")
    assert "Holm (Person)" in told[:heading]
    assert told[heading + 1 : heading + 3] == [
        "brotherhood of the salt, customs (Faction)",
        "stowing salt (Deed): hidden",
    ]
