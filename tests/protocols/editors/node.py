"""Node.js for tests: packages from npm, kept between runs, and scripts that read stdin."""

from __future__ import annotations

import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "scripts"


def installed(*packages: str) -> Path:
    """A folder with these npm packages; the test is skipped where they cannot be had."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("Node.js with npm is not installed")
    digest = sha256(" ".join(packages).encode()).hexdigest()[:12]
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "token-world" / "npm" / digest
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"npm gives no packages: {done.stderr[-300:]}")
        (folder / "done").touch()
    return folder / "node_modules"


def run_node(modules: Path, script: str, given: str, *more: str, cwd: Path | None = None) -> str:
    """What a script of ours prints for a text on stdin."""
    environment = {**os.environ, "NODE_PATH": str(modules)}
    done = subprocess.run(
        ["node", str(SCRIPTS / script), *more],
        input=given, capture_output=True, text=True, encoding="utf-8", env=environment, cwd=cwd,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
