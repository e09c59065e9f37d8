"""PDDL becomes the `.tw` text that language.md §16 says, sound and with its places kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from samples import CORNERS, CORNERS_PROBLEM, NUMERIC, NUMERIC_PROBLEM, OBJECTS, OBJECTS_PROBLEM

from tokenworld.diagnostics import Source
from tokenworld.planning.reader import Imported, import_pddl
from tokenworld.session.loading import LoadFailure
from tokenworld.session.pddl import load_imported


def imported(domain: str, *problems: str) -> Imported:
    sources = tuple(Source(f"p{index}.pddl", None, text) for index, text in enumerate(problems))
    return import_pddl(Source("d.pddl", None, domain), sources)


@pytest.mark.parametrize(
    "line",
    [
        "  domain       = `Fuel-World`",
        "  `total-cost` = 1",
        "type Truck : Vehicle",
        "type Place : Object",
        "function fuel(v: Vehicle): int",
        "function wear(): real",
        "action drive(t: Truck, from: Place, `to`: Place) cost dist(from, `to`) {",
        "  require fuel(t) >= dist(from, `to`)",
        "  fuel(t) -= dist(from, `to`)",
        "  wear() = wear() * 2",
        "  object `T1`: Truck",
        "    rate() = 0.50",
        "  goal reached: at(`T1`, c)",
    ],
)
def test_numbers_costs_and_foreign_names(line: str) -> None:
    assert line in imported(NUMERIC, NUMERIC_PROBLEM).text.splitlines()


@pytest.mark.parametrize(
    "line",
    [
        "function loc(b: Block): Place",
        "function grip(): Block?",
        "  require not loc(b) == `to`",
        "  let before1 = loc(b) == `table`",
        "  require grip() == none",
    ],
)
def test_object_fluents_and_values_read_before_a_change(line: str) -> None:
    assert line in imported(OBJECTS, OBJECTS_PROBLEM).text.splitlines()


@pytest.mark.parametrize(
    "line",
    [
        "  implicit     = thing",
        "  derived      = above, above",
        "type `object` : Block",
        "object me: `object`",
        "relation on(x: Block, x: Block)",
        "relation act()",
        "relation set(o: `object`)",
        "action act(`?x`: Block, `time`) {",
        "  require act() implies on(`?x`, x)",
        "  require all(not (clear(y) and act()) for y)",
        "  object extra",
        "  goal reached: above(b1, b2) or not any(clear(z) for z)",
    ],
)
def test_the_corners(line: str) -> None:
    assert line in imported(CORNERS, CORNERS_PROBLEM).text.splitlines()


@pytest.mark.parametrize(
    ("domain", "problem"),
    [(NUMERIC, NUMERIC_PROBLEM), (OBJECTS, OBJECTS_PROBLEM), (CORNERS, CORNERS_PROBLEM)],
)
def test_an_import_is_sound(domain: str, problem: str) -> None:
    assert load_imported(imported(domain, problem)).program.worlds


def test_every_line_knows_its_place_in_the_pddl() -> None:
    one = imported(NUMERIC, NUMERIC_PROBLEM)
    lines = one.text.splitlines()
    assert len(lines) == len(one.places)
    place = one.place(lines.index("  require fuel(t) < 3") + 1)
    assert (place.file, place.line) == ("d.pddl", NUMERIC.split("(< (fuel")[0].count("\n") + 1)


def test_problems_of_one_name_become_worlds_of_two() -> None:
    one = imported(NUMERIC, NUMERIC_PROBLEM, NUMERIC_PROBLEM)
    assert one.worlds == ("trip", "trip-2")
    assert "`problem trip-2` = trip" in one.text


def test_a_metric_of_another_kind_is_kept_and_remarked() -> None:
    other = NUMERIC_PROBLEM.replace("minimize (total-cost)", "maximize (wear)")
    one = imported(NUMERIC, other)
    assert [remark.code for remark in one.remarks] == ["TW0810"]
    assert not one.remarks[0].is_error
    assert '`metric trip` = "maximize (wear)"' in one.text


def test_what_the_checker_refuses_is_told_in_the_pddl() -> None:
    wrong = NUMERIC.replace("(road ?from ?to) (>=", "(road ?t ?to) (>=")
    with pytest.raises(LoadFailure) as raised:
        load_imported(imported(wrong, NUMERIC_PROBLEM))
    (found,) = raised.value.diagnostics
    assert found.code == "TW0301"
    assert found.span is not None
    assert found.span.file == "d.pddl"
    assert found.notes[-1] == "imported as: require road(t, `to`)"


LIFT = """
(define (domain lift) (:predicates (in ?p) (want ?p))
  (:action stop :parameters ()
    :effect (and (forall (?p) (when (want ?p) (in ?p)))
                 (forall (?p) (when (in ?p) (and (not (in ?p)) (not (want ?p))))))))
"""


def test_two_loops_that_read_each_other_become_one() -> None:
    one = imported(LIFT)
    assert one.text.count("for p {") == 1
    assert load_imported(one).program.actions
