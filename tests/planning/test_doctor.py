"""What `tw doctor` says of planners that are there, missing, broken, or without their Java."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest

from tokenworld.planning.planners import doctor
from tokenworld.planning.planners.doctor import ENHSP, FAST_DOWNWARD, engines, find_engine


class Installed:
    """A distribution with these files below a folder; only those that exist do exist."""

    version = "9.9"

    def __init__(self, folder, *files):
        self._folder = folder
        self.files = [metadata.PackagePath(file) for file in files] or None

    def locate_file(self, path):
        return self._folder / path


@pytest.fixture
def install(monkeypatch, tmp_path):
    """Pretend that a package is installed with these files, all of which exist."""

    def pretend(*files, exist=True):
        for file in files if exist else ():
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text("")
        monkeypatch.setattr(metadata, "distribution", lambda name: Installed(tmp_path, *files))
        return tmp_path

    return pretend


def test_all_planners_are_listed_in_order():
    names = [one.engine for one in engines()]
    assert names == ["fast-downward", "symk", "enhsp", "unified-planning"]


def test_looking_for_planners_imports_none():
    code = (
        "import sys; from tokenworld.planning.planners.doctor import engines; engines();"
        "print({'up_fast_downward', 'up_symk', 'up_enhsp'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"


def test_a_missing_planner_comes_with_its_command(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    found = find_engine(FAST_DOWNWARD)
    assert (found.ready, found.version, found.path) == (False, None, None)
    assert found.install == "python -m pip install 'up-fast-downward>=0.5'"
    assert "not installed" in found.problem


@pytest.mark.parametrize("program", ["up/builds/bin/downward", "up/builds/bin/downward.exe"])
def test_a_planner_that_is_there_is_ready(install, program):
    folder = install("up/__init__.py", program)
    found = find_engine(FAST_DOWNWARD)
    assert (found.ready, found.version, found.path) == (True, "9.9", str(folder / program))
    assert found.to_json()["ready"] is True


def test_a_planner_whose_program_is_gone_must_be_installed_again(install):
    install("up/builds/bin/downward", exist=False)
    found = find_engine(FAST_DOWNWARD)
    assert not found.ready
    assert found.path is None
    assert "--force-reinstall" in found.install


@pytest.mark.parametrize(
    ("java", "problem"),
    [(None, "`java` is not found"), (8, "it needs Java 17, and `java` is version 8"), (17, "")],
)
def test_enhsp_needs_java(install, monkeypatch, java, problem):
    install("up_enhsp/ENHSP/enhsp.jar")
    monkeypatch.setattr(doctor, "_java_version", lambda: java)
    found = find_engine(ENHSP)
    assert found.ready == (java == 17)
    assert found.problem.startswith(problem)
    assert ("adoptium" in found.install) == (java != 17)


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ('openjdk version "17.0.9" 2023-10-17', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("garbage", None),
    ],
)
def test_the_java_version_is_read_from_what_java_prints(monkeypatch, tmp_path, printed, version):
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\necho '{printed}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert doctor._java_version() == version
