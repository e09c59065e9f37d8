"""The result of one intent as ``tw-outcome/1`` (language.md §9)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tokenworld.core.nodes import Let, Require, Template, Term
from tokenworld.core.rules import Action
from tokenworld.engine.reference.bodies import Line, Wants
from tokenworld.engine.reference.changes import Made
from tokenworld.engine.reference.env import Env
from tokenworld.engine.reference.shown import object_names, state_hash
from tokenworld.engine.reference.values import Fault, State
from tokenworld.engine.reference.words import Words
from tokenworld.ground import By, Command, Json, NoMatch, Raw, show_value
from tokenworld.model import show_type


@dataclass(frozen=True)
class Refused:
    """The require that was false; ``generated`` names one that the language adds."""

    index: int
    generated: str = ""
    text: str = ""


@dataclass
class Record:
    """One record in the making. ``spoken`` is rendered last: on each state, with its `was`.

    ``since`` is what `was` reads in the action, ``start`` what the closed round began with,
    ``judged`` the state in which the requires were tested, where that is not ``before``.
    """

    status: str
    command: Command | None
    before: State
    after: State
    refused: Refused | None = None
    no_match: NoMatch | None = None
    made: list[Made] = field(default_factory=list)
    laws_made: list[Made] = field(default_factory=list)
    fired: list[tuple[str, str, tuple[Raw, ...]]] = field(default_factory=list)
    spoken: list[Line] = field(default_factory=list)
    events: list[tuple[str, list[Json]]] = field(default_factory=list)
    rewards: list[Fraction | float] = field(default_factory=list)
    draws: list[dict[str, Json]] = field(default_factory=list)
    latched: tuple[str, ...] = ()
    progress: tuple[int, int] | None = None
    cause: str | None = None
    fault: Fault | None = None
    time_passed: bool = False
    start: State | None = None
    since: State | None = None
    judged: State | None = None
    by: By = "player"

    def fresh(self) -> Record:
        """The same, to be added to without touching this one."""
        return replace(
            self, laws_made=list(self.laws_made), fired=list(self.fired), draws=list(self.draws),
            spoken=list(self.spoken), events=list(self.events), rewards=list(self.rewards),
        )  # fmt: skip

    def add(self, wants: Wants, seen: State, was: State) -> None:
        """Keep what a body said, emitted and paid."""
        for line in wants.lines:
            env = Env(seen, was, line.env.me, line.env.locals)
            self.spoken.append(Line(line.what, env))
        self.events += wants.events
        self.rewards += wants.rewards


def number(value: Fraction | float) -> int | float:
    """A JSON number: whole where it can be."""
    if isinstance(value, float):
        return value
    return int(value) if value.denominator == 1 else float(value)


def outcome(words: Words, record: Record) -> dict[str, Json]:
    """The record as compared: all of ``tw-outcome/1`` that the language settles."""
    before, after = record.before, record.after
    actor = before.acting
    found: dict[str, Any] = {
        "tick": before.tick,
        "status": record.status,
        "actor": None if actor is None else before.names[actor],
        "by": record.by,
        "action": _action(record.command),
        "args": _arguments(words, record.command, before),
        "time_passed": record.time_passed,
        "changes": _changes(words, record.made, after),
        "law_changes": _changes(words, record.laws_made, after),
        "fired": [_rule(words, one, after) for one in record.fired],
        "said": _said(words, record.spoken),
        "events": [[event, args] for event, args in record.events],
        "reward": number(_reward(words, record)),
        "score": number(words.score(Env(after, after, after.me))),
        "hash_before": state_hash(words.known, before),
        "hash_after": state_hash(words.known, after),
    }
    optional: dict[str, Any] = {
        "refusal": _refusal(words, record),
        **({record.no_match.status: record.no_match.kind} if record.no_match else {}),
        "draws": record.draws or None,
        "latched": list(record.latched) or None,
        "progress": list(record.progress) if record.progress else None,
        "cause": record.cause or (record.refused.text if record.refused else None) or None,
        "breach": _breach(record.fault),
        "noop": True if record.status == "executed" and not record.made else None,
        "next": _next(after),
    }
    return {**found, **{key: value for key, value in optional.items() if value is not None}}


def _next(after: State) -> str | None:
    several = len(after.actors) > 1 and after.acting is not None
    return after.names[after.acting] if several else None  # type: ignore[index]


def _breach(fault: Fault | None) -> dict[str, Json] | None:
    if fault is None:
        return None
    return {"code": fault.code, "kind": fault.kind, "witness": list(fault.witness)}


def _action(command: Command | None) -> str:
    if command is None:
        return ""
    return "pass" if command.is_pass else command.action


def _arguments(words: Words, command: Command | None, state: State) -> dict[str, Json]:
    if command is None or command.is_pass:
        return {}
    params = words.rules.actions[command.action].params
    names = object_names(state)
    return {
        binder.name: show_value(words.program, names, binder.type, value)
        for binder, value in zip(params, command.args, strict=True)
    }


def _rule(words: Words, one: tuple[str, str, tuple[Raw, ...]], state: State) -> str:
    kind, name, args = one
    binders = words.rules.laws[name].params
    names = object_names(state)
    shown = (
        str(show_value(words.program, names, binder.type, value))
        for binder, value in zip(binders, args, strict=True)
    )
    return f"{kind} {name}({', '.join(shown)})"


def _changes(words: Words, made: list[Made], state: State) -> list[Json]:
    names = object_names(state)
    return [
        {
            "fluent": one.fluent.id,
            "args": [
                show_value(words.program, names, param.type, arg)
                for param, arg in zip(one.fluent.params, one.args, strict=True)
            ],
            "old": show_value(words.program, names, one.fluent.type, one.old),
            "new": show_value(words.program, names, one.fluent.type, one.new),
            "rule": one.rule,
        }
        for one in made
    ]


def _said(words: Words, spoken: list[Line]) -> list[str]:
    texts = [
        words.rendered(line.what, line.env)
        if isinstance(line.what, Template)
        else words.described(line.what, line.env)
        for line in spoken
    ]
    return [line for text in texts for line in text.split("\n") if line]


def _reward(words: Words, record: Record) -> Fraction | float:
    total: Fraction | float = Fraction(0)
    for amount in record.rewards:
        real = isinstance(amount, float)
        total = float(total) + amount if real else total + amount
    if record.time_passed:
        was = record.start if record.start is not None else record.before
        env = Env(record.after, was, record.after.me)
        for pay in words.rules.worlds[words.instance.world.name].pays:
            if words.holds(pay.when, env):
                total = total + words.amount(pay.amount, env)
    return total


# ---- requires -----------------------------------------------------------------------------


def requires(words: Words, action: Action, env: Env) -> int | None:
    """The index of the first false require of the author, ``None`` if all hold."""
    index = 0
    for guard in action.guards:
        if isinstance(guard, Let):
            env = _named(words, guard, env)
        elif words.holds(guard.condition, env):
            index += 1
        else:
            return index
    return None


def _named(words: Words, let: Let, env: Env) -> Env:
    """The environment behind a let among the requires; nothing is drawn there."""
    assert isinstance(let.value, Term)
    return env.bind(let.names[0], words.term(let.value, env))


def _refusal(words: Words, record: Record) -> dict[str, Json] | None:
    refused, command = record.refused, record.command
    if refused is None or command is None:
        return None
    action = words.rules.actions[command.action]
    names = {b.name: arg for b, arg in zip(action.params, command.args, strict=True)}
    before = record.judged or record.before
    env = Env(before, record.since or before, before.acting, names)
    reports = _reports(words, action, env)
    if refused.generated:
        reports.append(_added(action, refused, len(reports)))
    first = reports[refused.index]
    return {
        "label": first["label"],
        "text": first["text"],
        "index": first["index"],
        "span": first["span"],
        "failed": [one for one in reports if one["holds"] is not True],
        "requires": reports,
    }


def _added(action: Action, refused: Refused, index: int) -> dict[str, Json]:
    kind = refused.generated
    return {
        "index": index,
        "label": kind,
        "condition": f"the {kind} of every changed value is kept",
        "text": refused.text,
        "holds": False,
        "values": {},
        "span": str(action.span),
    }


def _reports(words: Words, action: Action, env: Env) -> list[dict[str, Json]]:
    """Reports on every require; after a false one, some may have no value."""
    found: list[dict[str, Json]] = []
    lets: list[Let] = []
    for guard in action.guards:
        if isinstance(guard, Let):
            lets.append(guard)
        else:
            found.append(_report(words, guard, lets, env, len(found)))
    return found


def _report(
    words: Words, require: Require, lets: list[Let], env: Env, index: int
) -> dict[str, Json]:
    undefined = False
    try:
        for let in lets:
            env = _named(words, let, env)
    except Fault:
        undefined = True
    try:
        holds = None if undefined else words.holds(require.condition, env)
    except Fault:
        holds = None
    values: dict[str, Json] = {}
    for source, term in require.atoms:
        try:
            if undefined:
                raise Fault("TW1006", "undefined", "")
            raw = words.term(term, env)
            names = object_names(env.state)
            values[source] = show_value(words.program, names, term.type, raw)
        except Fault:
            values[source] = f"undefined ({show_type(term.type)})"
    return {
        "index": index,
        "label": require.label,
        "condition": require.source,
        "text": "" if holds else _worded(words, require, env, undefined=undefined),
        "holds": holds,
        "values": values,
        "span": str(require.span),
    }


def _worded(words: Words, require: Require, env: Env, *, undefined: bool) -> str:
    if require.text is not None and not undefined:
        try:
            return words.rendered(require.text, env)
        except Fault:
            pass
    return f"This needs: {require.source}."
