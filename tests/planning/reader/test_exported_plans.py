"""A plan for an export is a plan for the original, and the other way round."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[3]))

from samples import PAIRS

from benchmarks.pddl_plans import Judge, cross, faults_of
from tokenworld.planning.planners.children import PddlTexts
from tokenworld.planning.planners.downward import find_downward

IPC = Path(__file__).parents[4] / "shared" / "data" / "ipc"
SECONDS = 60
SMALL = """
airport/p01-domain p01-airport1-p1
airport-adl/domain p01-airport1-p1
assembly/domain prob02
blocks/domain probBLOCKS-4-1
blocks/domain probBLOCKS-10-0
caldera-opt18-adl/domain p03
citycar-opt14-adl/domain p2-2-2-1-2
data-network-opt18-strips/domain p01
driverlog/domain p01
driverlog/domain p02
elevators-opt08-strips/domain p01
ged-opt14-strips/domain d-1-2
gripper/domain prob01
gripper/domain prob02
labyrinth-opt23-adl/domain p01
logistics00/domain probLOGISTICS-4-0
miconic/domain s1-0
mystery/domain prob01
nurikabe-opt18-adl/domain p01
openstacks/domain p01
pegsol-08-strips/domain p02
philosophers/domain p01-phil2
psr-small/p01-domain p01-s2-n1-l2-f50
rovers/domain p01
storage/domain p01
transport-opt08-strips/domain p01
zenotravel/domain p01
"""
TASKS = [tuple(line.split()) for line in SMALL.split("\n") if line]
UNREAD = ("logistics00", "philosophers", "storage", "zenotravel")
"""Families that unified-planning does not read."""


def downward() -> Path:
    found = find_downward()
    if not isinstance(found, Path):
        pytest.skip("needs the extra `classical`")
    return found


def test_a_plan_for_our_own_pair_is_one_for_its_export() -> None:
    pytest.importorskip("unified_planning", reason="needs the extra `plan`")
    report = cross(downward(), "corners", PddlTexts(*PAIRS["corners"]), SECONDS)
    assert report.planned
    assert report.faults == ()


def test_a_wrong_export_is_noticed() -> None:
    domain, problem = PAIRS["numeric"]
    one = Judge(PddlTexts(domain, problem))
    forgotten = domain.replace("(not (at ?t ?from)) (at ?t ?to)", "(not (at ?t ?from))")
    assert forgotten != domain
    other = Judge(PddlTexts(forgotten, problem))
    plan = ("drive t1 a b", "drive t1 b c")
    assert not one.replayed(plan)  # not enough fuel
    found = tuple(faults_of(one, one, plan))
    assert "the interpreter refuses it for the original" in found
    cheap = problem.replace("(= (fuel T1) 4)", "(= (fuel T1) 9)")
    one, other = Judge(PddlTexts(domain, cheap)), Judge(PddlTexts(forgotten, cheap))
    assert tuple(faults_of(one, one, plan)) == ()
    found = tuple(faults_of(one, other, plan))
    assert "the interpreter refuses it for the export" in found
    assert tuple(faults_of(one, one, plan[:1]))


@pytest.mark.slow
@pytest.mark.skipif(not IPC.is_dir(), reason="needs the planning collection beside the project")
@pytest.mark.parametrize(("domain", "problem"), TASKS, ids=lambda word: str(word).split("/")[0])
def test_a_plan_for_a_competition_problem_is_one_for_its_export(domain: str, problem: str) -> None:
    pytest.importorskip("unified_planning", reason="needs the extra `plan`")
    files = (IPC / f"{domain}.pddl", IPC / Path(domain).parent / f"{problem}.pddl")
    texts = PddlTexts(*(file.read_text(encoding="utf-8") for file in files))
    report = cross(downward(), problem, texts, SECONDS)
    assert report.planned
    assert report.faults == ()
    assert report.reread[0] == (str(Path(domain).parent) not in UNREAD)
