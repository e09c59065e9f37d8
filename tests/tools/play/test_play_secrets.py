"""The play screen tells no secret: with two values of one it looks the same, by every key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.secrets.test_surfaces import plain
from tests.secrets.worlds import KINDS, Kind
from tests.tools.play.piloting import details, enter, keys, screen_text, until
from tokenworld.play.model.game import Game
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.widgets.actions import CommandLine, offer
from tokenworld.session import Session
from tokenworld.verbs.output import UNICODE

KEYS = (("f2",), ("f2", "f2"), ("f5",), ("f5", "up"), ("ctrl+o",), ("ctrl+l",), ("ctrl+t",))
"""Keys whose screens hold what the program knows of the state and of the ticks."""


def opened(folder: Path, kind: Kind, number: int) -> Session:
    path = folder / "lock.tw"
    path.write_text(kind.source(number), encoding="utf-8")
    return Session.open(str(path), seed=1)


async def screens(session: Session, kind: Kind) -> list[str]:
    """What a person sees: each command examined (F4), given and told; then every key."""
    app, seen = PlayApp(session, glyphs=UNICODE), list[str]()
    async with app.run_test(size=(120, 50)) as pilot:
        app.game.radar.forget_unknown()
        for text in kind.tried:
            command = app.screen.query_one(CommandLine)
            command.value = text
            await pilot.press("f4")
            await pilot.pause()
            seen.append(details(app))
            await enter(pilot, text)
            seen += [details(app), screen_text(app)]
        for pressed in KEYS:
            await pilot.press(*pressed)
            await pilot.pause()
            seen.append(screen_text(app))
            await pilot.press("escape")
            await pilot.pause()
        await pilot.press("f10")
        await until(pilot, lambda: "Thinking" not in details(app))
        seen.append(details(app))
        await pilot.press("f3")
        await until(pilot, lambda: "Thinking" not in details(app))
        seen.append(details(app))
    return [plain(one) for one in seen]


@pytest.mark.parametrize("kind", ["number", "ask", "law"])
async def test_the_screen_is_the_same_whatever_is_secret(kind: str, tmp_path: Path) -> None:
    one = KINDS[kind]
    first = await screens(opened(tmp_path, one, 0), one)
    second = await screens(opened(tmp_path, one, 1), one)
    assert first == second


async def test_a_hint_says_that_it_needs_a_secret(tmp_path: Path) -> None:
    app = PlayApp(opened(tmp_path, KINDS["number"], 0), glyphs=UNICODE)
    async with app.run_test(size=(120, 50)) as pilot:
        await pilot.press("f3")
        await until(pilot, lambda: "Thinking" not in details(app))
        assert "depends on what is hidden: `code`" in details(app)
        await pilot.press(*keys("dial 5 on safe"), "f4")
        await pilot.pause()
        assert "as far as can be known: it depends on what is hidden" in details(app)
        assert "s.code = hidden" in details(app)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_offered_is_the_same_whatever_is_secret(kind: str, tmp_path: Path) -> None:
    one, found = KINDS[kind], []
    for number in (0, 1):
        game = Game(opened(tmp_path, one, number), UNICODE)
        words = ("", *(text[:n] for text in one.tried for n in (1, 4, len(text))))
        found.append([offer(game, typed, everything=every) for typed in words
                      for every in (True, False)])  # fmt: skip
        found[-1].append([game.suggestion(typed) for typed in words])
    assert found[0] == found[1]
