"""The engine as a searcher sees it: `ground.Simulator`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from tokenworld.engine.engine import Engine
from tokenworld.engine.luck import ExploringLuck, NoUniform, RecordingLuck, in_step
from tokenworld.engine.reading import columns_read, slots_of
from tokenworld.engine.result import Result
from tokenworld.engine.searching.deeds import Deeds
from tokenworld.engine.searching.identity import Parts, key_of
from tokenworld.engine.searching.idling import Idled, is_idle, reads_deeds
from tokenworld.engine.searching.key_shape import KeyShape
from tokenworld.engine.searching.leaning import leads_on, leant
from tokenworld.engine.searching.leaps import Leaps
from tokenworld.engine.searching.marks import Marks
from tokenworld.engine.searching.patches import Patches
from tokenworld.engine.searching.prices import Prices
from tokenworld.engine.searching.quick import Came, Listener, QuickTicks
from tokenworld.engine.searching.rests import Rests
from tokenworld.engine.searching.tries import tried, tries
from tokenworld.engine.state import State
from tokenworld.ground import (
    PASS,
    Command,
    Enough,
    Instance,
    Known,
    LuckyDraw,
    Raw,
    Successor,
    Try,
    Way,
    show_value,
    ways_of,
    written,
)
from tokenworld.model import Term

__all__ = ["EngineSimulator"]


class EngineSimulator:
    """Searches on a world of ``engine`` that starts in ``first`` (the start state if ``None``).

    ``observe`` hears of every result that `successors` looks at, discarded ones included: the
    state before and what the tick came to. ``listener`` hears of the same, and for most edges
    without a record, which takes a third of the time.
    """

    def __init__(self, engine: Engine, first: State | None = None) -> None:
        self._engine = engine
        self._first = first
        self._stepper = engine.stepper
        self._short: dict[str, int] = {}
        self._parts = Parts()
        self._idled: Idled | None = None
        self._rested: tuple[State, Sequence[Successor[State]]] | None = None
        self._rest_marks: dict[int, Hashable] = {}
        self._shape, self._quick = KeyShape(engine.layout), QuickTicks(engine.stepper)
        self.listener: Listener | None = None
        self.observe: Callable[[State, Result], None] | None = None

    @property
    def engine(self) -> Engine:
        return self._engine

    @property
    def instance(self) -> Instance:
        return self._engine.instance

    def instance_at(self, state: State) -> Instance:
        return self._engine.settled(state)

    @property
    def short_of(self) -> Mapping[str, int]:
        return self._short

    @cached_property
    def unlisted(self) -> frozenset[str]:
        return self._engine.unlisted(self.start())

    def start(self) -> State:
        return self._first if self._first is not None else self._engine.start()

    # ---- moving -------------------------------------------------------------------------------

    def commands(self, state: State) -> Sequence[Command]:
        if self._stepper.endings.over(state):
            return ()
        self._marks.begin(state)
        slow, allowed = self._may_be_free, self._engine.allowed(state)
        found = [one for one in allowed if one.action not in slow or self._moves(state, one)]
        if self._stepper.waiting_matters or len(state.actors) > 1:
            found.append(PASS)
        return found

    @cached_property
    def _may_be_free(self) -> frozenset[str]:
        """The actions that say how long they take."""
        actions = self.instance.program.actions.values()
        return frozenset(one.name for one in actions if one.takes is not None)

    def _moves(self, state: State, command: Command) -> bool:
        """Whether a command takes time or changes something: free talk leads nowhere, and what
        continues a long action leads where `pass` does."""
        if not self._stepper.unit.free(state, command):
            return self._stepper.unit.continued(state, command) is None
        return command.action in self._free_changes

    @cached_property
    def _free_changes(self) -> frozenset[str]:
        """The actions whose body may change the state."""
        program = self.instance.program
        fluents = dict(program.fluents)
        return frozenset(
            name for name, action in program.actions.items() if written(fluents, action.body)
        )

    def successors(self, state: State, command: Command) -> Sequence[Successor[State]]:
        try:
            found = self._quickly(state, command) if self.observe is None else None
            return self._outcomes(state, command) if found is None else found
        except NoUniform:
            return ()

    def bound(self, enough: Enough | None) -> None:
        self._quick.enough = enough

    def moves(self, state: State) -> Iterator[tuple[Command, Sequence[Way[State]]]]:
        """Every command of a state with its successors, as `commands` and `successors` list them,
        each with its mark; the states are made when they are asked for."""
        if self.observe is not None or not self._leaps.begin(state):
            for command in self.commands(state):
                yield command, ways_of(self, state, command)
        elif not self._stepper.endings.over(state):
            for command, ways in self._leaps.moves(state, self.listener):
                yield command, ways_of(self, state, command) if ways is None else ways

    @cached_property
    def _leaps(self) -> Leaps:
        rests, patches = Rests(self._stepper, self._shape), Patches(self._marks)
        names = tuple(self.instance.program.actions)
        deeds = Deeds(names, self._listed, self._quick, patches, rests)
        waits = self._stepper.waiting_matters
        return Leaps(self._quick, self._marks, rests, patches, deeds, waits=waits)

    def _listed(self, state: State, name: str, often: bool) -> Sequence[Command]:
        """The commands of one action, as `commands` lists them."""
        allowed = self._engine.allowed_of(state, name, often=often)
        if name not in self._may_be_free:
            return allowed
        return [command for command in allowed if self._moves(state, command)]

    def tries(self, state: State, command: Command, known: Known) -> Sequence[Try[State]]:
        found = tries(self._stepper, state, command, known)
        return [one for one in found if self._spared(one.state)]

    def tried(self, state: State, command: Command, known: Known) -> Known:
        """What is known of the draws of a tick after the seed's own outcome of a command."""
        return tried(self._stepper, state, command, known)

    def leaning(
        self, state: State, command: Command, draws: Sequence[LuckyDraw]
    ) -> Successor[State] | None:
        found = leant(self._stepper, state, command, draws)
        return found if found is not None and self._spared(found.state) else None

    def _quickly(self, state: State, command: Command) -> Sequence[Successor[State]] | None:
        """The same without records; ``None`` where the stepper must say."""
        listener, quick = self.listener, self._quick
        idle = self._may_idle(state, command) and quick.is_plain(command)
        if idle and self._rested is not None and self._rested[0] is state:
            if not quick.idles(state, command):
                return None
            if listener is not None:
                listener.did(command)
            return self._rested[1]
        came = quick.outcomes(state, command)
        if came is None:
            return None
        if listener is not None:
            for one in came:
                listener.happened(state, command, one)
        found = [_successor(state, one) for one in came if self._spared(one.after)]
        if idle:
            self._rested, self._rest_marks = (state, found), {}
        return found

    def _outcomes(self, state: State, command: Command) -> Sequence[Successor[State]]:
        """All that a command may come to, each combination of draws once."""
        found, seen, stepper = list[Successor[State]](), list[Result](), self._stepper
        prefix: tuple[int, ...] | None = ()
        idle = self._may_idle(state, command)
        while prefix is not None:
            luck = ExploringLuck(prefix)
            recording = RecordingLuck(luck)
            results = stepper.opened(state, command, recording)
            if not prefix:
                idle = idle and not recording.taken and is_idle(results, state)
            if not prefix and idle:
                known = self._idled
                if known is not None and known.state is state:
                    return self._like(known, command, results[-1])
            result = stepper.completed(results, state, recording)[-1]
            seen.append(result)
            self._quick.look(len(seen))
            self._tell(state, result)
            if leads_on(result) and self._spared(result.after):
                result.after.facts = None
                draws = in_step(state.drawn, luck.taken)
                found.append(Successor(result.after, draws, luck.probability))
            prefix = luck.next_prefix()
        if idle:
            self._idled = Idled(state, seen, found)
        return found

    def _may_idle(self, state: State, command: Command) -> bool:
        """Whether a command may turn out to do nothing but let a tick pass."""
        return (
            self._shares_idling
            and not state.longs
            and len(state.actors) < 2
            and command.action not in self._free_changes
            and not (
                command.action in self._may_be_free and self._stepper.unit.free(state, command)
            )
        )

    @cached_property
    def _shares_idling(self) -> bool:
        return not reads_deeds(self._shape.terms)

    def _like(self, known: Idled, command: Command, opened: Result) -> Sequence[Successor[State]]:
        """What another command that does nothing led to, told of this one."""
        if self.observe is not None or self.listener is not None:
            for one in known.told(command, opened):
                self._tell(known.state, one)
        return known.successors

    def _tell(self, state: State, result: Result) -> None:
        if self.observe is not None:
            self.observe(state, result)
        elif self.listener is not None:
            self.listener.observe(state, result)

    @cached_property
    def _known(self) -> int:
        """How many objects were made before the search."""
        return len(self.start().kinds)

    def _spared(self, state: State) -> bool:
        """Whether the spare objects of the world are enough for what was created since."""
        if len(state.kinds) <= self._known:
            return True
        for spare in self.instance.world.spares:
            created = sum(1 for x in state.live[spare.of] if x >= self._known)
            if created > spare.count:
                self._short[spare.of] = spare.count
                return False
        return True

    # ---- telling states apart -------------------------------------------------------------------

    def key(self, state: State) -> Hashable:
        idled = self._idled
        if idled is None or not idled.leads_to(state):
            return self._key(state)
        if id(state) not in idled.keys:
            idled.keys[id(state)] = self._key(state)
        return idled.keys[id(state)]

    def _key(self, state: State) -> Hashable:
        return key_of(state, self._shape, self._known, seen=self._parts)

    def mark(self, state: State) -> Hashable:
        """What `key` tells apart, quick to make and to compare, and for this simulator alone."""
        rested = self._rested
        if rested is not None and any(one.state is state for one in rested[1]):
            known = self._rest_marks.get(id(state))
            if known is None:
                known = self._rest_marks[id(state)] = self._marks.of(state)
            return known
        return self._marks.of(state)

    def told_by(self, terms: Iterable[Term]) -> Callable[[Hashable], Hashable] | None:
        """What of a mark terms can tell apart, and who lives; ``None`` where that is not known."""
        columns = columns_read(self._engine.layout, terms)
        return None if columns is None else self._marks.of_columns(columns)

    @cached_property
    def _marks(self) -> Marks:
        return Marks(self._engine.layout, self._shape, self._known)

    # ---- asking ---------------------------------------------------------------------------------

    def won(self, state: State, goal: str | None) -> bool:
        """Whether a goal line is the ending that latched (language.md §8, step 11)."""
        return self._stepper.endings.won(state, goal, state.me)

    def lost(self, state: State) -> bool:
        """Whether play went past a ``lose`` line, or the world ended without a goal."""
        return self._stepper.endings.lost(state, state.me)

    def read(self, state: State, fluent: str, args: Sequence[Raw]) -> Raw:
        column = self._engine.layout.by_id[fluent]
        return state.get(column, column.key(tuple(args)))

    def stored(self, state: State, fluent: str) -> Iterable[tuple[tuple[Raw, ...], Raw]]:
        return slots_of(state, self._engine.layout.by_id[fluent])

    def tick(self, state: State) -> int:
        return state.tick

    def running(self, state: State) -> tuple[Command, int, int] | None:
        long = state.long_of(state.acting)
        return None if long is None else (long.command, long.done, long.total)

    def cost(self, state: State, command: Command) -> int:
        """What a plan pays, in units of the finest decimals that any cost is written with."""
        return self._prices.of(state, command)

    @cached_property
    def _prices(self) -> Prices:
        return Prices(self._engine.code)

    def mover(self, state: State) -> str | None:
        actor = state.acting
        return None if actor is None or len(state.actors) < 2 else state.names[actor]

    def show(self, state: State, command: Command) -> str:
        if command.is_pass:
            return "pass"
        program, names = self.instance.program, state.names
        params = program.actions[command.action].params
        shown = (
            str(show_value(program, names, binder.type, value))
            for binder, value in zip(params, command.args, strict=True)
        )
        return f"{command.action}({', '.join(shown)})"


def _successor(before: State, came: Came) -> Successor[State]:
    luck = came.luck
    if not luck.taken:
        return Successor(came.after, ())
    return Successor(came.after, in_step(before.drawn, luck.taken), luck.probability)
