"""Numbers of PDDL have no limit, those of rules have: what is left out proves nothing."""

from __future__ import annotations

from pathlib import Path

from tokenworld.engine import EngineSimulator
from tokenworld.planning.planners.by_name import plan_by
from tokenworld.session.pddl import open_pair

DOMAIN = """(define (domain doubling) (:requirements :fluents)
  (:predicates (done) (never))
  (:functions (n))
  (:action double :parameters () :precondition () :effect (scale-up (n) 10000000000))
  (:action stop :parameters () :precondition (never) :effect (done)))
"""
PROBLEM = """(define (problem x) (:domain doubling)
  (:init (= (n) START)) (:goal (or (done) (= (n) 3))))
"""


def verdict(tmp_path: Path, start: str) -> tuple[str, str]:
    (tmp_path / "domain.pddl").write_text(DOMAIN, encoding="utf-8")
    (tmp_path / "problem.pddl").write_text(PROBLEM.replace("START", start), encoding="utf-8")
    engine = open_pair(tmp_path / "domain.pddl", tmp_path / "problem.pddl").world.engine
    start_state = engine.start()
    found = plan_by(EngineSimulator(engine, start_state), start_state, None, "own", seconds=60)
    return found.answer, " ".join(one.detail for one in found.attempts)


def test_a_counter_that_grows_for_ever_is_unknown(tmp_path: Path) -> None:
    answer, why = verdict(tmp_path, "1")
    assert answer == "unknown"
    assert "no number has more than 1,000 digits" in why


def test_a_space_without_long_numbers_is_exhausted(tmp_path: Path) -> None:
    assert verdict(tmp_path, "0")[0] == "unwinnable"
