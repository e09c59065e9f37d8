"""Planners as processes: well, missing, killed, silent or babbling; none is left behind."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import pytest

from tokenworld.check import check_source
from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, EngineSimulator
from tokenworld.ground import instantiate, param_values
from tokenworld.planning import ladder
from tokenworld.planning.planners import by_encoding
from tokenworld.planning.planners.by_encoding import fast_downward
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, EngineInfo, find_engine
from tokenworld.prose.wording import EnglishProse

plan = partial(ladder.plan, translated=None)
"""The ladder with planners on encodings."""
INSTALLED = find_engine(FAST_DOWNWARD)
planner = pytest.mark.skipif(not INSTALLED.ready, reason="Fast Downward is not installed")
posix = pytest.mark.skipif(os.name != "posix", reason="the fake planners are shell scripts")

# Three lamps that only light in order, and twelve switches that no goal asks for.
LAMPS = """
type Lamp {{ on: bool  hot: bool  after: Lamp? }}
type Switch {{ up: bool }}
object one: Lamp
object two: Lamp {{ after = one }}
object three: Lamp {{ after = two }}
object a, b, c, d, e, f, g, h, i, j, k, l: Switch
action light(x: Lamp) {{
  let before = x.after
  require before == none or before.on else dark "Not yet."
  x.on = true
}}
action flip(s: Switch) {{ s.up = not s.up }}
{more}
world lamps {{ goal bright: {goal} }}
"""


def simulator_of(goal: str, more: str = "") -> EngineSimulator:
    checked = check_source(Source("lamps.tw", None, LAMPS.format(goal=goal, more=more)))
    program = checked.program
    assert program is not None, checked.diagnostics
    world = program.worlds["lamps"]
    instance = instantiate(program, world, param_values(program, world, {}))
    return EngineSimulator(Engine(instance, EnglishProse()))


@pytest.fixture(autouse=True)
def _together(monkeypatch):
    """Both searches start at once; `test_downward.py` tests the head start."""
    monkeypatch.setattr(by_encoding, "HEAD_START", 0.0)


@pytest.fixture
def fake(tmp_path):
    """A planner that is this shell script; it notes its process in the file ``pids``."""

    def make(script: str) -> Path:
        program = tmp_path / "downward"
        program.write_text(f'#!/bin/sh\necho $$ >> "{tmp_path}/pids"\n{script}\n')
        program.chmod(0o755)
        return program

    return make


def runs_of(program, *, seconds=20.0, goal="three.on", more="", cancel=lambda: False, enough=None):
    """All that the planners came to, until ``enough`` says so."""
    simulator = simulator_of(goal, more)
    runs = []

    def accept(run):
        runs.append(run)
        return enough is not None and enough(run)

    fast_downward(
        simulator,
        simulator.start(),
        None,
        program=program,
        seconds=seconds,
        memory=2 << 30,
        cancel=cancel,
        accept=accept,
    )
    return runs


def alive(folder: Path) -> list[int]:
    """Which of the processes that noted themselves still run after a moment."""
    pids = [int(word) for word in (folder / "pids").read_text().split()]
    for _ in range(100):
        pids = [pid for pid in pids if runs(pid)]
        if not pids:
            break
        time.sleep(0.05)
    return pids


def runs(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet buried does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return not Path("/proc/self/stat").exists()


# ---- processes that misbehave ----------------------------------------------------------


@posix
@pytest.mark.parametrize(
    ("script", "result", "words"),
    [
        ("echo 'Segmentation fault, or so'; exit 139", "failed", "exit code 139"),
        ("kill -9 $$", "failed", "signal 9"),
        ("head -c 2000 /dev/urandom; exit 0", "failed", "wrote no plan"),
        ("exit 22", "limit", "memory limit"),
        ("exit 23", "limit", "time limit"),
    ],
)
def test_a_planner_that_misbehaves_says_nothing_about_the_world(fake, script, result, words):
    runs = runs_of(fake(script))
    assert [run.result for run in runs] == [result, result]
    assert all(words in run.detail for run in runs)
    assert {note.code for run in runs for note in run.notes} == (
        {"TW0812"} if result == "failed" else set()
    )


@posix
def test_only_the_end_of_a_complete_search_is_a_failure(fake):
    runs = runs_of(fake("exit 12"))
    assert sorted((run.engine, run.result) for run in runs) == [
        ("fast-downward blind", "failed"),
        ("fast-downward lama", "no proof"),
    ]


@posix
@pytest.mark.parametrize(
    "plan_file", ["(open sesame)", "", "; no operators at all", "(0)\n(0)", "(\x00\x01", "()"]
)
def test_a_plan_that_is_none_is_invalid(fake, plan_file):
    # The file for the plan is the last argument.
    script = f"for last; do :; done\nprintf '{plan_file}' > \"$last\"\nexit 0"
    runs = runs_of(fake(script))
    assert [run.result for run in runs] == ["invalid plan", "invalid plan"]


def test_a_program_that_cannot_be_started_fails(tmp_path):
    for path in (tmp_path / "nowhere", tmp_path):
        runs = runs_of(path)
        assert runs
        assert {run.result for run in runs} == {"failed"}


@posix
def test_a_planner_that_is_too_slow_is_killed_with_its_children(fake, tmp_path):
    program = fake(f"sh -c 'echo $$ >> \"{tmp_path}/pids\"; sleep 60'")
    started = time.monotonic()
    runs = runs_of(program, seconds=0.7)
    assert time.monotonic() - started < 30
    assert [run.result for run in runs] == ["limit", "limit"]
    assert len((tmp_path / "pids").read_text().split()) == 4
    assert alive(tmp_path) == []


@posix
def test_cancelling_kills_the_planners(fake, tmp_path):
    runs = runs_of(fake("sleep 60"), cancel=lambda: (tmp_path / "pids").exists())
    assert [run.result for run in runs] == ["cancelled", "cancelled"]
    assert alive(tmp_path) == []


@posix
def test_ctrl_c_kills_the_planners(fake, tmp_path):
    def interrupt():
        if (tmp_path / "pids").exists() and len((tmp_path / "pids").read_text().split()) == 2:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        runs_of(fake("sleep 60"), cancel=interrupt)
    assert alive(tmp_path) == []


# ---- what needs no process -------------------------------------------------------------


def test_a_goal_out_of_reach_is_proved_without_a_program():
    (run,) = runs_of(None, goal="three.on and one.after == two")
    assert (run.engine, run.result, run.exact) == ("relaxed reachability", "no plan", True)


def test_without_a_program_nothing_else_is_tried():
    assert runs_of(None) == []


def test_what_no_encoding_takes_is_named_with_its_place():
    more = "function heat(): real\naction warm() { heat() += 0.5 }"
    run, *others = runs_of(None, goal="three.on and heat() > 1.0", more=more)
    assert run.result == "not expressible"
    assert [one.encoding for one in others] == ["A"]  # whether or not its planner is installed
    assert {note.code for note in run.notes} == {"TW0801"}
    assert all(note.span is not None for note in run.notes)


# ---- the real planner, and the whole ladder --------------------------------------------


@pytest.fixture
def impatient(monkeypatch):
    """Our own search gets no chance: it may look at two states, and at none meanwhile."""
    monkeypatch.setattr(ladder, "_FIRST_STATES", 2)
    monkeypatch.setattr(ladder.OwnRung, "can_go_on", property(lambda self: False))


@planner
def test_fast_downward_finds_a_plan_that_survives_the_replay(impatient):
    simulator = simulator_of("three.on")
    verdict = plan(simulator, simulator.start(), "bright", width=False)
    assert (verdict.answer, verdict.encoding, verdict.claim) == ("winnable", "E", "found")
    assert verdict.engine.startswith("fast-downward ")
    commands = [step.command for step in verdict.plan]
    assert commands == ["light(one)", "light(two)", "light(three)"]


@planner
def test_its_own_translator_reads_a_world_whose_states_are_not_packed(impatient):
    simulator = simulator_of("three.on")
    verdict = ladder.plan(simulator, simulator.start(), None)
    assert (verdict.answer, verdict.engine) == ("winnable", "fast-downward lama")
    assert verdict.encoding == "PDDL (lifted)"
    assert [step.command for step in verdict.plan] == ["light(one)", "light(two)", "light(three)"]


@planner
def test_what_the_translator_does_not_read_is_left_to_others(impatient):
    """Numbers have no place in classical PDDL; and that no plan is found proves nothing."""
    for goal, more in (("three.on", COUNTED), ("one.hot", "")):
        simulator = simulator_of(goal, more)
        verdict = ladder.plan(simulator, simulator.start(), None)
        assert verdict.answer == ("winnable" if more else "unwinnable")
        assert verdict.encoding != "PDDL (lifted)"


@planner
def test_costs_do_not_keep_a_world_from_the_translator(impatient):
    """LAMA's first search counts every action as 1, whatever its cost depends on."""
    fee = "function fee(x: Lamp): int = 2\naction pay(x: Lamp) cost fee(x) { x.hot = true }"
    simulator = simulator_of("three.on and two.hot", fee)
    verdict = ladder.plan(simulator, simulator.start(), None)
    assert (verdict.answer, verdict.encoding) == ("winnable", "PDDL (lifted)")
    assert verdict.cost == 2


COUNTED = "function steps(): 0 to 9 = 0  action walk() { require steps() < 9  steps() += 1 }"
SPARK = """
function charge(): 0 to 1 = 1
action spark(x: Lamp) { require charge() == 1 else empty "Empty."  x.hot = true  charge() -= 1 }
"""


@planner
def test_fast_downward_proves_that_there_is_no_plan(impatient):
    # One spark heats either lamp: each is in reach, both together are not.
    simulator = simulator_of("one.hot and two.hot", SPARK)
    verdict = plan(simulator, simulator.start(), None)
    assert (verdict.answer, verdict.claim, verdict.exit_code) == ("unwinnable", "proved", 1)
    assert verdict.engine in ("fast-downward ff", "fast-downward blind")
    assert verdict.proof is not None
    assert len(verdict.proof.digest) == 64
    assert verdict.engine in verdict.proof.by
    winnable = simulator_of("one.hot and two.on", SPARK)
    assert plan(winnable, winnable.start(), None).answer == "winnable"


@posix
def test_the_ladder_survives_a_planner_that_babbles(fake):
    program = fake("echo I know it all; exit 0")
    engine = EngineInfo("fast-downward", "classical", "x", "1", str(program), "pip")
    simulator = simulator_of("three.on and a.up and b.up and c.up and d.up")
    verdict = plan(simulator, simulator.start(), None, engine=engine, width=False)
    assert (verdict.answer, verdict.engine, verdict.ticks) == ("winnable", "own search", 7)
