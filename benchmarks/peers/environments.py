"""Environments of the peers: made on demand in a cache folder, never in the project."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

__all__ = ["Environment", "SetupError", "cache_folder", "own", "prepared"]

_SECONDS = 900
_PROJECT = Path(__file__).parents[2]


class SetupError(Exception):
    """A peer cannot be set up here; the message says why."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A Python, and the versions of what is measured in it."""

    python: Path
    versions: str


def cache_folder() -> Path:
    """Where environments are kept: ``TW_PEERS``, else a folder of the user's cache."""
    named = os.environ.get("TW_PEERS")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "token-world" / "peers"


def prepared(name: str, packages: tuple[str, ...]) -> Environment:
    """The environment of a peer; made, and its packages installed, the first time.

    Raises `SetupError` where that fails.
    """
    if not packages:
        return Environment(Path(sys.executable), "")
    folder = cache_folder() / name
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        _run([sys.executable, "-m", "venv", "--clear", str(folder)], name)
        _run([str(python), "-m", "pip", "install", "--quiet", *packages], name)
        (folder / "ready").touch()
    return Environment(python, _versions(python, packages))


def own() -> Environment:
    """The environment of ours: this one if numba is there, else one with the extra `fast`.

    The project in it is this checkout. Where it cannot be made this one is all there is, and says
    so when it is asked for what has to be compiled.
    """
    this = Environment(Path(sys.executable), "")
    if find_spec("numba") is not None:
        return this
    folder = cache_folder() / "token-world"
    python = folder / "bin" / "python"
    try:
        if not (folder / "ready").exists():
            _run([sys.executable, "-m", "venv", "--clear", str(folder)], "token-world")
            target = f"{_PROJECT}[fast]"
            _run([str(python), "-m", "pip", "install", "--quiet", "-e", target], "token-world")
            (folder / "ready").touch()
    except SetupError:
        return this
    return Environment(python, "")


def _run(command: list[str], name: str) -> str:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"`{name}` could not be set up: {error}") from None
    if ran.returncode != 0:
        lines = [line for line in ran.stderr.splitlines() if line.strip()]
        last = lines[-1] if lines else f"exit code {ran.returncode}"
        raise SetupError(f"`{name}` could not be set up: {last}")
    return ran.stdout


def _versions(python: Path, packages: tuple[str, ...]) -> str:
    names = [one.partition("[")[0].partition("==")[0] for one in packages]
    code = (
        "import sys, platform; from importlib.metadata import version; "
        "print(', '.join([f'{n} {version(n)}' for n in sys.argv[1:]] + "
        "['Python ' + platform.python_version()]))"
    )
    return _run([str(python), "-c", code, *names], names[0]).strip()
