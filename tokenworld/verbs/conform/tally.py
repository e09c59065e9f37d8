"""Ask for every row, score every answer, and count right answers by game and task.

Rows whose target changes something are counted apart from those whose target changes nothing.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from tokenworld.diagnostics import Failure, fields_json
from tokenworld.verbs.conform.answers import (
    TASKS,
    Answer,
    Answerer,
    Difference,
    Objects,
    Task,
    published,
    same_score,
    strict,
    unequal,
)
from tokenworld.verbs.conform.replay import Games
from tokenworld.verbs.conform.rows import BadRow, Recorded, TextRow, read_text_rows

__all__ = ["Conforming", "Count", "GameTally", "KEPT", "Miss", "UNKNOWN", "average", "rows_for"]


KEPT: Final = 5
"""How many bad rows, and how many wrong answers, are told of each game."""


_PAIRS: Final = 4096
"""Pairs of states of which it is kept whether they differ."""


@dataclass(slots=True)
class Count:
    """The number of rows asked, and of answers that each scorer accepts."""

    rows: int = 0
    published: int = 0
    strict: int = 0

    def share(self, *, strictly: bool) -> float | None:
        """The share of right answers; ``None`` where nothing was asked."""
        return (self.strict if strictly else self.published) / self.rows if self.rows else None


@dataclass(frozen=True, slots=True)
class Miss:
    """A wrong answer: its row and task, what differs, and which rule wrote that."""

    place: str
    task: Task
    action: str
    how: str
    differences: tuple[tuple[Difference, str], ...]
    fault: str = ""


@dataclass(slots=True)
class GameTally:
    """What became of the rows of one game. ``counts`` by task and whether it changes something."""

    game: str
    rows: int = 0
    bad: int = 0
    counts: dict[tuple[Task, bool], Count] = field(default_factory=dict)
    bad_rows: list[BadRow] = field(default_factory=list)
    misses: list[Miss] = field(default_factory=list)
    wrong: int = 0
    _pairs: dict[tuple[int, int], tuple[Objects, Objects, bool]] = field(default_factory=dict)

    def spoilt(self, row: BadRow) -> None:
        """Note a row that cannot be used."""
        self.bad += 1
        if len(self.bad_rows) < KEPT:
            self.bad_rows.append(row)

    def add(self, row: TextRow, answers: Mapping[Task, Answer], *, strictly: bool) -> None:
        """Score the answers to a row; ``strictly`` says which wrong ones are kept to be told."""
        self.rows += 1
        right = row.score_after.shown
        changes = self._changing(row)
        for task in TASKS:
            answer = answers.get(task)
            if answer is not None:
                self._score(row, task, answer, right, changes, strictly)

    def _score(
        self, row: TextRow, task: Task, answer: Answer, right: Mapping[str, Any],
        changes: Mapping[Task, bool], strictly: bool,
    ) -> None:  # fmt: skip
        count = self.counts.get((task, changes[task]))
        if count is None:
            count = self.counts[task, changes[task]] = Count()
        exact = _passes(row, task, answer, right, True)
        loose = exact or _passes(row, task, answer, right, False)
        count.rows += 1
        count.published += loose
        count.strict += exact
        if not (exact if strictly else loose):
            self.wrong += 1
            if len(self.misses) < KEPT:
                self.misses.append(_miss(row, task, answer))

    def _changing(self, row: TextRow) -> dict[Task, bool]:
        """Which tasks change something: by the paper's scorer, of the input as the answer."""
        act = self._differ(row.before.objects, row.acted.objects)
        env = self._differ(row.acted.objects, row.ticked.objects)
        score = row.score_before != row.score_after
        return {"act": act, "env": env, "score": score, "step": act or env or score}

    def _differ(self, one: Objects, other: Objects) -> bool:
        """Whether one list of objects is no answer where the other is recorded; asked once."""
        if one is other:
            return False
        key = (id(one), id(other))
        known = self._pairs.get(key)
        if known is None or known[0] is not one or known[1] is not other:
            if len(self._pairs) >= _PAIRS:
                self._pairs.clear()
            known = self._pairs[key] = (one, other, not published(one, other))
        return known[2]

    def right(self, *, strictly: bool) -> bool:
        """Whether nothing is wrong by the scorer asked for."""
        return all(
            (one.strict if strictly else one.published) == one.rows for one in self.counts.values()
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "game": self.game, "rows": self.rows, "bad_rows": self.bad, "wrong": self.wrong,
            "tasks": {
                task: {
                    kind: fields_json(self.counts.get((task, changing), Count()))
                    for kind, changing in (("dynamic", True), ("static", False))
                }
                for task in TASKS
            },
        }  # fmt: skip


def average(
    games: Iterable[GameTally], task: Task, *, dynamic: bool, strictly: bool
) -> float | None:
    """The mean of the games' shares: each game counts the same, as in the paper's table."""
    found = [game.counts.get((task, dynamic), Count()).share(strictly=strictly) for game in games]
    shares = [share for share in found if share is not None]
    return sum(shares) / len(shares) if shares else None


def _wanted(row: TextRow, task: Task) -> Recorded:
    return row.acted if task == "act" else row.ticked


def _passes(
    row: TextRow, task: Task, answer: Answer, right: Mapping[str, Any], strictly: bool
) -> bool:
    """Whether an answer is right by one of the scorers; ``right`` is the recorded score."""
    if answer.fault:
        return False
    scored = task in ("score", "step")
    if scored and not same_score(answer.score or {}, right, strictly=strictly):
        return False
    if task == "score":
        return True
    found, wanted = answer.objects, _wanted(row, task)
    if found is None:
        return False
    if strictly:
        return strict(found, answer.next_id, wanted.objects, wanted.next_id)
    return published(found, wanted.objects)


def _miss(row: TextRow, task: Task, answer: Answer) -> Miss:
    blamed = partial(Miss, row.place, task, row.action, answer.how())
    if answer.fault:
        return blamed((), answer.fault)
    found: list[Difference] = []
    if task != "score" and answer.objects is not None:
        wanted = _wanted(row, task)
        found += unequal(answer.objects, answer.next_id, wanted.objects, wanted.next_id)
    if task in ("score", "step"):
        held, right = answer.score or {}, row.score_after.to_json()
        found += [
            Difference(None, "", key, value, held.get(key, "is missing"))
            for key, value in right.items()
            if held.get(key) != value
        ]
    return blamed(tuple((one, answer.blame(one)) for one in found))


UNKNOWN = "?"
"""The game of rows that tell of none, or of one that no world is for."""

_MANY: Final = 100_000
"""New things after which cycles are looked for."""
Say = Callable[[str], None]


def rows_for(games: Games, paths: Sequence[Path]) -> Iterator[TextRow | BadRow]:
    """The rows of all files; those of a game that no world is for are bad ones."""
    for path in paths:
        for row in read_text_rows(path):
            if isinstance(row, TextRow) and row.game not in games:
                known = ", ".join(f"`{name}`" for name in games.names)
                yield BadRow(
                    row.place, f"it is a row of `{row.game}`, and the world is for {known}"
                )
            else:
                yield row


@contextmanager
def _patiently() -> Iterator[None]:
    """The collector of cycles comes seldom: a row makes many small things, and leaves none. What
    is left counts as old, so that it does not come for it at once."""
    before = gc.get_threshold()
    gc.set_threshold(_MANY, *before[1:])
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()
        gc.set_threshold(*before)


class Conforming:
    """Asks and scores. ``answerer``: who answers in place of the worlds."""

    def __init__(
        self, games: Games, *, strictly: bool, answerer: Answerer | None = None,
        tasks: Sequence[Task] = TASKS, say: Say = lambda text: None,
    ) -> None:  # fmt: skip
        self._games, self._strictly, self._answerer = games, strictly, answerer
        self._tasks, self._say, self._told = tasks, say, time.monotonic()
        self.tallies: dict[str, GameTally] = {}

    def take(self, rows: Iterable[TextRow | BadRow]) -> None:
        """Ask every row, in order."""
        with _patiently():
            self._take(rows)

    def _take(self, rows: Iterable[TextRow | BadRow]) -> None:
        for number, row in enumerate(rows, start=1):
            if isinstance(row, BadRow):
                self._tally(UNKNOWN).spoilt(row)
            else:
                self._row(row)
            if time.monotonic() - self._told >= 1:
                self._told = time.monotonic()
                wrong = sum(one.wrong for one in self.tallies.values())
                self._say(f"{number} rows, {wrong} wrong answers")

    def _row(self, row: TextRow) -> None:
        tally, world = self._tally(row.game), self._games.answerer(row.game)
        answers: Mapping[Task, Answer]
        try:
            if self._answerer is None:
                answers = world.answers(row)
            else:
                world.check(row)
        except Failure as failure:
            tally.spoilt(BadRow(row.place, failure.diagnostics[0].message))
            return
        if self._answerer is not None:
            answers = self._answerer.answers(row)
        asked = {task: answers[task] for task in self._tasks if task in answers}
        tally.add(row, asked, strictly=self._strictly)

    def _tally(self, game: str) -> GameTally:
        return self.tallies.setdefault(game, GameTally(game))

    @property
    def bad(self) -> int:
        """The number of rows that could not be used."""
        return sum(one.bad for one in self.tallies.values())

    def right(self) -> bool:
        """Whether there were rows, all could be used, and no answer was wrong."""
        some = any(one.rows for one in self.tallies.values())
        fine = all(one.right(strictly=self._strictly) for one in self.tallies.values())
        return some and fine and self.bad == 0
