"""Spellings: verbatim where PDDL allows it, told apart without regard to case, and the way back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pddl_compare import export, world
from pddl_worlds import CELLAR

from tokenworld.diagnostics import Failure
from tokenworld.planning.pddl.words import Spellings, kebab, legal


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("pick-up", "pick-up"),
        ("isOpen", "isOpen"),
        ("old_chest", "old_chest"),
        ("blue key", "blue-key"),
        ("3rd", "n-3rd"),
        ("Forall", "Forall-"),
        ("(?)", "n"),
    ],
)
def test_the_nearest_legal_name(name: str, spelled: str) -> None:
    assert legal(name) == spelled


@pytest.mark.parametrize(
    ("name", "spelled"), [("ToolBox", "tool-box"), ("Room", "room"), ("table-Top", "table-Top")]
)
def test_types_are_spelled_in_lower_case(name: str, spelled: str) -> None:
    assert kebab(name) == spelled


def test_one_spelling_per_kind_and_case() -> None:
    spellings = Spellings()
    assert spellings.take("action", "drop") == "drop"
    assert spellings.take("fluent", "drop") == "drop"
    assert spellings.take("action", "Drop") == "Drop-2"
    assert spellings.take("object", "open") == "open"
    assert spellings.take("object", "open", "lock") == "lock-open"
    assert spellings.take("object", "open", "lock") == "lock-open-2"


def test_names_that_meet_are_told_apart_in_the_text() -> None:
    text = """
enum Lock { open, shut }
enum Eye { open, closed }
type Door { state: Lock }
type Cat { state: Eye }
object door: Door
relation door(d: Door)
action door(d: Door, l: Lock, e: Eye) { require not door(d) d.state = l add door(d) }
world w "W" { object tom: Cat { state = closed }  goal g: door.state == shut }
"""
    exported = export(world(text))
    assert "open shut - lock" in exported.domain
    assert "eye-open closed - eye" in exported.domain
    assert "(door-state door open)" in exported.problem
    assert "(cat-state tom closed)" in exported.problem
    (step,) = exported.steps("(DOOR DOOR shut eye-open)")
    assert step.command.action == "door"
    assert step.command.args == (0, 1, 0)


def test_a_foreign_plan_is_refused_with_a_next_step() -> None:
    exported = export(world(CELLAR))
    for line in ("(fly arch)", "(go narnia)", "(take)"):
        with pytest.raises(Failure) as raised:
            exported.steps(line)
        (found,) = raised.value.diagnostics
        assert found.code == "TW0812"
        assert line in found.message
        assert found.hint
