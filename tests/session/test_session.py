"""The session: intents of every form, undo, asking without acting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.ground import PASS, Command
from tokenworld.prose.intents import CallIntent, PassIntent, TypedIntent
from tokenworld.session import OpenWorld, Session, open_world, rollout
from tokenworld.session.players import random_player, script_player

Tiny = Callable[[str], OpenWorld]
RULES = """
type Room
type T { at: Room  n: 0 to 9 = 0 }
actor me: T
action go(r: Room) as "go to {r}" { require r != me.at else here "You are there."  me.at = r }
action add(k: 1 to 3) as "add {k}" { me.n += k }
action peek() as "peek" takes 0 { say "{me.n}" }
action nap() as "nap" takes 3 { me.n = 0 }
world w {
  object hall, attic: Room
  object hero: T { at = hall }
  goal up: hero.at == attic and hero.n >= 2 "Up."
}
"""


@pytest.fixture
def session(tiny: Tiny) -> Session:
    return Session(tiny(RULES))


def test_a_world_is_opened_by_a_path(tmp_path: Path) -> None:
    path = tmp_path / "w.tw"
    path.write_text(RULES, encoding="utf-8")
    opened = (Session.open(path), Session(open_world(path)), Session.open(f"{path}:w"))
    assert {one.engine.hash(one.state) for one in opened} == {
        opened[0].engine.hash(opened[0].state)
    }
    assert rollout(path, worlds=1, ticks=3).worlds == 1


@pytest.mark.parametrize(
    "intent",
    [
        "go to attic", "GO TO THE ATTIC.", "go(attic)", TypedIntent("go to attic"),
        TypedIntent("go to attic", "hero"), CallIntent("go", {"r": "attic"}),
        CallIntent("go", {"r": "attic"}, "hero"), Command("go", (1,)),
    ],
)  # fmt: skip
def test_intents_of_every_form_mean_the_same(session: Session, intent: object) -> None:
    (record,) = session.intend(intent)  # type: ignore[arg-type]
    assert (record.status, record.action, record.args) == ("executed", "go", {"r": "attic"})


@pytest.mark.parametrize("intent", ["pass", "PASS.", PassIntent(), PassIntent("hero"), PASS])
def test_pass_of_every_form(session: Session, intent: object) -> None:
    (record,) = session.intend(intent)  # type: ignore[arg-type]
    assert (record.status, record.action) == ("executed", "pass")


def test_moments_keep_what_was_asked(session: Session) -> None:
    for intent in ("go to attic", Command("add", (2,)), PASS):
        session.intend(intent)
    assert [moment.asked for moment in session.moments[1:]] == ["go to attic", "add 2", "pass"]


def test_undo_goes_back_step_by_step_and_stops_at_the_start(session: Session) -> None:
    hashes = [session.engine.hash(session.state)]
    for intent in ("add 2", "go to attic", "xyzzy"):
        session.intend(intent)
        hashes.append(session.engine.hash(session.state))
    assert session.won()
    assert session.ended()
    for expected in reversed(hashes[:-1]):
        assert session.undo()
        assert session.engine.hash(session.state) == expected
    assert not session.won()
    assert not session.undo()


def test_a_long_action_can_be_undone_in_the_middle(session: Session) -> None:
    session.intend("nap")
    session.intend("pass")
    assert session.undo()
    assert session.undo()
    assert session.state_json()["long"] == {}
    assert session.intend("add 1")[-1].status == "executed"


def test_legal_commands_come_with_their_words(session: Session) -> None:
    found = {one.call: one.text for one in session.legal()}
    assert found == {
        "go(attic)": "go to attic", "add(1)": "add 1", "add(2)": "add 2", "add(3)": "add 3",
        "peek()": "peek", "nap()": "nap",
    }  # fmt: skip
    for one in session.legal():
        assert session.why_not(one.text).allowed


def test_nothing_is_legal_after_the_end(session: Session) -> None:
    for words in ("add 2", "go to attic"):
        session.intend(words)
    assert session.legal() == ()
    assert not session.can_pass()
    with pytest.raises(Failure, match="over"):
        session.hint()


def test_asking_changes_nothing(session: Session) -> None:
    before = session.engine.hash(session.state)
    session.legal()
    session.why_not("go to hall")
    session.complete("g")
    session.plan()
    session.text_of(Command("add", (1,)))
    assert session.engine.hash(session.state) == before
    assert len(session.moments) == 1


def test_takes_time_and_can_pass(session: Session) -> None:
    assert session.takes_time(Command("add", (1,)))
    assert not session.takes_time(Command("peek"))
    assert session.can_pass()


def test_a_plan_wins_and_a_session_apart_is_its_own(session: Session) -> None:
    apart = session.apart()
    verdict = apart.plan()
    assert (verdict.answer, verdict.wins_with_seed) == ("winnable", True)
    for step in verdict.steps:
        apart.intend(step.command)
    assert apart.won("up")
    assert len(session.moments) == 1
    assert not session.won()


def test_another_seed_changes_only_later_draws(tiny: Tiny) -> None:
    world = tiny(
        """
        type T { n: 0 to 99 = 0 }
        actor me: T
        action flip() { chance 50% { me.n += 1 } else { me.n += 10 } }
        world w { object h: T }
        """
    )
    session = Session(world, 1)
    for _ in range(5):
        session.intend("flip()")
    facts = session.state
    session.reseed(2)
    assert session.same_facts(facts)
    assert (session.seed, session.state.seed, session.tick) == (2, 2, 5)


# ---- players -----------------------------------------------------------------------------


def test_the_random_player_gives_legal_intents_only_and_is_repeatable(
    willowbrook: OpenWorld,
) -> None:
    runs = []
    for _ in range(2):
        session = Session(willowbrook, 12)
        player = random_player(session)
        asked = []
        for _ in range(80):
            intent = next(player)
            status = session.intend(intent)[-1].status
            assert status in ("executed", "waiting"), session.moments[-1].asked
            asked.append(intent)
        runs.append(asked)
    assert runs[0] == runs[1]
    assert PASS in runs[0]
    assert len({one.action for one in runs[0]}) > 8  # type: ignore[union-attr]


def test_a_script_player_gives_its_lines(session: Session) -> None:
    from tokenworld.diagnostics import Source
    from tokenworld.prose.intents import read_script

    lines = read_script(Source("s.txt", None, "# up\nadd 2\n\n  go(attic)\n"))
    for intent in script_player(lines)(session):
        session.intend(intent)
    assert session.won()
