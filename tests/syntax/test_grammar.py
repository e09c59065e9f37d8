"""The grammar is LALR(1) without conflicts, and our tables read it as lark does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from lark import Lark, Token
from lark import Tree as LarkTree
from trees import programs

from tokenworld.assets import grammar_path
from tokenworld.diagnostics import Source
from tokenworld.syntax import tables as table_module
from tokenworld.syntax.lalr import Kid, Tree, lex
from tokenworld.syntax.parse import Splitter
from tokenworld.syntax.tables import compile_grammar, shipped_path, tables, to_text

GRAMMAR = grammar_path().read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def strict() -> Lark:
    """The grammar under lark's strict mode, where any conflict or collision is an error."""
    return Lark(GRAMMAR, parser="lalr", lexer="basic", strict=True, keep_all_tokens=True)


def test_vocabulary() -> None:
    grammar = tables()
    assert len(grammar.reserved) == 73
    written = re.search(r"^!soft: (.*?)\n\n", GRAMMAR, re.MULTILINE | re.DOTALL)
    assert written is not None
    assert grammar.soft == set(re.findall(r'"(\w+)"', written[1]))
    assert {"swap", "within", "action"} <= grammar.soft


@pytest.mark.parametrize("path", programs(), ids=lambda p: p.name)
def test_same_trees_as_lark(strict: Lark, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    source = Source(path.name, path, text)
    tokens, problems = lex(source, tables())
    ours, mistakes = Splitter(source, tables(), tokens).items()
    assert (problems, mistakes) == ([], [])
    theirs = strict.parse(text).children
    assert [_ours(tree) for tree in ours] == [_theirs(tree) for tree in theirs]


def test_shipped_tables_are_those_of_the_grammar() -> None:
    """Run `python -m tokenworld.syntax.grammar` after a change of the grammar."""
    assert shipped_path().read_text(encoding="utf-8") == to_text(compile_grammar(GRAMMAR))


def test_tables_of_another_grammar_are_not_used(tmp_path: Path) -> None:
    stale = tmp_path / "tables.json"
    stale.write_bytes(shipped_path().read_bytes())
    assert table_module._read(stale, "another") is None
    stale.write_text('{"grammar":"another",', encoding="utf-8")
    assert table_module._read(stale, "another") is None


def test_every_row_is_the_one_that_was_compiled() -> None:
    made, grammar = compile_grammar(GRAMMAR), tables()
    assert grammar.rules.every() == [table_module.Rule(*one) for one in made["rules"]]
    assert grammar.gotos.every() == [made["goto_rows"][at] for at in made["gotos"]]
    sets = list(made["lookaheads"])
    for at, row in zip(made["actions"], grammar.actions.every(), strict=True):
        shifts, reductions = made["action_rows"][at]
        reduced = {name: ~rule for rule, names in reductions for name in sets[names]}
        assert row == {**shifts, **reduced}


def test_an_edited_grammar_is_compiled_and_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited = tmp_path / "tw.lark"
    edited.write_text(GRAMMAR + "\n// edited\n", encoding="utf-8")
    monkeypatch.setattr(table_module, "grammar_path", lambda: edited)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    built = tables.__wrapped__()
    (kept,) = (tmp_path / "cache/token-world").iterdir()
    text = table_module._read(kept, table_module.digest_of(edited.read_text()))
    assert text is not None
    assert table_module._from_text(text).actions.every() == built.actions.every()
    assert built.actions.every() == tables().actions.every()
    assert len(built.actions) == len(compile_grammar(GRAMMAR)["actions"])


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("", encoding="utf-8")
    table_module._write(blocker / "below" / "tables.json", "{}")
    assert blocker.read_text(encoding="utf-8") == ""


def _ours(kid: Kid) -> object:
    if isinstance(kid, Tree):
        return (kid.kind, [_ours(k) for k in kid.kids])
    return kid.text


def _theirs(kid: LarkTree[Token] | Token) -> object:
    if isinstance(kid, LarkTree):
        return (str(kid.data), [_theirs(k) for k in kid.children])
    return str(kid)


def test_a_normal_start_does_not_import_lark() -> None:
    """Importing and compiling cost more than a check of a whole file may."""
    code = (
        "import sys; from tokenworld.diagnostics import Source; "
        "from tokenworld.syntax import parse_source; "
        "parse_source(Source('t.tw', None, 'type A')); print('lark' in sys.modules)"
    )
    root = str(Path(table_module.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
