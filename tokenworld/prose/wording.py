"""How messages to a player are worded: quoted input, types as words, did-you-mean."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["counted", "either", "joined", "kind_word", "quoted", "suggesting"]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def quoted(text: str, width: int = 40) -> str:
    """What somebody typed, in backticks: one line, printable, cut to ``width`` characters."""
    shown = "".join(char if char.isprintable() else " " for char in text[: 4 * width])
    shown = " ".join(shown.replace("`", "'").split())
    return f"`{shown if len(shown) <= width else shown[: width - 1] + '…'}`"


def kind_word(type_name: str) -> str:
    """A type as a player reads it: ``OakChest`` is "oak chest"."""
    return _CAMEL.sub(" ", type_name).replace("_", " ").lower()


def joined(parts: Sequence[str], word: str) -> str:
    """``"a, b or c"`` with the given last word; nothing for nothing."""
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def either(words: Sequence[str]) -> str:
    """``"a, b or c"``; each word once."""
    return joined(list(dict.fromkeys(words)), "or")


def counted(number: int, noun: str) -> str:
    """``"1 argument"``, ``"2 arguments"``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def suggesting(message: str, near: Sequence[str]) -> str:
    """``message`` (without its full stop) as a sentence that offers what may have been meant."""
    if not near:
        return f"{message}."
    return f"{message}; did you mean {either([f'`{one}`' for one in near])}?"
