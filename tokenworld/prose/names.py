"""How names and values read: the `Prose` that templates are rendered with (language.md §11)."""

from __future__ import annotations

from collections.abc import Sequence

from tokenworld.ground import scaled_text
from tokenworld.prose.articles import capitalised, with_article
from tokenworld.prose.wording import joined

__all__ = ["EnglishProse"]


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
        if unit != "%":
            return scaled_text(value, decimals) + unit
        if decimals < 2:
            return f"{value * 10 ** (2 - decimals)}%"
        return scaled_text(value, decimals - 2) + "%"

    def real(self, value: float) -> str:
        """The shortest text that reads back as the same double: ``0.1``, ``2.0``."""
        return repr(value)

    def identifier(self, name: str) -> str:
        """An identifier as a reader sees it: ``old_chest`` is "old chest"; the rest stays."""
        return name.replace("_", " ")
