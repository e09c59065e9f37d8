"""A wheel carries all that the program needs: built, installed elsewhere, and used from there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DATA = {
    "grammars": ROOT / "grammars",
    "rules": ROOT / "rules",
    "domains": ROOT / "domains",
    "cards": ROOT / "docs" / "cards",
    "errors": ROOT / "docs" / "errors",
}
PROGRAM = "from tokenworld.cli import main; main()"

pytestmark = pytest.mark.slow


def run(*command: str, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built by the declared build backend."""
    folder = tmp_path_factory.mktemp("dist")
    built = run("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed package: what it depends on comes from this environment."""
    folder = tmp_path_factory.mktemp("site")
    options = ("--no-deps", "--no-index", "--quiet", "--disable-pip-version-check")
    done = run("-m", "pip", "install", *options, "--target", str(folder), str(wheel), cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def tw(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run("-c", PROGRAM, *arguments, cwd=cwd, path=installed)


def test_the_wheel_has_every_data_file(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    for kind, folder in DATA.items():
        wanted = {
            f"tokenworld/_data/{kind}/{path.relative_to(folder).as_posix()}"
            for path in folder.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        }
        assert wanted, kind
        assert wanted <= inside, kind


def test_the_wheel_has_every_file_of_the_package_and_no_test(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tokenworld").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert wanted <= inside
    assert not [name for name in inside if name.startswith(("tests/", "benchmarks/"))]


def test_the_installed_package_is_the_one_that_runs(installed: Path, tmp_path: Path) -> None:
    where = "import tokenworld; print(tokenworld.__file__)"
    found = run("-c", where, cwd=tmp_path, path=installed).stdout.strip()
    assert Path(found).is_relative_to(installed)


def test_a_bundled_world_is_checked_from_elsewhere(installed: Path, tmp_path: Path) -> None:
    done = tw(installed, tmp_path, "check", "willowbrook", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"] is True


def test_a_bundled_world_is_planned_from_elsewhere(installed: Path, tmp_path: Path) -> None:
    done = tw(installed, tmp_path, "plan", "cellar", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["answer"] == "winnable"


def test_a_bundled_page_is_printed_from_elsewhere(installed: Path, tmp_path: Path) -> None:
    done = tw(installed, tmp_path, "explain", "TW0403")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (DATA["errors"] / "TW0403.md").read_text(encoding="utf-8")


def test_a_card_is_made_from_elsewhere(installed: Path, tmp_path: Path) -> None:
    done = tw(installed, tmp_path, "card", "--for", "repair")
    assert done.returncode == 0, done.stderr
    assert "**The block rule.**" in done.stdout


def test_nothing_is_written_where_nothing_is_recorded(installed: Path, tmp_path: Path) -> None:
    assert tw(installed, tmp_path, "check", "cellar").returncode == 0
    assert list(tmp_path.iterdir()) == []
