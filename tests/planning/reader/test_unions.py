"""``(either a b)`` after a variable becomes a type above the two, and goes out as it was."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from tokenworld.diagnostics import Failure, Severity, Source, read_source
from tokenworld.planning.reader import Imported, import_pddl
from tokenworld.session import Session
from tokenworld.session.loading import OpenWorld, check_text, choose_world, compile_world
from tokenworld.session.pddl import export, load_imported
from tokenworld.verbs.bench.trips import trips

DOMAIN = """
(define (domain store)
  (:requirements :typing :adl)
  (:types place vehicle - object truck plane - vehicle crate - thing)
  (:predicates (in ?c - crate ?x - (either truck place)) (at ?x - (either truck plane) ?p - place)
               (heavy ?x - (either crate thing)) (ready)
               (known ?x - (either truck plane place)))
  (:action load
    :parameters (?c - crate ?t - truck ?p - place)
    :precondition (and (in ?c ?p) (at ?t ?p)
                       (exists (?x - (either plane truck)) (at ?x ?p)))
    :effect (and (not (in ?c ?p)) (in ?c ?t)
                 (forall (?x - (either truck plane)) (known ?x))
                 (forall (?x - (either truck place)) (when (in ?c ?x) (ready))))))
"""
PROBLEM = """
(define (problem one) (:domain store)
  (:objects t - truck p - plane a b - place c - crate)
  (:init (at t a) (at p b) (in c a))
  (:goal (and (in c t) (ready))))
"""


def imported(domain: str = DOMAIN, problem: str = PROBLEM) -> Imported:
    return import_pddl(Source("d.pddl", None, domain), (Source("p.pddl", None, problem),))


def opened(text: Imported) -> OpenWorld:
    loaded = load_imported(text)
    world = choose_world(loaded.program, None, "world.tw")
    return OpenWorld(loaded, world, compile_world(loaded.program, world))


@pytest.mark.parametrize(
    "line",
    [
        "  TruckOrPlace        = either, truck, place",
        "  TruckOrPlane        = either, truck, plane",
        "  TruckOrPlaneOrPlace = either, truck, plane, place",
        "type TruckOrPlace : TruckOrPlaneOrPlace",
        "type TruckOrPlane : Vehicle, TruckOrPlaneOrPlace",
        "type TruckOrPlaneOrPlace",
        "type Truck : Vehicle, TruckOrPlace, TruckOrPlane, TruckOrPlaneOrPlace",
        "type Place : Object, TruckOrPlace, TruckOrPlaneOrPlace",
        "type Thing : CrateOrThing",
        "relation at(x: TruckOrPlane, p: Place)",
        "  require any(at(x, p) for x: TruckOrPlane)",
    ],
)
def test_a_union_becomes_a_type(line: str) -> None:
    assert line in imported().text.splitlines()


def test_it_goes_out_as_it_was(tmp_path: Path) -> None:
    files = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    for file, text in zip(files, (DOMAIN, PROBLEM), strict=True):
        file.write_text(text, encoding="utf-8")
    assert [one.failure for one in trips(read_source(files[0]), [read_source(files[1])])] == [
        "",
        "",
    ]


def test_it_can_be_planned_and_no_plane_is_loaded() -> None:
    verdict = Session(opened(imported()), 0).plan(None, time_limit=20)
    assert verdict.answer == "winnable"
    wrong = DOMAIN.replace("(in ?c ?t)\n", "(in ?c ?t) (in ?c ?p)\n").replace(
        "?t - truck ?p - place)\n    :pre", "?t - plane ?p - plane)\n    :pre"
    )
    with pytest.raises(Failure) as failure:
        load_imported(imported(wrong))
    assert "TW0301" in [one.code for one in failure.value.diagnostics]


def test_names_for_every_planner_reach_into_it() -> None:
    renamed = DOMAIN.replace("truck", "Truck!").replace("(in ?c ?Truck!)", "(in ?c ?t)")
    found = export(opened(imported(renamed, PROBLEM.replace("truck", "Truck!"))), None, names=True)
    assert "(either truck place)" in found.domain
    assert "Truck!" not in "".join(
        line for line in found.domain.splitlines() if not line.startswith(";")
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("type Place : Object, TruckOrPlace", "type Place : Object"),
        ("type TruckOrPlane : Vehicle, ", "type TruckOrPlane : Crate, "),
        ("type Crate : Thing, CrateOrThing", "type Crate : Thing, CrateOrThing, TruckOrPlace"),
        ("  object c: Crate", "  object c: Crate\n  object u: TruckOrPlace"),
    ],
)
def test_a_union_that_was_changed_is_a_type_like_others(old: str, new: str) -> None:
    text = imported().text
    assert old in text
    checked = check_text(Source("w.tw", None, text.replace(old, new, 1)))
    if checked.program is None:  # the rules need the type as it was: then that is told
        assert checked.diagnostics
        return
    world = next(iter(checked.program.worlds.values()))
    from tokenworld.session.loading import Loaded

    loaded = Loaded(checked.program, checked.sources, checked.diagnostics)
    found = export(OpenWorld(loaded, world, compile_world(checked.program, world)), None)
    assert "either" not in found.domain


def test_a_union_of_one_type_is_the_type() -> None:
    text = imported(DOMAIN.replace("(either truck plane)", "(either truck)")).text
    assert "relation at(x: Truck, p: Place)" in text


def test_unknown_parts_and_strange_unions_of_problems_are_named() -> None:
    with pytest.raises(Failure) as failure:
        imported(DOMAIN.replace("(either truck plane)", "(either truck train)", 1))
    (found,) = failure.value.diagnostics
    assert (found.code, found.message) == ("TW0202", "There is no type `train`.")
    goal = "(:goal (exists (?x - (either crate place)) (ready)))"
    with pytest.raises(Failure) as failure:
        imported(problem=PROBLEM.replace("(:goal (and (in c t) (ready)))", goal))
    assert [one.code for one in failure.value.diagnostics] == ["TW0810"]


def test_a_type_declared_below_object_and_elsewhere_is_remarked() -> None:
    twice = DOMAIN.replace("(:types place vehicle - object", "(:types place vehicle truck - object")
    found = imported(twice)
    assert "type Truck : Vehicle, TruckOrPlace" in found.text
    (remark,) = found.remarks
    assert (remark.code, remark.severity) == ("TW0203", Severity.WARNING)
