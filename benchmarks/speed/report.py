"""Measure the selected parts, print figures as they come, and write the page."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.peers.environments import PEERS, SetupError, made
from benchmarks.speed import (
    conforming,
    environments,
    exploring,
    large_worlds,
    public_steps,
    sessions,
    starting,
    translating,
    verbs,
)
from benchmarks.speed.figures import Figure
from benchmarks.speed.options import Options
from benchmarks.speed.page import line, page

__all__ = ["PARTS", "RESULTS", "install", "report"]

RESULTS = Path(__file__).parents[1] / "RESULTS.md"
PARTS: dict[str, Callable[[Options], Iterator[Figure]]] = {
    "V1": verbs.figures,
    "V2": sessions.figures,
    "V3": environments.figures,
    "V4": public_steps.figures,
    "V5": exploring.figures,
    "V6": translating.figures,
    "V7": large_worlds.figures,
    "V8": starting.figures,
    "V9": conforming.figures,
}


def install(names: Sequence[str]) -> Iterator[str]:
    """Create the environments of these peers, or of all; name those that fail."""
    for name in names or PEERS:
        try:
            yield f"{name}: {made(name).python}"
        except SetupError as error:
            yield str(error)


def report(
    parts: Sequence[str], options: Options, command: str, note: str, target: Path | None
) -> Iterator[str]:
    """Yield lines as figures come; write the whole page at the end, if it is requested."""
    figures = list[Figure]()
    for name, measured in PARTS.items():
        if parts and name not in parts:
            continue
        for figure in measured(options):
            figures.append(figure)
            yield line(figure)
    if target is not None:
        target.write_text("\n".join(page(figures, command, _when(), note)) + "\n", encoding="utf-8")
        yield f"written: {target}"


def _when() -> str:
    asked = ["git", "describe", "--always", "--dirty"]
    found = subprocess.run(asked, cwd=RESULTS.parent, capture_output=True, text=True, check=False)
    commit = found.stdout.strip() or "an unknown commit"
    return f"on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, at {commit}"
