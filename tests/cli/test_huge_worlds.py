"""Worlds that nobody could go through are refused before anything is grounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

Tw = Any

LAW = """type Hero { n: 0 to 9 = 0 }
actor me: Hero
action step() { me.n += 1 }
law drift(a: 0 to 1000000, b: 0 to 1000000, c: 0 to 1000000, d: 0 to 1000000) when a == b {
  me.n = 0
}
world w { object hero: Hero  goal far: hero.n == 7 }
"""


@pytest.mark.parametrize("verb", [("plan",), ("audit",), ("export", "--pddl")])
def test_a_huge_law_is_one_diagnostic(tw: Tw, tmp_path: Path, verb: tuple[str, ...]) -> None:
    file = tmp_path / "huge.tw"
    file.write_text(LAW, encoding="utf-8")
    found = tw(verb[0], file, *verb[1:])
    assert found.code != 0
    assert found.err.count("error[") == 1
    assert "TW0813" in found.err
    assert "1,000,004,000,006,000,004,000,001 bindings" in found.err


def test_play_past_the_goal_is_refused_where_it_cannot_go_on(tw: Tw) -> None:
    world = Path(__file__).parents[2] / "domains" / "cellar" / "world.tw"
    found = tw("audit", world, "--past-goal")
    assert found.code != 0
    assert "TW0801" in found.err
