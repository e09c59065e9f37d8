"""World-ticks a second of CPU, by the interpreter, in plain Python and compiled; not a test.

python tests/engine/rollout/measure.py domains/greenhouse/world.tw …
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time

from tokenworld.engine import Engine
from tokenworld.engine.rollout import Machine, compiler_missing
from tokenworld.session import open_world
from tokenworld.session.players import random_command

MOST = 400


def interpreted(engine: Engine, seed: int) -> int:
    state, turn = engine.start(seed), 0
    while turn < MOST and not engine.stepper.endings.over(state):
        state, _ = engine.play(state, random_command(engine, state, seed, turn))
        turn += 1
    return turn


def rolled(machine: Machine, seed: int) -> int:
    """As `tokenworld.rollout` plays worlds whose start owes nothing to chance."""
    if machine.plan.origin is machine.plan.start:
        machine.begin(machine.engine.start(seed))
    else:
        machine.restart(seed)
    machine.play(MOST)
    return machine.tally().turns


def rate(play: Callable[[int], int], seconds: float) -> float:
    """Turns a second over runs of rising seeds."""
    began, turns, seed = process_time(), 0, 0
    while process_time() - began < seconds:
        turns += play(seed)
        seed += 1
    return turns / (process_time() - began)


def main() -> None:
    for file in sys.argv[1:]:
        engine = open_world(file).engine
        base = rate(lambda seed, e=engine: interpreted(e, seed), 2)  # type: ignore[misc]
        slots = Machine(engine)
        plain = rate(lambda seed, m=slots: rolled(m, seed), 2)  # type: ignore[misc]
        line = f"{file}: interpreter {base:,.0f}/s, plain {plain:,.0f}/s ({plain / base:.1f}x)"
        if not compiler_missing():
            began = process_time()
            machine = Machine(engine, fast=True)
            rolled(machine, 0)
            spent = process_time() - began
            fast = rate(lambda seed, m=machine: rolled(m, seed), 4)  # type: ignore[misc]
            line += f", compiled {fast:,.0f}/s ({fast / base:.0f}x, {spent:.0f} s to compile)"
        print(line, flush=True)


if __name__ == "__main__":
    main()
