"""The long run: `python tests/robustness/run.py --n 20000 --seed 1`.

Gives damaged inputs to every verb that takes files, one kind after the other, in this process.
Prints each fault with the number of its input, keeps its files in `--keep`, and counts the kinds at
the end; 1 if there was a fault. `--only KIND` tries one kind alone. Memory is limited to 2 GiB.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from inputs import Inputs, made
from mutations import corpus
from verbs import KINDS, Box, try_input

GIB = 1 << 30
COLLECT = 100
"""Cycles are collected after so many inputs: `tw` leaves them to the end of its process, and here
one process runs thousands of commands."""


def main() -> int:
    options = _options()
    # Nothing that parses, checks, plays or plans a text of a few kilobytes needs more.
    resource.setrlimit(resource.RLIMIT_DATA, (2 * GIB, 2 * GIB))
    with tempfile.TemporaryDirectory(prefix="tw-robust-") as name:
        home = Path(name)
        os.environ["HOME"] = os.environ["TMPDIR"] = name
        tempfile.tempdir = name
        (home / "sound").mkdir()
        os.chdir(home)
        return _campaign(options, home, made(home / "sound"))


def _campaign(options: argparse.Namespace, home: Path, inputs: Inputs) -> int:
    kinds = KINDS if options.only is None else (options.only,)
    texts, begin, bad = corpus(), time.monotonic(), Counter[str]()
    done, spent = Counter[str](), Counter[str]()
    for number in range(options.start, options.start + options.n):
        faulthandler.dump_traceback_later(120, exit=True)
        kind = kinds[number % len(kinds)]
        folder = home / "box"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        dice = random.Random(f"{options.seed}/{number}/{kind}")
        before = time.monotonic()
        found, how = try_input(kind, Box(number, options.seed, dice, folder, inputs, texts))
        spent[kind] += time.monotonic() - before
        done[kind] += 1
        if found:
            bad[kind] += 1
            print(f"input {number}, {kind}: {how}\n  {'; '.join(found)}", flush=True)
            _keep(options, number, folder)
        if (number + 1) % COLLECT == 0:
            gc.collect()
        if (number + 1) % 1000 == 0:
            seconds = time.monotonic() - begin
            print(f"{number + 1} inputs, {bad.total()} with faults, {seconds:.0f} s, "
                  f"{_resident()} MB", flush=True)  # fmt: skip
    faulthandler.cancel_dump_traceback_later()
    for kind in kinds:
        print(f"  {done[kind]:6} {kind}: {bad[kind]} with faults, {spent[kind]:.1f} s")
    print(f"{options.n} inputs, {bad.total()} with faults")
    return 1 if bad else 0


def _resident() -> int:
    """The memory of this process in megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() >> 20


def _keep(options: argparse.Namespace, number: int, folder: Path) -> None:
    if options.keep:
        shutil.copytree(folder, options.keep / f"{options.seed}-{number}", dirs_exist_ok=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Damaged inputs against every verb.")
    parser.add_argument("--n", type=int, default=1000, help="how many inputs")
    parser.add_argument("--start", type=int, default=0, help="the number of the first one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=KINDS, default=None, help="this kind alone")
    parser.add_argument("--keep", type=lambda text: Path(text).resolve(), default=None,
                        help="a folder for what showed a fault")  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
