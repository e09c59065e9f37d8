"""Simultaneous phases: all laws read the state that the phase began with (language.md §7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

from tokenworld.engine.agenda import Agenda, Standing
from tokenworld.engine.applying import apply, net
from tokenworld.engine.compile import Code, Function
from tokenworld.engine.delta import Breach, Delta
from tokenworld.engine.guards import Guards
from tokenworld.engine.luck import Luck
from tokenworld.engine.probe import compile_probe
from tokenworld.engine.result import Result
from tokenworld.engine.sequence import compile_turn
from tokenworld.engine.state import State
from tokenworld.ground import MANY, Instance, Raw, count_bindings, parameter_domains
from tokenworld.model import CollectionRange, Law, ObjectType

__all__ = ["Together"]

FEW = 64
"""Bindings up to which trying them all is quicker than to keep track of them."""


class Together:
    """A simultaneous phase. Of laws with many bindings it is kept from tick to tick for which of
    them the condition holds."""

    def __init__(
        self, instance: Instance, code: Code, guards: Guards, laws: tuple[Law, ...]
    ) -> None:
        self._instance, self._code, self._guards, self._laws = instance, code, guards, laws
        self._layout = code.emitter.layout
        self._turns: dict[str, Function] = {}
        kept = {law.name: one for law in laws if (one := self._standing(law))}
        self._agenda = Agenda(kept, self._layout.still)

    @property
    def laws(self) -> tuple[Law, ...]:
        """The laws of the phase, in order."""
        return self._laws

    @property
    def keeps_track(self) -> bool:
        """Whether it is kept for which bindings some law holds."""
        return bool(self._agenda.rules)

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
        kept = self._agenda.rules
        kept = kept if kept and self._agenda.follow(state, state.me) else {}
        for law in self._laws:
            try:
                if law.name in kept:
                    self._run_kept(law, kept[law.name], state, start, delta)
                else:
                    self._code.laws[law.name].run(state, start, state.me, delta)
            except Breach as breach:
                raise breach.blamed(f"law {law.name}") from None
        return delta

    def _run_kept(
        self, law: Law, standing: Standing, state: State, start: State, delta: Delta
    ) -> None:
        one, me = self._turns.get(law.name), state.me
        if one is None:
            one = self._turns[law.name] = compile_turn(self._code, law)
        for args in standing.true():
            one(state, start, me, delta, *args)

    # ---- keeping track ------------------------------------------------------------------------

    def _standing(self, law: Law) -> Standing | None:
        """``None`` where a law has few bindings, or its condition rests on more than slots."""
        if law.when is None or any(isinstance(one.domain, CollectionRange) for one in law.params):
            return None
        if not FEW <= count_bindings(self._domains(law, self._instance.members)) <= MANY:
            return None
        probe = compile_probe(self._code, law.params, [law.when])
        return None if probe is None else Standing(probe, partial(self._rows, law))

    def _rows(
        self, law: Law, state: State
    ) -> Sequence[tuple[tuple[Raw, ...], tuple[Raw, ...]]] | None:
        domains = self._domains(law, state.live)
        if count_bindings(domains) > MANY:
            return None
        return [(args, args) for args in product(*domains)]

    def _domains(self, law: Law, members: Mapping[str, Sequence[int]]) -> list[Sequence[Raw]]:
        """The candidates of each parameter; of objects, those that live."""
        return [
            members[binder.type.name] if isinstance(binder.type, ObjectType) else domain
            for binder, domain in zip(
                law.params, parameter_domains(self._instance, law.params), strict=True
            )
        ]
