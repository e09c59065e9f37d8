"""The scores of PDDL domains: 1 for the same, less for every kind of loss that each one knows."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tokenworld.verbs.bench.scores import Scores, score, strict

DOMAIN = """
(define (domain depot)
  (:requirements :typing :action-costs)
  (:types truck - vehicle vehicle place - object)
  (:constants hub - place)
  (:predicates (at ?v - vehicle ?p - place) (road ?a ?b - place) (broken ?v - vehicle))
  (:functions (total-cost) - number (dist ?a ?b - place) - number)
  (:action drive
    :parameters (?t - truck ?from ?to - place)
    :precondition (and (at ?t ?from) (road ?from ?to) (or (not (broken ?t)) (= ?to hub)))
    :effect (and (not (at ?t ?from)) (at ?t ?to) (increase (total-cost) (dist ?from ?to))))
  (:action mend
    :parameters (?t - truck)
    :precondition (broken ?t)
    :effect (forall (?v - truck) (when (broken ?v) (not (broken ?v)))))
)
"""
ALL = Fraction(1)


def changed(old: str, new: str) -> str:
    assert DOMAIN.count(old) == 1, old
    return DOMAIN.replace(old, new)


def test_a_domain_has_all_of_itself() -> None:
    assert score(DOMAIN, DOMAIN) == Scores(ALL, ALL, ALL, ALL)
    assert score(DOMAIN, DOMAIN).perfect
    found = strict(DOMAIN, DOMAIN)
    assert (found.f1, found.lost, found.added) == (1, (), ())


def test_what_means_nothing_counts_for_nothing() -> None:
    other = changed("?from ?to - place)\n", "?from - place ?to - place)\n")
    other = other.replace(":precondition (broken ?t)", ":precondition (and (broken ?t))")
    assert score(DOMAIN, other).perfect
    assert strict(DOMAIN, other).f1 == 1


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("(broken ?v - vehicle))", ")", Scores(Fraction(4, 5), ALL, ALL, ALL)),
        ("(broken ?v - vehicle))", "(broken))", Scores(Fraction(2, 3), ALL, ALL, ALL)),
        ("(broken ?v - vehicle))", "(broken ?v) (lost))", Scores(Fraction(6, 7), ALL, ALL, ALL)),
        ("(?t - truck)", "(?t ?more - truck)", Scores(ALL, Fraction(5, 6), ALL, ALL)),
        (" (road ?from ?to) ", " ", Scores(ALL, ALL, Fraction(9, 10), ALL)),
        ("(road ?from ?to)", "(not (road ?from ?to))", Scores(ALL, ALL, Fraction(5, 6), ALL)),
        ("(not (broken ?t)) (= ?to hub)", "(= ?to hub)", Scores(ALL, ALL, Fraction(5, 6), ALL)),
        ("(at ?t ?to) ", "", Scores(ALL, ALL, ALL, Fraction(5, 6))),
        ("(when (broken ?v) ", "(when (broken hub) ", Scores(ALL, ALL, ALL, Fraction(1, 2))),
        ("(?v - truck) (when", "(?v - vehicle) (when", Scores(ALL, ALL, ALL, Fraction(1, 2))),
        ("(:action mend", "(:action repair", Scores(ALL, Fraction(0), Fraction(0), Fraction(0))),
    ],
)  # fmt: skip
def test_each_loss_lowers_its_own_score(old: str, new: str, expected: Scores) -> None:
    assert score(DOMAIN, changed(old, new)) == expected


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("truck - vehicle vehicle", "truck vehicle", ":types: (truck vehicle)"),
        (
            "(?t - truck ?from ?to - place)",
            "(?t - truck ?to ?from - place)",
            "action drive: effect",
        ),
        ("(?t - truck ?from ?to - place)", "(?t - place ?from ?to - place)", "action drive: param"),
        (" (increase (total-cost) (dist ?from ?to))", "", "action drive: effect (increase"),
        ("(dist ?from ?to))))", "(dist ?to ?from))))", "action drive: effect (increase"),
        ("(:constants hub - place)", "(:constants hub - object)", ":constants: (hub place)"),
        (":typing ", "", ":requirements: :typing"),
        ("?a ?b - place) - number", "?a - object ?b - place) - number", ":functions: "),
    ],
)
def test_the_strict_score_sees_what_the_published_one_does_not(
    old: str, new: str, told: str
) -> None:
    other = changed(old, new)
    assert score(DOMAIN, other).perfect
    found = strict(DOMAIN, other)
    assert 0 < found.f1 < 1
    assert any(one.startswith(told) for one in found.lost)


def test_a_surplus_action_is_seen_by_the_strict_score_alone() -> None:
    more = "(:action idle :parameters () :precondition () :effect ())\n  (:action mend"
    other = changed("(:action mend", more)
    assert score(DOMAIN, other).perfect
    found = strict(DOMAIN, other)
    assert found.f1 < 1
    assert found.lost == ()
    assert "action idle: parameters ()" in found.added


@pytest.mark.parametrize("text", ["", "()", "hello", DOMAIN.rstrip()[:-1], DOMAIN + ")"])
def test_what_is_no_domain_has_nothing(text: str) -> None:
    found = score(DOMAIN, text)
    assert found.parameters == found.preconditions == found.effects == 0
    assert found.predicates == 0
    assert strict(DOMAIN, text).f1 == 0


def test_case_counts_for_the_names_of_actions_alone() -> None:
    loud = DOMAIN.upper().replace(":ACTION DRIVE", ":action drive")
    assert score(DOMAIN, loud.replace(":ACTION MEND", ":action mend")).perfect
    assert score(DOMAIN, loud).parameters == 0
    assert strict(DOMAIN, loud).f1 == 1


def test_the_empty_parts_of_two_domains_are_equal() -> None:
    bare = "(define (domain d) (:action wait :parameters () :effect (and)))"
    assert score(bare, bare).perfect
    full = bare.replace("(and)", "(done)")
    assert score(bare, full) == Scores(ALL, ALL, ALL, Fraction(0))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(at ?v - vehicle ?p - place)", "(at ?some - vehicle ?there - place)"),
        ("(at ?t ?from) (road ?from ?to) (or", "(road ?from ?to) (at ?t ?from) (or"),
        ("(not (broken ?t)) (= ?to hub)", "(= hub ?to) (not (broken ?t))"),
        ("(forall (?v - truck) (when (broken ?v) (not (broken ?v))))",
         "(forall (?it - truck) (when (broken ?it) (not (broken ?it))))"),
    ],
)  # fmt: skip
def test_names_of_variables_and_orders_do_not_count_strictly(old: str, new: str) -> None:
    assert strict(DOMAIN, changed(old, new)).f1 == 1


def test_all_variables_of_an_action_may_have_other_names() -> None:
    other = DOMAIN.replace("?from", "?a1").replace("?to", "?b1").replace("?t ", "?c1 ")
    other = other.replace("?t)", "?c1)")
    assert not score(DOMAIN, other).perfect
    assert strict(DOMAIN, other).f1 == 1
