"""Simultaneous phases: all laws read the state that the phase began with (language.md §7)."""

from __future__ import annotations

from tokenworld.engine.applying import apply, net
from tokenworld.engine.compile import Code
from tokenworld.engine.delta import Breach, Delta
from tokenworld.engine.guards import Guards
from tokenworld.engine.luck import Luck
from tokenworld.engine.result import Result
from tokenworld.engine.state import State
from tokenworld.model import Law

__all__ = ["Together"]


class Together:
    """A simultaneous phase."""

    def __init__(self, code: Code, guards: Guards, laws: tuple[Law, ...]) -> None:
        self._code, self._guards, self._laws = code, guards, laws
        self._layout = code.emitter.layout

    @property
    def laws(self) -> tuple[Law, ...]:
        """The laws of the phase, in order."""
        return self._laws

    def run(self, result: Result, state: State, start: State, luck: Luck) -> State:
        """The state after the phase; what its laws did and said goes to ``result``."""
        delta = self._asked(state, start, luck)
        if not delta.fired:
            return state
        after = state.fork()
        changes = apply(after, delta)
        self._guards.check_conserved(state, after, delta, changes, state.me)
        result.law_changes += net(changes)
        result.fired += delta.fired
        return after

    def _asked(self, state: State, start: State, luck: Luck) -> Delta:
        """What all laws ask for."""
        delta = Delta(self._layout, luck, state.seed, start.tick)
        for law in self._laws:
            try:
                self._code.laws[law.name].run(state, start, state.me, delta)
            except Breach as breach:
                raise breach.blamed(f"law {law.name}") from None
        return delta
