"""Characters that a reader cannot see, and text in which each of them has a sign.

A control character (ESC, BEL, the C1 controls) steers a terminal; a bidirectional control makes a
line look other than it is; a zero-width character hides in a name. Text of others (a world, a run,
somebody's typing) may hold any of them, so it reaches a terminal through `visible` alone.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_SOME: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and line feed
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, direction, line separators
    "\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)
"""Unicode's controls, formats that are not seen, default ignorables and lone surrogates."""
_JOINERS: Final = "\u200c\u200d"
_PRESENTATION: Final = "\ufe0e\ufe0f"
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


def invisible(text: str) -> Iterator[int]:
    """The places of characters that cannot be seen and that their neighbours do not call for."""
    return (one.start() for one in _SOME.finditer(text) if not _called_for(one))


def visible(text: str) -> str:
    """The text with one sign for each such character; tabs and line feeds stay."""
    return text if text.isprintable() else _SOME.sub(_sign, text)


def without_invisible(text: str) -> str:
    """The text without such characters."""
    return text if text.isprintable() else _SOME.sub(_kept, text)


def escaped(text: str) -> str:
    """A JSON text with such characters in its strings as ``\\uXXXX``: it says the same."""
    return text if text.isprintable() else _SOME.sub(lambda one: json.dumps(one[0])[1:-1], text)


def _called_for(found: re.Match[str]) -> bool:
    """Return whether a script needs the character here: emoji, Arabic, Indic letters, sign
    colours."""
    text, at = found.string, found.start()
    before = text[at - 1] if at else " "
    if found[0] in _PRESENTATION:
        return before > "\x7f" and unicodedata.category(before)[0] in "SP"
    if found[0] not in _JOINERS:
        return False
    if unicodedata.combining(before) == 9 or unicodedata.bidirectional(before) == "AL":
        return True
    after = text[at + 1 : at + 2]
    signs = (before in _PRESENTATION or unicodedata.category(before) in ("So", "Sk")) and after
    return found[0] == "\u200d" and bool(signs) and unicodedata.category(after)[0] == "S"


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\N{SYMBOL FOR DELETE}" if code == 0x7F else _kept(found) or _REPLACEMENT


def _kept(found: re.Match[str]) -> str:
    return found[0] if _called_for(found) else ""
