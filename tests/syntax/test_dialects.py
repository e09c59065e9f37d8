"""The grammar for constrained decoding accepts what the language accepts, byte by byte."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput
from llguidance import LLMatcher, LLTokenizer, grammar_from

from tokenworld.assets import grammar_path
from tokenworld.verbs.grammars.dialects import NAME, keywords_of, llguidance_grammar, with_name

ROOT = Path(__file__).parents[2]
GRAMMAR = grammar_path().read_text(encoding="utf-8")
BYTES = LLTokenizer("byte")
WORLDS = sorted([*ROOT.glob("domains/*/*.tw"), *ROOT.glob("rules/*/*.tw")])
FIXTURES = sorted((ROOT / "tests" / "errors").glob("*.tw"))
NAMES = [path.relative_to(ROOT).as_posix() for path in (*WORLDS, *FIXTURES)]


@cache
def dialect() -> str:
    found = grammar_from("lark", llguidance_grammar(GRAMMAR))
    assert isinstance(found, str)
    return found


@cache
def lark() -> Lark:
    return Lark(GRAMMAR, parser="lalr", lexer="basic")


def decodes(text: bytes) -> bool:
    matcher = LLMatcher(BYTES, dialect())
    return bool(matcher.try_consume_tokens(list(text)) == len(text) and matcher.is_accepting())


def parses(text: str) -> bool:
    try:
        lark().parse(text)
    except UnexpectedInput:
        return False
    return True


def mutations(text: str, chance: random.Random, number: int) -> list[str]:
    """Texts with a token dropped, doubled or exchanged with another."""
    tokens = re.findall(r'\s+|"(?:[^"\\\n]|\\.)*"|#[^\n]*|[A-Za-z0-9_.%`]+|[^\sA-Za-z0-9_]', text)
    solid = [i for i, token in enumerate(tokens) if not token.isspace() and token[0] != "#"]
    found = []
    for _ in range(number):
        changed, place = list(tokens), chance.choice(solid)
        match chance.randrange(3):
            case 0:
                changed[place] = " "
            case 1:
                changed[place] = f"{tokens[place]} {tokens[place]}"
            case _:
                changed[place] = f" {tokens[chance.choice(solid)]} "
        found.append("".join(changed))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_files_are_accepted_exactly_if_they_parse(name: str) -> None:
    data = (ROOT / name).read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError:
        assert not decodes(data)
        return
    assert decodes(data) == parses(text)


@pytest.mark.parametrize("name", ["cellar", "cottage", "blocks", "kitchen"])
def test_mutated_files_are_judged_alike(name: str) -> None:
    text = (ROOT / "domains" / name / "world.tw").read_text(encoding="utf-8")
    changed = mutations(text, random.Random(name), 60)
    verdicts = [parses(one) for one in changed]
    assert verdicts.count(False) > 20
    assert [decodes(one.encode()) for one in changed] == verdicts


def test_a_reserved_word_is_no_name() -> None:
    assert not decodes(b"type T { count: bool }")
    assert decodes(b"type T { `count`: bool }")


def test_only_given_names_can_be_written() -> None:
    narrow = grammar_from("lark", llguidance_grammar(GRAMMAR.replace(NAME, "NAME: /lamp/")))
    matcher = LLMatcher(BYTES, narrow)
    assert matcher.try_consume_tokens(list(b"object lamp: T")) == len(b"object lamp: T")
    matcher = LLMatcher(BYTES, narrow)
    assert matcher.try_consume_tokens(list(b"object lime: T")) < len(b"object lime: T")


def test_keywords_are_those_of_the_grammar() -> None:
    assert {"require", "action", "count"} <= set(keywords_of(GRAMMAR))


def test_another_grammar_is_refused() -> None:
    with pytest.raises(ValueError, match="NAME"):
        with_name("start: item*", "/x/")
