"""Hints: the next step, the distance, what every way passes, and where it was lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.planning.verdict import Answer
from tokenworld.session import OpenWorld, Session, open_world
from tokenworld.session import session as hinting
from tokenworld.session.session import last_winnable

CELLAR = Path(__file__).parents[2] / "domains" / "cellar" / "world.tw"
Tiny = Callable[[str], OpenWorld]
EGG = """
type Egg { broken: bool = false  boiled: bool = false }
action smash(e: Egg) { e.broken = true }
action boil(e: Egg) { require not e.broken else mess "A mess."  e.boiled = true }
action wait() { }
world w { object egg: Egg  goal soft: egg.boiled }
"""


@pytest.fixture
def cellar() -> Session:
    return Session(open_world(str(CELLAR)))


def test_following_the_hints_wins_in_the_distance_told(cellar: Session) -> None:
    left = [5, 4, 3, 2, 1]
    for ticks in left:
        hint = cellar.hint()
        assert (hint.distance, hint.shortest) == (ticks, True)
        assert hint.next_step is not None
        cellar.intend(hint.next_step.command)
    assert cellar.won()


def test_landmarks_that_were_passed_are_told_no_more(cellar: Session) -> None:
    assert cellar.hint().landmarks[0] == "hero.at == vault"
    cellar.intend("take(brass_key)")
    cellar.intend("go(arch)")
    assert cellar.hint().landmarks == ("oak_chest.state == closed", "ruby.holder == hero")


def test_a_lost_goal_has_no_hint_and_a_last_chance(tiny: Tiny) -> None:
    session = Session(tiny(EGG))
    for words in ("wait()", "wait()", "smash(egg)", "wait()", "wait()"):
        session.intend(words)
    hint = session.hint()
    assert (hint.verdict.answer, hint.next_step, hint.landmarks) == ("unwinnable", None, ())
    chance = last_winnable(session, None, seconds=20)
    assert (chance.moment, chance.tick, chance.lost_by) == (2, 2, "smash(egg)")
    assert chance.known


def test_a_goal_that_can_be_reached_is_lost_by_nothing(cellar: Session) -> None:
    cellar.intend("take(iron_key)")
    chance = last_winnable(cellar, None, seconds=20)
    assert (chance.moment, chance.lost_by, chance.known) == (1, "", True)


def test_a_goal_that_never_could_be_reached_has_no_moment(tiny: Tiny) -> None:
    session = Session(tiny(EGG.replace("object egg: Egg ", "object egg: Egg { broken = true } ")))
    session.intend("wait()")
    assert last_winnable(session, None, seconds=20).moment is None


def test_verdicts_are_asked_for_once(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    session, asked = Session(tiny(EGG)), list[object]()
    for words in ("smash(egg)", *["wait()"] * 30):
        session.intend(words)
    real = hinting.plan

    def counting(simulator, state, goal, **more):  # type: ignore[no-untyped-def]
        asked.append(state)
        return real(simulator, state, goal, **more)

    monkeypatch.setattr(hinting, "plan", counting)
    known: dict[str, Answer] = {}
    first = last_winnable(session, None, seconds=20, known=known)
    assert first.moment == 0
    assert len(asked) <= 7
    before = len(asked)
    assert last_winnable(session, None, seconds=20, known=known) == first
    assert len(asked) == before


def test_after_the_end_there_is_no_hint(cellar: Session) -> None:
    for step in cellar.hint().plan:
        cellar.intend(step.command)
    with pytest.raises(Failure):
        cellar.hint()
