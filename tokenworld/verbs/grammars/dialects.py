"""The grammar in the notations of decoders that read lark's: llguidance, and OpenAI's tools.

A decoder accepts each token that the grammar allows at a place, so a reserved word could pass as a
name. In every dialect the keywords are therefore taken out of NAME.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Collection
from typing import Final

NAME: Final = "NAME: /[a-z][A-Za-z0-9_]*/"
_KEYWORD: Final = re.compile(r'"([a-z]+)"')
_SETTINGS: Final = '%llguidance { "allow_initial_skip": true }'
"""White space and comments may stand before the first item."""
_IN_NAMES: Final = string.digits + string.ascii_uppercase + "_" + string.ascii_lowercase


def keywords_of(grammar: str) -> tuple[str, ...]:
    """Return every keyword of a grammar, reserved or soft, sorted."""
    return tuple(sorted(set(_KEYWORD.findall(grammar))))


def llguidance_grammar(grammar: str) -> str:
    """Return the dialect of a grammar text in lark's notation, whole or narrowed."""
    if NAME in grammar:
        keywords = "|".join(keywords_of(grammar))
        grammar = with_name(grammar, f"{NAME.partition(': ')[2]} & ~/({keywords})/")
    return f"{_SETTINGS}\n{grammar}" if "%ignore" in grammar else grammar


def with_name(grammar: str, pattern: str) -> str:
    """Return the grammar with another pattern of NAME; raises `ValueError` if NAME is not as
    expected."""
    if NAME not in grammar:
        raise ValueError("the grammar defines no NAME to take the keywords out of")
    return grammar.replace(NAME, f"NAME: {pattern}")


def openai_tool(grammar: str) -> str:
    """Return a custom tool of OpenAI's API, as JSON, whose input can only be a text of the grammar.

    Its lark has no directives and no complement of a pattern, so that NAME spells the keywords out
    letter by letter, and leading white space is part of the start rule.
    """
    text = re.sub(r"(^|\s)//[^\n]*", r"\1", grammar)
    text = with_name(text, f"/{not_a_word(keywords_of(grammar))}/") if NAME in text else text
    if "%ignore" in text:
        text = text.replace("start: ", "start: LEAD? ", 1)
        text += "\nLEAD: /([ \\t\\r\\n]|#[^\\n]*\\n)+/\n"
    lines = [line for line in text.split("\n") if line.strip()]
    tool = {
        "type": "custom",
        "name": "write_world",
        "description": "Write a text in the Token World language (.tw).",
        "format": {"type": "grammar", "syntax": "lark", "definition": "\n".join(lines)},
    }
    return json.dumps(tool, ensure_ascii=False, indent=2)


def not_a_word(words: Collection[str]) -> str:
    """Return a pattern of names that are none of these words, without look-around or complement.

    It walks the words letter by letter: where a name leaves them, anything may follow. Classes and
    groups only, so that it is a regular expression and GBNF alike.
    """
    known = set(words)
    prefixes = {word[:end] for word in words for end in range(1, len(word) + 1)}

    def behind(prefix: str) -> str:
        """Return a pattern for the endings of a word that begins so."""
        following = [letter for letter in _IN_NAMES if prefix + letter in prefixes]
        ways = [f"[{letter}]{behind(prefix + letter)}" for letter in following]
        others = "".join(letter for letter in _IN_NAMES if letter not in following)
        ways.append(f"[{_ranges(others)}][A-Za-z0-9_]*")
        return f"({'|'.join(ways)}){'' if prefix in known else '?'}"

    starts = [letter for letter in string.ascii_lowercase if letter in prefixes]
    ways = [f"[{letter}]{behind(letter)}" for letter in starts]
    if others := "".join(one for one in string.ascii_lowercase if one not in starts):
        ways.append(f"[{_ranges(others)}][A-Za-z0-9_]*")
    return f"({'|'.join(ways)})"


def _ranges(letters: str) -> str:
    """Return the letters of a class, those in a row as a range."""
    runs: list[list[str]] = []
    for one in letters:
        if runs and ord(one) == ord(runs[-1][-1]) + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    return "".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
