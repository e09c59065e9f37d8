"""The engine as a searcher sees it: `ground.Simulator`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from tokenworld.core import lowered
from tokenworld.diagnostics.limits import TOO_LONG
from tokenworld.engine.clock import waiting_matters
from tokenworld.engine.engine import Engine
from tokenworld.engine.luck import ExploringLuck, LeaningLuck, Luck, NoUniform, in_step, in_tick
from tokenworld.engine.rows import Record, Row
from tokenworld.engine.rows.layout import AWARDED, DRAWN, KINDS, LONGS, NAMES, TICK
from tokenworld.engine.rows.stepper import Tick
from tokenworld.engine.searching.keys import Kept, Keys, KeyShape
from tokenworld.engine.searching.tables import Dependencies, Tables
from tokenworld.engine.searching.ticks import (
    Allowed,
    Came,
    Listener,
    SeenLuck,
    Ticks,
    TriedLuck,
    leads_on,
    left,
    spans_of,
)
from tokenworld.engine.state import State
from tokenworld.ground import (
    PASS,
    Command,
    Enough,
    Instance,
    Known,
    LuckyDraw,
    NoMatch,
    Raw,
    Successor,
    Try,
    Way,
    call_text,
    ways_of,
)
from tokenworld.model import NumberType, Term

_MOST_SETTLED = 64
"""For so many sets of living objects the instance is kept."""

T = TypeVar("T")
_Luck = TypeVar("_Luck", bound=ExploringLuck)


class EngineSimulator:
    """Searches on a world of ``engine`` that starts in ``first`` (the start state if ``None``).

    ``listener`` gets every result that `successors` and `moves` compute, discarded ones included.
    """

    def __init__(self, engine: Engine, first: State | None = None) -> None:
        self._engine, self._first = engine, engine.start() if first is None else first
        self._shape = KeyShape(engine.layout)
        self._short: dict[str, int] = {}
        self._overflowed = False
        self._known = len(self._first.kinds)
        self._enough: Enough | None = None
        self.listener: Listener | None = None
        self._use(self._first)

    def _use(self, state: State, *, fixed: bool = True) -> None:
        """Work on rows with the population and the unchanging facts of a state."""
        self._stepper = self._engine.searcher(state, fixed=fixed)
        self._lock, self._slots = self._stepper.lock, self._stepper.slots
        self._settled: dict[Hashable, Instance] = {}
        self._ticks = Ticks(self._stepper)
        self._ticks.enough = self._enough
        self._allowed = Allowed(self._stepper)
        self._goals = self._stepper.goals
        with self._lock:
            self._given, self._taken = state, Kept(self._slots, self._stepper.row(state).S)
            before = getattr(self, "_keys", None)
            self._keys = Keys(self._slots, self._shape, self._known)
            if before is not None:
                self._keys.numbering.share(before.numbering)
        self._made: Tables | None = None

    @property
    def _tables(self) -> Tables:
        """The tables of successors, made when the first ones are asked for."""
        if self._made is None:
            dependencies = Dependencies(self._stepper, self._shape, self._keys.numbering)
            self._made = Tables(
                self._ticks, self._keys, dependencies, tuple(self._allowed.made), self._listed,
                waits=self._waits,
            )  # fmt: skip
        return self._made

    def _kept(self, state: State) -> Kept:
        """A state as a row."""
        if isinstance(state, Kept) and state.of is self._slots:
            return state
        if state is not self._given:
            if self._slots.fits(state):
                self._given = state
                self._taken = Kept(self._slots, self._stepper.row(state).S)
            else:
                self._use(state, fixed=False)  # states differ in what play never changes
        return self._taken

    @property
    def engine(self) -> Engine:
        return self._engine

    @property
    def instance(self) -> Instance:
        return self._engine.instance

    def instance_at(self, state: State) -> Instance:
        if not isinstance(state, Kept) or state.of is not self._slots:
            return self._engine.settled(state)
        key = state.S[KINDS], state.S[NAMES]
        if key not in self._settled:
            if len(self._settled) == _MOST_SETTLED:
                self._settled.clear()
            self._settled[key] = self._engine.settled(state)
        return self._settled[key]

    @property
    def short_of(self) -> Mapping[str, int]:
        return self._short

    @property
    def overflowed(self) -> bool:
        return self._overflowed and bool(self.instance.program.pddl)

    @cached_property
    def unlisted(self) -> frozenset[str]:
        return self._engine.unlisted(self.start())

    def start(self) -> State:
        return self._first

    # ---- moving -------------------------------------------------------------------------------

    def commands(self, state: State) -> Sequence[Command]:
        with self._lock:
            return self._commands(self._kept(state))

    def _commands(self, state: Kept) -> list[Command]:
        if self._goals.over(state.S):
            return []
        tick = self._ticks.at(state)
        found = [one for name in self._allowed.made for one in self._listed(tick, name)]
        if self._waits or len(self._stepper.actors) > 1:
            found.append(PASS)
        return found

    def _listed(self, tick: Tick, name: str) -> Sequence[Command]:
        """The commands of one action, as `commands` lists them."""
        found = self._allowed.of(tick, name)
        if self._stepper.rules.actions[name].takes is None:
            return found
        return [command for command in found if self._moves(tick, command)]

    def _moves(self, tick: Tick, command: Command) -> bool:
        """Return whether a command takes time or changes something.

        Other commands lead to no new state, and one that continues a long action leads to the state
        after `pass`.
        """
        if not tick.is_free(command):
            return not tick.goes_on(command)
        return command.action in self._free_changes

    @cached_property
    def _free_changes(self) -> frozenset[str]:
        """The actions whose body may change the state."""
        rules = lowered(self.instance.program)
        touched = {name: rules.footprint((), (one.body,)) for name, one in rules.actions.items()}
        return frozenset(
            name for name, one in touched.items() if one.writes or one.creates or one.destroys
        )

    @cached_property
    def _waits(self) -> bool:
        return waiting_matters(self.instance)

    def successors(self, state: State, command: Command) -> Sequence[Successor[State]]:
        with self._lock:
            return self._successors(self._kept(state), command)

    def _successors(self, state: Kept, command: Command) -> list[Successor[State]]:
        found = list[Successor[State]]()
        try:
            for came in self._ticks.outcomes(state, command):
                if self.listener is not None:
                    self.listener.observe(state, came.record, came.after)
                if self._leads_on(came.record) and self._spared(came.after):
                    found.append(self._successor(state, came))
        except NoUniform:
            return []
        return found

    def _successor(self, state: Kept, came: Came[_Luck]) -> Successor[State]:
        self._keys.numbering.number(came.after, state, came.written)
        draws = in_step(state.S[DRAWN], came.luck.taken)
        return Successor(came.after, draws, came.luck.probability)

    def bound(self, enough: Enough | None) -> None:
        self._enough = self._ticks.enough = enough

    def moves(self, state: State) -> Iterable[tuple[Command, Sequence[Way[State]]]]:
        """Every command of a state with its successors, as `commands` and `successors` list them,
        each with its short key; the states are made when they are asked for."""
        with self._lock:
            return list(self._moves_of(self._kept(state)))

    def _moves_of(self, state: Kept) -> Iterator[tuple[Command, Sequence[Way[State]]]]:
        if self._goals.over(state.S):
            return
        if not self._tables.begin(state):
            for command in self._commands(state):
                yield command, ways_of(self, state, command)
            return
        for command, ways in self._tables.moves(state, self.listener):
            yield command, ways_of(self, state, command) if ways is None else ways

    def tries(self, state: State, command: Command, known: Known) -> Sequence[Try[State]]:
        """List the results of a command, each combination of draws once, within the known bounds of
        the draws of this tick. A result that fails narrows these bounds."""
        with self._lock:
            return list(self._tries(self._kept(state), command, known))

    def _tries(self, state: Kept, command: Command, known: Known) -> Iterator[Try[State]]:
        spans = spans_of(state.S[DRAWN], known)
        prefix: tuple[int, ...] | None = ()
        while prefix is not None:
            luck = TriedLuck(prefix, spans)
            try:
                came = self._ticks.outcome(state, command, luck)
            except NoUniform:
                return
            if self._spared(came.after):
                one = self._successor(state, came)
                rest = left(state.S, came.after.S, luck.spans)
                done = self._leads_on(came.record)
                yield Try(came.after, one.draws, luck.probability, done, rest)
            prefix = luck.next_prefix()

    def tried(self, state: State, command: Command, known: Known) -> Known:
        """The known draws of a tick after the seed's own outcome of a command."""
        with self._lock:
            kept = self._kept(state)
            luck = SeenLuck(spans_of(kept.S[DRAWN], known))
            return left(kept.S, self._ticks.outcome(kept, command, luck).after.S, luck.spans)

    def played(self, state: State, intent: Command | NoMatch, luck: Luck) -> tuple[Record, State]:
        """Play an intent with some luck; return its last record and the state after it."""
        with self._lock:
            kept = self._kept(state)  # first: it may change the slots
            came = self._ticks.outcome(kept, intent, luck)
            return came.record, came.after

    def leaning(
        self, state: State, command: Command, draws: Sequence[LuckyDraw]
    ) -> Successor[State] | None:
        with self._lock:
            kept = self._kept(state)
            luck = LeaningLuck(in_tick(kept.S[DRAWN], draws))
            try:
                came = self._ticks.outcome(kept, command, luck)
            except NoUniform:
                return None
            if not self._leads_on(came.record) or not self._spared(came.after):
                return None
            return self._successor(kept, came)

    def _leads_on(self, record: Record) -> bool:
        """Return whether a command was executed; record a number that got too many digits."""
        if record.breach is not None and record.breach.message == TOO_LONG:
            self._overflowed = True
        return leads_on(record)

    def _spared(self, state: Kept) -> bool:
        """Return whether the world has enough spare objects for those created so far."""
        S = state.S
        if len(S[KINDS]) <= self._known:
            return True
        for spare in self.instance.world.spares:
            created = sum(1 for x in S[self._slots.live[spare.of]] if x >= self._known)
            if created > spare.count:
                self._short[spare.of] = spare.count
                return False
        return True

    # ---- telling states apart -------------------------------------------------------------------

    def key(self, state: State) -> Hashable:
        with self._lock:
            kept = self._kept(state)  # first: it may change the slots
            return self._keys.key(kept)

    def short_key(self, state: State) -> Hashable:
        """A short key for this simulator only: equal if and only if `key` is."""
        with self._lock:
            kept = self._kept(state)  # first: it may change the slots
            return self._keys.short_key(kept)

    def told_by(self, terms: Iterable[Term]) -> Callable[[Hashable], Hashable] | None:
        """A getter of the fluents that terms read, and the population, from a short key."""
        read = lowered(self.instance.program).fluents_read(terms)
        return None if read is None else self._keys.numbering.of_fluents(read)

    # ---- asking ---------------------------------------------------------------------------------

    def asked(self, state: State, read: Callable[[Tick], T]) -> T:
        """Evaluate `read` on a tick of `state` without executing the tick."""
        with self._lock:
            kept = self._kept(state)  # first: it may change the slots
            return read(self._ticks.at(kept))

    def ask(self, state: State, term: Term) -> Raw:
        """The value of a term of the checked model."""

        def value(tick: Tick) -> Raw:
            S = tick.row.S
            found: Raw = tick.code.value(term)(S, S, tick.of.me)
            return found

        return self.asked(state, value)

    def made(self, state: State, change: Callable[[Tick], None]) -> State:
        """Return a copy of a state after ``change`` wrote into its row."""
        with self._lock:
            kept = self._kept(state)  # first: it may change the slots
            row = Row(self._slots, kept.S[:])
            change(self._stepper.asking(row))
            return Kept(self._slots, row.S)

    def reached(self, state: State) -> tuple[str, ...]:
        """The endings that a state has reached."""
        return self.asked(state, lambda tick: tick.of.goals.reached(tick.row.S))

    def begins(self, name: str, reported: State, after: State) -> bool:
        """Return whether a watch would fire, compared with the last reported state."""
        with self._lock:
            rows = [self._kept(one).S for one in (after, reported)]
            self._slots.epoch += 1
            return bool(self._stepper.watched(name, *rows))

    def won(self, state: State, goal: str | None) -> bool:
        """Return whether a goal line is the ending that latched (language.md §8, step 11)."""
        with self._lock:
            kept = self._kept(state)  # first: it may change the slots
            return self._goals.won(kept.S, goal)

    def lost(self, state: State) -> bool:
        """Return whether play went past a ``lose`` line, or the world ended without a goal."""
        with self._lock:
            kept = self._kept(state)  # first: it may change the slots
            return self._goals.lost(kept.S)

    def read(self, state: State, fluent: str, args: Sequence[Raw]) -> Raw:
        with self._lock:
            S = self._kept(state).S  # first: it may change the slots
            return self._slots.read(S, fluent, tuple(args))

    def stored(self, state: State, fluent: str) -> Iterable[tuple[tuple[Raw, ...], Raw]]:
        with self._lock:
            S = self._kept(state).S
            return self._slots.stored(S, fluent)

    def tick(self, state: State) -> int:
        return int(state.S[TICK]) if isinstance(state, Kept) else state.tick

    def awarded(self, state: State) -> tuple[int, ...]:
        return tuple(state.S[AWARDED]) if isinstance(state, Kept) else state.awarded

    def running(self, state: State) -> tuple[Command, int, int] | None:
        with self._lock:
            S = self._kept(state).S
            actor = self._slots.acting(S)
            long = next((one for who, one in S[LONGS] if who == actor), None)
            return None if long is None else (long.command, long.done, long.total)

    def cost(self, state: State, command: Command) -> int:
        """The cost of a command in a plan, in units of the finest decimals of all costs. A pass, or
        the continuation of a long action, costs nothing if other commands have a cost."""
        if self._decimals is None:
            return 1
        with self._lock:
            kept = self._kept(state)
            cost = None if command.is_pass else self._stepper.rules.actions[command.action].cost
            if cost is None or self._stepper.asking(Row(self._slots, kept.S)).goes_on(command):
                return 0
            S, me = kept.S, self._slots.acting(kept.S)
            paid = int(self._stepper.code["cost", command.action](S, S, me, *command.args))
        return paid * int(10 ** (self._decimals - _decimals(cost)))

    @cached_property
    def _decimals(self) -> int | None:
        """The most decimals of a cost; ``None`` where no action has one."""
        costs = [one.cost for one in self.instance.program.actions.values()]
        return max((_decimals(one) for one in costs if one is not None), default=None)

    def mover(self, state: State) -> str | None:
        if len(self._stepper.actors) < 2:
            return None
        with self._lock:
            S = self._kept(state).S
            actor = self._slots.acting(S)
            return None if actor is None else str(S[NAMES][actor])

    def show(self, state: State, command: Command) -> str:
        names = state.S[NAMES] if isinstance(state, Kept) else state.names
        return call_text(self.instance.program, names, command)


def _decimals(term: object) -> int:
    kind = getattr(term, "type", None)
    return kind.decimals if isinstance(kind, NumberType) else 0
