"""Quoted texts: escapes, slots, articles and lists."""

from __future__ import annotations

import pytest
from trees import bare, parse, problems

from tokenworld.syntax import nodes as n


def template(text: str) -> n.Template:
    (item,) = parse(f"law l() {{ say {text} }}").items
    assert isinstance(item, n.LawDecl)
    (effect,) = item.block.effects
    assert isinstance(effect, n.Say)
    return effect.text


def slot(text: str) -> n.Slot:
    (part,) = template(f'"{{{text}}}"').parts
    assert isinstance(part, n.Slot)
    return part


@pytest.mark.parametrize(
    ("text", "article", "listed", "value"),
    [
        ("x", "", False, ("Name", "x")),
        ("a x", "a", False, ("Name", "x")),
        ("A x", "A", False, ("Name", "x")),
        ("the x", "the", False, ("Name", "x")),
        ("The  time", "The", False, ("Name", "time")),
        ("list x.c", "", True, ("Attr", ("Name", "x"), ("Name", "c"))),
        ("a list x", "a", True, ("Name", "x")),
        ("a `odd } name`", "a", False, ("Name", "odd } name")),
        # An article or `list` that nothing follows is a name itself.
        ("a", "", False, ("Name", "a")),
        ("list", "", False, ("Name", "list")),
        ("a list", "a", False, ("Name", "list")),
        ("the.x", "", False, ("Attr", ("Name", "the"), ("Name", "x"))),
        ("A.x", "", False, ("Qualified", ("Name", "A"), ("Name", "x"))),
        ("a(1)", "", False, ("Call", ("Name", "a"), (("Number", "1", 0, None),))),
        ("a - 1", "", False, ("Binary", "-", ("Name", "a"), ("Number", "1", 0, None))),
    ],
)
def test_slots(text: str, article: str, listed: bool, value: object) -> None:
    found = slot(text)
    assert (found.article, found.list, bare(found.value)) == (article, listed, value)


def test_parts_and_their_places() -> None:
    text = 'law l() { say "A \\{b\\} {the x.y}, \\"q\\" \\\\ }" }'
    (item,) = parse(text).items
    assert isinstance(item, n.LawDecl)
    (say,) = item.block.effects
    assert isinstance(say, n.Say)
    first, middle, last = say.text.parts
    assert isinstance(first, n.TextPart)
    assert isinstance(middle, n.Slot)
    assert isinstance(last, n.TextPart)
    assert (first.value, last.value) == ("A {b} ", ', "q" \\ }')
    assert text[first.span.start : first.span.end] == "A \\{b\\} "
    assert text[middle.span.start : middle.span.end] == "{the x.y}"
    assert text[middle.value.span.start : middle.value.span.end] == "x.y"


def test_an_empty_text_has_no_parts() -> None:
    assert template('""').parts == ()


def test_titles_are_plain() -> None:
    (item,) = parse('object o "A {brace} \\"q\\""').items
    assert isinstance(item, n.ObjectDecl)
    assert item.title is not None
    assert item.title.value == 'A {brace} "q"'


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ('"hi {x"', 19, "not closed"),
        ('"hi {}"', 19, "empty"),
        ('"hi {the x y}"', 26, "`y`"),
        ('"hi {the x.}"', 19, "no complete value"),
        ('"a \\q"', 18, "`\\q`"),
        ('"{if x then \\"a\\" else y}"', 16, "quoted text"),
        ('"{if x then "a" else "b"}"', 16, "inside its braces"),
        ('"{x {y}}"', 19, "`{`"),
    ],
)
def test_bad_templates(text: str, column: int, words: str) -> None:
    (problem,) = problems(f"law l() {{ say {text} }}")
    assert problem.code == "TW0104"
    assert problem.span is not None
    assert problem.span.column == column
    assert words in problem.message
    assert problem.hint


def test_several_bad_slots_are_all_reported() -> None:
    found = problems('law l() { say "{}"\n say "{x.}" }\nlaw m() { say "{*}" }')
    assert [p.code for p in found] == ["TW0104"] * 3
