"""The list of tests that are slow by measurement names tests that there are."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "tests" / "long_tail.txt").read_text(encoding="utf-8").splitlines()


@cache
def functions_of(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(one.name for one in ast.walk(tree) if isinstance(one, kinds))


def test_each_line_names_a_test() -> None:
    names = [line.partition("[")[0].partition("::") for line in LINES if not line.startswith("#")]
    assert len(names) > 100
    assert [(path, name) for path, _, name in names if name not in functions_of(path)] == []


def test_the_lines_are_sorted_and_differ() -> None:
    lines = [line for line in LINES if not line.startswith("#")]
    assert [line for line, count in Counter(lines).items() if count > 1] == []
    assert lines == sorted(lines)
