"""V3: worlds as gymnasium environments, beside gymnasium's own and beside an earlier commit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks.peers.duel import Question, Side, contest
from benchmarks.peers.environments import SetupError, earlier, ours, peer
from benchmarks.peers.worker import PeerError
from benchmarks.speed.figures import Figure, Sample, at_least
from benchmarks.speed.options import BUDGET, Options

__all__ = ["drawn", "figures"]

_DOMAINS = Path(__file__).parents[2] / "domains"
_TOYS = {"Taxi-v4": 6, "CliffWalking-v1": 4, "FrozenLake-v1": 4}
"""gymnasium's environments that are worlds here too, with the number of their actions."""
_MANY = ("CliffWalking-v1", "FrozenLake-v1")
"""Environments whose episodes begin alike, so that a batch is comparable."""
_WORLDS = 64
_STEPS = 200
_FAIR, _BATCH, _BETTER = at_least(1), at_least(10), at_least(5)


def drawn(number: int, count: int = 300) -> list[int]:
    """Random actions of an environment with numbered actions."""
    random = Random(7)
    return [random.randrange(number) for _ in range(count)]


def figures(options: Options) -> Iterator[Figure]:
    """One environment, a vector environment, and two worlds that gymnasium does not have."""
    one, many = "a step of one environment", f"a step of one of {_WORLDS} in a vector environment"
    later = "a step of the environment of a larger world"
    try:
        sides = Side(ours(), "ours_toy"), Side(peer("gymnasium"), "gymnasium_toy")
    except SetupError as error:
        yield Figure("V3", one, "gymnasium", _FAIR, missing=str(error))
        yield Figure("V3", many, "gymnasium", _BATCH, missing=str(error))
    else:
        samples = [_stepped(sides, name, options) for name in _TOYS]
        first = tuple(found[0] for found in samples)
        batches = tuple(found[1] for found in samples if len(found) > 1)
        yield Figure("V3", one, "gymnasium", _FAIR, first)
        yield Figure("V3", many, "gymnasium", _BATCH, batches)
    try:
        both = Side(ours(), "ours_gym"), Side(earlier(options.base), "ours_gym")
    except SetupError as error:
        yield Figure("V3", later, options.base, _BETTER, missing=str(error))
    else:
        found = tuple(_walked(both, name, options) for name in ("willowbrook", "dishwasher"))
        yield Figure("V3", later, options.base, _BETTER, found)


def _stepped(sides: tuple[Side, Side], name: str, options: Options) -> list[Sample]:
    actions = drawn(_TOYS[name])
    step = {"actions": actions, "budget": BUDGET}
    asked = [Question(name, "per step", "walk", step)]
    if name in _MANY:
        batch = {**step, "world": name, "worlds": _WORLDS}
        asked.append(Question(name, "per step", "batch", batch))
    return list(contest(sides, {"world": name}, asked, options.rounds, options.seconds))


def _walked(sides: tuple[Side, Side], name: str, options: Options) -> Sample:
    load = {"target": str(_DOMAINS / name / "world.tw")}
    try:
        with sides[0].worker(options.seconds) as own:
            own.ask("load", **load)
            actions = own.ask("draw", steps=_STEPS)["actions"]
    except PeerError as error:
        return Sample(name, "", failed=f"ours: {error}")
    asked = [Question(name, "per step", "walk", {"actions": actions, "budget": BUDGET})]
    return next(contest(sides, load, asked, options.rounds, options.seconds))
