"""Refusals taken apart on the screen: every clause with its sign and the values that decide."""

from __future__ import annotations

import pytest

from tests.tools.play.conftest import WORLDS
from tests.tools.play.piloting import details, enter
from tests.tools.play.test_play_snapshots import PICTURED, Compare, typing
from tokenworld.play.screens.app import PlayApp
from tokenworld.session import Session
from tokenworld.verbs.output import UNICODE


@pytest.fixture
def open_stack() -> PlayApp:
    """A world whose conditions have every form."""
    return PlayApp(Session.open(str(WORLDS / "stack.tw"), 7), glyphs=UNICODE)


async def test_a_condition_is_taken_apart(open_stack: PlayApp) -> None:
    async with open_stack.run_test(size=(120, 40)) as pilot:
        await enter(pilot, "lift pan")
        assert "  and 1 more, which do not decide" in details(open_stack).splitlines()
        await pilot.press("f4")
        lines = details(open_stack).splitlines()
        at = lines.index("✗ hot: near(t) and not t.hot")
        assert lines[at + 1 : at + 13] == [
            "  You cannot touch the pan.",
            "  all of",
            "  ✓ near(t)",
            "    stands for",
            "    ✓ t.at == me.at or t.at == me",
            "      any of",
            "      ✓ t.at == me.at",
            "          t.at = hall",
            "          me.at = hall",
            "      ✗ t.at == me",
            "          t.at = hall",
            "  ✗ not t.hot",
        ]
        assert "  ✗ x = lid" in lines
        assert "        x.size = 7" in details(open_stack)
        await enter(pilot, "why lift lid")
        assert "  every case" in details(open_stack)


@PICTURED
def test_a_tree_of_conditions(compare: Compare, open_stack: PlayApp, size: tuple[int, int]) -> None:
    run = typing("lift pan", last=("f4",))
    assert compare(open_stack, terminal_size=size, run_before=run)
