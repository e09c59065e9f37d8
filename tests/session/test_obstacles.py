"""What stands in the way of a command: since when, by which change, what helps, and a way there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.diagnostics import Source
from tokenworld.ground import Command
from tokenworld.play.model.game import forbidden
from tokenworld.session import Session, open_world
from tokenworld.session.loading import open_text
from tokenworld.session.obstacles import Obstacle, command_of, helps, obstacles
from tokenworld.session.refusals.ways import Satisfaction, satisfy

DOMAINS = Path(__file__).parents[2] / "domains"

_SAFE = """
type Lamp { lit: bool = false  oil: 0 to 9 = 1 }
type Safe { shut: bool = true  hot: bool = false }
type Me { key: bool = false }
actor me: Me
phase night

action light(l: Lamp) as "light {l}" {
  require l.oil > 0 else dry "The lamp is dry."
  l.lit = true
}
action find() as "find key" { require not me.key else has "You have it."  me.key = true }
action open(s: Safe) as "open {s}" {
  require any(l.lit for l: Lamp) else dark "It is dark."
  require me.key                   else locked "It is locked."
  s.shut = false
}
action wish() as "wish" { require me.key and not me.key else vain "It never comes true." }
action kiln(s: Safe) as "fire {s}" { s.hot = true }
action touch(s: Safe) as "touch {s}" { require not s.hot else hot "It is hot." }
law burn(l: Lamp) during night when l.lit { l.lit = false }

world night "Night" {
  object lamp: Lamp
  object safe: Safe
  object hero: Me
  goal open: not safe.shut
}
"""


@pytest.fixture
def night() -> Session:
    return Session(open_text((Source("night.tw", None, _SAFE),), "night"), 3)


def command(session: Session, text: str) -> Command:
    found = session.why_not(text).command
    assert found is not None
    return found


def blocking(session: Session, text: str) -> dict[int, Obstacle]:
    return obstacles(session, command(session, text))


def sought(session: Session, text: str, seconds: float = 20.0) -> Satisfaction:
    asked = command(session, text)
    return satisfy(
        session.apart(), asked, seconds=seconds, say=lambda _: None, cancel=lambda: False
    )


def test_the_change_that_made_a_require_false_is_named(night: Session) -> None:
    for text in ("find key", "fire safe", "find key"):
        night.intend(text)
    (found,) = blocking(night, "touch safe").values()
    assert (found.since, found.asked) == (1, "fire safe")
    assert [(one.fluent, one.rule) for one in found.causes] == [("Safe.hot", "action kiln")]


def test_a_law_is_named_as_well(night: Session) -> None:
    night.intend("light lamp")
    assert night.moments[-1].outcomes[0].law_changes
    found = blocking(night, "open safe")[0]
    # light and law happen in one tick, so at no moment between ticks was there light
    assert found.since is None


def test_what_was_never_true_is_false_from_the_start(night: Session) -> None:
    found = blocking(night, "open safe")
    assert list(found) == [0, 1]
    for one in found.values():
        assert (one.since, one.causes, one.whole) == (None, (), True)


def test_a_command_that_helps_is_offered_and_really_helps(night: Session) -> None:
    night.intend("find key")
    assert helps(night, command(night, "find key"), 0) is None
    cellar = Session(open_world(str(DOMAINS / "cellar" / "world.tw")), 7)
    found = helps(cellar, command(cellar, "open oak chest"), 0)
    assert found is not None
    cellar.intend(found)
    assert 0 not in blocking(cellar, "open oak chest")


def test_a_command_that_can_be_given_has_nothing_in_its_way(night: Session) -> None:
    assert blocking(night, "find key") == {}
    assert blocking(night, "pass") == {}


def test_an_undone_change_is_no_cause(night: Session) -> None:
    night.intend("fire safe")
    night.undo()
    assert blocking(night, "touch safe") == {}


def test_the_command_of_a_record_is_found_again(night: Session) -> None:
    outcome = night.intend("open safe")[-1]
    assert command_of(night, night.moments[-1], outcome) == command(night, "open safe")
    puzzled = night.intend("dance")[-1]
    assert command_of(night, night.moments[-1], puzzled) is None


def test_a_way_leads_to_where_the_command_is_executed() -> None:
    cellar = Session(open_world(str(DOMAINS / "cellar" / "world.tw")), 7)
    found = sought(cellar, "open oak chest")
    assert (found.answer, found.aim, found.certain) == ("found", "command", True)
    assert found.words == tuple(dict.fromkeys(found.words))
    for step, words in zip(found.steps, found.words, strict=True):
        assert cellar.text_of(step.command) == words
        assert cellar.intend(step.command)[-1].status == "executed"
    assert cellar.intend("open oak chest")[-1].status == "executed"


def test_no_way_is_a_proof_where_all_states_were_seen(night: Session) -> None:
    found = sought(night, "open safe")
    assert (found.answer, found.steps) == ("impossible", ())
    assert found.states > 1


def test_a_way_to_one_require_is_offered_where_the_whole_is_out_of_reach() -> None:
    text = _SAFE.replace("law burn(l: Lamp) during night when l.lit { l.lit = false }", "")
    text = text.replace("require me.key                   else", "require me.key and s.hot and "
                        "tick() < 0 else")  # fmt: skip
    session = Session(open_text((Source("night.tw", None, text),), "night"), 3)
    found = sought(session, "open safe", 2.0)
    assert (found.answer, found.aim) == ("found", "require")
    assert found.words == ("light lamp",)
    assert found.condition == "any(l.lit for l: Lamp)"


def test_a_search_that_is_stopped_knows_nothing(night: Session) -> None:
    asked = command(night, "open safe")
    found = satisfy(night.apart(), asked, seconds=20, say=lambda _: None, cancel=lambda: True)
    assert found.answer == "unknown"


def test_what_is_forbidden_has_a_reason_and_is_refused(night: Session) -> None:
    found = forbidden(night, night.legal())
    assert {one.text: one.reason for one in found} == {
        "open safe": "It is dark.",
        "wish": "It never comes true.",
    }
    for one in found:
        assert night.intend(one.command)[-1].refusal is not None
    assert [one.text for one in found] == ["wish", "open safe"]
    assert len(forbidden(night, night.legal(), limit=1)) == 1
