"""Words for names, values and messages: quoted input, articles, `Prose` (language.md §11)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tokenworld.diagnostics import joined
from tokenworld.model import scaled_text

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def quoted(text: str, width: int = 40) -> str:
    """Typed text in backticks: one line, printable, cut to ``width`` characters."""
    shown = "".join(char if char.isprintable() else " " for char in text[: 4 * width])
    shown = " ".join(shown.replace("`", "'").split())
    return f"`{shown if len(shown) <= width else shown[: width - 1] + '…'}`"


def kind_word(type_name: str) -> str:
    """A type as a player reads it: ``OakChest`` is "oak chest"."""
    return _CAMEL.sub(" ", type_name).replace("_", " ").lower()


def either(words: Sequence[str]) -> str:
    """``"a, b or c"``; each word once."""
    return joined(list(dict.fromkeys(words)), "or")


def suggesting(message: str, near: Sequence[str]) -> str:
    """``message`` (without its full stop) as a sentence that ends with suggestions."""
    if not near:
        return f"{message}."
    return f"{message}; did you mean {either([f'`{one}`' for one in near])}?"


# ---- articles ------------------------------------------------------------------------------------
# English articles: which one a name takes, and how a name reads with it (language.md §11).


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


# ---- names ---------------------------------------------------------------------------------------
# How names and values read: the `Prose` that templates are rendered with (language.md §11).


class EnglishProse:
    """English names, lists and numbers. Pure text: it reads no state and keeps none."""

    def named(self, name: str, article: str) -> str:
        """``named("oak chest", "The") == "The oak chest"``; no article for "Pip", "yourself"."""
        return with_article(name, article)

    def listing(self, names: Sequence[str], article: str) -> str:
        """``"a cup, a pot and a key"``; a capital article begins the list only."""
        if not names:
            return capitalised("nothing") if article[:1].isupper() else "nothing"
        first, *others = names
        words = [self.named(first, article), *(self.named(x, article.lower()) for x in others)]
        return joined(words, "and")

    def number(self, value: int, decimals: int, unit: str) -> str:
        """An exact number with its declared decimals and unit: ``4l``, ``12.5``, ``25%``.

        ``25%`` *is* the exact number 0.25 (language.md §2), so ``%`` is a way to print, not a
        scale: ``number(25, 2, "%")`` is ``25%`` and ``number(25, 2, "")`` is ``0.25``.
        """
        return scaled_text(value, decimals, unit)

    def real(self, value: float) -> str:
        """The shortest text that reads back as the same double: ``0.1``, ``2.0``."""
        return repr(value)

    def identifier(self, name: str) -> str:
        """An identifier as a reader sees it: ``old_chest`` is "old chest"; the rest stays."""
        return name.replace("_", " ")
