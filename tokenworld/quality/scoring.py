"""From a run in the store to its scorecard: the one producer for every surface."""

from __future__ import annotations

from collections.abc import Mapping

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Json
from tokenworld.model import Body, Create, ObjectType, effects_in
from tokenworld.prose.calls import parse_call
from tokenworld.quality.facts import Fact, window_of
from tokenworld.quality.markers import Markers, markers_file, read_markers
from tokenworld.quality.recheck import Checked
from tokenworld.quality.replayed import Say, Snapshot, replayed
from tokenworld.quality.scorecard import DEFAULT_WINDOW, Scorecard, Subject, judge
from tokenworld.quality.vocabulary import Coverage
from tokenworld.session import OpenWorld
from tokenworld.session.replaying import stored_session
from tokenworld.store import Database, Run, Tick, history, snapshot_before

__all__ = ["coverage_of", "fact_of", "free_text", "score_run"]

_UNCHECKED = Checked(())


def score_run(
    store: Database,
    run: Run,
    window: int = DEFAULT_WINDOW,
    *,
    markers: Markers | None = None,
    say: Say | None = None,
) -> Scorecard:
    """The scorecard of the last ``window`` ticks of a run, a branch with all that led to it.

    The run is played again from the sources stored with it. ``markers``: else those of the
    `quality.toml` beside the world's file. Raises `Failure`: TW0006 for a window below 1 or a
    `quality.toml` that does not fit, TW11xx for a store that cannot be read, and the findings of
    the checker where the stored sources are no program for this version.
    """
    if window < 1:
        raise Failure(
            Diagnostic("TW0006", "A window has a tick or more.", hint="Give `--window N` from 1.")
        )
    ticks = history(store, run)
    session = stored_session(run)
    facts = [fact_of(place, tick, _UNCHECKED) for place, tick in enumerate(ticks, 1)]
    first = window_of(facts, window).first or len(ticks) + 1
    snapshot = _snapshot(store, run, first - 1, len(ticks) - run.ticks)
    again = replayed(session.world, session.seed, ticks, first, snapshot, say)
    for place, found in again.checks.items():
        facts[place - 1] = fact_of(place, ticks[place - 1], found)
    return judge(
        _subject(run, session.world),
        facts,
        window,
        checkpoints=again.checkpoints,
        coverage=coverage_of(session.world),
        markers=markers or _markers(store, run),
    )


def _subject(run: Run, world: OpenWorld) -> Subject:
    header = run.header
    title = world.world.title or header.world
    return Subject(run.slug, header.world, title, header.digest, header.player)


def _snapshot(store: Database, run: Run, last: int, parents: int) -> Snapshot | None:
    """The latest stored state at or before a place of the history; ``parents`` lead to this run."""
    found = snapshot_before(store, run, last - parents)
    return None if found is None else Snapshot(found[0] + parents, found[1], found[2])


def _markers(store: Database, run: Run) -> Markers:
    names = tuple(source.name for source in run.header.sources)
    return read_markers(markers_file(names, store.path.absolute().parent.parent), run.header.world)


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
    )


def free_text(tick: Tick) -> str | None:
    """What a player wrote in words of its own: neither a call nor `pass`."""
    text = tick.intent.get("text")
    if not isinstance(text, str) or parse_call(text) is not None:
        return None
    plain = text.strip().rstrip(".").strip()
    return None if plain.casefold() in ("", "pass") else plain


def _blamed(outcome: Mapping[str, Json]) -> tuple[str, ...]:
    """What was broken, and the rules that broke it."""
    breach = outcome.get("breach")
    if not isinstance(breach, Mapping):
        return ()
    culprits = breach.get("culprits")
    rules = culprits if isinstance(culprits, list) else []
    names = (str(one) for one in (breach.get("rule") or breach.get("code"), *rules) if one)
    return tuple(dict.fromkeys(names))


# ---- coverage ---------------------------------------------------------------------------------


def coverage_of(world: OpenWorld) -> Coverage:
    """The actions that may ever be possible: those that static facts leave a binding of, now or
    once more objects are created."""
    program, engine = world.program, world.engine
    start = engine.start()
    born = _created(world)
    reachable = []
    for name, action in program.actions.items():
        bindings = engine.bindings(start, name)
        kinds = (one.type.name for one in action.params if isinstance(one.type, ObjectType))
        grows = any(program.is_subtype(new, kind) for kind in kinds for new in born)
        if bindings is None or grows or any(True for _ in bindings):
            reachable.append(name)
    return Coverage(tuple(reachable))


def _created(world: OpenWorld) -> set[str]:
    """The types that a rule creates objects of."""
    program = world.program
    bodies: list[Body] = [one.body for one in program.births]
    bodies += [one.body for one in program.actions.values()]
    bodies += [one.body for one in program.laws.values()]
    return {one.of for body in bodies for one in effects_in(body) if isinstance(one, Create)}
