"""Small problems in the style of rovers and trucks with preferences (planning competition 2006)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tokenworld.engine import EngineSimulator
from tokenworld.planning.pddl.words import metric_of
from tokenworld.planning.quality import plan_quality
from tokenworld.session.pddl import OpenPair, open_pair
from tokenworld.verbs.plan.target import pddl_steps

ROVERS = """(define (domain rover)
  (:requirements :typing :fluents :preferences)
  (:types rover waypoint store)
  (:predicates (at ?r - rover ?w - waypoint) (can_traverse ?r - rover ?x ?y - waypoint)
    (empty ?s - store) (store_of ?s - store ?r - rover) (at_soil_sample ?w - waypoint)
    (have_soil_analysis ?r - rover ?w - waypoint) (communicated_soil_data ?w - waypoint)
    (at_lander ?w - waypoint))
  (:functions (sum-traverse-cost) (traverse_cost ?r - rover ?x ?y - waypoint))
  (:action navigate
    :parameters (?r - rover ?x ?y - waypoint)
    :precondition (and (can_traverse ?r ?x ?y) (at ?r ?x))
    :effect (and (not (at ?r ?x)) (at ?r ?y)
                 (increase (sum-traverse-cost) (traverse_cost ?r ?x ?y))))
  (:action sample_soil
    :parameters (?r - rover ?s - store ?w - waypoint)
    :precondition (and (at ?r ?w) (at_soil_sample ?w) (store_of ?s ?r) (empty ?s))
    :effect (and (not (empty ?s)) (have_soil_analysis ?r ?w) (not (at_soil_sample ?w))))
  (:action drop
    :parameters (?r - rover ?s - store)
    :precondition (and (store_of ?s ?r) (not (empty ?s)))
    :effect (empty ?s))
  (:action communicate
    :parameters (?r - rover ?w ?x - waypoint)
    :precondition (and (at ?r ?x) (at_lander ?x) (have_soil_analysis ?r ?w))
    :effect (communicated_soil_data ?w)))
"""
ROVER = """(define (problem one) (:domain rover)
  (:objects r - rover s - store w0 w1 w2 - waypoint)
  (:init (at r w0) (at_lander w0) (store_of s r) (empty s) (at_soil_sample w1) (at_soil_sample w2)
    (can_traverse r w0 w1) (can_traverse r w1 w0) (can_traverse r w0 w2) (can_traverse r w2 w0)
    (= (traverse_cost r w0 w1) 2.5) (= (traverse_cost r w1 w0) 2.5)
    (= (traverse_cost r w0 w2) 9.8) (= (traverse_cost r w2 w0) 10.2)
    (= (sum-traverse-cost) 0))
  (:goal (and (preference g0 (communicated_soil_data w1))
              (preference g1 (communicated_soil_data w2))))
  (:metric minimize (+ (* (is-violated g1) FAR) (* (is-violated g0) 20.25) (sum-traverse-cost))))
"""
TRUCKS = """(define (domain trucks)
  (:requirements :typing :adl :constraints :preferences)
  (:types truckarea location locatable time - object truck package - locatable)
  (:predicates (at ?x - locatable ?l - location)
    (in ?p - package ?t - truck ?a - truckarea) (connected ?x ?y - location)
    (free ?a - truckarea ?t - truck) (time-now ?t - time) (next ?t1 ?t2 - time)
    (closer ?a1 ?a2 - truckarea))
  (:action load
    :parameters (?p - package ?t - truck ?a1 - truckarea ?l - location)
    :precondition (and (at ?t ?l) (at ?p ?l) (free ?a1 ?t)
      (forall (?a2 - truckarea) (imply (closer ?a2 ?a1) (free ?a2 ?t))))
    :effect (and (not (at ?p ?l)) (not (free ?a1 ?t)) (in ?p ?t ?a1)))
  (:action unload
    :parameters (?p - package ?t - truck ?a1 - truckarea ?l - location)
    :precondition (and (at ?t ?l) (in ?p ?t ?a1)
      (forall (?a2 - truckarea) (imply (closer ?a2 ?a1) (free ?a2 ?t))))
    :effect (and (not (in ?p ?t ?a1)) (free ?a1 ?t) (at ?p ?l)))
  (:action drive
    :parameters (?t - truck ?from ?to - location ?t1 ?t2 - time)
    :precondition (and (at ?t ?from) (connected ?from ?to) (time-now ?t1) (next ?t1 ?t2))
    :effect (and (not (at ?t ?from)) (not (time-now ?t1)) (time-now ?t2) (at ?t ?to))))
"""
TRUCK = """(define (problem two) (:domain trucks)
  (:objects truck1 - truck p1 p2 - package l0 l1 l2 - location a1 a2 - truckarea
            t0 t1 t2 t3 - time)
  (:init (at truck1 l0) (at p1 l0) (at p2 l0) (free a1 truck1) (free a2 truck1) (closer a1 a2)
    (connected l0 l1) (connected l1 l0) (connected l0 l2) (connected l2 l0)
    (connected l1 l2) (connected l2 l1) (time-now t0) (next t0 t1) (next t1 t2) LATER)
  (:goal (and (at p1 l1) (at p2 l2)))
  (:constraints (and
    (forall (?p - package ?t - truck)
      (preference p1A (always (forall (?a - truckarea) (imply (in ?p ?t ?a) (closer ?a a2))))))
    (preference p1B (sometime-before (at p2 l2) (at p1 l1)))
    (preference p3A (always-within 4 (in p1 truck1 a1) (at p1 l1)))
    (forall (?p - package)
      (preference p2A (at-most-once (exists (?t - truck ?a - truckarea) (in ?p ?t ?a)))))))
  (:metric minimize (+ (* 1 (is-violated p1A)) (* 2 (is-violated p1B)) (* 2 (is-violated p2A))
                       (* 4 (is-violated p3A)))))
"""


def pair(tmp_path: Path, domain: str, problem: str) -> OpenPair:
    (tmp_path / "domain.pddl").write_text(domain, encoding="utf-8")
    (tmp_path / "problem.pddl").write_text(problem, encoding="utf-8")
    return open_pair(tmp_path / "domain.pddl", tmp_path / "problem.pddl")


def best(opened: OpenPair) -> tuple[Fraction | None, tuple[str, ...]]:
    """The metric of the plan that is proved best, and its actions."""
    engine = opened.world.engine
    simulator, start = EngineSimulator(engine), engine.start()
    found = plan_quality(simulator, start, None, "anytime", seconds=60).verdict
    assert (found.answer, found.optimal) == ("winnable", "cost")
    return metric_of(opened.world.program, found.cost), pddl_steps(opened.world, found)


@pytest.mark.parametrize(
    ("far", "metric", "fetched"), [("15.5", "20.5", 1), ("30", "25", 2), ("20", "25", None)]
)
def test_a_rover_fetches_what_is_worth_its_way(
    far: str, metric: str, fetched: int | None, tmp_path: Path
) -> None:
    found, steps = best(pair(tmp_path, ROVERS, ROVER.replace("FAR", far)))
    assert found == Fraction(metric)
    if fetched is not None:
        assert sum(one.startswith("(sample_soil") for one in steps) == fetched


@pytest.mark.parametrize(("later", "metric"), [("(next t2 t3)", 0), ("", 1)])
def test_a_truck_uses_its_far_area_where_time_is_short(
    later: str, metric: int, tmp_path: Path
) -> None:
    found, _ = best(pair(tmp_path, TRUCKS, TRUCK.replace("LATER", later)))
    assert found == metric
