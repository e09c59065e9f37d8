"""`python -m benchmarks`: check that results agree, then print how fast they came.

`python -m benchmarks --planning` does so for families of worlds and all ways to plan on them.
"""

from __future__ import annotations

import sys

from benchmarks.cases import check_times, play, search
from benchmarks.checking import editing
from benchmarks.measure import WrongResultError, table


def main(options: list[str]) -> int:
    """Run all cases; 1 where two ways to one result differ, 2 for an option that is not known."""
    if options not in ([], ["--planning"]):
        sys.stderr.write("usage: python -m benchmarks [--planning]\n")
        return 2
    try:
        if options:
            from benchmarks.planning import report

            for line in report():
                sys.stdout.write(f"{line}\n")
                sys.stdout.flush()
            return 0
        rows = [*check_times(), *editing(), *play(), *search()]
    except WrongResultError as error:
        sys.stderr.write(f"wrong result: {error}\n")
        return 1
    sys.stdout.write("results agree; CPU time, the least of three where nothing else is said\n\n")
    sys.stdout.write(table(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
