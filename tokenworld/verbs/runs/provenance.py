"""``tw runs at``, ``diff``, ``why``, ``branch``, ``resume``: earlier states of a run, and branches.

``why`` names the record and the rule that set a slot, and the conditions that enabled the rule.

The needs of a rule are the requires of an action or the `when` of a law, with the values that they
read at that moment; each of these values has an origin in turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from tokenworld.core.nodes import Binder, DeriveCall, Read, Require, Term
from tokenworld.core.walk import subterms
from tokenworld.diagnostics import fields_json
from tokenworld.engine import State
from tokenworld.engine.reference import Fault, Reference
from tokenworld.engine.reference.values import Env
from tokenworld.ground import Json, read_value, show_value, value_text
from tokenworld.model import Fluent, Program
from tokenworld.prose.wording import EnglishProse
from tokenworld.session import Session
from tokenworld.session.moments import differences, slot_named, slot_text, slots_of
from tokenworld.session.replaying import branched, resumed, session_at
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, history
from tokenworld.store.records import Run, Tick, canonical
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output
from tokenworld.verbs.recheck import mirrored
from tokenworld.verbs.runs.run import Company, Onward, play_on, run_player

_DEEP = 4
"""Derives within derives are followed so far."""
_RULE = re.compile(r"(\w+) (\w+)\((.*)\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Setter:
    """The record and rule that gave a slot its value; ``record`` 0 is the start of the run."""

    record: int
    rule: str
    old: Json
    new: Json


@dataclass(frozen=True, slots=True)
class Need:
    """A value that a rule's condition read: its slot, its value, and since which tick."""

    condition: str
    slot: str
    value: Json
    set_by: Setter


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a slot's value: its last setter and what that needed."""

    slot: str
    value: Json
    set_by: Setter
    asked: str
    needs: tuple[Need, ...]


# ---- the origin -------------------------------------------------------------------------------


def provenance(
    session: Session, ticks: Sequence[Tick], slot: str, before: State | None = None
) -> Provenance:
    """The origin of a slot's value at the end of ``ticks``, the history of a run.

    ``session`` stands at that end; ``before`` is the state in which the setting record was given
    (see `setting_record`): without it the result has no needs.
    """
    program, state = session.world.program, session.state
    fluent, args = slot_named(program, state, slot)
    column = session.engine.layout.by_id[fluent.id]
    key = _key(program, state, fluent, args)
    value = show_value(program, state.names, fluent.type, state.get(column, column.key(key)))
    setter = last_setter(ticks, fluent.id, args, value)
    if not setter.record or before is None:
        return Provenance(slot, value, setter, "", ())
    tick = ticks[setter.record - 1]
    needs = _Needs(session, before, ticks[: setter.record - 1], tick).of(setter.rule, args)
    return Provenance(slot, value, setter, tick.text or "", tuple(needs))


def _key(program: Program, state: State, fluent: Fluent, args: tuple[Json, ...]) -> tuple[Any, ...]:
    return tuple(
        read_value(program, state.numbers, binder.type, one)
        for binder, one in zip(fluent.params, args, strict=True)
    )


def last_setter(
    ticks: Sequence[Tick], fluent: str, args: Sequence[Json], value: Json = None
) -> Setter:
    """The last committed change of a slot; the start, where there was none."""
    wanted = canonical(list(args))
    for place in range(len(ticks), 0, -1):
        outcome = ticks[place - 1].outcome
        for part in ("law_changes", "changes"):
            for change in reversed(_listed(outcome.get(part))):
                if change["fluent"] == fluent and canonical(change["args"]) == wanted:
                    return Setter(place, str(change["rule"]), change["old"], change["new"])
    return Setter(0, "the start", None, value)


def _listed(value: Json | None) -> list[Mapping[str, Any]]:
    return value if isinstance(value, list) else []


class _Needs:
    """The values that a rule of one record read, each with its origin."""

    def __init__(
        self, session: Session, before: State, earlier: Sequence[Tick], tick: Tick
    ) -> None:
        self._session, self._program = session, session.world.program
        self._earlier, self._tick = earlier, tick
        self._reference = Reference(session.engine.instance, EnglishProse())
        self._rules = self._reference.words.rules
        self._plain = mirrored(self._reference, before)
        self._before = before
        self._found: dict[str, Need] = {}

    def of(self, rule: str, slot: Sequence[Json]) -> list[Need]:
        kind, _, name = rule.partition(" ")
        if kind == "action" and name in self._program.actions:
            self._action(name)
        elif kind == "law" and name in self._program.laws:
            self._law(name, slot)
        return list(self._found.values())

    def _action(self, name: str) -> None:
        action, shown = self._rules.actions[name], self._tick.outcome.get("args")
        args = dict(shown) if isinstance(shown, Mapping) else {}
        env = self._env(action.params, [args.get(one.name) for one in action.params])
        for guard in action.guards if env is not None else ():
            if isinstance(guard, Require) and env is not None:
                self._condition(guard.source, guard.condition, env)

    def _law(self, name: str, slot: Sequence[Json]) -> None:
        """Of several bindings those that name the slot's object, else all that fired."""
        law = self._rules.laws[name]
        fired = self._tick.outcome.get("fired")
        found = [_RULE.fullmatch(str(one)) for one in fired] if isinstance(fired, list) else []
        listed = [_split(one[3]) for one in found if one is not None and one[2] == name]
        about = [one for one in listed if slot and str(slot[0]) in one]
        for args in about or listed:
            env = self._env(law.params, args)
            if env is not None and law.when is not None:
                self._condition(self._source(law.when), law.when, env)

    def _env(self, params: Sequence[Binder], args: Sequence[Any]) -> Env | None:
        names: dict[str, Any] = {}
        for binder, shown in zip(params, args, strict=False):
            value: Any = shown
            if isinstance(shown, str) and re.fullmatch(r"-?\d+", shown):
                value = int(shown)
            try:
                numbers = self._before.numbers
                names[binder.name] = read_value(self._program, numbers, binder.type, value)
            except (ValueError, TypeError):
                return None
        return Env(self._plain, self._plain, self._plain.acting, names)

    def _source(self, term: Term) -> str:
        """A condition as it is written."""
        sources = {one.name: one.text for one in self._session.world.loaded.sources}
        text = sources.get(term.span.file, "")[term.span.start : term.span.end]
        return " ".join(text.split())

    def _condition(self, source: str, term: Term, env: Env) -> None:
        for fluent, args, value in self._reads(term, env, _DEEP):
            names = self._before.names
            shown = [
                show_value(self._program, names, binder.type, one)
                for binder, one in zip(fluent.params, args, strict=True)
            ]
            slot = slot_text(fluent, shown)
            if slot not in self._found:
                told = show_value(self._program, names, fluent.type, value)
                setter = last_setter(self._earlier, fluent.id, shown, told)
                self._found[slot] = Need(source, slot, told, setter)

    def _reads(
        self, term: Term, env: Env, deep: int
    ) -> Iterator[tuple[Fluent, tuple[Any, ...], Any]]:
        """The slots that a condition reads, as far as their arguments are known outside of it."""
        words = self._reference.words
        for part in subterms(term):
            try:
                if isinstance(part, Read) and not part.was:
                    args = tuple(words.term(one, env) for one in part.args)
                    if None not in args:
                        yield self._program.fluents[part.fluent], args, words.term(part, env)
                elif isinstance(part, DeriveCall) and deep:
                    derive = self._rules.derives[part.derive]
                    values = [words.term(one, env) for one in part.args]
                    names = {b.name: v for b, v in zip(derive.params, values, strict=True)}
                    yield from self._reads(derive.value, env.only(names), deep - 1)
            except (Fault, KeyError):
                continue  # a local of a fold inside: it has no one value


def _split(text: str) -> list[str]:
    return [one.strip() for one in text.split(",")] if text.strip() else []


# ---- the verbs -----------------------------------------------------------------------------------


def at(reference: opt.Run, seq: opt.Record, out: Output, *, store: opt.Store = None) -> int:
    """The whole state after a record."""
    with RunStore.open(store, writable=False) as opened:
        run = find_run(opened, reference)
        session = session_at(opened, run, seq)
    out.line(f"{run.slug} after record {seq}: tick {session.tick}, state {_hash(session)}")
    for slot, value in slots_of(session.state_json()).items():
        out.line(f"  {slot} = {value_text(value)}")
    out.json({"schema_version": 1, "run": run.slug, "record": seq, "state_hash": _hash(session),
              "state": session.state_json()})  # fmt: skip
    return EXIT_OK


def _hash(session: Session) -> str:
    return session.engine.hash(session.state)


# ---- diff -------------------------------------------------------------------------------------


def diff(first: opt.Moment, second: opt.Moment, out: Output, *, store: opt.Store = None) -> int:
    """Print the differences of two moments, each RUN or RUN@N; returns 1 if there are any."""
    with RunStore.open(store, writable=False) as opened:
        (run, place), (other, there) = (_moment(opened, one) for one in (first, second))
        old, new = session_at(opened, run, place), session_at(opened, other, there)
        fork = _fork(_before(opened, run, place), _before(opened, other, there))
    found = differences(slots_of(old.state_json()), slots_of(new.state_json()))
    out.line(f"{run.slug}@{place} (tick {old.tick}) and {other.slug}@{there} (tick {new.tick})")
    out.line(f"  {_common(fork, run, other)}")
    for one in found:
        out.line(f"  {one.slot}: {_text(one.old)} → {_text(one.new)}")
    if not found:
        out.line("  no slot differs")
    out.json({"schema_version": 1, "first": {"run": run.slug, "record": place},
              "second": {"run": other.slug, "record": there}, "common_records": fork,
              "changes": [{"slot": one.slot, "first": one.old, "second": one.new}
                          for one in found]})  # fmt: skip
    return EXIT_NEGATIVE if found else EXIT_OK


def _common(fork: int, run: Run, other: Run) -> str:
    if not fork:
        return "no record in common"
    then = "one goes on" if run.id == other.id else "they part"
    return f"the same for {fork} records, then {then}"


def _moment(store: RunStore, text: str) -> tuple[Run, int]:
    """``RUN@N``, or the end of a run."""
    name, mark, number = text.rpartition("@")
    if mark and number.isascii() and number.isdigit() and len(number) < 10:
        return find_run(store, name or None), int(number)
    run = find_run(store, text)
    return run, run.ticks


def _before(store: RunStore, run: Run, seq: int) -> tuple[Tick, ...]:
    whole = history(store, run)
    return whole[: len(whole) - run.ticks + seq]


def _fork(one: tuple[Tick, ...], other: tuple[Tick, ...]) -> int:
    """The length of the common prefix of two histories: equal intents with equal outcomes."""
    same = 0
    for left, right in zip(one, other, strict=False):
        if (left.intent, left.outcome) != (right.intent, right.outcome):
            break
        same += 1
    return same


def _text(value: Any) -> str:
    return "–" if value is None else value_text(value)


# ---- why --------------------------------------------------------------------------------------


def why(
    reference: opt.Run,
    slot: Annotated[str, "object.attribute, or function(a, b)."],
    out: Output,
    *,
    record: Annotated[
        int | None, opt.Option("--at"), "As it was after this record; the end."
    ] = None,
    store: opt.Store = None,
) -> int:
    """Tell the record and the rule that set a slot, and the values that enabled the rule."""
    with RunStore.open(store, writable=False) as opened:
        run = find_run(opened, reference)
        place = run.ticks if record is None else record
        session = session_at(opened, run, place)
        ticks = _before(opened, run, place)
        found = provenance(session, ticks, slot, _setting(opened, run, session, ticks, slot))
    for line in _told(found):
        out.line(line)
    out.json({"schema_version": 1, "run": run.slug, "record": place, **fields_json(found)})
    return EXIT_OK


def _setting(
    store: RunStore, run: Run, session: Session, ticks: tuple[Tick, ...], slot: str
) -> Any:
    """The state in which the record was given that set the slot, if one did."""
    fluent, args = slot_named(session.world.program, session.state, slot)
    setter = last_setter(ticks, fluent.id, args)
    if not setter.record:
        return None
    place = setter.record - 1
    while place and ticks[place - 1].status == "interrupted":
        place -= 1
    owner = next(one for one in _line_of(store, run) if one[1] <= place)
    return session_at(store, owner[0], place - owner[1]).state


def _line_of(store: RunStore, run: Run) -> Iterator[tuple[Run, int]]:
    """The run and its ancestors, each with the place in the history at which it starts."""
    start = len(history(store, run)) - run.ticks
    yield run, start
    while run.header.parent is not None:
        parent = run.header.parent
        run = find_run(store, parent.run)
        start -= parent.tick
        yield run, start


def _told(found: Provenance) -> Iterator[str]:
    yield f"{found.slot} = {value_text(found.value)}"
    yield f"  {_origin(found.set_by)}"
    if found.asked:
        yield f"  asked: {found.asked}"
    for need in found.needs:
        yield f"  because {need.condition}: {need.slot} = {value_text(need.value)}"
        yield f"    {_origin(need.set_by)}"


def _origin(setter: Setter) -> str:
    if not setter.record:
        return "as it was at the start"
    old, new = value_text(setter.old), value_text(setter.new)
    return f"record {setter.record}: {setter.rule} changed it from {old} to {new}"


# ---- branch -----------------------------------------------------------------------------------


def branch(
    reference: opt.Run,
    seq: opt.Record,
    out: Output,
    *,
    onward: Onward,
    store: opt.Store = None,
) -> int:
    """A new run that leaves another one after a record, and is played on if somebody is to play."""
    choice = onward.choice
    with RunStore.open(store) as opened:
        run = find_run(opened, reference)
        if choice.nobody:
            session = branched(opened, run, seq, "human")
            assert session.recording is not None
            out.line(f"{session.recording.slug} leaves {run.slug} after record {seq}")
            out.json({"schema_version": 1, "run": session.recording.slug, "parent": run.slug,
                      "record": seq, "state_hash": _hash(session)})  # fmt: skip
            return EXIT_OK
        chosen = run_player(choice, session_at(opened, run, seq).world, out.progress)
        with Company.called(choice, chosen, out) as company:
            session = branched(opened, run, seq, chosen.source)
            return play_on(session, chosen, choice.ticks, out, company, choice.grown)


def resume(reference: opt.RunName, out: Output, *, onward: Onward, store: opt.Store = None) -> int:
    """Continue a run that was cut off; its stored records are not changed."""
    choice = onward.choice
    with RunStore.open(store) as opened:
        run = find_run(opened, reference)
        session = resumed(opened, run)
        chosen = run_player(choice, session.world, out.progress)
        with Company.called(choice, chosen, out) as company:
            return play_on(session, chosen, choice.ticks, out, company, choice.grown)
