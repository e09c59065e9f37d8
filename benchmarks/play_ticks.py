"""CPU time of a tick on the screen of `tw play`: from a command to the last painted row."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Row, WrongResultError, table
from tokenworld.diagnostics import Source
from tokenworld.session import OpenWorld, Session
from tokenworld.session.loading import open_text
from tokenworld.store.log import RunStore

__all__ = ["report", "store_house"]

_LIMIT = 50.0
"""Milliseconds that a tick with its redraw may take at 1,000 objects."""
_ROOMS = 20
_TICKS = 40
_ROUNDS = 3

_RULES = """
type Place
type Room : Place
type Hand : Place { strength: 0 to 99 = 20 }
type Thing { at: Place? nested inverse contents  damp: 0 to 9 clamped = 0  spoilt: bool = false }
type Person : Hand { at: Room? }
actor me: Person
relation linked(a: Room, b: Room) symmetric

action go(to: Room) as "go to {to}" {
  require linked(me.at, to) else far "You cannot get there from here."
  me.at = to
}
action take(it: Thing) as "take {it}" {
  require it.at == me.at else absent "There is no {it} here."
  it.at = me
  say "You take {the it}."
}
action drop(it: Thing) as "drop {it}" {
  require it.at == me else empty "You do not hold {the it}."
  it.at = me.at
}
law damp(t: Thing) when not t.spoilt and t.at == me.at { t.damp += 1 }
law spoil(t: Thing) when t.damp == 9 and not t.spoilt { t.spoilt = true }
"""


def store_house(objects: int) -> str:
    """A house with a number of objects: rooms in a ring, things in them, and a person."""
    things = objects - _ROOMS - 1
    rooms = "".join(f"  object room{i}: Room\n" for i in range(_ROOMS))
    ring = "".join(f"add linked(room{i}, room{(i + 1) % _ROOMS})  " for i in range(_ROOMS))
    stock = "".join(
        f"  object thing{i}: Thing {{ at = room{i % _ROOMS} }}\n" for i in range(things)
    )
    return (
        f"{_RULES}\nworld house {{\n{rooms}  object hero: Person {{ at = room0 }}\n{stock}"
        f"  setup {{ {ring} }}\n  goal tidy: all(t.at == room0 for t: Thing)\n}}\n"
    )


def report() -> Iterator[str]:
    """Recorded ticks with their redraw for three sizes, on 120 columns and 40 rows.

    Importing `tokenworld.cli` configures the garbage collector as in `tw play`.
    """
    import tokenworld.cli  # noqa: F401

    rows = [_measured(size) for size in (100, 300, 1_000)]
    yield (
        f"a tick of `tw play` with its redraw, CPU time of the screen's thread: the middle of "
        f"{_TICKS} ticks, each the least of {_ROUNDS} rounds"
    )
    yield ""
    yield table(rows)
    over = rows[-1].value > _LIMIT
    yield f"the limit at 1,000 objects is {_LIMIT:.0f} ms: {'over' if over else 'kept'}"


def _measured(objects: int) -> Row:
    """The least time of each tick over the rounds, because other load only adds time."""
    world = open_text((Source("house.tw", None, store_house(objects)),), "house")
    rounds = [_round(world, objects) for _ in range(_ROUNDS)]
    times = sorted(map(min, zip(*rounds, strict=True)))
    note = f"slowest {times[-1]:.0f} ms"
    return Row(f"{objects:,} objects", times[len(times) // 2], "ms", note)


def _round(world: OpenWorld, objects: int) -> list[float]:
    with TemporaryDirectory() as folder, RunStore.open(Path(folder) / "runs.sqlite") as store:
        session = Session(world, 1, store=store)
        times = asyncio.run(_play(session))
    if len(session.state.names) != objects:
        raise WrongResultError(f"{len(session.state.names)} objects, not {objects}")
    done = [one.status for moment in session.moments for one in moment.outcomes]
    if done != ["executed"] * _TICKS:
        raise WrongResultError("a command of the walk was not executed")
    return times


async def _play(session: Session) -> list[float]:
    from tokenworld.play.screens.app import PlayApp
    from tokenworld.play.screens.screen import PlayScreen
    from tokenworld.verbs.output import UNICODE

    app, times = PlayApp(session, glyphs=UNICODE), []
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        screen = app.screen
        if not isinstance(screen, PlayScreen):
            raise WrongResultError("the play screen is not in front")
        for text in _walk():
            began = time.thread_time()
            screen.give(text)
            await pilot.pause()
            times.append(1000 * (time.thread_time() - began))
    return times


def _walk() -> Iterator[str]:
    """Commands that are all executed: take a thing, carry it to the next room, put it down."""
    for at in range(_TICKS // 4):
        yield f"take thing{at}"
        yield f"go to room{(at + 1) % _ROOMS}"
        yield f"drop thing{at}"
        yield f"take thing{at}"
