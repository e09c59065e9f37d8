"""Mutants of endings: tests must notice a goal or a loss that asks for less."""

from __future__ import annotations

from tests.judge.conftest import codes, judged
from tokenworld.model import Program
from tokenworld.session.loading import Loaded, check_text
from tokenworld.verbs.judge.contract import Budget
from tokenworld.verbs.mutate import Judge, ending_mutants

WORLD = """\
type Hero { gold: 0 to 9 = 0  tired: 0 to 9 clamped = 0 }
actor me: Hero
action dig() as "dig" {
  require me.tired < 9 else tired
  me.gold += 1
  me.tired += 2
}
action rest() as "rest" { me.tired -= 2 }
world mine {
  object ada: Hero
  goal rich: ada.gold >= 2 and ada.tired == 0
  lose worn: ada.tired >= 6
}
"""
PLAYED = """\
scenario "digging twice and resting wins" in mine {
  when dig() then ada.gold == 1, ada.tired == 2
  when rest() then ada.tired == 0
  when dig() then ada.gold == 2
  when rest() then won rich
}
"""
LOST = """\
scenario "three times is too much" in mine {
  when dig() times 2 then ada.tired == 4
  when dig() then lost worn
}
"""


def test_endings_change_in_one_place() -> None:
    program = check_text(WORLD).program
    assert program is not None
    found = [(one.operator, one.what) for one in ending_mutants(program)]
    assert ("and to or", "and became or") in found
    assert ("drop ending", "lose worn left out") in found
    assert ("drop ending", "goal rich left out") not in found
    assert len(found) >= 7


SHUT = """\
type Hero { out: bool = false }
type Door { open: bool = false }
actor me: Hero
action leave(d: Door) as "leave by {d}" {
  require d.open else shut
  me.out = true
}
world cell {
  object ada: Hero
  object door: Door
  goal free: ada.out
}
scenario "locked in" in cell { then unwinnable }
"""


def test_unwinnable_notices_a_way_and_a_goal_that_holds_at_the_start() -> None:
    """Mutants that win, at once or by a command, are no survivors of a world without a way."""
    loaded = Loaded(checked(SHUT), (), ())
    judge = Judge(loaded, ())
    ended = judge.judge(checked(SHUT.replace("goal free: ada.out", "goal free: not ada.out")))
    opened = judge.judge(checked(SHUT.replace("  require d.open else shut\n", "")))
    assert (ended, opened) == ("scenario", "scenario")
    assert (
        judge.judge(checked(SHUT.replace("goal free: ada.out", "goal free: false"))) == "survived"
    )


def checked(text: str) -> Program:
    program = check_text(text).program
    assert program is not None
    return program


def test_a_loss_that_no_scenario_reaches_survives() -> None:
    budget = Budget(mutants=1000, ticks=200)
    with_loss = judged(WORLD + PLAYED + LOST, budget=budget)
    without = judged(WORLD + PLAYED, budget=budget)
    told = [one.found.message for one in without.findings if one.code == "survivor"]
    assert any("lose worn left out" in one for one in told)
    rest = [one.found.message for one in with_loss.findings if one.code == "survivor"]
    assert not any("lose worn left out" in one for one in rest)
    assert "survivor" in codes(without)
