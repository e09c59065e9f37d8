"""Score proposed worlds on rows that they were not learned from, through the engine; and baselines
without any rules."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

from tokenworld.diagnostics import Failure
from tokenworld.ground import Json
from tokenworld.session.loading import OpenWorld
from tokenworld.session.replaying import Row
from tokenworld.verbs.learn.propose.emitting import Emitted
from tokenworld.verbs.records.answers import TASKS, Answer, Task, changes, passes
from tokenworld.verbs.records.properties import MAPPING_FILE
from tokenworld.verbs.records.replay import games_of
from tokenworld.verbs.records.rows import BadRow, TextRow
from tokenworld.verbs.records.transitions import Transition, fitting, world_rows


@dataclass(slots=True)
class Share:
    """Right answers of a number of rows."""

    right: int = 0
    rows: int = 0

    @property
    def share(self) -> float | None:
        """The share of right answers; ``None`` of no rows."""
        return self.right / self.rows if self.rows else None

    def to_json(self) -> dict[str, Json]:
        return {"right": self.right, "rows": self.rows, "share": self.share}


@dataclass(slots=True)
class Judged:
    """Strictly right answers by task, of the rows that change something (``dynamic``) and of all;
    rows that the world cannot read count as wrong. ``logp`` is the log probability of rows of
    worlds, and ``impossible`` the number of those that the rules cannot bring forth."""

    dynamic: dict[Task, Share] = field(default_factory=dict)
    every: dict[Task, Share] = field(default_factory=dict)
    unreadable: int = 0
    bad: list[BadRow] = field(default_factory=list)
    logp: float = 0.0
    impossible: int = 0

    def to_json(self) -> dict[str, Json]:
        return {
            "dynamic": {task: one.to_json() for task, one in self.dynamic.items()},
            "all": {task: one.to_json() for task, one in self.every.items()},
            "unreadable": self.unreadable,
            "logp": self.logp,
            "impossible": self.impossible,
        }


def judged_text(made: Emitted, rows: Sequence[TextRow]) -> Judged:
    """Score a world on rows of text games."""
    with tempfile.TemporaryDirectory() as folder:
        world = Path(folder) / "world.tw"
        world.write_text(made.text, encoding="utf-8")
        (Path(folder) / MAPPING_FILE).write_text(made.mapping, encoding="utf-8")
        answerer = games_of(str(world)).answerer(rows[0].game) if rows else None
        found = Judged({task: Share() for task in TASKS}, {task: Share() for task in TASKS})
        for row in rows:
            assert answerer is not None
            try:
                answers = answerer.answers(row)
            except Failure as failure:
                answers = {}
                found.unreadable += 1
                found.bad.append(BadRow(row.place, failure.diagnostics[0].message))
            for task in TASKS:
                _count(found, row, task, answers.get(task))
    return found


def _count(found: Judged, row: TextRow, task: Task, answer: Answer | None) -> None:
    """Count the answer to a task; a missing answer is wrong."""
    right = answer is not None and passes(
        row, task, answer, row.score_after.to_json(), strictly=True
    )
    changing = changes(row, task)
    found.every[task].rows += 1
    found.every[task].right += right
    found.dynamic[task].rows += changing
    found.dynamic[task].right += right and changing


def judged_world(world: OpenWorld, rows: Sequence[Row], paths: Sequence[Path]) -> Judged | None:
    """Score a world on rows of worlds, and on those of files: a row is right if it is certain by
    the rules. ``None`` where there is none."""
    if not rows and not paths:
        return None
    found = Judged()
    dynamic = found.dynamic.setdefault("step", Share())
    every = found.every.setdefault("step", Share())
    for row in fitting(world, chain(rows, world_rows(paths))):
        every.rows += 1
        if isinstance(row, BadRow):
            found.unreadable += 1
            found.bad.append(row)
            continue
        _add(found, row, world.engine, dynamic, every)
    return found


def _add(found: Judged, row: Transition, engine: Any, dynamic: Share, every: Share) -> None:
    changing = _differ(row)
    dynamic.rows += changing
    try:
        logp = engine.logp(row.state, row.intent, row.seen, row.fields).logp
    except Failure:
        logp = float("-inf")
    if isfinite(logp):
        found.logp += logp
    else:
        found.impossible += 1
    right = logp > -1e-9
    every.right += right
    dynamic.right += right and changing


def _differ(row: Transition) -> bool:
    return row.state.cols != row.seen.cols or row.state.kinds != row.seen.kinds


# ---- without rules ------------------------------------------------------------------------------


def copied(rows: Sequence[TextRow]) -> Judged:
    """Return the score of the state before as the answer."""
    answers = (Answer(row.before.objects, row.before.next_id, row.score_before.to_json())
               for row in rows)  # fmt: skip
    return _scored(rows, answers)


def nearest(known: Sequence[TextRow], rows: Sequence[TextRow]) -> Judged:
    """Score the nearest known row's outcome as the answer: of those with the same command
    the one whose state has most objects in common; the state itself where there is none."""
    by_command: dict[str, list[tuple[frozenset[str], TextRow]]] = {}
    for row in known:
        by_command.setdefault(row.action, []).append((_objects(row), row))
    return _scored(rows, (_nearest(by_command.get(row.action, ()), row) for row in rows))


def _nearest(known: Iterable[tuple[frozenset[str], TextRow]], row: TextRow) -> Answer:
    mine = _objects(row)
    best = max(known, key=lambda one: len(one[0] & mine) - len(one[0] ^ mine), default=None)
    if best is None:
        return Answer(row.before.objects, row.before.next_id, row.score_before.to_json())
    other = best[1]
    return Answer(other.ticked.objects, other.ticked.next_id, other.score_after.to_json())


def _objects(row: TextRow) -> frozenset[str]:
    return frozenset(json.dumps(one, sort_keys=True) for one in row.before.objects)


def _scored(rows: Sequence[TextRow], answers: Iterable[Answer]) -> Judged:
    found = Judged()
    dynamic = found.dynamic.setdefault("step", Share())
    every = found.every.setdefault("step", Share())
    for row, answer in zip(rows, answers, strict=True):
        right = passes(row, "step", answer, row.score_after.to_json(), strictly=True)
        every.rows += 1
        every.right += right
        if changes(row, "step"):
            dynamic.rows += 1
            dynamic.right += right
    return found


def apart(known: Iterable[TextRow], rows: Iterable[TextRow]) -> Iterator[TextRow]:
    """Return the rows whose state and command no known row has."""
    seen = {_asked(one) for one in known}
    return (one for one in rows if _asked(one) not in seen)


def _asked(row: TextRow) -> tuple[str, str]:
    return json.dumps(row.before.objects, sort_keys=True), row.action
