"""Questions about the states of one world, which leave each state unchanged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from tokenworld.core import lowered
from tokenworld.engine.bindings import Listing
from tokenworld.engine.changes import Breach, never_refused
from tokenworld.engine.columns import Layout
from tokenworld.engine.rows.legal import Focus, focus_on
from tokenworld.engine.rows.live import LiveRow
from tokenworld.engine.rows.log import Row
from tokenworld.engine.rows.questions.asking import is_legal, reports
from tokenworld.engine.rows.questions.speech import name_of
from tokenworld.engine.rows.record import number_json
from tokenworld.engine.rows.stepper import RowStepper, Tick
from tokenworld.engine.saved.digest import facts_hash, state_hash, state_json
from tokenworld.engine.saved.restore import instance_of
from tokenworld.engine.state import LongAction, State
from tokenworld.ground import (
    Command,
    Instance,
    Json,
    NoMatch,
    Prose,
    Raw,
    RequireReport,
    call_text,
)
from tokenworld.model import Term

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tokenworld.engine.outcomes.distribution import Distribution, Scored
    from tokenworld.engine.searching.ticks import SearchStepper

T = TypeVar("T")

_MOST_SEARCHERS = 4
"""Layouts of rows that are kept for searches."""


class Answers:
    """Answers about the states of one compiled instance, which they leave as they are."""

    def __init__(self, instance: Instance, prose: Prose) -> None:
        self.instance = instance
        self.layout = Layout(instance)
        self.fixed_words: dict[tuple[int, str, str | None], tuple[str, ...]] = {}
        self._live = LiveRow(instance, self.layout, prose)
        self._prose = prose
        self._searchers: list[SearchStepper] = []
        self._listing = Listing(instance, self.layout)

    @cached_property
    def has_scopes(self) -> bool:
        """Return whether rules decide which objects may be named; else all that live may be."""
        program = self.instance.program
        return bool(program.scopes) or "sees" in program.derives

    @cached_property
    def word_columns(self) -> tuple[int, ...] | None:
        """The columns that decide, with who lives and who acts, the words for objects, their order
        and what may be named; ``None`` if more decides them."""
        rules, columns = lowered(self.instance.program), self.layout.by_id
        terms = [one.condition for one in rules.scopes]
        terms += [word for one in rules.called for word in (one.name, *one.aka)]
        terms += [word for one in rules.objects.values() for word in one.aka]
        terms += [one.value for name, one in rules.derives.items() if name == "sees"]
        found = rules.footprint(terms)
        if found.asks - {"id"} or found.draws:
            return None
        nested = {one.index for one in self.layout.columns if one.fluent.nested}
        return tuple(nested | {columns[one].index for one in found.read})

    @cached_property
    def words_last(self) -> bool:
        """Return whether no rule computes the words for objects, their order or what may be
        named, so that the same objects have the same words in every state."""
        ruled = self.instance.program.called or self.has_scopes
        nested = any(one.fluent.nested for one in self.layout.columns)
        return not (ruled or nested or any(one.aka for one in self.instance.decls))

    def on_row(self, state: State, work: Callable[[RowStepper, Row], T]) -> T:
        """Return the result of `work` on the row of a state; it must leave the row as it was."""
        return self._live.on_row(state, work)

    def asked(self, state: State, read: Callable[[Tick], T]) -> T:
        """Evaluate `read` on a tick of `state` without executing the tick."""
        return self._live.on_row(state, lambda stepper, row: read(stepper.asking(row)))

    def over(self, state: State) -> bool:
        """Return whether later intents are halted."""
        return state.latched != () and not self.instance.world.endless

    def reached(self, state: State) -> tuple[str, ...]:
        """The endings reached so far; with live outcomes, the one that is true now."""
        if self.instance.world.outcomes != "live":
            return state.latched
        return self._live.on_row(state, lambda stepper, row: stepper.goals.reached(row.S))

    def distribution(
        self, state: State, command: Command | NoMatch, most: int = 10_000
    ) -> Distribution:
        """The possible outcomes of a command, at most ``most``, the likeliest, with exact
        probabilities. Raises `Failure` (TW1201) if a real number is drawn."""
        from tokenworld.engine.outcomes.distribution import distribution

        return self.on_row(
            state, lambda stepper, row: distribution(stepper, row, state, command, most)
        )

    def logp(
        self, state: State, command: Command | NoMatch, seen: State,
        fields: Collection[str] | None = None, most: int = 10_000,
    ) -> Scored:  # fmt: skip
        """The log probability that a command leads to an observed state, compared by the fluents of
        ``fields`` only if given. Raises `Failure` (TW1201, TW1202) if it cannot be computed."""
        from tokenworld.engine.outcomes.distribution import Evidence

        def scored(stepper: RowStepper, row: Row) -> Scored:
            return Evidence.of(stepper, row, state, command, seen, fields, most).scored()

        return self.on_row(state, scored)

    def columns(self, state: State, names: Iterable[str]) -> dict[str, NDArray[Any]]:
        """The values of fluents as arrays by their ids; see `engine.arrays`. Needs numpy."""
        from tokenworld.engine.arrays import columns_of

        return columns_of(state, names)

    def legal(self, state: State) -> list[Command]:
        """Every command whose requires all hold, actions in order, then arguments in order; none
        of an action with too many bindings.

        Requires that the language adds (ranges) are tested too, with the draws of the seed. The
        same command as a long action under way is among them: it continues it.
        """
        return self._live.listed(state, lambda legal, row: legal.commands(row))

    def focus(self, state: State, number: int) -> Focus:
        """The legal commands that name an object, found without listing all legal commands."""
        return self._live.listed(state, lambda legal, row: focus_on(legal, row, number))

    def passes(self, state: State, command: Command) -> bool:
        """Return whether a command is neither refused nor an error of a number in its requires."""
        return self.asked(state, lambda tick: is_legal(tick, command))

    def may_break(self, name: str) -> bool:
        """Return whether a require that the language adds may refuse an action."""
        return not never_refused(lowered(self.instance.program))[name]

    def bindings(self, state: State, name: str) -> Iterable[tuple[Raw, ...]] | None:
        """The bindings of an action that its static facts allow, ``None`` for too many to list."""
        return self._listing.bindings(state, name)

    def searcher(self, state: State, *, fixed: bool = True) -> SearchStepper:
        """The stepper for searches that begin in a state with this population and these unchanging
        facts."""
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
        """Reports on every require of a command; on a generated one only if it fails."""
        return self.asked(state, lambda tick: reports(tick, command))

    def ask(self, state: State, term: Term, was: State | None = None) -> Any:
        """The raw value of a term in a state; ``was`` is the start of the last tick."""

        def value(stepper: RowStepper, row: Row) -> Any:
            S = row.S
            began = S if was is None else stepper.slots.past(was, S)
            return stepper.code.value(term)(S, began, stepper.me)

        return self.on_row(state, value)

    def name(self, state: State, number: int) -> str:
        """The present name of an object."""
        return self.asked(state, lambda tick: name_of(tick, number))

    def describe(self, state: State, number: int) -> str:
        """The text of `describe x` now, or the message if a number in it has no value."""

        def described(tick: Tick) -> str:
            S = tick.row.S
            try:
                return str(tick.code.space["described"](S, S, tick.acting, number))
            except Breach as breach:
                return breach.message

        return self.asked(state, described)

    def score(self, state: State) -> int | float:
        """The score as a JSON number."""

        def scored(stepper: RowStepper, row: Row) -> int | float:
            return number_json(stepper.code.score(row.S, row.S, stepper.me))

        return self.on_row(state, scored)

    def call(self, state: State, command: Command) -> str:
        """A command as a call: ``take(brass_key)``."""
        return call_text(self.instance.program, state.names, command)

    def running(self, state: State) -> LongAction | None:
        """The long action of the actor whose turn it is, if one is under way."""
        return state.long_of(state.acting)

    def hash(self, state: State) -> str:
        """The state hash."""
        return state_hash(state)

    def same_facts(self, one: State, other: State) -> bool:
        """Return whether objects and facts are the same (not tick, seed, long actions)."""
        kinds = ({x: kind for x, kind in enumerate(s.kinds) if kind} for s in (one, other))
        return facts_hash(one) == facts_hash(other) and next(kinds) == next(kinds)

    def settled(self, state: State) -> Instance:
        """The instance with exactly the objects that live in a state, from which planning starts.

        Objects that were created have a declaration without fields; the dead keep their numbers
        and belong to no type.
        """
        return instance_of(state)

    def json(self, state: State) -> dict[str, Json]:
        """The state as ``tw-state/1``."""
        return state_json(state)
