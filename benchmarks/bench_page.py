"""Write the tables of docs/bench.md: run the published benchmarks, and put in what they print.

    python -m benchmarks.bench_page DIR [--text2world PATH] [--cwmb PATH]

The options of each benchmark are `OPTIONS`. `DIR` keeps the answer of each benchmark as JSON
(`text2world.json`, `cwmb.json`, `bytesized32.json`) with the CPU seconds that it took; one that is
there is not run again. Without a path a benchmark that needs one is left as the page has it. The
tables stand between two comments of the page, with the CPU seconds below them.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from tokenworld.cli import _main
from tokenworld.verbs.pages import plain_markdown

PAGE = Path(__file__).parents[1] / "docs" / "bench.md"
NAMES = ("text2world", "cwmb", "bytesized32")
NEEDS_PATH = ("text2world",)
OPTIONS = {
    "text2world": (),
    "cwmb": ("--episodes", "2", "--planner", "mcts", "--planner", "cem", "--samples", "20"),
    "bytesized32": ("--seconds", "150"),
}


def answer(name: str, folder: Path, path: str | None) -> dict[str, Any] | None:
    """What a benchmark answers: from the folder, else run now."""
    kept = folder / f"{name}.json"
    if not kept.is_file():
        if path is None and name in NEEDS_PATH:
            return None
        said, before = StringIO(), cpu_seconds()
        with redirect_stdout(said):
            _main(["bench", name, *([path] if path else []), *OPTIONS[name], "--json"])
        told = {**json.loads(said.getvalue()), "cpu_seconds": round(cpu_seconds() - before, 1)}
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(told) + "\n", encoding="utf-8")
    found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return found


def cpu_seconds() -> float:
    """The CPU seconds of this process and of its ended children; other processes do not count."""
    return sum(os.times()[:4])


def tables(found: dict[str, Any]) -> Iterator[str]:
    """The tables of an answer as Markdown; those with a row for each gold are left out."""
    for table in found["tables"]:
        if len(table["rows"]) > 40:
            continue
        yield from ("", f"| {' | '.join(table['heads'])} |", f"|{'---|' * len(table['heads'])}")
        yield from (f"| {' | '.join(map(plain_markdown, row))} |" for row in table["rows"])
    if "cpu_seconds" in found:
        yield from ("", f"Made in {found['cpu_seconds']:.0f} CPU seconds.")


def filled(page: str, name: str, lines: list[str]) -> str:
    """The page with other lines between the comments of a benchmark."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text = "\n".join([begin, *lines, "", end])
    return re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: text, page, flags=re.DOTALL)


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0].startswith("--"):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    options = dict(zip(arguments[1::2], arguments[2::2], strict=True))
    page = PAGE.read_text(encoding="utf-8")
    for name in NAMES:
        found = answer(name, Path(arguments[0]), options.get(f"--{name}"))
        if found is not None:
            page = filled(page, name, list(tables(found)))
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
