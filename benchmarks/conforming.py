"""``python -m benchmarks.conforming ROWS…``: the time of replaying recorded transitions, by part.

Every answer must be strictly right before a time counts. Each part is then done alone for all
rows, in CPU time, the least of several: reading the rows, resolving the words of the commands, the
ticks themselves, writing the states, counting; and the whole at once as ``tw conform`` does it,
which answers equal questions once and lets a state in which nothing was done tick once.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks.measure import WrongResultError
from tokenworld.engine.rows.live import Halves
from tokenworld.ground import Command, NoMatch
from tokenworld.verbs.conform import Conforming, GameTally, rows_for
from tokenworld.verbs.records.answers import Answer, Task
from tokenworld.verbs.records.replay import Games, Known, games_of
from tokenworld.verbs.records.rows import TextRow, lines_of, read_text_rows

S, T, U = TypeVar("S"), TypeVar("T"), TypeVar("U")


def main(arguments: list[str]) -> int:
    """Print the table; 1 if an answer is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.conforming", description=__doc__)
    parser.add_argument("rows", nargs="+", type=Path, help="Files of rows of one game.")
    parser.add_argument("--world", default="domains/textgames", help="The world, or their folder.")
    parser.add_argument("--times", type=int, default=5, help="The least of so many counts.")
    options = parser.parse_args(arguments)
    try:
        for line in report(games_of(options.world), options.rows, options.times):
            sys.stdout.write(f"{line}\n")
    except WrongResultError as error:
        sys.stderr.write(f"wrong result: {error}\n")
        return 1
    return 0


def report(games: Games, paths: Sequence[Path], times: int) -> Iterator[str]:
    """The parts and the total, in microseconds per row and rows per second."""
    whole = least(lambda: _conforming(games, paths), times)
    rows = [row for path in paths for row in read_text_rows(path) if isinstance(row, TextRow)]
    yield f"{len(rows)} rows, every answer right, strictly; the least of {times}, CPU time"
    yield f"{'':<24}{'µs a row':>10}{'rows a second':>16}"
    plain = least(lambda: _parsed(paths), times)
    parts = (("reading the rows", least(lambda: _read(paths), times)), *_parts(games, rows, times))
    for name, seconds in (*parts, ("all of it", whole), ("unpacking, json.loads", plain)):
        yield f"{name:<24}{seconds / len(rows) * 1e6:>10.1f}{len(rows) / seconds:>16,.0f}"
    yield f"all of it takes {whole / plain:.1f} times as long as unpacking and json.loads"


def least(work: Callable[[], object], times: int) -> float:
    """The least CPU time of several repetitions, in seconds."""
    found = []
    for _ in range(times):
        gc.collect()
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def _conforming(games: Games, paths: Sequence[Path]) -> None:
    found = Conforming(games, strictly=True)
    found.take(rows_for(games, paths))
    if not found.right():
        raise WrongResultError("the rows are not all answered rightly; see `tw conform --strict`")


def _parsed(paths: Sequence[Path]) -> None:
    """Unpack and parse the lines, and do nothing with them: what no reader can go below."""
    for path in paths:
        for line in lines_of(path):
            json.loads(line)


def _read(paths: Sequence[Path]) -> None:
    for path in paths:
        for _ in read_text_rows(path):
            pass


def _parts(games: Games, rows: Sequence[TextRow], times: int) -> Iterator[tuple[str, float]]:
    (game,) = {row.game for row in rows}
    one, tally = games.answerer(game), GameTally(game)
    known = [one.known(row) for row in rows]
    yield "resolving commands", least(lambda: _each(one.command, rows, known), times)
    commands = _each(one.command, rows, known)
    engine = one.world.engine

    def played(before: Known, command: Command | NoMatch) -> Halves:
        return engine.halves(before.state, command)

    yield "playing every tick", least(lambda: _each(played, known, commands), times)
    halves = _each(played, known, commands)
    acted, ended = [each.acted for each in halves], [each.after for each in halves]
    write = least(lambda: _each(one.written, acted, known), times)
    yield "writing every state", write + least(lambda: _each(one.written, ended, known), times)
    answers = [one.answers(row) for row in rows]

    def count(row: TextRow, answer: Mapping[Task, Answer]) -> None:
        tally.add(row, answer, strictly=True)

    yield "counting", least(lambda: _each(count, rows, answers), times)


def _each(work: Callable[[S, T], U], one: Sequence[S], other: Sequence[T]) -> list[U]:
    return list(map(work, one, other))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
