"""World-ticks a second of CPU, by the interpreter, in plain Python and compiled; not a test.

Of Python and compiled first by the world's functions alone, then with the automaton.

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


def measured(engine: Engine, base: float, *, fast: bool, learning: bool) -> str:
    """The rate of a machine, how many times the interpreter's it is, what it took to begin."""
    began = process_time()
    machine = Machine(engine, fast=fast, learning=learning)
    rolled(machine, 0)
    spent = process_time() - began
    found = rate(lambda seed: rolled(machine, seed), 4)
    name = f"{'compiled' if fast else 'plain'}{', automaton' if learning else ''}"
    kept = "" if not learning or machine.learns else ", closed"
    return f"{name} {found:,.0f}/s ({found / base:.1f}x, {spent:.1f} s to begin{kept})"


def main() -> None:
    for file in sys.argv[1:]:
        engine = open_world(file).engine
        base = rate(lambda seed, e=engine: interpreted(e, seed), 2)  # type: ignore[misc]
        print(f"{file}: interpreter {base:,.0f}/s", flush=True)
        for fast in (False, True) if not compiler_missing() else (False,):
            for learning in (False, True):
                print("  ", measured(engine, base, fast=fast, learning=learning), flush=True)


if __name__ == "__main__":
    main()
