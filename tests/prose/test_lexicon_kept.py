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
