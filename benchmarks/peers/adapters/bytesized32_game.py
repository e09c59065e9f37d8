"""The boil-water program of ByteSized32 (its checkout is named by the caller)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from shared import Json, digest, per_call, serve


class Game:
    stores = "objects that are changed in place; the reply as text; no journal"

    def load(self, program: str, script: list[str]) -> Json:
        spec = importlib.util.spec_from_file_location("boil_water", Path(program))
        assert spec is not None
        assert spec.loader is not None
        self._module: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self._module)
        self._script = script
        return {"digest": "1", "stores": self.stores, "seconds": 0.0}

    def _game(self) -> Any:
        game = self._module.TextGame(randomSeed=1)
        game.generatePossibleActions()
        return game

    def _play(self, listing: bool, rows: list[str] | None = None) -> None:
        game = self._game()
        for words in self._script:
            _, score, _, over, _ = game.step(words)
            if listing:
                game.generatePossibleActions()
            if rows is not None:
                game.generatePossibleActions()
                rows.append(f"{_water(game)} {score} {over}")

    def walk(self, listing: bool, budget: float, begun: bool = False) -> Json:
        """Steps; with the strings of all commands after each, where ``listing`` says so.

        The table of commands is what a step looks its words up in: without ``listing`` the one of
        the start is used all along, which knows every command of the script. ``begun``: without
        what it takes to make a game and its first table.
        """
        rows: list[str] = []
        self._play(True, rows)
        seconds = per_call(lambda: self._play(listing), budget)
        if begun:
            seconds -= per_call(self._game, budget)
        return {"seconds": seconds / len(self._script), "digest": digest(rows)}


def _water(game: Any) -> str:
    found = [
        f"{one.name} {float(one.properties['temperature']):g}"
        for one in game.rootObject.getAllContainedObjectsRecursive()
        if type(one).__name__ == "Water"
    ]
    return ", ".join(found)


if __name__ == "__main__":
    serve(Game())
