"""Starting is cheap: what `tw check`, `tw plan` and `tw --version` must never load.

What is loaded decides how long the start takes; no test times it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOMAINS = sorted((ROOT / "domains").glob("*/world.tw"))

HEAVY = (
    *("lark", "pydantic", "sqlite3", "textual", "unified_planning", "numpy", "rich", "asyncio"),
    *("httpx", "pydantic_ai", "tokenworld.verbs.author", "tokenworld.verbs.judge"),
    *("tokenworld.planning", "tokenworld.store", "tokenworld.play", "tokenworld.check.repairs"),
    *("tokenworld.protocols", "mcp", "anyio", "llguidance"),
)
"""What checking a file has no use for."""

LOADED = """
import json, sys
from tokenworld.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program in a child process; the bytecode of the package is there after one run."""
    command = [sys.executable, "-c", code, *arguments]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("COV_", "PYTHON"))}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )


def loaded_by(*arguments: str) -> set[str]:
    done = run(LOADED, *arguments)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_there_are_worlds_to_measure() -> None:
    assert len(DOMAINS) >= 4


@pytest.mark.parametrize("world", DOMAINS, ids=lambda path: path.parent.name)
def test_check_loads_nothing_heavy(world: Path) -> None:
    assert not loaded_by("check", str(world)) & set(HEAVY)


def test_the_version_loads_no_package_of_ours() -> None:
    ours = {name for name in loaded_by("--version") if name.startswith("tokenworld.")}
    assert "tokenworld.cli" in ours
    assert not [name for name in ours if not name.startswith("tokenworld.cli")]


@pytest.mark.parametrize("call", ["check", "plan", "play", "run --player planner"])
def test_nothing_of_the_benchmark_and_the_judge_is_loaded(tmp_path: Path, call: str) -> None:
    verb, *options = call.split()
    world = str(ROOT / "domains" / "cellar" / "world.tw")
    stored = ["--store", str(tmp_path / "runs.sqlite")] if verb in ("play", "run") else []
    found = loaded_by(verb, world, *options, *stored)
    assert f"tokenworld.verbs.{'check' if verb == 'check' else 'plan.verb'}" in found or stored
    unwanted = ("simbench", "verbs.records", "verbs.judge", "verbs.author", "verbs.bench")
    unwanted = (*unwanted, "verbs.learn", "tokenworld.protocols", "gym")
    assert not [name for name in found if any(one in name for one in unwanted)]
    libraries = {
        "pygls",
        "lsprotocol",
        "pygments",
        "httpx",
        "pydantic_ai",
        "mcp",
        "anyio",
        "resvg_py",
    }
    assert not found & {*libraries, "llguidance"}


def test_a_plan_needs_no_unified_planning() -> None:
    world = ROOT / "domains" / "cellar" / "world.tw"
    loaded = loaded_by("plan", str(world))
    assert "unified_planning" not in loaded
    for other in ("hints", "planners.by_name", "pddl.export", "proof.reasons", "space.luck"):
        assert f"tokenworld.planning.{other}" not in loaded, other


def test_a_run_loads_nothing_for_programs_beside_it_that_it_has_not(tmp_path: Path) -> None:
    world = str(ROOT / "domains" / "cellar" / "world.tw")
    (tmp_path / "s.txt").write_text("pass\n", encoding="utf-8")
    options = ("--script", str(tmp_path / "s.txt"), "--store", str(tmp_path / "runs.sqlite"))
    loaded = loaded_by("run", world, *options) | loaded_by("plan", world)
    assert "tokenworld.session.remote" in loaded
    assert not loaded & {"tokenworld.session.reloading", "tokenworld.prose.claims"}
