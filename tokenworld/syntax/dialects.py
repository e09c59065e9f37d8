"""The grammar for other readers: constrained decoding by llguidance.

llguidance reads lark's notation, but decides between a name and a keyword by what may stand at a
place, so that a reserved word could slip in as a name. Its dialect takes the keywords out of NAME.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["llguidance_grammar"]

_NAME = "NAME: /[a-z][A-Za-z0-9_]*/"
_KEYWORD = re.compile(r'"([a-z]+)"')
_SETTINGS = '%llguidance { "allow_initial_skip": true }'
"""White space and comments may stand before the first item."""


def keywords_of(grammar: str) -> tuple[str, ...]:
    """Every keyword of a grammar, reserved or soft, sorted."""
    return tuple(sorted(set(_KEYWORD.findall(grammar))))


def llguidance_grammar(grammar: str, names: Iterable[str] | None = None) -> str:
    """The dialect of a grammar text in lark's notation.

    With ``names``, only these lower-case names can be written: what a model may mention when it
    adds to a given program. Names in backquotes stay free. Raises `ValueError` where the grammar
    does not define NAME as expected.
    """
    if _NAME not in grammar:
        raise ValueError("the grammar defines no NAME to take the keywords out of")
    allowed = "[a-z][A-Za-z0-9_]*" if names is None else "|".join(sorted(set(names)))
    keywords = "|".join(keywords_of(grammar))
    name = f"NAME: /{allowed}/ & ~/({keywords})/"
    return f"{_SETTINGS}\n{grammar.replace(_NAME, name)}"


__all__ += ["keywords_of"]
