"""The knowledge of a player about a state: all that depends on no secret (language.md §19).

Everything that is shown to a player passes through `Knowledge`: legal commands, refusals, records,
names, words, descriptions, the state. Without secrets it returns the engine's results unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final, TypeVar, cast

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.bindings import Listing
from tokenworld.engine.queries import Answers
from tokenworld.engine.rows.questions.asking import is_legal, reports, requires_held
from tokenworld.engine.rows.questions.possible_worlds import PossibleWorlds
from tokenworld.engine.rows.questions.speech import name_of
from tokenworld.engine.rows.stepper import Tick
from tokenworld.engine.state import State
from tokenworld.ground import Change, Command, Json, Outcome, Raw, Refusal, RequireReport
from tokenworld.ground.secrets import Secrets
from tokenworld.model import Action, Let, Require, slot_terms

HIDDEN: Final = "hidden"
"""Shown in place of a secret value."""

T = TypeVar("T")


class Knowledge:
    """The knowledge of a player about the states of one engine; all of it with ``everything``,
    which operators pass."""

    def __init__(self, engine: Answers, *, everything: bool = False) -> None:
        self._engine = engine
        self._program = engine.instance.program
        self.secrets = Secrets(self._program)
        self._open = everything or not self.secrets
        self._worlds: tuple[State, PossibleWorlds] | None = None
        self._may: dict[Command, bool] = {}

    @property
    def is_whole(self) -> bool:
        """Return whether nothing is hidden."""
        return self._open

    def worlds(self, state: State) -> PossibleWorlds:
        """The possible worlds of a state; kept for the last state."""
        if self._worlds is None or self._worlds[0] is not state:
            stepper = self._engine.searcher(state, fixed=False)
            self._worlds = (state, PossibleWorlds(stepper, state, self.secrets.fluents))
            self._may.clear()
        return self._worlds[1]

    def every(self, state: State, read: Callable[[Tick], T]) -> frozenset[T] | None:
        """All results that a reading may have; ``None`` where there are too many values."""
        if self._open:
            return frozenset((self._engine.asked(state, read),))
        return self.worlds(state).every(read)

    def some(self, state: State, test: Callable[[Tick], bool]) -> bool:
        """Return whether a test may hold."""
        return self._engine.asked(state, test) if self._open else self.worlds(state).some(test)

    # ---- commands -----------------------------------------------------------------------------

    def commands(self, state: State) -> Iterable[Command]:
        """Every command that may be executed, actions in order, then arguments in order."""
        return self._engine.legal(state) if self._open else self._commands(state)

    def _commands(self, state: State) -> Iterator[Command]:
        if self._engine.over(state):
            return
        sure: dict[str, list[Command]] = {}
        hidden = self._hidden_in(state)
        for command in self._engine.legal(state):
            if command.action not in hidden:
                sure.setdefault(command.action, []).append(command)
        for name in self._program.actions:
            yield from sure.get(name, ())
            if name in hidden:
                commands = (Command(name, args) for args in self.bindings(state, name) or ())
                yield from (one for one in commands if self.may(state, one))

    def may(self, state: State, command: Command) -> bool:
        """Return whether a command is executed for some values of the secrets' types."""
        if self._open or command.is_pass or command.action not in self._hidden_in(state):
            return self._engine.passes(state, command)
        worlds = self.worlds(state)
        if command not in self._may:
            self._may[command] = worlds.some(lambda tick: is_legal(tick, command))
        return self._may[command]

    def is_sure(self, state: State, command: Command) -> bool:
        """Return whether a command is legal, or illegal, for all values of the secrets."""
        if self._open:
            return True
        found = self.every(state, lambda tick: is_legal(tick, command))
        return found is not None and len(found) == 1

    def _hidden_in(self, state: State) -> frozenset[str]:
        """The actions whose commands depend on secrets: all, if breaking off the long action under
        way does."""
        long = state.long_of(state.acting) if state.longs else None
        actions = self._program.actions
        if long is not None and self.secrets.touched(actions[long.command.action].cancelled):
            return frozenset(actions)
        return self._hidden

    @cached_property
    def _hidden(self) -> frozenset[str]:
        secrets, breaks = self.secrets, self._engine.may_break
        return frozenset(
            name
            for name, one in self._program.actions.items()
            if secrets.guards(one) or (breaks(name) and secrets.changes(one))
        )

    @cached_property
    def lists_all(self) -> bool:
        """Return whether the legal commands depend on no secret."""
        actions = self._program.actions.values()
        cancelled = (self.secrets.touched(one.cancelled) for one in actions)
        return self._open or not (self._hidden or any(cancelled))

    @cached_property
    def _listing(self) -> Listing:
        return Listing(self._engine.instance, self._engine.layout, self.secrets.fluents)

    def bindings(self, state: State, name: str) -> Iterable[tuple[Raw, ...]] | None:
        """The bindings of an action that public facts allow, ``None`` for too many to list."""
        listing = self._engine if self._open else self._listing
        return listing.bindings(state, name)

    def unlisted(self, state: State) -> frozenset[str]:
        """Actions with too many bindings to list."""
        return self._engine.unlisted(state) if self._open else self._listing.unlisted(state)

    # ---- requires -----------------------------------------------------------------------------

    def why(self, state: State, command: Command) -> tuple[RequireReport, ...]:
        """Every require of a command that is not given yet, as far as a player may know it."""
        if self._open or command.is_pass:
            return self._engine.why(state, command)
        found = self._engine.asked(state, lambda tick: reports(tick, command, careful=True))
        guards = self._guards[command.action]
        hides = command.action in self._hidden_in(state)
        shown = [
            one if not hides else self._foreseen(state, command, guard, one)
            for guard, one in zip(guards, found, strict=False)
        ]
        shown = [_worded(one, guard) for guard, one in zip(guards, shown, strict=True)]
        if all(one.holds is not False for one in shown) and not self.may(state, command):
            shown += [one for one in self._engine.why(state, command) if one.generated]
        return tuple(shown)

    def _foreseen(
        self, state: State, command: Command, guard: _Guard, report: RequireReport
    ) -> RequireReport:
        """A require by its possible values; that it holds for some of them only is hidden."""

        def holds(tick: Tick) -> bool | None:
            found = requires_held(tick, command)
            return None if found is None else found[report.index]

        found = self.every(state, holds)
        known = next(iter(found)) if found is not None and len(found) == 1 else None
        hidden = found is None or len(found) > 1
        return replace(_without_secrets(report, guard), holds=known, hidden=hidden)

    @cached_property
    def _guards(self) -> Mapping[str, tuple[_Guard, ...]]:
        secrets = self.secrets
        return {
            name: tuple(
                _guard(secrets, one, secrets.lets(lets)) for one, lets in _guards_of(action)
            )
            for name, action in self._program.actions.items()
        }

    def hides(self, action: str, index: int) -> bool:
        """Return whether a require of an action reads secrets."""
        if self._open or index >= len(self._program.actions[action].requires):
            return not self._open and action in self._hidden
        return self._guards[action][index].hidden

    def depends_on_secrets(self, action: str) -> bool:
        """Return whether the status or the effect of an action depends on secrets."""
        return not self._open and self.secrets.rule(f"action {action}")

    # ---- records ------------------------------------------------------------------------------

    def outcome(self, outcome: Outcome) -> Outcome:
        """A record as players see it: without its changes of secrets."""
        if self._open:
            return outcome
        rule, events = self.secrets.rule, self.secrets.events
        return replace(
            outcome,
            refusal=None if outcome.refusal is None else self._refusal(outcome, outcome.refusal),
            changes=self._changes(outcome.changes),
            law_changes=self._changes(outcome.law_changes),
            discarded=self._changes(outcome.discarded),
            fired=tuple(one for one in outcome.fired if not rule(one.partition("(")[0])),
            events=tuple(
                (name, tuple(HIDDEN if (name, n) in events else one for n, one in enumerate(args)))
                for name, args in outcome.events
            ),
            draws=tuple(one for one in outcome.draws if not rule(one.rule)),
            breach=None if outcome.breach is None else self._breach(outcome.breach),
        )

    def _changes(self, changes: tuple[Change, ...]) -> tuple[Change, ...]:
        return tuple(one for one in changes if one.fluent not in self.secrets.fluents)

    def _refusal(self, outcome: Outcome, refusal: Refusal) -> Refusal:
        """Show the first false require with its text; of later ones only the part that depends on
        no secret."""
        guards = self._guards[outcome.action]
        pairs = zip(refusal.requires, (*guards, None), strict=False)
        return replace(refusal, requires=tuple(_as_shown(*pair, refusal.index) for pair in pairs))

    def _breach(self, breach: Mapping[str, Json]) -> Mapping[str, Json]:
        """Why a tick was rolled back, without the witness and the sums of a rule about secrets."""
        culprits = cast("list[str]", breach["culprits"])
        if not any(map(self.secrets.rule, (str(breach["rule"]), *culprits))):
            return breach
        kept = {key: value for key, value in breach.items() if key not in ("before", "after")}
        message = breach["message"]
        if "before" in breach:
            message = f"`{breach['rule']}` is conserved, and would change."
        return {**kept, "message": message, "witness": []}

    @property
    def hides_words(self) -> bool:
        """Return whether the words of typed commands depend on secrets."""
        return not self._open and self.secrets.words

    # ---- words --------------------------------------------------------------------------------

    def name(self, state: State, number: int) -> str:
        """The name of an object, or its identifier if the name depends on a secret."""
        if self._open or not self.secrets.named:
            return self._engine.name(state, number)
        found = self.every(state, lambda tick: name_of(tick, number))
        if found is not None and len(found) == 1:
            return next(iter(found))
        return state.names[number].replace("_", " ")

    # ---- the state ----------------------------------------------------------------------------

    def json(self, state: State) -> dict[str, Json]:
        """The state as ``tw-state/1`` without secret slots."""
        found = self._engine.json(state)
        if self._open:
            return found
        secret = self.secrets.fluents
        for kind in ("functions", "relations"):
            rows = cast("Mapping[str, Json]", found[kind])
            found[kind] = {name: one for name, one in rows.items() if name not in secret}
        objects = cast("list[dict[str, Json]]", found["objects"])
        found["objects"] = [self._object(one) for one in objects]
        return found

    def _object(self, found: dict[str, Json]) -> dict[str, Json]:
        kind = self._program.types[str(found["type"])]
        fluents = (self._program.fluents[one] for one in kind.attributes)
        secret = {one.name for one in fluents if one.secret}
        attrs = cast("Mapping[str, Json]", found["attrs"])
        shown = {**found, "attrs": {n: value for n, value in attrs.items() if n not in secret}}
        if "contents" in found and self._nests_secretly:
            shown["contents"] = []
        return shown

    @cached_property
    def _nests_secretly(self) -> bool:
        return any(one.nested and one.secret for one in self._program.fluents.values())


@frozen
class _Guard:
    """A require as players know it: whether it reads secrets, which of its atoms do, and whether
    its text may show one."""

    require: Require
    hidden: bool
    atoms: frozenset[str]
    says: bool


def _guards_of(action: Action) -> Iterator[tuple[Require, tuple[Let, ...]]]:
    """Each require of an action with the lets written before it."""
    lets: tuple[Let, ...] = ()
    for guard in action.guards:
        if isinstance(guard, Let):
            lets = (*lets, guard)
        else:
            yield guard, lets


def _guard(secrets: Secrets, require: Require, names: frozenset[str]) -> _Guard:
    atoms = frozenset(one.text for one in require.atoms if secrets.reads(one.term, names))
    text = () if require.text is None else slot_terms(require.text)
    hidden = secrets.reads(require.condition, names)
    return _Guard(require, hidden, atoms, secrets.says(text, names))


def _without_secrets(report: RequireReport, guard: _Guard) -> RequireReport:
    values = {
        text: HIDDEN if text in guard.atoms else value for text, value in report.values.items()
    }
    return replace(report, values=values)


def _worded(report: RequireReport, guard: _Guard) -> RequireReport:
    """A require that was not evaluated yet: its own text may show no secrets."""
    if report.hidden:
        return replace(report, text="It depends on what is hidden.")
    if report.holds is not True and guard.says:
        return replace(report, text=f"This needs: {guard.require.source}.")
    return report


def _as_shown(report: RequireReport, guard: _Guard | None, failed: int) -> RequireReport:
    """A require of a refused command; ``failed`` is the index of the one that is shown."""
    if guard is None or report.generated:
        return report
    shown = _without_secrets(report, guard)
    if report.index <= failed:
        return shown
    hidden = guard.hidden
    return _worded(replace(shown, holds=None if hidden else shown.holds, hidden=hidden), guard)
