"""Words that no rule works out are kept; all others follow the state."""

from __future__ import annotations

from tokenworld.diagnostics import Source
from tokenworld.session import Session
from tokenworld.session.loading import open_text

WORLD = """
type Thing { lit: bool = false }
type Lamp : Thing
called l: Lamp = if l.lit then "bright lamp" else "dark lamp" aka "light"
type Hero
actor me: Hero
action light(l: Lamp) as "light {l}" { l.lit = true }
action smash(t: Thing) as "smash {t}" { destroy t }
world w { object hero: Hero  object brass_lamp: Lamp  object stone: Thing aka "rock" }
"""


def words(session: Session) -> dict[str, tuple[str, ...]]:
    speaker, state = session.speaker(), session.state
    return {name: speaker.words_for(number) for name, number in state.numbers.items()}


def test_what_a_rule_says_follows_the_state_also_back_again() -> None:
    session = Session(open_text((Source("w.tw", None, WORLD),), "w"), 0)
    first = words(session)
    assert first["brass_lamp"] == ("dark lamp", "light", "brass_lamp")
    assert first["stone"] == ("stone", "rock")
    session.intend("light dark lamp")
    assert words(session)["brass_lamp"] == ("bright lamp", "light", "brass_lamp")
    session.intend("smash bright lamp")
    session.intend("smash rock")
    assert "stone" not in session.state.names or not session.state.alive(2)
    session.undo()
    session.undo()
    assert words(session)["brass_lamp"] == ("bright lamp", "light", "brass_lamp")
    assert words(session)["stone"] == first["stone"]
    session.undo()
    assert words(session) == first


def test_words_are_those_of_an_earlier_state_while_the_facts_behind_them_are() -> None:
    session = Session(open_text((Source("w.tw", None, WORLD),), "w"), 0)
    lit = session.engine.layout.by_id["Thing.lit"].index
    assert session.engine.word_columns == (lit,)
    before = session.speaker()
    session.intend("pass")
    assert session.speaker().says_as(before)
    assert [one.text for one in session.legal()] == [
        "light dark lamp", "smash dark lamp", "smash stone",
    ]  # fmt: skip
    session.intend("light dark lamp")
    assert not session.speaker().says_as(before)
    assert "smash bright lamp" in [one.text for one in session.legal()]


def test_words_that_follow_the_clock_are_those_of_no_other_state() -> None:
    clock = WORLD.replace("l.lit then", "tick() == 1 then")
    session = Session(open_text((Source("w.tw", None, clock),), "w"), 0)
    assert session.engine.word_columns is None
    session.intend("pass")
    assert "smash bright lamp" in [one.text for one in session.legal()]
    session.intend("pass")
    assert "smash dark lamp" in [one.text for one in session.legal()]
