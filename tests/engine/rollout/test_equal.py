"""Rollouts are the interpreter's runs: the same choices, statuses, scores and state hashes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from tokenworld.engine import Engine, State
from tokenworld.engine.rollout import Escaped, Inexpressible, Machine, compiler_missing
from tokenworld.ground import STATUSES, Command, NoMatch, domain_of
from tokenworld.model import ObjectType
from tokenworld.session import open_world
from tokenworld.session.players import random_command
from tokenworld.verbs.fuzz.campaign import playable
from tokenworld.verbs.fuzz.playing import opened

DOMAINS = Path(__file__).parents[3] / "domains"
FILES = sorted(path.relative_to(DOMAINS).as_posix() for path in DOMAINS.glob("*/*.tw"))
INEXPRESSIBLE = {"boil_water/world.tw", "dishwasher/world.tw", "willowbrook/world.tw"}
"""Worlds that slots cannot hold: objects are created, or several actors take turns."""
"""Worlds whose rules create objects: no number of slots is surely enough."""
compiled = pytest.mark.skipif(bool(compiler_missing()), reason="needs the extra `fast`")


def same(machine: Machine, engine: Engine, seed: int, ticks: int, wild: Random | None) -> int:
    """Play on both sides, by chance or with any intents at all; how many intents it took."""
    state = engine.start(seed)
    machine.begin(state)
    assert engine.hash(machine.state()) == engine.hash(state)
    for turn in range(ticks):
        if engine.stepper.endings.over(state):
            assert machine.over()
            return turn
        command: Command | NoMatch = random_command(engine, state, seed, turn)
        assert machine.choose(turn) == command, (seed, turn)
        if wild is not None and wild.random() < 0.5:
            command = anything(engine, state, wild)
        state, outcomes = engine.play(state, command)
        assert machine.intend(command) == tuple(one.status for one in outcomes), (seed, turn)
        assert engine.hash(machine.state()) == engine.hash(state), (seed, turn, command)
        score = engine.stepper.endings.score(state, state.me)
        assert machine.score() == score * 10**machine.generated.score_decimals
    return ticks


def anything(engine: Engine, state: State, random: Random) -> Command | NoMatch:
    """A command that may well be refused, or nonsense."""
    if random.random() < 0.05:
        return NoMatch("unknown_verb", "What?", out_of_turn=random.random() < 0.5)
    action = random.choice(list(engine.instance.program.actions.values()))
    domains = [
        state.live[one.type.name]
        if isinstance(one.type, ObjectType)
        else domain_of(engine.instance, one.type) or ()
        for one in action.params
    ]
    if not all(domains):
        return Command("")
    return Command(action.name, tuple(random.choice(domain) for domain in domains))


def machine_of(engine: Engine, *, fast: bool = False) -> Machine | str:
    """The machine of a world, or the construct that slots cannot hold."""
    try:
        return Machine(engine, fast=fast)
    except Inexpressible as reason:
        return reason.what


@pytest.mark.parametrize("file", FILES)
def test_bundled_worlds_are_equal_tick_by_tick(file: str) -> None:
    from tokenworld.session import load_program

    for world in load_program(DOMAINS / file).program.worlds:
        engine = open_world(f"{DOMAINS / file}:{world}").engine
        machine = machine_of(engine)
        assert isinstance(machine, str) == (file in INEXPRESSIBLE)
        if isinstance(machine, Machine):
            for seed in range(3):
                same(machine, engine, seed, 60, None if seed else Random(seed))


def test_random_worlds_are_equal_tick_by_tick() -> None:
    """Half the intents come from the random player, half are any intents at all."""
    found: Counter[str] = Counter()
    ticks = 0
    for world in range(340):
        text = playable(world)
        if text is None:
            continue
        engine = opened(text, 0).engine
        machine = machine_of(engine)
        found["expressible" if isinstance(machine, Machine) else machine] += 1
        if isinstance(machine, Machine):
            try:
                ticks += same(machine, engine, world % 3, 30, Random(world))
            except Escaped:
                found["escaped"] += 1
            except Inexpressible:
                found["other objects by chance"] += 1
    worlds = sum(found.values()) - found["escaped"] - found["other objects by chance"]
    assert worlds >= 200
    assert found["expressible"] >= 0.25 * worlds, found  # rounds and free draws are not
    assert found["escaped"] <= 0.05 * worlds, found
    assert ticks >= 2000


def scripted(engine: Engine, seed: int, most: int, wild: Random) -> list[Command | NoMatch]:
    """Intents for a run that goes through an ending or two: by chance, or nonsense."""
    state, intents = engine.start(seed), list[Command | NoMatch]()
    for turn in range(most):
        if engine.stepper.endings.over(state):
            state = engine.start(seed)
        chosen = random_command(engine, state, seed, turn)
        intents.append(chosen if wild.random() < 0.8 else anything(engine, state, wild))
        state, _ = engine.play(state, intents[-1])
    return intents


def follows(machine: Machine, engine: Engine, seed: int) -> None:
    """A list of intents at once is those intents one by one, also where a run begins again."""
    intents = scripted(engine, seed, 80, Random(seed))
    script = machine.script(intents)
    counts, state, reward = Counter[str](), engine.start(seed), Fraction(0)
    machine.begin(state)
    assert machine.follow(script, 1000, again=True) == len(intents)
    for intent in intents:
        if engine.stepper.endings.over(state):
            state = engine.start(seed)
        state, outcomes = engine.play(state, intent)
        counts.update(one.status for one in outcomes)
        reward += sum(Fraction(str(one.reward)) for one in outcomes)
    assert engine.hash(machine.state()) == engine.hash(state)
    tally = machine.tally()
    assert {n: c for n, c in zip(STATUSES, tally.statuses, strict=True) if c} == counts
    assert Fraction(tally.rewards, 10**machine.generated.reward_decimals) == reward
    machine.begin(engine.start(seed))
    given = machine.follow(script, 10)
    assert given <= 10
    assert machine.tally().turns == given
    assert machine.over() or machine.tally().records >= 10


@pytest.mark.parametrize("file", ["cliff_walking/world.tw", "skirmish/world.tw", "taxi/world.tw"])
def test_a_list_of_intents_is_followed_as_one_by_one(file: str) -> None:
    engine = open_world(str(DOMAINS / file)).engine
    machine = machine_of(engine)
    assert isinstance(machine, Machine)
    for seed in range(5):
        follows(machine, engine, seed)


@compiled
@pytest.mark.parametrize(
    "file",
    ["skirmish/world.tw", pytest.param("island/world.tw", marks=pytest.mark.slow)],
)
def test_compiled_worlds_are_equal(file: str) -> None:
    engine = open_world(str(DOMAINS / file)).engine
    machine = machine_of(engine, fast=True)
    assert isinstance(machine, Machine)
    for seed in range(3):
        same(machine, engine, seed, 60, None if seed else Random(seed))
        follows(machine, engine, seed)
