"""V2: a command and the list of commands through `Session`, and `tw run` with a store, beside an
earlier commit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.before_after import Asked, both
from benchmarks.peers.duel import Question, Side, contest
from benchmarks.peers.environments import SetupError, earlier, ours
from benchmarks.peers.worker import PeerError
from benchmarks.speed.figures import Figure, Sample, at_least, merged
from benchmarks.speed.options import Options

__all__ = ["figures"]

_DOMAINS = Path(__file__).parents[2] / "domains"
_WORLDS = ("blocks", "cellar", "willowbrook")
_TICKS = 100
_RECORDS = 3000
_GOAL = at_least(3)


def figures(options: Options) -> Iterator[Figure]:
    """`intend` and `legal` on three worlds, and records a second of a run."""
    whats = {"intend": "`Session.intend` with its record", "legal": "`Session.legal`"}
    try:
        sides = Side(ours(), "ours_session"), Side(earlier(options.base), "ours_session")
    except SetupError as error:
        for what in whats.values():
            yield Figure("V2", what, options.base, _GOAL, missing=str(error))
    else:
        found = [_played(sides, name, options) for name in _WORLDS]
        for op, what in whats.items():
            yield Figure("V2", what, options.base, _GOAL, tuple(one[op] for one in found))
    yield _recorded(options)


def _played(sides: tuple[Side, Side], name: str, options: Options) -> dict[str, Sample]:
    """The first trace warms both sides up; each round plays a new one."""
    target = str(_DOMAINS / name / "world.tw")
    try:
        with sides[0].worker(options.seconds) as own:
            own.ask("load", target=target)
            traces = own.ask("draw", ticks=_TICKS, count=options.rounds + 1)["traces"]
    except PeerError as error:
        return {op: Sample(name, "", failed=str(error)) for op in ("intend", "legal")}
    units = {"intend": "per command", "legal": "per list"}
    questions = [
        Question(name, unit, op, {"number": number})
        for number in range(len(traces))
        for op, unit in units.items()
    ]
    load = {"target": target, "traces": traces}
    found = list(contest(sides, load, questions, 1, options.seconds))[2:]
    return {"intend": merged(found[::2]), "legal": merged(found[1::2])}


def _recorded(options: Options) -> Figure:
    """Whole runs, each in its own process; both must have the same number of records."""
    what = "`tw run --player random` with a store"
    run = ("--player", "random", "--ticks", str(_RECORDS), "--seed", "1")
    target, rounds = str(_DOMAINS / "willowbrook" / "world.tw"), list[Sample]()
    with tempfile.TemporaryDirectory(prefix="tw-run-") as made:
        try:
            after, before = reversed(both(options.base, Path(made).resolve()))
        except SetupError as error:
            return Figure("V2", what, options.base, _GOAL, missing=str(error))
        for _ in range(options.rounds):
            (own, first), (other, second) = (
                side.ask(Asked("run", run), target) for side in (after, before)
            )
            counts = [answer and answer["records"] for answer in (first, second)]
            failed = "" if counts == [_RECORDS] * 2 else f"records: {counts[0]} and {counts[1]}"
            costs = (own / _RECORDS,), (other / _RECORDS,)
            rounds.append(Sample("willowbrook", "per record", *costs, failed=failed))
    return Figure("V2", what, options.base, _GOAL, (merged(rounds),))
