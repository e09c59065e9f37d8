"""What pages and docstrings name is there: files, modules, and names in modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tokenworld"
PACKAGES = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "benchmarks").glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "adr").glob("*.md")),
]
FOLDERS = ("tokenworld", "tests", "benchmarks", "grammars", "rules", "domains", "docs", "editors")
PLACE = re.compile(rf"(?<![\w/.(\"-])((?:{'|'.join((*FOLDERS, *PACKAGES))})/[\w./*-]*[\w*/])")
"""A path, from the root or within the package; links are tested elsewhere."""
NAME = re.compile(rf"(?<!`)`((?:tokenworld\.)?(?:{'|'.join(PACKAGES)})(?:\.\w+)+)(?:\([^`]*\))?`")
NO_MODULES = {"quality.toml", "engine.hash", "engine.json", "engine.live", "engine.why"}
"""A file, and methods of what a sample calls `engine`."""


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_there(place: str, beside: Path) -> bool:
    """Whether a path, which may have stars, leads to a file or a folder."""
    return any(any(root.glob(place)) for root in (ROOT, PACKAGE, beside))


def stands_for_something(name: str) -> bool:
    """Whether a dotted name is a module of the program, or something in one."""
    parts = name.removeprefix("tokenworld.").split(".")
    for end in range(len(parts), 0, -1):
        path = PACKAGE.joinpath(*parts[:end])
        if path.with_suffix(".py").is_file() or path.is_dir():
            if end == len(parts):  # the module itself; what it imports may not be installed
                return True
            return _has(import_module(".".join(("tokenworld", *parts[:end]))), parts[end:])
    return False


def _has(thing: object, parts: list[str]) -> bool:
    for part in parts:
        if part not in dir(thing) and not hasattr(thing, part):
            return False
        try:
            thing = getattr(thing, part)
        except Failure:  # the name is there, the extra behind it is not installed
            return True
    return True


def lost_places(text: str, beside: Path) -> list[str]:
    """The paths of a text that lead nowhere."""
    return [one for one in PLACE.findall(text) if not is_there(one, beside)]


def lost_names(text: str) -> list[str]:
    """The dotted names of a text that stand for nothing."""
    names = [one for one in NAME.findall(text) if one not in NO_MODULES]
    return [one for one in names if not stands_for_something(one)]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_what_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not lost_places(text, page.parent)
    assert not lost_names(text)


def docstrings() -> Iterator[tuple[Path, str]]:
    """Every docstring, those of constants too."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                yield path, str(node.value.value)


def test_what_docstrings_name_is_there() -> None:
    found = {f"{named(path)}: {one}" for path, text in docstrings() for one in lost_names(text)}
    assert not found


def test_what_is_not_there_is_found() -> None:
    text = "See `engine/state.py`, `engine/leap.py`, `check.PASSES`, `check.LAPS`, `model.gone.At`."
    assert lost_places(text, ROOT) == ["engine/leap.py"]
    assert lost_names(text) == ["check.LAPS", "model.gone.At"]


def test_the_vocabulary_map_names_classes_of_each_package() -> None:
    """The table of `tokenworld/__init__.py`: what a column names stands in its package."""
    homes = {
        "syntax": ["syntax.nodes"],
        "model": ["model"],
        "core": ["core.nodes", "core.rules"],
    }
    text = ast.get_docstring(ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")))
    head, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (text or "").splitlines()
        if line.startswith("|")
    ]
    assert len(rows) > 10
    for number, title in enumerate(head):
        modules = [import_module(f"tokenworld.{one}") for one in homes.get(title.strip("`"), ())]
        for name in (found for row in rows for found in re.findall(r"`(\w+)`", row[number])):
            assert not modules or any(hasattr(one, name) for one in modules), (title, name)
