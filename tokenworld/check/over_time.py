"""Conditions on all states up to now: `sometime c` and similar words (language.md §19).

Each is compiled to monitors, relations that rules set: they store the relevant facts about earlier
states. A derive joins them with the condition on the present state, and replaces the words. So
engine, planners, encodings, exports and the store handle ordinary facts. (Baier and McIlraith 2006
compile such conditions to automata; these are their automata for the words of PDDL3.)

A monitor is updated in a tick, for the state before it. An action that may change a fluent of the
condition updates the monitor first, because a body reads the state before it; other actions do not
affect the condition. If anything else may change it, a law of the last phase reads the start of the
tick by `was`; an action without time, in which no law runs, still updates the monitor itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, assert_never, cast, get_args

from tokenworld import model as m
from tokenworld.check.draft import Draft
from tokenworld.check.typing.context import domain_of
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen

_WORDS: Final[tuple[str, ...]] = get_args(m.OverTimeWord)
_Binders = Mapping[str, m.Binder]


def with_monitors(program: m.Program, draft: Draft) -> m.Program:
    """The program without words about all states; the same one where it has none."""
    lines = [line.condition for world in program.worlds.values() for line in world.endings]
    asked = [term for one in program.actions.values() for term in _asked(one)]
    if not m.calls((*lines, *asked), *_WORDS):
        return program
    found = _Monitors(program, draft.text)
    worlds = {
        name: replace(world, endings=tuple(found.line(line) for line in world.endings))
        for name, world in program.worlds.items()
    }
    actions = {name: found.action(action) for name, action in program.actions.items()}
    return found.noted(replace(program, worlds=worlds, actions=actions))


def check_over_time(draft: Draft) -> None:
    """Report conditions that cannot be asked of states of the past."""
    for world in draft.worlds.values():
        for line in world.endings:
            _check(draft, line.condition)
    for action in draft.actions.values():
        lets = frozenset(one.name for one in action.guards if isinstance(one, m.Let))
        for term in _asked(action):
            _check(draft, term, lets)


def _asked(action: m.Action) -> Iterator[m.Term]:
    """The terms of an action that may ask about all states."""
    yield from (one.condition for one in action.requires)
    yield from () if action.cost is None else (action.cost,)


def _check(draft: Draft, term: m.Term, lets: frozenset[str] = frozenset()) -> None:
    for call in m.subterms(term):
        if not isinstance(call, m.BuiltinCall) or call.name not in _WORDS:
            continue
        for part in m.deep_subterms(call.args, draft.derives):
            if isinstance(part, m.Local) and part.name in lets:
                what = f"`{part.name}` is a value of this state, and the condition is about all."
                hint = "Write in the condition what the `let` names."
                draft.tell("TW0411", what, call.span, "asks for it", hint)
            if isinstance(part, m.BuiltinCall) and part.name in ("score", "busy", "did"):
                what = f"`{draft.text(part.span)}` is not kept of states of the past."
                hint = "Ask for facts: keep it in a `function`."
                draft.tell("TW0411", what, call.span, "asks for it", hint)


@frozen
class _Note:
    """Sets ``monitor`` to ``holds`` if ``when`` held in the state before."""

    when: m.Term
    monitor: m.Read
    holds: bool

    def effect(self, when: m.Term) -> m.Effect:
        """The change, under a condition."""
        span = self.monitor.span
        kind = m.AddFact if self.holds else m.RemoveFact
        return m.If(when, (kind(self.monitor, span),), (), span)


@frozen
class _Monitor:
    """The notes about a condition, for all values of its variables."""

    name: str
    params: tuple[m.Binder, ...]
    notes: tuple[_Note, ...]
    span: Span

    def effects(self) -> Iterator[m.Effect]:
        """The noting at the beginning of an action."""
        for note in self.notes:
            once = note.effect(note.when)
            if self.params:
                assert isinstance(once, m.If)
                yield m.For(self.params, note.when, once.then, self.span)
            else:
                yield once

    def law(self, creates: bool) -> m.Law:
        """The law that sets the monitor at the end of a tick, by the state at its start;
        ``creates``: some objects may be new, and are left out."""
        whens = [_past(one.when) for one in self.notes]
        if creates:
            old = [_old(one) for one in self.params if isinstance(one.type, m.ObjectType)]
            whens = [_and(*old, one) for one in whens]
        news = [
            _and(when, _not(one.monitor) if one.holds else one.monitor)
            for one, when in zip(self.notes, whens, strict=True)
        ]
        body = tuple(one.effect(when) for one, when in zip(self.notes, whens, strict=True))
        return m.Law(self.name, self.params, "", _or(*news), body, self.span, added=True)


@dataclass
class _Monitors:
    """Compiles the words of one program; ``text`` is the source text of a place."""

    program: m.Program
    text: Callable[[Span], str]
    found: dict[tuple[str, tuple[object, ...]], m.Derive] = field(default_factory=dict)
    relations: dict[str, m.Fluent] = field(default_factory=dict)
    monitors: list[_Monitor] = field(default_factory=list)

    def line(self, line: m.Ending) -> m.Ending:
        """An ending with derives for the words in it."""
        return replace(line, condition=self._term(line.condition, {}))

    def action(self, action: m.Action) -> m.Action:
        """An action with derives for the words in its requires and its cost."""
        binders = {one.name: one for one in action.params}

        def require(one: m.Let | m.Require) -> m.Let | m.Require:
            if isinstance(one, m.Let):
                return one
            atoms = tuple(replace(part, term=self._term(part.term, binders)) for part in one.atoms)
            return replace(one, condition=self._term(one.condition, binders), atoms=atoms)

        cost = None if action.cost is None else self._term(action.cost, binders)
        return replace(action, guards=tuple(map(require, action.guards)), cost=cost)

    # ---- terms ------------------------------------------------------------------------------

    def _term(self, term: m.Term, binders: _Binders) -> m.Term:
        if isinstance(term, m.Fold):
            binders = {**binders, **{one.name: one for one in term.binders}}
        found = m.map_children(term, lambda one: self._term(one, binders))
        if isinstance(found, m.BuiltinCall) and found.name in _WORDS:
            return self._called(found, binders)
        return found

    def _called(self, call: m.BuiltinCall, binders: _Binders) -> m.Term:
        """The call of the derive that answers it; equal words about equal variables share one. A
        name may have another type in another world."""
        names = {one.name for one in m.subterms(call) if isinstance(one, m.Local)}
        params = tuple(
            replace(one, domain=domain_of(m.without_none(one.type)), type=m.without_none(one.type))
            for name, one in binders.items()
            if name in names
        )
        text = " ".join(self.text(call.span).replace(".", " ").split())
        bound = tuple((one.name, one.type) for one in params)
        key = (text, (bound, *(one.type for one in m.subterms(call))))
        if key not in self.found:
            self.found[key] = self._derive(call, text, params)
        args = tuple(m.Local(one.name, one.type, call.span) for one in params)
        return m.DeriveCall(self.found[key].name, args, m.BOOL, call.span)

    def _derive(self, call: m.BuiltinCall, text: str, params: tuple[m.Binder, ...]) -> m.Derive:
        value, notes = self._compiled(call, text, params)
        name = self._fresh(text)
        self.monitors.append(_Monitor(name, params, notes, call.span))
        said = m.OverTime(cast(m.OverTimeWord, call.name), call.args)
        return m.Derive(name, params, value, m.BOOL, call.span, over_time=said)

    def _compiled(
        self, call: m.BuiltinCall, text: str, params: tuple[m.Binder, ...]
    ) -> tuple[m.Term, tuple[_Note, ...]]:
        """The condition on the present state and the monitors, and the notes about the state
        before."""
        fluents = self.program.fluents
        reads = m.fluents_read(call.args, self.program.derives)
        secret = any(fluents[one].secret for one in reads if one in fluents)

        def monitor(state: str) -> m.Read:
            return self._monitor(f"{text} ({state})", params, call.span, secret=secret)

        first, last = call.args[0], call.args[-1]
        match word := cast(m.OverTimeWord, call.name):
            case "sometime":
                seen = monitor("seen")
                return _or(seen, first), (_Note(first, seen, True),)
            case "always":
                broken = monitor("broken")
                return _and(_not(broken), first), (_Note(_not(first), broken, True),)
            case "at_most_once":
                seen, left, broken = monitor("seen"), monitor("left"), monitor("broken")
                again = _and(first, left)
                return _not(_or(broken, again)), (
                    _Note(again, broken, True),
                    _Note(_and(seen, _not(first)), left, True),
                    _Note(first, seen, True),
                )
            case "sometime_before":
                seen, broken = monitor("seen"), monitor("broken")
                early = _and(first, _not(seen))
                notes = (_Note(early, broken, True), _Note(last, seen, True))
                return _not(_or(broken, early)), notes
            case "sometime_after":
                owed = monitor("owed")
                notes = (_Note(last, owed, False), _Note(_and(first, _not(last)), owed, True))
                return _or(last, _not(_or(owed, first))), notes
            case _:
                assert_never(word)

    def _monitor(
        self, name: str, params: tuple[m.Binder, ...], span: Span, *, secret: bool
    ) -> m.Read:
        name = self._fresh(name)
        formals = tuple(m.FluentParam(one.name, one.type) for one in params)
        self.relations[name] = m.Fluent(
            name, name, "relation", formals, m.BOOL, None, span, secret=secret, monitor=True
        )
        args = tuple(m.Local(one.name, one.type, span) for one in params)
        return m.Read(name, args, m.BOOL, span)

    def _fresh(self, wanted: str) -> str:
        program = self.program
        taken = {one.name for one in program.fluents.values()}
        taken |= program.derives.keys() | program.laws.keys()
        taken |= {one.name for one in self.relations.values()}
        taken |= {one.name for one in self.found.values()}
        name, number = wanted, 2
        while name in taken:
            name, number = f"{wanted} {number}", number + 1
        return name

    # ---- rules ------------------------------------------------------------------------------

    def noted(self, program: m.Program) -> m.Program:
        """The program whose actions and laws update the monitors of these words."""
        derives = {**program.derives, **{one.name: one for one in self.found.values()}}
        program = replace(program, derives=derives, fluents={**program.fluents, **self.relations})
        actions, laws = dict(program.actions), dict(program.laws)
        rounds = _has_rounds(program)
        bodies = [one.body for one in actions.values()] + [one.body for one in laws.values()]
        creates = any(isinstance(one, m.Create) for body in bodies for one in m.effects_in(body))
        for one in self.monitors:
            whens = [note.when for note in one.notes]
            reads = m.fluents_read(whens, derives) - self.relations.keys()
            by_actions = not rounds and _by_actions(program, whens, reads)
            if not by_actions:
                laws[one.name] = one.law(creates)
            for name, action in program.actions.items():
                alone = action.may_be_free and not rounds
                if _may_change(action.body, reads) and (by_actions or alone):
                    notes = (*actions[name].notes, *one.effects())
                    actions[name] = replace(actions[name], notes=notes)
        return replace(program, actions=actions, laws=laws)


def _by_actions(program: m.Program, whens: Iterable[m.Term], reads: frozenset[str]) -> bool:
    """Return whether only completed actions change the fluents that are read."""
    others = [one.body for one in program.laws.values()]
    others += [one.cancelled for one in program.actions.values()]
    asks = m.deep_subterms(whens, program.derives)
    ticks = any(isinstance(one, m.BuiltinCall) and one.name == "tick" for one in asks)
    return not (ticks or any(_may_change(body, reads) for body in others))


def _has_rounds(program: m.Program) -> bool:
    """Return whether several actors act between two states."""
    return any(len(world.turns) > 1 for world in program.worlds.values())


def _may_change(body: m.Body, reads: frozenset[str]) -> bool:
    """Return whether a body may change a fact of these; new and gone objects are counted."""
    return any(
        isinstance(effect, m.Create | m.Destroy)
        or any(one.target.fluent in reads for one in m.slot_writes(effect))
        for effect in m.effects_in(body)
    )


def _past(term: m.Term) -> m.Term:
    """The term as it was when the tick began."""

    def one(part: Any) -> Any:
        return replace(cast(Any, part), was=True) if isinstance(part, m.StateTerm) else part

    return m.copied(term, one)


def _old(binder: m.Binder) -> m.Term:
    """That an object was there before the tick."""
    one, number, span = m.Local(binder.name, binder.type, binder.span), m.NumberType(), binder.span
    sides = m.BuiltinCall("born", (one,), number, span), m.BuiltinCall("tick", (), number, span)
    return m.Compare("<", *sides, m.BOOL, span)


def _not(term: m.Term) -> m.Term:
    return m.Not(term, m.BOOL, term.span)


def _and(*terms: m.Term) -> m.Term:
    return terms[0] if len(terms) == 1 else m.And(terms, m.BOOL, terms[0].span)


def _or(*terms: m.Term) -> m.Term:
    return terms[0] if len(terms) == 1 else m.Or(terms, m.BOOL, terms[0].span)
