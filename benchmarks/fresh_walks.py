"""Walks through the original text games: do our worlds reproduce every step of them?

    python -m benchmarks.fresh_walks --games DIR [GAME …] --seeds 30 --steps 40 [-o OUT]

``DIR`` holds the public programs, ``GAME.py`` each; they are read in place and never copied. Every
row is judged strictly, and for each game every rule and branch is named with the number of times
that it fired, and those that no row reaches. ``-o`` keeps the rows, which ``tw conform`` replays.
For each seed three walkers play, each from the start that the program draws for that seed:

* ``uniform`` draws a verb, then a command of that verb, and stops when the game ends;
* ``changing`` tries up to eight drawn commands and takes the first that changes the state;
* ``after`` walks as ``uniform``, and goes on after the end of the game.

``--fixed`` starts every walk in the start that the program itself uses. ``--walkthroughs`` names a
folder of published walkthroughs, ``GAME-playthrough.txt`` each: one more walk for each game follows
its lines ``> COMMAND`` from that start. They reach what random commands seldom do.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TextIO

from tokenworld.verbs.conform import Conforming, GameTally, told, unseen
from tokenworld.verbs.records.replay import Games, games_of
from tokenworld.verbs.records.rows import BadRow, RowReader, TextRow
from tokenworld.verbs.simbench.making import WALKERS, Walker, drawn_command

__all__ = ["Program", "Walk", "judged", "main", "programs", "report", "walk"]

HIDDEN_ROOT: Final = ("metal-detector", "space-walk", "sunburn")
"""Games whose records omit the root."""
_NUMBER: Final = re.compile(r" \(ID: \d+\)")
Row = dict[str, object]


@dataclass(frozen=True)
class Program:
    """The public program of a game, loaded from its file."""

    name: str
    module: ModuleType

    def start(self, seed: int | None) -> Any:
        """A new game; without a seed, the one that the program itself starts."""
        return self.module.TextGame(randomSeed=self.module.randomSeed if seed is None else seed)

    def state(self, game: Any, action: str) -> Row:
        """A state in the form of the rows: the objects in pre-order, and the next free number."""
        listed = [] if self.name in HIDDEN_ROOT else [game.rootObject]
        listed.extend(game.rootObject.getAllContainedObjectsRecursive())
        objects = [
            {
                "name": one.name,
                "uuid": one.uuid,
                "type": type(one).__name__,
                "properties": copy.deepcopy(one.properties),
                "contains": [inner.name for inner in one.contains],
            }
            for one in listed
        ]
        told = {"observation": "", "look": "", "inventory": "", "lastAction": action}
        return {
            **told, "taskDesc": game.getTaskDescription(), "objects": objects,
            "max_UUID": self.module.UUID,
        }  # fmt: skip

    def commands(self, game: Any) -> dict[str, list[str]]:
        """The commands that the program offers, by their first word."""
        verbs: dict[str, list[str]] = {}
        for offered in game.generatePossibleActions():
            verbs.setdefault(offered.split()[0], []).append(offered)
        return verbs

    def changes(self, game: Any, action: str) -> bool:
        """Return whether a command changes the recorded state, tried on a copy of the game."""
        counter, before = self.module.UUID, _shown(self.state(game, ""))
        try:
            tried = copy.deepcopy(game)
            tried.step_action(action)
            return _shown(self.state(tried, "")) != before
        except Exception:
            return False  # the program itself fails at this command
        finally:
            self.module.UUID = counter


def _shown(state: Row) -> str:
    return json.dumps(state, default=str)


def score_of(game: Any) -> Row:
    """The score state of the rows."""
    return {"score": game.score, "gameOver": game.gameOver, "gameWon": game.gameWon}


def programs(folder: Path, names: Sequence[str] = ()) -> Iterator[Program]:
    """The programs of a folder; without names, all of them in order."""
    for name in names or sorted(path.stem for path in folder.glob("*.py")):
        path, module = folder / f"{name}.py", ModuleType(name.replace("-", "_"))
        sys.modules[module.__name__] = module  # so that games can be copied
        exec(compile(_for_this_python(path.read_text("utf-8")), path, "exec"), module.__dict__)
        yield Program(name, module)


def _for_this_python(text: str) -> str:
    """One program nests the same quotes in a format, which Python knows since 3.12."""
    nested = re.compile(r"""(f"[^"'\n]*\{[\w.]+\[)"(\w+)"(\])""")
    return nested.sub(r"\1'\2'\3", text)


@dataclass(frozen=True)
class Walk:
    """One walk: who walks, from which seed, and for how many steps at most."""

    walker: Walker
    seed: int
    steps: int
    fixed: bool = False
    script: tuple[str, ...] = ()
    """The commands to give, the numbers of objects left out; otherwise they are drawn."""


def walk(program: Program, asked: Walk) -> list[Row]:
    """The rows of one walk. It ends early where the program itself fails at a command."""
    chosen = random.Random(f"{program.name} {asked.walker} {asked.seed}")
    game = program.start(None if asked.fixed else asked.seed)
    rows: list[Row] = []
    action = ""
    while len(rows) < asked.steps and (asked.walker == "after" or not game.gameOver):
        before, score = program.state(game, action), score_of(game)
        changes, offered = partial(program.changes, game), program.commands(game)
        if asked.script:
            action = meant(asked.script[len(rows)], offered)
        else:
            action = drawn_command(offered, changes, asked.walker, chosen)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                game.step_action(action)
                acted = program.state(game, action)
                game.step_tick()
                ticked = program.state(game, action)
                game.step_calculate_score()
        except Exception as error:
            sys.stderr.write(f"{program.name}: `{action}` ends the program: {error!r}\n")
            return rows
        rows.append({
            "game": program.name, "state_id": len(rows), "current_state": before,
            "action_state": acted, "tick_state": ticked, "current_score_state": score,
            "next_score_state": score_of(game),
        })  # fmt: skip
    return rows


def meant(words: str, offered: Mapping[str, Sequence[str]]) -> str:
    """The first offered command that has these words without the numbers of objects; the words
    themselves where there is none."""
    every = (one for verb in offered.values() for one in verb)
    return next((one for one in every if words in (one, _NUMBER.sub("", one))), words)


def walkthroughs(folder: Path | None, name: str) -> Iterator[Walk]:
    """The walk along the published walkthrough of a game, where the folder has one."""
    for path in () if folder is None else sorted(folder.glob("*-playthrough.txt")):
        if path.stem.removesuffix("-playthrough").replace("-", "") == name.replace("-", ""):
            script = tuple(re.findall(r"^> *(.+?) *$", path.read_text("utf-8"), re.MULTILINE))
            yield Walk("after", 0, len(script), fixed=True, script=script)


def judged(program: Program, asked: Sequence[Walk], games: Games, file: TextIO | None) -> GameTally:
    """What becomes of the rows of these walks by the world of the game; a copy goes to a file."""

    def rows() -> Iterator[TextRow | BadRow]:
        reader = RowReader()
        for one in asked:
            for number, row in enumerate(walk(program, one), start=1):
                line = json.dumps(row)
                if file is not None:
                    file.write(f"{line}\n")
                walker = "walkthrough" if one.script else f"{one.walker}, seed {one.seed}"
                yield reader.row(f"{walker}, step {number}", line)

    found = Conforming(games, strictly=True)
    found.take(rows())
    return found.tallies.get(program.name) or GameTally(program.name)


def report(tally: GameTally, games: Games) -> Iterator[str]:
    """The counts of one game, its first mistakes, and how often its rules and branches fired."""
    yield f"{tally.game}: {tally.rows} rows, {tally.wrong} wrong answers, {tally.bad} skipped"
    yield from (f"  {bad.place}: {bad.why}" for bad in tally.bad_rows)
    for miss in tally.misses:
        yield from told(miss)
    if tally.game in games.coverage:
        yield from games.coverage[tally.game].told(tally.game, each=True)


def main() -> int:
    """Walk, judge and print, game by game; 1 if an answer is wrong, or a row is skipped."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="GAME")
    parser.add_argument("--games", dest="folder", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--walkers", nargs="+", choices=WALKERS, default=WALKERS)
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--walkthroughs", type=Path, help="a folder of published walkthroughs")
    parser.add_argument("--worlds", default="domains/textgames", help="their folder")
    parser.add_argument("-o", "--output", type=Path, help="a folder: keep the rows of each game")
    asked = parser.parse_args()
    games, right = games_of(asked.worlds, measured=True), True
    for program in programs(asked.folder, asked.names):
        if program.name not in games:
            sys.stderr.write(f"{program.name}: `{asked.worlds}` has no world for it\n")
            right = False
            continue
        seeds = range(asked.first, asked.first + asked.seeds)
        walks = [Walk(one, seed, asked.steps, asked.fixed) for seed in seeds
                 for one in asked.walkers]  # fmt: skip
        walks.extend(walkthroughs(asked.walkthroughs, program.name))
        with contextlib.ExitStack() as stack:
            file = None
            if asked.output is not None:
                asked.output.mkdir(parents=True, exist_ok=True)
                path = asked.output / f"{program.name}.jsonl"
                file = stack.enter_context(path.open("w", encoding="utf-8"))
            tally = judged(program, walks, games, file)
        for line in (
            *report(tally, games),
            *(one for one in unseen(games) if one.startswith(f"{program.name}:")),
        ):
            sys.stdout.write(f"{line}\n")
        right = right and tally.right(strictly=True) and not tally.bad and tally.rows > 0
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
