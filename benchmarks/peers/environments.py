"""Virtual environments of the peers, created on demand in a cache folder outside the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp

__all__ = [
    "PEERS",
    "PROJECT",
    "Environment",
    "SetupError",
    "earlier",
    "made",
    "ours",
    "peer",
    "unpacked",
]

PEERS = {
    "token-world": ("token-world[fast,gym]",),
    "unified-planning": ("unified-planning",),
    "pddlgym": ("pddlgym",),
    "textworld": ("textworld",),
    "fast-downward": ("up-fast-downward", "fast-downward.translate"),
    "gymnasium": ("gymnasium",),
    "crafter": ("crafter",),
}
"""The packages that pip installs for each peer; `token-world` is this checkout."""
_SECONDS = 900
PROJECT = Path(__file__).parents[2]


class SetupError(Exception):
    """A program for a measurement is missing; the message says how to install it."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A Python, and the folder of the program that it imports; ``None``: not ours."""

    python: Path
    program: Path | None = None

    def variables(self) -> dict[str, str]:
        """The environment variables of a process of this environment."""
        kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
        return kept if self.program is None else {**kept, "PYTHONPATH": str(self.program)}


def cache_folder() -> Path:
    """The folder of environments: ``TW_PEERS``, else a folder of the user's cache."""
    named = os.environ.get("TW_PEERS")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "token-world" / "peers"


def made(name: str) -> Environment:
    """The environment of a peer, created if it is missing. Raises `SetupError`."""
    folder = cache_folder() / name
    if not (folder / "ready").exists():
        packages = [_installed(one) for one in PEERS[name]]
        _run([sys.executable, "-m", "venv", "--clear", str(folder)], name)
        _run([str(_python(folder)), "-m", "pip", "install", "--quiet", *packages], name)
        (folder / "ready").touch()
    return Environment(_python(folder))


def peer(name: str) -> Environment:
    """The environment of a peer. Raises `SetupError` with the command that creates it."""
    folder = cache_folder() / name
    if not (folder / "ready").exists():
        raise SetupError(f"not installed: `python -m benchmarks --peers {name}`")
    return Environment(_python(folder))


def ours() -> Environment:
    """This checkout in an environment with its extras `fast` and `gym`."""
    return Environment(peer("token-world").python, PROJECT)


def earlier(commit: str) -> Environment:
    """The same with the program of a commit instead of this checkout."""
    return Environment(peer("token-world").python, unpacked(commit))


@cache
def unpacked(commit: str) -> Path:
    """A folder with the program of a commit, and the rule packages of today's worlds.

    Raises `SetupError` if git does not have the commit.
    """
    named = ["git", "rev-parse", "--short=12", f"{commit}^{{commit}}"]
    known = subprocess.run(named, cwd=PROJECT, capture_output=True, text=True, check=False)
    folder = cache_folder() / f"token-world-{known.stdout.strip()}"
    asked = ["git", "archive", commit, "tokenworld", "grammars", "pyproject.toml"]
    packed = subprocess.run(asked, cwd=PROJECT, capture_output=True, check=False)
    if packed.returncode != 0:
        raise SetupError(f"`{commit}` is not in this clone: `git fetch --unshallow`")
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        place = Path(mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
        with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
            archive.extractall(place, filter="data")
        place.rename(folder)
    shutil.copytree(PROJECT / "rules", folder / "rules", dirs_exist_ok=True)
    return folder


def _installed(package: str) -> str:
    """The argument of pip: a folder for this checkout, else a name."""
    name, bracket, extras = package.partition("[")
    return f"{PROJECT}{bracket}{extras}" if name == "token-world" else package


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _run(command: list[str], name: str) -> None:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"`{name}` could not be set up: {error}") from None
    if ran.returncode != 0:
        lines = [line for line in ran.stderr.splitlines() if line.strip()]
        last = lines[-1] if lines else f"exit code {ran.returncode}"
        raise SetupError(f"`{name}` could not be set up: {last}")
