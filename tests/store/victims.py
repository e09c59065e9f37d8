"""Plays real runs that are killed: run as a child process by `test_killed_runs.py`.

Usage: victims.py STORE WORLD RUNS SEED. Each run is played in a process of its own, forked from
this one, and killed at a random instant. Prints the number of each run and the signal it died of.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time

from tokenworld.session import OpenWorld, Session, open_world
from tokenworld.session.players import random_player
from tokenworld.store.log import RunStore


def play(path: str, world: OpenWorld, seed: int) -> None:
    """A random run without end, beside a store with earlier runs."""
    with RunStore.open(path, busy_seconds=30) as store:
        session = Session(world, seed, store=store, player="random")
        for command in random_player(session):
            session.intend(command, source="random")


def main(path: str, world_file: str, runs: int, seed: int) -> None:
    chance = random.Random(seed)
    world = open_world(world_file)
    for number in range(runs):
        child = os.fork()
        if not child:
            try:
                play(path, world, number)
            finally:
                os._exit(1)  # it must not end by itself
        time.sleep(chance.uniform(0.0, 0.6))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        print(number, os.WTERMSIG(status), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
