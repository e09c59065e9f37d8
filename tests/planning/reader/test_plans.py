"""Plans for imported pairs, checked by a validator that is not ours."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from samples import NUMERIC, NUMERIC_PROBLEM

from tokenworld.planning.verdict import Verdict
from tokenworld.session import OpenWorld, Session
from tokenworld.session.pddl import open_pddl
from tokenworld.verbs.plan.target import pddl_steps

IPC = Path(__file__).parents[3].parent / "shared" / "data" / "ipc"

SWITCH = """
(define (domain switches)
  (:requirements :strips :typing :conditional-effects :negative-preconditions)
  (:types lamp)
  (:predicates (lit ?l - lamp) (next ?a ?b - lamp))
  (:action press :parameters (?l - lamp)
    :effect (and (when (lit ?l) (not (lit ?l))) (when (not (lit ?l)) (lit ?l))
                 (forall (?n - lamp) (when (next ?l ?n) (lit ?n))))))
"""
SWITCH_PROBLEM = """
(define (problem three) (:domain switches) (:objects a b c - lamp)
  (:init (next a b) (next b c) (lit a))
  (:goal (and (lit a) (not (lit b)) (lit c))))
"""

FUEL = NUMERIC.replace("(scale-up (wear) 2)", "(assign (wear) (* (wear) 2))")  # read by the other
FUEL_PROBLEM = NUMERIC_PROBLEM.replace("(= (fuel T1) 4)", "(= (fuel T1) 9)")


def solved(domain: Path, problem: Path) -> tuple[OpenWorld, Verdict]:
    session = Session(open_pddl(domain, problem), 0)
    return session.world, session.plan(None, time_limit=30)


def accepted(domain: Path, problem: Path, steps: tuple[str, ...]) -> bool:
    """Whether unified-planning's validator takes a plan."""
    pytest.importorskip("unified_planning", reason="needs the extra `plan`")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from unified_planning.io import PDDLReader
        from unified_planning.plans import ActionInstance, SequentialPlan
        from unified_planning.shortcuts import PlanValidator

        task = PDDLReader().parse_problem(str(domain), str(problem))
        instances = []
        for step in steps:
            name, *args = step.strip("()").lower().split()
            action = next(one for one in task.actions if one.name.lower() == name)
            objects = {one.name.lower(): one for one in task.all_objects}
            instances.append(ActionInstance(action, [objects[arg] for arg in args]))
        with PlanValidator(name="sequential_plan_validator") as validator:
            result = validator.validate(task, SequentialPlan(instances))
    return bool(result)


@pytest.mark.parametrize(
    ("domain", "problem"),
    [(SWITCH, SWITCH_PROBLEM), (FUEL, FUEL_PROBLEM)],
    ids=["conditional", "numeric"],
)
def test_a_plan_for_our_own_pair_is_valid(domain: str, problem: str, tmp_path: Path) -> None:
    files = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    for file, text in zip(files, (domain, problem), strict=True):
        file.write_text(text, encoding="utf-8")
    world, verdict = solved(*files)
    assert verdict.answer == "winnable"
    steps = pddl_steps(world, verdict)
    assert accepted(*files, steps)
    assert not accepted(*files, steps[1:])


@pytest.mark.slow
@pytest.mark.skipif(not IPC.is_dir(), reason="needs the planning collection beside the project")
@pytest.mark.parametrize(
    ("folder", "problem"),
    [
        ("gripper", "prob01.pddl"),
        ("blocks", "probBLOCKS-4-1.pddl"),
        ("miconic", "s1-0.pddl"),
        ("nurikabe-opt18-adl", "p01.pddl"),
    ],
)
def test_a_plan_for_a_competition_pair_is_valid(folder: str, problem: str) -> None:
    pair = IPC / folder / "domain.pddl", IPC / folder / problem
    world, verdict = solved(*pair)
    assert verdict.answer == "winnable"
    assert accepted(*pair, pddl_steps(world, verdict))
