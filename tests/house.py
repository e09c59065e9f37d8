"""Count the code of `tokenworld/`: size, long functions, import circles, who mentions a class.

Run it from the root: `python tests/house.py`, or with ``--classes`` for the modules of each count
of the last table. `test_house.py` limits the numbers, so that they can only fall.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from statistics import median

PACKAGE = Path(__file__).resolve().parents[1] / "tokenworld"
NODE_MODULES = ("tokenworld.core", "tokenworld.model")
"""The packages with the classes that a new construct of the language extends."""
LONG_MODULE = 800
MANY_MODULES = 15

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def sources() -> Mapping[str, str]:
    """The text of every module by its dotted name; a package has the name of its ``__init__``.

    The parse tables of the grammar are JSON, so there is no generated code.
    """
    return {
        _dotted(path): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))
    }


def _dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def trees() -> Mapping[str, ast.Module]:
    """The syntax tree of every module by its dotted name."""
    return {name: ast.parse(text) for name, text in sources().items()}


def lines() -> Mapping[str, int]:
    """The number of lines of every module."""
    return {name: len(text.splitlines()) for name, text in sources().items()}


@cache
def functions() -> Mapping[str, int]:
    """The number of lines of every function, by ``module:line name``."""
    return {
        f"{module}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, Function)
    }


def crowded() -> Mapping[str, int]:
    """Folders with more modules than the limit, without ``__init__``."""
    counts: dict[str, int] = {}
    for path in PACKAGE.rglob("*.py"):
        if path.stem != "__init__":
            folder = path.parent.relative_to(PACKAGE.parent).as_posix()
            counts[folder] = counts.get(folder, 0) + 1
    return {folder: count for folder, count in sorted(counts.items()) if count > MANY_MODULES}


@cache
def _imports(tree: ast.Module) -> tuple[ast.Import | ast.ImportFrom, ...]:
    return tuple(one for one in ast.walk(tree) if isinstance(one, ast.Import | ast.ImportFrom))


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Pairs of a module of the project and a name imported from it ("" for the module itself).

    Imports inside functions and for the type checker count: they are dependencies too.
    """
    for node in _imports(tree):
        if isinstance(node, ast.Import):
            yield from ((one.name, "") for one in node.names if one.name in trees())
        elif node.module is not None and node.module in trees():
            for one in node.names:
                inner = f"{node.module}.{one.name}"
                yield (inner, "") if inner in trees() else (node.module, one.name)


@cache
def circles() -> list[tuple[str, ...]]:
    """Groups of modules of one package that import each other, directly or in turn."""
    graph = {
        module: {
            other
            for other, _ in imported(tree)
            if other != module and _package(other) == _package(module)
        }
        for module, tree in trees().items()
    }
    reached = {module: _reached(module, graph) for module in graph}
    groups = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in graph
    }
    return sorted(group for group in groups if group)


def _package(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _reached(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    open_ = [start]
    while open_:
        more = graph[open_.pop()] - found
        found |= more
        open_ += more
    return found


@cache
def mentions() -> Mapping[str, tuple[str, ...]]:
    """The modules that define, import or read each public class of core and of the model."""
    found: dict[str, set[str]] = {}
    for module, tree in trees().items():
        if module.startswith(NODE_MODULES):
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found.setdefault(f"{_package(module)}.{node.name}", set()).add(module)
    for module, tree in trees().items():
        for name in chain(_imported_nodes(tree), _read_nodes(tree)):
            if name in found:
                found[name].add(module)
    return {name: tuple(sorted(found[name])) for name in sorted(found)}


def _imported_nodes(tree: ast.Module) -> Iterator[str]:
    for module, name in imported(tree):
        if module.startswith(NODE_MODULES):
            yield f"{_package(module)}.{name}"


def _read_nodes(tree: ast.Module) -> Iterator[str]:
    """Classes that are read as attributes of an imported module (`m.Swap`)."""
    aliases = {
        one.asname or one.name: _package(f"{node.module}.{one.name}")
        for node in _imports(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for one in node.names
        if f"{node.module}.{one.name}" in trees()
        and f"{node.module}.{one.name}".startswith(NODE_MODULES)
    }
    for node in ast.walk(tree) if aliases else ():
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            package = aliases.get(node.value.id)
            if package is not None:
                yield f"{package}.{node.attr}"


def _table(title: str, rows: Mapping[str, int], most: int) -> Iterator[str]:
    yield f"\n{title}"
    ordered = sorted(rows.items(), key=lambda row: (-row[1], row[0]))
    yield from (f"  {count:>6,}  {name}" for name, count in ordered[:most])
    if len(ordered) > most:
        yield f"          … and {len(ordered) - most} more"


def report(classes: bool = False) -> Iterator[str]:
    """All counts as lines of text; ``classes`` lists the modules that mention each class."""
    sizes, spans = lines(), functions()
    packages: dict[str, list[int]] = {}
    for module, count in sizes.items():
        packages.setdefault(_package(module), []).append(count)
    yield f"{sum(sizes.values()):,} lines in {len(sizes)} modules"
    yield "\nlines   modules  package"
    for package, counts in sorted(packages.items()):
        yield f"{sum(counts):>6,}  {len(counts):>6}  {package}"
    yield f"\nfunctions: {len(spans):,}, median {median(spans.values()):g} lines"
    yield from _table("longest functions", spans, 5)
    long = {name: count for name, count in sizes.items() if count > LONG_MODULE}
    yield from _table(f"modules above {LONG_MODULE} lines: {len(long)}", long, 10)
    full = crowded()
    yield from _table(f"folders with more than {MANY_MODULES} modules: {len(full)}", full, 30)
    groups = circles()
    yield f"\nimport circles inside packages: {len(groups)}, of {sum(map(len, groups))} modules"
    yield from (f"  {len(group):>6}  {', '.join(group)}" for group in groups)
    named = mentions()
    most = len(named) if classes else 25
    counted = {name: len(modules) for name, modules in named.items()}
    yield from _table("modules that mention each class of core and model", counted, most)
    if classes:
        yield from (f"\n{name}\n  " + "\n  ".join(modules) for name, modules in named.items())


if __name__ == "__main__":
    print("\n".join(report(classes="--classes" in sys.argv[1:])))
