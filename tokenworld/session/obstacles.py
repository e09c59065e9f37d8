"""The obstacles of a command: each failed require, since when and by which rule it fails.

`helps` names a command that would lift one.

The rule is found by asking again: a change is the cause if the require holds once it alone is taken
back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tokenworld.core import lowered
from tokenworld.core.nodes import Term
from tokenworld.engine import Engine, State
from tokenworld.engine.rows.questions import asking
from tokenworld.engine.rows.questions.why import guards_of
from tokenworld.engine.rows.stepper import Tick
from tokenworld.ground import Change, Command, Json, Outcome, Raw, read_value
from tokenworld.session.moments import Moment
from tokenworld.session.session import Session

_TRIED = 200
"""So many commands are tried for one that lifts an obstacle."""

Turns = dict[tuple[Command, int, int | None], tuple[Moment, int, int | None]]
"""For each require of a command, asked for an actor: the last moment looked at, its number, and the
number of the moment that made the require false. A caller keeps it for a session."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A require that fails. ``since`` is the tick in which it became false, ``None`` if it was
    false in every moment that the session remembers, from its start if ``whole``; ``asked`` is what
    was asked then, ``causes`` are the changes that did it.
    """

    index: int
    since: int | None
    asked: str
    causes: tuple[Change, ...]
    whole: bool = True

    def to_json(self) -> dict[str, Json]:
        """The ``since`` of a require in ``tw-refusal/1``."""
        return {
            "tick": self.since,
            "from_start": self.since is None and self.whole,
            "asked": self.asked,
            "changes": [one.to_json() for one in self.causes],
        }


def requires_held(engine: Engine, state: State, command: Command) -> tuple[bool | None, ...]:
    """Evaluate the requires of a command for the actor whose turn it is, in written order."""

    def read(tick: Tick) -> tuple[bool | None, ...]:
        found = asking.requires_held(tick, command)
        return asking.requires_held_now(tick, command) if found is None else found

    return engine.asked(state, read)


def holds_in(engine: Engine, state: State, command: Command, index: int) -> bool:
    """Return whether one require of a command holds; false where it has no value."""
    return requires_held(engine, state, command)[index] is True


def command_of(session: Session, moment: Moment, outcome: Outcome) -> Command | None:
    """The command of a record; ``None`` where its text named none."""
    program = session.world.program
    if outcome.action not in program.actions:
        return None
    params = program.actions[outcome.action].params
    numbers = moment.state.numbers
    args = (read_value(program, numbers, one.type, outcome.args[one.name]) for one in params)
    return Command(outcome.action, tuple(args))


def completed(session: Session, moment: Moment, outcome: Outcome) -> str | None:
    """The words of the long action that a record completed; ``None`` where it completed none."""
    if outcome.progress is None or outcome.status != "executed":
        return None
    command = command_of(session, moment, outcome)
    return None if command is None else session.text_of(command)


def obstacles(
    session: Session,
    command: Command,
    moments: Sequence[Moment] | None = None,
    turns: Turns | None = None,
) -> dict[int, Obstacle]:
    """Each failed require of a command by its index, in the last state of ``moments``.

    Requires that the language adds are left out: they forbid an effect of the command itself.
    ``turns`` keeps from call to call how far the past was looked at.
    """
    past = session.moments if moments is None else moments
    if command.is_pass:
        return {}
    found: dict[int, Obstacle] = {}
    for index, holds in enumerate(requires_held(session.engine, past[-1].state, command)):
        if holds is True or session.known.hides(command.action, index):
            continue
        if holds is False or not found:  # after a failed one, others may have no value
            asking = _Asking(session, command, index, past)
            found[index] = asking.obstacle({} if turns is None else turns)
    return found


def helps(session: Session, command: Command, index: int) -> str | None:
    """A command, in words, that can be given now, and after which a require of another holds."""
    return _Asking(session, command, index, session.moments).helps()


@dataclass(frozen=True, slots=True)
class _Asking:
    session: Session
    command: Command
    index: int
    moments: Sequence[Moment]

    def obstacle(self, turns: Turns) -> Obstacle:
        turned = self._turned_by(turns)
        if turned is None:
            return Obstacle(self.index, None, "", (), self.session.remembers)
        before, moment = self.moments[turned - 1], self.moments[turned]
        causes = tuple(self._causes(before.state, moment))
        return Obstacle(self.index, moment.outcomes[0].tick, moment.asked, causes)

    def _holds(self, state: State) -> bool:
        return holds_in(self.session.engine, state, self.command, self.index)

    def _turned_by(self, turns: Turns) -> int | None:
        """The number of the moment that made it false; ``None`` if it never held."""
        last = len(self.moments) - 1
        key = (self.command, self.index, self.moments[last].state.acting)
        turned = self._turned(turns.get(key))
        turns[key] = (self.moments[last], last, turned)
        return turned

    def _turned(self, known: tuple[Moment, int, int | None] | None) -> int | None:
        """The same; ``known`` is the answer of an earlier moment, if that is in the past."""
        who = self.moments[-1].state.acting
        later = len(self.moments) - 1
        for number in range(len(self.moments) - 1, -1, -1):
            if known is not None and number == known[1] and self.moments[number] is known[0]:
                return known[2]
            state = self.moments[number].state
            if not self._known(state):
                return None
            if state.acting != who:
                continue
            if self._holds(state):
                return later
            later = number
        return None

    def _known(self, state: State) -> bool:
        """Return whether every object of the command is there."""
        action = self.session.world.program.actions[self.command.action]
        objects = (
            value
            for binder, value in zip(action.params, self.command.args, strict=True)
            if binder.type.kind == "object" and isinstance(value, int)
        )
        return all(one < len(state.kinds) and state.alive(one) for one in objects)

    # ---- causes -----------------------------------------------------------------------------

    def _causes(self, before: State, moment: Moment) -> Iterator[Change]:
        """The changes that each alone made it false; else all values that it reads."""
        changes = [
            change
            for outcome in moment.outcomes
            for change in (*outcome.changes, *outcome.law_changes)
        ]
        alone = [one for one in changes if self._holds(self._without(before, moment.state, one))]
        yield from alone or self._read(changes)

    def _without(self, before: State, after: State, change: Change) -> State:
        """The state with one slot as it was before."""
        program = self.session.world.program
        column = self.session.engine.layout.by_id[change.fluent]
        params = program.fluents[change.fluent].params
        args: tuple[Raw, ...] = tuple(
            read_value(program, after.numbers, binder.type, value)
            for binder, value in zip(params, change.args, strict=True)
        )
        state = after.fork()
        state.put(column, column.key(args), before.get(column, column.key(args)))
        state.facts = None
        return state

    def _read(self, changes: Sequence[Change]) -> Iterator[Change]:
        read = self.reads()
        yield from (one for one in changes if read is None or one.fluent in read)

    def reads(self) -> frozenset[str] | None:
        rules = lowered(self.session.world.program)
        require, lets = list(guards_of(rules.actions[self.command.action]))[self.index]
        known = (one.value for one in lets if isinstance(one.value, Term))
        read = rules.footprint((require.condition, *known))
        return None if read.asks - {"id"} else read.read

    # ---- a way out --------------------------------------------------------------------------

    def helps(self) -> str | None:
        """A command that can be given now, after whose tick the require holds."""
        session, state = self.session, self.moments[-1].state
        if len(state.actors) > 1 or session.ended():
            return None
        if not session.known.is_whole and session.known.secrets.laws:
            return None  # the effects of time may depend on secrets
        simulator = session.simulator()
        for command in islice(self._helpful(state), _TRIED):
            ends = [one.state for one in simulator.successors(state, command)]
            if ends and all(self._known(end) and self._holds(end) for end in ends):
                return session.text_of(command)
        return None

    def _helpful(self, state: State) -> Iterator[Command]:
        """List the legal commands that write something the require reads; those about the same
        objects comes first."""
        read, known = self.reads(), self.session.known
        writing = {
            name
            for name, action in lowered(self.session.world.program).actions.items()
            if read is None or action.footprint.may_change(read)
        }
        found = [
            one
            for one in self.session.engine.legal(state)
            if one.action in writing and not known.depends_on_secrets(one.action)
        ]
        found.sort(key=lambda one: not set(one.args) & set(self.command.args))
        return iter(found)


def may_come_true(session: Session, command: Command) -> bool:
    """Return whether play could make a refused command legal, as far as the rules alone tell.

    It cannot where static facts exclude the arguments, or where a failed require reads nothing
    that changes.
    """
    fluents = session.world.program.fluents
    listed = session.known.bindings(session.state, command.action)
    if listed is not None and command.args not in listed:
        return False
    for index, holds in enumerate(requires_held(session.engine, session.state, command)):
        if holds is False and not session.known.hides(command.action, index):
            read = _Asking(session, command, index, session.moments).reads()
            return read is None or not all(fluents[one].static for one in read)
    return True
