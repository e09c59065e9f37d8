"""The ladder: which rung answers, what is believed, and what an open verdict admits."""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import opened

from tokenworld.diagnostics import Diagnostic, Failure, Severity
from tokenworld.ground import Command
from tokenworld.planning import ladder
from tokenworld.planning.planners.answers import EngineRun
from tokenworld.planning.planners.doctor import EngineInfo
from tokenworld.planning.referee import replay
from tokenworld.planning.search.interpreted import Found, Limits, search
from tokenworld.planning.verdict import PlanStep

plan = partial(ladder.plan, translated=None)
"""The ladder with planners on encodings only: no worlds here have PDDL."""
READY = EngineInfo("fast-downward", "classical", "up-fast-downward", "1.0", "/bin/fd", "pip …")
MISSING = EngineInfo(
    "fast-downward",
    "classical",
    "up-fast-downward",
    None,
    None,
    "python -m pip install 'up-fast-downward>=0.5'",
    "the package `up-fast-downward` is not installed",
)
A = PlanStep(Command("a"))


class FakePlanners:
    """Answers with prepared runs and remembers what it was asked."""

    def __init__(self, *runs: EngineRun, takes: float = 0.0) -> None:
        self.runs, self.takes, self.asked = runs, takes, []

    def __call__(self, simulator, state, goal, *, program, seconds, memory, cancel, accept):
        self.asked.append((state, goal, seconds, program, memory))
        time.sleep(min(self.takes, max(seconds, 0)))
        for run in self.runs:
            if accept(run):
                return


def run_of(result, *steps, engine="fast-downward ff", **more):
    return EngineRun(engine, "E", result, f"it said {result}", 0.1, steps, **more)


BLIND = "fast-downward blind"


def line_world(graph_world, length):
    """A line of nodes with a loop at each; the goal is its last node."""
    edges = {n: {"a": [n + 1], "b": [n]} for n in range(length)}
    return graph_world(edges, {"rich": frozenset({length})})


def plan_beside(simulator, state, goal, **more):
    """A verdict of our own breadth-first search and the planners, without the width search."""
    return plan(simulator, state, goal, width=False, **more)


@pytest.fixture
def impatient(monkeypatch):
    """Our own first search may look at a handful of states only."""
    monkeypatch.setattr(ladder, "_FIRST_STATES", 3)


# ---- the own search --------------------------------------------------------------------


def test_a_goal_that_holds_needs_nothing(graph_world):
    world = graph_world({0: {"a": [0]}}, {"rich": frozenset({0}), "wise": frozenset({1})})
    fake = FakePlanners()
    verdict = plan(world, world.start(), None, engine=READY, classical=fake)
    assert (verdict.answer, verdict.ticks, verdict.reached) == ("winnable", 0, ("rich",))
    assert fake.asked == []


def test_it_agrees_with_the_search_and_replays(make_random_world):
    answers = set()
    for seed in range(100):
        world = make_random_world(seed, priced=seed % 2 == 1)
        expected = search(world, world.start(), "wise", Limits())
        verdict = plan(world, world.start(), "wise", engine=MISSING, classical=FakePlanners())
        answers.add(verdict.answer)
        if isinstance(expected, Found):
            assert (verdict.answer, verdict.claim) == ("winnable", "found"), seed
            commands = [step.command for step in verdict.steps]
            assert commands == [step.command for step in expected.steps]
            assert replay(world, world.start(), expected.steps, "wise").ok
            assert (verdict.cost, verdict.ticks) == (expected.cost, expected.ticks)
            assert [step.tick for step in verdict.plan] == list(range(expected.ticks))
            assert "wise" in verdict.reached
            assert verdict.counts_on_luck == (verdict.wins_with_seed is not True)
        else:
            assert (verdict.answer, verdict.claim) == ("unwinnable", "exhausted"), seed
            assert verdict.proof is not None
            assert verdict.proof.states == expected.states
    assert answers == {"winnable", "unwinnable"}


def test_a_tick_bound_is_answered_exactly(graph_world):
    world = line_world(graph_world, 4)
    assert (
        plan(world, world.start(), None, within=4, engine=MISSING, classical=FakePlanners()).answer
        == "winnable"
    )
    verdict = plan(world, world.start(), None, within=3, engine=MISSING, classical=FakePlanners())
    assert (verdict.answer, verdict.within) == ("unwinnable", 3)
    world = graph_world({0: {"a": [0]}}, {"rich": frozenset({1})})
    verdict = plan(world, world.start(), None, within=3, engine=MISSING, classical=FakePlanners())
    assert (verdict.answer, verdict.within) == ("unwinnable", None)


def test_without_an_engine_the_search_gets_all_the_time(make_counter, impatient):
    world = make_counter(8)
    verdict = plan_beside(world, world.start(), None, engine=MISSING, classical=FakePlanners())
    assert (verdict.answer, verdict.claim) == ("unwinnable", "exhausted")
    assert {note.severity for note in verdict.notes} <= {Severity.INFO}
    assert len(world.calls) == 2 * 256  # it went on where it had stopped


def test_a_proof_that_needs_no_engine_is_taken(make_counter, impatient):
    world = make_counter(8)
    fake = FakePlanners(run_of("no plan", engine="relaxed reachability"))
    verdict = plan_beside(world, world.start(), None, engine=MISSING, classical=fake)
    assert (verdict.answer, verdict.claim) == ("unwinnable", "proved")
    assert [note.code for note in verdict.notes] == ["TW0803"]


def test_without_an_engine_a_limit_means_unknown_and_says_how_to_get_one(endless_world):
    started = time.monotonic()
    verdict = plan(
        endless_world,
        endless_world.start(),
        "rich",
        engine=MISSING,
        classical=FakePlanners(),
        time_limit=0.2,
    )
    assert time.monotonic() - started < 20
    assert (verdict.answer, verdict.exit_code, verdict.claim) == ("unknown", 3, None)
    tried = {one.engine: one.result for one in verdict.attempts}
    assert tried.pop("width search", "limit") == "limit"  # where there was time to begin it
    assert tried == {"own search": "limit", "fast-downward": "missing"}
    codes = {note.code: note for note in verdict.notes}
    assert set(codes) == {"TW0811", "TW0813"}
    assert codes["TW0811"].hint == "Run `python -m pip install 'up-fast-downward>=0.5'`."


def test_the_finder_decides_when_nothing_is_handed_in(endless_world, monkeypatch):
    monkeypatch.setattr(ladder, "find_engine", lambda package: MISSING)
    fake = FakePlanners()
    verdict = plan(endless_world, endless_world.start(), None, time_limit=0.1, classical=fake)
    assert fake.asked[0][3] is None  # there is no program to run
    assert "TW0811" in {note.code for note in verdict.notes}


def test_a_memory_limit_means_unknown(make_counter):
    world = make_counter(12)
    verdict = plan(
        world, world.start(), None, engine=MISSING, classical=FakePlanners(), memory_limit=50_000
    )
    assert verdict.answer == "unknown"
    assert "MiB" in verdict.attempts[0].detail


# ---- the planners ----------------------------------------------------------------------


def test_a_small_world_never_asks_a_planner(graph_world):
    world = line_world(graph_world, 3)
    fake = FakePlanners(run_of("no plan", engine=BLIND))
    assert plan(world, world.start(), None, engine=READY, classical=fake).answer == "winnable"
    assert fake.asked == []


def test_a_plan_counts_after_its_replay(graph_world, impatient):
    world = line_world(graph_world, 9)
    fake = FakePlanners(run_of("plan", *[A] * 9))
    verdict = plan_beside(world, world.start(), "rich", engine=READY, classical=fake)
    assert (verdict.answer, verdict.claim, verdict.ticks) == ("winnable", "found", 9)
    assert (verdict.engine, verdict.encoding, verdict.optimal) == ("fast-downward ff", "E", None)
    assert [one.result for one in verdict.attempts] == ["limit", "plan"]
    assert len(fake.asked) == 1
    assert fake.asked[0][:2] == ((0, 0), "rich")
    assert fake.asked[0][3] == Path("/bin/fd")


def test_a_plan_that_fails_its_replay_is_not_believed(graph_world, impatient):
    world = line_world(graph_world, 9)
    fake = FakePlanners(run_of("plan", *[A] * 8), run_of("plan", PlanStep(Command("z"))))
    verdict = plan_beside(world, world.start(), "rich", engine=READY, classical=fake)
    results = [(one.engine, one.result) for one in verdict.attempts]
    assert results == [
        ("own search", "plan"),
        ("fast-downward ff", "invalid plan"),
        ("fast-downward ff", "invalid plan"),
    ]
    assert verdict.attempts[1].detail == "the goal is not reached at the end"
    assert verdict.attempts[2].detail == "step 1: `z()` is refused or rolled back there"
    assert (verdict.answer, verdict.engine, verdict.ticks) == ("winnable", "own search", 9)
    assert {(note.code, note.severity) for note in verdict.notes} == {("TW0812", Severity.INFO)}


def test_after_an_invalid_plan_the_next_planner_is_heard(make_counter, impatient):
    world = make_counter(6)
    fake = FakePlanners(run_of("plan", A), run_of("no plan", engine=BLIND, digest="ab"))
    verdict = plan_beside(world, world.start(), "rich", engine=READY, classical=fake)
    assert (verdict.answer, verdict.claim, verdict.exit_code) == ("unwinnable", "proved", 1)
    assert verdict.proof is not None
    assert (verdict.proof.engine, verdict.proof.digest) == (BLIND, "ab")


def test_a_proof_on_an_inexact_encoding_proves_nothing(graph_world, impatient):
    world = line_world(graph_world, 9)
    fake = FakePlanners(run_of("no plan", engine=BLIND, exact=False))
    verdict = plan_beside(world, world.start(), None, engine=READY, classical=fake)
    assert (verdict.answer, verdict.engine) == ("winnable", "own search")


def test_a_planner_that_fails_is_reported_and_the_search_goes_on(make_counter, impatient):
    world = make_counter(6)
    fake = FakePlanners(run_of("failed"), run_of("failed", engine=BLIND))
    verdict = plan_beside(world, world.start(), None, engine=READY, classical=fake)
    assert (verdict.answer, verdict.claim) == ("unwinnable", "exhausted")
    assert [note.code for note in verdict.notes] == ["TW0812", "TW0812"]
    assert len(world.calls) == 2 * 64  # it went on where it had stopped


def test_a_world_that_no_encoding_takes_is_searched(make_counter, endless_world, impatient):
    world = make_counter(6)
    note = Diagnostic("TW0801", "`uniform` has no place in a planner's encoding.")
    fake = FakePlanners(run_of("not expressible", engine="fast-downward", notes=(note,)))
    verdict = plan(world, world.start(), None, engine=READY, classical=fake)
    assert (verdict.answer, verdict.claim) == ("unwinnable", "exhausted")
    assert verdict.notes == ()  # there is an answer, so it does not matter
    verdict = plan(
        endless_world,
        endless_world.start(),
        None,
        engine=MISSING,
        classical=fake,
        time_limit=0.2,
    )
    assert [one.code for one in verdict.notes] == ["TW0801", "TW0813"]  # an engine would not help


def test_if_every_rung_hits_its_limit_the_verdict_is_unknown(endless_world):
    fake = FakePlanners(run_of("limit"), run_of("limit", engine=BLIND), takes=9)
    started = time.monotonic()
    verdict = plan_beside(
        endless_world, endless_world.start(), None, engine=READY, classical=fake, time_limit=0.5
    )
    assert time.monotonic() - started < 20
    assert verdict.answer == "unknown"
    assert [one.result for one in verdict.attempts] == ["limit"] * 3
    assert 0.3 <= fake.asked[0][2] < 0.5  # the own search left most of the time
    assert [note.code for note in verdict.notes] == ["TW0813"]
    assert len(verdict.limits_hit) == 3


def test_a_plan_that_is_too_long_does_not_answer_a_bound(graph_world, impatient):
    short = {n: {"a": [n + 1], "b": [20 + n]} for n in range(9)}
    edges = short | {n: {"c": [n + 1]} for n in range(20, 35)} | {35: {"c": [9]}}
    world = graph_world(edges, {"rich": frozenset({9})})
    detour = [PlanStep(Command("b")), *[PlanStep(Command("c"))] * 16]
    fake = FakePlanners(run_of("plan", *detour))
    verdict = plan(world, world.start(), None, within=9, engine=READY, classical=fake)
    assert (verdict.answer, verdict.engine, verdict.ticks) == ("winnable", "own search", 9)
    assert "17 ticks, more than 9" in verdict.attempts[1].detail
    verdict = plan(world, world.start(), None, within=17, engine=READY, classical=fake)
    assert (verdict.answer, verdict.engine, verdict.ticks) == ("winnable", "fast-downward ff", 17)


def test_the_search_goes_on_while_planners_run(make_counter, impatient):
    """Its answer ends them; theirs are not heard any more."""

    def patient(*args, cancel, accept, **more):
        while not cancel():
            pass
        accept(run_of("cancelled"))

    world = make_counter(8)
    verdict = plan_beside(world, world.start(), None, engine=READY, classical=patient)
    assert (verdict.answer, verdict.claim) == ("unwinnable", "exhausted")
    assert [one.engine for one in verdict.attempts] == ["own search"]
    assert len(world.calls) == 2 * 256


def test_the_search_beside_planners_stops_at_the_limit(endless_world, monkeypatch):
    monkeypatch.setattr(ladder, "HEAD_START", 0.0)

    def patient(*args, seconds, cancel, accept, **more):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not cancel():
            pass
        accept(run_of("limit"))

    lines = []
    verdict = plan(
        endless_world,
        endless_world.start(),
        None,
        engine=READY,
        classical=patient,
        time_limit=2.5,
        progress=lines.append,
    )
    assert verdict.answer == "unknown"
    assert verdict.seconds < 5
    assert verdict.attempts[0].seconds > 2
    running = [line for line in lines if line.startswith("planners running; own search: ")]
    assert 1 <= len(running) <= 2  # one a second


def test_planners_have_a_head_start_of_our_own_search(make_counter, impatient):
    """Most plans take less, and two searches cost twice the time of the processor."""
    world, seen = make_counter(8), []

    def quick(*args, cancel, accept, **more):
        cancel()
        seen.append(len(world.calls))
        cancel()
        seen.append(len(world.calls))

    plan(world, world.start(), None, engine=READY, classical=quick, width=False)
    assert seen[0] == seen[1] < 2 * 256


# ---- talking ---------------------------------------------------------------------------


@pytest.mark.parametrize("ready", [READY, MISSING])
def test_it_can_be_cancelled(endless_world, ready):
    fake = FakePlanners()
    calls = iter(range(20))
    verdict = plan(
        endless_world,
        endless_world.start(),
        None,
        engine=ready,
        classical=fake,
        cancel=lambda: next(calls, None) is None,
    )
    assert verdict.answer == "unknown"
    assert verdict.attempts[0].result == "cancelled"
    assert fake.asked == []
    assert "cancelled" in verdict.notes[-1].message


def test_ctrl_c_is_not_swallowed(make_counter, impatient):
    def interrupted(*args, **more):
        raise KeyboardInterrupt

    world = make_counter(6)
    with pytest.raises(KeyboardInterrupt):
        plan_beside(world, world.start(), None, engine=READY, classical=interrupted)


def test_progress_is_told_only_when_it_takes_long(make_counter, endless_world, monkeypatch):
    monkeypatch.setattr(ladder, "_FIRST_SHARE", 0.5)
    lines, fake = [], FakePlanners()
    world = make_counter(4)
    plan(world, world.start(), None, engine=MISSING, classical=fake, progress=lines.append)
    assert lines == []
    began = time.monotonic()
    plan(
        endless_world,
        endless_world.start(),
        None,
        engine=MISSING,
        classical=fake,
        progress=lines.append,
        time_limit=2.6,
    )
    searches = ("own search: ", "width search: ")
    own = [line for line in lines if line.startswith(searches)]
    assert 1 <= len(own) <= 1 + time.monotonic() - began  # one a second, whoever's turn it is
    assert all("depth" in line for line in own)
    assert [line for line in lines if line not in own] == ["encoding the world for a planner"]


def test_a_goal_that_does_not_exist_is_a_failure(graph_world):
    world = graph_world({0: {}}, {"rich": frozenset(), "wise": frozenset()})
    with pytest.raises(Failure) as caught:
        plan(world, world.start(), "rihc", engine=MISSING, classical=FakePlanners())
    assert caught.value.diagnostics[0].code == "TW0201"
    assert caught.value.diagnostics[0].hint == "Did you mean `rich`?"


def test_a_world_without_goals_is_a_failure(graph_world):
    world = graph_world({0: {}}, {})
    with pytest.raises(Failure) as caught:
        plan(world, world.start(), None, engine=MISSING, classical=FakePlanners())
    assert "has no goal" in caught.value.diagnostics[0].message


# ---- counts that let others try ----------------------------------------------------------


def test_a_world_that_is_not_packed_is_soon_left_to_others(make_counter):
    """A count of states decides, and no clock: 2,048 states would be seen in a moment."""
    world, seen = make_counter(11), []

    def asked(*args, **more):
        seen.append(len(world.calls))

    verdict = plan_beside(world, world.start(), None, engine=READY, classical=asked)
    assert (verdict.answer, verdict.claim) == ("unwinnable", "exhausted")
    assert len(seen) == 1
    assert 0 < seen[0] < 2 * ladder._UNPACKED


def test_the_width_search_looks_before_planners_where_states_are_not_packed(graph_world, impatient):
    """An encoding of such a world may take all the memory there is."""
    world = line_world(graph_world, 9)
    fake = FakePlanners()
    verdict = plan(world, world.start(), "rich", engine=READY, classical=fake)
    assert (verdict.answer, verdict.engine, verdict.ticks) == ("winnable", "width search", 9)
    assert fake.asked == []


def test_a_bound_on_ticks_is_our_own_searchs_as_long_as_there_is_time(make_counter):
    """Nobody else answers for a bound, and so nobody is asked before."""
    world = make_counter(11)
    fake = FakePlanners()
    verdict = plan(world, world.start(), None, within=3_000, engine=READY, classical=fake)
    assert (verdict.answer, fake.asked) == ("unwinnable", [])


LAMPS = """
type Lamp {{ on: bool }}
action press(l: Lamp) {{ l.on = not l.on }}
{more}
world many "Many" {{
  object {names}: Lamp
  goal lit: all(l.on for l: Lamp) "All."
}}
"""


def lamps(number, more=""):
    return opened(LAMPS.format(names=", ".join(f"l{one}" for one in range(number)), more=more))


def test_a_packed_space_that_ends_is_seen_to_its_end():
    """After 10,000 of 16,384 states less than half wait: the plan is the shortest there is."""
    world, fake = lamps(14), FakePlanners()
    verdict = plan(world.simulator, world.state, None, engine=READY, classical=fake)
    assert (verdict.ticks, verdict.optimal, fake.asked) == (14, "ticks", [])


def test_a_packed_space_that_grows_is_left_to_a_planner():
    """After 10,000 of 262,144 states more than half wait, whatever the time."""
    world, told = lamps(18), []

    def asked(simulator, state, goal, *, accept, **more):
        steps = [PlanStep(Command("press", (one,))) for one in range(18)]
        told.append(accept(run_of("plan", *steps)))

    verdict = plan(world.simulator, world.state, None, engine=READY, classical=asked)
    assert told == [True]
    assert (verdict.answer, verdict.engine, verdict.ticks) == ("winnable", "fast-downward ff", 18)
    assert "10," in verdict.attempts[0].detail  # states, no matter how fast the machine is


# ---- packing in a hurry ------------------------------------------------------------------


SWAP = "action swap(l: Lamp, m: Lamp) { if l.on { m.on = not m.on } }"


def test_a_world_that_is_dear_to_pack_asks_planners_first():
    """Nothing happens there but commands: LAMA finds plans sooner than such states are packed."""
    world = lamps(8, SWAP)
    fake = FakePlanners(run_of("plan", *[PlanStep(Command("press", (one,))) for one in range(8)]))
    verdict = ladder.plan(world.simulator, world.state, None, engine=READY, translated=fake)
    assert (verdict.answer, verdict.engine, len(fake.asked)) == ("winnable", "fast-downward ff", 1)


def test_what_planners_leave_open_is_packed_after_all():
    world, fake = lamps(8, SWAP), FakePlanners()
    for engine in (READY, MISSING):
        verdict = plan_beside(world.simulator, world.state, None, engine=engine, classical=fake)
        assert (verdict.answer, verdict.engine, verdict.ticks) == ("winnable", "own search", 8)
        assert verdict.optimal == "ticks"


def test_estimates_of_the_width_search_end_with_its_share(graph_world, monkeypatch, impatient):
    """A relaxed plan of a large world may take longer than the whole limit."""
    world, slow = line_world(graph_world, 60), []

    class Slow(ladder.OwnRung):
        def run(self, limits, say, cancel):
            if self.engine == "width search" and not slow:
                slow.append(limits)
                self.begun, self.result = True, None
                end = time.monotonic() + 20
                while time.monotonic() < end:
                    pass
            return super().run(limits, say, cancel)

    monkeypatch.setattr("tokenworld.planning.width.search.OwnRung", Slow)
    began = time.monotonic()
    verdict = plan(world, world.start(), None, engine=READY, classical=FakePlanners(), time_limit=4)
    assert slow
    assert time.monotonic() - began < 15
    assert (verdict.answer, verdict.engine) == ("winnable", "own search")
    assert {one.engine: one.result for one in verdict.attempts}["width search"] == "limit"
