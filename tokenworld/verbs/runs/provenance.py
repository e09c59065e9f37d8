"""Why a slot holds what it holds: the rule of which record set it, and what let that rule happen.

What a rule needed are the requires of an action or the `when` of a law, with the values that they
read at that moment; each of these values has an origin of its own in turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokenworld.core.nodes import Binder, DeriveCall, Read, Require, Term
from tokenworld.core.walk import subterms
from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.engine import State
from tokenworld.engine.reference import Fault, Reference
from tokenworld.engine.reference.env import Env
from tokenworld.ground import Json, read_value, show_value
from tokenworld.model import Fluent, Program
from tokenworld.prose import EnglishProse
from tokenworld.session.moments import slot_text
from tokenworld.session.session import Session
from tokenworld.store import Tick, canonical
from tokenworld.verbs.recheck import mirrored

__all__ = ["Need", "Provenance", "Setter", "provenance", "slot_named"]


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
    """A value that a rule's condition read: its slot, what it held, and since when."""

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


Slot = tuple[Fluent, tuple[Json, ...]]


def slot_named(program: Program, state: State, text: str) -> Slot:
    """The slot that ``object.attribute`` or ``function(a, b)`` names; `Failure` TW0201 else."""
    name, args = _parts(text)
    if args is None:
        owner, _, name = name.rpartition(".")
        args = (owner,)
    found = _fluent(program, state, name, args)
    if found is None:
        known = _known_slots(program, state)
        hint = did_you_mean(text, known) or "Name it as `object.attribute` or `function(a, b)`."
        raise Failure(Diagnostic("TW0201", f"There is no slot `{text}`.", hint=hint))
    return found, _arguments(program, state, found, args)


def _parts(text: str) -> tuple[str, tuple[str, ...] | None]:
    """A name, and the arguments in parentheses if there are any."""
    name, bracket, rest = text.strip().partition("(")
    if not bracket:
        return name, None
    inner = rest.strip().removesuffix(")")
    return name.strip(), tuple(one.strip() for one in inner.split(",")) if inner.strip() else ()


def _fluent(program: Program, state: State, name: str, args: tuple[str, ...]) -> Fluent | None:
    """An attribute of the first argument's type, else a function or relation."""
    number = state.numbers.get(args[0]) if len(args) == 1 else None
    kind = None if number is None else state.kinds[number]
    for key in program.types[kind].attributes if kind is not None else ():
        if program.fluents[key].name == name:
            return program.fluents[key]
    named = (one for one in program.fluents.values() if one.name == name)
    return next((one for one in named if len(one.params) == len(args)), None)


def _arguments(
    program: Program, state: State, fluent: Fluent, args: tuple[str, ...]
) -> tuple[Json, ...]:
    shown = []
    for binder, word in zip(fluent.params, args, strict=True):
        value: Any = int(word) if re.fullmatch(r"-?\d+", word) else word
        try:
            raw = read_value(program, state.numbers, binder.type, value)
        except (ValueError, TypeError) as error:
            hint = "Name an object or a value of this type."
            raise Failure(Diagnostic("TW0201", str(error), hint=hint)) from None
        shown.append(show_value(program, state.names, binder.type, raw))
    return tuple(shown)


def _known_slots(program: Program, state: State) -> list[str]:
    found = []
    for number, kind in enumerate(state.kinds):
        for key in program.types[kind].attributes if kind is not None else ():
            found.append(f"{state.names[number]}.{program.fluents[key].name}")
    return found


# ---- the origin -------------------------------------------------------------------------------


def provenance(
    session: Session, ticks: Sequence[Tick], slot: str, before: State | None = None
) -> Provenance:
    """The origin of a slot's value at the end of ``ticks``, the history of a run.

    ``session`` stands at that end; ``before`` is the state in which the setting record was given
    (see `setting_record`): without it no needs are told.
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
