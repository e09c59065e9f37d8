"""The morning report: of every run what an operator wants to know first, as plain data.

Which run went bad and in what, with ticks to look at; who was halted and why; what was refused most
often; which rules never fired; what nobody understood; whether a goal was reached, and how many
ticks a plan would have taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokenworld.diagnostics import Failure, fields_json
from tokenworld.ground import Json
from tokenworld.session import OpenWorld, plan_for_seed
from tokenworld.session.replaying import stored_session
from tokenworld.store import Run, RunStore, Tick, history
from tokenworld.verbs.quality.dimensions import Dimension
from tokenworld.verbs.quality.scorecard import DEFAULT_WINDOW, Scorecard, score_run

__all__ = ["Example", "Morning", "RunReport", "morning"]


_EXAMPLES = 3
_REASONS = 5


@dataclass(frozen=True, slots=True)
class Example:
    """A tick to look at: what was asked, and what it came to in a sentence."""

    tick: int
    asked: str
    came_to: str


@dataclass(frozen=True, slots=True)
class Reached:
    """An ending and the record and tick at which it was reached."""

    name: str
    record: int
    tick: int
    won: bool


@dataclass(frozen=True, slots=True)
class RunReport:
    """One run. ``plan_ticks`` is the length of a plan, ``None`` where none was found in time.

    ``trouble`` says why there is no scorecard, where there is none.
    """

    run: Run
    card: Scorecard | None
    trouble: str
    examples: Mapping[str, tuple[Example, ...]]
    halts: tuple[Example, ...]
    refusal_reasons: tuple[tuple[str, int], ...]
    not_understood: tuple[tuple[str, int], ...]
    never_fired: tuple[str, ...]
    open_gaps: tuple[Example, ...]
    endings: tuple[Reached, ...]
    ticks_used: int
    plan_ticks: int | None

    @property
    def verdict(self) -> str:
        return self.card.verdict if self.card is not None else "UNREADABLE"

    @property
    def bad(self) -> tuple[Dimension, ...]:
        """The dimensions that fail, then those in warn."""
        return (*self.card.failing, *self.card.warning) if self.card is not None else ()

    def to_json(self) -> dict[str, Json]:
        return {
            "run": self.run.slug,
            "started": self.run.timing.started if self.run.timing else None,
            "ended": self.run.ending.reason if self.run.ending else None,
            "reference": self.run.reference is not None,
            "verdict": self.verdict,
            "trouble": self.trouble or None,
            "scorecard": self.card.to_json() if self.card else None,
            **fields_json(self, "run", "card", "trouble"),
        }


@dataclass(frozen=True, slots=True)
class Morning:
    """All runs of a report, oldest first; ``since`` is what was asked for, in words."""

    since: str
    runs: tuple[RunReport, ...]

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of runs of each verdict, the worst first."""
        order = ("FAILED", "UNREADABLE", "DEGRADED", "INSUFFICIENT_DATA", "HEALTHY")
        counts = Counter(one.verdict for one in self.runs)
        return {name: counts[name] for name in order if counts[name]}

    def to_json(self) -> dict[str, Json]:
        return {
            "schema": "tw-report/1",
            "schema_version": 1,
            "since": self.since or None,
            "verdicts": dict(self.verdicts),
            "runs": [one.to_json() for one in self.runs],
        }


def morning(
    store: RunStore,
    runs: Iterable[Run],
    since: str,
    *,
    window: int = DEFAULT_WINDOW,
    plan_seconds: float = 5.0,
    say: Callable[[str], None] | None = None,
) -> Morning:
    """The report of some runs. A run that cannot be scored is listed as such and stops no other.

    A plan for each world and seed is looked for during ``plan_seconds`` at most; 0: none is.
    """
    plans = _Plans(plan_seconds)
    found = []
    for run in runs:
        if say is not None:
            say(f"scoring {run.slug}, {run.ticks:,} records")
        try:
            found.append(_report(store, run, window, plans))
        except Failure as failure:
            found.append(_unscored(run, failure))
    return Morning(since, tuple(found))


def _unscored(run: Run, failure: Failure) -> RunReport:
    said = failure.diagnostics[0]
    trouble = f"{said.code}: {said.message}"
    return RunReport(run, None, trouble, {}, (), (), (), (), (), (), run.ticks, None)


def _report(store: RunStore, run: Run, window: int, plans: _Plans) -> RunReport:
    card = score_run(store, run, window)
    ticks, world = history(store, run), stored_session(run).world
    bad = (*card.failing, *card.warning)
    examples: dict[str, tuple[Example, ...]] = {one.id: _examples(one, ticks, card) for one in bad}
    reached = tuple(_reached(world, ticks))
    used = next((one.tick for one in reached if one.won), _ticks_used(ticks))
    return RunReport(
        run,
        card,
        "",
        examples,
        tuple(_example(place, tick) for place, tick in _with(ticks, "halted")),
        _most(_reason(tick) for _, tick in _with(ticks, "refused")),
        _most(_asked(tick) for _, tick in _with(ticks, "no_match")),
        _idle(world, ticks),
        tuple(_example(place, tick) for place, tick in _with(ticks, "yielded")),
        reached,
        used,
        plans.ticks(world, run.header.digest, run.header.seed),
    )


# ---- ticks ------------------------------------------------------------------------------------


def _with(ticks: Sequence[Tick], status: str) -> list[tuple[int, Tick]]:
    return [(place, tick) for place, tick in enumerate(ticks, 1) if tick.status == status]


def _most(texts: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """The most frequent ones; equally frequent ones as they came."""
    return tuple(Counter(texts).most_common(_REASONS))


def _asked(tick: Tick) -> str:
    return tick.text or str(tick.outcome.get("action") or "pass")


def _reason(tick: Tick) -> str:
    """The action and the require that stood in its way."""
    refusal: Any = tick.outcome.get("refusal") or {}
    action = tick.outcome.get("action")
    return f"{action}: {refusal.get('label') or refusal.get('text')}"


def _examples(one: Dimension, ticks: Sequence[Tick], card: Scorecard) -> tuple[Example, ...]:
    faults = {fact.seq: fact.faults for fact in card.window.facts}
    found = []
    for place in one.evidence[:_EXAMPLES]:
        tick = ticks[place - 1]
        said = faults.get(place) or ()
        found.append(_example(place, tick, said[0] if one.id == "groundedness" and said else ""))
    return tuple(found)


def _example(place: int, tick: Tick, came_to: str = "") -> Example:
    return Example(place, _asked(tick), came_to or _came_to(tick))


def _came_to(tick: Tick) -> str:
    """A record in a sentence."""
    outcome: Any = tick.outcome
    for part, key in (("refusal", "text"), ("no_match", "message"), ("breach", "message")):
        if outcome.get(part):
            return f"{tick.status}: {outcome[part].get(key) or outcome[part].get('code')}"
    said = outcome.get("cause") or " ".join(outcome.get("said") or ())
    return f"{tick.status}: {said}" if said else tick.status


def _reached(world: OpenWorld, ticks: Sequence[Tick]) -> Iterable[Reached]:
    goals = {line.name for line in world.world.goals}
    for place, tick in enumerate(ticks, 1):
        outcome: Any = tick.outcome
        for name in outcome.get("latched") or ():
            yield Reached(str(name), place, int(outcome["tick"]) + 1, name in goals)


def _ticks_used(ticks: Sequence[Tick]) -> int:
    return sum(tick.outcome.get("time_passed") is True for tick in ticks)


def _idle(world: OpenWorld, ticks: Sequence[Tick]) -> tuple[str, ...]:
    """Actions that were never done and laws that never fired in the whole run."""
    done = {str(tick.outcome.get("action")) for tick in ticks if tick.status == "executed"}
    fired: set[str] = set()
    for tick in ticks:
        listed: Any = tick.outcome.get("fired") or ()
        fired |= {str(one).partition("(")[0] for one in listed}
    actions = (f"action {name}" for name in world.program.actions if name not in done)
    laws = (f"law {name}" for name in world.program.laws if f"law {name}" not in fired)
    return (*actions, *laws)


class _Plans:
    """Plans by world and seed, each looked for once."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._known: dict[tuple[str, str, int], int | None] = {}

    def ticks(self, world: OpenWorld, digest: str, seed: int) -> int | None:
        """The number of ticks of a plan from the start, ``None`` if none was found in time."""
        if self._seconds <= 0 or not world.world.goals:
            return None
        key = (world.world.name, digest, seed)
        if key not in self._known:
            engine = world.engine
            steps, _ = plan_for_seed(engine, engine.start(seed), None, time_limit=self._seconds)
            self._known[key] = len(steps) or None
        return self._known[key]
