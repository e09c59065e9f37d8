"""Random walks through worlds, for tests that compare a fast way with a slow one."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.engine.tiny import DOMAINS
from tokenworld.engine import Engine, State
from tokenworld.ground import PASS, Command
from tokenworld.session import open_world
from tokenworld.session.loading import compile_world
from tokenworld.verbs.fuzz.campaign import playable
from tokenworld.verbs.fuzz.playing import NoWorld, opened

__all__ = ["BUNDLED", "commands", "engine_of", "random_engine", "tried", "walk"]

BUNDLED = sorted(path.parent.name for path in DOMAINS.glob("*/world.tw"))


def engine_of(name: str) -> Engine:
    """The first world of a bundled file."""
    program = open_world(str(DOMAINS / name / "world.tw")).program
    return compile_world(program, next(iter(program.worlds.values())))


def random_engine(seed: int) -> Engine | None:
    """The engine of a random world; ``None`` if the generator made no playable one."""
    text = playable(seed)
    try:
        return None if text is None else opened(text, seed % 3).engine
    except NoWorld:
        return None


def tried(engine: Engine, state: State) -> list[Command]:
    """The legal commands by trying every binding."""
    if state.latched and not engine.instance.world.endless:
        return []
    every = (one for one in commands(engine, state) if not one.is_pass)
    return [one for one in every if engine.passes(state, one)]


def commands(engine: Engine, state: State) -> list[Command]:
    """Commands that static facts allow, possible or not, and `pass`."""
    found = [PASS]
    for name in engine.instance.program.actions:
        found += [Command(name, args) for args in engine.bindings(state, name) or ()]
    return found


def walk(engine: Engine, random: Random, steps: int) -> Iterator[tuple[State, Command]]:
    """States with a command for each, mostly successors, sometimes an earlier state."""
    states = [engine.start()]
    for _ in range(steps):
        state = states[-1] if random.random() < 0.85 else random.choice(states)
        legal = tried(engine, state)
        some = legal if legal and random.random() < 0.8 else commands(engine, state)
        command = random.choice(some)
        yield state, command
        states.append(engine.play(state, command)[0])
