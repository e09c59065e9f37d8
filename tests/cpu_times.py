"""CPU seconds of tests, their children included: as plugin:

    PYTHONPATH=tests python -m pytest -p cpu_times tests/cli

Prints the sum of each folder and the tests that take the most. `tests/long_tail.txt` names those
that are run as slow ones. Not with ``-n``: each worker would know its own tests only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

import pytest

SPENT: Counter[str] = Counter()
MOST = 60
"""Tests that are printed."""


def cpu() -> float:
    """The seconds that this process and the children that it waited for have spent."""
    used = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    begun = cpu()
    found = yield
    SPENT[item.nodeid] += cpu() - begun
    return found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the sums and the tests that took the most."""
    folders: Counter[str] = Counter()
    for name, seconds in SPENT.items():
        folders["/".join(name.partition("::")[0].split("/")[:2])] += seconds
    write = terminalreporter.write_line
    terminalreporter.section(f"CPU: {sum(folders.values()):.0f} s of {len(SPENT)} tests")
    for name, seconds in folders.most_common():
        write(f"{seconds:8.1f} s  {name}")
    write("")
    for name, seconds in SPENT.most_common(MOST):
        write(f"{seconds:8.1f} s  {name}")
