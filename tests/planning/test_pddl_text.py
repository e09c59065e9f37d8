"""What the exported text looks like: names, structure, layout."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pddl_compare import export, world
from pddl_worlds import BLOCKS, CELLAR, WORLDS

from tokenworld.diagnostics import Severity
from tokenworld.session.loading import open_world
from tokenworld.session.pddl import export as export_world

SWITCH = """
pddl { domain = `two-lamps`  Lamp = lamp }
type Lamp { on: bool = false  dim: 0 to 9 = 4 }
object `Big-Lamp`: Lamp
action `flip-it`(l: Lamp) cost 2 {
  require not l.on or all(x.on for x: Lamp)
  l.on = not l.on
  if l.dim > 0 { l.dim -= 1 }
}
world dark "Dark" { object small: Lamp  goal lit: `Big-Lamp`.on and small.on }
"""


def test_a_small_domain_as_a_whole() -> None:
    exported = export(world(SWITCH))
    assert exported.form == "lifted"
    assert (
        exported.domain
        == """\
; World `dark` of w.tw, written by `tw export --pddl`.
(define (domain two-lamps)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions \
:universal-preconditions :conditional-effects :numeric-fluents :action-costs)
  (:types lamp)
  (:constants Big-Lamp - lamp)
  (:predicates (on ?self - lamp))
  (:functions
    (dim ?self - lamp) - number
    (total-cost) - number)

  (:action flip-it
    :parameters (?l - lamp)
    :precondition (or (not (on ?l)) (forall (?x - lamp) (on ?x)))
    :effect (and
      (when (not (on ?l)) (on ?l))
      (when (on ?l) (not (on ?l)))
      (when (>= (dim ?l) 1) (decrease (dim ?l) 1))
      (increase (total-cost) 2))))
"""
    )
    assert (
        exported.problem
        == """\
; World `dark` of w.tw, written by `tw export --pddl`.
(define (problem dark)
  (:domain two-lamps)
  (:objects small - lamp)
  (:init
    (= (dim Big-Lamp) 4)
    (= (dim small) 4)
    (= (total-cost) 0))
  (:goal (and
    (on Big-Lamp)
    (on small)))
  (:metric minimize (total-cost)))
"""
    )


def test_blocks_come_out_as_the_classical_domain() -> None:
    domain = export(world(BLOCKS)).domain
    assert "(define (domain blocks-world)" in domain
    assert "(:types block table-top)" in domain
    assert "(:constants the-table - table-top)" in domain
    assert "(on ?x - block ?y - block)" in domain
    assert "(clear ?x)" in domain
    assert "(:derived (above ?x - block ?y - block)" in domain
    assert (
        """\
  (:action pick-up
    :parameters (?b - block)
    :precondition (and
      (clear ?b)
      (on-table ?b)
      (hand-empty))
    :effect (and
      (not (on-table ?b))
      (not (clear ?b))
      (not (hand-empty))
      (holding ?b)
      (increase (total-cost) (lift-cost ?b))))
"""
        in domain
    )
    assert (
        """\
  (:action put-down
    :parameters (?b - block)
    :precondition (holding ?b)
    :effect (and
      (not (holding ?b))
      (clear ?b)
      (hand-empty)
      (on-table ?b)))
"""
        in domain
    )
    assert "(imply (clear ?b) (not (on-table ?b)))" in domain
    assert (
        """\
      (forall (?x - block)
        (when (on ?x ?b) (and (not (on ?x ?b)) (on-table ?x) (clear ?b))))
"""
        in domain
    )


def test_declared_requirements_stay_and_the_missing_ones_are_noted() -> None:
    exported = export(world(BLOCKS))
    declared = "(:requirements :strips :typing :equality :conditional-effects "
    assert declared in exported.domain
    (note,) = exported.notes
    assert note.code == "TW0809"
    assert note.severity is Severity.INFO
    assert "`:negative-preconditions`" in note.message


def test_enums_and_optional_objects_are_facts_with_the_old_value_deleted() -> None:
    exported = export(world(CELLAR))
    domain = exported.domain
    assert "(:constants\n    hero - hero\n    open closed locked - lock)" in domain
    assert "(door-state ?self - door ?lock - lock)" in domain
    assert "(not (chest-state ?c locked))\n      (chest-state ?c closed)" in domain
    assert ":parameters (?it - thing ?room - room)" in domain
    assert "(thing-at ?it ?room)\n      (hero-at hero ?room))" in domain
    assert "(holder ?it hero)\n      (not (thing-at ?it ?room))" in domain
    assert "(not (is-chest ?it))" in domain
    assert "(opened_by oak_chest brass_key)" in exported.problem
    assert "(inside oak_chest ruby)" in exported.problem
    assert "(is-chest oak_chest)" in exported.problem
    assert "(:goal (holder ruby hero))" in exported.problem


def test_what_pddl_has_no_place_for_is_noted_by_its_line() -> None:
    notes = export(world(CELLAR)).notes
    lines = CELLAR.splitlines()
    line = 1 + next(index for index, one in enumerate(lines) if one.startswith("invariant"))
    assert [(note.code, note.span.line) for note in notes if note.span] == [("TW0801", line)]
    assert all(note.severity is Severity.INFO for note in notes)


def test_a_second_parent_becomes_a_static_fact() -> None:
    exported = export(world(WORLDS["several parents"]))
    assert "    axe - heavy\n    knife - item\n" in exported.domain
    assert ":parameters (?a - object ?b - item)" in exported.domain
    assert "(is-sharp axe)\n    (is-sharp knife)" in exported.problem


def test_ladders_become_neighbour_facts() -> None:
    problem = export(world(WORLDS["ladders"])).problem
    assert "(next-mood sad calm)\n    (next-mood calm glad)\n    (next-mood glad glad)" in problem
    assert "(mood-at-most sad glad)" in problem


def test_outcomes_of_chance_are_numbered_actions() -> None:
    exported = export(world(WORLDS["chance"]))
    assert "(:action force-o1" in exported.domain
    assert "(:action force-o2" in exported.domain
    codes = {note.code for note in exported.notes}
    assert codes == {"TW0807"}


def test_numeric_arguments_are_built_in() -> None:
    exported = export(world(WORLDS["numbers"]))
    assert "(:action pay-1" in exported.domain
    assert "(:action pay-2" in exported.domain
    steps = exported.steps("(pay-2 q)\n; cost = 1\n(give p q)\n")
    assert [(step.command.action, step.command.args) for step in steps] == [
        ("pay", (1, 2)),
        ("give", (0, 1)),
    ]


def test_phases_are_forced_actions_under_a_turn() -> None:
    exported = export(world(WORLDS["laws"]))
    assert "; phase flow: fill, leak\n  (:action tw-phase-1" in exported.domain
    assert "(tw-turn tw-act)" in exported.problem.split("(:goal")[1]
    plan = "(toggle a)\n(tw-phase-1 )\n(tw-phase-2 )\n(tw-phase-3 )\n(tw-pass )\n"
    commands = [step.command for step in exported.steps(plan)]
    assert [one.action for one in commands] == ["toggle", ""]
    assert commands[1].is_pass


def test_values_that_an_action_asks_for_or_replaces_are_parameters() -> None:
    domain = export(world(WORLDS["moves"])).domain
    assert (
        """(:action leap
    :parameters (?p - pet ?r - room ?room - room)
    :precondition (and
      (at ?p ?room)
      (not (dark ?r)))
    :effect (and
      (not (at ?p ?room))
      (at ?p ?r)))"""
        in domain
    )
    assert (
        """
    :parameters (?p - pet ?b - bag ?r - room ?room - room)
    :precondition (and
      (at ?p ?room)
      (in_room ?b ?room)
      (way ?room ?r))"""
        in domain
    )


def test_a_value_that_only_some_objects_are_not_is_deleted() -> None:
    text = """
type Room
type Hall : Room
type Pet { at: Room? }
action go(p: Pet, r: Room) { require not any(p.at == x for x: Hall)  p.at = r }
world w { object a: Room  object s: Hall  object c: Pet { at = a }  goal g: c.at == s }
"""
    domain = export(world(text)).domain
    assert "(when (and (at ?p ?room) (not (= ?r ?room))) (not (at ?p ?room)))" in domain


def test_only_weak_comparisons_are_written() -> None:
    for text in WORLDS.values():
        domain = export(world(text)).domain
        assert "(< " not in domain
        assert "(> " not in domain


def test_an_undeclared_supertype_is_not_listed() -> None:
    text = """
pddl { implicit = vehicle  Vehicle = vehicle }
type Vehicle
type Car : Vehicle
relation parked(v: Vehicle)
action park(v: Vehicle) { require not parked(v) add parked(v) }
world w "W" { object mini: Car  goal g: parked(mini) }
"""
    assert "(:types car - vehicle)" in export(world(text)).domain


def test_the_header_names_the_file_of_the_world_not_of_a_module_that_it_uses() -> None:
    target = Path(__file__).parents[2] / "domains" / "cellar" / "twin.tw"
    exported = export_world(open_world(str(target)), None)
    assert exported.domain.startswith("; World `twin` of twin.tw, written by")
