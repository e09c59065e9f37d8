"""``tw bench bytesized32``: check that worlds start, run and end as games of ByteSized32 should.

Of each world: it starts and has goals and actions; random play meets no error; each goal that it
has is winnable, by a plan that is replayed; not trivially, that is not at the start and not by
waiting; and it uses the objects of its task: without one of those that the plan handles it is
proved unwinnable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from tokenworld.assets import domains_folder
from tokenworld.diagnostics import Failure, counted, in_seconds
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.engine.rows.commit import remove_object
from tokenworld.engine.rows.stepper import Tick
from tokenworld.ground import PASS, STATUSES
from tokenworld.model import ObjectType
from tokenworld.planning.proof.relaxed import out_of_reach
from tokenworld.planning.verdict import Verdict
from tokenworld.session import OpenWorld, open_world
from tokenworld.session.rollouts import rollout
from tokenworld.session.solving import solve
from tokenworld.verbs import options as opt
from tokenworld.verbs.bench.report import BYTESIZED32 as PUBLISHED
from tokenworld.verbs.bench.report import PAPER, Author, publish, share
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output, tw_files
from tokenworld.verbs.pages import Section

_RUNS: Final = 5
_TICKS: Final = 100
"""Random play: the number of runs, and of ticks in each."""
_ERROR: Final = STATUSES.index("error")
CHECKS: Final = ("starts", "actions", "runs", "winnable", "not trivially", "needs its objects")


@dataclass(frozen=True, slots=True)
class Game:
    """A world and the checks that it passes. ``needed`` is an object without which it is proved
    unwinnable; ``note`` says why a check failed."""

    name: str
    passed: frozenset[str]
    ticks: int | None = None
    needed: str | None = None
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        checks = {one.replace(" ", "_"): one in self.passed for one in CHECKS}
        return {"name": self.name, **checks, "ticks": self.ticks, "needed": self.needed,
                "note": self.note}  # fmt: skip


def bytesized32(
    path: Annotated[Path | None, "A folder of worlds; those of the package by default."],
    out: Output,
    *,
    author: Author,
    seconds: Annotated[float, "Seconds of each search."] = 30.0,
    output: opt.Page = None,
) -> int:
    """Check the worlds of a folder, or of predictions; return 1 if a bundled one fails a check.

    Without a folder, check the 32 bundled worlds: the ceiling. ``seconds`` bound the
    search for each plan, and a third of them the proofs that its objects are needed.
    """
    folder = author.predictions or path or domains_folder() / "textgames"
    files, say = tw_files((str(folder),)), out.each_second()
    games: list[Game] = []
    for number, file in enumerate(files, start=1):
        name = file.parent.name if file.name == "world.tw" else file.stem
        say(f"{number} of {len(files)}: {name}")
        games.append(_checked(name, file, seconds))
    sections = [_summary(games, author), _each(games)]
    told = {
        "ok": True, "benchmark": "bytesized32", "path": str(folder),
        "author": author.to_json(),
        "games": [one.to_json() for one in games], "published": {PAPER: PUBLISHED},
    }  # fmt: skip
    publish("ByteSized32", sections, told, out, output)
    whole = all(len(one.passed) == len(CHECKS) for one in games)
    return EXIT_OK if whole or not author.is_engine else EXIT_NEGATIVE


# ---- one game -----------------------------------------------------------------------------------


def _checked(name: str, file: Path, seconds: float) -> Game:
    try:
        opened = open_world(file)
        return _played(name, opened, seconds)
    except Failure as failure:
        first = failure.diagnostics[0]
        return Game(name, frozenset(), note=f"{first.code} {first.message}")


def _played(name: str, opened: OpenWorld, seconds: float) -> Game:
    engine, notes = opened.engine, list[str]()
    state = engine.start()
    passed = {"starts"} if opened.world.goals else set()
    if not passed:
        notes.append("it has no goal")
    if any(not one.is_pass for one in EngineSimulator(engine, state).commands(state)):
        passed.add("actions")
    played = rollout(opened, worlds=_RUNS, ticks=_TICKS)
    faults = sum(int(one[_ERROR]) for one in played.statuses)
    if faults:
        notes.append(counted(faults, "error") + " in random play")
    else:
        passed.add("runs")
    if not opened.world.goals:
        return Game(name, frozenset(passed), note="; ".join(notes))
    verdict = solve(engine, state, None, time_limit=seconds)
    if verdict.answer != "winnable":
        notes.append(f"{verdict.answer} in {in_seconds(seconds)}")
        return Game(name, frozenset(passed), note="; ".join(notes))
    passed.add("winnable")
    if _by_itself(engine, state, verdict.ticks or 0):
        notes.append("won without a command")
    else:
        passed.add("not trivially")
    needed = next(_needed(engine, state, verdict, seconds), None)
    if needed is not None:
        passed.add("needs its objects")
    else:
        notes.append("no object of the plan is proved to be needed")
    return Game(name, frozenset(passed), verdict.ticks, needed, "; ".join(notes))


def _by_itself(engine: Engine, state: State, ticks: int) -> bool:
    """Return whether the world is won at the start or by waiting as long as the plan takes."""
    for _ in range(ticks + 1):
        if EngineSimulator(engine, state).won(state, None):
            return True
        if engine.over(state):
            return False
        state, _ = engine.play(state, PASS)
    return False


def _needed(engine: Engine, state: State, verdict: Verdict, seconds: float) -> Iterator[str]:
    """Yield each type of the plan's objects whose removal is proved to make the goal unreachable.

    First the types whose absence makes the goal unreachable even without deletions, a fast test;
    then by searches, with a third of ``seconds`` for all of them.
    """
    simulator = EngineSimulator(engine, state)
    handled = _handled(engine, state, verdict)
    without = {
        shown: simulator.made(state, partial(_remove, numbers=numbers))
        for shown, numbers in handled.items()
    }
    for shown, start in without.items():
        if out_of_reach(EngineSimulator(engine, start), start, verdict.goal) is not None:
            yield shown
    for shown, start in without.items():
        found = solve(engine, start, None, time_limit=seconds / 3 / len(without))
        if found.answer == "unwinnable":
            yield shown


def _remove(tick: Tick, numbers: Sequence[int]) -> None:
    for number in numbers:
        remove_object(tick.row, number)


def _handled(engine: Engine, state: State, verdict: Verdict) -> dict[str, list[int]]:
    """Map each object or type that a plan's commands name to all objects of that type.

    Actors and objects that the plan creates are left out.
    """
    actions = engine.instance.program.actions
    found: dict[str, list[int]] = {}
    for step in verdict.steps:
        params = () if step.command.is_pass else actions[step.command.action].params
        for param, value in zip(params, step.command.args, strict=True):
            if not isinstance(param.type, ObjectType) or not isinstance(value, int):
                continue
            if value < len(state.names) and value not in state.actors:
                kind = state.kinds[value]
                alike = [one for one, other in enumerate(state.kinds) if other == kind]
                found[state.names[value] if len(alike) == 1 else f"every {kind}"] = alike
    return found


# ---- tables -------------------------------------------------------------------------------------


def _summary(games: Sequence[Game], author: Author) -> Section:
    cells = [share(sum(one in game.passed for game in games), len(games)) for one in CHECKS]
    rows = (
        (author.shown("worlds of the package"), *cells, "–", author.paid),
        (PAPER, "–", "–", f"{PUBLISHED['runnable']:.1%}", f"{PUBLISHED['winnable']:.1%}", "–", "–",
         f"{PUBLISHED['alignment']:.1%}", "–"),
    )  # fmt: skip
    intro = (
        f"{counted(len(games), 'world')}, with intervals of 95 %. *Starts*, *actions* and *runs* "
        "do not tell worlds apart: the checker refuses what would crash. *Winnable* is proved by a "
        "plan that is replayed. *Not trivially*: not at the start, and not by waiting. *Needs its "
        "objects*: without one of the objects that the plan handles it is proved unwinnable. The "
        "paper lets a model play, and a model judge the alignment with the task."
    )
    heads = ("who", *CHECKS, "alignment", "cost")
    return Section("ByteSized32", intro, heads, rows)


def _each(games: Sequence[Game]) -> Section:
    heads = ("world", "checks passed", "ticks of the plan", "needs", "note")
    rows = tuple(
        (one.name, f"{len(one.passed)} of {len(CHECKS)}",
         "–" if one.ticks is None else f"{one.ticks}", one.needed or "–", one.note)
        for one in games
    )  # fmt: skip
    return Section("Each world", "The worlds in the order of their names.", heads, rows)
