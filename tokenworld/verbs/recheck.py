"""A stored run played again by the engine and judged record by record by the reference evaluator.

The engine leads to each tick. The reference, which shares no code with it, gets each intent again,
and the record is compared with its result: the laws of statuses, the status, the failed require,
the changes, the narration. The check may begin at any stored state whose hash the log contains;
both evaluators must give that state the same hash.

A line of prose is a template: each of its slots claims a value. The slot is evaluated again in the
state at the end of the record, with the same bindings. Values that the reader cannot see any more,
because they are gone or out of sight, do not count against the line. The prose of a narrator has no
slots: its claims are those that `prose.claims` reads in it, and the rest is counted as unread.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, assert_never

from tokenworld.core.nodes import Hole, ObjectName, Template, Term, Variable
from tokenworld.core.walk import subterms
from tokenworld.diagnostics import Failure
from tokenworld.engine import Engine, EngineSpeaker, State
from tokenworld.engine.reference import Fault, Reference
from tokenworld.engine.reference import State as PlainState
from tokenworld.engine.reference.bodies import Line
from tokenworld.engine.reference.record import Record, outcome
from tokenworld.engine.reference.values import Env, Long
from tokenworld.engine.reference.words import Words
from tokenworld.engine.saved.digest import shown_keys
from tokenworld.ground import STATUSES, By, Command, Json, NoMatch, Outcome
from tokenworld.model import BoolType, CollectionType, ObjectType
from tokenworld.prose.claims import Claim, ClaimReader, Done, Fact, Inside, Reading
from tokenworld.prose.lexicon import Lexicon
from tokenworld.prose.matching import command_text
from tokenworld.prose.wording import EnglishProse
from tokenworld.session import OpenWorld
from tokenworld.session.intents import Resolver
from tokenworld.session.replaying import by_of, meant
from tokenworld.store.check import broken_law
from tokenworld.store.records import Tick, storable


def between_rounds(state: State) -> bool:
    """Return whether a state can be mirrored: no round of several actors is under way."""
    return state.turn == 0 and state.round is None and state.reported is None


def mirrored(reference: Reference, state: State) -> PlainState:
    """The same state for the reference."""
    kinds = {number: kind for number, kind in enumerate(state.kinds) if kind is not None}
    plain = PlainState(kinds, dict(enumerate(state.names)))
    plain.next_id, plain.seed, plain.tick = state.next_id, state.seed, state.tick
    plain.outcomes, plain.awarded, plain.fired = state.latched, state.awarded, state.fired
    plain.long = {who: Long(one.command, one.done, one.total) for who, one in state.longs}
    plain.actors, plain.drawn = state.actors, dict(state.drawn)
    for column in state.layout.columns:
        fluent, stored = column.fluent, state.cols[column.index]
        if column.tupled:
            keys = list(stored)
        elif column.single:
            keys = [0]
        else:
            owners = state.layout.owners[column.index]
            keys = [one for one, kind in kinds.items() if kind in owners]
        if fluent.ordered and column.by_object and state.kids[column.index] is not None:
            # a child is filed when it is put; those that point nowhere have no place to keep
            listed = [child for children in state.kids[column.index] for child in children]
            keys = [*(one for one in keys if stored[one] is None), *listed]
        for key in keys:
            reference.words.known.put(plain, fluent, column.args(key), stored[key])
    return plain


@dataclass(frozen=True, slots=True)
class Claims:
    """The number of checkable claims of a record, and the claims that are false."""

    checked: int
    false: tuple[str, ...]


def claims_of(words: Words, record: Record) -> Claims:
    """Return the claims in the texts of a record."""
    found = [one for line in record.spoken for one in _of_line(words, line, record.after)]
    return Claims(len(found), tuple(dict.fromkeys(one for one in found if one)))


def _of_line(words: Words, line: Line, after: PlainState) -> Iterator[str]:
    """Yield a text for each checked claim: empty if it is true, else its fault."""
    # Prose of a body is rendered before the tick is counted; the hour it tells is not disputed.
    later = replace(line.env, state=_at(after, line.env.state.tick), tables={}, pasts={})
    if isinstance(line.what, Template):
        for slot in line.what.parts:
            if isinstance(slot, Hole):
                yield from _of_slot(words, slot, line.env, later)
    elif line.what is not None and _visible(words, [line.what], later):
        yield from _compared(
            words.described(line.what, line.env), words.described(line.what, later)
        )


def _at(state: PlainState, tick: int) -> PlainState:
    return replace(state, tick=tick, hash="")


def _of_slot(words: Words, slot: Hole, then: Env, later: Env) -> Iterator[str]:
    try:
        if not _visible(words, _objects(words, slot.term, then), later):
            return
        told = words.shown(slot.term, then, slot.article)
        now = words.shown(slot.term, later, slot.article)
    except (Fault, KeyError):
        return  # its object is destroyed, or has no value any more
    yield from _compared(told, now)


def _compared(told: str, now: str) -> Iterator[str]:
    yield "" if told == now else f"it told `{told}` where it is `{now}`"


def _objects(words: Words, term: Term, env: Env) -> list[int]:
    """The objects that a slot speaks of: those that are named in it, and its value."""
    found = []
    for part in subterms(term):
        if isinstance(part, Variable | ObjectName) and isinstance(part.type, ObjectType):
            found.append(words.term(part, env) if _bound(part, env) else None)
    value: Any = words.term(term, env)
    if isinstance(term.type, ObjectType):
        found.append(value)
    elif isinstance(term.type, CollectionType) and isinstance(term.type.element, ObjectType):
        found += value
    return [one for one in found if one is not None]


def _bound(part: Variable | ObjectName, env: Env) -> bool:
    """A local of a fold inside the term has no value outside of it."""
    return not isinstance(part, Variable) or part.name in env.locals


def _visible(words: Words, objects: list[int], env: Env) -> bool:
    return all(
        one == env.me or (one in env.state.kinds and words.in_scope(one, env)) for one in objects
    )


# ---- the prose of a narrator ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prose:
    """Counts of a narrator: claims that were checked, and clauses that cannot be read or that the
    state does not decide."""

    claims: int
    unread: int


_DONE = ("executed", "waiting")


def holds(words: Words, claim: Claim, env: Env, records: Sequence[Record]) -> bool | None:
    """Return whether a claim is true; ``None`` if its readings disagree or have no value."""
    try:
        found = {_is_so(words, one, env, records) for one in claim.readings}
    except Fault:
        return None
    return found.pop() is not claim.negated if len(found) == 1 else None


def _is_so(words: Words, reading: Reading, env: Env, records: Sequence[Record]) -> bool:
    match reading:
        case Fact(name=name, derived=True, args=args, value=value):
            return bool(words.derived(name, list(args), env) == value)
        case Fact(name=name, args=args, value=value):
            return words.known.get(env.state, words.program.fluents[name], args) == value
        case Inside(fluent=fluent, thing=thing, place=place):
            return place in words.known.places(env.state, fluent, thing)
        case Done(commands=commands):
            done = (one.command for one in records if one.status in _DONE)
            return any(one in commands for one in done)
        case _:
            assert_never(reading)


_KINDS = ("action", "text", "pass", "halt")


def misgiven(
    tick: Tick, engine: Engine, before: State, command: Command | NoMatch | None
) -> Iterator[str]:
    """The parts of a record's intent and words that no session stores."""
    intent = tick.intent
    kinds = [kind for kind in _KINDS if kind in intent]
    if len(kinds) != 1:
        yield f"its `intent` is {' and '.join(kinds) or 'nothing'} at once"
        return
    kind = kinds[0]
    known = {"format", "actor", kind, *(("args",) if kind == "action" else ())}
    for key in sorted(intent.keys() - known - {"expect", "yield"}):
        yield f"its `intent.{key}` belongs to no intent"
    for key in sorted(known - intent.keys()):
        yield f"its `intent.{key}` is missing"
    if intent.get("format") != "tw-intent/1" or intent.get("pass", True) is not True:
        yield "its `intent.format` or `intent.pass` is none that is stored"
    acting = None if before.acting is None else before.names[before.acting]
    if intent.get("actor") is None and acting is not None:
        yield f"its `intent.actor` names nobody, and it was the turn of {acting}"
    if kind == "halt" and intent.get("actor") != acting:
        yield f"its `intent.actor` is not {acting}, whose turn it was"
    expected = intent.get("expect")
    if "expect" in intent and (expected not in STATUSES or tick.source != "scenario"):
        yield "its `intent.expect` is none that a scenario asks for"
    by_time = tick.outcome.get("by") == "time"
    if not by_time and ("yield" in intent) is not (tick.status == "yielded"):
        yield f"its `intent.yield` is not that of a record with the status {tick.status}"
    yield from _words(tick, kind, engine, before, command)


def _words(
    tick: Tick, kind: str, engine: Engine, before: State, command: Command | NoMatch | None
) -> Iterator[str]:
    """The words are those typed, else the call's name or how a command is said."""
    text = tick.text
    plain = {"pass": "pass", "halt": None}.get(kind, str(tick.intent[kind]))
    if text == (None if plain is None else storable(plain)):
        return
    if isinstance(command, Command) and kind in ("action", "pass"):
        program = engine.instance.program
        if text == command_text(command, program, EngineSpeaker(engine, before)):
            return
    yield f"its `text` is {text!r}, which is not what was asked"


Logged = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Checked:
    """The failed checks of a record.

    ``faults`` are errors of the log; ``claims`` false claims of its narration; ``unchecked``: it
    has texts without claims. ``keys`` names each part that the engine or the reference makes
    otherwise. ``prose`` is set where a narrator told of it.
    """

    faults: tuple[str, ...]
    claims: tuple[str, ...] = ()
    unchecked: bool = False
    keys: tuple[str, ...] = ()
    prose: Prose | None = None


@dataclass(frozen=True, slots=True)
class Plain:
    """A record of the reference, as it is and as ``tw-outcome/1``."""

    record: Record
    shown: Logged


def play_plainly(
    reference: Reference, state: PlainState, intent: Command | NoMatch, by: By = "player"
) -> tuple[PlainState, tuple[Plain, ...]]:
    """The state after an intent and its records, by the reference."""
    words = reference.words
    records = reference.round.intent(state, intent, by)
    try:
        found = tuple(Plain(one, outcome(words, one)) for one in records)
    except Fault as fault:  # a text or the score has no value: the intent is in error
        records = reference.round.dropped(records, state, fault)
        found = tuple(Plain(one, outcome(words, one)) for one in records)
    return records[-1].after, found


def checked(
    reference: Reference, logged: Logged, plain: Plain | None, played: Logged | None
) -> Checked:
    """A logged outcome held against those that the reference and the engine make of its intent."""
    law = broken_law(logged)
    faults = [] if law is None else [f"breaks the law `{law.name}`: {law.text}"]
    if plain is None or played is None:
        told = (*faults, "nothing of the kind comes of its intent")
        return Checked(told, keys=told)
    keys = (*different(logged, played), *different(_settled(logged), _settled(plain.shown)))
    faults += _differences(logged, plain.shown)
    claims = claims_of(reference.words, plain.record)
    false = tuple(f"its narration is not true: {one}" for one in claims.false)
    unchecked = bool(plain.record.spoken) and not claims.checked
    return Checked(tuple(faults) or keys, false, unchecked, keys)


def different(logged: Json, played: Json, place: str = "") -> Iterator[str]:
    """Each innermost part of a record that is played otherwise, the status first."""
    if _same(logged, played):
        return
    if isinstance(logged, Mapping) and isinstance(played, Mapping):
        for key in sorted({*logged, *played}, key=lambda one: (one != "status", one)):
            there = f"{place}.{key}" if place else key
            if key not in played:
                yield f"its `{there}` is logged as {_shown(logged[key])}, and there is none"
            elif key not in logged:
                yield f"its `{there}` is not logged, and is {_shown(played[key])}"
            else:
                yield from different(logged[key], played[key], there)
    elif isinstance(logged, list) and isinstance(played, list) and len(logged) == len(played):
        for number, (left, right) in enumerate(zip(logged, played, strict=True)):
            yield from different(left, right, f"{place}[{number}]")
    else:
        yield f"its `{place}` is logged as {_shown(logged)}, not {_shown(played)}"


_OPEN = ("format", "discarded", "text")
_SETTLED = {"no_match": ("kind",), "yielded": ("kind",), "breach": ("code", "kind", "witness")}


def _settled(record: Logged) -> Logged:
    """The claims of a record that the language determines, with changes as sets."""
    found = {key: one for key, one in record.items() if key not in _OPEN}
    for key in ("changes", "law_changes"):
        found[key] = _sorted(found.get(key))
    for key, settled in _SETTLED.items():
        one = found.get(key)
        if isinstance(one, Mapping):
            found[key] = {part: one.get(part) for part in settled}
        elif one is not None:
            found[key] = {settled[0]: one}
    return found


def _differences(logged: Logged, found: Logged) -> Iterator[str]:
    """The differences between the log and the reference."""
    if logged.get("status") != found["status"]:
        yield f"it is logged as {logged.get('status')}, and comes out {found['status']}"
    for key in ("by", "action", "args", "time_passed"):
        if not _same(logged.get(key), found[key]):
            yield f"its `{key}` is logged as {_shown(logged.get(key))}, not {_shown(found[key])}"
    for key, what in (("changes", "changes"), ("law_changes", "changes by laws")):
        if not _same(_sorted(logged.get(key)), _sorted(found[key])):
            yield f"its {what} are not those that a replay makes"
    if found["status"] == "refused" == logged.get("status"):
        yield from _refusal(logged.get("refusal"), found["refusal"])
    if not _same(logged.get("said"), found["said"]):
        yield "its narration is not what the rules say"


def _refusal(logged: Json, found: Json) -> Iterator[str]:
    """The named require is the first one that is false in the state before."""
    told, true = (one if isinstance(one, Mapping) else {} for one in (logged, found))
    if (told.get("index"), told.get("label")) != (true.get("index"), true.get("label")):
        yield f"it names the require `{told.get('label')}`, and `{true.get('label')}` is false"


def _sorted(changes: Json) -> list[str]:
    """Changes are a set."""
    listed: Sequence[Json] = changes if isinstance(changes, list | tuple) else ()
    return sorted(json.dumps(one, sort_keys=True) for one in listed)


def _same(left: Json, right: Json) -> bool:
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def _shown(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


Say = Callable[[str], None]
_Given = tuple[Command | NoMatch, By]

CHECKPOINT_EVERY = 10
"""Records between two measurements of the graph."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The graph after a tick."""

    seq: int
    edges: int
    nodes: int

    @property
    def fan_out(self) -> Fraction:
        return Fraction(self.edges, self.nodes) if self.nodes else Fraction(0)


def checkpoint(seq: int, state: State) -> Checkpoint:
    """Counts the graph of a state."""
    return Checkpoint(seq, _edges(state), sum(kind is not None for kind in state.kinds))


def _edges(state: State) -> int:
    total = 0
    for column in state.layout.columns:
        relation = isinstance(column.fluent.type, BoolType)
        kind = column.fluent.fluent_kind
        if kind == "table" or (relation and kind == "attribute"):
            continue
        if relation or isinstance(column.fluent.type, ObjectType):
            values = (state.get(column, key) for key in shown_keys(state, column))
            total += sum(value is True if relation else value is not None for value in values)
    return total


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A whole state as it is stored, after record ``seq`` of the history."""

    seq: int
    state: Mapping[str, Json]
    state_hash: str


@dataclass(slots=True)
class Replayed:
    """The results of replaying the last records, by their place in the history."""

    checks: dict[int, Checked] = field(default_factory=dict)
    checkpoints: list[Checkpoint] = field(default_factory=list)


def replayed(
    world: OpenWorld,
    seed: int,
    ticks: Sequence[Tick],
    first: int,
    snapshot: Snapshot | None = None,
    say: Say | None = None,
    states: Mapping[int, Mapping[str, Json]] | None = None,
) -> Replayed:
    """Play a history again and check its records from the one with the number ``first`` on.

    ``states`` are stored whole states by the records that they lie after: they are checked too.
    """
    return _Player(world, ticks, first, say, states or {}).play(seed, snapshot)


class _Player:
    """The engine, and beside it the reference once the first record to be checked is near."""

    def __init__(
        self,
        world: OpenWorld,
        ticks: Sequence[Tick],
        first: int,
        say: Say | None,
        states: Mapping[int, Mapping[str, Json]],
    ) -> None:
        self._engine, self._ticks, self._first, self._say = world.engine, ticks, first, say
        self._resolver, self._states = Resolver(world), states
        self._reference = Reference(world.instance, EnglishProse())
        self._plain: PlainState | None = None
        self._found = Replayed()

    @cached_property
    def _claims(self) -> ClaimReader:
        return ClaimReader(self._engine.instance.program)

    def play(self, seed: int, snapshot: Snapshot | None) -> Replayed:
        place, state = self._begin(seed, snapshot)
        clean, since = state, list[_Given]()
        while place < len(self._ticks):
            if place + 1 >= self._first and self._plain is None:
                self._plain = self._mirror(clean, since)
            if "halt" in self._ticks[place].intent:  # the runner's own record: nothing happened
                self._halted(place, state)
                place += 1
                self._stored(place, state)
                continue
            intent = meant(self._resolver, state, self._ticks[place])
            by = by_of(self._ticks[place])
            before = state
            state, outcomes = self._engine.play(state, intent, by=by)
            self._check(place, outcomes, intent, by, (before, state))
            place += len(outcomes)
            self._stored(place, state)
            self._note(place, state)
            clean, since = (state, []) if between_rounds(state) else (clean, [*since, (intent, by)])
        return self._found

    def _begin(self, seed: int, snapshot: Snapshot | None) -> tuple[int, State]:
        """Return the number and state of the snapshot, or the start if its hash is wrong."""
        if snapshot is not None:
            try:
                state = self._engine.restored(snapshot.state, source="the snapshot")
            except Failure:
                return 0, self._engine.start(seed)
            logged = self._ticks[snapshot.seq - 1].hash_after
            if between_rounds(state) and self._engine.hash(state) == snapshot.state_hash == logged:
                return snapshot.seq, state
        return 0, self._engine.start(seed)

    def _mirror(self, clean: State, since: Sequence[_Given]) -> PlainState:
        plain = mirrored(self._reference, clean)
        for intent, by in since:
            plain, _ = play_plainly(self._reference, plain, intent, by)
        return plain

    def _check(
        self,
        place: int,
        outcomes: tuple[Outcome, ...],
        intent: Command | NoMatch,
        by: By,
        states: tuple[State, State],
    ) -> None:
        """Hold the records of an intent against those of the engine and of the reference;
        ``states`` are before and after it."""
        if self._plain is None:
            return
        before, _ = states
        self._plain, plain = play_plainly(self._reference, self._plain, intent, by)
        for index, played in enumerate(outcomes):
            if self._first <= place + index + 1 <= len(self._ticks):
                own = plain[index] if index < len(plain) else None
                tick = self._ticks[place + index]
                found = checked(self._reference, tick.outcome, own, played.to_json())
                asked = tuple(misgiven(tick, self._engine, before, intent))
                self._found.checks[place + index + 1] = replace(found, keys=(*asked, *found.keys))
        self._narrated(place + len(outcomes), [one.record for one in plain], *states)

    def _narrated(self, place: int, records: Sequence[Record], before: State, after: State) -> None:
        """Check the prose on the intent that ended at a place against the state after it."""
        known, plain = self._found.checks.get(place), self._plain
        prose = self._ticks[place - 1].prose if known is not None else None
        if known is None or plain is None or prose is None:
            return
        was, now = (Lexicon(EngineSpeaker(self._engine, one)) for one in (before, after))
        told = self._claims.told(prose, was, now, before.acting)
        env = Env(plain, plain, before.acting)
        found = [holds(self._reference.words, one, env, records) for one in told.claims]
        false = (
            f"the narrator told `{claim.text}`, and that is not so"
            for claim, so in zip(told.claims, found, strict=True)
            if so is False
        )
        open_ = found.count(None)
        self._found.checks[place] = replace(
            known,
            claims=(*known.claims, *false),
            prose=Prose(len(found) - open_, told.unread + open_),
        )

    def _stored(self, place: int, state: State) -> None:
        """Compare a stored whole state with the replayed one."""
        known = self._found.checks.get(place)
        if known is None or place not in self._states:
            return
        faults = tuple(different(self._states[place], self._engine.json(state), "snapshot"))
        self._found.checks[place] = replace(known, keys=(*known.keys, *faults))

    def _halted(self, place: int, state: State) -> None:
        """Check a record of a stopped runner: it may claim nothing else."""
        tick = self._ticks[place]
        outcome = tick.outcome
        if place + 1 >= self._first:
            bare = outcome["hash_before"] == outcome["hash_after"] and not outcome["time_passed"]
            lies = outcome["status"] != "halted" or not bare
            faults = ("the runner stopped here, and something else is told",) if lies else ()
            played = self._engine.halt(state, str(tick.intent["halt"])).to_json()
            asked = tuple(misgiven(tick, self._engine, state, None))
            keys = (*asked, *different(outcome, played))
            self._found.checks[place + 1] = Checked(faults or keys, keys=keys)

    def _note(self, place: int, state: State) -> None:
        if place >= self._first and place % CHECKPOINT_EVERY == 0:
            self._found.checkpoints.append(checkpoint(place, state))
        if self._say is not None and place % 1000 == 0:
            self._say(f"played {place:,} of {len(self._ticks):,} records again")
