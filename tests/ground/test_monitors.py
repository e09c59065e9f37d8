"""Each world of a file has the monitors of its own goals over time, and no others."""

from __future__ import annotations

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import Session
from tokenworld.session.loading import OpenWorld, open_text

RULES = """
type Lamp { lit: bool }
type Box { lit: bool }
action light(l: Lamp) as "light {l}" { require not l.lit  l.lit = true }
action quench(l: Lamp) as "quench {l}" { require l.lit  l.lit = false }
action warm(b: Box) as "warm {b}" { require not b.lit  b.lit = true }
law fade(l: Lamp) when l.lit and was l.lit { l.lit = false }
"""
WORLDS = {
    "plain": "{ object a: Lamp  goal lit: a.lit }",
    "past": "{ object a: Lamp  goal out: not a.lit and sometime a.lit }",
    "twice": """{
        object a, b: Lamp
        goal both: b.lit and sometime sometime a.lit and sometime_before b.lit then a.lit
    }""",
    "boxed": "{ object a: Box  goal warm: a.lit and sometime not a.lit }",
}
TYPED = {"plain": "light a", "past": "light a", "twice": "light a", "boxed": "warm a"}


def opened(name: str, *names: str, more: str = "") -> OpenWorld:
    worlds = "\n".join(f"world {one} {WORLDS[one]}" for one in names or WORLDS)
    return open_text((Source("test.tw", None, f"{RULES}{more}{worlds}"),), name)


def monitors(world: OpenWorld) -> list[str]:
    return [one.name for one in world.program.fluents.values() if one.monitor]


def test_a_world_has_the_monitors_of_its_own_goals() -> None:
    assert monitors(opened("plain")) == []
    assert monitors(opened("past")) == ["sometime a lit (seen)"]
    assert len(monitors(opened("twice"))) == 4
    assert monitors(opened("boxed")) == ["sometime not a lit (seen)"]


def test_a_require_over_time_is_asked_in_every_world() -> None:
    more = 'action rest() as "rest" { require sometime any(l.lit for l: Lamp) }\n'
    assert monitors(opened("plain", more=more)) == ["sometime any(l lit for l: Lamp) (seen)"]


@pytest.mark.parametrize("name", sorted(WORLDS))
def test_a_world_in_a_file_with_others_is_the_world_alone(name: str) -> None:
    alone, together = (Session(one) for one in (opened(name, name), opened(name)))
    for typed in (TYPED[name], "wait", "wait"):
        first, second = (one.engine.hash(one.state) for one in (alone, together))
        assert first == second
        first, second = (one.intend(typed)[0].to_json() for one in (alone, together))
        assert first == second


def test_equal_words_about_objects_of_other_types_have_their_own_monitor() -> None:
    text = (
        RULES
        + """
world lamps { object a: Lamp  goal lit: a.lit and sometime a.lit }
world boxes { object a: Box  goal lit: a.lit and sometime a.lit }
"""
    )
    for name, typed in (("lamps", "light a"), ("boxes", "warm a")):
        session = Session(open_text((Source("test.tw", None, text),), name))
        (outcome,) = session.intend(typed)
        assert outcome.latched == ("lit",)
