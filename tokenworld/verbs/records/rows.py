"""Recorded transitions of text games: files unpacked in blocks and read line by line."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar

from tokenworld.diagnostics import Diagnostic, Failure, require_reach

_BLOCK: Final = 1 << 20
"""Bytes read of a file at a time."""
_UNPACKED: Final = 1 << 18
"""Bytes unpacked at a time: more would have to be fetched from memory again."""
_GZIP: Final = 31
"""The number by which `zlib` calls the packing of ``.gz`` files."""


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, without their ends. Packed files end in ``.gz``.

    Raises `OSError` where the file cannot be opened, `EOFError` and `zlib.error` at the place
    where a packed one is torn.
    """
    rest = b""
    for block in _blocks(path):
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
    if rest:
        yield rest


def _blocks(path: Path) -> Iterator[bytes]:
    require_reach(path, str(path))
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
            yield unpacker.decompress(block, _UNPACKED)
            block = unpacker.unconsumed_tail
            if unpacker.eof:
                block = unpacker.unused_data
                unpacker, begun = zlib.decompressobj(wbits=_GZIP), False
    if begun:
        raise EOFError("it ends too early")


_KEPT: Final = 2048
"""Texts of each kind whose meaning is kept: most rows show the same few."""
_KEPT_OBJECTS: Final = 16_384
"""Texts of single objects whose meaning is kept."""
_MOST_IDS: Final = 1_000_000
"""A state has a place for every number, so there is a limit to them."""
STATES: Final = ("current_state", "action_state", "tick_state")
_PARTS: Final = (
    ("name", str), ("uuid", int), ("type", str), ("properties", dict), ("contains", list),
)  # fmt: skip
_SCORES: Final = ("current_score_state", "next_score_state")
_CUTS: Final = (
    ', "current_state": {',
    '}, "action_state": {',
    '}, "tick_state": {',
    '}, "current_score_state": {',
)
"""The texts at which the parts of a row begin, as `json.dumps` writes it."""
_OBJECTS: Final = ', "objects": [{'
_FIRST: Final = '"objects": [{"name": '
_NEXT: Final = '}, {"name": '
_LAST: Final = "}], "
"""The texts at which the first object of a state, each other one, and what follows begin."""
_EARLIER: Final = frozenset(("game", "state_id", *STATES))
_LATER: Final = frozenset((*STATES, *_SCORES))
_DECODER: Final = json.JSONDecoder()
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded state: its objects in order, and the next number to be given."""

    objects: Sequence[Mapping[str, Any]]
    next_id: int


class Score(NamedTuple):
    """The recorded score."""

    score: int | float
    over: bool
    won: bool

    def to_json(self) -> dict[str, object]:
        return {"score": self.score, "gameOver": self.over, "gameWon": self.won}

    @property
    def shown(self) -> Mapping[str, object]:
        """As `to_json`, but equal scores of equal types show one and the same mapping."""
        return _shown_score(*self)


class TextRow(NamedTuple):
    """One transition and its place (``rows.jsonl.gz:3``): before, after action, and after tick.

    States that a file writes alike are one and the same `Recorded`.
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
    """A line that is no row, with its place and its fault."""

    place: str
    why: str


def no_rows(what: str, bad: Sequence[BadRow], hint: str) -> Failure:
    """The failure (TW1209) of a command that has no rows to use: ``what`` is the sentence, ``hint``
    the next step. The first row that cannot be used is named."""
    if bad:
        what = f"{what.rstrip('.')}; the first that cannot be used: {bad[0].place}: {bad[0].why}."
    return Failure(Diagnostic("TW1209", what, hint=hint))


class _Unfit(Exception):
    """Raised for a line that is not a row."""


# ---- lines --------------------------------------------------------------------------------


def read_text_rows(path: Path) -> Iterator[TextRow | BadRow]:
    """The rows of a file, packed or plain; a broken end of the file is a `BadRow` of its own.

    Raises `Failure` (TW0001) where the file cannot be opened.
    """
    reader, number, begin = RowReader(), 0, f"{path}:"
    try:
        for number, line in enumerate(lines_of(path), start=1):
            if line.strip():
                yield reader.row(f"{begin}{number}", line.decode("utf-8"))
    except (EOFError, zlib.error, UnicodeDecodeError) as error:
        what = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "is torn"
        yield BadRow(f"{path}:{number + 1}", f"the file {what} here ({error})")
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror or error}."
        hint = "Name files of recorded rows: `.jsonl`, or `.jsonl.gz`."
        raise Failure(Diagnostic("TW0001", message, hint=hint)) from None


# ---- rows ---------------------------------------------------------------------------------


class RowReader:
    """Reads lines as rows; parses shared parts once.

    Not by pydantic: a corpus has millions of objects, and each is looked at once, by `is_state`.
    Nearly all of a row is its three states, and rows share them, or most of their objects. A line
    is cut where its parts, and the objects of a state, seem to begin. If each of them is complete
    JSON alone, with the keys that belong there, then the cuts were right, whatever stands in it; if
    not, the line is read as a whole. Objects with one text are one and the same mapping.
    """

    def __init__(self) -> None:
        self._states: dict[str, Recorded] = {}
        self._objects: dict[str, dict[str, Any]] = {}
        self._begins: dict[str, tuple[Recorded, str]] = {}
        self._ends: dict[str, tuple[Score, Score]] = {}
        self._about: tuple[str, dict[str, Any]] = ("", {})

    def row(self, place: str, line: str) -> TextRow | BadRow:
        """Return the row of a line, or its fault."""
        try:
            return self._in_parts(place, line)
        except (ValueError, RecursionError, KeyError, _Unfit):
            pass  # it is written otherwise, or something is wrong with it
        try:
            return self._whole(place, json.loads(line))
        except (ValueError, RecursionError) as error:
            return BadRow(place, f"it is no JSON ({error})")
        except _Unfit as unfit:
            return BadRow(place, str(unfit))

    # ---- a line in its parts ------------------------------------------------------------------

    def _in_parts(self, place: str, line: str) -> TextRow:
        begin = line.index(_CUTS[0])
        act = line.index(_CUTS[1], begin)
        tick = line.index(_CUTS[2], act)
        end = line.index(_CUTS[3], tick)
        head = _json(line[:begin] + "}")
        before, task = self._begin(line[begin + len(_CUTS[0]) - 1 : act + 1])
        text = line[act + len(_CUTS[1]) - 1 : tick + 1]
        about, acted = self._state(text)
        other = line[tick + len(_CUTS[2]) - 1 : end + 1]
        ticked = acted if other == text else self._state(other)[1]
        scores = self._end(line[end + 3 :])
        game, action = head["game"], about["lastAction"]
        if not isinstance(game, str) or not isinstance(action, str) or not _LATER.isdisjoint(head):
            raise _Unfit
        return TextRow(
            place, game, head.get("state_id"), action, task, before, acted, ticked, *scores
        )

    def _begin(self, text: str) -> tuple[Recorded, str]:
        """The state before the action, and the task: a file has few of these."""
        known = self._begins.get(text)
        if known is None:
            about, recorded = self._state(text)
            task = about.get("taskDesc", "")
            if not isinstance(task, str):
                raise _Unfit
            known = _keep(self._begins, text, (recorded, task))
        return known

    def _state(self, text: str) -> tuple[dict[str, Any], Recorded]:
        """A state: its header and its objects."""
        cut = text.index(_OBJECTS)
        begin = text[:cut]
        if begin != self._about[0]:
            self._about = begin, _about(begin)
        about, text = self._about[1], text[cut + 2 :]
        recorded = self._states.get(text)
        if recorded is None:
            try:
                recorded = self._in_objects(text)
            except (ValueError, _Unfit):
                recorded = _at_once(text)
            _keep(self._states, text, recorded)
        return about, recorded

    def _in_objects(self, text: str) -> Recorded:
        """A state from the text of its objects and its counter; each object is parsed once."""
        begin, end = len(_FIRST), text.rindex(_LAST)
        if not text.startswith(_FIRST):
            raise _Unfit
        known, objects = self._objects, list[dict[str, Any]]()
        for part in text[begin:end].split(_NEXT):
            one = known.get(part)
            if one is None:
                one = _keep(known, part, _object(part), _KEPT_OBJECTS)
            objects.append(one)
        found = _json("{" + text[end + len(_LAST) :])
        if len(found) != 1 or len({one["uuid"] for one in objects}) < len(objects):
            raise _Unfit
        return Recorded(objects, _counter(found, "state"))

    def _end(self, text: str) -> tuple[Score, Score]:
        """The two scores at the end of a line, cached by its text."""
        known = self._ends.get(text)
        if known is None:
            found = _json("{" + text)
            if not _EARLIER.isdisjoint(found):
                raise _Unfit
            known = _keep(self._ends, text, _scores(found))
        return known

    # ---- any line -------------------------------------------------------------------------------

    def _whole(self, place: str, found: object) -> TextRow:
        row = _mapping(found, "the row")
        before, acted, ticked = (_mapping(row.get(key), key) for key in STATES)
        game, action, task = row.get("game"), acted.get("lastAction"), before.get("taskDesc", "")
        if not isinstance(game, str) or not isinstance(action, str) or not isinstance(task, str):
            raise _Unfit("`game`, `action_state.lastAction` and `taskDesc` are texts")
        first, second, third = map(self._shared, (before, acted, ticked), STATES)
        states = first, second, third
        number, scores = row.get("state_id"), _scores(row)
        return TextRow(place, game, number, action, task, *states, *scores)

    def _shared(self, found: Mapping[str, Any], what: str) -> Recorded:
        text = json.dumps([found.get("objects"), found.get("max_UUID")])
        known = self._states.get(text)
        return known or _keep(self._states, text, _recorded(found, what))


@lru_cache(maxsize=_KEPT, typed=True)
def _shown_score(score: float, over: bool, won: bool) -> Mapping[str, object]:
    return MappingProxyType(Score(score, over, won).to_json())


def _json(text: str) -> dict[str, Any]:
    """An object that is the whole of a text; `ValueError` where it is not."""
    found, end = _DECODER.raw_decode(text)
    if end != len(text):
        raise ValueError(text)
    return found  # type: ignore[no-any-return]


def _about(text: str) -> dict[str, Any]:
    """Read the header of a state: the command, and the texts about it."""
    found = _json(text + "}")
    if not found or "objects" in found or "max_UUID" in found:
        raise _Unfit
    return found


def _recorded(found: Mapping[str, Any], what: str) -> Recorded:
    objects, top = found.get("objects"), _counter(found, what)
    wrong = is_state(objects)
    if wrong or not isinstance(objects, list):
        raise _Unfit(f"`{what}.{wrong}")
    return Recorded(objects, top)


def _counter(found: Mapping[str, Any], what: str) -> int:
    top = found.get("max_UUID")
    if not isinstance(top, int) or isinstance(top, bool) or not 0 <= top <= _MOST_IDS:
        raise _Unfit(f"`{what}.max_UUID` is no whole number from 0 to {_MOST_IDS}")
    return top


def _at_once(text: str) -> Recorded:
    """A state from the text of its objects and its counter."""
    found = _json("{" + text)
    if len(found) != 2:
        raise _Unfit
    return _recorded(found, "state")


def _object(text: str) -> dict[str, Any]:
    """One object, from its text after the first key."""
    one = _json(f'{{"name": {text}}}')
    if _wrong(one, "objects[0]"):
        raise _Unfit
    return one


def _keep(kept: dict[str, T], text: str, found: T, most: int = _KEPT) -> T:
    """Add the result for a text to a cache of bounded size; return it."""
    if len(kept) >= most:
        kept.clear()
    kept[text] = found
    return found


def _mapping(found: object, what: str) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise _Unfit(f"`{what}` is no JSON object")
    return found


def is_state(objects: object) -> str:
    """Return the fault in the shape of a list of objects, as the end of a path in backticks and a
    clause; empty if there is none."""
    if not isinstance(objects, list):
        return "objects` is no list"
    seen: set[int] = set()
    for position, one in enumerate(objects):
        where = f"objects[{position}]"
        wrong = _wrong(one, where)
        if wrong:
            return wrong
        if one["uuid"] in seen:
            return f"{where}.uuid` stands there twice"
        seen.add(one["uuid"])
    return ""


def _wrong(one: object, where: str) -> str:
    """Return the fault in the shape of one object, as `is_state` does."""
    if not isinstance(one, dict):
        return f"{where}` is no JSON object"
    for key, kind in _PARTS:
        if not isinstance(one.get(key), kind):
            return f"{where}.{key}` is missing, or of another kind"
    if not all(isinstance(name, str) for name in one["contains"]):
        return f"{where}.contains` is no list of names"
    if not 0 <= one["uuid"] < _MOST_IDS:
        return f"{where}.uuid` is below 0 or beyond {_MOST_IDS}"
    return ""


def _scores(row: Mapping[str, Any]) -> tuple[Score, Score]:
    one, other = (_score(row.get(key), key) for key in _SCORES)
    return one, other


def _score(found: object, what: str) -> Score:
    shape = _mapping(found, what)
    score, over, won = (shape.get(key) for key in ("score", "gameOver", "gameWon"))
    number = isinstance(score, (int, float)) and not isinstance(score, bool)
    if not number or not isinstance(over, bool) or not isinstance(won, bool):
        raise _Unfit(f"`{what}` has no `score`, `gameOver` and `gameWon`")
    assert isinstance(score, (int, float))
    return Score(score, over, won)
