"""Published worlds in Chromium beside the interpreter: random commands, hash by hash.

    python -m benchmarks.published [--ticks 10000] [--seconds S] [WORLD.tw …]

Without files these are the worlds of ``domains/*/world.tw``. Each is published as one page and
opened in a real Chromium (extra ``browser``; ``TW_CHROMIUM`` names the program). The interpreter
draws a script of random commands: where a game ends, and after 1,000 commands, a new one begins
with the next seed. The page replays the script in pieces and returns the hash after each command.
``--seconds`` is the time for all worlds together: each gets an equal share of what is left, and the
table says how far it came. The exit code is 1 if a hash differs or a page does not begin, 3 if a
world did not come to its end, else 0.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tokenworld.ground import PASS, Raw
from tokenworld.play.publish.runtime import runtime_files
from tokenworld.play.publish.verb import page_of, parts_of
from tokenworld.session import open_world
from tokenworld.verbs.output import Output

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["chromium", "differing", "main", "walked"]

DOMAINS: Final = Path(__file__).parents[1] / "domains"
PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
PIECE: Final = 250
"""Entries of a script that a page gets at once."""
GAME: Final = 1000
"""Commands after which a new game begins."""
START: Final = 240.0
"""Seconds that a page may take to begin."""
SEED: Final = 7
Entry = int | tuple[str, tuple[Raw, ...]]
"""A seed, with which a game begins; or a command: an action with its arguments."""


@dataclass(frozen=True)
class Step:
    """An entry of a script, in words, and the hash of the state after it."""

    entry: Entry
    told: str
    hash: str


@dataclass(frozen=True)
class Compared:
    """The progress of one world: commands with equal hashes, and the first that differs."""

    equal: int
    differs: str | None
    seconds: float
    """Of the whole world, the start of its page included."""


def chromium() -> str | None:
    """The Chromium of this machine: ``TW_CHROMIUM``, else a search for it."""
    return os.environ.get("TW_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)


def walked(world: Path, ticks: int) -> Iterator[Step]:
    """A script with so many random commands, most of them legal now, some legal before, some
    pass."""
    engine, dice = open_world(world).engine, random.Random(world.parent.name)
    state, seed, before = engine.start(SEED), SEED, [PASS]
    yield Step(seed, f"a new game with seed {seed}", engine.hash(state))
    for number in range(ticks):
        if number and (number % GAME == 0 or engine.over(state)):
            seed, before = seed + 1, [PASS]
            state = engine.start(seed)
            yield Step(seed, f"a new game with seed {seed}", engine.hash(state))
        legal = list(engine.legal(state))
        command = dice.choice(dice.choices((legal or [PASS], before, [PASS]), (90, 5, 5))[0])
        told, before = engine.call(state, command), legal or before
        state, _ = engine.play(state, command)
        yield Step((command.action, command.args), told, engine.hash(state))


def differing(page: Page, steps: list[Step]) -> str | None:
    """Give a script to a published page: the first entry after which its state has another
    hash."""
    ask = "(script) => window.published.ask('follow', script)"
    hashes = page.evaluate(ask, json.dumps([one.entry for one in steps]))["hashes"]
    pairs = zip(steps, hashes, strict=True)
    return next((step.told for step, found in pairs if step.hash != found), None)


def compared(browser: Browser, address: str, world: Path, ticks: int, end: float) -> Compared:
    """Play one world on its page and beside it, until a difference, its end or the time."""
    began, equal, steps = time.monotonic(), 0, walked(world, ticks)
    page = browser.new_page()
    try:
        page.goto(address)
        page.wait_for_function("window.published !== undefined", timeout=START * 1000)
        while time.monotonic() < end and (piece := list(islice(steps, PIECE))):
            differs = differing(page, piece)
            if differs is not None:
                return Compared(equal, differs, time.monotonic() - began)
            equal += sum(not isinstance(one.entry, int) for one in piece)
    finally:
        page.close()
    return Compared(equal, None, time.monotonic() - began)


def report(worlds: list[Path], ticks: int, seconds: float) -> Iterator[tuple[Path, Compared]]:
    """Compare each world, with an equal share of the time that is left."""
    from playwright.sync_api import sync_playwright

    parts = parts_of(runtime_files(None, Output(False)))
    last = time.monotonic() + seconds
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for number, world in enumerate(worlds):
            page = Path(folder) / "world.html"
            page.write_text(page_of(open_world(world), SEED, parts), encoding="utf-8")
            left = (last - time.monotonic()) / (len(worlds) - number)
            end = time.monotonic() + left
            yield world, compared(browser, page.as_uri(), world, ticks, end)
        browser.close()


def main() -> int:
    """Print a line for each world: equal commands, the first difference, seconds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worlds", nargs="*", type=Path, help="files; domains/*/world.tw")
    parser.add_argument("--ticks", type=int, default=10_000, help="commands of a world (10,000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for all worlds")
    asked = parser.parse_args()
    worlds = asked.worlds or sorted(DOMAINS.glob("*/world.tw"))
    differs = short = False
    for world, one in report(worlds, asked.ticks, asked.seconds):
        told = f"differs after `{one.differs}`" if one.differs else "equal" if one.equal else "-"
        name = f"{world.parent.name}/{world.stem}"
        line = f"{name:<32} {one.equal:>6} of {asked.ticks}  {told}  {one.seconds:.0f} s\n"
        sys.stdout.write(line)
        sys.stdout.flush()
        differs |= one.differs is not None
        short |= one.equal < asked.ticks
    return 1 if differs else 3 if short else 0


if __name__ == "__main__":
    sys.exit(main())
