"""Effects that a `.tw` body names in another order go out as they were written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from tokenworld.diagnostics import Source
from tokenworld.planning.pddl.export import export_domain
from tokenworld.planning.pddl.verbatim import in_written_order
from tokenworld.planning.reader import import_pddl
from tokenworld.session.loading import check_text
from tokenworld.session.pddl import load_imported
from tokenworld.verbs.bench.normal import normal

LIFT = """
(define (domain lift)
  (:requirements :adl)
  (:types passenger floor)
  (:predicates (at ?f - floor) (in ?p - passenger) (from ?p - passenger ?f - floor) (idle)
               (out ?p - passenger))
  (:action stop
    :parameters (?f - floor)
    :precondition (at ?f)
    :effect EFFECT)
)
"""
IN = "(forall (?p - passenger) (when (and (from ?p ?f) (not (out ?p))) (in ?p)))"
OUT = "(forall (?p - passenger) (and (when (in ?p) (not (in ?p))) (when (in ?p) (out ?p))))"
DONE = "(when (idle) (not (idle)))"
CLEAR = "(forall (?p - passenger) (when (idle) (not (out ?p))))"


def entry(effect: str) -> tuple[str, str]:
    """The entry of the ``pddl`` block for the order, and the domain that comes back."""
    imported = import_pddl(Source("d.pddl", None, LIFT.replace("EFFECT", effect)), ())
    lines = [one.strip() for one in imported.text.splitlines() if "`order stop`" in one]
    return "".join(lines), export_domain(load_imported(imported).program)


@pytest.mark.parametrize(
    ("effect", "told"),
    [
        (f"(and {OUT} {IN})", '`order stop` = "1.1-2 1.3"'),
        (f"(and {IN} {OUT})", '`order stop` = "1.1 1.2-3"'),
        (f"(and {DONE} {CLEAR} (at ?f))", '`order stop` = "2 1 3"'),
        (f"(and {OUT} {DONE} {IN} {CLEAR})", '`order stop` = "1.1-2 2 1.3 1.4"'),
        (f"(and {IN} {DONE})", ""),
    ],
)
def test_the_written_order_is_told_and_restored(effect: str, told: str) -> None:
    found, back = entry(effect)
    assert found == told
    assert normal(back) == normal(LIFT.replace("EFFECT", effect))


def test_a_note_that_fits_the_rules_no_more_changes_nothing() -> None:
    imported = import_pddl(
        Source("d.pddl", None, LIFT.replace("EFFECT", f"(and {DONE} {CLEAR} (at ?f))")), ()
    )
    shorter = imported.text.replace("  add at(f)\n", "")
    assert shorter != imported.text
    program = check_text(Source("w.tw", None, shorter)).program
    assert program is not None
    assert normal(export_domain(program))[":action"] == [
        normal(LIFT.replace("EFFECT", f"(and {CLEAR} {DONE})"))[":action"][0]
    ]


@pytest.mark.parametrize(
    "told",
    ["", "1", "1 1", "1 2 3", "0 1", "2.1 1", "2.1-9 1", "2.2-1 1", "1 x", "1 2.1 2.1", "1 2 2.1"],
)
def test_a_note_that_names_not_each_effect_once_is_not_followed(told: str) -> None:
    effects = ["(a)", ("forall", ("?x",), ("and", ("b", "?x"), ("c", "?x")))]
    assert in_written_order(effects, told) == effects


def test_a_loop_is_taken_apart() -> None:
    effects = [("a",), ("forall", ("?x",), ("and", ("b", "?x"), ("c", "?x")))]
    assert in_written_order(effects, "2.2 1 2.1") == [
        ("forall", ("?x",), ("c", "?x")),
        ("a",),
        ("forall", ("?x",), ("b", "?x")),
    ]
