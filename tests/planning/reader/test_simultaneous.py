"""Effects that read what other effects change, and rules that name objects of the problems."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from tokenworld import Session
from tokenworld.diagnostics import Failure, Source
from tokenworld.planning.pddl.export import export_domain
from tokenworld.planning.reader import Imported, import_pddl
from tokenworld.session.loading import open_text
from tokenworld.session.pddl import load_imported
from tokenworld.verbs.bench.normal import normal

RING = """
(define (domain ring)
  (:requirements :adl)
  (:types place)
  (:predicates (lit ?p - place) (next ?p ?q - place) (cold))
  (:action turn
    :parameters (?s - place)
    :precondition (lit ?s)
    :effect (and
      (forall (?p - place ?q - place) (when (and (lit ?p) (next ?p ?q)) (lit ?q)))
      (when (cold) (not (cold)))
      (forall (?p - place) (when (lit ?p) (not (lit ?p))))))
)
"""
THREE = """
(define (problem three)
  (:domain ring)
  (:objects a b c - place)
  (:init (lit a) (lit b) (next a b) (next b c) (next c a) (cold))
  (:goal (and (lit a) (lit b) (lit c))))
"""
PULL = """
(define (domain pull)
  (:requirements :adl)
  (:types wagon)
  (:predicates (behind ?a ?b - wagon) (free ?a - wagon) (front ?a - wagon))
  (:derived (front ?a - wagon) (forall (?b - wagon) (not (behind ?a ?b))))
  (:action uncouple
    :parameters (?w - wagon)
    :precondition (front ?w)
    :effect (and
      (forall (?a - wagon ?b - wagon) (when (front ?b) (not (behind ?a ?b))))
      (forall (?a - wagon ?b - wagon) (when (and (behind ?a ?b) (not (front ?b))) (behind ?b ?a)))))
)
"""
TOOLS = """
(define (domain tools)
  (:requirements :strips :typing)
  (:types tool nut)
  (:predicates (have ?t - tool) (loose ?n - nut))
  (:action loosen
    :parameters (?n - nut)
    :precondition (have wrench)
    :effect (loose ?n))
)
"""
SHED = """
(define (problem shed)
  (:domain tools)
  (:objects wrench jack - tool n1 - nut)
  (:init (have wrench))
  (:goal (loose n1)))
"""


def imported(domain: str, *problems: str) -> Imported:
    sources = tuple(Source(f"p{index}.pddl", None, text) for index, text in enumerate(problems))
    return import_pddl(Source("d.pddl", None, domain), sources)


def started(domain: str, problem: str) -> Session:
    found = imported(domain, problem)
    return Session(open_text((Source("world.tw", None, found.text),), found.worlds[0]))


def lit(session: Session) -> list[str]:
    relations: Any = session.state_json()["relations"]
    return sorted(place for (place,) in relations["lit"])


def test_what_loops_read_and_change_is_read_at_the_start_of_the_tick() -> None:
    session, found = started(RING, THREE), []
    for place in "abca":
        (done,) = session.intend(f"turn({place})")
        found.append((done.status, lit(session)))
    assert found == [
        ("executed", ["b", "c"]),
        ("executed", ["a", "c"]),
        ("executed", ["a", "b"]),
        ("executed", ["b", "c"]),
    ]


@pytest.mark.parametrize("domain", [RING, PULL], ids=["ring", "pull"])
def test_such_effects_come_back_as_they_were_written(domain: str) -> None:
    found = imported(domain)
    assert "was " in found.text
    assert normal(export_domain(load_imported(found).program)) == normal(domain)


def test_only_loops_without_an_order_are_written_so() -> None:
    plain = RING.replace("(when (lit ?p) (not (lit ?p)))", "(not (next ?p ?p))")
    assert "was " not in imported(plain.replace("(lit ?q)))", "(cold)))")).text


def test_a_rule_may_name_what_all_problems_declare() -> None:
    found = imported(TOOLS, SHED, SHED.replace("shed", "barn").replace("jack", "pump"))
    assert "object wrench: Tool" in found.text.splitlines()
    (remark,) = found.remarks
    assert (remark.code, remark.is_error) == ("TW0201", False)
    assert [one.status for one in started(TOOLS, SHED).intend("loosen(n1)")] == ["executed"]


@pytest.mark.parametrize("other", [SHED.replace("wrench", "spanner"), None])
def test_what_a_problem_lacks_is_no_constant(other: str | None) -> None:
    with pytest.raises(Failure, match="There is no object `wrench`"):
        imported(TOOLS, *(() if other is None else (SHED, other)))
