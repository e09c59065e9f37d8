"""CPU time of whole verbs before and after a change, over all worlds of `domains/`.

    python -m benchmarks.before_after --base COMMIT [--what VERB] [--rounds N] [WORLD …]

The program as of COMMIT is unpacked into the cache folder. Both programs answer
about each world alternately, each time in a new process; the time is that of the process and of
the planners it starts. Both read the same worlds and use stored bytecode. Answers are compared
first: a contradiction ends the run with 1, and no time of that world is printed. `check` and `test`
take each file. `conform` takes the text games with recorded rows, if `--rows` names these.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from typing import Protocol

from benchmarks.measure import WrongResultError
from benchmarks.peers.environments import unpacked

__all__ = [
    "Asked", "Program", "Side", "both", "contradiction", "main", "questions", "report", "times",
    "worlds",
]  # fmt: skip

_ROOT = Path(__file__).resolve().parent.parent
_MAIN = """
import sys
folder = sys.argv.pop(1)
import tokenworld
if not tokenworld.__file__.startswith(folder):
    sys.exit("another program was imported: " + tokenworld.__file__)
sys.argv[0] = "tw"
from tokenworld.cli import main
main()
"""
_ANSWERS = (0, 1, 3)
_TOLD = {"plan": "answer", "audit": "complete"}
"""A key that the answer to a verb has, unless the world cannot be read."""
_COMPARED = {"check": ("ok",), "test": ("passed", "failed"), "conform": ("ok",)}
"""The keys of an answer that must be equal. Runs may use another draw generator."""
_VERBS = ("check", "run", "plan", "audit", "test", "conform")
_RUN = ("--player", "random", "--ticks", "200", "--seed", "1")
_WORLD = re.compile(r"^world\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A verb with its options. The limit of an audit is a number of states, not time."""

    verb: str
    options: tuple[str, ...] = ()


class Program(Protocol):
    """The verbs that are measured on worlds."""

    def ask(self, asked: Asked, world: str) -> tuple[float, Mapping[str, object] | None]:
        """The CPU seconds of an answer, and the answer; ``None`` where there is none."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two programs: the folder that it is imported from, and that of its bytecode."""

    folder: Path
    bytecode: Path

    def warm(self, world: str) -> None:
        """Run once to write the bytecode, so that no measured call pays for it."""
        for verb in ("audit", "plan", "run", "test"):
            self.ask(Asked(verb), world)

    def ask(self, asked: Asked, world: str) -> tuple[float, Mapping[str, object] | None]:
        """The CPU seconds of an answer, and the answer; ``None`` where there is none."""
        command = [sys.executable, "-c", _MAIN, str(self.folder), asked.verb, world]
        before = getrusage(RUSAGE_CHILDREN)
        done = subprocess.run(
            [*command, *asked.options, *self._store(asked), "--json"],
            env=self._environment(),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        after = getrusage(RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return spent, json.loads(done.stdout) if done.returncode in _ANSWERS else None

    def _store(self, asked: Asked) -> tuple[str, ...]:
        """Use a separate run store if the verb records."""
        return ("--store", str(self.bytecode / "runs.sqlite")) if asked.verb == "run" else ()

    def _environment(self) -> Mapping[str, str]:
        """The environment of this process, with the program's modules and a folder for bytecode."""
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        paths = {"PYTHONPATH": str(self.folder), "PYTHONPYCACHEPREFIX": str(self.bytecode)}
        return {**kept, **paths}


def contradiction(verb: str, before: Mapping[str, object], after: Mapping[str, object]) -> str:
    """The contradictions between two answers; empty if they agree.

    *Unknown* contradicts nothing, and an incomplete audit is not compared.
    """
    names: tuple[str, ...] = _COMPARED.get(verb, ())
    if verb in _TOLD and not (_TOLD[verb] in before and _TOLD[verb] in after):
        return "one of them cannot read the world"
    if verb == "audit":
        whole = before["complete"] and after["complete"]
        before, after = _counted(before), _counted(after)
        names = ("states", "cruelty") if whole else ()
    elif verb == "plan":
        given = [before["answer"], after["answer"]]
        names = () if "unknown" in given else ("answer",)
        best = before["optimal"], after["optimal"]
        if before["answer"] == after["answer"] == "winnable" and best[0] == best[1] is not None:
            names += ("ticks",) if best[0] == "ticks" else ("cost",)
    return "; ".join(
        f"{name}: {before[name]} and {after[name]}" for name in names if before[name] != after[name]
    )


def _counted(audit: Mapping[str, object]) -> Mapping[str, object]:
    """An audit without the number of edges, because `pass` without effect is no longer listed."""
    states = audit["states"]
    kept = {k: v for k, v in states.items() if k != "edges"} if isinstance(states, dict) else states
    return {**audit, "states": kept}


def worlds(folder: Path) -> Iterator[tuple[str, str]]:
    """The worlds below a folder: a short name, and the argument for `tw`."""
    for file in sorted(folder.rglob("*.tw")):
        for name in _WORLD.findall(file.read_text("utf-8")):
            yield f"{file.relative_to(folder)}:{name}", f"{file}:{name}"


def files(folder: Path) -> Iterator[tuple[str, str]]:
    """The files below a folder."""
    for file in sorted(folder.rglob("*.tw")):
        yield str(file.relative_to(folder)), str(file)


def report(
    old: Program, new: Program, asked: Asked, found: Sequence[tuple[str, str]], rounds: int
) -> Iterator[str]:
    """A line for each world and one for all. Raises `WrongResultError` if answers contradict."""
    befores, afters, left_out = list[float](), list[float](), list[str]()
    yield f"| `tw {' '.join((asked.verb, *asked.options))}` | before, s | after, s | times faster |"
    yield "|---|---|---|---|"
    for name, target in found:
        spent = times(old, new, asked, name, target, rounds)
        if spent is None:
            left_out.append(name)
            continue
        before, after = spent
        befores.append(before)
        afters.append(after)
        yield f"| {name} | {before:.2f} | {after:.2f} | {before / after:.1f} |"
    if befores:
        yield _total(f"all {len(befores)}", sum(befores), sum(afters))
        count, least = len(befores), (min(befores), min(afters))
        rest = sum(befores) - count * least[0], sum(afters) - count * least[1]
        name = f"without what the quickest takes ({least[0]:.2f} and {least[1]:.2f} s each)"
        yield _total(name, *rest)
    if left_out:
        yield f"\nNot in both: {', '.join(left_out)}"


def _total(name: str, before: float, after: float) -> str:
    return f"| **{name}** | {before:.1f} | {after:.1f} | **{before / max(after, 0.01):.1f}** |"


def times(
    old: Program, new: Program, asked: Asked, name: str, target: str, rounds: int
) -> tuple[float, float] | None:
    """The medians of both sides; ``None`` if one of them has no answer."""
    befores, afters = list[float](), list[float]()
    for _ in range(rounds):
        before, first = old.ask(asked, target)
        if first is None:
            return None
        after, second = new.ask(asked, target)
        if second is None:
            raise WrongResultError(f"{name}: there was an answer before, and there is none now")
        if wrong := contradiction(asked.verb, first, second):
            raise WrongResultError(f"{name}: {wrong}")
        befores.append(before)
        afters.append(after)
    return median(befores), median(afters)


def main(arguments: Sequence[str]) -> int:
    """Compare the two programs; 1 if answers contradict each other."""
    options = _parser().parse_args(arguments)
    folder, rows = Path(options.folder).resolve(), [Path(one).resolve() for one in options.rows]

    def wanted(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        return [p for p in pairs if not options.worlds or any(w in p[0] for w in options.worlds)]

    every = questions(folder, rows, options.states)
    verbs = {verb: (asked, wanted(found)) for verb, asked, found in every}
    with tempfile.TemporaryDirectory(prefix="tw-before-") as made:
        sides = both(options.base, Path(made).resolve())
        sys.stdout.write(f"before: {options.base}; CPU time, planners that are started included\n")
        try:
            for verb in (options.what,) if options.what else verbs:
                for line in report(*sides, *verbs[verb], options.rounds):
                    sys.stdout.write(f"{line}\n")
                    sys.stdout.flush()
        except WrongResultError as error:
            sys.stderr.write(f"wrong result: {error}\n")
            return 1
    return 0


def questions(
    folder: Path, rows: Sequence[Path], states: int
) -> Iterator[tuple[str, Asked, list[tuple[str, str]]]]:
    """Each verb with its options and arguments: the files or the worlds of a folder.

    ``states`` is the limit of an audit. Without ``rows`` `conform` is left out.
    """
    of_files, of_worlds = list(files(folder)), list(worlds(folder))
    capped = ("--states", str(states), "--time-limit", "36000")
    yield "check", Asked("check"), of_files
    yield "run", Asked("run", _RUN), of_worlds
    yield "plan", Asked("plan"), of_worlds
    yield "audit", Asked("audit", capped), of_worlds
    yield "test", Asked("test"), of_files
    if rows:
        games = [("textgames", str(folder / "textgames"))]
        yield "conform", Asked("conform", tuple(map(str, rows))), games


def both(commit: str, place: Path) -> tuple[Side, Side]:
    """The program of a commit and the present one; ``place`` stores their bytecode.

    Raises `SetupError` if git does not have the commit.
    """
    sides = Side(unpacked(commit), place / "before"), Side(_ROOT, place / "after")
    for side in sides:
        side.warm(str(_ROOT / "domains" / "blocks" / "world.tw"))
    return sides


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.before_after", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("worlds", nargs="*", metavar="WORLD", help="a part of the names; all")
    parser.add_argument("--base", required=True, help="the commit before the change")
    parser.add_argument("--what", choices=_VERBS, help="one verb alone; all")
    parser.add_argument("--rounds", type=int, default=1, help="rounds; medians are told (1)")
    parser.add_argument("--states", type=int, default=5000, help="the cap of an audit (5000)")
    parser.add_argument(
        "--rows", nargs="*", default=(), help="recorded rows of the text games, for conform"
    )
    parser.add_argument("--folder", default=str(_ROOT / "domains"), help="where the worlds are")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
