"""English articles: which one a name takes, and how a name reads with it (language.md §11)."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["capitalised", "indefinite", "with_article"]

# Spelling misleads here; matched against the start of the first word.
_AN_THOUGH_CONSONANT: Final = ("heir", "honest", "honor", "honour", "hour")
_A_THOUGH_VOWEL: Final = (
    "eucalyptus", "eulog", "euph", "euro", "ewe", "once", "one", "oui", "ubiquit",
    "ufo", "ukulele", "unanim", "unic", "unif", "union", "uniq", "unis", "unit", "univ", "urin",
    "usab", "usage", "use", "usual", "usurp", "utensil", "util", "utop",
)  # fmt: skip
# They begin other words too, which keep their vowel: "onerous", "unissued".
_VOWEL_AFTER_ALL: Final = ("oner", "unissu")
_LETTERS_SAID_WITH_VOWEL: Final = "aefhilmnorsx"
_FIRST_WORD = re.compile(r"[^\W_]+")
# Eight, eighty, eight hundred …, and eleven or eighteen (thousand, million …).
_NUMBER_SAID_WITH_VOWEL = re.compile(r"(8\d*|(11|18)(\d{3})*)(?!\d)")


def indefinite(name: str) -> str:
    """``"a"`` or ``"an"``, by the sound of the first word: an hour, a unicorn, an 8-ball."""
    found = _FIRST_WORD.search(name)
    word = found.group().lower() if found else ""
    return "an" if _sounds_vowel(word) else "a"


def _sounds_vowel(word: str) -> bool:
    if word[:1].isdigit():
        return _NUMBER_SAID_WITH_VOWEL.match(word) is not None
    if len(word) == 1:
        return word in _LETTERS_SAID_WITH_VOWEL
    if word.startswith(_AN_THOUGH_CONSONANT):
        return True
    if word.startswith(_A_THOUGH_VOWEL) and not word.startswith(_VOWEL_AFTER_ALL):
        return False
    return word[:1] in tuple("aeiouàáâäæèéêëìíîïòóôöøùúûü")


def capitalised(text: str) -> str:
    """The text with its first letter upper-case, the rest untouched."""
    return text[:1].upper() + text[1:]


def with_article(name: str, article: str) -> str:
    """``name`` after ``""``, ``"a"``, ``"A"``, ``"the"`` or ``"The"``.

    A name that starts with a capital, and "yourself", take none; ``"A"`` and ``"The"`` begin a
    sentence, so the first letter becomes a capital either way.
    """
    if not name or not article:
        return name
    bare = name[:1].isupper() or name == "yourself"
    word = "the" if article.lower() == "the" else indefinite(name)
    text = name if bare else f"{word} {name}"
    return capitalised(text) if article[:1].isupper() else text
