"""``tw quality``: the scorecard of a stored run, seven dimensions and one verdict, and the gate.

`score_run` is the one producer of scorecards; every surface shows its result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from tokenworld.core import lowered
from tokenworld.diagnostics import Failure, counted, fields_json, joined, usage
from tokenworld.ground import Json
from tokenworld.model import ObjectType
from tokenworld.prose.calls import parse_call
from tokenworld.session import OpenWorld
from tokenworld.session.replaying import stored_session
from tokenworld.store.database import Database
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, history, snapshot_before
from tokenworld.store.records import IntentSource, Reference, Run, Tick
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_USAGE, Output
from tokenworld.verbs.quality.dimensions import (
    Coverage,
    Dimension,
    Fact,
    Grade,
    Markers,
    Settings,
    Window,
    action_coherence,
    character,
    conservation,
    graph_fan_out,
    groundedness,
    quality_settings,
    refusal_cluster,
    settings_file,
    vocabulary,
    window_of,
)
from tokenworld.verbs.quality.fate import BAD, UNASKED, Fate, Plans, fate_of, verbs_of_use
from tokenworld.verbs.recheck import CHECKPOINT_EVERY, Checked, Checkpoint, Say, Snapshot, replayed

Verdict = Literal["HEALTHY", "DEGRADED", "FAILED", "INSUFFICIENT_DATA"]
DEFAULT_WINDOW = 50
ENOUGH = 10
"""Fewer records than this are no ground for a verdict."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The run that is judged, as the store names it, and its world."""

    run: str
    world: str
    title: str
    digest: str
    player: IntentSource | str


@dataclass(frozen=True, slots=True)
class AgentScore:
    """The dimensions of one of several agents that can be told apart, over its own records of the
    window. One with fewer than `ENOUGH` records takes no part in the verdict."""

    name: str
    n: int
    dimensions: tuple[Dimension, ...]

    def grades(self, grade: Grade) -> tuple[Dimension, ...]:
        """The dimensions with a grade, if there are records enough."""
        return tuple(one for one in self.dimensions if one.status == grade and self.n >= ENOUGH)


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The scores of a window: the dimensions in their order, what became of the goal, the scores of
    each of several agents, and the verdict over them."""

    subject: Subject
    window: Window
    dimensions: tuple[Dimension, ...]
    fate: Fate = UNASKED
    agents: tuple[AgentScore, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """INSUFFICIENT_DATA below ten records, FAILED by any FAIL or `error`, DEGRADED by a WARN or
        where the goal is lost."""
        if self.window.n < ENOUGH:
            return "INSUFFICIENT_DATA"
        if self.failing or self.window.errors or any(one.grades("FAIL") for one in self.agents):
            return "FAILED"
        warned = self.warning or any(one.grades("WARN") for one in self.agents)
        return "DEGRADED" if warned or self.fate.name in BAD else "HEALTHY"

    @property
    def failing(self) -> tuple[Dimension, ...]:
        return tuple(one for one in self.dimensions if one.status == "FAIL")

    @property
    def warning(self) -> tuple[Dimension, ...]:
        return tuple(one for one in self.dimensions if one.status == "WARN")

    def to_json(self) -> dict[str, Json]:
        """``tw-quality/2``."""
        window = self.window
        ticks = [one.tick for one in window.facts]
        return {
            "schema": "tw-quality/2",
            "schema_version": 2,
            **fields_json(self.subject),
            "window": {
                "requested": window.requested,
                "n": window.n,
                "first": window.first,
                "last": window.last,
                "ticks": [ticks[0], ticks[-1]] if ticks else [],
            },
            "goal": self.fate.to_json(),
            "verdict": self.verdict,
            "errors": list(window.errors),
            "dimensions": [one.to_json() for one in self.dimensions],
            "agents": [
                {"name": one.name, "n": one.n, "dimensions": [d.to_json() for d in one.dimensions]}
                for one in self.agents
            ],
        }


def judge(
    subject: Subject,
    history: Sequence[Fact],
    requested: int,
    *,
    checkpoints: Sequence[Checkpoint] = (),
    coverage: Coverage | None = None,
    markers: Markers | None = None,
    fate: Fate = UNASKED,
) -> Scorecard:
    """The scorecard of the last ``requested`` records of a history. Pure: the same facts, the same
    scorecard. Checkpoints outside the window, or between the tens, do not count."""
    window = window_of(history, requested)
    counted = {fact.seq for fact in window.facts if fact.seq % CHECKPOINT_EVERY == 0}
    points = [one for one in checkpoints if one.seq in counted]
    return Scorecard(
        subject,
        window,
        (
            groundedness(window),
            character(window, markers or Markers()),
            action_coherence(window),
            refusal_cluster(window),
            vocabulary(window, coverage),
            conservation(window),
            graph_fan_out(points),
        ),
        fate,
        tuple(_agents(window)),
    )


def _agents(window: Window) -> Iterator[AgentScore]:
    """The scores of each agent, where several act in the window."""
    names = [*dict.fromkeys(fact.actor for fact in window.facts if fact.actor)]
    for name in names if len(names) > 1 else ():
        before, facts = (
            tuple(fact for fact in part if fact.actor == name)
            for part in (window.before, window.facts)
        )
        own = Window(window.requested, before, facts)
        yield AgentScore(name, own.n, (action_coherence(own), refusal_cluster(own)))


def scorecard_lines(card: Scorecard) -> Iterator[str]:
    """The lines of the table."""
    yield f"{card.subject.title} · {span_text(card.window)}"
    yield ""
    for one in card.dimensions:
        yield f"  {f'[{one.status}]':<8}{one.title:<23}{one.text}"
        yield f"          {one.meaning}"
    for agent in card.agents:
        yield ""
        yield f"  {agent.name}, {counted(agent.n, 'record')}"
        for one in agent.dimensions:
            yield f"  {f'[{one.status}]':<8}{one.title:<23}{one.text}"
    yield ""
    yield f"  Goal: {card.fate.text}."
    yield f"  Verdict: {verdict_sentence(card)}"


def span_text(window: Window) -> str:
    """``records 151 to 200, ticks 148 to 196``: records by their number in the history, ticks as
    `tw run` tells them."""
    if not window.facts:
        return "no records"
    first, last = window.facts[0], window.facts[-1]
    if first is last:
        return f"record {first.seq}, tick {first.tick}"
    return f"records {first.seq} to {last.seq}, ticks {first.tick} to {last.tick}"


def verdict_sentence(card: Scorecard) -> str:
    """Return the verdict and its reasons: ``DEGRADED — vocabulary in warn.``"""
    reasons = "; ".join(_reasons(card))
    return f"{card.verdict} — {reasons}." if reasons else f"{card.verdict}."


def _reasons(card: Scorecard) -> Iterator[str]:
    if card.window.n < ENOUGH:
        yield f"{counted(card.window.n, 'record')}, {ENOUGH} needed"
    errors = card.window.errors
    if errors:
        noun = "record" if len(errors) == 1 else "records"
        yield f"error in {noun} {joined([str(one) for one in errors], 'and')}"
    if card.failing:
        yield f"{_names(card.failing)} failed"
    if card.warning:
        yield f"{_names(card.warning)} in warn"
    for agent in card.agents:
        if failing := agent.grades("FAIL"):
            yield f"{agent.name}: {_names(failing)} failed"
        if warning := agent.grades("WARN"):
            yield f"{agent.name}: {_names(warning)} in warn"
    if card.fate.name in BAD:
        yield card.fate.text


def _names(dimensions: Sequence[Dimension]) -> str:
    return joined([one.title.lower() for one in dimensions], "and")


_UNCHECKED = Checked(())


def score_run(
    store: Database,
    run: Run,
    window: int = DEFAULT_WINDOW,
    *,
    plans: Plans | None = None,
    say: Say | None = None,
) -> Scorecard:
    """The scorecard of the last ``window`` records of a run, a branch with all that led to it.

    The run is played again from the sources stored with it. The settings are those of
    the `quality.toml` beside the world's file. With ``plans`` the planner is asked whether the goal
    is in reach, and which actions are of use. Raises `Failure`: TW0006 for a window below 1 or a
    `quality.toml` that does not fit, TW11xx for a store that cannot be read, and the findings of
    the checker where the stored sources are no program for this version.
    """
    if window < 1:
        raise usage("A window has a record or more.", "Give `--window N` from 1.")
    ticks = history(store, run)
    session = stored_session(run)
    facts = [fact_of(place, tick, _UNCHECKED) for place, tick in enumerate(ticks, 1)]
    first = window_of(facts, window).first or len(ticks) + 1
    snapshot = _snapshot(store, run, first - 1, len(ticks) - run.ticks)
    again = replayed(session.world, session.seed, ticks, first, snapshot, say)
    for place, found in again.checks.items():
        facts[place - 1] = fact_of(place, ticks[place - 1], found)
    settings, plans = _settings(store, run), plans or Plans(0)
    fate = fate_of(run, session.world, ticks, plans.seconds)
    of_use = verbs_of_use(run, session.world, ticks, fate, plans)
    return judge(
        _subject(run, session.world),
        facts,
        window,
        checkpoints=again.checkpoints,
        coverage=coverage_of(session.world, of_use) if settings.closed else None,
        markers=settings.markers,
        fate=fate,
    )


def _subject(run: Run, world: OpenWorld) -> Subject:
    header = run.header
    title = world.world.title or header.world
    return Subject(run.slug, header.world, title, header.digest, header.player)


def _snapshot(store: Database, run: Run, last: int, parents: int) -> Snapshot | None:
    """The latest stored state at or before a place of the history; ``parents`` lead to this run."""
    found = snapshot_before(store, run, last - parents)
    return None if found is None else Snapshot(found[0] + parents, found[1], found[2])


def _settings(store: Database, run: Run) -> Settings:
    names = tuple(source.name for source in run.header.sources)
    found = settings_file(names, store.path.absolute().parent.parent)
    return quality_settings(found, run.header.world)


# ---- facts ------------------------------------------------------------------------------------


def fact_of(place: int, tick: Tick, found: Checked) -> Fact:
    """The fact sheet of a record with the number ``place`` of its history."""
    outcome = tick.outcome
    verb = outcome.get("action")
    return Fact(
        place,
        tick.status,
        tick.source,
        verb if isinstance(verb, str) and verb != "pass" else "",
        free_text(tick),
        tick.intent.get("expect") == tick.status,
        (*found.faults, *found.claims),
        found.unchecked,
        _blamed(outcome) if tick.status == "rolled_back" else (),
        outcome.get("by", "player") == "player",
        found.prose,
        int(str(outcome.get("tick") or 0)),
        str(outcome.get("actor") or ""),
    )


def free_text(tick: Tick) -> str | None:
    """The free text of a player: neither a call nor `pass`."""
    text = tick.intent.get("text")
    if not isinstance(text, str) or parse_call(text) is not None:
        return None
    plain = text.strip().rstrip(".").strip()
    return None if plain.casefold() in ("", "pass") else plain


def _blamed(outcome: Mapping[str, Json]) -> tuple[str, ...]:
    """The broken invariants, and the rules that broke them."""
    breach = outcome.get("breach")
    if not isinstance(breach, Mapping):
        return ()
    culprits = breach.get("culprits")
    rules = culprits if isinstance(culprits, list) else []
    names = (str(one) for one in (breach.get("rule") or breach.get("code"), *rules) if one)
    return tuple(dict.fromkeys(names))


# ---- coverage ---------------------------------------------------------------------------------


def coverage_of(world: OpenWorld, of_use: tuple[str, ...] = ()) -> Coverage:
    """The actions that may ever be possible: those that static facts leave a binding of, now or
    once more objects are created. ``of_use`` are those that a way to the goal takes."""
    program, engine = world.program, world.engine
    start = engine.start()
    born = lowered(program).creates
    reachable = []
    for name, action in program.actions.items():
        bindings = engine.bindings(start, name)
        kinds = (one.type.name for one in action.params if isinstance(one.type, ObjectType))
        grows = any(program.is_subtype(new, kind) for kind in kinds for new in born)
        if bindings is None or grows or any(True for _ in bindings):
            reachable.append(name)
    return Coverage(tuple(reachable), of_use)


# ---- the verb, and the gate that other programs read ---------------------------------------------


Gate = Literal["plain", "strict"]

_CODES: dict[Gate, dict[Verdict, int]] = {
    "plain": {"HEALTHY": 0, "DEGRADED": 0, "FAILED": 1, "INSUFFICIENT_DATA": 3},
    "strict": {"HEALTHY": 0, "DEGRADED": 1, "FAILED": 1, "INSUFFICIENT_DATA": 3},
}


def outside(card: Scorecard) -> bool:
    """Return whether the gate does not judge a run: an adversarial player is refused on purpose."""
    return card.subject.player == "adversarial"


def exit_code(card: Scorecard, gate: Gate | None) -> int:
    """0 where the run passes or nobody asked, 1 where it fails, 3 with too few records."""
    if gate is None or outside(card):
        return 0
    return _CODES[gate][card.verdict]


def gate_json(card: Scorecard, gate: Gate) -> dict[str, Json]:
    """The result of the gate as JSON; ``judged`` is false for a run that it does not judge."""
    judged = not outside(card)
    return {"mode": gate, "judged": judged, "passed": judged and exit_code(card, gate) == 0}


def keep_reference(store: RunStore, run: Run, card: Scorecard, gate: Gate) -> bool:
    """Note a release run as a reference if it passes the gate; whether it is one now.

    There is no other way to make one. Raises `Failure` TW1102 where the run is not finished or the
    store cannot be written; then nothing is noted.
    """
    verdict = card.verdict
    passed = not outside(card) and exit_code(card, gate) == 0
    if not passed or (verdict != "HEALTHY" and verdict != "DEGRADED"):
        return False
    store.keep_as_reference(run, Reference(verdict, card.window.requested))
    return True


def quality(
    run: opt.RunName,
    out: Output,
    *,
    window: opt.Window = 50,
    gate: Annotated[Gate | None, "Fail a FAILED run; `--gate strict` a DEGRADED one too."] = None,
    reference: Annotated[bool, "Keep the run as a reference if it passes the gate."] = False,
    form: Annotated[Literal["table", "json"], opt.Option("--format"), "How to print."] = "table",
    time_limit: Annotated[float, "Seconds to ask whether the goal is in reach; 0: do not."] = 5.0,
    store: opt.Store = None,
) -> int:
    """Score a run and print the scorecard; return 2 if it cannot be scored."""
    out.as_json |= form == "json"
    gate = gate or ("plain" if reference else None)
    kept = False
    try:
        with RunStore.open(store, writable=reference) as opened:
            found = find_run(opened, run)
            card = score_run(opened, found, window, plans=Plans(time_limit), say=out.progress)
            if reference and gate is not None:
                kept = keep_reference(opened, found, card, gate)
    except Failure as failure:
        out.failure(failure)
        return EXIT_USAGE
    _tell(card, out, gate, kept=kept)
    if reference and not kept:
        out.note(f"`{card.subject.run}` is not kept as a reference: it does not pass the gate.")
    return exit_code(card, gate)


def _tell(card: Scorecard, out: Output, gate: Gate | None, *, kept: bool) -> None:
    for line in scorecard_lines(card):
        out.line(line)
    out.json(
        {
            **card.to_json(),
            "gate": None if gate is None else gate_json(card, gate),
            "kept_as_reference": kept,
        }
    )
    if gate is not None and outside(card):
        out.note("An adversarial run is refused on purpose: the gate does not judge it.")
    if kept:
        out.line(f"  {card.subject.run} is kept as a reference.")
