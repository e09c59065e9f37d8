"""`python -m benchmarks`: check that results agree, then print how fast they came.

`--planning` does so for families of worlds and all ways to plan on them, `--peers` beside other
programs, `--growth` against the number of objects, `--screen` a tick of `tw play` with its redraw.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.cases import check_times, play, search
from benchmarks.checking import editing
from benchmarks.exploring import exploring
from benchmarks.measure import WrongResultError, table


def main(arguments: list[str]) -> int:
    """Run what was asked for; 1 where two ways to one result differ, 2 for a wrong option."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if unknown := _unknown(options.peers or ()):
        parser.error(unknown)
    try:
        for line in _lines(options):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    except WrongResultError as error:
        sys.stderr.write(f"wrong result: {error}\n")
        return 1
    return 0


def _lines(options: argparse.Namespace) -> Iterator[str]:
    if options.planning:
        from benchmarks.planning import report

        return report()
    if options.peers is not None:
        return _peers(options)
    if options.growth:
        from benchmarks.growth import report as grown

        return grown(Path(options.out), options.seconds)
    if options.screen:
        from benchmarks.play_ticks import report as on_screen

        return on_screen()
    return _own()


def _own() -> Iterator[str]:
    rows = [*check_times(), *editing(), *play(), *search(), *exploring()]
    yield "results agree; CPU time, the least of three where nothing else is said"
    yield ""
    yield table(rows)


def _peers(options: argparse.Namespace) -> Iterator[str]:
    from benchmarks.peers.catalogue import Places
    from benchmarks.peers.results import RESULTS, Options, report

    places = Places(_folder(options.ipc), _folder(options.bytesized32))
    command = " ".join(
        (
            "python -m benchmarks --peers",
            *options.peers,
            *(() if places.ipc is None else ("--ipc DIR",)),
            *(() if places.bytesized32 is None else ("--bytesized32 DIR",)),
        )
    )
    whole = RESULTS if not options.peers else None
    target = Path(options.results) if options.results else whole
    return report(
        Options(tuple(options.peers), places, options.rounds, options.seconds, command, target)
    )


def _unknown(names: Sequence[str]) -> str:
    """What is wrong with the names of peers; empty if nothing is."""
    from benchmarks.peers.catalogue import PEERS

    known = [one.name for one in PEERS]
    unknown = [name for name in names if name not in known]
    return f"no such peer: {', '.join(unknown)}; there are {', '.join(known)}" if unknown else ""


def _folder(given: str | None) -> Path | None:
    return Path(given).resolve() if given else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--planning", action="store_true", help="families of worlds, every route")
    parser.add_argument(
        "--peers", nargs="*", metavar="NAME", help="beside other programs; all without a name"
    )
    parser.add_argument("--ipc", default=os.environ.get("TW_IPC"), help="folder of IPC problems")
    parser.add_argument(
        "--bytesized32", default=os.environ.get("TW_BYTESIZED32"), help="a checkout of ByteSized32"
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each measurement (3)")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="patience with an answer, in CPU seconds (60)"
    )
    parser.add_argument("--results", help="where `--peers` writes; RESULTS.md if all peers run")
    parser.add_argument("--growth", action="store_true", help="cost against the number of objects")
    parser.add_argument("--screen", action="store_true", help="a tick of `tw play` with redraw")
    parser.add_argument("--out", default="benchmarks", help="the folder that `--growth` writes to")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
