"""Laws with weights as a model that the protocol ranks."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Final

from benchmarks.onelife.documents import Document
from benchmarks.onelife.laws import Observables, beliefs, proposed, weights
from benchmarks.onelife.scenarios import Observed
from tokenworld.diagnostics import Failure
from tokenworld.engine import Engine
from tokenworld.ground import PASS
from tokenworld.prose.wording import EnglishProse
from tokenworld.session import open_world
from tokenworld.session.loading import OpenWorld

__all__ = ["Believing", "learned"]

_HELD_OUT: Final = 3
"""Every third transition is kept from the proposing, and weighs in the fit."""


class Believing:
    """The product of experts, slot by slot; what its slots do not tell stays as it was."""

    def __init__(self, name: str, engine: Engine, what: Observables) -> None:
        self.name, self._engine, self._what = name, engine, what
        self._scores: dict[tuple[int, str], tuple[Observed, float]] = {}

    def score(self, one: Observed, candidate: Document) -> float:
        told = self._what.told(one.before, one.action, candidate)
        key = id(one), repr(told["objects"])
        if key not in self._scores:
            self._scores[key] = one, self._scored(one, told)
        return self._scores[key][1]

    def _scored(self, one: Observed, told: Document) -> float:
        """The log probability of observables; of values out of every range, none."""
        before = self._what.told(one.before, one.action, one.before)
        state = self._engine.restored(before)
        try:
            seen = self._engine.restored({**told, "tick": 1})
            return round(self._engine.logp(state, PASS, seen, self._what.fields).logp, 9)
        except Failure:
            return -inf

    def sample(self, one: Observed, dice: random.Random) -> Document:
        """A successor by a play of the beliefs with a drawn seed."""
        before = self._what.told(one.before, one.action, one.before)
        state = self._engine.restored({**before, "seed": dice.randrange(1 << 30)})
        after, _ = self._engine.play(state, PASS)
        return self._what.put(copy.deepcopy(one.before), self._engine.json(after))


def learned(
    episode: Sequence[Observed], what: Observables, name: str, folder: Path
) -> tuple[Believing, Believing]:
    """Propose laws, fit their weights; the model with them, and the one with all weights 1."""
    known = [x for at, x in enumerate(episode) if at % _HELD_OUT]
    rows = [what.row(x.before, x.action, x.after, f"step {at}") for at, x in enumerate(known)]
    file = folder / f"{name.replace(' ', '_')}.tw"
    file.write_text(beliefs(proposed(rows), what), encoding="utf-8")
    world = open_world(str(file))
    plain = Believing(f"laws, weights 1, {name}", world.engine, what)
    fitted = _with(world, weights(world, episode, what))
    return Believing(f"laws, fitted, {name}", fitted, what), plain


def _with(world: OpenWorld, values: Mapping[str, float]) -> Engine:
    """The engine of a world with other params."""
    units = {name: 10 ** getattr(one.type, "decimals", 0)
             for name, one in world.program.params.items()}  # fmt: skip
    params = {**world.instance.params,
              **{name: round(x * units[name]) for name, x in values.items()}}  # fmt: skip
    return Engine(replace(world.instance, params=params), EnglishProse())
