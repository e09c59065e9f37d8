"""Write the TextMate grammar of VS Code: `python -m tokenworld.protocols.editors.textmate`.

A module of its own: no other module imports it, so Python can run it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from tokenworld.verbs.grammars.colours import ARTICLE, Kind, Rule, rules

PATH: Final = (
    Path(__file__).resolve().parents[3] / "editors" / "vscode" / "syntaxes" / "tw.tmLanguage.json"
)
"""The place of the grammar in a checkout."""

SCOPES: Final[dict[Kind, str]] = {
    "doc": "comment.line.documentation.tw",
    "comment": "comment.line.number-sign.tw",
    "string": "string.quoted.double.tw",
    "raw": "variable.other.raw.tw",
    "number": "constant.numeric.tw",
    "constant": "constant.language.tw",
    "primitive": "support.type.primitive.tw",
    "fold": "support.function.fold.tw",
    "operator": "keyword.operator.word.tw",
    "declaration": "storage.type.tw",
    "keyword": "keyword.control.tw",
    "type": "entity.name.type.tw",
    "name": "variable.other.tw",
    "brace": "punctuation.section.tw",
    "mark": "keyword.operator.tw",
}
"""The scope of each kind of token."""


def grammar() -> dict[str, object]:
    """Return the grammar as JSON: tokens in the order of the lexer, slots inside texts."""
    every = [_rule(one) for one in rules()]
    plain = [one for one in every if one["name"] != SCOPES["string"]]
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "Token World",
        "scopeName": "source.tw",
        "fileTypes": ["tw"],
        "patterns": every,
        "repository": {"slot": {"patterns": [_ARTICLE, *plain]}},
    }


_ARTICLE: Final = {"name": SCOPES["keyword"], "match": ARTICLE}
_SLOT: Final = {
    "name": "meta.embedded.slot.tw",
    "begin": r"\{",
    "end": r"\}|(?=[\"\n])",
    "beginCaptures": {"0": {"name": "punctuation.section.embedded.begin.tw"}},
    "endCaptures": {"0": {"name": "punctuation.section.embedded.end.tw"}},
    "patterns": [{"include": "#slot"}],
}


def _rule(one: Rule) -> dict[str, object]:
    if one.kind != "string":
        return {"name": SCOPES[one.kind], "match": one.pattern}
    return {
        "name": SCOPES["string"],
        "begin": '"',
        "end": '"|$',
        "patterns": [{"name": "constant.character.escape.tw", "match": r"\\."}, _SLOT],
    }


def text() -> str:
    """Return the text of the file."""
    return json.dumps(grammar(), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the file."""
    PATH.parent.mkdir(parents=True, exist_ok=True)
    PATH.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
