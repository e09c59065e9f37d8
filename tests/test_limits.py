"""The limits of a command: `Halted` comes in any phase, and what is known goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tokenworld import Session, limits
from tokenworld.limits import Halted, attempt, attempt_for, limited, near, phase

FINDINGS = Path(__file__).parent / "findings" / "planning"

pytestmark = pytest.mark.skipif(not hasattr(limits.signal, "setitimer"), reason="no timer")


def endless() -> str:
    while True:
        pass


def test_a_phase_that_never_looks_at_the_clock_is_given_up() -> None:
    with limited(0.0, None, time.monotonic()):
        assert attempt("trying", endless, lambda: "given up") == "given up"
        found = limits.halted()
        assert found is not None
        assert (found.why, found.phase) == ("time", "trying")
        assert attempt("more", endless, lambda: "not begun") == "not begun"
    assert limits.halted() is None


def test_it_ends_even_where_nobody_gives_up() -> None:
    with (
        pytest.raises(Halted) as caught,
        limited(0.0, None, time.monotonic()),
        phase("working"),
    ):
        endless()
    assert caught.value.phase == "working"


def test_what_is_raised_in_a_destructor_is_raised_again() -> None:
    """Python drops what is raised there."""

    class Slow:
        def __del__(self) -> None:
            end = time.monotonic() + 0.8
            while time.monotonic() < end:
                pass

    def work() -> str:
        Slow()
        return endless()

    with limited(0.0, None, time.monotonic()):
        assert attempt("trying", work, lambda: "given up") == "given up"


def test_what_tells_the_answer_is_ended_as_well() -> None:
    def told() -> None:
        attempt("trying", endless, lambda: "given up")
        endless()

    with pytest.raises(Halted), limited(0.0, None, time.monotonic()):
        told()


def test_a_handler_of_errors_does_not_stop_it() -> None:
    def stubborn() -> str:
        while True:
            try:
                endless()
            except Exception:
                continue

    with limited(0.0, None, time.monotonic()):
        assert attempt("trying", stubborn, lambda: "given up") == "given up"


GROWS = """
import time
from tokenworld import Session, limits
from tokenworld.limits import attempt, limited

held = []

def work():
    while True:
        held.append(bytearray(b"x" * (1 << 20)))

with limited(None, limits.used() + (64 << 20), time.monotonic()):
    assert attempt("growing", work, lambda: "given up") == "given up"
    found = limits.halted()
print(found.why, found.phase, len(held))
"""


def test_memory_is_measured() -> None:
    """In a process of its own: one that held more before has room that is not measured anew."""
    told = subprocess.run([sys.executable, "-c", GROWS], capture_output=True, text=True, check=True)
    why, what, blocks = told.stdout.split()
    assert (why, what) == ("memory", "growing")
    assert 32 <= int(blocks) <= 64


def test_one_block_that_is_too_large_is_refused() -> None:
    most = 2 * limits.used() + (64 << 20)
    with limited(None, most, time.monotonic()):
        found = attempt("taking", lambda: str(len(bytearray(1 << 40))), lambda: "given up")
    assert found == "given up"


def test_searches_are_told_before_work_is_given_up() -> None:
    assert near() is None
    with limited(0.0, None, time.monotonic()):
        assert near() == "time"
    with limited(600.0, 3 * limits.used(), time.monotonic()):
        assert near() is None
    with limited(600.0, int(limits.used() / 0.8), time.monotonic()):
        assert near() == "memory"


def test_the_limits_around_hold_within() -> None:
    with (
        limited(0.0, None, time.monotonic()),
        pytest.raises(Halted),
        limited(600.0, None, time.monotonic()),
    ):
        endless()
    with limited(600.0, None, time.monotonic()):
        with pytest.raises(Halted), limited(0.0, None, time.monotonic()):
            endless()
        assert near() is None


def test_a_timer_of_the_caller_goes_on() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with limited(600.0, None, time.monotonic()):
            time.sleep(0.4)
        assert not rung
        time.sleep(0.4)
        assert rung == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_plan_ends_at_its_limit_in_a_phase_that_never_looks_at_the_clock() -> None:
    """The encoding of this world takes minutes; nobody but the planner itself has a limit."""
    session = Session.open(str(FINDINGS / "slow_encoding.tw"))
    before = time.process_time()
    verdict = session.plan(time_limit=1.0)
    assert verdict.answer == "unknown"
    assert time.process_time() - before < 10
    assert any(one.code == "TW0813" for one in verdict.notes)


def test_without_limits_it_only_calls() -> None:
    assert attempt("trying", lambda: "done", lambda: "given up") == "done"


def test_a_silent_phase_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    with limited(600.0, None, time.monotonic()), phase("counting sheep"):
        end = time.monotonic() + 60
        said = ""
        while "counting sheep" not in said and time.monotonic() < end:
            time.sleep(0.05)
            said += capfd.readouterr().err
    assert "· counting sheep, " in said


def test_a_limit_that_is_used_up_as_its_block_ends_leaves_no_timer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The timer may fire between the end of the block and the end of its context manager."""
    for name, value in (("_LOOK", 20e-6), ("_GRACE", 0.0), ("_LAST", 0.0), ("_AGAIN", 0.0)):
        monkeypatch.setattr(limits, name, value)
    ends = Counter[bool]()
    for number in range(3000):
        begin = time.monotonic()
        try:
            with limited((number % 50) * 2e-6, None, begin):
                pass
            ends[True] += 1
        except Halted:
            ends[False] += 1
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        assert near() is None
    assert all(ends.values())
    assert len(ends) == 2


def test_the_answer_after_a_limit_of_its_own_is_not_ended_by_it() -> None:
    def late() -> str:
        time.sleep(2.0)  # longer than any grace
        return "late"

    assert attempt_for(0.05, "sleeping", lambda: time.sleep(5) or "done", late) == "late"
    assert attempt_for(5, "sleeping", lambda: "done", late) == "done"
