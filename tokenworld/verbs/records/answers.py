"""Predicted transitions: the four tasks, the predictors, the reading and scoring of answers.

The tasks are those of the paper: ``act`` (the state after the action), ``env`` (the state
after the tick), ``score`` (score, over, won) and ``step`` (all of it at once). A question is a JSON
object on a line, ``tw-question/1``; so is an answer: the whole state (``objects``, optionally
``max_UUID``) or the difference (``modified`` objects, ``removed`` numbers), and ``score``.

**The paper's scorer** (Wang et al. 2024, `evaluate` of the published code) looks, for every object
of the target, at the object of the same ``uuid``: each property of the target must be equal, and
the names in ``contains`` as a sorted list. It ignores objects and properties that only the
prediction has, names and types, the order of contents and objects, and the counter of numbers.
**Strict** compares all of these.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from pathlib import Path, PurePath
from typing import Any, Final, Literal, NamedTuple, Protocol

from tokenworld.diagnostics import Failure, read_source, usage
from tokenworld.session.remote import PlayerFailure, ProcessChannel
from tokenworld.verbs.records.rows import Recorded, TextRow, is_state

Objects = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing of a state that is otherwise than recorded.

    ``what`` is a property, or a part of the object (``contains``, ``name``, ``type``), or empty for
    the object as a whole; ``uuid`` is ``None`` where the state as a whole is meant.
    """

    uuid: int | None
    name: str
    what: str
    wanted: Any
    found: Any


def same(one: object, other: object) -> bool:
    """Equal JSON values: numbers by value, truths only with truths, maps in any order."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def _by_uuid(objects: Objects) -> dict[object, Mapping[str, Any]]:
    return {one["uuid"]: one for one in objects if "uuid" in one}


# ---- the paper's scorer ---------------------------------------------------------------------


def published(found: Objects, wanted: Objects) -> bool:
    """Return whether the paper's scorer finds no error; a malformed prediction is an error."""
    if found is wanted:
        return True
    try:
        known = _by_uuid(found)
        return all(_passes(known.get(one["uuid"]), one) for one in wanted)
    except (TypeError, KeyError, AttributeError):
        return False


def _passes(found: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    if found is None or "properties" not in found or "contains" not in found:
        return False
    held = found["properties"]
    for key, value in wanted["properties"].items():
        if key not in held or held[key] != value:
            return False
    return sorted(found["contains"]) == sorted(wanted["contains"])


def same_score(found: Mapping[str, Any], wanted: Mapping[str, Any], *, strictly: bool) -> bool:
    """Return whether score, over and won are as recorded; strictly, a truth is no number."""
    if found is wanted:
        return True
    if len(found) != len(wanted):
        return False
    for key, value in wanted.items():
        if key not in found or found[key] != value or (strictly and not same(found[key], value)):
            return False
    return True


# ---- strict -----------------------------------------------------------------------------------


def strict(found: Objects, next_id: int | None, wanted: Objects, wanted_id: int) -> bool:
    """Return whether nothing at all differs. A prediction without a counter is not asked for it."""
    counted = next_id is None or next_id == wanted_id
    if found is wanted or (len(found) == len(wanted) and all(map(is_, found, wanted))):
        return counted
    return counted and next(unequal(found, next_id, wanted, wanted_id), None) is None


def unequal(
    found: Objects, next_id: int | None, wanted: Objects, wanted_id: int
) -> Iterator[Difference]:
    """The differences: object by object in recorded order, then surplus objects, then the order."""
    known, listed = _by_uuid(found), {one["uuid"] for one in wanted}
    for one in wanted:
        other = known.get(one["uuid"])
        if other is None:
            yield Difference(one["uuid"], one["name"], "", "is there", "is missing")
        elif other is not one:
            yield from _unequal(other, one)
    for other in found:
        if other.get("uuid") not in listed:
            name = str(other.get("name", "?"))
            yield Difference(other.get("uuid"), name, "", "is not there", "is there")
    orders = [one.get("uuid") for one in found], [one["uuid"] for one in wanted]
    if orders[0] != orders[1]:
        yield Difference(None, "", "order of objects", orders[1], orders[0])
    if next_id is not None and next_id != wanted_id:
        yield Difference(None, "", "max_UUID", wanted_id, next_id)


def _unequal(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Difference]:
    uuid, name = wanted["uuid"], wanted["name"]
    if found == wanted and _alike(found.get("properties"), wanted["properties"]):
        return
    for part in ("name", "type"):
        if found.get(part) != wanted[part]:
            yield Difference(uuid, name, part, wanted[part], found.get(part))
    mine, theirs = found.get("properties", {}), wanted["properties"]
    for key in {**theirs, **mine}:
        if key not in mine or key not in theirs or not same(mine[key], theirs[key]):
            values = (held.get(key, "is missing") for held in (theirs, mine))
            yield Difference(uuid, name, key, *values)
    if found.get("contains") != wanted["contains"]:
        yield Difference(uuid, name, "contains", wanted["contains"], found.get("contains"))


def _alike(found: object, wanted: Mapping[str, Any]) -> bool:
    """Return whether equal properties are equal as JSON too: in Python a truth equals 0 or 1."""
    if not isinstance(found, dict):
        return False
    for key, value in wanted.items():
        kind = type(value)
        if kind is not type(found[key]) and (kind is bool or type(found[key]) is bool):
            return False
        if kind is list or kind is dict:
            return False
    return True


Task = Literal["act", "env", "score", "step"]
TASKS: Final[tuple[Task, ...]] = ("act", "env", "score", "step")


def _unknown(difference: Difference) -> str:
    return ""


class Answer(NamedTuple):
    """One answer. ``objects`` is ``None`` where none was given, and so are the rest.

    ``fault`` says why an answer cannot be used; ``how`` what became of the action, and ``blame``
    which rule wrote something, where the answerer knows.
    """

    objects: Sequence[Mapping[str, Any]] | None = None
    next_id: int | None = None
    score: Mapping[str, Any] | None = None
    fault: str = ""
    how: Callable[[], str] = str
    blame: Callable[[Difference], str] = _unknown


class Answerer(Protocol):
    """The answering side of a comparison: a world, or a program at the other end of a pipe."""

    def answers(self, row: TextRow) -> Mapping[Task, Answer]:
        """An answer for each task that it takes on."""


def row_id(row: TextRow) -> str:
    """The id of a row in questions and answers: its file and line, without folders."""
    return PurePath(row.place).name


def given(row: TextRow, task: Task) -> Recorded:
    """The state that a question shows: for ``env`` the one after the action."""
    return row.acted if task == "env" else row.before


def wanted(row: TextRow, task: Task) -> Recorded:
    """The state that a task asks for."""
    return row.acted if task == "act" else row.ticked


def passes(
    row: TextRow, task: Task, answer: Answer, right: Mapping[str, Any], *, strictly: bool
) -> bool:
    """Return whether an answer is right by one of the scorers; ``right`` is the recorded score."""
    if answer.fault:
        return False
    scored = task in ("score", "step")
    if scored and not same_score(answer.score or {}, right, strictly=strictly):
        return False
    if task == "score":
        return True
    found, target = answer.objects, wanted(row, task)
    if found is None:
        return False
    if strictly:
        return strict(found, answer.next_id, target.objects, target.next_id)
    return published(found, target.objects)


def changes(row: TextRow, task: Task) -> bool:
    """Return whether a task changes something: the paper's scorer refuses the input as answer."""
    if task == "score":
        return row.score_before != row.score_after
    if task == "step" and row.score_before != row.score_after:
        return True
    return not published(given(row, task).objects, wanted(row, task).objects)


def all_right(row: TextRow, answers: Mapping[Task, Answer]) -> bool:
    """Return whether nothing at all is wrong with the answers to a row."""
    right = row.score_after.shown
    return all(passes(row, task, one, right, strictly=True) for task, one in answers.items())


def question(row: TextRow, task: Task) -> dict[str, Any]:
    """The question about a row as an answerer gets it."""
    state = given(row, task)
    asked: dict[str, Any] = {
        "format": "tw-question/1", "row": row_id(row), "game": row.game, "task": task,
        "goal": row.task, "objects": state.objects, "max_UUID": state.next_id,
    }  # fmt: skip
    if task != "env":
        asked["action"] = row.action
    if task in ("score", "step"):
        asked["score"] = row.score_before.to_json()
    return asked


def read_answer(found: object, row: TextRow, task: Task) -> Answer:
    """Return an answer as it was given; ``fault`` has its fault.

    Not by pydantic: an answer has as many objects as a row, and `is_state` checks both.
    """
    if not isinstance(found, dict):
        return Answer(fault="the answer is no JSON object")
    score = found.get("score")
    if task == "score" or (task == "step" and score is not None):
        if not isinstance(score, dict):
            return Answer(fault="the answer has no `score`")
        if task == "score":
            return Answer(score=score)
    top = found.get("max_UUID")
    next_id = top if isinstance(top, int) and not isinstance(top, bool) else None
    if "modified" in found or "removed" in found:
        return _changed(found, given(row, task), next_id, score)
    objects = found.get("objects")
    wrong = is_state(objects)
    if wrong:
        return Answer(score=score, fault=f"`{wrong}")
    return Answer(objects, next_id, score)


def _changed(
    found: Mapping[str, Any], before: Recorded, next_id: int | None, score: Mapping[str, Any] | None
) -> Answer:
    """The state that a difference makes of the one before: new objects come last."""
    modified, removed = found.get("modified", []), found.get("removed", [])
    wrong = is_state(modified)
    if wrong or not isinstance(removed, list):
        return Answer(score=score, fault=f"`{wrong}" if wrong else "`removed` is no list")
    news = {one["uuid"]: one for one in modified}
    kept = [news.pop(one["uuid"], one) for one in before.objects if one["uuid"] not in removed]
    return Answer([*kept, *news.values()], next_id, score)


_LONGEST = 1 << 20
"""Most bytes of one answer, which may hold a whole state."""


def wanted_tasks(names: str) -> tuple[Task, ...]:
    """The tasks of a list such as ``act,env``; `Failure` (TW0006) for a name that is none."""
    given = [name.strip() for name in names.split(",") if name.strip()]
    wrong = [name for name in given if name not in TASKS]
    if wrong or not given:
        message = f"`{wrong[0] if wrong else names}` is no task."
        raise usage(message, f"Name some of {', '.join(TASKS)}.")
    return tuple(task for task in TASKS if task in given)


class PipeAnswerer:
    """A program that reads a question on each line of its input and answers it with a line."""

    def __init__(self, command: str, tasks: Sequence[Task], seconds: float) -> None:
        self._command, self._tasks = command, tasks
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise self._failed(f"cannot be started ({error})") from None
        if not words:
            raise self._failed("cannot be started (it is empty)")
        try:
            self._channel = ProcessChannel(words, seconds, end="\n", longest=_LONGEST)
        except PlayerFailure as failure:
            raise self._failed(f"cannot be started: it {failure.what}") from None

    def answers(self, row: TextRow) -> Mapping[Task, Answer]:
        return {task: self._answer(row, task) for task in self._tasks}

    def _answer(self, row: TextRow, task: Task) -> Answer:
        try:
            line = self._channel.ask(json.dumps(question(row, task), ensure_ascii=False))
        except PlayerFailure as failure:
            raise self._failed(f"{failure.what} (asked about {row.place})") from None
        if line is None:
            raise self._failed(f"ended before it answered {row.place}")
        try:
            return read_answer(json.loads(line), row, task)
        except (ValueError, RecursionError) as error:
            return Answer(fault=f"the answer is no JSON ({error})")

    def _failed(self, what: str) -> Failure:
        hint = "It reads a question on each line and writes an answer for it, until its input ends."
        return usage(f"The predictor `{self._command}` {what}.", hint)

    def close(self) -> None:
        """End the program with all that it started."""
        self._channel.close()


class FileAnswerer:
    """Answers from a file: each names the ``row`` and ``task`` of its question."""

    def __init__(self, path: Path) -> None:
        self._answers: dict[tuple[str, str], Any] = {}
        self._used: set[tuple[str, str]] = set()
        for number, line in enumerate(read_source(path).text.split("\n"), start=1):
            if line.strip():
                self._note(path, number, line)
        given = {task for _, task in self._answers}
        self._tasks = tuple(task for task in TASKS if task in given)

    def _note(self, path: Path, number: int, line: str) -> None:
        try:
            found = json.loads(line)
            key = (found["row"], found["task"])
        except (ValueError, KeyError, TypeError, RecursionError):
            key = ("", "")
        if not all(isinstance(part, str) for part in key) or key[1] not in TASKS:
            message = f"`{path}:{number}` is no answer: it names no `row` and `task`."
            hint = "Copy both from the question; `--questions FILE` writes the questions."
            raise usage(message, hint)
        self._answers[key] = found

    @property
    def unused(self) -> int:
        """The number of surplus answers: their rows are not among those that were read."""
        return len(self._answers.keys() - self._used)

    def answers(self, row: TextRow) -> Mapping[Task, Answer]:
        return {task: self._answer(row, task) for task in self._tasks}

    def _answer(self, row: TextRow, task: Task) -> Answer:
        found = self._answers.get((row_id(row), task))
        self._used.add((row_id(row), task))
        if found is None:
            return Answer(fault="the file has no answer for it")
        return read_answer(found, row, task)


@dataclass(slots=True)
class Count:
    """The number of rows asked, and of answers that each scorer accepts."""

    rows: int = 0
    published: int = 0
    strict: int = 0

    def add(self, *, published: bool, strict: bool) -> None:
        """Count one answer."""
        self.rows += 1
        self.published += published
        self.strict += strict

    def share(self, *, strictly: bool) -> float | None:
        """The share of right answers; ``None`` where nothing was asked."""
        return (self.strict if strictly else self.published) / self.rows if self.rows else None
