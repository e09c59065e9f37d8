"""Typed text made comparable.

Matching ignores case, repeated spaces and a final full stop; ``_`` counts as a space
(language.md §11). *Folded* text keeps its spaces, *tidy* text has single ones and none at the ends.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

__all__ = ["ARTICLES", "LONGEST", "after_article", "fold", "tidy", "variants"]

ARTICLES: Final = ("a", "an", "the")
LONGEST: Final = 1000
"""Characters of a tidy text beyond which it is no command: bounds the work of matching."""


def fold(text: str) -> str:
    """Case and underscores ignored, composed characters; the spaces stay."""
    if text.isascii():
        return text.lower().replace("_", " ")
    return unicodedata.normalize("NFC", text.casefold()).replace("_", " ")


@lru_cache(maxsize=16_384)
def tidy(text: str) -> str:
    """Folded, with single spaces between words and none at the ends."""
    return " ".join(fold(text).split())


@lru_cache(maxsize=4096)
def variants(text: str) -> tuple[str, ...]:
    """The tidy text without its final full stop, then with it (a name may end in one)."""
    plain = tidy(text)
    return (plain[:-1].rstrip(), plain) if plain.endswith(".") else (plain,)


def after_article(text: str, start: int = 0) -> int:
    """Where the words begin after an article at ``start`` (``start`` itself without one)."""
    for article in ARTICLES:
        if text.startswith(article + " ", start):
            return start + len(article) + 1
    return start
