"""How fast this machine is now, so that CPU budgets mean the same everywhere.

Budgets are CPU seconds on the machine that they were written on. A slower one, or one that is busy,
gets more: the same fixed work is timed before, and the budget grows with it.
"""

from __future__ import annotations

import resource
import subprocess
import sys

WORK = """
import ast, json
text = "def f(a, b=2):\\n    return [a + b for x in range(b) if x]\\n" * 40
for _ in range(12):
    ast.dump(ast.parse(text))
    json.dumps(list(range(4000)))
"""
SECONDS = 0.050
"""What the work takes there, the start of the interpreter included."""


def pace() -> float:
    """How many times slower than the reference this machine is, at least 1."""
    least = min(_seconds() for _ in range(3))
    return max(1.0, least / SECONDS)


def _seconds() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", WORK], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
