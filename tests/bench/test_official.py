"""The published script's scores, with its accidents; against tarski where it is installed."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import pytest

from tokenworld.verbs.bench.official import Official, official

DOMAIN = """
(define (domain depot)
  (:requirements :typing :action-costs)
  (:types place vehicle - object truck - vehicle)
  (:constants hub - place)
  (:predicates (at ?v - vehicle ?p - place) (hands-full ?v - vehicle) (broken ?v - vehicle))
  (:functions (total-cost) - number (dist ?a ?b - place) - number)
  (:action drive
    :parameters (?t - truck ?from ?to - place)
    :precondition (and (at ?t ?from) (or (not (broken ?t)) (= ?to hub)) (not (hands-full ?t)))
    :effect (and (not (at ?t ?from)) (at ?t ?to) (increase (total-cost) (dist ?from ?to))))
  (:action mend
    :parameters (?t - truck)
    :precondition (exists (?p - place) (at ?t ?p))
    :effect (forall (?v - vehicle) (when (and (broken ?v) (at ?v hub)) (not (broken ?v)))))
)
"""
ALL = Official(True, 100.0, 100.0, 100.0, 100.0)
NOTHING = Official(False, 0.0, 0.0, 0.0, 0.0)


def changed(old: str, new: str) -> str:
    assert DOMAIN.count(old) == 1, old
    return DOMAIN.replace(old, new)


def test_a_domain_has_all_of_itself() -> None:
    assert official(DOMAIN, DOMAIN) == ALL


def test_an_action_that_asks_nothing_costs_all_three_scores() -> None:
    """The script reads the first letter of an empty text; 97.0 instead of 99.0 come from this."""
    idle = changed("(exists (?p - place) (at ?t ?p))", "()")
    assert official(idle, idle) == Official(True, 100.0, 0.0, 0.0, 0.0)


def test_a_name_is_cut_at_its_and() -> None:
    one = "(define (domain d) (:predicates (hands) (hard)) (:action a :parameters () " \
          ":precondition (hands) :effect (hands)))"  # fmt: skip
    assert (
        official(one, one.replace(":precondition (hands)", ":precondition (hard)")).preconditions
        == 0
    )
    both = one.replace(":precondition (hands)", ":precondition (and (hands) (hard))")
    # "hands() and hard()" is cut at three places: h, s(), hard( with the first letters gone
    assert official(both, both.replace("(and (hands)", "(and (hard)")).preconditions == 50.0


def test_costs_bring_four_predicates_and_are_no_effects() -> None:
    other = changed("(broken ?v - vehicle))", "(broken ?v - vehicle ?x - place))")
    other = re.sub(r"\(broken (\?\w)\)", r"(broken \1 hub)", other)
    assert official(DOMAIN, other).predicates == 85.7  # six of seven: at, hands-full, < <= > >=
    assert (
        official(DOMAIN, changed("(increase (total-cost) (dist ?from ?to))", "")).effects == 100.0
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(:requirements :typing :action-costs)", "(:requirements :typing)"),
        ("place vehicle - object truck - vehicle", "truck - vehicle place vehicle - object"),
        ("(at ?v - vehicle ?p - place)", "(at ?v - vehicle ?p - (either place truck))"),
        ("(= ?to hub)", "(= ?to hut)"),
        ("(or (not (broken ?t)) (= ?to hub))", "(or (not (broken ?t)))"),
        ("(at ?t ?p))\n", "(at ?t ?q))\n"),
        ("(exists (?p - place) (at ?t ?p))", "(exists (?t - truck) (broken ?t))"),
        (":precondition (exists (?p - place) (at ?t ?p))", ""),
        ("(at ?t ?to) (increase", "(and (at ?t ?to)) (increase"),
        ("(at ?t ?to) ", "(at ?to ?t) "),
        ("(define", "(defined"),
    ],
)
def test_what_tarski_does_not_read_has_nothing(old: str, new: str) -> None:
    assert official(DOMAIN, changed(old, new)) == NOTHING


def test_what_is_no_list_has_nothing() -> None:
    for text in ("", "()", "hello", DOMAIN.rstrip()[:-1], DOMAIN + "; the end"):
        assert official(DOMAIN, text) == NOTHING
    assert official(DOMAIN, DOMAIN + ")") == ALL  # what follows is not read
    assert official(DOMAIN + "; the end", DOMAIN) == ALL


# ---- against tarski -----------------------------------------------------------------------------


def test_tarski_agrees_on_mutants() -> None:
    pytest.importorskip("tarski", reason="tarski is not installed (pip install tarski numpy scipy)")
    draw = random.Random(0)
    for _ in range(60):
        text = mutant(DOMAIN, draw)
        assert official(DOMAIN, text) == by_tarski(DOMAIN, text), text


def mutant(text: str, draw: random.Random) -> str:
    words = re.findall(r"[()]|[^\s()]+", text)
    names = [place for place, word in enumerate(words) if word not in "()"]
    one, other = draw.choice(names), draw.choice(names)
    match draw.randrange(4):
        case 0:
            del words[one]
        case 1:
            words[one] = words[other]
        case 2:
            words[one], words[other] = words[other], words[one]
        case _:
            words.insert(one, draw.choice(["( and )", "( or )", "foo", "?z", "3", "and"]))
    return " ".join(words)


def by_tarski(original: str, text: str) -> Official:
    """The comparison that the published script makes, on what tarski reads."""
    wanted, found = read_by_tarski(original), read_by_tarski(text)
    assert wanted is not None
    if found is None:
        return NOTHING
    heads = [[f"{one.symbol}_{one.arity}" for one in problem.language.predicates
              if str(one.symbol) not in ("=", "!=")] for problem in (found, wanted)]  # fmt: skip
    try:
        each = [
            [f1(*pair) for pair in zip(facets(found.actions[name]), facets(one), strict=True)]
            for name, one in wanted.actions.items()
        ]
        means = [sum(values) / len(values) for values in zip(*each, strict=True)]
    except (KeyError, IndexError):
        means = [0.0, 0.0, 0.0]
    return Official(True, *(round(100 * one, 1) for one in (f1(*heads), *means)))


def read_by_tarski(text: str) -> Any:
    from tarski.io import PDDLReader

    reader = PDDLReader(raise_on_error=True)
    try:
        reader.parse_domain_string(text.strip())
    except Exception:  # whatever it raises, the script gives 0
        return None
    return reader.problem


def facets(action: Any) -> tuple[list[str], list[str], list[str]]:
    asked = [one.strip() for one in str(action.precondition)[1:-1].split("and")]
    parts = [str(one.symbol) for one in action.parameters], asked, list(map(str, action.effects))
    return ordered(parts[0]), ordered(parts[1]), ordered(parts[2])


def ordered(texts: list[str]) -> list[str]:
    found = sorted(texts)
    for place, one in enumerate(found):
        if one[0] == "(" and " or " in one:
            found[place] = f"({' or '.join(sorted(p.strip() for p in one[1:-1].split(' or ')))})"
    return sorted(found)


def f1(found: Sequence[str], wanted: Sequence[str]) -> float:
    if not found and not wanted:
        return 1.0
    both = len(set(found) & set(wanted))
    return 2 * both / (len(set(found)) + len(set(wanted)))
