"""Runs by an automaton are the runs of the world's functions, which are the interpreter's."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any, cast

import pytest

from tests.engine.rollout.test_equal import DOMAINS, FILES, INEXPRESSIBLE, compiled, scripted
from tokenworld.engine import Engine
from tokenworld.engine.rollout import Escaped, Inexpressible, Machine, automaton, recalling
from tokenworld.ground import Command
from tokenworld.session import load_program, open_world
from tokenworld.verbs.fuzz.campaign import playable
from tokenworld.verbs.fuzz.playing import NoWorld, opened

Result = tuple[object, ...]


def result(machine: Machine) -> Result:
    """All that a run came to."""
    state, tally = machine.state(), machine.tally()
    hashed = machine.engine.hash(state)
    return hashed, state.tick, state.seed, tally, machine.score(), machine.over()


def agree(learning: Machine, plain: Machine, seeds: int, ticks: int) -> bool:
    """Play by chance and by any intents on both, twice, so that what was learned is used; whether
    the automaton was still open at the end."""
    engine = plain.engine
    for seed in (*range(seeds), *range(seeds)):
        found = []
        for machine in (learning, plain):
            machine.begin(engine.start(seed))
            machine.play(ticks // 2)
            machine.play(ticks)
            found.append(result(machine))
        assert found[0] == found[1], seed
    for seed in (*range(seeds), *range(seeds)):
        intents, found = scripted(engine, seed, ticks, Random(seed)), []
        for machine in (learning, plain):
            machine.begin(engine.start(seed))
            script = machine.script(intents)
            given = machine.follow(script, 10), machine.follow(script, 1 << 40, again=True)
            found.append((*result(machine), *given))
        assert found[0] == found[1], seed
    return learning.learns


def pair(engine: Engine, *, fast: bool = False) -> tuple[Machine, Machine]:
    return Machine(engine, fast=fast), Machine(engine, learning=False)


@pytest.mark.parametrize("file", [file for file in FILES if file not in INEXPRESSIBLE])
def test_bundled_worlds_come_to_the_same(file: str) -> None:
    for world in load_program(DOMAINS / file).program.worlds:
        agree(*pair(open_world(f"{DOMAINS / file}:{world}").engine), 2, 60)


def test_random_worlds_come_to_the_same() -> None:
    """Random worlds read the clock, which no automaton can: here it stands still at 2."""
    found: Counter[str] = Counter()
    for world in range(60):
        text = playable(world)
        if text is None:
            continue
        try:
            learning, plain = pair(opened(text.replace("tick()", "2"), 0).engine)
            found["open" if agree(learning, plain, 2, 30) else "closed"] += 1
        except Escaped:
            found["escaped"] += 1
        except (Inexpressible, NoWorld):
            found["inexpressible"] += 1
    assert found["open"] >= 9, found


def test_an_automaton_that_does_not_pay_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs are the same before and behind the point where the functions take over."""
    monkeypatch.setattr(automaton, "WINDOW", 10)
    monkeypatch.setattr(recalling, "PATIENCE", 40)
    monkeypatch.setattr(recalling, "GAIN", 1000)
    assert not agree(*pair(open_world(str(DOMAINS / "greenhouse/world.tw")).engine), 3, 60)


def test_a_rule_that_reads_the_clock_is_not_learned() -> None:
    text = """edition 1
type Person { late: bool = false }
actor me: Person
action dawdle() { if tick() > 3 { me.late = true } }
world w "Clock" { setup { create you: Person }  lose late: you.late }
"""
    learning, plain = pair(opened(text, 0).engine)
    assert not learning.learns
    agree(learning, plain, 2, 20)


TOSSING = """edition 1
type Person { n: 0 to 9 = 0 }
actor me: Person
action toss() { chance CHANCE { me.n = 1 } else { me.n = 0 } }
world w "Tossing" { setup { create you: Person }  stop done: you.n > 5 }
"""


def test_a_chance_that_is_a_real_is_learned() -> None:
    for share in ("1 / 3", "2 / 2", "0 / 2", "3 / 4"):
        learning, plain = pair(opened(TOSSING.replace("CHANCE", share), 0).engine)
        assert agree(learning, plain, 3, 40)


def test_a_draw_without_end_is_left_to_the_functions() -> None:
    text = TOSSING.replace("chance CHANCE {", "let y = uniform(0.0, 1.0)  if y > 0.5 {")
    learning, plain = pair(opened(text, 0).engine)
    assert not agree(learning, plain, 3, 40)


@compiled
@pytest.mark.parametrize(
    "file",
    ["frozen_lake/world.tw", "cliff_walking/world.tw",
     pytest.param("skirmish/world.tw", marks=pytest.mark.slow)],
)  # fmt: skip
def test_compiled_automata_come_to_the_same(file: str) -> None:
    engine = open_world(str(DOMAINS / file)).engine
    assert agree(*pair(engine, fast=True), 4, 80)


def marches(fast: Machine, plain: Machine, runs: int, again: bool) -> None:
    """Runs side by side, seeds and scripts of their own, are the runs one by one."""
    engine, found = plain.engine, []
    intents = [scripted(engine, number, 40, Random(number)) for number in range(70)]
    for machine in (fast, plain):
        machine.begin(engine.start(0))
        scripts = machine.scripts([machine.script(one) for one in intents])
        march = machine.march(scripts, range(5, 5 + runs), again=again)
        rows = [(engine.hash(march.state(i)), march.tally(i)) for i in range(runs)]
        found.append([(*row, march.state(i).tick) for i, row in enumerate(rows)])
    assert found[0] == found[1]


@compiled
@pytest.mark.parametrize("file", ["frozen_lake/world.tw", "cliff_walking/world.tw"])
def test_runs_side_by_side_are_the_runs_one_by_one(file: str) -> None:
    engine = open_world(str(DOMAINS / file)).engine
    fast, plain = pair(engine, fast=True)
    for runs, again in ((3, True), (64, True), (64, False), (150, True)):
        marches(fast, plain, runs, again)
    assert fast.learns


def test_side_by_side_in_plain_python() -> None:
    learning, plain = pair(open_world(str(DOMAINS / "taxi/world.tw")).engine)
    marches(learning, plain, 3, again=True)


def test_scripts_side_by_side_are_equally_long() -> None:
    machine, _ = pair(open_world(str(DOMAINS / "taxi/world.tw")).engine)
    made = [machine.script([Command("")] * length) for length in (1, 2)]
    with pytest.raises(ValueError, match="equally long"):
        machine.scripts(made)


@compiled
@pytest.mark.parametrize("at_once", [True, False])
def test_a_tick_of_many_runs_is_the_tick_of_each(at_once: bool) -> None:
    """Both forms of the instruction; the one at once where this LLVM has it."""
    import numba
    import numpy as np

    from tokenworld.engine.rollout.abreast import LANE_SIZE, SIDE
    from tokenworld.engine.rollout.gathering import has_gather, pace
    from tokenworld.engine.rollout.striding import REWARD_BIT

    if at_once and not has_gather():
        pytest.skip("another LLVM")
    step, njit = pace(at_once), cast(Any, numba.njit)
    play = njit(lambda edge, lanes, rows, at: step(edge, 2, lanes, rows, at), _nrt=False)
    random = Random(3)
    for odd in (0.0, 0.1):
        edges = [
            1
            if random.random() < odd
            else (random.randint(-9, 9) << REWARD_BIT) | random.randrange(50) << 1
            for _ in range(200)
        ]
        rows = [random.randrange(4) for _ in range(3 * SIDE)]
        states, rewards = [random.randrange(50) for _ in range(SIDE)], [7] * SIDE
        lanes = np.zeros(LANE_SIZE, np.int64)
        lanes[:SIDE], lanes[SIDE : 2 * SIDE] = states, rewards
        flag = play(np.array(edges, np.int64), lanes, np.array(rows, np.int8), SIDE)
        found = [edges[4 * one + rows[SIDE + i]] for i, one in enumerate(states)]
        assert flag == int(1 in found)
        assert lanes[2 * SIDE :].tolist() == found
        for i, edge in enumerate(found):
            after = (states[i], 7) if edge == 1 else (edge >> 1 & 63, 7 + (edge >> REWARD_BIT))
            assert (lanes[i], lanes[SIDE + i]) == after
