"""The reference evaluator shares no code with the engine, so that a mistake is not made twice."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "tokenworld" / "engine"
REFERENCE = PACKAGE / "reference"
ALLOWED = ("tokenworld.model", "tokenworld.core", "tokenworld.ground", "tokenworld.diagnostics")
OWN = "tokenworld.engine.reference"


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            whole = node.module == "tokenworld"  # `from tokenworld import model as m`
            names = {f"tokenworld.{one.name}" for one in node.names}
            found |= names if whole else {node.module or ""}
    return {one for one in found if one.partition(".")[0] == "tokenworld"}


def under(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def test_the_reference_imports_the_model_and_data_shapes_only() -> None:
    for path in sorted(REFERENCE.glob("*.py")):
        for name in imports(path):
            assert any(under(name, package) for package in (*ALLOWED, OWN)), f"{path.name}: {name}"


def test_the_engine_does_not_import_the_reference() -> None:
    for path in sorted(PACKAGE.glob("*.py")):
        assert not [name for name in imports(path) if under(name, OWN)], path.name


def test_the_reference_generates_no_code() -> None:
    for path in sorted(REFERENCE.glob("*.py")):
        names = {n.id for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Name)}
        assert not names & {"exec", "eval", "compile"}, path.name
