"""Ticks in place for worlds whose laws act in turn (see `live` and `sequence`).

A journal cannot undo such a tick: laws may create objects, and in an ordered container the place
of a thing is no value of a slot. So the state before is kept as a fork, which costs little, and
actions and laws write to the state itself, without records.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.engine.clock import deciding_terms
from tokenworld.engine.delta import Breach, Delta, RawChange
from tokenworld.engine.endings import Endings
from tokenworld.engine.luck import Luck
from tokenworld.engine.plain import Plain, plain_of
from tokenworld.engine.sequence import InTurn
from tokenworld.engine.state import State
from tokenworld.engine.step import Stepper
from tokenworld.ground import Command
from tokenworld.model import BuiltinCall, subterms

__all__ = ["Turns", "turns_of"]


@dataclass(frozen=True, slots=True)
class Turns:
    """The plain actions of a world, and its phases. ``always``: time passes after refusals too."""

    actions: dict[str, Plain]
    phases: tuple[InTurn, ...]
    endings: Endings
    always: bool

    def play(
        self, state: State, before: State, command: Command, luck: Luck
    ) -> tuple[int, list[RawChange]]:
        """Play a tick in ``state``, which is equal to ``before`` and nobody else's. 1 and what
        changed; 0 where the command was refused; -1, and the state is of no use, where it is to be
        played the general way."""
        try:
            done, changes = self._act(state, command, luck)
            if done < 0 or (done == 0 and not self.always):
                return done, []
            for phase in self.phases:
                made = phase.in_place(state, before, luck)
                if made is None:
                    return -1, []
                changes = [*changes, *made] if made else changes
            state.tick += 1
            if state.memo:
                state.memo.clear()
            self.endings.progress(state, state.me)
        except Breach:
            return -1, []
        return done, changes

    def _act(self, state: State, command: Command, luck: Luck) -> tuple[int, list[RawChange]]:
        changes: list[RawChange] = []
        if command.is_pass:
            return 1, changes
        plain = self.actions.get(command.action)
        if plain is None:
            return -1, changes
        delta = Delta(state.layout, luck, 0, 0) if plain.speaks else None
        done: int = plain.do(state, state, state, state.me, changes, delta, *command.args)
        if changes:
            state.trail.journal(changes)
        return done, changes


def turns_of(stepper: Stepper) -> Turns | None:
    """How ticks are made in place; ``None`` where no laws act in turn, or something else is looked
    at in each tick: watches, invariants, sums, what was done, phases of another kind."""
    phases = tuple(one for one in stepper.phases if isinstance(one, InTurn))
    program = stepper.instance.program
    looked_at = program.watches or program.invariants or program.conserves
    if not phases or len(phases) < len(stepper.phases) or looked_at:
        return None
    if any(
        isinstance(part, BuiltinCall) and part.name in ("did", "busy")
        for term in deciding_terms(stepper.instance)
        for part in subterms(term)
    ):
        return None
    found = {name: plain_of(stepper.code, one.action) for name, one in stepper.code.actions.items()}
    actions = {name: plain for name, plain in found.items() if plain is not None}
    always = stepper.instance.world.time_always
    return Turns(actions, phases, stepper.endings, always)
