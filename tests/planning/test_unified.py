"""unified-planning reads the exported pairs and agrees about plans."""

from __future__ import annotations

import builtins
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))

from pddl_compare import export, world
from pddl_worlds import BLOCKS, CELLAR, KITCHEN, WORLDS

from benchmarks import second_opinion
from benchmarks.second_opinion import read_pair, validate_with_up
from tokenworld import Session
from tokenworld.diagnostics import Failure
from tokenworld.planning.pddl.export import export_world
from tokenworld.planning.pddl.sanitize import sanitized

needs_up = pytest.mark.skipif(find_spec("unified_planning") is None, reason="an extra")
PLAN = """(take brass_key stairs)
(go arch stairs)
(unlock oak_chest brass_key)
(open oak_chest)
(take ruby vault)
"""
# A closure that rules ask for is a derived predicate, which its reader does not know.
READABLE = [name for name in WORLDS if name not in ("containment", "graph")]


@needs_up
@pytest.mark.parametrize("name", ["blocks", "cellar", "kitchen", *READABLE])
def test_the_exported_pair_is_read(name: str) -> None:
    text = {"blocks": BLOCKS, "cellar": CELLAR, "kitchen": KITCHEN, **WORLDS}[name]
    exported = export(world(text))
    problem = read_pair(exported)
    assert len(problem.actions) == len(exported.pair.domain.actions)
    objects = (*exported.pair.domain.constants, *exported.pair.problem.objects)
    assert len(problem.all_objects) == len(objects)


@needs_up
def test_a_pair_that_asks_about_more_than_a_fluent_is_declared_for_is_read() -> None:
    """A step of the grid leads to a cell, and the rules ask of it what only tiles have."""
    simulator = Session.open("cliff_walking").simulator()
    exported = export_world(simulator, simulator.start(), None)
    assert exported.form == "lifted"
    assert "(cliff ?self - cell)" in exported.domain
    assert "(at ?self - walker ?tile - tile)" in exported.domain
    assert len(read_pair(exported).actions) == 2


@needs_up
def test_a_winning_plan_is_valid_and_a_broken_one_is_not() -> None:
    exported = export(world(CELLAR))
    assert validate_with_up(exported, PLAN)
    assert not validate_with_up(exported, PLAN.replace("(go arch stairs)\n", ""))
    assert not validate_with_up(exported, PLAN.replace("brass", "iron"))
    assert not validate_with_up(exported, PLAN.replace(" vault", ""))
    assert not validate_with_up(exported, "(fly arch)")


@needs_up
def test_forced_steps_and_numbers_are_checked_too() -> None:
    text = """
type Pot { heat: 0 to 9 = 0  on: bool = false }
action switch(p: Pot) { p.on = not p.on }
law warm(p: Pot) when p.on and p.heat < 9 { p.heat += 3 }
world w "W" { object pot: Pot  goal g: pot.heat >= 6 }
"""
    exported = export(world(text))
    assert validate_with_up(exported, "(switch pot)\n(tw-phase-1)\n(tw-pass)\n(tw-phase-1)\n")
    assert not validate_with_up(exported, "(switch pot)\n(tw-pass)\n(tw-phase-1)\n(tw-phase-1)\n")
    assert not validate_with_up(exported, "(switch pot)\n(tw-phase-1)\n(tw-pass)\n")


@needs_up
def test_a_feature_it_lacks_is_told_with_a_next_step() -> None:
    with pytest.raises(Failure) as raised:
        read_pair(export(world(WORLDS["graph"])))
    (found,) = raised.value.diagnostics
    assert found.code == "TW0810"
    assert found.hint


def test_every_name_stands_for_one_thing() -> None:
    text = """
type Door { door: bool = false }
object door: Door
action door(d: Door) { require not d.door and d == door  d.door = true }
world w "W" { goal g: door.door and any(d == door for d: Door) }
"""
    exported = export(world(text))
    found = sanitized(exported.pair)
    domain = found.pair.domain
    names = [one.name for one in (*domain.types, *domain.constants, *domain.predicates)]
    names += [one.name for one in domain.actions]
    assert len(set(names)) == len(names) == 4
    assert set(found.actions) == set(found.objects) == {"door"}
    renamed, *_ = domain.actions
    (constant,) = domain.constants
    (fluent,) = domain.predicates
    assert renamed.precondition == (
        "and",
        ("not", (fluent.name, "?d")),
        ("=", "?d", constant.name),
    )


def test_without_the_extra_the_install_command_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    exported = export(world(CELLAR))
    monkeypatch.setattr(second_opinion, "find_spec", lambda name: None)
    for ask in (lambda: read_pair(exported), lambda: validate_with_up(exported, PLAN)):
        with pytest.raises(Failure) as raised:
            ask()
        (found,) = raised.value.diagnostics
        assert found.code == "TW0811"
        assert "pip install 'token-world[plan]'" in (found.hint or "")


def test_exporting_does_not_import_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def watched(name: str, *args: Any, **kwargs: Any) -> Any:
        assert not name.startswith("unified_planning"), "imported on the way to a text"
        return plain(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", watched)
    assert export(world(CELLAR)).form == "lifted"
