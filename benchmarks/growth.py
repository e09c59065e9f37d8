"""Cost of the village against its number of objects, up to a time limit."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.chart import Line, chart
from benchmarks.measure import WrongResultError
from benchmarks.peers.adapters.shared import averaged
from benchmarks.village import village

__all__ = ["SIZES", "measured", "report"]

SIZES = (10, 100, 1_000, 10_000, 100_000)
_BUDGET = 0.3
_SERIES = {
    "tick": "a tick",
    "legal": "all legal actions",
    "focus": "actions with one object",
    "check": "checking the text",
    "compile": "compiling and starting",
}


def measured(objects: int) -> dict[str, float | int]:
    """CPU seconds of each measurement, and megabytes, for one size; in this process."""
    import resource

    from tokenworld.check import check_source
    from tokenworld.diagnostics import Source
    from tokenworld.ground import Command
    from tokenworld.session.loading import choose_world, compile_world

    source = Source("village.tw", None, village(objects))
    check_source(Source("small.tw", None, village(10)))  # the tables are loaded once
    empty = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    check, checked = _spent(lambda: check_source(source))
    if checked.program is None:
        raise WrongResultError(f"the village is not sound: {checked.diagnostics[:1]}")
    program, world = checked.program, choose_world(checked.program, None, "village")
    compiling, (engine, state) = _spent(lambda: _started(compile_world(program, world)))
    thing = state.numbers["thing0"]
    around = (Command("take", (thing,)), Command("drop", (thing,)))

    def round_trip() -> object:
        now = state
        for command in around:
            now = engine.play(now, command)[0]
        return now

    legal = list(engine.legal(state))
    focus = engine.focus(state, thing).legal
    if focus != tuple(one for one in legal if thing in one.args):
        raise WrongResultError("a focus query and the whole list differ")
    return {
        "objects": objects,
        "legal_actions": len(legal),
        "tick": _each(round_trip) / len(around),
        "legal": _each(lambda: list(engine.legal(state))),
        "focus": _each(lambda: engine.focus(state, thing)),
        "check": check,
        "compile": compiling,
        "megabytes": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - empty) / 1024,
    }


def _started(engine: object) -> tuple[object, object]:
    return engine, engine.start()  # type: ignore[attr-defined]


def _spent(work: Callable[[], object]) -> tuple[float, object]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def _each(work: Callable[[], object]) -> float:
    """CPU seconds of one call, after a first one has filled the caches."""
    work()
    return averaged(work, _BUDGET)


# ---- the report -----------------------------------------------------------------------------


def report(folder: Path, seconds: float) -> Iterator[str]:
    """Measure sizes one after another, each in its own process, until one takes too long."""
    rows: list[dict[str, float | int]] = []
    names = [*_SERIES, "memory"]
    yield f"{'objects':>9}" + "".join(f"{name:>12}" for name in names)
    for objects in SIZES:
        found = _in_a_child(objects, seconds)
        if isinstance(found, str):
            yield f"{objects:>9,}  {found}"
            break
        rows.append(found)
        cells = "".join(f"{1e3 * found[name]:>9.3f} ms" for name in _SERIES)
        yield f"{objects:>9,}{cells}{found['megabytes']:>9.1f} MB"
    if rows:
        yield from _written(rows, folder)


def _in_a_child(objects: int, seconds: float) -> dict[str, float | int] | str:
    command = [sys.executable, "-m", "benchmarks.growth", str(objects)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"not done within {seconds:g} s (more with `--growth-seconds N`)"
    if ran.returncode != 0:
        raise WrongResultError(ran.stderr.strip().splitlines()[-1])
    found: dict[str, float | int] = json.loads(ran.stdout)
    return found


def _written(rows: list[dict[str, float | int]], folder: Path) -> Iterator[str]:
    table = {
        "command": "python -m benchmarks --growth",
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "unit": "CPU seconds; megabytes of resident memory",
        "rows": rows,
    }
    lines = [
        Line(text, [(row["objects"], 1e3 * row[name]) for row in rows])
        for name, text in _SERIES.items()
    ]
    picture = chart("Cost against the number of objects", "objects", "CPU milliseconds", lines)
    for name, text in (
        ("growth.json", json.dumps(table, indent=1) + "\n"),
        ("growth.svg", picture),
    ):
        (folder / name).write_text(text, encoding="utf-8")
        yield f"written: {folder / name}"


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measured(int(sys.argv[1]))) + "\n")
