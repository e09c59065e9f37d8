"""One mistake, one diagnostic; the items around it are still read."""

from __future__ import annotations

import re

import pytest
from trees import parse, problems

from tokenworld.diagnostics import Source, render
from tokenworld.syntax import parse_source

CASES = [
    # text, code, line:column, words of the message, words of the hint
    ("action a() {\n  require x = 3\n}", "TW0101", "2:13", "`=` in the action `a`", "`==`"),
    ("law l() { x == 3 }", "TW0101", "1:13", "`==`", "Write `=` to set"),
    ("law l() when a < b < c { }", "TW0101", "1:20", "`<`", "one pair"),
    ("law l() when (a or b { }", "TW0101", "1:22", "`{`", "parenthesis"),
    ("law l() { if a: x = 1 }", "TW0101", "1:15", "`:`", "`{`"),
    ("law l() { if a { } elif b { } }", "TW0101", "1:20", "`elif`", "else if"),
    ("law l() { x = 1e5 }", "TW0101", "1:17", "`5`", "exponents"),
    ("law l() { x = .5 }", "TW0101", "1:15", "`.`", "`0.5`"),
    ("action a() { requires x }", "TW0101", "1:14", "`requires`", "`require`"),
    ("acton a() { }", "TW0101", "1:1", "does not begin an item", "`action`"),
    ("object Foo: Bar", "TW0101", "1:8", "`Foo`", "small letter"),
    ("type room", "TW0101", "1:6", "`room`", "capital letter"),
    ("law all() { }", "TW0101", "1:5", "`all`", "backquotes"),
    ("law l() { let count = 3 }", "TW0101", "1:15", "`count`", "backquotes"),
    ("law l() { x = all }", "TW0101", "1:19", "`}`", "`all` is a reserved word"),
    ("law l() { x = 3, y = 4 }", "TW0101", "1:16", "`,`", "no separators"),
    ("param y: 0..9 = 3", "TW0101", "1:11", "`.`", "0 to 9"),
    ("law l() { let x = a == not b }", "TW0101", "1:24", "`not`", "parentheses"),
    ("world w { gaol x: y }", "TW0101", "1:11", "`gaol`", "`goal`"),
    ('scenario "s" in w { when a() than won }', "TW0101", "1:30", "`than`", "`then`"),
    ('action a() as "x" as "y" { }', "TW0101", "1:19", "twice", "`or`"),
    ('quirk "a" quirk "b" law l() { }', "TW0101", "1:11", "one `quirk`", "one text"),
    ("}\ntype A", "TW0101", "1:1", "closes nothing", "Remove it"),
    ("type A { } }", "TW0101", "1:12", "closes nothing", "Remove it"),
    ("action a() {\n  x = 1\n\nlaw l() { }", "TW0102", "2:7", "opened on line 1", "line 1"),
    ("law l() {\n  if x { y = 1\n}\nlaw m() { }", "TW0102", "2:14", "opened on line 2", "line 2"),
    ("world w {\n  object a: T {\n  object b: T\n}", "TW0102", "2:15", "line 2", "line 2"),
    ("world w {\n  endless", "TW0102", "2:3", "never closed", "`}`"),
    ('law l() { say "abc\n }', "TW0103", "1:15", "not closed", '`"`'),
    ("law `l() { }", "TW0103", "1:5", "raw name", "backquote"),
    ("law l() when a && b { }", "TW0103", "1:16", "`&&`", "`and`"),
    ("law l() { x = 1; }", "TW0103", "1:16", "`;`", "no separators"),
    ("law l() { say “hi there” }", "TW0103", "1:15", "`“hi there”`", "straight"),
    ("derive café() = 3", "TW0103", "1:11", "`é`", "`café`"),
    ("law l() { x = 'a' }", "TW0103", "1:15", "`'a'`", "double quotes"),
    ("law l() { x = " + "9" * 5000 + " }", "TW0103", "1:15", "5000 digits", "shorter"),
    ("law l() { x = a \x07 }", "TW0103", "1:17", "U+0007", "Remove it"),
]


@pytest.mark.parametrize(("text", "code", "place", "words", "hint"), CASES)
def test_one_mistake(text: str, code: str, place: str, words: str, hint: str) -> None:
    problem = problems(text)[0]
    assert (problem.code, f"{problem.span}") == (code, f"t.tw:{place}")
    assert words in problem.message
    assert problem.hint is not None
    assert hint in problem.hint


@pytest.mark.parametrize("text", [case[0] for case in CASES])
def test_it_is_the_only_diagnostic(text: str) -> None:
    assert len(problems(text)) == 1


@pytest.mark.parametrize("text", [case[0] for case in CASES])
def test_no_terminal_name_is_ever_shown(text: str) -> None:
    source = Source("t.tw", None, text)
    shown = render(problems(text), {"t.tw": source})
    assert not re.search(r"\b(NAME|TYPE|RAW|NUMBER|QUANTITY|STRING|PERCENT|ANON|END|BAD)\b", shown)


@pytest.mark.parametrize("text", [c[0] for c in CASES if c[1] != "TW0102" and "`l" not in c[0]])
def test_the_items_around_a_mistake_are_read(text: str) -> None:
    file, _ = parse_source(Source("t.tw", None, f"type Before\n{text}\n\ntype After {{ }}\n"))
    shown = [file.items[0], file.items[-1]]
    assert [getattr(item, "name").value for item in shown] == ["Before", "After"]  # noqa: B009


def test_several_mistakes_of_one_file() -> None:
    text = "type A { x: }\ntype B\nlaw l() { x = }\nlaw m() { }\nlaw n( { }\nphase p\n"
    file, found = parse_source(Source("t.tw", None, text))
    assert [str(p.span) for p in found] == ["t.tw:1:13", "t.tw:3:15", "t.tw:5:8"]
    assert [type(item).__name__ for item in file.items] == ["TypeDecl", "LawDecl", "PhaseDecl"]


def test_the_related_place_is_the_brace() -> None:
    (problem,) = problems("law l() {\n  x = 1\nlaw m() { }")
    assert [str(related.span) for related in problem.related] == ["t.tw:1:9", "t.tw:3:1"]


def test_fixes_repair_the_text() -> None:
    for text in ("derive d() = a = b", "law l() { x == 3 }", "law all() { }"):
        (problem,) = problems(text)
        assert problem.fix is not None
        (edit,) = problem.fix.edits
        parse(text[: edit.span.start] + edit.text + text[edit.span.end :])


@pytest.mark.parametrize("text", ["", "  \n\t", "# only a comment\n## and another"])
def test_a_text_without_items_is_a_warning(text: str) -> None:
    (problem,) = problems(text)
    assert (problem.code, problem.severity.value) == ("TW0004", "warning")


def test_expected_words() -> None:
    labels = {
        text: problems(text)[0].label for text in ("type 3", "law l() { 3 }", "type A { x: }")
    }
    assert labels == {
        "type 3": "expected a type",
        "law l() { 3 }": "expected a change or `}`",
        "type A { x: }": "expected a type or a number",
    }
