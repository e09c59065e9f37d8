"""``tw conform``: does a world, or anybody else, answer recorded transitions rightly?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, fields_json, usage
from tokenworld.verbs.conform.answers import (
    TASKS,
    Answerer,
    Difference,
    FileAnswerer,
    PipeAnswerer,
    Task,
    question,
    wanted_tasks,
)
from tokenworld.verbs.conform.replay import Games, games_of
from tokenworld.verbs.conform.rows import TextRow
from tokenworld.verbs.conform.tally import (
    UNKNOWN,
    Conforming,
    Count,
    GameTally,
    Miss,
    average,
    rows_for,
)
from tokenworld.verbs.files import write_file
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output

__all__ = ["conform"]


_NAMES = {"act": "F_act", "env": "F_env", "score": "F_R", "step": "whole step"}
_SHOWN = 3
"""How many differences of one wrong answer are printed."""


def conform(
    target: str,
    rows: Sequence[Path],
    out: Output,
    *,
    strict: bool = False,
    predictor: str | None = None,
    reply_timeout: float = 60.0,
    predictions: Path | None = None,
    questions: Path | None = None,
    tasks: str = "act,env,score,step",
) -> int:
    """Ask and tell. 0 where every answer is right by the scorer asked for, and every row usable."""
    asked = wanted_tasks(tasks)
    games = games_of(target)
    if not rows:
        hint = "Name files of recorded rows: `.jsonl`, or `.jsonl.gz`."
        raise Failure(Diagnostic("TW0001", "No file of rows is named.", hint=hint))
    if questions is not None:
        return _questions(games, rows, questions, asked, out)
    with ExitStack() as stack:
        answerer = _answerer(predictor, predictions, asked, reply_timeout, stack)
        found = Conforming(games, strictly=strict, answerer=answerer, tasks=asked, say=out.progress)
        found.take(rows_for(games, rows))
    for line in _report(found, strict):
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
    out.json(_json(found, strict))
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
            yield from _told(miss)


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
    bad = f", {found.bad} row{'' if found.bad == 1 else 's'} skipped" if found.bad else ""
    return f"{rows} rows, {wrong} wrong answers {scorer}{bad}"


def _told(miss: Miss) -> Iterator[str]:
    """One wrong answer, as a difference: what was recorded, what came out, and by which rule."""
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
