"""Rows in, tallies out: every row is asked, every answer is scored."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tokenworld.diagnostics import Failure
from tokenworld.tools.worlds.answers import TASKS, Answer, Answerer, Task
from tokenworld.tools.worlds.games import Games
from tokenworld.tools.worlds.rows import BadRow, TextRow, read_text_rows
from tokenworld.tools.worlds.tally import GameTally

__all__ = ["UNKNOWN", "Conforming", "rows_for"]

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
        """How many rows could not be used."""
        return sum(one.bad for one in self.tallies.values())

    def right(self) -> bool:
        """Whether there were rows, all could be used, and no answer was wrong."""
        some = any(one.rows for one in self.tallies.values())
        fine = all(one.right(strictly=self._strictly) for one in self.tallies.values())
        return some and fine and self.bad == 0
