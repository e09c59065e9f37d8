"""Recorded transitions of text games, read line by line: state, action, and what came of it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from tokenworld.diagnostics import Diagnostic, Failure

__all__ = ["BadRow", "Recorded", "RowReader", "Score", "TextRow", "is_state", "read_text_rows"]

_BLOCK: Final = 1 << 20
"""Bytes read of a file at a time."""
_KEPT: Final = 2048
"""Lists of objects that are kept: most rows show the same few."""
_MOST_IDS: Final = 1_000_000
"""A state has a place for every number, so there is a limit to them."""
_GZIP: Final = 31
"""What `zlib` calls the packing of ``.gz`` files."""
_STATES: Final = ("current_state", "action_state", "tick_state")
_PARTS: Final = (
    ("name", str), ("uuid", int), ("type", str), ("properties", dict), ("contains", list),
)  # fmt: skip
_OBJECTS: Final = ('"objects": [{', '], "max_UUID": ')
_MARK: Final = "\ue000objects "
"""Stands for a list that was taken out of a line."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded state: its objects in order, and the next number to be given."""

    objects: Sequence[Mapping[str, Any]]
    next_id: int


@dataclass(frozen=True, slots=True)
class Score:
    """What the records tell of the progress."""

    score: int | float
    over: bool
    won: bool

    def to_json(self) -> dict[str, object]:
        return {"score": self.score, "gameOver": self.over, "gameWon": self.won}


@dataclass(frozen=True, slots=True)
class TextRow:
    """One transition and its place (``rows.jsonl.gz:3``): before, after action, and after tick.

    Equal lists of objects are one and the same list.
    """

    place: str
    game: str
    number: object
    action: str
    task: str
    before: Recorded
    acted: Recorded
    ticked: Recorded
    score_before: Score
    score_after: Score


@dataclass(frozen=True, slots=True)
class BadRow:
    """A line that is no row, with its place and what is wrong with it."""

    place: str
    why: str


class _Unfit(Exception):
    """What is wrong with a line."""


# ---- lines --------------------------------------------------------------------------------


def read_text_rows(path: Path, reader: RowReader | None = None) -> Iterator[TextRow | BadRow]:
    """The rows of a file, packed or plain; a broken end of the file is a `BadRow` of its own.

    Raises `Failure` (TW0001) where the file cannot be opened.
    """
    reader, number = reader or RowReader(), 0
    try:
        for number, line in enumerate(_lines(path), start=1):
            if line.strip():
                yield reader.row(f"{path}:{number}", line.decode("utf-8"))
    except (EOFError, zlib.error, UnicodeDecodeError) as error:
        what = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "is torn"
        yield BadRow(f"{path}:{number + 1}", f"the file {what} here ({error})")
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror or error}."
        hint = "Name files of recorded rows: `.jsonl`, or `.jsonl.gz`."
        raise Failure(Diagnostic("TW0001", message, hint=hint)) from None


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file. A packed one is unpacked in blocks: faster than line by line."""
    rest = b""
    for block in _blocks(path):
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
    if rest:
        yield rest


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        if path.suffix == ".gz":
            yield from _unpacked(file)
            return
        while block := file.read(_BLOCK):
            yield block


def _unpacked(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of a packed file, of several members if it has them."""
    unpacker, begun = zlib.decompressobj(wbits=_GZIP), False
    while block := file.read(_BLOCK):
        while block:
            begun = True
            yield unpacker.decompress(block)
            block = unpacker.unused_data
            if unpacker.eof:
                unpacker, begun = zlib.decompressobj(wbits=_GZIP), False
    if begun:
        raise EOFError("it ends too early")


# ---- rows ---------------------------------------------------------------------------------


class RowReader:
    """Reads lines as rows, and each list of objects only once.

    Nearly all of a row is its three lists of objects, and rows share them. A list ends where its
    text is complete JSON, so a stretch that parses is the list itself, whatever stands in it.
    """

    def __init__(self) -> None:
        self._lists: dict[str, list[Any]] = {}

    def row(self, place: str, line: str) -> TextRow | BadRow:
        """One line as a row, or what is wrong with it."""
        try:
            return _read(place, self._parsed(line))
        except (ValueError, RecursionError) as error:
            return BadRow(place, f"it is no JSON ({error})")
        except _Unfit as unfit:
            return BadRow(place, str(unfit))

    def _parsed(self, line: str) -> object:
        """The JSON of a line; the lists of objects are taken out of its text first."""
        cuts: list[str] = []
        found: list[list[Any]] = []
        last, (head, tail) = 0, _OBJECTS
        while (start := line.find(head, last)) >= 0:
            start += len(head) - 2
            end = line.find(tail, start) + 1
            known = self._list(line[start:end]) if end else None
            if known is None:
                return json.loads(line)
            cuts += (line[last:start], f'"{_MARK}{len(found)}"')
            found.append(known)
            last = end
        row = json.loads("".join((*cuts, line[last:])))
        if isinstance(row, dict) and _put_back(row, found):
            return row
        return json.loads(line)

    def _list(self, text: str) -> list[Any] | None:
        """The sound list of objects that a text is, ``None`` if it is none."""
        known = self._lists.get(text)
        if known is None:
            try:
                found = json.loads(text)
            except ValueError:
                return None
            if is_state(found):
                return None
            if len(self._lists) >= _KEPT:
                self._lists.clear()
            known = self._lists[text] = _Sound(found)
        return known


class _Sound(list[Any]):
    """A list of objects whose shape was found right."""


def _put_back(row: dict[str, Any], found: Sequence[list[Any]]) -> bool:
    """Put the lists where they were cut out; false where they stood elsewhere in the row."""
    marks = {f"{_MARK}{number}": one for number, one in enumerate(found)}
    for key in _STATES:
        state = row.get(key)
        objects = state.get("objects") if isinstance(state, dict) else None
        if not isinstance(state, dict) or not isinstance(objects, str) or objects not in marks:
            return False
        state["objects"] = marks.pop(objects)
    return not marks


def _read(place: str, found: object) -> TextRow:
    row = _mapping(found, "the row")
    before, acted, ticked = (_mapping(row.get(key), key) for key in _STATES)
    game, action, task = row.get("game"), acted.get("lastAction"), before.get("taskDesc", "")
    if not isinstance(game, str) or not isinstance(action, str) or not isinstance(task, str):
        raise _Unfit("`game`, `action_state.lastAction` and `taskDesc` are texts")
    return TextRow(
        place, game, row.get("state_id"), action, task,
        _state(before, _STATES[0]), _state(acted, _STATES[1]), _state(ticked, _STATES[2]),
        _score(row.get("current_score_state"), "current_score_state"),
        _score(row.get("next_score_state"), "next_score_state"),
    )  # fmt: skip


def _mapping(found: object, what: str) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise _Unfit(f"`{what}` is no JSON object")
    return found


def _state(found: Mapping[str, Any], what: str) -> Recorded:
    objects, top = found.get("objects"), found.get("max_UUID")
    if not isinstance(top, int) or isinstance(top, bool) or not 0 <= top <= _MOST_IDS:
        raise _Unfit(f"`{what}.max_UUID` is no whole number from 0 to {_MOST_IDS}")
    wrong = "" if isinstance(objects, _Sound) else is_state(objects)
    if wrong or not isinstance(objects, list):
        raise _Unfit(f"`{what}.{wrong}")
    return Recorded(objects, top)


def is_state(objects: object) -> str:
    """What is wrong with the shape of a list of objects, as the end of a path in backticks and a
    clause; empty if nothing is."""
    if not isinstance(objects, list):
        return "objects` is no list"
    seen: set[int] = set()
    for position, one in enumerate(objects):
        where = f"objects[{position}]"
        if not isinstance(one, dict):
            return f"{where}` is no JSON object"
        for key, kind in _PARTS:
            if not isinstance(one.get(key), kind):
                return f"{where}.{key}` is missing, or of another kind"
        if not all(isinstance(name, str) for name in one["contains"]):
            return f"{where}.contains` is no list of names"
        if one["uuid"] in seen or not 0 <= one["uuid"] < _MOST_IDS:
            return f"{where}.uuid` stands there twice, or is below 0 or beyond {_MOST_IDS}"
        seen.add(one["uuid"])
    return ""


def _score(found: object, what: str) -> Score:
    shape = _mapping(found, what)
    score, over, won = (shape.get(key) for key in ("score", "gameOver", "gameWon"))
    number = isinstance(score, (int, float)) and not isinstance(score, bool)
    if not number or not isinstance(over, bool) or not isinstance(won, bool):
        raise _Unfit(f"`{what}` has no `score`, `gameOver` and `gameWon`")
    assert isinstance(score, (int, float))
    return Score(score, over, won)
