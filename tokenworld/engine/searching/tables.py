"""Successor cache: a search meets the same parts of states again and again.

The effects of a command depend on the fluents that its rule reads and writes, those of the laws in
a tick on theirs, and the end of play on those of the endings (`Dependencies`). Most states agree
in these. So a result is looked up by their numbers (see `keys`), and a row is built for new states
only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from operator import itemgetter
from typing import Any, NamedTuple

from tokenworld.core.nodes import Body, DeriveCall, Hole, Term, Text
from tokenworld.core.rules import Action, Footprint
from tokenworld.core.walk import binder_terms, subterms, terms_in
from tokenworld.engine.changes import Breach
from tokenworld.engine.luck import ExploringLuck, NoUniform
from tokenworld.engine.rows import Row
from tokenworld.engine.rows.laws import Order
from tokenworld.engine.rows.layout import (
    AWARDED,
    DID,
    DRAWN,
    KINDS,
    LATCHED,
    LONGS,
    REPORTED,
    ROUND,
    TICK,
    TURN,
)
from tokenworld.engine.rows.stepper import RowStepper, Tick
from tokenworld.engine.searching.keys import Change, Kept, Keys, KeyShape, Numbering, Parts, changed
from tokenworld.engine.searching.ticks import Listener, Ticks
from tokenworld.ground import PASS, Command, LuckyDraw, Way

# ---- Dependencies of actions, laws and endings --------------------------------------------------
# Places count among the fluents that a search numbers (see `keys`): what play never changes is
# always the same.

Places = tuple[int, ...]
_NO_SLOTS = frozenset({"busy", "id"})
"""Questions of rules that read no slot: without a long action and without deaths of objects created
since the search began, the population decides them."""


class Dependencies:
    """The dependency sets of one world: places of fluents.

    ``usable``: they decide everything. They do not where a law or an ending reads more than
    fluents: the score, a text, the number of the tick where keys hold all of it (``timed``:
    they hold some). Laws may read fluents as they were at the start of the tick (``past``), and
    what somebody did (``executed``).
    """

    def __init__(self, stepper: RowStepper, shape: KeyShape, numbering: Numbering) -> None:
        self._stepper, self._numbering = stepper, numbering
        self._rules = stepper.rules
        self._known = _NO_SLOTS if shape.clock.whole else _NO_SLOTS | {"tick"}
        self.timed = bool(shape.clock)

    @cached_property
    def usable(self) -> bool:
        return None not in (self._laws, self._endings, self._checks)

    @cached_property
    def actions(self) -> dict[str, Places]:
        """The places that each action reads or writes; an action whose places are not known is left
        out."""
        found = {name: self._action(one) for name, one in self._rules.actions.items()}
        return {name: places for name, places in found.items() if places is not None}

    def _action(self, action: Action) -> Places | None:
        peopled = bool(action.footprint.creates) or action.footprint.destroys
        if peopled or action.takes is not None or action.until is not None:
            return None
        found = self._now(binder_terms(action.params), (action.guards, action.body))
        return None if found is None else _together(found, self._checks or ())

    @cached_property
    def phases(self) -> Places:
        """The places that the laws read or write, and those that are checked after them."""
        if self._laws is None:
            return ()
        return _together(self._places(self._laws.reads | self._laws.writes), self._checks or ())

    @cached_property
    def past(self) -> Places:
        """The places that the laws read as they were at the start of the tick."""
        return () if self._laws is None else self._places(self._laws.was)

    @cached_property
    def executed(self) -> bool:
        """Return whether the laws depend on the executed command of the tick."""
        return self._laws is not None and "did" in self._laws.asks

    @cached_property
    def endings(self) -> Places:
        """The places that endings and awards read."""
        return self._endings or ()

    @cached_property
    def watches(self) -> Places | None:
        """The places that decide, at the start of a tick and at its end, whether a watch speaks;
        ``None`` where that is not known."""
        every = self._rules.watches.values()
        terms = [term for one in every for term in (*binder_terms(one.params), one.when)]
        return self._now(terms)

    @cached_property
    def _laws(self) -> Footprint | None:
        laws = self._rules.laws.values()
        terms = [term for one in laws for term in binder_terms(one.params)]
        terms += [one.when for one in laws if one.when is not None]
        found = self._touched(terms, [one.body for one in laws])
        if found is None or found.asks - self._known - {"did"}:
            return None
        nests = any(isinstance(one, Order) and one.nesting for one in self._stepper.phases)
        stores = self._stepper.slots.stores if nests else ()
        order = frozenset(one.column.fluent.id for one in stores if one.column.fluent.nested)
        return replace(found, reads=found.reads | order)

    @cached_property
    def _checks(self) -> Places | None:
        """The places that invariants and conserved sums read."""
        held = self._rules.invariants.values()
        sums = self._rules.conserves.values()
        return self._now([*(one.condition for one in held), *(one.value for one in sums)])

    @cached_property
    def _endings(self) -> Places | None:
        world = self._rules.worlds[self._stepper.instance.world.name]
        return self._now([*(x.condition for x in world.endings), *(x.when for x in world.awards)])

    # ---- terms --------------------------------------------------------------------------------

    def _now(self, terms: Iterable[Term], bodies: Iterable[Body] = ()) -> Places | None:
        """The places that terms and bodies touch; ``None`` where they depend on more than that."""
        found = self._touched(tuple(terms), tuple(bodies))
        if found is None or found.was or found.asks - self._known:
            return None
        return self._places(found.reads | found.writes)

    def _touched(self, terms: Iterable[Term], bodies: Iterable[Body]) -> Footprint | None:
        """The footprint of rules; ``None`` if a text names an object: its name may read
        anything."""
        every = [*terms, *(term for body in bodies for term in terms_in(body))]
        seen = set[str]()
        for term in every:  # grows while it is walked
            for part in subterms(term):
                if isinstance(part, Text) and _names(part):
                    return None
                if isinstance(part, DeriveCall) and part.derive not in seen:
                    seen.add(part.derive)
                    every.append(self._rules.derives[part.derive].value)
        return self._rules.footprint(terms, bodies)

    def _places(self, fluents: Iterable[str]) -> Places:
        return self._numbering.places(fluents)


def _names(text: Text) -> bool:
    return any(isinstance(one, Hole) for one in text.template.parts)


def _together(*places: Places) -> Places:
    return tuple(sorted(frozenset[int]().union(*places)))


# ---- The tables ---------------------------------------------------------------------------------

_MOST = 1 << 18
"""Answers of each kind that are kept."""
_MOST_EFFECTS = 1 << 19
"""Commands with their effects that are kept of all actions together."""
_CERTAIN = Fraction(1)

Key = Callable[[Parts], Hashable]
Effect = tuple[Command, Change | None]
"""A command and its own changes, ``None`` if a whole tick must be executed."""
Listed = Callable[[Tick, str], Sequence[Command]]
"""The applicable commands of one action, evaluated on a tick."""


class _Passed(NamedTuple):
    """The changes of the laws in a tick with some luck."""

    change: Change
    draws: tuple[LuckyDraw, ...]
    probability: Fraction
    titles: tuple[str, ...]


_NOTHING = (_Passed((), (), _CERTAIN, ()),)


class _Ended(NamedTuple):
    """The endings and awards after a tick, and those of them that are new."""

    latched: tuple[str, ...]
    awarded: tuple[int, ...]
    news: tuple[str, ...]


@dataclass(slots=True)
class _Action:
    """One action: the key of its table, ``None`` if unknown."""

    name: str
    touches: Key | None
    effects: dict[Hashable, list[Effect]] = field(default_factory=dict)


class Tables:
    """The successors of the states of one search. `begin` comes before `moves`; ``waits``: to do
    nothing is one of them."""

    def __init__(
        self, ticks: Ticks, keys: Keys, dependencies: Dependencies, names: Sequence[str],
        listed: Listed, *, waits: bool,
    ) -> None:  # fmt: skip
        self._ticks, self._keys, self._dependencies = ticks, keys, dependencies
        self._numbering, self._slots = keys.numbering, keys.slots
        self._listed, self._waits = listed, waits
        self._several = len(self._slots.base.actors) > 1
        self._actions = [_Action(name, _known(dependencies.actions.get(name))) for name in names]
        self._kept = 0
        self._passed: dict[Hashable, tuple[_Passed, ...] | None] = {}
        self._ended: dict[Hashable, _Ended] = {}
        self._watched: set[Hashable] = set()
        self._phase, self._ends = _getter(dependencies.phases), _getter(dependencies.endings)
        self._past = _getter(dependencies.past)
        self._seen = None if dependencies.watches is None else _getter(dependencies.watches)
        self._state: Kept | None = None
        self._tick: Tick | None = None

    def begin(self, state: Kept) -> bool:
        """Make ready for the moves of a state; whether they can be looked up at all."""
        S, keys = state.S, self._keys
        keys.numbering.number(state)
        if not self._dependencies.usable or S[LONGS] or self._hides(S):
            return False
        if state is not self._state:
            self._parts, self._population = state.parts, state.population
            clock = keys.clock(S[TICK]) if self._dependencies.timed else ()
            self._after_clock = keys.clock(S[TICK] + 1)
            self._acting = self._slots.acting(S)
            seat = self._slots.seat(S) if self._several else 0
            actors, kinds = self._slots.base.actors, S[KINDS]
            self._last = not any(kinds[one] is not None for one in actors[seat + 1 :])
            self._seat, self._basis = seat, (self._population, seat, *clock)
            began = None if S[ROUND] is None else keys.began(S[ROUND])
            self._began = self._parts if began is None else began.parts
            self._before = self._past(self._began)
            self._state = state
        return True

    def _hides(self, S: list[Any]) -> bool:
        """Return whether laws read the start of the tick, at which other objects lived."""
        return bool(self._dependencies.past) and _grew(S)

    def moves(
        self, state: Kept, listener: Listener | None
    ) -> Iterator[tuple[Command, list[Way[Any]] | None]]:
        """Every command of the state with all its outcomes; ``None`` where a tick must say."""
        for command, own in self._effects(state):
            yield command, None if own is None else self._ways(state, command, own, listener)
        if self._waits or self._several:
            yield PASS, self._ways(state, PASS, (), listener)

    # ---- what commands do by themselves -------------------------------------------------------

    def _effects(self, state: Kept) -> Iterator[Effect]:
        for action in self._actions:
            if action.touches is None:
                for command in self._listed(self.tick(state), action.name):
                    yield command, None
                continue
            key = self._basis, action.touches(self._parts)
            found = action.effects.get(key)
            if found is None:
                commands = self._listed(self.tick(state), action.name)
                found = [(one, self._effect(state, one)) for one in commands]
                self._keep(action, key, found)
            yield from found

    def _keep(self, action: _Action, key: Hashable, effects: list[Effect]) -> None:
        """Keep the effects of an action, and of all not too many."""
        self._kept += 1 + len(effects)
        if self._kept > _MOST_EFFECTS:
            for one in self._actions:
                one.effects.clear()
            self._kept = 0
        action.effects[key] = effects

    def tick(self, state: Kept) -> Tick:
        """The tick for questions about a state, made on first use."""
        if self._tick is None or self._tick.row.S is not state.S:
            self._tick = self._ticks.at(state)
        return self._tick

    def _effect(self, state: Kept, command: Command) -> Change | None:
        """Execute the effect of a command, note its changes and undo it."""
        tick, luck = self.tick(state), ExploringLuck(())
        row, kinds = tick.row, state.S[KINDS]
        try:
            done = self._ticks.effects(tick, command, luck)
            if not done or luck.choices or row.S[KINDS] is not kinds:
                return None
            return self._numbering.between(row.S, self._parts, row.J[::2], state.population)
        except (Breach, NoUniform):
            return None
        finally:
            row.undo(0)

    # ---- what the laws do ---------------------------------------------------------------------

    def _ways(
        self, state: Kept, command: Command, own: Change, listener: Listener | None
    ) -> list[Way[Any]] | None:
        if not self._last:
            return [self._handed_on(state, command, own, listener)]
        parts = changed(self._parts, own)
        passed = self._laws(state, command, own, parts)
        if passed is None:
            return None
        return [self._closed(state, command, own, parts, one, listener) for one in passed]

    def _laws(
        self, state: Kept, command: Command, own: Change, parts: Parts
    ) -> tuple[_Passed, ...] | None:
        if not self._ticks.laws:
            return _NOTHING
        executed = self._executed(state, command) if self._dependencies.executed else ()
        key = (self._basis, self._phase(parts), self._before, executed)
        known = self._passed
        if key not in known:
            if len(known) >= _MOST:
                known.clear()
            try:
                known[key] = self._played(state, command, own, parts)
            except (Breach, NoUniform):
                known[key] = None
        return known[key]

    def _executed(self, state: Kept, command: Command) -> tuple[Any, ...]:
        """The intents executed in the round, with the present one."""
        done: tuple[Any, ...] = state.S[DID]
        return done if command.is_pass else (*done, (self._acting, command))

    def _played(
        self, state: Kept, command: Command, own: Change, parts: Parts
    ) -> tuple[_Passed, ...] | None:
        S, began, found = self._put(state, own), state.S[ROUND] or state.S, list[_Passed]()
        S[DID] = self._executed(state, command)
        began = began[:] if self._slots.creates else began
        row, prefix = Row(self._slots, S), tuple[int, ...]()
        while True:
            luck = ExploringLuck(prefix)
            titles = self._ticks.passed(row, began, luck)
            if S[KINDS] is not state.S[KINDS]:
                return None
            change = self._numbering.between(S, parts, row.J[::2], state.population)
            found.append(_Passed(change, tuple(luck.taken), luck.probability, titles))
            row.undo(0)
            self._ticks.look(len(found))
            following = luck.next_prefix()
            if following is None:
                return tuple(found)
            prefix = following

    # ---- other cases --------------------------------------------------------------------------

    def _handed_on(
        self, state: Kept, command: Command, own: Change, listener: Listener | None
    ) -> Way[Any]:
        """The next actor's turn."""
        make = partial(self._next, state, self._parts, command, own)
        if listener is not None:
            listener.executed(command, (), (), ())
        S, parts = state.S, changed(self._parts, own)
        midway = self._keys.midway(self._seat + 1, self._executed(state, command), S[ROUND] or S)
        history = self._keys.history(S[TICK], S[AWARDED])
        short_key = (*parts, self._population.number, S[LATCHED], (), history, *midway)
        return Way(short_key, (), _CERTAIN, make)

    def _closed(
        self, state: Kept, command: Command, own: Change, parts: Parts, passed: _Passed,
        listener: Listener | None,
    ) -> Way[Any]:  # fmt: skip
        """The end of a round."""
        change = passed.change
        after = changed(parts, change)
        ended = self._end(state, (*own, *change), after)
        make = partial(self._after, state, after, (*own, *change), ended)
        if listener is not None:
            listener.executed(command, passed.titles, ended.news, ended.awarded)
            if listener.watches and self._may_speak(state.S, after):
                listener.watch(state, make())
        history = self._keys.history(state.S[TICK] + 1, ended.awarded)
        short_key = (*after, self._population.number, ended.latched, (), history)
        return Way(short_key, passed.draws, passed.probability, make)

    def _may_speak(self, S: list[Any], after: Parts) -> bool:
        """Return whether a watch may fire: not if all that watches read was the same before, at
        the start of the tick and at its end."""
        if self._seen is None or S[REPORTED] is not None or _grew(S):
            return True
        key = self._basis, self._seen(self._began), self._seen(after)
        if key in self._watched:
            return False
        self._watched.add(key)
        return True

    def _end(self, state: Kept, change: Change, parts: Parts) -> _Ended:
        """Compute or look up the endings that latch and the awards that are given."""
        now, S = self._after_clock if self._dependencies.timed else (), state.S
        key = (self._population.number, S[LATCHED], S[AWARDED], now, self._ends(parts))
        found = self._ended.get(key)
        if found is None:
            if len(self._ended) >= _MOST:
                self._ended.clear()
            after = self._put(state, change)
            after[TICK] += 1
            found = self._ended[key] = _Ended(*self._ticks.ended(Row(self._slots, after)))
        return found

    def _put(self, state: Kept, change: Change) -> list[Any]:
        """A copy of a row with a change."""
        S = state.S[:]
        self._slots.epoch += 1
        self._numbering.put(S, change, state.population)
        return S

    def _made(self, state: Kept, parts: Parts, change: Change) -> Kept:
        """The state with these parts."""
        after = Kept(self._slots, self._put(state, change))
        self._numbering.call(after, parts, state.population)
        return after

    def _after(self, state: Kept, parts: Parts, change: Change, ended: _Ended) -> Kept:
        after = self._made(state, parts, change)
        S = after.S
        S[LATCHED], S[AWARDED] = ended.latched, ended.awarded
        S[DID], S[DRAWN], S[TURN], S[ROUND], S[REPORTED] = (), {}, 0, None, None
        S[TICK] += 1
        return after

    def _next(self, state: Kept, parts: Parts, command: Command, change: Change) -> Kept:
        after = self._made(state, changed(parts, change), change)
        S = after.S
        S[DID] = self._executed(state, command)
        S[TURN], S[ROUND] = self._seat + 1, state.S[ROUND] or state.S[:]
        return after


def _grew(S: list[Any]) -> bool:
    """Return whether objects were created or destroyed since the start of the tick."""
    return S[ROUND] is not None and S[ROUND][KINDS] != S[KINDS]


def _getter(places: Places) -> Key:
    """A getter of the numbers at some places."""
    return itemgetter(*places) if places else lambda parts: ()


def _known(places: Places | None) -> Key | None:
    return None if places is None else _getter(places)
