"""What somebody answers when asked for a transition: the four tasks, and how answers are read.

The tasks are those of the paper: ``act`` (the state after the action), ``env`` (what the tick
makes of that), ``score`` (score, over, won) and ``step`` (all of it at once). A question is a JSON
object on a line, ``tw-question/1``; so is an answer: the whole state (``objects``, and if one
likes ``max_UUID``) or the difference (``modified`` objects, ``removed`` numbers), and ``score``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final, Literal, NamedTuple, Protocol

from tokenworld.tools.worlds.rows import Recorded, TextRow, is_state
from tokenworld.tools.worlds.scoring import Difference

__all__ = ["TASKS", "Answer", "Answerer", "Task", "question", "read_answer", "row_id"]

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
    """Whoever answers: a world, or a program at the other end of a pipe."""

    def answers(self, row: TextRow) -> Mapping[Task, Answer]:
        """An answer for each task that it takes on."""


def row_id(row: TextRow) -> str:
    """What a row is called in questions and answers: its file and line, without folders."""
    return PurePath(row.place).name


def given(row: TextRow, task: Task) -> Recorded:
    """The state that a question shows: for ``env`` the one after the action."""
    return row.acted if task == "env" else row.before


def question(row: TextRow, task: Task) -> dict[str, Any]:
    """What an answerer is told of a row."""
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
    """An answer as it was given; what is wrong with it is in its ``fault``."""
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
