"""Laws with weights as a model that the protocol ranks."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, log
from pathlib import Path
from typing import Any, Final

from benchmarks.onelife.documents import Document
from benchmarks.onelife.laws import Observables, beliefs, objects_of, proposed, weights
from benchmarks.onelife.scenarios import Observed
from tokenworld.engine import Engine
from tokenworld.ground import PASS
from tokenworld.prose.wording import EnglishProse
from tokenworld.session import open_world
from tokenworld.session.loading import OpenWorld

__all__ = ["Believing", "learned"]

_HELD_OUT: Final = 3
"""Every third transition is kept from the proposing, and weighs in the fit."""
_Shares = dict[tuple[int, str], dict[Any, float]]


class Believing:
    """The product of experts, slot by slot; what its slots do not tell stays as it was."""

    def __init__(self, name: str, engines: Mapping[str, Engine], what: Observables) -> None:
        self.name, self._engines, self._what = name, engines, what
        self._known: dict[int, tuple[Observed, _Shares]] = {}

    def score(self, one: Observed, candidate: Document) -> float:
        told = self._what.told(one.before, one.action, candidate)
        attrs = {each["id"]: each["attrs"] for each in told["objects"]}
        total = 0.0
        for (number, name), shares in self._shares(one).items():
            share = shares.get(attrs[number][name], 0.0)
            if not share:
                return -inf
            total += log(share)
        return round(total, 9)

    def sample(self, one: Observed, dice: random.Random) -> Document:
        told = self._what.told(one.before, one.action, one.before)
        attrs = {each["id"]: each["attrs"] for each in told["objects"]}
        for (number, name), shares in self._shares(one).items():
            (attrs[number][name],) = dice.choices(list(shares), list(shares.values()))
        return self._what.put(copy.deepcopy(one.before), told)

    def _shares(self, one: Observed) -> _Shares:
        """The probabilities of the values of each slot."""
        if id(one) not in self._known:
            self._known[id(one)] = one, self._found(one)
        return self._known[id(one)][1]

    def _found(self, one: Observed) -> _Shares:
        found: _Shares = {}
        for fluent, engine in self._engines.items():
            for number in objects_of(fluent, one.before):
                state = engine.restored(self._what.told(one.before, one.action, one.before, number))
                shares: dict[Any, float] = {}
                for each in engine.distribution(state, PASS).successors:
                    shown: Any = engine.json(each.state)
                    attrs = next(x["attrs"] for x in shown["objects"] if x["id"] == number)
                    value = attrs[fluent.partition(".")[2]]
                    shares[value] = shares.get(value, 0.0) + float(each.probability)
                found[number, fluent.partition(".")[2]] = shares
        return found


def learned(
    episode: Sequence[Observed], what: Observables, name: str, folder: Path
) -> tuple[Believing, Believing]:
    """Propose laws, fit their weights; the model with them, and the one with all weights 1."""
    known = [x for at, x in enumerate(episode) if at % _HELD_OUT]
    rows = [what.row(x.before, x.action, x.after, f"step {at}") for at, x in enumerate(known)]
    plain, fitted = dict[str, Engine](), dict[str, Engine]()
    for fluent, text in beliefs(proposed(rows), what).items():
        file = folder / f"{fluent.replace('.', '_')}.tw"
        file.write_text(text, encoding="utf-8")
        world = open_world(str(file))
        plain[fluent] = world.engine
        fitted[fluent] = _with(world, weights(world, fluent, episode, what))
    return (Believing(f"laws, fitted, {name}", fitted, what),
            Believing(f"laws, weights 1, {name}", plain, what))  # fmt: skip


def _with(world: OpenWorld, values: Mapping[str, float]) -> Engine:
    """The engine of a world with other params."""
    units = {name: 10 ** getattr(one.type, "decimals", 0)
             for name, one in world.program.params.items()}  # fmt: skip
    params = {**world.instance.params,
              **{name: round(x * units[name]) for name, x in values.items()}}  # fmt: skip
    return Engine(replace(world.instance, params=params), EnglishProse())
