"""Why a world cannot be won: the cause in the author's words, a minimal core, repairs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tokenworld.planning.planners.doctor import FAST_DOWNWARD, find_engine
from tokenworld.planning.proof import unsolvable_core as core_module
from tokenworld.planning.proof.reasons import Explanation, explanation_lines
from tokenworld.session import OpenWorld, Session, open_world
from tokenworld.session.solving import explain_unwinnable

DOMAINS = Path(__file__).parents[2] / "domains"
Tiny = Callable[[str], OpenWorld]


SPARKS = """
type Lamp { hot: bool }
function charge(): 0 to 1 = 1
action spark(x: Lamp) {
  require charge() == 1 else empty "Empty."
  x.hot = true  charge() -= 1
}
action stray() { require charge() == 1 else empty "Empty." }
world w { object one, two, three: Lamp  goal both: one.hot and two.hot }
"""
TOGETHER = {
    "goal one.hot",
    "goal two.hot",
    "fact charge() = 1",
    "fact one.hot = false",
    "fact two.hot = false",
}


class NoSearch:
    """A search that is over before it began."""

    def __init__(self, *_: object) -> None:
        pass

    def run(self, limits: object) -> None:
        return None


def explained(world: OpenWorld, *, full: bool = True, seconds: float = 60) -> Explanation:
    session = Session(world)
    verdict = session.plan(time_limit=30)
    assert verdict.answer == "unwinnable"
    found = explain_unwinnable(world, session.state, verdict, seconds=seconds, full=full)
    return found[0]


def core(found: Explanation) -> set[str]:
    assert found.core is not None
    assert found.core.minimal
    return {f"{one.kind} {one.text}" for one in found.core.parts}


def test_a_goal_over_time_is_explained_without_monitors(tmp_path: Path) -> None:
    text = (DOMAINS / "errands" / "world.tw").read_text(encoding="utf-8")
    path = tmp_path / "world.tw"
    path.write_text(re.sub(r"add street\(\w+, mill\)", "", text))
    lines = explanation_lines(explained(open_world(str(path)), seconds=1), full=False)
    assert lines[0].startswith("nothing ever makes `sometime (me.at == mill and me.parcel)` true")
    assert "`me.at` is only ever depot, market, bridge" in lines[0]
    assert not any("(seen)" in line for line in lines)


# ---- the twins --------------------------------------------------------------------------------


def test_the_cellar_s_twin_lacks_a_key_that_fits() -> None:
    found = explained(open_world(str(DOMAINS / "cellar" / "twin.tw")))
    lines = explanation_lines(found, full=True)
    assert lines[0].startswith("nothing ever makes `ruby.holder == hero` true (")
    assert any(
        "`unlock(oak_chest, iron_key)` would, and needs `c.opened_by == k`" in x for x in lines
    )
    assert any("`oak_chest.opened_by` is only ever none" in line for line in lines)
    assert core(found) == {
        "goal ruby.holder == hero",
        "require it.at == me.at",
        "require c.opened_by == k",
        "require c.state == closed",
        "fact ruby.at = none",
        "fact ruby.holder = none",
        "fact oak_chest.state = locked",
        "fact oak_chest.opened_by = none",
    }
    assert found.repairs[0].text == "let `oak_chest.opened_by` be `iron_key` at the start"
    assert found.repairs[0].ticks == 5


@pytest.mark.slow
def test_the_twin_of_the_cottage_lacks_a_bucket() -> None:
    found = explained(open_world(str(DOMAINS / "cottage" / "twin.tw")), full=False)
    lines = explanation_lines(found, full=False)
    assert lines[0].startswith("nothing ever makes `pea.stage >= sprout` true (")
    assert any("needs `d.water >= 2l`" in line for line in lines)
    assert any("there is no `Bucket`" in line for line in lines)
    (repair,) = found.repairs
    assert repair.text in (
        "in `d.water >= 2l`, let the number be 1, not 2",
        "let `garden_bed.water` be `2` at the start",
    )


# ---- little worlds ----------------------------------------------------------------------------


def test_a_number_out_of_reach_is_lowered(tiny: Tiny) -> None:
    text = """
    type Pot { water: 0 to 9 = 0  sprouted: bool = false }
    action pour(p: Pot) { p.water = 3 }
    action sow(p: Pot) { require p.water >= 5 else dry "Dry."  p.sprouted = true }
    world w { object pot: Pot  goal green: pot.sprouted }
    """
    found = explained(tiny(text))
    texts = [repair.text for repair in found.repairs]
    assert texts[0] == "in `p.water >= 5`, let the number be 3, not 5"
    assert "let `pot.water` be `5` at the start" in texts
    assert "drop `require p.water >= 5` of `sow`" in texts
    assert "fact pot.water = 0" in core(found)


def test_what_can_be_had_singly_and_not_together_has_a_core(tiny: Tiny) -> None:
    found = explained(tiny(SPARKS))
    assert found.missing == ()
    assert found.core is not None
    assert found.core.oracle == "own search"
    assert core(found) == TOGETHER
    assert found.repairs[0].text in (
        "let `one.hot` be `true` at the start",
        "let `two.hot` be `true` at the start",
    )


@pytest.mark.planner
@pytest.mark.skipif(not find_engine(FAST_DOWNWARD).ready, reason="no Fast Downward")
def test_a_planner_is_the_oracle_where_our_own_search_is_too_slow(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core_module, "OwnSearch", NoSearch)
    found = explained(tiny(SPARKS))
    assert found.core is not None
    assert found.core.oracle == "fast-downward"
    assert core(found) == TOGETHER


def test_a_law_and_a_losing_line_can_be_the_cause(tiny: Tiny) -> None:
    text = """
    function fire(): 0 to 3 = 2
    function baked(): 0 to 9 clamped = 0
    action bake() { baked() += 1 }
    law burn() when fire() > 0 { fire() -= 1 }
    world w { goal done: baked() >= 3  lose cold: fire() == 0 }
    """
    found = explained(tiny(text))
    texts = core(found)
    assert "ending fire() == 0" in texts
    assert "law burn" in texts
    assert any(repair.kind in ("start value", "condition") for repair in found.repairs)


def test_a_missing_object_is_added(tiny: Tiny) -> None:
    text = """
    type Room
    type Key { at: Room }
    type Hero { at: Room }
    type Door { open: bool = false }
    actor me: Hero
    action unlock(d: Door, k: Key) { require k.at == me.at else far "Far."  d.open = true }
    world w { object hall: Room  object hero: Hero { at = hall }  object gate: Door
      goal out: gate.open }
    """
    found = explained(tiny(text))
    (missing,) = found.missing
    assert [way.empty for way in missing.ways] == [("Key",)]
    assert any(repair.text.startswith("add `object key: Key") for repair in found.repairs)


def test_every_repair_is_one_that_wins(tiny: Tiny) -> None:
    found = explained(open_world(str(DOMAINS / "cellar" / "twin.tw")))
    assert [repair.ticks > 0 for repair in found.repairs] == [True] * 3
    shown = found.to_json()
    assert set(shown) == {"goal", "missing", "core", "repairs"}


def test_without_time_the_core_is_reduced_and_says_so(tiny: Tiny) -> None:
    found = explained(open_world(str(DOMAINS / "cellar" / "twin.tw")), seconds=0.2)
    if found.core is not None and not found.core.minimal:
        assert any("reduced" in line for line in explanation_lines(found, full=True))
    assert found.missing


def test_nothing_is_explained_of_a_world_that_can_be_won(tiny: Tiny) -> None:
    world = open_world(str(DOMAINS / "cellar" / "world.tw"))
    session = Session(world)
    verdict = session.plan(time_limit=30)
    assert explain_unwinnable(world, session.state, verdict, seconds=5, full=True) == ()


def test_a_start_that_cannot_be_is_no_repair(tiny: Tiny) -> None:
    found = explained(
        tiny("""
type Box { at: Box? nested }
actor me: Box
action swap(x: Box) { require x.at == me  require me.at == x  x.at = none }
world w { object hero, chest: Box  goal free: hero.at == chest and chest.at == hero }
""")
    )
    assert not found.repairs
