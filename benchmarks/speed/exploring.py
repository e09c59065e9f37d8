"""V5: the compiled explorer beside Fast Downward's blind search, and its dead ends beside its own
forward pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.peers.duel import Question, Side, contest
from benchmarks.peers.environments import SetupError, ours, peer
from benchmarks.peers.traces import Problem
from benchmarks.speed.figures import Figure, Sample, at_least, at_most
from benchmarks.speed.options import NO_IPC, Options

__all__ = ["figures"]

_ONE_WORD = (
    ("driverlog/p02", 16),
    ("gripper/prob09", 13),
    ("termes-opt18-strips/p01", 33),
    ("childsnack-opt14-strips/child-snack_pfile01", 3),
    ("blocks/probBLOCKS-10-0", 18),
)
"""Problems whose states fit in one word, with the depth up to which all states are explored. Goals
are deeper, no action has a cost, and no side removes a variable."""
_WORDS = (
    ("parking-opt11-strips/pfile03-011", 6),
    ("pipesworld-tankage/p11-net2-b10-g2-t30", 15),
)
"""The same for states of several words."""
_ANALYSED = (("sokoban-opt08-strips/p10", 2_000_000), ("termes-opt18-strips/p01", 1_000_000))
_FASTER, _DEARER = at_least(5), at_most(1.5)
_DEAD = "all states with edges and dead ends"


def figures(options: Options) -> Iterator[Figure]:
    """All states to a depth, in one word and in several words; then dead ends."""
    missing, sides = _sides(options)
    for words, problems in (("one word", _ONE_WORD), ("several words", _WORDS)):
        what = f"all states to a depth, {words} a state"
        samples = tuple(_layered(sides, problems, options)) if sides else ()
        yield Figure("V5", what, "Fast Downward, blind A*", _FASTER, samples, missing)
    try:
        own = Side(ours(), "ours_tasks") if options.ipc else None
    except SetupError as error:
        missing, own = str(error), None
    samples = tuple(_analysed((own, own), options)) if own else ()
    missing = "" if own else missing
    yield Figure("V5", _DEAD, "our forward pass alone", _DEARER, samples, missing)


def _sides(options: Options) -> tuple[str, tuple[Side, Side] | None]:
    """Both sides, or the missing program."""
    if options.ipc is None:
        return NO_IPC, None
    try:
        return "", (Side(ours(), "ours_tasks"), Side(peer("fast-downward"), "downward"))
    except SetupError as error:
        return str(error), None


def _layered(
    sides: tuple[Side, Side], problems: Sequence[tuple[str, int]], options: Options
) -> Iterator[Sample]:
    assert options.ipc is not None
    for name, depth in problems:
        args = {**Problem(name).files(options.ipc), "depth": depth}
        asked = Question(name, "per state", "layers", args, their_op="explore")
        yield from contest(sides, None, [asked], options.rounds, options.seconds)


def _analysed(sides: tuple[Side, Side], options: Options) -> Iterator[Sample]:
    assert options.ipc is not None
    for name, states in _ANALYSED:
        args = {**Problem(name).files(options.ipc), "states": states}
        asked = Question(name, "in all", "analyse", args, their_op="forward")
        yield from contest(sides, None, [asked], options.rounds, options.seconds)
