"""A file that lacks a `use` line: one error, which names the module."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.check import check_source, file_loader
from tokenworld.check.modules import STANDARD
from tokenworld.check.workspace import Workspace
from tokenworld.diagnostics import Diagnostic, Source

ROOT = Path(__file__).parents[2]
RULES = ROOT / "rules"


def errors(text: str) -> list[Diagnostic]:
    source = Source("w.tw", None, text)
    found = check_source(source, file_loader((RULES,))).diagnostics
    again = Workspace(file_loader((RULES,))).open(source).diagnostics
    assert [one.message for one in again] == [one.message for one in found]
    return [one for one in found if one.is_error]


def test_the_packaged_modules_are_listed() -> None:
    files = (path.relative_to(RULES) for path in RULES.glob("*/*.tw"))
    assert sorted(STANDARD) == sorted(".".join(path.with_suffix("").parts) for path in files)


@pytest.mark.parametrize(
    ("world", "module"),
    [
        ("taxi", "grid.cells"),
        ("usecases/light_and_dark", "std.sight"),
        ("usecases/trade", "std.economy"),
    ],
)
def test_a_use_line_that_is_missing_is_one_error(world: str, module: str) -> None:
    lines = (ROOT / "domains" / world / "world.tw").read_text(encoding="utf-8").splitlines()
    (only,) = errors("\n".join(line for line in lines if not line.startswith("use ")))
    assert (only.hint or "").startswith(f"Write `use {module}`: it declares `")


def test_one_unknown_name_may_be_the_authors_own() -> None:
    (only,) = errors("edition 1\nobject sword: Portable\n")
    assert only.hint == "Write `use std.things`; or declare `type Portable`."


def test_a_misspelt_module() -> None:
    (only,) = errors("edition 1\nuse grid.cell\n")
    assert only.hint == "Did you mean `grid.cells`?"
