"""The extension of VS Code: built, packed, and driven with a stub of `vscode` against the server.

A real VS Code cannot be had in the tests; what it would do with the answers is not tested.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from node import installed, run_node

from tokenworld.syntax.tables import tables

ROOT = Path(__file__).resolve().parents[3]
VSCODE = ROOT / "editors" / "vscode"
MANIFEST = json.loads((VSCODE / "package.json").read_text(encoding="utf-8"))
PROGRAM = "from tokenworld.cli import main; main()"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the extension, built by its own script with the packages it asks for."""
    wanted = MANIFEST["devDependencies"]
    modules = installed(*(f"{name}@{version}" for name, version in sorted(wanted.items())))
    folder = tmp_path_factory.mktemp("extension") / "vscode"
    shutil.copytree(VSCODE, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (folder / "node_modules").symlink_to(modules)
    done = npm(folder, "run", "package")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def npm(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["npm", *command], capture_output=True, text=True, cwd=folder, check=False, timeout=300
    )


def driven(built: Path, world: Path, *command: str) -> dict[str, Any]:
    """What the stub saw while the extension ran on one file."""
    bundle = str(built / "dist" / "extension.js")
    modules = built / "node_modules"
    found: dict[str, Any] = json.loads(
        run_node(modules, "extension.cjs", "", bundle, str(world), *command)
    )
    return found


def test_the_manifest_names_files_that_are_there_and_the_version_of_the_package() -> None:
    contributed = MANIFEST["contributes"]
    (language,), (grammar,) = contributed["languages"], contributed["grammars"]
    assert (VSCODE / language["configuration"]).is_file()
    assert (VSCODE / grammar["path"]).is_file()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert MANIFEST["version"] == project["project"]["version"]


def test_the_language_configuration_knows_the_brackets_of_the_grammar() -> None:
    settings = json.loads((VSCODE / "language-configuration.json").read_text(encoding="utf-8"))
    used = {sign for pair in settings["brackets"] for sign in pair}
    assert used == set("()[]{}")
    signs = {sign for row in tables().actions.every() for sign in row}
    assert used <= tables().first("expr") | signs


@pytest.mark.node
def test_the_packed_extension_holds_what_it_needs_and_no_more(built: Path) -> None:
    (packed,) = built.glob("*.vsix")
    with zipfile.ZipFile(packed) as archive:
        names = {one for one in archive.namelist() if one.startswith("extension/")}
    assert {one.lower() for one in names} == {
        "extension/dist/extension.js",
        "extension/language-configuration.json",
        "extension/package.json",
        "extension/readme.md",
        "extension/syntaxes/tw.tmlanguage.json",
    }


@pytest.mark.node
def test_the_extension_shows_what_the_server_says(built: Path, tmp_path: Path) -> None:
    world = tmp_path / "it's a world.tw"
    shutil.copy(ROOT / "domains" / "cellar" / "world.tw", world)
    seen = driven(built, world, sys.executable, "-c", PROGRAM)
    assert seen["errors"] == []
    assert seen["diagnostics"][-1] == []
    assert seen["hover"].startswith("```tw\nworld cellar")
    line = world.read_text(encoding="utf-8").split("\n").index('world cellar "The Cellar" {')
    assert [str(world), line, "other"] in seen["renamed"]
    assert {text for _, _, text in seen["renamed"]} == {"other"}
    scenarios = re.findall(r"^scenario ", world.read_text(encoding="utf-8"), re.MULTILINE)
    lenses = ["plan ▸", "test ▸", "play ▸", *("test ▸" for _ in scenarios)]
    assert seen["lenses"] == lenses
    first = [sys.executable, ["-c", PROGRAM]]
    assert [[name, given[:2]] for name, given in seen["tasks"]] == [first] * len(lenses)
    assert [given[2:] for _, given in seen["tasks"]] == [
        ["plan", f"{world}:cellar"], ["test", str(world)],
        ["play", f"{world}:cellar"], *(["test", str(world)] for _ in scenarios),
    ]  # fmt: skip
    assert seen["saved"] == len(lenses)


@pytest.mark.node
def test_a_missing_program_is_told_with_the_next_step(built: Path, tmp_path: Path) -> None:
    world = tmp_path / "world.tw"
    world.write_text("type Lamp\n", encoding="utf-8")
    seen = driven(built, world, str(tmp_path / f"no-such-{os.getpid()}"))
    assert any("pip install 'token-world[lsp]'" in one for one in seen["errors"])
