"""The matrix of what each way of planning takes."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import bundled, opened

from tokenworld.planning.capabilities import WAYS, capabilities, capability_lines


def refusals(text: str) -> dict[str, set[str]]:
    """The ways that refuse something, by declaration."""
    world = opened(text)
    found = capabilities(world.simulator, world.state, None)
    return {f"{one.kind} {one.name}": set(one.refusals) for one in found.constructs if one.refusals}


def test_all_ways_take_the_cellar():
    world = bundled("cellar/world")
    found = capabilities(world.simulator, world.state, None)
    assert {one.name for one in found.constructs} >= {"take", "one_place", "rich", "Chest.state"}
    assert all(one.takes(way) for one in found.constructs for way in WAYS)
    assert found.remarks == ()


def test_a_refusal_stands_at_its_declaration_with_the_reason():
    text = """
    function heat(): real
    function worn(): 0 to 9 = 0
    action warm() { heat() += 0.5 }
    action wear() { worn() += 1 }
    world w { goal hot: heat() > 1.0 and worn() == 2 }
    """
    assert refusals(text) == {"function heat": {"E"}}
    world = opened(text)
    found = capabilities(world.simulator, world.state, None)
    lines = capability_lines(found)
    assert any(line.startswith("E: function heat (test.tw:2): ") for line in lines)


def test_laws_in_turn_are_refused_by_all_encodings():
    text = """
    type Pot { n: 0 to 9 = 0 }
    phase late sequentially
    action wait() { }
    law drip(p: Pot) during late { p.n = min(p.n + 1, 9) }
    world w { object a, b: Pot  goal full: a.n == 3 }
    """
    found = refusals(text)
    assert found["phase late"] == {"E"} or found["phase late"] == {"E", "lifted PDDL"}


def test_programs_get_every_way_for_every_declaration():
    world = bundled("kitchen/world")
    shown = capabilities(world.simulator, world.state, None).to_json()
    constructs = shown["constructs"]
    assert isinstance(constructs, list)
    assert all(set(one["takes"]) == set(WAYS) for one in constructs)


def test_an_action_that_is_never_tried_is_told():
    text = """
    type Card
    object a: Card
    relation told(c: Card)
    action guess(n: 1 to 999999999999) { require n == 7 * 7  add told(a) }
    action wait() { }
    world w { goal done: told(a) }
    """
    world = opened(text)
    found = capabilities(world.simulator, world.state, None)
    (guess,) = (one for one in found.constructs if one.name == "guess")
    assert guess.takes("own search") is False
    assert guess.refusals["own search"] == [
        "it has 999,999,999,999 bindings, too many to list, and is never tried"
    ]
    (wait,) = (one for one in found.constructs if one.name == "wait")
    assert wait.takes("own search") is True
