"""`python -m benchmarks`: check that results agree, then print how fast they came."""

from __future__ import annotations

import sys

from benchmarks.cases import check_times, play, search
from benchmarks.measure import WrongResultError, table


def main() -> int:
    """Run all cases; 1 where two ways to one result differ."""
    try:
        rows = [*check_times(), *play(), *search()]
    except WrongResultError as error:
        sys.stderr.write(f"wrong result: {error}\n")
        return 1
    sys.stdout.write("results agree; CPU time, the least of three\n\n")
    sys.stdout.write(table(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
