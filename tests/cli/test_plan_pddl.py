"""`tw plan DOMAIN PROBLEM` takes the options of a world, and `--plan-file` writes valid plans."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "planning"))

from pddl_machine import Machine

from tokenworld.planning.planners.doctor import FAST_DOWNWARD, SYMK, find_engine

ROOT = Path(__file__).parents[2]
DOMAINS = ROOT / "domains"
Tw = Any
Pair = tuple[Path, Path]

DOMAIN = """(define (domain trucks)
  (:requirements :strips :typing :action-costs)
  (:types Truck Place Parcel)
  (:predicates (at ?t - Truck ?p - Place) (lies ?x - Parcel ?p - Place)
               (in ?x - Parcel ?t - Truck) (road ?p ?q - Place))
  (:functions (total-cost) - number (far ?p ?q - Place) - number)
  (:action drive
    :parameters (?t - Truck ?p ?q - Place)
    :precondition (and (at ?t ?p) (road ?p ?q))
    :effect (and (not (at ?t ?p)) (at ?t ?q) (increase (total-cost) (far ?p ?q))))
  (:action load
    :parameters (?x - Parcel ?t - Truck ?p - Place)
    :precondition (and (at ?t ?p) (lies ?x ?p))
    :effect (and (not (lies ?x ?p)) (in ?x ?t) (increase (total-cost) 1)))
  (:action unload
    :parameters (?x - Parcel ?t - Truck ?p - Place)
    :precondition (and (at ?t ?p) (in ?x ?t))
    :effect (and (not (in ?x ?t)) (lies ?x ?p) (increase (total-cost) 1))))
"""
PROBLEM = """(define (problem two-roads) (:domain trucks)
  (:objects T1 - Truck a b c - Place Box - Parcel)
  (:init (at T1 a) (lies Box b) (road a b) (road b c) (road b a) (road a c)
         (= (far a b) 2) (= (far b c) 9) (= (far b a) 2) (= (far a c) 3) (= (total-cost) 0))
  (:goal (lies Box c))
  (:metric minimize (total-cost)))
"""
CHEAPEST = "(drive T1 a b)\n(load Box T1 b)\n(drive T1 b a)\n(drive T1 a c)\n(unload Box T1 c)\n"


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return written(tmp_path, DOMAIN, PROBLEM)


def written(folder: Path, domain: str, problem: str) -> Pair:
    files = folder / "domain.pddl", folder / "problem.pddl"
    for file, text in zip(files, (domain, problem), strict=True):
        file.write_text(text, encoding="utf-8")
    return files


@pytest.fixture
def downward() -> None:
    if not find_engine(FAST_DOWNWARD).ready:
        pytest.skip("Fast Downward is not installed")


def accepted(domain: str, problem: str, plan: str) -> bool:
    """Whether unified-planning's validator takes the text of a plan file."""
    io = pytest.importorskip("unified_planning.io", reason="needs the extra `plan`")
    shortcuts = pytest.importorskip("unified_planning.shortcuts")
    reader = io.PDDLReader()
    task = reader.parse_problem_string(domain, problem)
    found = reader.parse_plan_string(task, plan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its list of features lacks costs that are functions
        with shortcuts.PlanValidator(name="sequential_plan_validator") as validator:
            return bool(validator.validate(task, found))


def followed(domain: str, problem: str, plan: str) -> bool:
    """Whether a plan leads to the goal by an interpreter of PDDL that is written for the tests."""
    machine = Machine(domain, problem)
    state = machine.start
    for line in plan.lower().splitlines():
        name, *args = line.partition(";")[0].strip(" ()").split() or ("",)
        if name:
            taken = [after for step, given, after in machine.steps(state)
                     if (step, list(given)) == (name, args)]  # fmt: skip
            if not taken:
                return False
            (state,) = taken
    return bool(machine.world(state).holds(machine.goal, {}))


# ---- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "engine"),
    [
        ((), None),
        (("--optimal",), None),
        (("--engine", "own"), "own search"),
        (("--engine", "hmax"), "hmax"),
        (("--quality", "anytime"), None),
        (("--honest", "--goal", "reached"), None),
    ],
)
def test_a_pair_is_planned_with_the_options_of_a_world(
    tw: Tw, pair: Pair, options: tuple[str, ...], engine: str | None
) -> None:
    ran = tw("plan", *pair, *options, "--json")
    assert (ran.code, ran.json["answer"]) == (0, "winnable")
    assert engine in (None, ran.json["engine"])
    assert ran.json["pddl_plan"][-1] == "(unload Box T1 c)"
    if not options:
        assert "in PDDL:\n  (drive T1 a b)\n" in tw("plan", *pair).out


@pytest.mark.planner
@pytest.mark.parametrize(
    ("options", "engine", "optimal"),
    [
        (("--encoding", "E"), "", False),
        (("--alias", "lama-first"), "fast-downward lama-first", False),
        (("--alias", "seq-opt-lmcut"), "fast-downward seq-opt-lmcut", True),
        (("--search", "iterated([lazy_greedy([ff()]), astar(blind())])"), "fast-downward", False),
    ],
)
def test_planners_are_named_for_a_pair(
    downward: None, tw: Tw, pair: Pair, options: tuple[str, ...], engine: str, optimal: bool
) -> None:
    ran = tw("plan", *pair, *options, "--json").json
    assert ran["answer"] == "winnable"
    assert ran["engine"].startswith(engine)
    assert ran["optimal"] == ("cost" if optimal else None)
    if optimal or "iterated" in options[1]:
        assert ran["cost"] == 9


@pytest.mark.planner
def test_what_fast_downward_does_not_know_is_usage(downward: None, tw: Tw, pair: Pair) -> None:
    ran = tw("plan", *pair, "--alias", "lama-frist")
    assert (ran.code, "TW0006" in ran.err, "`lama-first`" in ran.err) == (2, True, True)
    ran = tw("plan", *pair, "--search", "astar(blond())")
    assert (ran.code, "TW0006" in ran.err, "blond" in ran.err) == (2, True, True)


@pytest.mark.planner
def test_an_alias_that_is_optimal_proves_that_there_is_no_plan(
    downward: None, tw: Tw, pair: Pair, tmp_path: Path
) -> None:
    pair[1].write_text(PROBLEM.replace("(road a b) ", ""), encoding="utf-8")
    ran = tw("plan", *pair, "--alias", "seq-opt-lmcut")
    assert (ran.code, "proved by fast-downward seq-opt-lmcut on encoding E" in ran.out) == (1, True)
    file = tmp_path / "c.json"
    assert tw("plan", *pair, "--alias", "seq-opt-lmcut", "--certificate", file).code == 1
    assert tw("plan", *pair, "--check", file).code == 0
    ran = tw("plan", DOMAINS / "cellar" / "twin.tw", "--search", "eager_greedy([ff()])")
    assert (ran.code, "TW0812" in ran.err) == (3, True)  # a search of one's own proves nothing


@pytest.mark.planner
def test_the_last_plan_of_an_endless_search_counts(downward: None, tw: Tw, pair: Pair) -> None:
    ran = tw("plan", *pair, "--alias", "lama", "--time-limit", "8", "--json").json
    assert (ran["answer"], ran["cost"], ran["optimal"]) == ("winnable", 9, None)


@pytest.mark.planner
def test_landmarks_are_found_where_facts_have_no_predicates(downward: None, tw: Tw) -> None:
    ran = tw("plan", DOMAINS / "greenhouse" / "world.tw", "--alias", "lama-first", "--json").json
    assert (ran["answer"], ran["engine"]) == ("winnable", "fast-downward lama-first")


@pytest.mark.parametrize(
    "options",
    [
        ("--alias", "lama", "--engine", "own"),
        ("--search", "astar(blind())", "--optimal"),
        ("--explain", "--plan-file", "p"),
        ("--luck", "certain", "--plan-file", "p"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    tw: Tw, pair: Pair, options: tuple[str, ...]
) -> None:
    ran = tw("plan", *pair, *options)
    assert (ran.code, "TW0006" in ran.err) == (2, True)


def test_a_certificate_of_a_pair_is_checked(tw: Tw, pair: Pair, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    assert tw("plan", *pair, "--certificate", file).code == 0
    assert tw("plan", *pair, "--check", file).code == 0
    pair[1].write_text(PROBLEM.replace("(= (far a c) 3)", "(= (far a c) 4)"), encoding="utf-8")
    assert tw("plan", *pair, "--check", file).code == 1


def test_the_reason_and_the_matrix_name_places_in_the_pddl(tw: Tw, pair: Pair) -> None:
    pair[1].write_text(PROBLEM.replace("(road a b) ", ""), encoding="utf-8")
    ran = tw("plan", *pair, "--why")
    assert ran.code == 1
    assert "world.tw" not in ran.out + ran.err
    assert re.search(r"core .*relaxed reachability", ran.out)
    assert f"{pair[0]}:17" in ran.out  # the effect of `unload`
    why = tw("plan", *pair, "--why", "--json").json["why"]
    assert {one["place"].rpartition(":")[0] for one in why[0]["core"]["parts"]} <= set(
        map(str, pair)
    )
    assert "it would help to let `road(a, b)` be `true` at the start: then 5 ticks" in ran.out
    ran = tw("plan", *pair, "--explain")
    assert (ran.code, "world.tw" in ran.out, f"{pair[0]}:7" in ran.out) == (0, False, True)


def test_what_luck_may_do_is_asked_of_a_pair(tw: Tw, pair: Pair, tmp_path: Path) -> None:
    ran = tw("plan", *pair, "--luck", "certain", "--policy", tmp_path / "p.jsonl")
    assert ran.code == 0
    assert tw("plan", *pair, "--luck", "probability", "--json").json["probability"] == "1"


def test_a_half_of_a_pair_is_usage(tw: Tw, pair: Pair) -> None:
    for files in ((pair[0],), (DOMAINS / "cellar" / "world.tw", pair[1])):
        ran = tw("plan", *files, "--optimal")
        assert (ran.code, "half of what is to be planned" in ran.err) == (2, True)


def test_several_plans_of_a_pair(tw: Tw, pair: Pair, tmp_path: Path) -> None:
    ran = tw("plan", *pair, "--top", "2", "--plan-file", tmp_path / "p")
    if not find_engine(SYMK).ready:
        assert (ran.code, "TW0811" in ran.err) == (2, True)
        return
    assert (tmp_path / "p.1").read_text().startswith(CHEAPEST)
    assert (tmp_path / "p.2").is_file()


# ---- plan files ---------------------------------------------------------------------------------


def test_a_plan_file_is_what_planners_of_the_competition_write(
    tw: Tw, pair: Pair, tmp_path: Path
) -> None:
    file = tmp_path / "new" / "plan"
    ran = tw("plan", *pair, "--optimal", "--plan-file", file, "--json")
    assert ran.json["plan_file"] == str(file)
    assert file.read_text() == f"{CHEAPEST}; cost = 9 (general cost)\n"
    assert accepted(DOMAIN, PROBLEM, file.read_text())
    unpriced = DOMAIN.replace("(total-cost) - number ", "")
    unpriced = re.sub(r"\(increase [^)]*\) (\(far \?p \?q\)|1)\)", "", unpriced)
    problem = PROBLEM.replace("(= (total-cost) 0)", "").replace(
        "(:metric minimize (total-cost))", ""
    )
    pair[0].write_text(unpriced, encoding="utf-8")
    pair[1].write_text(problem, encoding="utf-8")
    tw("plan", *pair, "--plan-file", file)
    assert file.read_text().endswith("; cost = 4 (unit cost)\n")
    assert accepted(unpriced, problem, file.read_text())


def test_no_plan_file_is_written_without_a_plan(tw: Tw, tmp_path: Path) -> None:
    file = tmp_path / "plan"
    ran = tw("plan", DOMAINS / "cellar" / "twin.tw", "--plan-file", file)
    assert (ran.code, file.exists(), "no plan is written" in ran.err) == (1, False, True)
    ran = tw("plan", DOMAINS / "cellar" / "world.tw", "--plan-file", tmp_path)
    assert (ran.code, "TW0001" in ran.err) == (2, True)


FREE = """
type Pot { heat: 0 to 9 = 0  on: bool = false }
action switch(p: Pot) cost 3 { p.on = not p.on }
action look(p: Pot) takes 0 { }
law warm(p: Pot) when p.on and p.heat < 9 { p.heat += 3 }
world w "W" { object pot: Pot  goal g: pot.heat >= 6 }
"""
LONG = """
type Hole { deep: 0 to 3 = 0 }
action dig(h: Hole) takes 3 { h.deep += 1 }
world w { object a, b: Hole  goal g: a.deep == 1 and b.deep == 1 }
"""
LUCKY = """
type Door { open: bool  stuck: bool }
action push(d: Door) {
  require not d.open
  chance 25% { d.open = true } or 50% { d.stuck = true } else { }
}
world w { object a, b: Door  goal g: a.open and not a.stuck and b.stuck }
"""


@pytest.mark.parametrize(
    ("world", "form"),
    [
        ("cellar/world.tw", "lifted"),
        ("kitchen/world.tw", "lifted"),
        ("greenhouse/world.tw", None),
        (FREE, "lifted"),
        (LONG, "grounded"),
        (LUCKY, "lifted"),
    ],
)
def test_a_plan_file_of_a_world_is_valid_for_its_export(
    tw: Tw, tmp_path: Path, world: str, form: str | None
) -> None:
    path = DOMAINS / world if world.endswith(".tw") else tmp_path / "w.tw"
    if path.parent == tmp_path:
        path.write_text(world, encoding="utf-8")
    file = tmp_path / "plan"
    assert tw("plan", path, "--plan-file", file).code == 0
    exported = tw("export", path, "--pddl", "--json").json
    assert form in (None, exported["form"])
    plan = file.read_text()
    assert followed(exported["domain.pddl"], exported["problem.pddl"], plan)
    assert tw("export", path, "--pddl", "--read-plan", file).code == 0
    rest = plan.partition("\n")[2]
    assert not followed(exported["domain.pddl"], exported["problem.pddl"], rest)
