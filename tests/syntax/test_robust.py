"""No text, however broken or deep, makes the parser raise."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import TEXTS, problems

from tokenworld.diagnostics import Source, render
from tokenworld.syntax import parse_source
from tokenworld.syntax.tables import tables

EVERYTHING = (TEXTS / "everything.tw").read_text(encoding="utf-8")
WORDS = [*sorted(tables().keywords), *'{}()[]"`,.:=<>+-*/%?~#\\', "\n", "x", "T", "1.5l", "\0", "é"]


def survives(text: str) -> None:
    source = Source("t.tw", None, text)
    file, found = parse_source(source)
    assert render(found, {"t.tw": source}) or not found
    assert found or file.items


@pytest.mark.parametrize("seed", range(40))
def test_mutations_never_raise(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(10):
        text = EVERYTHING
        for _ in range(dice.randint(1, 8)):
            at = dice.randrange(len(text))
            match dice.randrange(4):
                case 0:
                    text = text[:at] + text[at + dice.randint(1, 30) :]
                case 1:
                    text = text[:at] + dice.choice(WORDS) + text[at:]
                case 2:
                    text = text[:at] + f" {dice.choice(WORDS)} " + text[at + 1 :]
                case _:
                    other = dice.randrange(len(text))
                    text = text[:at] + text[other : other + 40] + text[at:]
        survives(text)


@given(st.lists(st.sampled_from(WORDS), max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_words_never_raise(words: list[str]) -> None:
    survives(" ".join(["type", *words]))


@given(st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_any_text_never_raises(text: str) -> None:
    survives(f"type A {text}")


@pytest.mark.parametrize("seed", range(10))
def test_every_prefix_never_raises(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(20):
        survives(EVERYTHING[: dice.randrange(1, len(EVERYTHING))] or "type A")


@pytest.mark.parametrize(
    "text",
    [
        "law l() { x = " + "(" * 5000 + "1" + ")" * 5000 + " }",
        "law l() { x = " + "not " * 5000 + "y }",
        "law l() { x = " + "-" * 5000 + "1 }",
        "law l() { x = " + "1 + " * 5000 + "1 }",
        "law l() { x = a" + ".b" * 5000 + " }",
        "law l() { x = a implies " * 1 + "a implies " * 5000 + "b }",
        "law l() { x = " + "if a then b else " * 5000 + "c }",
        "law l() { x = " + "f(" * 5000 + ")" * 5000 + " }",
        "law l() { x = " + "[" * 5000 + "]" * 5000 + " }",
        "law l() " + "{ if a " * 5000 + "}" * 5000,
        'law l() { say "{' + "(" * 5000 + '"}',
        'quirk "a" ' * 5000 + "law l() { }",
    ],
)
def test_deep_nesting_is_one_diagnostic(text: str) -> None:
    (problem,) = problems(text)
    assert problem.code in ("TW0101", "TW0104")


def test_the_depths_that_are_allowed() -> None:
    assert problems("law l() { x = " + "(" * 90 + "1" + ")" * 90 + " }") == ()
    assert problems("law l() " + "{ if a " * 31 + "{ }" + "}" * 31) == ()


def test_a_large_file_is_linear() -> None:
    begin = time.process_time()
    _, found = parse_source(Source("t.tw", None, EVERYTHING.replace("edition 1", "") * 20))
    assert found == ()
    assert time.process_time() - begin < 30


def test_many_mistakes_stay_quick_and_few() -> None:
    begin = time.process_time()
    assert len(problems("@" * 50_000)) == 1
    assert len(problems("law l( { }\n" * 2000)) == 50
    assert len(problems('law l() { x = "\n' * 2000)) <= 70
    assert time.process_time() - begin < 30
