"""Read the answers of models: worlds, patches, calls of tools, and JSON.

A world stands in a fence ```` ```tw ````, a call as JSON in a fence ```` ```tool ```` (or ``~~~``,
as in Markdown), a patch between lines ``<<<<<<< SEARCH``, ``=======`` and ``>>>>>>> REPLACE``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from tokenworld.diagnostics import counted
from tokenworld.diagnostics.frozen import frozen

MOST_SOURCE: Final = 256 * 1024
"""The greatest number of bytes of a world."""

_OPENS: Final = re.compile(r"(?:```|~~~)([\w.+-]*)")
_CLOSES: Final = ("```", "~~~")
_THINKS, _THOUGHT = "<think>", "</think>"
_SEARCH: Final = re.compile(r"<{5,9} SEARCH")
_MIDDLE: Final = re.compile(r"={5,9}")
_REPLACE: Final = re.compile(r">{5,9} REPLACE")


@frozen
class Fence:
    """A text between fences, and the word after the first."""

    kind: str
    text: str


@frozen
class Whole:
    """A whole text of `.tw`."""

    text: str


@frozen
class Patch:
    """Replace the only occurrence of ``search`` by ``replace``."""

    search: str
    replace: str


@frozen
class Call:
    """A call of a tool."""

    name: str
    given: dict[str, object]


@frozen
class Answer:
    """The parts of an answer in their order, and the errors in it, as sentences."""

    parts: tuple[Whole | Patch | Call, ...]
    problems: tuple[str, ...]


def spoken(text: str) -> str:
    """Return an answer without the thoughts that some models put before it."""
    if not text.lstrip().startswith(_THINKS):
        return text
    return text.partition(_THOUGHT)[2].lstrip("\n")


@dataclass(slots=True)
class _Scan:
    """The fences and patches of a text, in their order; ``open`` is the unclosed one.

    Parsing is one pass over the lines for any input.
    """

    found: list[Fence | Patch]
    fence: tuple[str, list[str]] | None = None
    patch: tuple[list[str], list[str]] | None = None
    middle: bool = False

    def line(self, line: str) -> None:
        bare = line.rstrip()
        if self.patch is not None:
            self._in_patch(line, bare)
        elif _SEARCH.fullmatch(bare):
            self.patch, self.middle = ([], []), False
        elif self.fence is None:
            opened = _OPENS.match(line)
            self.fence = None if opened is None else (opened[1].lower(), [])
        elif bare in _CLOSES:
            self.found.append(Fence(self.fence[0], "".join(self.fence[1])))
            self.fence = None
        else:
            self.fence[1].append(f"{line}\n")

    def _in_patch(self, line: str, bare: str) -> None:
        assert self.patch is not None
        if not self.middle and _MIDDLE.fullmatch(bare):
            self.middle = True
        elif self.middle and _REPLACE.fullmatch(bare):
            self.found.append(Patch("".join(self.patch[0]), "".join(self.patch[1])))
            self.patch = None
        else:
            self.patch[self.middle].append(f"{line}\n")


def _scanned(text: str) -> _Scan:
    scan = _Scan([])
    for line in text.split("\n"):
        scan.line(line)
    return scan


def read_answer(text: str) -> Answer:
    """Parse an answer into its parts."""
    parts: list[Whole | Patch | Call] = []
    problems: list[str] = []
    scan = _scanned(text)
    for one in scan.found:
        if isinstance(one, Patch):
            parts.append(one)
        elif one.kind in ("tool", "json"):
            call = _call(one.text)
            if isinstance(call, str):
                problems.append(call)
            else:
                parts.append(call)
        elif one.kind in ("tw", "") and one.text.strip():
            parts.append(Whole(one.text))
    if scan.patch is not None:
        problems.append("A patch is not closed: it needs SEARCH, =======, and REPLACE lines.")
    elif scan.fence is not None:
        problems.append("A fence is not closed.")
    elif not parts and not problems:
        problems.append(_nothing(text))
    return Answer(tuple(parts), tuple(problems))


def _nothing(text: str) -> str:
    if not text.strip():
        return "The answer is empty."
    return "The answer has no world, no patch and no call of a tool."


def _call(text: str) -> Call | str:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"A call of a tool is no JSON ({error})."
    if not isinstance(found, dict) or not isinstance(found.get("tool"), str):
        return 'A call of a tool is an object such as {"tool": "check"}.'
    return Call(found["tool"], {key: value for key, value in found.items() if key != "tool"})


def patched(text: str, patch: Patch) -> tuple[str, str | None]:
    """Return the text after a patch; or the unchanged text, and why the patch does not fit."""
    if not patch.search.strip():
        return text, "A patch has an empty SEARCH: give some lines of the world."
    places = text.count(patch.search)
    first = patch.search.strip().splitlines()[0]
    if places != 1:
        return text, (
            f"The SEARCH that begins `{first}` stands in {counted(places, 'place')} of the world, "
            "not in one: give the lines exactly, and more of them."
        )
    return text.replace(patch.search, patch.replace), None


def whole_texts(text: str) -> list[str]:
    """Return the fenced `.tw` texts of an answer; the whole of it where it has no fence."""
    scan = _scanned(text)
    found = [one.text for one in _fences(scan) if one.kind in ("tw", "")]
    return found if found or _fences(scan) or scan.fence else [text]


def _fences(scan: _Scan) -> list[Fence]:
    return [one for one in scan.found if isinstance(one, Fence)]


def json_of(text: str) -> object:
    """Return the JSON of an answer: that of a fence, else from its first brace to its last.

    Raises `ValueError` if there is none.
    """
    fenced = [one.text for one in _fences(_scanned(text)) if one.kind in ("json", "")]
    start, end = text.find("{"), text.rfind("}")
    inside = fenced[0] if fenced else text[start : end + 1]
    if not inside.strip():
        raise ValueError("it has no JSON object")
    try:
        return json.loads(inside)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except ValueError as error:
        raise ValueError(f"it is no JSON ({error})") from None
