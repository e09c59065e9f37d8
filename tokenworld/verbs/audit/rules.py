"""Find the rules that ever happen in a state space, and the requires that keep the others from it.

`RulesMet` listens while the space is explored. Afterwards the requires of actions are evaluated
state by state. One state is enough of those that agree on all that the question reads: the bits of
packed states (`planning.search.packed.world`), else the columns, who lives and whose turn
it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, product

from tokenworld import model as m
from tokenworld.core import Footprint, Rules, lowered
from tokenworld.core.walk import conjuncts
from tokenworld.diagnostics import Source, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.engine.changes import Breach
from tokenworld.engine.rows import Record
from tokenworld.engine.rows.layout import AWARDED, KINDS, REPORTED, ROUND, TURN
from tokenworld.engine.rows.questions.asking import requires_held, requires_held_now
from tokenworld.engine.rows.stepper import Tick
from tokenworld.engine.searching.keys import Kept
from tokenworld.ground import (
    Command,
    Raw,
    count_bindings,
    parameter_domains,
    patterns_of,
)
from tokenworld.planning.space.graph import Graph, Node
from tokenworld.planning.space.packed_graph import PackedGraph

Told = Callable[[Iterable[m.Term]], Callable[[Hashable], Hashable] | None]
"""The part of a mark that terms can distinguish; ``None`` if that is unknown."""


class Witnesses:
    """The states of a graph, as far as questions need them.

    ``playing`` are the nodes in which play goes on and what follows is known; ``told`` knows what
    the marks of an interpreted graph are made of.
    """

    def __init__(self, graph: Graph[State], playing: Sequence[Node], told: Told) -> None:
        self._graph, self._playing, self.told = graph, playing, told
        self.total = len(playing)

    def of_condition(self, term: m.Term, params: tuple[m.Binder, ...]) -> Iterator[State]:
        """States for the question for which bindings a condition ever holds between two ticks."""
        graph = self._graph
        if isinstance(graph, PackedGraph):
            return self._packed(graph, graph.nodes(), graph.world.parts.condition(term, params))
        return self._interpreted((term, *m.binder_terms(params)))

    def any(self) -> Iterator[State]:
        """States for the question what ever exists."""
        graph = self._graph
        if isinstance(graph, PackedGraph):  # nothing is created in a packed world
            return self._packed(graph, graph.nodes(), 0)
        return self._interpreted(())

    def playing(self) -> Iterator[tuple[Hashable, State]]:
        """All states in which play goes on, with their marks, ``None`` in a packed graph."""
        graph = self._graph
        for node in self._playing:
            yield graph.short_keys[node] if graph.short_keys else None, graph.states[node]

    def of_requires(self, action: m.Action, args: tuple[Raw, ...]) -> Iterator[State] | None:
        """States for the question how the requires of a command ever held; ``None``: all."""
        graph = self._graph
        if not isinstance(graph, PackedGraph):
            return None
        mask = graph.world.parts.requires(action.name, args)
        return None if mask is None else self._packed(graph, self._playing, mask)

    def _packed(
        self, graph: PackedGraph[State], nodes: Iterable[Node], mask: int | None
    ) -> Iterator[State]:
        chosen = nodes if mask is None else told_apart(graph, nodes, mask)
        return (graph.states[node] for node in chosen)

    def _interpreted(self, terms: tuple[m.Term, ...]) -> Iterator[State]:
        """Return one state of each kind that terms distinguish."""
        graph, told = self._graph, self.told(terms)
        seen = set[Hashable]()
        for node in graph.nodes():
            kind = node if told is None else told(graph.short_keys[node])
            if kind not in seen:
                seen.add(kind)
                yield graph.states[node]


def told_apart(graph: PackedGraph[State], nodes: Iterable[Node], mask: int) -> Iterator[Node]:
    """One node of each kind that differs in the bits of ``mask``, the first one."""
    seen: set[int] = set()
    keys = graph.keys
    for node in nodes:
        part = keys[node] & mask
        if part not in seen:
            seen.add(part)
            yield node


class LookedAt:
    """Remembers states by the values that the requires of one action read.

    Requires that read more than stored values distinguish all states. A command that breaks off a
    long action has its requires evaluated in the state after `cancelled`.
    """

    def __init__(self, rules: Rules, action: m.Action, told: Told) -> None:
        self._seen: set[Hashable] = set()
        terms = tuple(_terms(action))
        self._told, read = told(terms), rules.fluents_read(terms)
        self._reads = None if read is None else Footprint(reads=read)

    def news(self, mark: Hashable, tick: Tick) -> bool:
        """Return whether no earlier state looked the same, and remember it.

        ``mark`` is that of the state, if it has one.
        """
        if self._reads is None:
            return True
        key = self._key(self._reads, mark, tick)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _key(self, reads: Footprint, mark: Hashable, tick: Tick) -> Hashable:
        long = tick.long()
        if mark is not None and self._told is not None and long is None:
            return self._told(mark), tick.row.S[TURN]
        held = self._held(reads, tick)
        if long is None:
            return held, None, None, tick.acting
        broken_off, start = None, tick.row.mark
        try:
            tick.break_off(long, "")
            broken_off = self._held(reads, tick)
        except Breach:
            pass  # it continues, whatever the intent
        tick.row.undo(start)
        return held, broken_off, long.command, tick.acting

    def _held(self, reads: Footprint, tick: Tick) -> Hashable:
        """The values of the slots that decide: a key under which the answer is the same."""
        S = tick.row.S
        return tuple([S[slot] for slot in tick.slots.decisive(reads)])


def _terms(action: m.Action) -> Iterator[m.Term]:
    yield from m.guard_terms(action)
    if action.takes is not None:
        yield action.takes


_FEW = 2_000
"""Of so many bindings each one is looked at; of more only those that static facts leave."""
_MOST_REQUIRES = 12
"""Subsets of more requires than this are not searched for the smallest that never hold."""


@dataclass(slots=True)
class Requires:
    """The truth of each require of one action in all states, for all arguments.

    ``masks`` are the sets of requires that held together, ``refused`` those that were the first to
    fail. ``static`` are those that were not looked at one by one, because they sort bindings out
    before anything is looked at. ``refusals``: which ever refuse is asked as well.
    """

    action: m.Action
    refusals: bool
    masks: set[frozenset[int]] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)
    static: frozenset[int] | None = None
    combinations: set[tuple[bool | None, ...]] = field(default_factory=set)

    @property
    def allowed(self) -> bool:
        """Return whether all of them ever held together."""
        return frozenset(range(len(self.action.requires))) in self.masks

    @property
    def settled(self) -> bool:
        """Return whether all questions about the rules are answered."""
        return self.allowed and (self.all_refused or not self.refusals)

    @property
    def all_refused(self) -> bool:
        return len(self.refused) == len(self.action.requires)

    def note(self, held: tuple[bool | None, ...]) -> bool:
        """One state and one choice of arguments; whether that was news."""
        if held in self.combinations:
            return False
        self.combinations.add(held)
        holding = frozenset(index for index, holds in enumerate(held) if holds)
        self.masks.add(holding)
        failed = next((index for index, holds in enumerate(held) if not holds), None)
        if failed is not None:
            self.refused.add(failed)
        return True

    def blocking(self) -> tuple[int, ...]:
        """The first require that never holds, else a smallest set that never holds together."""
        indices = range(len(self.action.requires))
        most = len(indices) if len(indices) <= _MOST_REQUIRES else 1
        for size in range(1, most + 1):
            for chosen in combinations(indices, size):
                if not any(mask >= frozenset(chosen) for mask in self.masks):
                    return chosen
        return ()


def standing_requires(
    simulator: EngineSimulator,
    looking: Witnesses,
    deadline: float,
    met: Collection[str],
    *,
    complete: bool,
) -> tuple[dict[str, Requires], int]:
    """The requires of actions in all states, and in how many states they were looked at.

    ``deadline`` is a time of `time.monotonic`. An action about which no state can tell more is
    skipped; where the states are not ``complete``, so are actions that were executed in one of them
    (``met``), for it cannot be said which requires never refuse.
    """
    rules, actions = lowered(simulator.instance.program), simulator.instance.program.actions
    found = {
        name: Requires(action, complete)
        for name, action in actions.items()
        if action.requires and (complete or name not in met)
    }
    rest = [
        (one, LookedAt(rules, one.action, looking.told))
        for one in found.values()
        if not _examine_apart(simulator, looking, one, deadline)
    ]
    for number, (mark, state) in enumerate(looking.playing()):
        rest = [pair for pair in rest if not pair[0].settled]
        if not rest or time.monotonic() > deadline:
            return found, looking.total if not rest else number
        simulator.asked(state, partial(_look, simulator.engine, rest, mark, state))
    return found, looking.total


def _look(
    engine: Engine, rest: Iterable[tuple[Requires, LookedAt]], mark: Hashable, state: State,
    tick: Tick,
) -> None:  # fmt: skip
    """Examine the actions to which a state is news."""
    for requires, looked_at in rest:
        if looked_at.news(mark, tick):
            _examine(engine, state, tick, requires)


def _examine_apart(
    simulator: EngineSimulator, looking: Witnesses, requires: Requires, deadline: float
) -> bool:
    """One action, each choice of arguments in the states that tell how its requires held; false
    where that is not possible, or time is up."""
    action = requires.action
    domains = parameter_domains(simulator.instance, action.params)
    if count_bindings(domains) > _FEW:
        return False
    for args in product(*domains):
        command = Command(action.name, args)
        states = looking.of_requires(action, args)
        if states is None:
            return False
        for state in states:
            held = simulator.asked(state, partial(_held_at, action, command))
            if held is not None:
                requires.note(held)
            if requires.settled:
                return True
            if time.monotonic() > deadline:
                return False
    return True


def _held_at(action: m.Action, command: Command, tick: Tick) -> tuple[bool | None, ...] | None:
    """The truth of each require of a command; ``None`` where it names a destroyed object."""
    kinds = tick.row.S[KINDS]
    if any(kinds[one] is None for one in _objects(action, command.args)):
        return None
    return requires_held_now(tick, command)


def _objects(action: m.Action, args: Sequence[Raw]) -> Iterator[int]:
    """The objects among the arguments of an action."""
    for binder, value in zip(action.params, args, strict=True):
        if isinstance(binder.type, m.ObjectType) and isinstance(value, int):
            yield value


def _examine(engine: Engine, state: State, tick: Tick, requires: Requires) -> None:
    """One action in one state, with all arguments, as far as there is something to learn."""
    judge = requires_held_now if tick.long() is None else requires_held
    for args in _bindings(engine, state, tick, requires):
        held = judge(tick, Command(requires.action.name, args))
        if held is not None and requires.note(held) and requires.settled:
            return


def _bindings(
    engine: Engine, state: State, tick: Tick, requires: Requires
) -> Iterable[tuple[Raw, ...]]:
    """All bindings; where these are too many, those that static facts leave.

    Then the requires which say these facts did refuse something.
    """
    instance, action = engine.instance, tick.of.rules.actions[requires.action.name]
    domains = [tick.of.domain(tick.row, one) for one in action.params]
    if count_bindings(domains) <= _FEW:
        return product(*domains)
    if requires.static is None:
        changing = tick.of.rules.changed_in_play
        parts = [tuple(conjuncts((one.condition,))) for one in action.requires]
        found = [patterns_of(instance, action.params, one, changing) for one in parts]
        requires.static = frozenset(index for index, one in enumerate(found) if one)
        requires.refused |= requires.static
    return engine.bindings(state, action.name) or ()


@frozen
class Idle:
    """A rule that never happened: its kind and name, its place, and what kept it from it.

    ``blocking`` are the conditions that are never true, or never together, as written.
    """

    kind: str
    name: str
    place: Span
    reason: str
    blocking: tuple[str, ...] = ()


@dataclass(slots=True)
class RulesMet:
    """The rules executed on all edges of a state space."""

    simulator: EngineSimulator
    actions: set[str] = field(default_factory=set)
    laws: set[str] = field(default_factory=set)
    begun: set[str] = field(default_factory=set)
    endings: set[str] = field(default_factory=set)
    awards: set[int] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    _heard: set[tuple[str, ...]] = field(default_factory=set)

    def begin(self, start: State) -> None:
        """Note the facts that hold in the start state."""
        self.endings |= set(self.simulator.reached(start))
        self.awards |= set(start.awarded)

    def observe(self, before: Kept, record: Record, after: Kept) -> None:
        """Note the outcome of a command, whether the search keeps the state or discards it."""
        name = record.command.action if record.command is not None else ""
        if record.status == "executed" and name:
            self.actions.add(name)
        elif name and name not in self.failed:
            self._note_failure(name, record)
        self.laws |= {title.removeprefix("law ") for title, _ in record.fired}
        self.endings |= set(record.latched)
        self.awards |= set(after.S[AWARDED])
        if record.breach is None and not after.S[TURN] and self.watches:
            self.watch(before, after)

    def executed(
        self,
        command: Command,
        titles: tuple[str, ...],
        latched: tuple[str, ...],
        awarded: tuple[int, ...],
    ) -> None:
        """A successor found in the cache: its laws, endings and awards are known."""
        if command.action:
            self.actions.add(command.action)
        if titles and titles not in self._heard:
            self._heard.add(titles)
            self.laws |= {title.removeprefix("law ") for title in titles}
        if latched or awarded:
            self.endings.update(latched)
            self.awards.update(awarded)

    @property
    def watches(self) -> bool:
        """Return whether some watches have not fired yet."""
        return not self.begun >= self.simulator.instance.program.watches.keys()

    def _note_failure(self, name: str, record: Record) -> None:
        if record.generated:
            self.failed[name] = f"it is always refused: {record.cause}"
        elif record.breach is not None:
            rule = f" by {record.breach.rule}" if record.breach.rule else ""
            self.failed[name] = f"it is always rolled back{rule}: {record.breach.message}"

    def watch(self, before: Kept, after: Kept) -> None:
        """Note the watches that speak between two states."""
        told = Kept(before.of, before.S[REPORTED] or before.S[ROUND] or before.S)
        for name in self.simulator.instance.program.watches:
            if name not in self.begun and self.simulator.begins(name, told, after):
                self.begun.add(name)


# ---- rules that never happened ------------------------------------------------------------------


def idle_rules(
    met: RulesMet,
    requires: dict[str, Requires],
    looking: Witnesses,
    sources: dict[str, Source],
    *,
    complete: bool,
) -> tuple[Idle, ...]:
    """Actions, laws, watches, endings and awards that never happened, in that order.

    ``complete``: the states are all there are, so that what did not hold never holds.
    """
    instance = met.simulator.instance
    program, world = instance.program, instance.world
    conditions = _Conditions(met.simulator, looking, sources, complete)
    found = [
        _idle_action(met, action, requires.get(name), complete)
        for name, action in program.actions.items()
        if name not in met.actions and not _only_talk(met, name, requires.get(name))
    ]
    for law in program.laws.values():
        if law.name not in met.laws:
            found.append(conditions.idle("law", law.name, law.span, law.params, law.when))
    for watch in program.watches.values():
        if watch.name not in met.begun:
            found.append(conditions.idle("watch", watch.name, watch.span, watch.params, watch.when))
    for line in world.endings:
        if line.name not in met.endings:
            found.append(conditions.idle(line.ending, line.name, line.span, (), line.condition))
    for index, award in enumerate(world.awards):
        if index not in met.awards:
            found.append(conditions.idle("award", str(index + 1), award.span, (), award.when))
    return tuple(found)


def _only_talk(met: RulesMet, name: str, requires: Requires | None) -> bool:
    """Return whether an action is possible and was left out because it changes nothing."""
    return name not in met.failed and (requires is None or requires.allowed)


def _idle_action(
    met: RulesMet, action: m.Action, requires: Requires | None, complete: bool
) -> Idle:
    if requires is None or requires.allowed:
        reason = met.failed.get(action.name, "nobody can ask for it")
        return Idle("action", action.name, action.span, reason)
    if not requires.masks:
        reason = "there is nothing it could be done to"
        return Idle("action", action.name, action.span, reason)
    chosen = [action.requires[index] for index in requires.blocking()]
    reason = _unmet(len(chosen), complete)
    blocking = tuple(require.source for require in chosen)
    place = chosen[0].span if len(chosen) == 1 else action.span
    return Idle("action", action.name, place, reason, blocking)


def _unmet(number: int, complete: bool) -> str:
    """The reason for so many conditions that did not hold together."""
    what = "this" if number == 1 else "these"
    together = "" if number == 1 else " together"
    how = ("never holds" if number == 1 else "never hold") if complete else "did not hold"
    return f"{what} {how}{together}{'' if complete else ' so far'}"


@dataclass(slots=True)
class _Conditions:
    """Conditions of rules that no actor gives, examined at the ends of ticks."""

    simulator: EngineSimulator
    looking: Witnesses
    sources: dict[str, Source]
    complete: bool

    def idle(
        self, kind: str, name: str, place: Span, params: tuple[m.Binder, ...], when: m.Term | None
    ) -> Idle:
        """A rule that never happened, with the parts of its condition that never hold."""
        empty = [one for one in params if not any(self._domain(one))]
        if empty:
            reason = f"there is nothing that `{empty[0].name}` could be"
            return Idle(kind, name, place, reason)
        if when is None:
            return Idle(kind, name, place, "no time passes in which it could happen")
        parts = when.terms if isinstance(when, m.And) else (when,)
        never = [part for part in parts if not self._ever(params, part)]
        if never:
            reason = _unmet(1, self.complete)
            return Idle(kind, name, never[0].span, reason, (self._text(never[0]),))
        reason = f"{_unmet(len(parts), self.complete)} when it is looked at"
        return Idle(kind, name, place, reason, tuple(self._text(part) for part in parts))

    def _domain(self, binder: m.Binder) -> Iterator[bool]:
        """Something for every object or value that a parameter can be in some state."""
        domain = binder.domain
        if not isinstance(domain, m.TypeRange) or not isinstance(domain.of, m.ObjectType):
            yield True
        else:
            of = domain.of.name
            for state in self.looking.any():
                yield self.simulator.asked(
                    state, lambda tick: bool(tick.row.S[tick.slots.live[of]])
                )

    def _ever(self, params: tuple[m.Binder, ...], part: m.Term) -> bool:
        """Return whether a condition holds for some binding at the end of some tick; true for
        conditions that read the start of the tick."""
        if m.looks_back((part,)):
            return True
        term = m.Fold("any", part, params, None, m.BOOL, part.span) if params else part
        states = self.looking.of_condition(part, params)
        return any(self.simulator.ask(state, term) for state in states)

    def _text(self, term: m.Term) -> str:
        source = self.sources.get(term.span.file)
        return "" if source is None else source.text[term.span.start : term.span.end]


def meet(simulator: EngineSimulator, graph: PackedGraph[State], met: RulesMet) -> None:
    """Pass the rules that fire on the edges of a packed graph to ``met``, each once."""
    met.actions |= graph.done()
    _meet_ends(graph, met)
    _meet_laws(simulator, graph, met)
    _meet_watches(graph, met)


def _whole(mask: int | None) -> int:
    return -1 if mask is None else mask


def _meet_ends(graph: PackedGraph[State], met: RulesMet) -> None:
    """Endings and awards: a state made from its bits tells which of them it has reached."""
    simulator, parts = met.simulator, graph.world.parts
    world = simulator.instance.world
    conditions = [line.condition for line in world.endings if line.name not in met.endings]
    conditions += [one.when for n, one in enumerate(world.awards) if n not in met.awards]
    if not conditions:
        return
    every = (*(line.condition for line in world.endings), *conditions)
    mask = 0
    for condition in every:
        mask |= _whole(parts.condition(condition, ()))
    for node in told_apart(graph, graph.nodes(), mask):
        state = graph.states[node]
        met.endings |= set(simulator.reached(state))
        met.awards |= simulator.asked(state, lambda tick: set(tick.row.S[AWARDED]))


def _meet_laws(simulator: EngineSimulator, graph: PackedGraph[State], met: RulesMet) -> None:
    """Examine laws: the interpreter plays one tick of each kind of state that could be new."""
    program, world = simulator.instance.program, graph.world
    asked = {
        law.name: (_whole(world.parts.law(law.name)), set[int]())
        for law in program.laws.values()
        if law.name not in met.laws
    }
    if not asked:
        return
    simulator.listener = met
    try:
        for node in range(graph.expanded):
            made = graph.numbers(node)
            for number, begun in world.begun(graph.keys[node]):
                if number in world.free or number not in made:
                    continue
                if any(begun & mask not in seen for mask, seen in asked.values()):
                    for mask, seen in asked.values():
                        seen.add(begun & mask)
                    simulator.successors(graph.states[node], world.commands[number])
                    asked = {name: one for name, one in asked.items() if name not in met.laws}
            if not asked:
                return
    finally:
        simulator.listener = None


def _meet_watches(graph: PackedGraph[State], met: RulesMet) -> None:
    """Watches: each kind of edge, by what their conditions look at before and after it."""
    rules = lowered(met.simulator.instance.program)
    for watch in rules.program.watches.values():
        if watch.name in met.begun:
            continue
        mask = _whole(_looked_at(graph, rules, watch))
        if any(_begins(graph, watch.name, met, pair) for pair in _edges(graph, mask)):
            met.begun.add(watch.name)


def _looked_at(graph: PackedGraph[State], rules: Rules, watch: m.Watch) -> int | None:
    """The bits that a watch looks at, at the start of a tick and at its end."""
    parts = graph.world.parts
    if not watch.uses_was and (mask := parts.condition(watch.when, watch.params)) is not None:
        return mask
    read = rules.fluents_read((*m.binder_terms(watch.params), watch.when), in_tick=True)
    return None if read is None else parts.stored(read)


def _edges(graph: PackedGraph[State], mask: int) -> Iterator[tuple[Node, Node]]:
    """One edge of each kind that differs in the bits of ``mask`` at its ends."""
    seen: set[tuple[int, int]] = set()
    keys = graph.keys
    for node in range(graph.expanded):
        before = keys[node] & mask
        for target in graph.targets(node):
            pair = before, keys[target] & mask
            if pair not in seen:
                seen.add(pair)
                yield node, target


def _begins(graph: PackedGraph[State], name: str, met: RulesMet, edge: tuple[Node, Node]) -> bool:
    return met.simulator.begins(name, graph.states[edge[0]], graph.states[edge[1]])
