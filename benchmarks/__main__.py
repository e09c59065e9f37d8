"""`python -m benchmarks` measures V1 to V9, each beside another program or commit.

`--check` compares results and measures nothing. `--planning` compares all ways to plan on families
of worlds, `--coverage`, or `--ipc DIR` alone, compares `tw plan` with other planners on PDDL,
`--growth` plots cost against the number of objects, `--screen` times a tick of `tw play` with its
redraw, `--learn` proposes rules from recorded rows and judges them on others, and measures what is
learned of Crafter beside OneLife.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from benchmarks.measure import WrongResultError
from benchmarks.peers.environments import PEERS
from benchmarks.speed.options import BASE, Options
from benchmarks.speed.report import PARTS, RESULTS, install, report

POINTS = ("2", "4", "5", "5b", "6", "7")
"""What `--learn` measures: exactness, fits, proposals (text games; Crafter), ranking, plans."""
_SIZES = (
    ("trials", 10, "trials of the ranking"),
    ("steps", 400, "steps of the episode that laws are learned from"),
    ("episode", 1, "the seed of that episode"),
    ("seeds", 5, "fits"),
    ("transitions", 2_000, "transitions of a fit"),
    ("area", 24, "tiles of a side of the maps of fits"),
    ("runs", 40, "runs of a plan"),
)


def main(arguments: list[str]) -> int:
    """Run the selected measurements; 1 if two ways to one result differ, 2 for a wrong option."""
    parser = _parser()
    options = parser.parse_args(arguments)
    options.coverage = options.coverage or _only_ipc(options, arguments)
    parts = [] if options.learn or options.coverage else options.parts
    for given, known in ((parts, PARTS), (options.peers or (), PEERS)):
        if unknown := [name for name in given if name not in known]:
            parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(known)}")
    try:
        for line in _lines(options, arguments):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    except WrongResultError as error:
        sys.stderr.write(f"wrong result: {error}\n")
        return 1
    return 0


def _only_ipc(options: argparse.Namespace, arguments: list[str]) -> bool:
    """Return whether PDDL is all that is named: neither a V nor another measurement."""
    given = {one.partition("=")[0] for one in arguments if one.startswith("--")}
    return not options.parts and "--ipc" in given and given <= {"--ipc", "--seconds"}


def _lines(options: argparse.Namespace, arguments: list[str]) -> Iterator[str]:
    if options.check:
        from benchmarks.checks import report as checked

        return checked()
    if options.planning:
        from benchmarks.planning import report as planned

        return planned()
    if options.coverage:
        from benchmarks.coverage import report as covered

        folder = _folder(options.ipc)
        if folder is None:
            raise WrongResultError("name the folder of IPC problems with `--ipc DIR`")
        return covered(folder, options.parts, options.seconds)
    if options.growth:
        from benchmarks.growth import report as grown

        return grown(Path(options.out), options.growth_seconds)
    if options.screen:
        from benchmarks.play_ticks import report as on_screen

        return on_screen()
    if options.learn:
        return _learned(options)
    return _measured(options, arguments)


def _learned(options: argparse.Namespace) -> Iterator[str]:
    """The chosen points of Crafter, and the text games where their rows are at hand."""
    from benchmarks.learning import report as learned

    names = [one for one in options.parts if one not in POINTS]
    points = [one for one in options.parts if one in POINTS]
    folder = _folder(options.bytesized32)
    if points or not names:
        if find_spec("crafter") is None:
            raise WrongResultError("Crafter is not there: `pip install 'token-world[crafter]'`")
        from benchmarks.onelife.report import Sizes, crafter_parts

        sizes = Sizes(
            trials=options.trials, steps=options.steps, episode=options.episode,
            seeds=options.seeds, transitions=options.transitions, area=options.area,
            runs=options.runs,
        )  # fmt: skip
        yield from crafter_parts(tuple(points or POINTS), sizes)
    if names or (folder is not None and (not points or "5" in points)):
        yield from learned(folder, names, options.rows)


def _measured(options: argparse.Namespace, arguments: list[str]) -> Iterator[str]:
    if options.peers is not None:
        yield from install(options.peers)
    given = Options(
        options.rounds, options.seconds, options.base,
        _folder(options.ipc), _folder(options.bytesized32),
    )  # fmt: skip
    whole = None if options.parts else RESULTS
    target = Path(options.results) if options.results else whole
    command = " ".join(("python -m benchmarks", *map(_named, arguments)))
    yield from report(options.parts, given, command, options.note, target)


def _named(argument: str) -> str:
    """An argument as the page shows it, without the path of a local folder."""
    return "DIR" if os.sep in argument else f"'{argument}'" if " " in argument else argument


def _folder(given: str | None) -> Path | None:
    return Path(given).resolve() if given else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="V", help=f"of {', '.join(PARTS)}; all")
    parser.add_argument("--check", action="store_true", help="check results; measure nothing")
    parser.add_argument(
        "--peers", nargs="*", metavar="NAME", help="first install these peers; all without a name"
    )
    parser.add_argument("--base", default=BASE, help=f"the earlier commit of V1 to V3 ({BASE})")
    parser.add_argument("--ipc", default=os.environ.get("TW_IPC"), help="folder of IPC problems")
    parser.add_argument(
        "--bytesized32",
        default=os.environ.get("TW_BYTESIZED32"),
        help="folder of recorded rows of the text games, GAME.jsonl.gz",
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each measurement (3)")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="patience with an answer, in CPU seconds (60)"
    )
    parser.add_argument("--results", help="where the page is written; RESULTS.md for all parts")
    parser.add_argument("--note", default="", help="what the page says about the machine")
    parser.add_argument("--planning", action="store_true", help="families of worlds, every route")
    parser.add_argument(
        "--coverage", action="store_true", help="`tw plan` and other planners on IPC problems"
    )
    parser.add_argument("--growth", action="store_true", help="cost against the number of objects")
    parser.add_argument("--growth-seconds", type=float, default=60.0, help="patience with a size")
    parser.add_argument("--out", default="benchmarks", help="the folder that `--growth` writes to")
    parser.add_argument(
        "--learn",
        action="store_true",
        help=f"learning: V of {', '.join(POINTS)}, or text games",
    )
    for name, number, what in _SIZES:
        parser.add_argument(f"--{name}", type=int, default=number, help=f"of `--learn`: {what}")
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[50, 200, 1_000, 0], help="of `--learn`; 0: all"
    )
    parser.add_argument("--screen", action="store_true", help="a tick of `tw play` with redraw")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
