"""Laws with weights as a model that the protocol ranks."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, log
from pathlib import Path
from typing import Any

from benchmarks.onelife.documents import Document
from benchmarks.onelife.laws import Experts, Observables, beliefs, proposed, weights
from benchmarks.onelife.scenarios import Observed
from tokenworld.engine import Engine
from tokenworld.ground import PASS
from tokenworld.prose.wording import EnglishProse
from tokenworld.session import open_world
from tokenworld.session.loading import OpenWorld

__all__ = ["Believing", "learned"]

_Shares = dict[tuple[int, str], dict[Any, float]]


class Believing:
    """The product of experts, slot by slot; what its slots do not tell stays as it was."""

    def __init__(
        self, name: str, engines: Sequence[tuple[Experts, Engine]], what: Observables
    ) -> None:
        self.name, self._engines, self._what = name, engines, what
        self._known: dict[int, tuple[Observed, _Shares]] = {}
        self._same: dict[str, dict[Any, float]] = {}

    def score(self, one: Observed, candidate: Document) -> float:
        attrs = self._what.attrs(one.before, one.action, candidate)
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
        attrs = self._what.attrs(one.before, one.action, one.before)
        return {
            (number, experts.name): self._listed(experts, engine, experts.state(attrs, number))
            for experts, engine in self._engines for number in experts.numbers(attrs)
        }  # fmt: skip

    def _listed(self, experts: Experts, engine: Engine, state: Document) -> dict[Any, float]:
        key = f"{experts.fluent} {state}"
        if key not in self._same:
            shares: dict[Any, float] = {}
            for each in engine.distribution(engine.restored(state), PASS).successors:
                shown: Any = engine.json(each.state)
                value = shown["objects"][-1]["attrs"][experts.name]
                shares[value] = shares.get(value, 0.0) + float(each.probability)
            self._same[key] = shares
        return self._same[key]


def learned(
    episode: Sequence[Observed], what: Observables, name: str, folder: Path
) -> tuple[Believing, Believing]:
    """Propose laws, fit their weights; the model with them, and the one with all weights 1."""
    rows = [what.row(x.before, x.action, x.after, f"step {at}") for at, x in enumerate(episode)]
    told = [(what.attrs(x.before, x.action, x.before), what.attrs(x.before, x.action, x.after))
            for x in episode]  # fmt: skip
    plain, fitted = list[tuple[Experts, Engine]](), list[tuple[Experts, Engine]]()
    for experts in beliefs(proposed(rows), what):
        file = folder / f"{experts.fluent.replace('.', '_')}.tw"
        file.write_text(experts.text, encoding="utf-8")
        world = open_world(str(file))
        plain.append((experts, world.engine))
        fitted.append((experts, _with(world, weights(world, experts, told))))
    return (Believing(f"laws, fitted, {name}", fitted, what),
            Believing(f"laws, weights 1, {name}", plain, what))  # fmt: skip


def _with(world: OpenWorld, values: Mapping[str, float]) -> Engine:
    """The engine of a world with other params."""
    units = {name: 10 ** getattr(one.type, "decimals", 0)
             for name, one in world.program.params.items()}  # fmt: skip
    params = {**world.instance.params,
              **{name: round(x * units[name]) for name, x in values.items()}}  # fmt: skip
    return Engine(replace(world.instance, params=params), EnglishProse())
