"""Settings of all tests: fixed random examples, working signals, and checks that are kept.

A failure that comes and goes is of no use; `tw fuzz` searches new examples instead.
"""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from tests.checked_once import install

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# A shell starts background processes with SIGINT ignored, `nohup` those with SIGHUP, and children
# inherit that: tests that interrupt a program, or end its terminal, would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

gc.set_threshold(100_000, 10, 3)  # as `tokenworld.cli` does

CHECKED_ONCE = install()
OF_THE_CHECKER = ("check", "diagnostics", "errors", "findings", "robustness", "syntax")
"""Folders whose tests check each text anew."""


def pytest_collection_finish() -> None:
    """The collector of cycles leaves the thousands of collected tests alone."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """One collection at the end is enough: Pytest goes through all objects five times."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests of the checker check each text anew."""
    folder = item.path.relative_to(item.config.rootpath / "tests").parts[0]
    CHECKED_ONCE.on = folder not in OF_THE_CHECKER


LONG_TAIL = frozenset(
    (Path(__file__).parent / "long_tail.txt").read_text(encoding="utf-8").splitlines()
)
"""Tests that are slow by measurement, see `tests/cpu_times.py`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The map of Crafter has 4,200 objects: what is tested of every world takes long there."""
    small = ("crafter-rules", "crafter-land", "crafter-quarry", "crafter-duels", "crafter/rules",
             "crafter/land", "crafter/quarry", "crafter/duels")  # fmt: skip
    for item in items:
        asked = item.name.partition("[")[2]
        large = "crafter" in asked and not any(one in asked for one in small)
        if large or item.nodeid in LONG_TAIL:
            item.add_marker(pytest.mark.slow)
    _begin_elsewhere(items)


def _begin_elsewhere(items: list[pytest.Item]) -> None:
    """The long tail first, and of it another test for each commit, where time may run out:
    `.ci/run` runs the slow tests with the commit as `TW_BEGIN`."""
    begin, tail = os.environ.get("TW_BEGIN"), [one for one in items if one.nodeid in LONG_TAIL]
    if begin and tail:
        at = int(begin, 16) % len(tail)
        others = [one for one in items if one.nodeid not in LONG_TAIL]
        items[:] = [*tail[at:], *tail[:at], *others]
