"""``tw conform``: does a world, or anybody else, answer recorded transitions rightly?

Every row is asked, every answer is scored, and right answers are counted by game and task. Rows
whose target changes something are counted apart from those whose target changes nothing.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import exp, isfinite
from pathlib import Path
from typing import Annotated, Any, Final

from tokenworld.diagnostics import Diagnostic, Failure, counted, fields_json, usage
from tokenworld.engine.outcomes.distribution import Scored
from tokenworld.ground import Json
from tokenworld.session import open_world
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output, write_file
from tokenworld.verbs.records.answers import (
    TASKS,
    Answer,
    Answerer,
    Count,
    Difference,
    FileAnswerer,
    Objects,
    PipeAnswerer,
    Task,
    passes,
    published,
    question,
    unequal,
    wanted,
    wanted_tasks,
)
from tokenworld.verbs.records.replay import Games, games_of
from tokenworld.verbs.records.rows import BadRow, TextRow, read_text_rows
from tokenworld.verbs.records.transitions import Transition, transitions

# ---- Likelihoods ---------------------------------------------------------------------------------
# ``tw conform --score``: how likely recorded transitions are by the rules of a world.


_NOTED = 5
"""Rows that cannot be used, and impossible ones, that are printed."""


@dataclass(slots=True)
class _Scores:
    """The rows so far."""

    told: list[Json] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    impossible: list[tuple[str, Scored]] = field(default_factory=list)
    possible: int = 0
    logp: float = 0.0

    def add(self, row: Transition, found: Scored) -> None:
        """Count a row."""
        likely = isfinite(found.logp)
        if likely:
            self.possible += 1
            self.logp += found.logp
        else:
            self.impossible.append((row.place, found))
        difference = found.first_difference
        self.told.append({
            "place": row.place,
            "logp": found.logp if likely else None,
            "sites": [one.to_json() for one in found.sites],
            "difference": None if difference is None else difference.to_json(),
        })  # fmt: skip


def score_rows(target: str, paths: Sequence[Path], out: Output) -> int:
    """Score every row; 0 where there are rows and all of them are possible and usable."""
    if not paths:
        hint = "Name files that `tw runs rows` has written: `.jsonl`, or `.jsonl.gz`."
        raise Failure(Diagnostic("TW0001", "No file of rows is named.", hint=hint))
    world = open_world(target)
    found, tell = _Scores(), out.each_second()
    for row in transitions(world, paths):
        if isinstance(row, BadRow):
            found.bad.append(row)
            continue
        try:
            scored = world.engine.logp(row.state, row.intent, row.seen, row.fields)
        except Failure as failure:
            found.bad.append(BadRow(row.place, failure.diagnostics[0].message.rstrip(".")))
            continue
        found.add(row, scored)
        tell(f"{len(found.told)} rows, {len(found.impossible)} impossible")
    _print(found, out)
    out.json({
        "schema_version": 1,
        "ok": not found.impossible and not found.bad,
        "rows": found.told,
        "possible": found.possible,
        "logp": found.logp,
        "first_impossible": found.impossible[0][0] if found.impossible else None,
        "skipped": [{"place": one.place, "why": one.why} for one in found.bad],
    })  # fmt: skip
    fine = found.possible and not found.impossible and not found.bad
    return EXIT_OK if fine else EXIT_NEGATIVE


def _print(found: _Scores, out: Output) -> None:
    every = found.possible + len(found.impossible)
    mean = f", {exp(found.logp / found.possible):.4g} a row" if found.possible else ""
    out.line(f"{counted(every, 'row')}: log probability {found.logp:.4f}{mean}")
    if found.impossible:
        out.line(f"{counted(len(found.impossible), 'row')} impossible by the rules, the first:")
    for place, scored in found.impossible[:_NOTED]:
        why = "" if scored.first_difference is None else scored.first_difference.text()
        out.line(f"  {place}: {why}")
    for bad in found.bad[:_NOTED]:
        out.note(f"{bad.place}: {bad.why}")
    if found.bad:
        out.note(f"{counted(len(found.bad), 'row')} skipped")
    elif not every:
        out.note("the files have no rows")


# ---- Answers -------------------------------------------------------------------------------------

_NAMES = {"act": "F_act", "env": "F_env", "score": "F_R", "step": "whole step"}
_SHOWN = 3
"""The number of differences of one wrong answer are printed."""


def conform(
    target: Annotated[
        Annotated[str, "FILE[:world], or a folder with a world for each game."], opt.Option("world")
    ],
    rows: Annotated[tuple[Path, ...], "Files of rows: .jsonl or .jsonl.gz."],
    out: Output,
    *,
    strict: Annotated[bool, "Judge strictly."] = False,
    predictor: Annotated[str | None, "A program that answers in place of the world."] = None,
    reply_timeout: Annotated[float, "Seconds for one answer of it."] = 60.0,
    predictions: Annotated[Path | None, "A file of answers, in place of the world."] = None,
    questions: Annotated[Path | None, "Only write the questions that a predictor is asked."] = None,
    tasks: Annotated[str, "Some of act, env, score, step."] = "act,env,score,step",
    coverage: Annotated[bool, "Count how often each rule, require and branch was reached."] = False,
    score: Annotated[bool, "Rows of `tw runs rows`: how likely is each by the rules?"] = False,
) -> int:
    """Ask and tell. 0 where every answer is right by the scorer asked for, and every row usable.

    With ``coverage``, tell how often the rows reached each rule, require and branch of the worlds.
    """
    if score:
        return score_rows(target, rows, out)
    asked = wanted_tasks(tasks)
    if coverage and (predictor or predictions or questions):
        hint = "Ask for it where the world itself answers."
        raise usage("`--coverage` counts what the rules of the world do.", hint)
    games = games_of(target, measured=coverage)
    if not rows:
        hint = "Name files of recorded rows: `.jsonl`, or `.jsonl.gz`."
        raise Failure(Diagnostic("TW0001", "No file of rows is named.", hint=hint))
    if questions is not None:
        return _questions(games, rows, questions, asked, out)
    with ExitStack() as stack:
        answerer = _answerer(predictor, predictions, asked, reply_timeout, stack)
        found = Conforming(games, strictly=strict, answerer=answerer, tasks=asked, say=out.progress)
        found.take(rows_for(games, rows))
    for line in (*_report(found, strict), *unseen(games), *reached(games)):
        out.line(line)
    for tally in found.tallies.values():
        for bad in tally.bad_rows:
            out.note(f"{bad.place}: {bad.why}")
    if found.bad:
        out.note(f"{found.bad} row{' was' if found.bad == 1 else 's were'} skipped")
    elif not found.tallies:
        out.note("the files have no rows")
    if isinstance(answerer, FileAnswerer) and answerer.unused:
        out.note(f"{predictions}: {answerer.unused} answers are for none of these rows")
    reach = {game: one.to_json() for game, one in sorted(games.coverage.items())}
    told = {game: {"names": names, "rows": rows} for game, names, rows in games.unseen()}
    more = {"unseen": told, **({"coverage": reach} if coverage else {})}
    out.json({**_json(found, strict), **more})
    return EXIT_OK if found.right() else EXIT_NEGATIVE


def _answerer(
    command: str | None, file: Path | None, tasks: Sequence[Task], seconds: float, stack: ExitStack
) -> Answerer | None:
    if command is not None:
        if not seconds > 0:
            raise usage("A predictor needs time to answer.", "Give `--reply-timeout S` above 0.")
        pipe = PipeAnswerer(command, tasks, seconds)
        stack.callback(pipe.close)
        return pipe
    return None if file is None else FileAnswerer(file)


def _questions(
    games: Games, rows: Sequence[Path], file: Path, tasks: Sequence[Task], out: Output
) -> int:
    """Write what an answerer is asked, a line for each task of each row."""
    skipped = 0
    lines: list[str] = []
    for row in rows_for(games, rows):
        if isinstance(row, TextRow):
            lines += (json.dumps(question(row, task), ensure_ascii=False) for task in tasks)
        else:
            skipped += 1
            out.note(f"{row.place}: {row.why}")
    write_file(file, "".join(f"{line}\n" for line in lines), "Name a file that can be written.")
    out.line(f"{file}: {len(lines)} questions")
    out.json({"schema_version": 1, "questions": len(lines), "bad_rows": skipped})
    return EXIT_NEGATIVE if skipped else EXIT_OK


# ---- the report ------------------------------------------------------------------------------


def unseen(games: Games) -> Iterator[str]:
    """The rows that are right only if something held that no record shows."""
    for game, names, rows in games.unseen():
        named = " or ".join(f"`{name}`" for name in names)
        yield f"{game}: {counted(rows, 'row')} right only with {named}, which no record shows"


def reached(games: Games) -> Iterator[str]:
    """Yield the rules that the rows of each game reached, with counts, if they were measured."""
    for game, coverage in sorted(games.coverage.items()):
        yield from coverage.told(game, each=True)


def _known(found: Conforming) -> list[GameTally]:
    return [one for game, one in sorted(found.tallies.items()) if game != UNKNOWN]


def _report(found: Conforming, strictly: bool) -> Iterator[str]:
    games = _known(found)
    heads = "".join(f"{head:>24}" for head in ("changing something", "changing nothing"))
    columns = "".join(f"{head:>8}" for head in ("rows", "paper", "strict") * 2)
    yield f"{'':<36}{heads}"
    yield f"{'game':<24}{'task':<12}{columns}"
    for tally in games:
        for task in TASKS:
            both = [tally.counts.get((task, changing), Count()) for changing in (True, False)]
            if any(one.rows for one in both):
                yield f"{tally.game:<24}{_NAMES[task]:<12}{''.join(map(_cells, both))}"
    if len(games) > 1:
        yield from _averages(games)
    yield _total(found, games, strictly)
    for tally in games:
        for miss in tally.misses[:1]:
            yield from told(miss)


def _cells(count: Count) -> str:
    shares = (count.share(strictly=False), count.share(strictly=True))
    return f"{count.rows:>8}" + "".join(_percent(share) for share in shares)


def _percent(share: float | None) -> str:
    if share is None:
        return f"{'-':>8}"
    shown = f"{share:.1%}"
    return f"{'<100%' if shown == '100.0%' and share < 1 else shown:>8}"


def _averages(games: Sequence[GameTally]) -> Iterator[str]:
    for task in TASKS:
        shares = [
            average(games, task, dynamic=dynamic, strictly=strictly)
            for dynamic in (True, False)
            for strictly in (False, True)
        ]
        cells = "".join(
            f"{'':>8}{_percent(loose)}{_percent(exact)}"
            for loose, exact in (shares[:2], shares[2:])
        )
        yield f"{'mean of the games':<24}{_NAMES[task]:<12}{cells}"


def _total(found: Conforming, games: Iterable[GameTally], strictly: bool) -> str:
    rows = sum(one.rows for one in games)
    wrong = sum(one.wrong for one in games)
    scorer = "strictly" if strictly else "by the paper's scorer"
    bad = f", {counted(found.bad, 'row')} skipped" if found.bad else ""
    return f"{rows} rows, {wrong} wrong answers {scorer}{bad}"


def told(miss: Miss) -> Iterator[str]:
    """Yield one wrong answer: the recorded and the predicted values, and the rule."""
    yield ""
    yield f"{miss.place}: {_NAMES[miss.task]} of `{miss.action}`"
    if miss.how:
        yield f"  {miss.how}"
    if miss.fault:
        yield f"  {miss.fault}"
    for difference, rule in miss.differences[:_SHOWN]:
        yield f"  @ {_where(difference)}"
        yield f"  - {json.dumps(difference.wanted, ensure_ascii=False)}"
        yield f"  + {json.dumps(difference.found, ensure_ascii=False)}"
        yield f"    written by {rule}" if rule else "    no rule wrote it"
    more = len(miss.differences) - _SHOWN
    if more > 0:
        yield f"  and {more} more differences"


def _where(difference: Difference) -> str:
    owner = difference.name if difference.uuid is not None else "the state"
    return f"{owner}: {difference.what}" if difference.what else owner


# ---- json ------------------------------------------------------------------------------------


def _json(found: Conforming, strictly: bool) -> dict[str, object]:
    games = _known(found)
    return {
        "schema_version": 1,
        "ok": found.right(),
        "scorer": "strict" if strictly else "published",
        "bad_rows": found.bad,
        "games": [one.to_json() for one in games],
        "averages": {task: _means(games, task) for task in TASKS},
        "skipped": [fields_json(bad) for tally in found.tallies.values() for bad in tally.bad_rows],
        "misses": [_miss_json(miss) for tally in games for miss in tally.misses],
    }


def _means(games: Sequence[GameTally], task: Task) -> dict[str, dict[str, float | None]]:
    return {
        kind: {
            scorer: average(games, task, dynamic=dynamic, strictly=strictly)
            for scorer, strictly in (("published", False), ("strict", True))
        }
        for kind, dynamic in (("dynamic", True), ("static", False))
    }


def _miss_json(miss: Miss) -> dict[str, object]:
    differences = [{**fields_json(one), "rule": rule} for one, rule in miss.differences]
    return {**fields_json(miss, "differences"), "differences": differences}


# ---- asking, scoring and counting ----------------------------------------------------------------


KEPT: Final = 5
"""The number of bad rows, and of wrong answers, that are printed for each game."""


_PAIRS: Final = 4096
"""The most pairs of states whose comparison is kept."""


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
    """The counts of the rows of one game. ``counts`` by task and whether it changes something."""

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
        count = self.counts.setdefault((task, changes[task]), Count())
        exact = passes(row, task, answer, right, strictly=True)
        loose = exact or passes(row, task, answer, right, strictly=False)
        count.add(published=loose, strict=exact)
        if not (exact if strictly else loose):
            self.wrong += 1
            if len(self.misses) < KEPT:
                self.misses.append(_miss(row, task, answer))

    def _changing(self, row: TextRow) -> dict[Task, bool]:
        """Return whether each task changes something: by the paper's scorer, of the input as the
        answer."""
        act = self._differ(row.before.objects, row.acted.objects)
        env = self._differ(row.acted.objects, row.ticked.objects)
        score = row.score_before != row.score_after
        return {"act": act, "env": env, "score": score, "step": act or env or score}

    def _differ(self, one: Objects, other: Objects) -> bool:
        """Return whether one list of objects is no answer where the other is recorded; asked
        once."""
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
        """Return whether nothing is wrong by the scorer asked for."""
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


def _miss(row: TextRow, task: Task, answer: Answer) -> Miss:
    blamed = partial(Miss, row.place, task, row.action, answer.how())
    if answer.fault:
        return blamed((), answer.fault)
    found: list[Difference] = []
    if task != "score" and answer.objects is not None:
        target = wanted(row, task)
        found += unequal(answer.objects, answer.next_id, target.objects, target.next_id)
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
        """Return whether there were rows, all could be used, and no answer was wrong."""
        some = any(one.rows for one in self.tallies.values())
        fine = all(one.right(strictly=self._strictly) for one in self.tallies.values())
        return some and fine and self.bad == 0
