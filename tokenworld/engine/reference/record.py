"""The result of one intent and the state: ``tw-outcome/1`` and ``tw-state/1`` (language.md §9)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from itertools import product
from typing import Any

from tokenworld.core.nodes import Let, Require, Template, Term
from tokenworld.core.rules import Action
from tokenworld.engine.reference.applying import Made
from tokenworld.engine.reference.bodies import Line, Wants
from tokenworld.engine.reference.values import Env, Fault, Known, State
from tokenworld.engine.reference.words import Words
from tokenworld.ground import By, Command, Json, NoMatch, Raw, show_value
from tokenworld.model import Fluent, ObjectType, show_type

# ---- The state -----------------------------------------------------------------------------------
# The state as ``tw-state/1`` and its hash (language.md §9).
#
# The hash adds up, modulo 2**256, a BLAKE2b number for every fact and every living object; that sum
# is hashed with the rest of the state. The definition is the state format's own, written here a
# second time on purpose.


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(value: Any) -> str:
    """Canonical JSON: sorted keys, no spaces, UTF-8."""
    return _ENCODER.encode(value)


def object_names(state: State) -> list[str]:
    """Names by number, for `show_value`; gaps cannot be, since numbers are never reused."""
    last = max(state.names, default=-1)
    return [state.names.get(number, "") for number in range(last + 1)]


def _shown_args(
    known: Known, names: list[str], fluent: Fluent, args: tuple[Raw, ...]
) -> list[Json]:
    return [
        show_value(known.program, names, param.type, arg)
        for param, arg in zip(fluent.params, args, strict=True)
    ]


def _facts(known: Known, state: State, fluent: Fluent) -> list[tuple[tuple[Raw, ...], Raw]]:
    """The arguments and values that count as facts.

    Every slot of the living where a fluent has one object, the one slot where it has no argument,
    else only what differs from the default.
    """
    kinds = [param.type for param in fluent.params]
    if not kinds:
        every: list[tuple[Raw, ...]] = [()]
    elif len(kinds) == 1 and isinstance(kinds[0], ObjectType):
        every = [(one,) for one in known.living(state, kinds[0].name)]
    else:
        every = sorted(args for args, _ in known.rows(state, fluent))
    found = [(args, known.get(state, fluent, args)) for args in every]
    if fluent.scratch:
        return [(args, value) for args, value in found if value != known.defaults[fluent.id]]
    return found


# ---- the hash -----------------------------------------------------------------------------


def facts_hash(known: Known, state: State) -> int:
    """The sum of the hashes of all facts."""
    names = object_names(state)
    total = sum(_number(["object", one, names[one], kind]) for one, kind in state.kinds.items())
    for fluent in known.program.fluents.values():
        for args, value in _facts(known, state, fluent):
            shown = show_value(known.program, names, fluent.type, value)
            total += _number([fluent.id, _shown_args(known, names, fluent, args), shown])
        if fluent.ordered:
            for one in state.kinds:
                listed = [names[child] for child in known.pointing(state, fluent, one)]
                if listed:
                    total += _number(["contents", fluent.id, names[one], listed])
    return total % 2**256


def _number(fact: Json) -> int:
    return _hashed(canonical(fact))


@lru_cache(maxsize=65536)
def _hashed(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=32).digest(), "big")


def state_hash(known: Known, state: State) -> str:
    """The hash of the whole state, 32 hexadecimal digits."""
    if not state.hash:
        state.hash = _state_hash(known, state)
    return state.hash


def _state_hash(known: Known, state: State) -> str:
    whole = [_header(known, state), str(facts_hash(known, state))]
    return blake2b(canonical(whole).encode(), digest_size=16).hexdigest()


# ---- JSON ---------------------------------------------------------------------------------


def _header(known: Known, state: State) -> dict[str, Json]:
    """All of a state but its facts."""
    names = object_names(state)
    fired: list[Json] = []
    for watch, args in state.fired:
        params = known.program.watches[watch].params
        shown = [
            show_value(known.program, names, binder.type, arg)
            for binder, arg in zip(params, args, strict=True)
        ]
        fired.append([watch, shown])
    long: dict[str, Json] = {}
    for actor, one in state.long.items():
        params = known.program.actions[one.command.action].params
        long["" if actor is None else names[actor]] = {
            "action": one.command.action,
            "args": {
                binder.name: show_value(known.program, names, binder.type, arg)
                for binder, arg in zip(params, one.command.args, strict=True)
            },
            "done": one.done,
            "total": one.total,
        }
    header: dict[str, Json] = {
        "world": known.instance.world.name,
        "tick": state.tick,
        "seed": state.seed,
        "next_id": state.next_id,
        "outcomes": list(state.outcomes),
        "awarded": list(state.awarded),
        "fired": sorted(fired, key=canonical),
        "long": long,
    }
    if state.turn:
        header["turn"] = state.turn
    drawn: list[Json] = [[rule, list(args), n] for (rule, args), n in state.drawn.items()]
    return {**header, "drawn": sorted(drawn, key=canonical)} if drawn else header


def _listed(known: Known, state: State, fluent: Fluent) -> list[tuple[tuple[Raw, ...], Raw]]:
    """The facts that the JSON lists: all rows of a truth that is true by default."""
    if known.defaults[fluent.id] is not True or not fluent.params or fluent.scratch:
        return _facts(known, state, fluent)
    domains = [known.everything(state, param.type) for param in fluent.params]
    return [(args, known.get(state, fluent, args)) for args in product(*domains)]


def state_json(known: Known, state: State) -> dict[str, Json]:
    """The state as ``tw-state/1``."""
    functions: dict[str, Json] = {}
    relations: dict[str, Json] = {}
    names = object_names(state)
    for fluent in known.program.fluents.values():
        if fluent.fluent_kind in ("attribute", "table"):
            continue
        facts = [
            (_shown_args(known, names, fluent, args), value)
            for args, value in _listed(known, state, fluent)
        ]
        if fluent.scratch and not facts:
            continue
        if fluent.type.kind == "bool":
            relations[fluent.name] = sorted([args for args, value in facts if value], key=canonical)
        else:
            rows: list[Json] = [
                [args, show_value(known.program, names, fluent.type, value)]
                for args, value in facts
            ]
            functions[fluent.name] = sorted(rows, key=canonical)
    return {
        **_header(known, state),
        "format": "tw-state/1",
        "objects": [_object(known, state, names, one) for one in state.kinds],
        "functions": functions,
        "relations": relations,
    }


def _object(known: Known, state: State, names: list[str], one: int) -> dict[str, Json]:
    kind = state.kinds[one]
    attrs: dict[str, Json] = {}
    contents: list[Json] = []
    orders: dict[str, Json] = {}
    nests = [fluent for fluent in known.program.fluents.values() if _nests(fluent)]
    for fluent in known.program.fluents.values():
        if fluent.fluent_kind == "attribute" and _owns(known, fluent, kind):
            value = known.get(state, fluent, (one,))
            attrs[fluent.name] = show_value(known.program, names, fluent.type, value)
        children: list[Json] = []
        if isinstance(fluent.type, ObjectType) and len(fluent.params) == 1:
            children = [names[child] for child in known.pointing(state, fluent, one)]
        if _nests(fluent):
            contents += children
        if children and fluent.ordered and nests != [fluent] and (fluent.inverse or fluent.closure):
            orders[fluent.id] = children
    found: dict[str, Json] = {
        "id": one,
        "name": names[one],
        "type": kind,
        "attrs": attrs,
        "contents": contents,
    }
    return {**found, "orders": orders} if orders else found


def _nests(fluent: Fluent) -> bool:
    return fluent.nested and bool(fluent.inverse or fluent.closure)


def _owns(known: Known, fluent: Fluent, kind: str) -> bool:
    owner = fluent.params[0].type
    return isinstance(owner, ObjectType) and known.program.is_subtype(kind, owner.name)


# ---- The record ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Refused:
    """The require that was false; ``generated`` names one that the language adds."""

    index: int
    generated: str = ""
    text: str = ""


@dataclass
class Record:
    """One record in the making. ``spoken`` is rendered last: on each state, with its `was`.

    ``since`` is the state that `was` reads in the action, ``start`` the state at the beginning of
    the closed round, ``judged`` the state in which the requires were tested, if not ``before``.
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
        """Add the texts, events and rewards of a body to the record."""
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
    """The environment after a let among the requires; nothing is drawn there."""
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
