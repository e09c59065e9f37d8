"""One world, ready to run: compile, start, tick, explain."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from tokenworld.engine.added import never_refused
from tokenworld.engine.applying import apply
from tokenworld.engine.compile import Code, Function, compile_body, compile_program, compile_term
from tokenworld.engine.delta import Breach, Delta
from tokenworld.engine.describe import strata_of
from tokenworld.engine.digest import facts_hash, state_hash, state_json
from tokenworld.engine.guards import reads_of
from tokenworld.engine.knowledge import Knowledge
from tokenworld.engine.layout import Layout
from tokenworld.engine.listing import Listing
from tokenworld.engine.luck import Luck, SeededLuck
from tokenworld.engine.population import instance_of
from tokenworld.engine.restore import state_from_json
from tokenworld.engine.rows.focus import Focus
from tokenworld.engine.rows.live import Halves, LiveRow
from tokenworld.engine.rows.log import Row
from tokenworld.engine.rows.record import number_json
from tokenworld.engine.rows.stepper import RowStepper
from tokenworld.engine.rows.tracing import TimeTrace
from tokenworld.engine.start import start_state
from tokenworld.engine.state import State
from tokenworld.engine.step import Stepper
from tokenworld.ground import (
    By,
    Command,
    Instance,
    Json,
    NoMatch,
    Outcome,
    Prose,
    Raw,
    RequireReport,
)
from tokenworld.model import Body, Term

if TYPE_CHECKING:
    from tokenworld.engine.searching.ticks import SearchStepper

__all__ = ["Engine"]

T = TypeVar("T")

_MOST_SEARCHERS = 4
"""Layouts of rows that are kept for searches."""


class Engine:
    """A compiled instance. States are values: no method changes one that it was given."""

    def __init__(self, instance: Instance, prose: Prose) -> None:
        self.instance = instance
        self.layout = Layout(instance)
        self.code: Code = compile_program(instance, self.layout, prose)
        self.code.space["STRATA"] = self._strata()
        self.stepper = Stepper(instance, self.layout, self.code)
        self.code.space["score"] = self._score
        self._live = LiveRow(instance, self.layout, prose)
        self._prose = prose
        self._searchers: list[SearchStepper] = []
        self._listing = Listing(instance, self.layout)
        self._terms: dict[int, tuple[Term, Function]] = {}
        self.fixed_words: dict[tuple[int, str, str | None], tuple[str, ...]] = {}

    def _strata(self) -> dict[str, tuple[str, ...]]:
        program = self.instance.program
        names = tuple(name for name, derive in program.derives.items() if derive.recursive)
        calls = {name: self._reached(name) & frozenset(names) for name in names}
        return strata_of(names, calls)

    def _reached(self, name: str) -> frozenset[str]:
        from tokenworld.model import DeriveCall, subterms

        derives = self.instance.program.derives
        found: set[str] = set()
        todo = [name]
        while todo:
            for term in subterms(derives[todo.pop()].value):
                if isinstance(term, DeriveCall) and term.derive not in found:
                    found.add(term.derive)
                    todo.append(term.derive)
        return frozenset(found)

    # ---- playing ------------------------------------------------------------------------------

    def start(self, seed: int = 0, luck: Luck | None = None) -> State:
        """The start state; `Failure` if the setup cannot be carried out."""
        stepper = self.stepper
        return start_state(
            self.instance, self.layout, self.code, stepper.guards, stepper.endings, seed,
            luck or SeededLuck(),
        )  # fmt: skip

    def play(
        self,
        state: State,
        intent: Command | NoMatch,
        luck: Luck | None = None,
        *,
        by: By = "player",
    ) -> tuple[State, tuple[Outcome, ...]]:
        """The intent of the actor whose turn it is: the state it leaves and its records (two where
        a long action is broken off, or where a fruitless intent lets it go on). The last actor's
        intent closes the round, which is the tick."""
        return self._live.play(state, intent, luck or SeededLuck(), by)

    def halt(self, state: State, cause: str) -> Outcome:
        """The record that the runner stopped in a state, and why."""
        return self._live.halt(state, cause)

    def on_row(self, state: State, work: Callable[[RowStepper, Row], T]) -> T:
        """What some work on the row of a state comes to; it leaves the row as it was."""
        return self._live.on_row(state, work)

    def halves(self, state: State, intent: Command | NoMatch, luck: Luck | None = None) -> Halves:
        """What an intent comes to: the state before time passes and the one after the tick."""
        return self._live.halves(state, intent, luck or SeededLuck())

    def traced(self, state: State, intent: Command | NoMatch, luck: Luck) -> TimeTrace:
        """What the laws did in the tick of an intent, law by law."""
        return self._live.traced(state, intent, luck)

    def acted(self, state: State, command: Command, luck: Luck | None = None) -> State:
        """The state after a command's own changes, before time passes: an equal one where it is
        refused, discarded or comes after the end."""
        return self.halves(state, command, luck).acted

    def edit(self, state: State, body: Body) -> State:
        """A `given` of a scenario: a body applied between ticks, no tick passes."""
        after = state.fork()
        delta = Delta(self.layout, SeededLuck(), state.seed, state.tick, state.drawn)
        delta.by("given", (), ())
        compile_body(self.code, body)(state, state, state.me, delta)
        apply(after, delta)
        after.drawn = delta.drawn
        after.facts = None
        after.trail.roll = True  # also what play never changes may be changed here
        self.stepper.endings.progress(after, after.me)
        return after

    def put(self, state: State, fluent: str, args: tuple[Raw, ...], value: Raw) -> State:
        """One slot set between ticks, as `edit` does; whoever asks has seen to it that it fits."""
        after, column = state.fork(), self.layout.by_id[fluent]
        after.put(column, column.key(args), value)
        after.facts = None
        after.trail.roll = True
        self.stepper.endings.progress(after, after.me)
        return after

    # ---- asking -------------------------------------------------------------------------------

    def legal(self, state: State) -> list[Command]:
        """Every command whose requires all hold, actions in order, then arguments in order; none
        of an action with too many bindings.

        Requires that the language adds (ranges) are tested too, with the draws of the seed. The
        same command as a long action under way is among them: it continues it.
        """
        return self._live.legal(state)

    def focus(self, state: State, number: int) -> Focus:
        """What can be done with an object, without listing all that can be done."""
        return self._live.focus(state, number)

    def passes(self, state: State, command: Command) -> bool:
        """Whether a command would not be refused, nor be in error for a number in its requires."""
        if command.is_pass:
            return True
        code, unit = self.code.actions[command.action], self.stepper.unit
        try:
            now = unit.judged(state, command)
            if now is None:
                return unit.continued(state, command) is not None
            if not code.holds(now, unit.since(now, command), state.acting, *command.args):
                return False
        except Breach:
            return False
        return self._never_breaks[command.action] or unit.refusal(state, command) is None

    def may_break(self, name: str) -> bool:
        """Whether a require that the language adds may refuse an action."""
        return not self._never_breaks[name]

    @cached_property
    def known(self) -> Knowledge:
        """What a player may know of its states."""
        return Knowledge(self)

    @cached_property
    def everything(self) -> Knowledge:
        """The same for whoever operates the world: nothing is hidden."""
        return Knowledge(self, everything=True)

    @cached_property
    def _never_breaks(self) -> dict[str, bool]:
        return never_refused(self.instance.program)

    def bindings(self, state: State, name: str) -> Iterable[tuple[Raw, ...]] | None:
        """The bindings of an action that its static facts allow, ``None`` for too many to list."""
        return self._listing.bindings(state, name)

    def searcher(self, state: State, *, fixed: bool = True) -> SearchStepper:
        """What steps the states of searches that begin in one with this population and these
        unchanging facts."""
        from tokenworld.engine.searching.ticks import SearchStepper

        for known in self._searchers:
            if known.fixed == fixed and known.slots.fits(state):
                return known
        del self._searchers[_MOST_SEARCHERS - 1 :]
        found = SearchStepper(self.instance, self.layout, self._prose, state, fixed=fixed)
        self._searchers.insert(0, found)
        return found

    def unlisted(self, state: State) -> frozenset[str]:
        """Actions with too many bindings to list; see `Listing`."""
        return self._listing.unlisted(state)

    def why(self, state: State, command: Command) -> tuple[RequireReport, ...]:
        """Every require of a command as it stands, generated ones included if they fail."""
        return self._live.why(state, command)

    def ask(self, state: State, term: Term, was: State | None = None) -> Any:
        """The raw value of a term in a state; ``was`` is the start of the last tick."""
        known = self._terms.get(id(term))
        if known is None:
            known = self._terms[id(term)] = (term, compile_term(self.code, term))
        return known[1](state, was if was is not None else state, state.me)

    def reads(self, *terms: Term) -> frozenset[str] | None:
        """The fluents that terms depend on; ``None`` if on more than fluents."""
        return reads_of(self.instance.program, *terms)

    def name(self, state: State, number: int) -> str:
        """The present name of an object."""
        found: str = self.code.space["name_of"](state, state, state.me, number)
        return found

    def describe(self, state: State, number: int) -> str:
        """What `describe x` says now, or what is wrong with a number in it."""
        return self._live.describe(state, number)

    def score(self, state: State) -> int | float:
        """The score as a JSON number."""
        return number_json(self.stepper.endings.score(state, state.me))

    def _score(self, S: State, W: State, me: int | None) -> Any:
        total = self.stepper.endings.score(S, me)
        return int(total) if total.denominator == 1 else total

    def hash(self, state: State) -> str:
        """The state hash."""
        return state_hash(state)

    def same_facts(self, one: State, other: State) -> bool:
        """Whether objects, functions and relations are the same (not tick, seed, long actions)."""
        kinds = ({x: kind for x, kind in enumerate(s.kinds) if kind} for s in (one, other))
        return facts_hash(one) == facts_hash(other) and next(kinds) == next(kinds)

    def settled(self, state: State) -> Instance:
        """The instance with exactly the objects that live in a state: what planning starts from.

        Objects that were created have a declaration without fields; the dead keep their numbers
        and belong to no type.
        """
        return instance_of(state)

    def json(self, state: State) -> dict[str, Json]:
        """The state as ``tw-state/1``."""
        return state_json(state)

    def restored(self, found: Json, *, source: str = "the state") -> State:
        """The state that ``json`` shows; `Failure` (TW0006) where it does not fit the program."""
        return state_from_json(self.layout, found, source=source)
