"""What a reason says that a slot "is only ever" covers every value that play shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import Opened, opened

from tokenworld.ground import slots
from tokenworld.planning.proof.causes import Why
from tokenworld.planning.proof.reasons import _nearest
from tokenworld.planning.search.interpreted import Limits
from tokenworld.planning.space.graph import explore
from tokenworld.verbs.fuzz.verdicts import disagreement

WORLDS = {
    "several act": """
type P { n: 0 to 3  m: 0 to 3 }
actor me: P
action bump() { require me.n < 2  me.n += 1 }
action look(p: P) { require p != me and p.n > 0  me.m = 2 }
world w { turns a, b  object a, b: P  goal g: a.n == 3 }
""",
    "several act, through a derive": """
type P { n: 0 to 3 }
actor me: P
derive mine(p: P) = p == me and p.n < 2
derive linked(p: P) = mine(p) or any(linked(q) for q: P where q != p and q.n > 2)
action bump(p: P) { require mine(p) and linked(p)  p.n += 1 }
world w { turns a, b  object a, b: P  goal g: a.n == 3 }
""",
    "several are busy": """
type P { n: 0 to 3  seen: bool }
actor me: P
action dig() takes 2 { me.n = 1  cancelled { me.n = 2 } }
action note(p: P) { require busy(p)  p.seen = true }
action tell(p: P) { require did(p, note)  me.n = 1 }
world w { turns a, b  object a, b: P  goal g: a.n == 3 }
""",
    "broken off": """
type D { n: 0 to 3  open: bool }
type H
actor me: H
action dig(d: D) takes 3 { require d.n == 0  d.n = 1  cancelled { d.n = 2 } }
action shut(d: D) { require d.n == 2  d.open = true }
world w { object h: H  object d: D  goal g: d.n == 3 }
""",
}


def only_ever(world: Opened) -> None:
    why = Why(world.simulator, world.state, {})
    assert why.sound
    graph = explore(world.simulator, world.state, None, Limits(states=5_000))
    assert graph.complete
    seen = 0
    for fluent in world.instance.program.fluents.values():
        for args in slots(world.instance, fluent):
            held = why.analysis.domain((fluent.id, args))
            values = {world.simulator.read(one, fluent.id, args) for one in graph.states}
            seen += len(values) > 1
            assert held is None or values <= set(held), (fluent.id, args)
    assert seen


@pytest.mark.parametrize("name", WORLDS)
def test_a_reason_covers_all_states(name: str) -> None:
    only_ever(opened(WORLDS[name]))


def test_what_breaking_off_makes_is_a_way() -> None:
    world = opened(WORLDS["broken off"].replace("d.n == 2  d.open", "d.n == 3  d.open"))
    (missing,) = Why(world.simulator, world.state, {}).goal("g")
    assert missing.held[0].values == "0, 1, 2"


RELIED_ON = """
type D { n: 0 to 1 clamped  m: 0 to 1  at: D? nested ordered inverse kids }
type H { k: 0 to 3 clamped }
actor me: H
action dig(x: D) takes 2 { require x.m > 1  x.m -= 1  cancelled { x.at = none } }
action put(x: D) takes 3 {
  require busy(me) and x.m == 1
  x.at = x
  cancelled { let lucky = chance 50%  if lucky { x.n += 1 } }
}
world w {
  object d0, d1: D
  object ann, bob: H
  turns ann, bob
  goal done: count(d1.kids) >= 1 and d1.at != d1 and (d1.at != none and d1.at.n + 1 <= 2)
}
"""


def test_what_other_conditions_rely_on_is_not_dropped() -> None:
    """`d1.at.n` has a value only where `d1.at` is not `none`."""
    assert disagreement(RELIED_ON, ("",)) is None


# ---- short reasons ------------------------------------------------------------------------------


def test_the_chain_ends_at_what_no_rule_changes() -> None:
    """A parcel can be loaded where it lies, had the truck a way there: not where it does not lie,
    because it cannot be unloaded there."""
    world = opened("""
relation road(a: City, b: City)
type City
type Truck { at: City }
type Parcel { at: City?  on: Truck? }
action drive(t: Truck, c: City) { require road(t.at, c)  t.at = c }
action load(p: Parcel, t: Truck) { require p.at == t.at  p.at = none  p.on = t }
action unload(p: Parcel, t: Truck) { require p.on == t  p.on = none  p.at = t.at }
world w {
  object a, b, c: City
  object truck: Truck { at = a }
  object box: Parcel { at = b }
  setup { add road(a, c)  add road(b, a) }
  goal there: box.at == c
}
""")
    chain = Why(world.simulator, world.state, {}).goal("there")
    told = []
    while chain:
        (told, chain) = ([*told, chain[0]], chain[0].ways[0].lacks if chain[0].ways else ())
    assert told[-1].held[0].name == "road(a, b)"


def test_the_deepest_lines_of_a_long_chain_are_left_out() -> None:
    lines = ["a", "  b", "    c", "      d", "    e", "  f", "    g"]
    assert _nearest(lines, 7) == lines
    assert _nearest(lines, 4) == ["a", "  b", "    c", "  f"]
    assert _nearest(lines, 0) == ["a"]
