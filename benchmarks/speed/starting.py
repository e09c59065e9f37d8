"""V8: the time to check and start a world, in separate processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.peers.environments import PROJECT
from benchmarks.speed.figures import Figure, Sample, at_most
from benchmarks.speed.options import Options

__all__ = ["figures"]

_SIZES = {100: at_most(0.010, "s"), 88_000: at_most(1.0, "s")}
_VILLAGE = "from benchmarks.growth import measured; told = measured({})['compile']"
_EDITING = "from benchmarks.editing import editing; told = editing()"
_CHECK = """
import contextlib, io, sys
from tokenworld.cli import main
sys.argv = ["tw", "check", "{}"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
told = sum(name.partition(".")[0] == "tokenworld" for name in sys.modules)
"""
_TELL = "\nimport json; print(json.dumps(told))"


def figures(options: Options) -> Iterator[Figure]:
    """The village in two sizes, a large file at once and after edits, and modules of `tw check`."""
    rounds = range(options.rounds)
    for objects, goal in _SIZES.items():
        spent = tuple(_told(_VILLAGE.format(objects)) for _ in rounds)
        sample = Sample(f"village, {objects:,} objects", "in all", spent)
        yield Figure("V8", f"compiling and starting {objects:,} objects", "", goal, (sample,))
    found = [_told(_EDITING) for _ in rounds]
    cold, *edits = (Sample(name, "in all", tuple(one[name] for one in found)) for name in found[0])
    yield Figure("V8", "`tw check` of 10,000 lines", "", at_most(3.0, "s"), (cold,))
    yield Figure("V8", "checking again after an edit", "", at_most(0.020, "s"), tuple(edits))
    world = PROJECT / "domains" / "cottage" / "world.tw"
    loaded = Sample("cottage", "", (_told(_CHECK.format(world)),))
    yield Figure("V8", "modules loaded by `tw check`", "", at_most(150, "modules"), (loaded,))


def _told(code: str) -> Any:
    """The output of a script of this checkout, in its own process."""
    ran = subprocess.run(
        [sys.executable, "-c", code + _TELL],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(ran.stdout.splitlines()[-1])
