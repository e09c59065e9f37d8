"""Random walks through the original text games, as rows that ``tw conform`` replays.

    python -m benchmarks.fresh_walks --games DIR [GAME …] --walks 20 --steps 40 --seed 1 -o OUT
    tw conform domains/textgames/GAME/world.tw OUT/GAME.jsonl --strict

``DIR`` holds the public programs, ``GAME.py`` each; they are read in
place and never copied. The recorded rows are near the winning path; these walks begin in the same
start and are random. A walk ends with the game, because the programs then have hidden state (a
given answer) that no row shows. ``--vary`` begins each walk in another start; if the task is drawn
too (``take-photo``, ``mix-paint``), the worlds, which have the recorded task, differ.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import json
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["main", "walk"]

GAMES = (
    "balance-scale-weigh", "boil-water", "dishwasher", "inclined-plane", "lit-lightbulb",
    "mix-paint", "space-walk", "take-photo",
)  # fmt: skip
HIDDEN_ROOT = ("metal-detector", "space-walk", "sunburn")
"""Games whose records omit the root."""


def program(folder: Path, game: str) -> ModuleType:
    """The public program of a game, loaded from its file."""
    spec = importlib.util.spec_from_file_location(game.replace("-", "_"), folder / f"{game}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def state_of(game: Any, module: ModuleType, name: str, action: str) -> dict[str, object]:
    """A state in the form of the rows: the objects in pre-order, and the next free number."""
    listed = [] if name in HIDDEN_ROOT else [game.rootObject]
    listed.extend(game.rootObject.getAllContainedObjectsRecursive())
    objects = [
        {
            "name": one.name,
            "uuid": one.uuid,
            "type": type(one).__name__,
            "properties": copy.deepcopy(one.properties),
            "contains": [inner.name for inner in one.contains],
        }
        for one in listed
    ]
    told = {"observation": "", "look": "", "inventory": "", "taskDesc": game.getTaskDescription()}
    return {**told, "lastAction": action, "objects": objects, "max_UUID": module.UUID}


def score_of(game: Any) -> dict[str, object]:
    """The score state of the rows."""
    return {"score": game.score, "gameOver": game.gameOver, "gameWon": game.gameWon}


def walk(
    module: ModuleType, name: str, seed: int, steps: int, vary: bool
) -> list[dict[str, object]]:
    """One random walk. Each step draws a verb uniformly, then an action that the program offers."""
    chosen = random.Random(f"{name} {seed}")
    game = module.TextGame(randomSeed=seed if vary else module.randomSeed)
    rows: list[dict[str, object]] = []
    action = ""
    while len(rows) < steps and not game.gameOver:
        before, score = state_of(game, module, name, action), score_of(game)
        verbs: dict[str, list[str]] = {}
        for offered in game.generatePossibleActions():
            verbs.setdefault(offered.split()[0], []).append(offered)
        action = chosen.choice(verbs[chosen.choice(list(verbs))])
        game.step_action(action)
        acted = state_of(game, module, name, action)
        game.step_tick()
        ticked = state_of(game, module, name, action)
        game.step_calculate_score()
        rows.append({
            "game": name, "state_id": len(rows), "current_state": before, "action_state": acted,
            "tick_state": ticked, "current_score_state": score, "next_score_state": score_of(game),
        })  # fmt: skip
    return rows


def main() -> None:
    """Write a file of rows a game."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("games", nargs="*", default=GAMES)
    parser.add_argument("--games", dest="folder", type=Path, required=True)
    parser.add_argument("--walks", type=int, default=20)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vary", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=Path())
    asked = parser.parse_args()
    for name in asked.games:
        module, rows = program(asked.folder, name), []
        for number in range(asked.walks):
            rows.extend(walk(module, name, asked.seed + number, asked.steps, asked.vary))
        target = asked.output / f"{name}.jsonl"
        target.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        sys.stderr.write(f"{target}: {len(rows)} rows\n")


if __name__ == "__main__":
    main()
