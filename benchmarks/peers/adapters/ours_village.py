"""The village of `benchmarks.growth` in several sizes, ticked by the engine or by the reference.

The reference evaluator looks at everything that a law might bind, every tick: the naive way.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from shared import Json, averaged, digest, per_call, serve

sys.path.append(str(Path(__file__).parents[3]))
from benchmarks.growth import village
from tokenworld.check import check_source
from tokenworld.diagnostics import Source
from tokenworld.engine import SeededLuck
from tokenworld.engine.reference import Reference
from tokenworld.ground import Command
from tokenworld.prose import EnglishProse
from tokenworld.session.loading import choose_world, compile_world


@lru_cache(maxsize=1)
def _checked(objects: int) -> Any:
    program = check_source(Source("village.tw", None, village(objects))).program
    assert program is not None
    return program, choose_world(program, None, "village")


@lru_cache(maxsize=1)
def _engine(objects: int) -> Any:
    return compile_world(*_checked(objects))


def _around(numbers: dict[str, int]) -> tuple[Command, ...]:
    """A thing is taken and put down again while nine lamps burn."""
    return tuple(Command(name, (numbers["thing0"],)) for name in ("take", "drop"))


class Village:
    def tick(self, objects: int, budget: float) -> Json:
        """A tick in place; told by what two ticks changed."""
        engine = _engine(objects)
        state = engine.start()
        commands, live = _around(state.numbers), engine.live(state)
        now = state
        for command in commands:
            now = engine.stepper.tick(now, command, SeededLuck())[-1].after
        shown = {one["name"]: one["attrs"] for one in engine.json(now)["objects"]}
        rows = [f"{shown['thing0']}", *(f"{shown[f'lamp{number}']['oil']}" for number in range(9))]

        def round_trip() -> None:
            for command in commands:
                live.apply(command)

        seconds = per_call(round_trip, budget) / len(commands)
        return {"seconds": seconds, "digest": digest(rows)}

    def state(self, objects: int, budget: float) -> Json:
        """A tick with a record and a new state; told by the state that two ticks lead to."""
        engine = _engine(objects)
        start = engine.start()
        commands = _around(start.numbers)

        def round_trip() -> Any:
            now = start
            for command in commands:
                now = engine.stepper.tick(now, command, SeededLuck())[-1].after
            return now

        found = engine.hash(round_trip())
        return {"seconds": per_call(round_trip, budget) / len(commands), "digest": found}

    def naive(self, objects: int, budget: float) -> Json:
        """The same by the reference evaluator, once: it takes long."""
        reference = Reference(_engine(objects).instance, EnglishProse())
        start = reference.start(0)
        commands = _around(_engine(objects).instance.numbers)
        last: list[Any] = []

        def round_trip() -> None:
            now = start
            for command in commands:
                now = reference.play(now, command)[0]
            last[:] = [now]

        seconds = averaged(round_trip, budget) / len(commands)
        return {"seconds": seconds, "digest": reference.hash(last[0])}


if __name__ == "__main__":
    serve(Village())
