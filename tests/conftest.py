"""Settings of all tests: fixed random examples, and working signals.

A failure that comes and goes is of no use; `tw fuzz` searches new examples instead.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# A shell starts background processes with SIGINT ignored, `nohup` those with SIGHUP, and children
# inherit that: tests that interrupt a program, or end its terminal, would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """The map of Crafter has 4,200 objects: what is tested of every world takes long there."""
    small = ("crafter-rules", "crafter-land", "crafter-quarry", "crafter-duels", "crafter/rules",
             "crafter/land", "crafter/quarry", "crafter/duels")  # fmt: skip
    for item in items:
        asked = item.name.partition("[")[2]
        if "crafter" in asked and not any(one in asked for one in small):
            item.add_marker(pytest.mark.slow)
