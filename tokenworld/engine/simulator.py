"""The engine as a searcher sees it: `ground.Simulator`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property

from tokenworld.engine.births import creates, play_bodies
from tokenworld.engine.clock import deciding_terms, rings
from tokenworld.engine.engine import Engine
from tokenworld.engine.identity import Parts, key_of
from tokenworld.engine.idling import Idled, is_idle, reads_deeds
from tokenworld.engine.luck import ExploringLuck, NoUniform, RecordingLuck
from tokenworld.engine.result import Result
from tokenworld.engine.state import State
from tokenworld.ground import PASS, Command, Instance, Raw, Successor, show_value, written
from tokenworld.model import (
    Body,
    BuiltinCall,
    Create,
    NumberType,
    ObjectType,
    Term,
    effects_in,
    subterms,
)

__all__ = ["EngineSimulator"]


class EngineSimulator:
    """Searches on a world of ``engine`` that starts in ``first`` (the start state if ``None``).

    ``observe`` hears of every result that `successors` looks at, discarded ones included: the
    state before and what the tick came to.
    """

    def __init__(self, engine: Engine, first: State | None = None) -> None:
        self._engine = engine
        self._first = first
        self._stepper = engine.stepper
        self._short: dict[str, int] = {}
        self._parts = Parts()
        self._idled: Idled | None = None
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
        found = [one for one in self._engine.allowed(state) if self._moves(state, one)]
        if self._stepper.waiting_matters or len(state.actors) > 1:
            found.append(PASS)
        return found

    @cached_property
    def _terms(self) -> Sequence[Term]:
        return deciding_terms(self.instance)

    @cached_property
    def _ticks(self) -> tuple[tuple[int, ...], bool]:
        return rings(self.instance, self._terms)

    def _moves(self, state: State, command: Command) -> bool:
        """Whether a command takes time or changes something: free talk leads nowhere."""
        if not self._stepper.unit.free(state, command):
            return True
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
        silent, self._stepper.watches.silent = self._stepper.watches.silent, True
        try:
            return self._outcomes(state, command)
        except NoUniform:
            return ()
        finally:
            self._stepper.watches.silent = silent

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
            if self.observe is not None:
                self.observe(state, result)
            done = result.status in ("executed", "waiting", "interrupted")
            if done and self._spared(result.after):
                result.after.facts = None
                found.append(Successor(result.after, tuple(luck.taken), luck.probability))
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
            and not self._stepper.unit.free(state, command)
        )

    @cached_property
    def _shares_idling(self) -> bool:
        return not reads_deeds(self._terms)

    def _like(self, known: Idled, command: Command, opened: Result) -> Sequence[Successor[State]]:
        """What another command that does nothing led to, told of this one."""
        if self.observe is not None:
            for one in known.told(command, opened):
                self.observe(known.state, one)
        return known.successors

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

    @cached_property
    def _kept(self) -> tuple[int, ...]:
        """The columns that can differ: those that some rule may write."""
        program = self.instance.program
        fluents = dict(program.fluents)
        changed: frozenset[str] = frozenset()
        for body in self._bodies:
            changed |= written(fluents, body)
        return tuple(one.index for one in self._engine.layout.columns if one.fluent.id in changed)

    def key(self, state: State) -> Hashable:
        idled = self._idled
        if idled is None or not idled.leads_to(state):
            return self._key(state)
        if id(state) not in idled.keys:
            idled.keys[id(state)] = self._key(state)
        return idled.keys[id(state)]

    def _key(self, state: State) -> Hashable:
        return key_of(
            state, self._kept, self._ticks[0], self._known, looks_back=self._looks_back,
            seen=self._parts,
        )  # fmt: skip

    def exact_key(self) -> bool:
        plain = self._ticks[1] and not self._reads_score and not self._reads_numbers
        return plain and self._finite and not self.unlisted

    @cached_property
    def _bodies(self) -> Sequence[Body]:
        """The bodies that run in play; `birth` rules where something is created."""
        program, found = self.instance.program, play_bodies(self.instance.program)
        return [*found, *(birth.body for birth in program.births)] if creates(found) else found

    @cached_property
    def _reads_numbers(self) -> bool:
        """Whether a rule reads the number of an object that play may have created."""
        program = self.instance.program
        made = {one.of for body in self._bodies for one in effects_in(body)
                if isinstance(one, Create)}  # fmt: skip
        read = (
            part.args[0].type
            for term in self._terms
            for part in subterms(term)
            if isinstance(part, BuiltinCall) and part.name == "id" and part.args
        )
        return any(
            isinstance(kind, ObjectType)
            and any(program.is_subtype(of, kind.name) or program.is_subtype(kind.name, of)
                    for of in made)
            for kind in read
        )  # fmt: skip

    @cached_property
    def _looks_back(self) -> bool:
        """Whether a rule reads what happened earlier in the tick: `was` or `did`."""
        return any(
            getattr(part, "was", False) or (isinstance(part, BuiltinCall) and part.name == "did")
            for term in self._terms
            for part in subterms(term)
        )

    @cached_property
    def _reads_score(self) -> bool:
        """Whether a rule reads the score, which keys leave out."""
        return any(
            isinstance(part, BuiltinCall) and part.name == "score"
            for term in self._terms
            for part in subterms(term)
        )

    @cached_property
    def _finite(self) -> bool:
        fluents = self._engine.layout.columns
        for index in self._kept:
            kind = fluents[index].fluent.type
            if kind.kind in ("real", "text"):
                return False
            if kind.kind == "number" and (kind.low is None or kind.high is None):
                return False
        return True

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
        layout = self._engine.layout
        column = layout.by_id[fluent]
        values = state.cols[column.index]
        if column.tupled:
            return [(column.args(key), value) for key, value in values.items()]
        if column.single:
            return [((), values[0])]
        owners = layout.owners.get(column.index, frozenset())
        return [((one,), values[one]) for one, kind in enumerate(state.kinds) if kind in owners]

    def tick(self, state: State) -> int:
        return state.tick

    def running(self, state: State) -> tuple[Command, int, int] | None:
        long = state.long_of(state.acting)
        return None if long is None else (long.command, long.done, long.total)

    def cost(self, state: State, command: Command) -> int:
        """What a plan pays, in units of the finest decimals that any cost is written with."""
        if not self._costly:
            return 1
        if command.is_pass:
            return 0
        code = self._engine.code.actions[command.action]
        if code.cost is None:
            return 0
        paid = int(code.cost(state, state, state.acting, *command.args))
        return paid * int(10 ** (self._cost_decimals - _decimals(code.action.cost)))

    @cached_property
    def _costly(self) -> bool:
        return any(action.cost is not None for action in self.instance.program.actions.values())

    @cached_property
    def _cost_decimals(self) -> int:
        return max(_decimals(action.cost) for action in self.instance.program.actions.values())

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


def _decimals(term: Term | None) -> int:
    return term.type.decimals if term is not None and isinstance(term.type, NumberType) else 0
