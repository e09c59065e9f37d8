"""Mistakes that people make, and the exact words that are said about each.

`mistakes.txt` holds them: a line `> text` (with `⏎` and `⇥` for line breaks and tabs), a line with
code, place and message, and the hint below. To write it anew after a deliberate change, run with
``UPDATE_SNAPSHOTS=1`` and read the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from trees import problems

from tokenworld.syntax.tables import tables

TABLE = Path(__file__).with_name("mistakes.txt")
TEXTS = [line[2:] for line in TABLE.read_text("utf-8").split("\n") if line.startswith("> ")]


def said(shown: str) -> str:
    """The block of the table for one text."""
    (only,) = problems(shown.replace("⏎", "\n").replace("⇥", "\t"))
    assert only.span is not None
    place = f"{only.span.line}:{only.span.column}"
    return f"> {shown}\n{only.code} {place} {only.message}\n    {only.hint}\n"


def blocks() -> dict[str, str]:
    parts = TABLE.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    return {part.split("\n")[0][2:]: part + "\n" for part in parts}


if os.environ.get("UPDATE_SNAPSHOTS"):
    TABLE.write_text("\n".join(said(text) for text in TEXTS), encoding="utf-8")


@pytest.mark.parametrize("text", TEXTS)
def test_the_words(text: str) -> None:
    assert said(text) == blocks()[text]


def test_every_hint_is_an_instruction_in_the_words_of_the_language() -> None:
    for block in blocks().values():
        _, place, hint = block.rstrip("\n").split("\n")
        assert re.match(r"    [`A-Z].*[.?]$", hint), block
        words = re.sub(r"`[^`]*`", "", place + hint)
        assert not re.search(r"\b(NAME|TYPE|RAW|NUMBER|QUANTITY|STRING|PERCENT|END|BAD)\b", words)


# Where a name may stand; `?` is the name.
PLACES = (
    "type A { ?: bool }", "type A { x: bool  ?: bool }", "type A { ? = 1 }", "object ?: A",
    "object a, ?: A", "object a: A { ? = 1 }", "enum E { ?, a }", "enum E { a, ? }",
    "enum E { a < ? }", "actor ?: A", "relation ?()", "function ?(): A", "table ?() { a }",
    "table t() { ?: 1 }", "derive ?() = 1", "param ?: A = 1", "event ?()", "phase ?", "unit ?",
    "action ?() { }", "action a(?) { }", "action a(?: A) { }", "action a(x, ?) { }",
    'action a() { require b else ? "c" }', "law ?() { }", "law l() during ? { }",
    "law l() { let ? = 1 }", "law l() { x.? = 1 }", "law l() { ? = 1 }", "law l() { ?.x = 1 }",
    "law l() { for ?: A { } }", "law l() { for x: A, ?: A { } }", "law l() { create ?: A }",
    "law l() { destroy ? }", "law l() { add ?(x) }", "law l() { emit ?(x) }",
    "law l() { pick ?: A { } }", "birth ?: A { }", "watch ?() when a { }", "invariant ?(): a",
    "conserve ?: 1", "conserve c: 1 except ?", "called ?: A = b", "scope ?: A = b",
    "describe ?: A { }", "world ? { }", "world w { object ?: A }", "world w { goal ?: a }",
    "world w { lose ?: a }", "world w { turns ? }", 'scenario "s" in ? { }', "use ?", "use a.?",
    "use a as ?", "model ?", 'scenario "s" in w { when ?(a) }',
    'scenario "s" in w { then refused because ? }', 'scenario "s" in w { when a() by ? }',
    "derive d() = a.?", "derive d() = A.?", "derive d() = sum(1 for ?: A)", "derive d() = was a.?",
    'law l() { say "{a.?}" }', "type A { x: B inverse ? }", "pddl { ? = a }", "pddl { a = ? }",
)  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_reserved_words_as_names_in_every_place(place: str) -> None:
    for word in ("count", "first", "in", "lost"):
        found = problems(place.replace("?", word))
        assert len(found) == 1
        quoted = f"`{word}` is a reserved word: write it in backquotes to use it as a name."
        assert found[0].hint == quoted, place.replace("?", word)
        assert problems(place.replace("?", f"`{word}`")) == ()


def test_there_is_no_other_way_to_use_a_reserved_word() -> None:
    assert {"count", "first", "in", "lost", "pass"} <= tables().reserved
