"""Append ticks until stopped: run as a child process by `test_crash.py`.

Usage: appender.py STORE WORLD COUNT. Prints each number once its tick is committed.
"""

from __future__ import annotations

import sys

from tokenworld.ground import Change, Outcome
from tokenworld.store.log import RunStore
from tokenworld.store.records import RunHeader, SourceText, TickRecord


def outcome(number: int) -> Outcome:
    return Outcome(
        tick=number - 1,
        status="executed",
        action="pass",
        changes=(Change("heat", ("pot",), number - 1, number, "action heat"),),
        hash_before=f"s{number - 1}",
        hash_after=f"s{number}",
    )


def main(path: str, world: str, count: int) -> None:
    sources = (SourceText("w.tw", "world w { }"),)
    with RunStore.open(path, busy_seconds=30) as store:
        run = store.begin(RunHeader(world, "d", sources, "0", 0, "random", "s0"))
        for number in range(1, count + 1):
            run.append(TickRecord({"pass": True}, outcome(number).to_json(), "random"))
            print(number, flush=True)
        run.finish("end")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
