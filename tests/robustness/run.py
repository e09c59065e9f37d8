"""The long run: `python tests/robustness/run.py --n 50000 --seed 1`.

Feeds mutants of the project's programs to `check`, `fmt` and `run`. Prints each fault with the
number of its mutant and keeps its bytes in `--keep`; 1 if there was one. Memory is limited to
1 GiB.
"""

from __future__ import annotations

import argparse
import faulthandler
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutations import corpus, mutant
from probe import faults

GIB = 1 << 30


def main() -> int:
    options = _options()
    # Nothing that parses, checks or runs a text of a few kilobytes needs a gibibyte.
    resource.setrlimit(resource.RLIMIT_DATA, (GIB, GIB))
    texts = corpus()
    begin, bad = time.monotonic(), 0
    for number in range(options.start, options.start + options.n):
        faulthandler.dump_traceback_later(120, exit=True)
        data = mutant(texts, options.seed, number)
        found = faults(data)
        for fault in found:
            print(f"mutant {number}: {fault}", flush=True)
        if found:
            bad += 1
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{options.seed}-{number}.tw").write_bytes(data)
        if (number + 1) % 1000 == 0:
            seconds = time.monotonic() - begin
            print(f"{number + 1} mutants, {bad} with faults, {seconds:.0f} s", flush=True)
    faulthandler.cancel_dump_traceback_later()
    print(f"{options.n} mutants, {bad} with faults")
    return 1 if bad else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Mutants of programs against check, fmt and run.")
    parser.add_argument("--n", type=int, default=1000, help="how many mutants")
    parser.add_argument("--start", type=int, default=0, help="the number of the first one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=None, help="a folder for faulty mutants")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
