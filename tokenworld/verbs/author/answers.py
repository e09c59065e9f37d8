"""Answers of models, read: worlds, patches, calls of tools, and JSON.

A world stands in a fence ```` ```tw ````, a call as JSON in a fence ```` ```tool ```` (or ``~~~``,
as in Markdown), a patch between lines ``<<<<<<< SEARCH``, ``=======`` and ``>>>>>>> REPLACE``.
"""

from __future__ import annotations

import json
import re
from typing import Final

from tokenworld.diagnostics import counted
from tokenworld.diagnostics.frozen import frozen

MOST_SOURCE: Final = 256 * 1024
"""Bytes of a world."""

_FENCE: Final = re.compile(
    r"^(?:```|~~~)([\w.+-]*)[^\n]*\n(.*?)^(?:```|~~~)[ \t]*$", re.MULTILINE | re.DOTALL
)
_PATCH: Final = re.compile(
    r"^<{5,9} SEARCH[ \t]*\n(.*?)^={5,9}[ \t]*\n(.*?)^>{5,9} REPLACE[ \t]*$",
    re.MULTILINE | re.DOTALL,
)


@frozen
class Whole:
    """A whole text of `.tw`."""

    text: str


@frozen
class Patch:
    """Put ``replace`` in the one place where ``search`` stands."""

    search: str
    replace: str


@frozen
class Call:
    """A call of a tool."""

    name: str
    given: dict[str, object]


@frozen
class Answer:
    """The parts of an answer in their order, and what could not be read, as sentences."""

    parts: tuple[Whole | Patch | Call, ...]
    problems: tuple[str, ...]


def read_answer(text: str) -> Answer:
    """Take an answer apart."""
    found: list[tuple[int, Whole | Patch | Call]] = []
    problems: list[str] = []
    patches = [(one.start(), Patch(one[1], one[2])) for one in _PATCH.finditer(text)]
    found += patches
    rest = _PATCH.sub(lambda one: " " * len(one[0]), text)
    for fence in _FENCE.finditer(rest):
        kind, inside = fence[1].lower(), fence[2]
        if kind in ("tool", "json"):
            call = _call(inside)
            if isinstance(call, str):
                problems.append(call)
            else:
                found.append((fence.start(), call))
        elif kind in ("tw", "") and inside.strip():
            found.append((fence.start(), Whole(inside)))
    if not found and not problems:
        problems.append(_nothing(text))
    return Answer(tuple(one for _, one in sorted(found, key=lambda one: one[0])), tuple(problems))


def _nothing(text: str) -> str:
    if not text.strip():
        return "The answer is empty."
    if "SEARCH" in text and "<<<<<" in text:
        return "A patch is not closed: it needs SEARCH, =======, and REPLACE, each on its line."
    if "```" in text:
        return "A fence is not closed, or it has neither `tw` nor `tool`."
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
    """The text after a patch; or the text as it was, and why the patch does not fit."""
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
    """The fenced `.tw` texts of an answer; the whole of it where it has no fence."""
    found = [one[2] for one in _FENCE.finditer(text) if one[1].lower() in ("tw", "")]
    return found if found or "```" in text else [text]


def json_of(text: str) -> object:
    """The JSON of an answer: that of a fence, else the text from its first brace to its last.

    `ValueError` where there is none.
    """
    fenced = [one[2] for one in _FENCE.finditer(text) if one[1].lower() in ("json", "")]
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
