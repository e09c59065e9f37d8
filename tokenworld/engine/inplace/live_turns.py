"""Ticks in place for worlds whose laws act in turn (see `live` and `sequence`).

Actions and laws write to the state itself, without records. What undoes a tick is its journal, the
lists of children that were replaced (in an ordered container the place of a thing is no value of a
slot), and who there was before births. Where a rule looks back at the start of the tick, the state
before is kept as a fork instead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.applying import net
from tokenworld.engine.clock import deciding_terms
from tokenworld.engine.compile import Function
from tokenworld.engine.delta import Breach, Delta, RawChange
from tokenworld.engine.endings import Endings
from tokenworld.engine.growing import Roll, shrink
from tokenworld.engine.inplace.turning import Kept, Turning
from tokenworld.engine.inplace.waking import ALWAYS, POPULATION, TIME, bits_of
from tokenworld.engine.luck import Luck
from tokenworld.engine.plain import plain_of, quiet_of
from tokenworld.engine.sequence import InTurn
from tokenworld.engine.state import ROLL, State
from tokenworld.engine.step import Stepper
from tokenworld.ground import Command
from tokenworld.model import calls, looks_back

__all__ = ["Turned", "Turns", "turn_back", "turns_of"]


Turned = tuple[list[RawChange], list[tuple[int, Any, Any]], tuple[str, ...], tuple[int, ...]]
"""What undoes a tick in place: its changes as they were made, the log of what they do not tell (see
`State`), what was latched and awarded."""


def turn_back(state: State, turned: Turned) -> None:
    """Let a state be as it was before a tick; whoever asks tells its trail of the changes."""
    journal, log, state.latched, state.awarded = turned
    columns, size = state.layout.columns, len(state.kinds)
    roll: Roll | None = next((one[1] for one in log if one[0] == ROLL), None)
    if roll is not None:
        size = roll.size
    for column, key, old, _, _ in reversed(journal):
        if column.index < 0 or (column.by_object and key >= size):  # type: ignore[operator]
            continue  # that somebody began to exist
        stored = state.to_write(column)
        if column.tupled and old == column.default:
            stored.pop(key, None)
        else:
            stored[key] = old
    for index, parent, children in reversed(log):
        if index != ROLL:
            state.to_write(columns[index])
            state.kids[index][parent] = children
    if roll is not None:
        shrink(state, roll)


class _Act(NamedTuple):
    """How an action writes: its function, whether it needs a `Delta`, the bits that it touches."""

    do: Function
    speaks: bool
    touches: int


@frozen
class Turns:
    """The plain actions of a world, and its phases. ``always``: time passes after refusals too.
    ``ends`` are the bits on which endings and awards rest; ``looks_back``: a rule reads the state
    at the start of the tick."""

    actions: dict[str, _Act]
    phases: tuple[Turning, ...]
    endings: Endings
    ends: int
    always: bool
    looks_back: bool

    def kept(self) -> list[Kept]:
        """What a world that begins to play keeps of each phase."""
        return [phase.kept() for phase in self.phases]

    def play(
        self, state: State, before: State, kept: list[Kept], command: Command, luck: Luck
    ) -> tuple[int, list[RawChange], Turned]:
        """Play a tick in ``state``; ``before`` is what rules see as its start. 1 and what changed;
        0 where the command was refused; -1, and the tick is to be undone, where it is to be played
        the general way."""
        journal: list[RawChange] = []
        log: list[tuple[int, Any, Any]] = []
        state.log = log
        turned = (journal, log, state.latched, state.awarded)
        try:
            done, touched = self._act(state, command, luck, journal)
            if done < 0 or (done == 0 and not self.always):
                return done, journal, turned
            changes = journal
            touched = touched | TIME if journal or log else TIME
            written = self.ends if kept[0].written == ALWAYS else touched
            for own in kept:
                own.written |= touched
            for phase, own in zip(self.phases, kept, strict=True):
                if own.written & own.wakes:
                    began = len(journal)
                    writers = phase.run(state, before, own, luck, journal)
                    if writers < 0:
                        return -1, journal, turned
                    if writers:
                        changes = _told(changes, journal, began, writers)
                    written |= own.written
                    _hand_on(kept, own)
                else:
                    phase.rest(own)
            state.tick += 1
            if state.memo:
                state.memo.clear()
            if written & self.ends:
                self.endings.progress(state, state.me)
        except Breach:
            return -1, journal, turned
        finally:
            state.log = None
        return done, changes, turned

    def _act(
        self, state: State, command: Command, luck: Luck, journal: list[RawChange]
    ) -> tuple[int, int]:
        """1 and the bits that the action touches; 0 where it is refused, -1 where it is not
        plain."""
        if command.action == "":
            return 1, 0
        act = self.actions.get(command.action)
        if act is None:
            return -1, 0
        do, speaks, touches = act
        delta = Delta(state.layout, luck, 0, 0) if speaks else None
        return do(state, state, state, state.me, journal, delta, *command.args), touches


def _told(
    changes: list[RawChange], journal: list[RawChange], began: int, writers: int
) -> list[RawChange]:
    """All changes as they are told after a phase: each slot once for it, which is so where only one
    law wrote."""
    if writers == 1:
        return changes if changes is journal else [*changes, *journal[began:]]
    earlier = journal[:began] if changes is journal else changes
    return [*earlier, *net(journal[began:])]


def _hand_on(kept: list[Kept], own: Kept) -> None:
    """Let the other phases know what one wrote."""
    for other in kept:
        if other is not own:
            other.written |= own.written


def turns_of(stepper: Stepper) -> Turns | None:
    """How ticks are made in place; ``None`` where no laws act in turn, or something else is looked
    at in each tick: watches, invariants, sums, what was done, phases of another kind."""
    phases = tuple(one for one in stepper.phases if isinstance(one, InTurn))
    program = stepper.instance.program
    looked_at = program.watches or program.invariants or program.conserves
    if not phases or len(phases) < len(stepper.phases) or looked_at:
        return None
    terms = deciding_terms(stepper.instance)
    if calls(terms, "did", "busy"):
        return None
    code, layout = stepper.code, stepper.layout
    found = {name: _act_of(stepper, name) for name in code.actions}
    reads = stepper.endings.reads()
    return Turns(
        {name: act for name, act in found.items() if act is not None},
        tuple(Turning(code, phase) for phase in phases),
        stepper.endings,
        ALWAYS if reads is None else bits_of(layout, reads) | POPULATION if reads else 0,
        stepper.instance.world.time_always,
        looks_back(terms),
    )


def _act_of(stepper: Stepper, name: str) -> _Act | None:
    action = stepper.code.actions[name].action
    plain = plain_of(stepper.code, action)
    if plain is None:
        return None
    quiet = quiet_of(stepper.code, action)
    touches = bits_of(stepper.layout, plain.touches)
    return _Act(quiet or plain.do, plain.speaks and quiet is None, touches)
