"""No output depends on the hashes of texts or of `none`, which differ from process to process."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tokenworld.assets import domains_folder

BOXES = """edition 1
type Place
type Box { home: Place?  weight: 0 to 9 clamped = 1 }
relation shut(b: Box, p: Place)
relation near(b: Box, c: Box)

action meet(x: Box, y: Box) {
  require x.home != y.home and not near(x, y)
  add near(x, y)
  y.weight += x.weight
}
action close(x: Box, p: Place) {
  require x.home == p or x.home == none
  require x.weight > 2
  add shut(x, p)
}
action carry(x: Box, y: Box) {
  x.home = y.home
}
object hall: Place
object yard: Place
object red: Box { home = hall }
object blue: Box
object green: Box { home = yard }
object grey: Box
world boxes {
  goal done: shut(blue, hall) and shut(grey, yard)
}
"""

SCRIPT = """
import sys
from tokenworld.cli import _main
boxes, domains, out = sys.argv[1:]
for world in (boxes, f"{domains}/cellar/world.tw", f"{domains}/blocks/world.tw"):
    for engine in ("own", "width", "blind"):
        _main(["plan", world, "--engine", engine, "--json"])
    _main(["plan", world, "--explain"])
    _main(["explain", world, "--stages"])
    _main(["export", world, "--pddl", "--output", out])
    for name in ("domain.pddl", "problem.pddl"):
        sys.stdout.write(open(f"{out}/{name}").read())
"""


def printed(folder, seed, filler):
    """What the verbs print in a process of its own; ``filler`` moves where things lie in memory."""
    boxes = folder / "boxes.tw"
    boxes.write_text(BOXES, encoding="utf-8")
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "FILLER": "x" * filler}
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(boxes), str(domains_folder()), str(folder / "out")],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return re.sub(r'("seconds": |\()[0-9.]+', r"\1", found.stdout)


def test_verbs_print_the_same_whatever_hashes_are(tmp_path):
    first, *others = (printed(tmp_path, seed, 4096 * seed + seed) for seed in range(3))
    assert len(first) > 10_000
    assert all(one == first for one in others)
