"""V7: the cost of a tick with many objects, and Crafter beside the hand-written game."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.peers.duel import Question, Side, contest
from benchmarks.peers.environments import Environment, SetupError, ours, peer
from benchmarks.peers.worker import PeerError
from benchmarks.speed.environments import drawn
from benchmarks.speed.figures import Figure, Goal, Sample, at_least, at_most
from benchmarks.speed.options import BUDGET, Options

__all__ = ["figures"]

_SIZE = 64
_STEPS = 300
_CRAFTER: dict[str, tuple[str, Goal]] = {
    "play": (f"a step of {_SIZE}x{_SIZE} Crafter through a session", at_least(1)),
    "random": (f"a tick of {_SIZE}x{_SIZE} Crafter, compiled rollout", at_least(5)),
}


def figures(options: Options) -> Iterator[Figure]:
    """The village, then Crafter through a session and as a compiled rollout."""
    yield _village(options)
    missing, samples = "", dict[str, Sample]()
    if not (options.crafter / "crafter.tw").exists():
        missing = "no `crafter.tw`: its rules lie in `../shared`, which is no part of the project"
    else:
        try:
            samples = _crafter(ours(), peer("crafter"), options)
        except SetupError as error:
            missing = str(error)
        except PeerError as error:
            missing = f"theirs: {error}"
    for op, (what, goal) in _CRAFTER.items():
        found = (samples[op],) if op in samples else ()
        yield Figure("V7", what, "the game written by hand", goal, found, missing)


def _village(options: Options) -> Figure:
    what, name = "a tick among 100,000 objects", "village"
    args = {"objects": 100, "budget": BUDGET}
    try:
        side = Side(ours(), "ours_village")
    except SetupError as error:
        return Figure("V7", what, "100 objects", at_most(2), missing=str(error))
    asked = Question(name, "per tick", "tick", args, {"objects": 100_000})
    found = contest((side, side), None, [asked], options.rounds, options.seconds)
    return Figure("V7", what, "100 objects", at_most(2), tuple(found))


def _crafter(own: Environment, other: Environment, options: Options) -> dict[str, Sample]:
    """Both begin in the same state; afterwards each has its own random numbers."""
    sides = Side(own, "ours_crafter"), Side(other, "crafter_game")
    with sides[1].worker(options.seconds) as written:
        text = written.ask("text", folder=str(options.crafter), size=_SIZE)["text"]
    load = {"folder": str(options.crafter), "text": text, "size": _SIZE}
    actions = {"actions": drawn(6, _STEPS)}
    asked = [Question("Crafter", "per step", op, actions) for op in _CRAFTER]
    found = contest(sides, load, asked, options.rounds, options.seconds)
    return dict(zip(_CRAFTER, found, strict=True))
