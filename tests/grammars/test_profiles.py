"""Each profile of `tw grammar` in the decoder that it is for.

llguidance is a library of Python. llama.cpp and XGrammar are asked through Node, where it and their
packages are installed, in the folder of `TW_NODE_MODULES`; docs/decoding.md has the command.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from llguidance import LLMatcher, LLTokenizer, grammar_from

from tests.syntax.test_dialects import mutations, parses
from tokenworld.assets import grammar_path
from tokenworld.diagnostics import Failure, read_source
from tokenworld.session import Session, load_program, open_world
from tokenworld.syntax import parse_source
from tokenworld.verbs.grammars.dialects import (
    keywords_of,
    llguidance_grammar,
    not_a_word,
    openai_tool,
)
from tokenworld.verbs.grammars.gbnf import gbnf_grammar
from tokenworld.verbs.grammars.narrowing import MOST, command_grammar, narrowed, symbols_of
from tokenworld.verbs.grammars.verb import grammar, typed_now
from tokenworld.verbs.output import Output

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GRAMMAR = grammar_path().read_text(encoding="utf-8")
BYTES = LLTokenizer("byte")
WORLDS = sorted([*ROOT.glob("domains/*/*.tw"), *ROOT.glob("rules/*/*.tw")])
SMALL = ["blocks", "cellar", "taxi", "kitchen"]


def takes(text: str, dialect: str) -> bool:
    """Whether llguidance takes a text by a grammar in its lark."""
    matcher = LLMatcher(BYTES, grammar_from("lark", dialect))
    assert not matcher.get_error(), matcher.get_error()
    data = list(text.encode())
    return bool(matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting())


def text_of(world: str) -> str:
    return (ROOT / "domains" / world / "world.tw").read_text(encoding="utf-8")


# ---- OpenAI --------------------------------------------------------------------------------------


def definition(text: str) -> str:
    tool = json.loads(openai_tool(text))
    assert tool["type"] == "custom"
    assert tool["format"]["type"] == "grammar"
    assert tool["format"]["syntax"] == "lark"
    return str(tool["format"]["definition"])


def test_the_tool_of_openai_has_nothing_that_its_lark_has_not() -> None:
    """No directive, no look-around, no complement, no lazy repetition, no priority."""
    text = definition(GRAMMAR)
    for missing in ("%llguidance", "& ~", "(?", "*?", "+?", "//", "%import", "%declare"):
        assert missing not in text
    assert not re.search(r"^[A-Z]+\.\d", text, re.MULTILINE)


@pytest.mark.parametrize("path", WORLDS, ids=lambda one: f"{one.parent.name}-{one.stem}")
def test_every_file_is_of_the_language_of_the_tool(path: Path) -> None:
    assert takes(path.read_text(encoding="utf-8"), _openai())


@cache
def _openai() -> str:
    return definition(GRAMMAR)


@pytest.mark.parametrize("world", SMALL)
def test_the_tool_judges_mutants_as_the_parser_does(world: str) -> None:
    changed = mutations(text_of(world), random.Random(world), 20)
    verdicts = [parses(one) for one in changed]
    assert verdicts.count(False) > 5
    assert [takes(one, _openai()) for one in changed] == verdicts


def test_names_that_are_no_keywords() -> None:
    words = keywords_of(GRAMMAR)
    pattern = re.compile(not_a_word(words))
    assert not [word for word in words if pattern.fullmatch(word)]
    near = [form for word in words for form in (word[:-1], f"{word}s", f"{word}_", f"{word}X")]
    for name in near:
        assert bool(pattern.fullmatch(name)) == (name not in words and name != ""), name
    assert not pattern.fullmatch("Upper")
    assert not pattern.fullmatch("1a")


# ---- llama.cpp and XGrammar ----------------------------------------------------------------------


def modules() -> Path:
    """The folder of the packages of Node; the test is skipped where there is none."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed: llama.cpp and XGrammar are not asked")
    folder = Path(os.environ.get("TW_NODE_MODULES", HERE / "node_modules"))
    if not all((folder / one).is_dir() for one in ("node-llama-cpp", "@mlc-ai/web-xgrammar")):
        pytest.skip("the packages of llama.cpp and XGrammar are not installed: see TW_NODE_MODULES")
    return folder


def judged(gbnf: str, texts: list[str]) -> dict[str, list[bool]]:
    """The verdicts of both decoders."""
    asked = {"modules": str(modules()), "grammar": gbnf, "texts": texts}
    done = subprocess.run(
        ["node", str(HERE / "decoders.mjs")], input=json.dumps(asked), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, list[bool]] = json.loads(done.stdout)
    assert set(found) == {"llama", "xgrammar"}
    return found


@pytest.mark.decoders
def test_gbnf_takes_small_worlds_and_judges_mutants_as_the_parser_does() -> None:
    texts = [text_of(world) for world in SMALL]
    texts += mutations(text_of("blocks"), random.Random("blocks"), 20)
    verdicts = [parses(one) for one in texts]
    assert verdicts.count(False) > 6
    for decoder, found in judged(gbnf_grammar(GRAMMAR), texts).items():
        assert found == verdicts, decoder


@pytest.mark.decoders
@pytest.mark.slow
def test_gbnf_takes_every_file() -> None:
    texts = [path.read_text(encoding="utf-8") for path in WORLDS]
    for decoder, found in judged(gbnf_grammar(GRAMMAR), texts).items():
        assert [path for path, fine in zip(WORLDS, found, strict=True) if not fine] == [], decoder


@pytest.mark.decoders
def test_gbnf_keeps_words_apart() -> None:
    texts = ["type A", "typeA", "param p: 0 to 9 = 1", "param p: 0to 9 = 1", "param p:0 to 9=1",
             "action a() { if(x) { } }", "action a() { ifx { } }", "# end", "", " ", "type `a b`",
             "type A # end", "goal g: x", "world w { goal g: not x }"]  # fmt: skip
    verdicts = [parses(one) for one in texts]
    for decoder, found in judged(gbnf_grammar(GRAMMAR), texts).items():
        assert found == verdicts, decoder


@pytest.mark.decoders
def test_gbnf_of_a_world_and_of_its_commands() -> None:
    names = narrowed(GRAMMAR, known("cellar"))
    wrong = ["rubi.at == vault", "ruby.att == vault", "here(ruby, ruby)"]
    texts = [text_of("cellar")]
    texts += [f"invariant i(): {one}" for one in ("ruby.at == vault", *wrong)]
    for decoder, found in judged(gbnf_grammar(names), texts).items():
        assert found == [True, True, False, False, False], decoder
    session = Session(open_world("cellar"))
    listed = typed_now(session)
    commands = gbnf_grammar(command_grammar(listed))
    for decoder, found in judged(commands, [*listed, "take ruby", "take", ""]).items():
        assert found == [True] * len(listed) + [False] * 3, decoder


def test_gbnf_refuses_what_it_cannot_write() -> None:
    with pytest.raises(ValueError, match="no notation"):
        gbnf_grammar('start: [a]\na: "x"\n')


# ---- the names of a world ------------------------------------------------------------------------


def known(world: str):  # type: ignore[no-untyped-def]
    loaded = load_program(ROOT / "domains" / world / "world.tw")
    return symbols_of(parse_source(one)[0] for one in loaded.sources)


LEADING = [path.parent.name for path in WORLDS if path.name == "world.tw"]


@pytest.mark.parametrize("world", [one for one in LEADING if "crafter" not in one])
def test_every_world_can_be_written_with_its_own_names(world: str) -> None:
    assert takes(text_of(world), llguidance_grammar(narrowed(GRAMMAR, known(world))))


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("law rot(c: Chest) when here(c) { c.state = open }", True),
        ("law rot(c: Chest) when here(c, c) { c.state = open }", False),
        ("law rot(c: Chest) when heer(c) { c.state = open }", False),
        ("law rot(c: Crate) when here(c) { c.state = open }", False),
        ("law rot(c: Chest) when here(c) { c.stat = open }", False),
        ("law rot(c: Chest) when here(c) { c.state = opened }", False),
        ("invariant i(): c.here", True),
        ("invariant i(): count(x for x: Key where x.holder == hero) < 2", True),
        ("type Crate : Chest { state: Lock = closed }", True),
        ("type Crate : Box", False),
        ("enum Smell { foul, fresh }", True),
    ],
)
def test_names_have_a_kind_and_an_arity(text: str, fine: bool) -> None:
    assert parses(text)
    assert takes(text, llguidance_grammar(narrowed(GRAMMAR, known("cellar")))) == fine


def test_too_many_names_are_one_set() -> None:
    """Any known name may stand anywhere, and no other."""
    files = sorted(ROOT.glob("rules/std/*.tw"))
    sources = [read_source(path) for path in files]
    symbols = symbols_of(parse_source(one)[0] for one in sources)
    assert symbols.number > MOST
    text = llguidance_grammar(narrowed(GRAMMAR, symbols))
    name = min(symbols.lower - set(keywords_of(GRAMMAR)))
    assert takes(f"event {name}()", text)
    assert not takes("event nothing_like_it()", text)


# ---- commands ------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", ["cellar", "kitchen", "taxi", "willowbrook"])
def test_commands_are_those_of_tw_legal_in_random_states(world: str) -> None:
    chance = random.Random(world)
    session = Session(open_world(world))
    for _ in range(6):
        listed = typed_now(session)
        legal = {text for one in session.legal() for text in (one.call, one.text)}
        assert set(listed) - {"pass"} == legal
        dialect = llguidance_grammar(command_grammar(listed))
        matcher = LLMatcher(BYTES, grammar_from("lark", dialect))
        assert not matcher.get_error()
        for text in (*chance.sample(sorted(legal), min(5, len(legal))), "pass"):
            assert takes(text, dialect), text
            assert not takes(f"{text}x", dialect)
            assert not takes(text[:-1], dialect) or text[:-1] in listed
        if session.ended() or not legal:
            break
        session.intend(chance.choice(sorted(one.call for one in session.legal())))


def test_the_options_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="two grammars"):
        grammar(Output(), dialect="lark", world="cellar", commands="cellar")
    with pytest.raises(Failure, match="needs `--commands`"):
        grammar(Output(), dialect="lark", script=tmp_path / "s.txt")
    with pytest.raises(Failure, match="TW0001"):
        grammar(Output(), dialect="gbnf", world="nothing.tw")


@pytest.mark.parametrize("dialect", ["lark", "llguidance", "openai", "gbnf"])
def test_commands_after_a_script(
    dialect: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "s.txt"
    script.write_text("take brass key\n", encoding="utf-8")
    grammar(Output(), dialect=dialect, commands="cellar", script=script)  # type: ignore[arg-type]
    text = capsys.readouterr().out
    assert "go through arch" in text
    assert "take brass key" not in text
