"""Words that break character, and where a world says otherwise.

A free text that speaks of the framework, of an operator or of the system prompt has left the
world. Worlds in which such a word is an ordinary thing say so in a file `quality.toml` beside the
`.tw` file:

    [character]                      # every world of the folder
    allow = ["telephone operator"]   # not a break, whole words

    [worlds.cellar.character]        # one world; what it says replaces the above
    markers = ["framework", "system prompt"]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from tokenworld.diagnostics import Diagnostic, Failure, read_source

__all__ = ["DEFAULT_MARKERS", "FILE_NAME", "Markers", "markers_file", "read_markers"]

DEFAULT_MARKERS = ("framework", "yield", "mechanic", "system prompt", "operator", "scenario")
FILE_NAME = "quality.toml"
_KEYS = ("markers", "allow")


@dataclass(frozen=True)
class Markers:
    """What breaks character in a world, and the phrases in which it does not."""

    words: tuple[str, ...] = DEFAULT_MARKERS
    allowed: tuple[str, ...] = ()

    @cached_property
    def _breaking(self) -> re.Pattern[str]:
        return _pattern(self.words)

    @cached_property
    def _harmless(self) -> re.Pattern[str]:
        return _pattern(self.allowed)

    def found(self, text: str) -> tuple[str, ...]:
        """The markers in a text, in order: whole words, whatever their case."""
        folded = text.casefold()
        if self.allowed:
            folded = self._harmless.sub("\n", folded)
        if not self.words:
            return ()
        hits = (" ".join(hit.group().split()) for hit in self._breaking.finditer(folded))
        return tuple(dict.fromkeys(hits))


def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(phrases, key=lambda one: (-len(one), one))
    spaced = (r"[^\S\n]+".join(map(re.escape, one.casefold().split())) for one in longest_first)
    return re.compile(rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)")


def markers_file(sources: tuple[str, ...], folder: Path | None = None) -> Path | None:
    """The `quality.toml` beside a program's first file, as seen from here, then from ``folder``."""
    if not sources:
        return None
    beside = Path(sources[0]).parent / FILE_NAME
    places = (beside, *(() if folder is None else (folder / beside,)))
    return next((place for place in places if place.is_file()), None)


def read_markers(path: Path | None, world: str) -> Markers:
    """What a file says of a world; the defaults where there is none.

    Raises `Failure` TW0006 for a file that is no such file, with what is wrong in it.
    """
    if path is None:
        return Markers()
    try:
        found = tomllib.loads(read_source(path).text)
    except tomllib.TOMLDecodeError as error:
        _fail(path, f"it is not TOML ({error})")
    unknown = sorted(found.keys() - {"character", "worlds"})
    if unknown:
        _fail(path, f"there is no table `{unknown[0]}`")
    worlds = _table(path, found, "worlds")
    own = _table(path, _table(path, worlds, world), "character")
    said = {**_table(path, found, "character"), **own}
    strange = sorted(said.keys() - set(_KEYS))
    if strange:
        _fail(path, f"`character` has no key `{strange[0]}`")
    words, allowed = (_phrases(path, said, key) for key in _KEYS)
    return Markers(DEFAULT_MARKERS if words is None else words, allowed or ())


def _table(path: Path, found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = found.get(key, {})
    if not isinstance(value, dict):
        _fail(path, f"`{key}` is a table")
    return value


def _phrases(path: Path, said: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    if key not in said:
        return None
    listed = said[key]
    good = isinstance(listed, list) and all(isinstance(one, str) and one.strip() for one in listed)
    if not good:
        _fail(path, f"`{key}` is a list of words")
    return tuple(" ".join(one.split()) for one in listed)


def _fail(path: Path, why: str) -> NoReturn:
    hint = 'Write `[character]` with `allow = ["telephone operator"]` or `markers = [...]`.'
    raise Failure(Diagnostic("TW0006", f"`{path}` does not fit: {why}.", hint=hint))
