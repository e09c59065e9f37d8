"""What is wrong with a PDDL text is named at its place, and what `.tw` lacks by its construct."""

from __future__ import annotations

from time import process_time

import pytest

from tokenworld.check.typing.context import MOST_PARAMETERS
from tokenworld.diagnostics import Diagnostic, Failure, Source
from tokenworld.planning.reader import import_pddl
from tokenworld.planning.reader.sexpr import Faults, read_items

DOMAIN = """(define (domain d)
  (:requirements :strips)
  (:types block - object)
  (:predicates (clear ?b - block) (on ?a ?b - block))
  (:functions (size ?b - block))
  (:action lift
    :parameters (?b - block)
    :precondition (clear ?b)
    :effect (not (clear ?b))))
"""
PROBLEM = """(define (problem p) (:domain d)
  (:objects a b - block)
  (:init (clear a) (= (size a) 2))
  (:goal (not (clear a))))
"""


def findings(domain: str, problem: str = PROBLEM) -> tuple[Diagnostic, ...]:
    sources = Source("d.pddl", None, domain), Source("p.pddl", None, problem)
    with pytest.raises(Failure) as raised:
        import_pddl(sources[0], (sources[1],))
    return raised.value.diagnostics


def said(domain: str, problem: str = PROBLEM) -> list[str]:
    return [f"{one.span} {one.code} {one.message}" for one in findings(domain, problem)]


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("(clear ?b)\n    :e", "(clera ?b)\n    :e", "8:20 TW0201 There is no predicate `clera`."),
        (":effect (not", ":effect (nut", "9:14 TW0201 There is no predicate `nut`."),
        (":effect (not (clear ?b))", ":effect (not (and))",
         "9:19 TW0101 `and` stands where a predicate should be."),
        ("(clear ?b)\n    :e", "(clear ?c)\n    :e", "8:26 TW0201 There is no variable `?c`."),
        ("(clear ?b)\n    :e", "(clear d)\n    :e", "8:26 TW0201 There is no object `d`."),
        ("(clear ?b)\n    :e", "(clear)\n    :e",
         "8:19 TW0302 The predicate `clear` takes 1 argument, and this gives 0."),
        ("(?b - block)\n    :p", "(?b - blok)\n    :p", "7:23 TW0202 There is no type `blok`."),
        ("(:functions (size", "(:functions (clear",
         "5:16 TW0203 The name `clear` is declared twice."),
        (":precondition", ":preconditions", "8:5 TW0101 `:preconditions` has no meaning here."),
        ("(:action lift", "(:action",
         "7:5 TW0101 `:parameters` stands where the action's name should be."),
        ("block - object)", "block - objetc box - object objetcs)",
         "3:19 TW0202 There is no type `objetc`."),
        (":strips", ":srtips", "2:18 TW0201 There is no requirement `:srtips`."),
        ("(?b - block)\n    :p", "(b - block)\n    :p",
         "7:18 TW0101 `b` stands where a variable should be."),
        ("(?b - block)\n    :p", "(?b: block)\n    :p", "7:18 TW0101 `b:` ends in a colon."),
        ("(?b - block)\n    :p", "?b - block\n    :p",
         "7:17 TW0101 The parameters of action `lift` stand without parentheses."),
        ("(clear ?b)\n    :e", "(?b = ?b)\n    :e",
         "8:23 TW0101 `=` stands between its two sides."),
        ("(clear ?b)\n    :e", "(and (clear ?b)) (clear ?b))\n    :e",
         "8:34 TW0101 A `)` too many ends the list before its last part."),
        ("(clear ?b)\n    :e", "(and (clear ?b)\n    :e",
         "8:33 TW0101 A `)` is missing: the next part begins inside a list."),
        (":strips", "strips", "2:18 TW0101 `strips` is no requirement."),
        ("(clear ?b)\n    :e", "\"clear\"\n    :e", "8:19 TW0103 The character"),
        ("(define", "(defin", "1:1 TW0101 The text does not begin with `(define …)`."),
        ("- object)", "- object block)", "3:26 TW0203 The type `block` is declared twice."),
        ("(?b - block)\n    :p", "(?b - block ?b)\n    :p",
         "7:29 TW0203 The parameter `b` is declared twice."),
    ],
)  # fmt: skip
def test_a_mistake_is_told_at_its_place(before: str, after: str, wanted: str) -> None:
    assert before in DOMAIN
    first = said(DOMAIN.replace(before, after, 1))[0]
    assert first.startswith(f"d.pddl:{wanted}")


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("(:predicates", "(:constants c - (either block table)) (:predicates",
         "`either` in another place than after a variable or a type"),
        ("- block) (on", "- (either block object)) (on", "`either` with `object`"),
        ("(:action lift", "(:process lift", "A process"),
        ("(:action lift", "(:event lift", "An event"),
        ("(clear ?b)\n    :e", "(not (preference p (clear ?b)))\n    :e",
         "A preference in this place"),
        (":effect (not (clear ?b))", ":effect (oneof (clear ?b) (and))", "`oneof`"),
        (":effect (not (clear ?b))", ":effect (at start (clear ?b))", "A timed effect"),
    ],
)  # fmt: skip
def test_what_a_world_cannot_hold_is_named(before: str, after: str, what: str) -> None:
    found = findings(DOMAIN.replace(before, after, 1))
    assert [one.code for one in found] == ["TW0810"]
    assert found[0].message == f"{what} is not supported."
    assert found[0].hint


@pytest.mark.parametrize(
    ("domain", "problem", "hint"),
    [
        (("(clear ?b)\n    :e", "(clear ?c)\n    :e"), None,
         "Declare it in `:parameters` as `?c - type`, or write one of `?b`."),
        (None, ("(= (size a) 2)", "(size a 2)"), "`size` is a function: write `(= (size a) 2)`."),
        (None, ("(= (size a) 2)", "(= (clear a) 2)"),
         "`clear` is a predicate: it has no value."),
        (None, ("(not (clear a))", "((not (clear a)))"), "Write `and` before several conditions."),
    ],
)  # fmt: skip
def test_the_fix_is_told(
    domain: tuple[str, str] | None, problem: tuple[str, str] | None, hint: str
) -> None:
    changed = [text.replace(*edit) if edit else text for text, edit in
               ((DOMAIN, domain), (PROBLEM, problem))]  # fmt: skip
    (found,) = findings(*changed)
    assert found.hint == hint


def test_a_parent_that_only_types_name_is_a_type() -> None:
    text = DOMAIN.replace("block - object", "block toy_block - thing thing2 - object thin - block")
    found = import_pddl(Source("d.pddl", None, text.replace("(on ?a", "(is ?t - thing) (on ?a")),
                        (Source("p.pddl", None, PROBLEM),))  # fmt: skip
    assert "type Block : Thing" in found.text
    assert "There is no type `thing`." in said(text)[0]


def test_an_object_of_a_type_without_its_dash_is_one_error() -> None:
    (found,) = findings(DOMAIN, PROBLEM.replace("a b - block", "a b block"))
    assert (str(found.span), found.hint) == ("p.pddl:2:17", "Write `- block`.")


def test_a_variable_without_its_mark_is_no_object_of_the_problem() -> None:
    (found,) = findings(DOMAIN.replace("(not (clear ?b))", "(not (clear b))"))
    assert found.hint == "Write `?b` for the variable."


def test_the_variables_of_an_old_action_are_parameters() -> None:
    old = DOMAIN.replace("(?b - block)\n    :p", "()\n    :vars (?b - block)\n    :p", 1)
    assert old != DOMAIN
    sources = [Source("d.pddl", None, one) for one in (old, DOMAIN)]
    problem = Source("p.pddl", None, PROBLEM)
    assert len({import_pddl(one, (problem,)).text for one in sources}) == 1


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("(:init (at 5 (clear b)))", "A timed initial literal"),
        ("(:goal (or (preference p (clear a))))", "A preference in this place"),
        ("(:goal (sometime (clear a)))", "The constraint `sometime` in a condition"),
    ],
)
def test_what_a_problem_cannot_hold_is_named(line: str, what: str) -> None:
    found = findings(DOMAIN, PROBLEM.replace("(:goal", f"{line}\n(:goal", 1))
    assert (found[0].code, found[0].message) == ("TW0810", f"{what} is not supported.")


def test_too_many_parameters_are_named_at_the_first_beyond() -> None:
    many = " ".join(f"?p{index}" for index in range(MOST_PARAMETERS + 1))
    (found,) = findings(DOMAIN.replace("(?b - block)\n    :p", f"(?b {many})\n    :p"))
    assert (found.code, found.label) == ("TW0810", "one too many")


def test_several_mistakes_are_told_at_once() -> None:
    bad = DOMAIN.replace("(clear ?b)\n    :e", "(clera ?b)\n    :e")
    bad = bad.replace("- block))\n  (:f", "- blok))\n  (:f").replace(
        "(not (clear ?b))", "(gone ?b)"
    )
    assert [one.code for one in findings(bad)] == ["TW0202", "TW0201", "TW0201"]


def test_a_missing_parenthesis_costs_one_diagnostic() -> None:
    bad = DOMAIN.replace("(clear ?b - block) (on ?a ?b - block))", "(clear ?b - block)")
    (found,) = findings(bad)
    assert found.code == "TW0101"
    assert "A `)` is missing" in found.message
    assert found.span is not None
    assert found.span.line == 4


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("(clear a) (=", "(clear a)) (=", "p.pddl:3:19 TW0101 A `)` too many"),
        ("2))\n", "2)))\n", "p.pddl:3:35 TW0101 A `)` too many"),
        ("(clear a) (=", "clear a (=", "p.pddl:3:10 TW0101 `clear` stands without its paren"),
        ("(:objects a b", "(:objects a, b", "p.pddl:2:13 TW0103 PDDL has no commas."),
        ("a b - block", "a b : block", "p.pddl:2:17 TW0101 `:` stands where the name should be."),
        ("(not (clear a))", "(and !(clear a) (clear b))", "p.pddl:4:15 TW0101 `!` stands"),
        ("(not (clear a))", "(clear a) (clear b)", "p.pddl:4:10 TW0101 Several conditions"),
        ("(not (clear a))", "(nad (clear a) (clear b))", "p.pddl:4:11 TW0201 There is no pred"),
        ("(not (clear a))", "(and (clear a) AND (clear b))", "p.pddl:4:25 TW0101 `AND` stands"),
        ("(:goal", "(:goals", "p.pddl:4:4 TW0101 `:goals` has no meaning here."),
        ("(:init", "(init", "p.pddl:3:4 TW0101 `init` has no meaning here."),
        ("(= (size a) 2)", "((size a) = 2)", "p.pddl:3:30 TW0101 `=` stands between"),
        ("(clear a) (=", "(clear c) (=", "p.pddl:3:17 TW0201 There is no object `c`."),
    ],
)
def test_one_mistake_in_a_problem_is_one_error(before: str, after: str, wanted: str) -> None:
    (only,) = said(DOMAIN, PROBLEM.replace(before, after, 1))
    assert only.startswith(wanted)


def test_a_numbered_object_is_no_slip_for_another_one() -> None:
    problem = PROBLEM.replace("a b -", "a1 a2 -").replace("(clear a)", "(clear a3)")
    assert findings(DOMAIN, problem)[0].hint == "Declare it in `:constants` or `:objects`."


def test_the_problem_is_told_by_its_own_file() -> None:
    found = said(DOMAIN, PROBLEM.replace("(clear a) (=", "(clear c) (="))
    assert found == ["p.pddl:3:17 TW0201 There is no object `c`."]


def test_a_domain_in_the_place_of_a_problem_is_told() -> None:
    assert "This is a domain" in said(DOMAIN, DOMAIN)[0]


def test_names_are_found_without_regard_to_case() -> None:
    shouted = DOMAIN.replace("(clear ?b)", "(CLEAR ?B)").replace(":action", ":ACTION")
    text = import_pddl(Source("d", None, shouted), (Source("p", None, PROBLEM),)).text
    assert "require clear(b)" in text


def test_a_long_run_of_characters_without_meaning_is_read_in_linear_time() -> None:
    source, faults = Source("d.pddl", None, "(define " + "{" * 200_000 + ")"), Faults()
    began = process_time()
    read_items(source, faults)
    assert process_time() - began < 30  # minutes, where each character looks through all others
    assert {one.code for one in faults.found} == {"TW0103"}
