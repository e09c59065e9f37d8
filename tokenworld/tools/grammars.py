"""``tw grammar``: the grammar of the language for other tools."""

from __future__ import annotations

import re
from typing import Literal

from tokenworld.assets import grammar_path
from tokenworld.diagnostics import read_source
from tokenworld.session.loading import split_target
from tokenworld.syntax.dialects import keywords_of, llguidance_grammar
from tokenworld.tools.output import EXIT_OK, Output

__all__ = ["grammar"]

Dialect = Literal["lark", "llguidance"]

_TOKENS = re.compile(r'#[^\n]*|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|`[^`\n]+`|\b[a-z][A-Za-z0-9_]*')


def grammar(dialect: Dialect, names_of: str | None, out: Output) -> int:
    """Print the grammar; with ``names_of``, only the names of that file can be written."""
    text = grammar_path().read_text(encoding="utf-8")
    if dialect == "llguidance":
        names = None if names_of is None else _names(names_of, keywords_of(text))
        text = llguidance_grammar(text, names)
    out.line(text.rstrip("\n"))
    out.json({"schema_version": 1, "dialect": dialect, "grammar": text})
    return EXIT_OK


def _names(file: str, keywords: tuple[str, ...]) -> list[str]:
    """The lower-case names that a file uses, those in its templates included."""
    source = read_source(split_target(file)[0])
    found = set()
    for token in _TOKENS.findall(source.text):
        if token[0] == '"':
            found |= set(
                re.findall(r"[a-z][A-Za-z0-9_]*", " ".join(re.findall(r"{([^}]*)}", token)))
            )
        elif token[0] not in "#`":
            found.add(token)
    return sorted(found - set(keywords))
