"""Highlighters colour what our lexer reads: Pygments always, TextMate where Node is there."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from rich.syntax import Syntax

from tokenworld.diagnostics import Source, read_source
from tokenworld.diagnostics.positions import Positions
from tokenworld.protocols.editors import textmate
from tokenworld.protocols.editors.lexer import TOKENS, TwLexer
from tokenworld.syntax import parse_source
from tokenworld.syntax.lalr import lex
from tokenworld.syntax.tables import tables
from tokenworld.verbs.grammars.colours import kind_of

sys.path.insert(0, str(Path(__file__).parent))

from node import installed, run_node

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted([*(ROOT / "domains").rglob("*.tw"), *(ROOT / "rules").rglob("*.tw")])
STRANGE = (
    'world `a b` "x \\" {the `y`} \\n {list a.b(1, 2.5ml)}" { 50% } '
    "## doc 🔦\r\n# plain\ninx in_ In"
)


def wanted(source: Source) -> Iterator[tuple[int, int, str, str]]:
    """Each token and comment of a text: where it stands, its kind, and its text."""
    for token in lex(source, tables())[0]:
        yield token.start, token.end, kind_of(token.terminal, token.text), token.text
    for comment in parse_source(source)[0].comments:
        span = comment.span
        yield span.start, span.end, kind_of("COMMENT", comment.text), comment.text


def test_there_are_files_and_every_keyword_has_a_kind() -> None:
    assert len(FILES) > 90
    assert {kind_of(word, word) for word in tables().keywords} == {
        "constant", "primitive", "fold", "operator", "declaration", "keyword",
    }  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pygments_agrees_with_the_lexer(path: Path) -> None:
    _agree_in_pygments(read_source(path))


def test_pygments_agrees_on_a_strange_text() -> None:
    _agree_in_pygments(Source("s.tw", None, STRANGE))


def _agree_in_pygments(source: Source) -> None:
    told: dict[int, tuple[object, str]] = {}
    for start, kind, text in TwLexer().get_tokens_unprocessed(source.text):
        told[start] = (kind, text)
    for start, end, kind, text in wanted(source):
        assert told[start][0] is TOKENS[kind], (text, told[start])
        if kind != "string":
            assert told[start][1].rstrip("\r") == source.text[start:end]
        else:
            assert told[end - 1] == (TOKENS["string"], '"')


def test_the_lexer_is_found_by_pygments_and_shown_by_rich() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    entry = project["project"]["entry-points"]["pygments.lexers"]["tw"]
    module, _, name = entry.partition(":")
    assert module == TwLexer.__module__
    assert name == "TwLexer"
    assert TwLexer.filenames == ["*.tw"]
    console = Console(force_terminal=True, width=60)
    with console.capture() as capture:
        console.print(Syntax('world w { goal g: true "{the x}" }', TwLexer()))
    assert "\x1b[" in capture.get()


def test_the_textmate_grammar_is_that_of_the_language() -> None:
    stale = "run `python -m tokenworld.protocols.editors.textmate`"
    assert textmate.PATH.read_text(encoding="utf-8") == textmate.text(), stale


@pytest.mark.node
def test_textmate_agrees_with_the_lexer_on_all_files(tmp_path: Path) -> None:
    modules = installed("vscode-textmate@9", "vscode-oniguruma@2")
    sources = [*map(read_source, FILES), Source("strange", None, STRANGE)]
    given = {"grammar": str(textmate.PATH), "texts": [one.text for one in sources]}
    answers = json.loads(run_node(modules, "textmate.cjs", json.dumps(given)))
    assert len(answers) == len(sources)
    for source, lines in zip(sources, answers, strict=True):
        places = Positions(source.text)
        for start, _, kind, text in wanted(source):
            line, unit = places.at(start)
            scopes = next(s for first, last, s in lines[line] if first <= unit < last)
            assert scopes[-1] == textmate.SCOPES[kind], (source.name, line + 1, text, scopes)
