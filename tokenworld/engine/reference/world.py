"""The reference evaluator: one world, run slowly and as the language reference reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokenworld.core.nodes import Hole
from tokenworld.engine.reference.env import Env
from tokenworld.engine.reference.record import outcome
from tokenworld.engine.reference.shown import state_hash, state_json
from tokenworld.engine.reference.start import start_state
from tokenworld.engine.reference.tick import Round
from tokenworld.engine.reference.values import Fault, State, known_of
from tokenworld.engine.reference.words import Words
from tokenworld.ground import By, Command, Instance, Json, NoMatch, Prose, Raw


class Reference:
    """One world of a checked program. No method changes a state that it was given."""

    def __init__(self, instance: Instance, prose: Prose) -> None:
        self.instance = instance
        self.words = Words(known_of(instance), prose)
        self.round = Round(self.words)

    def start(self, seed: int = 0) -> State:
        """The start state; `Fault` if there is none."""
        return start_state(self.words, seed)

    def play(
        self, state: State, intent: Command | NoMatch, by: By = "player"
    ) -> tuple[State, tuple[dict[str, Json], ...]]:
        """The intent of the actor whose turn it is: the state it leaves, and its records."""
        records = self.round.intent(state, intent, by)
        try:
            return records[-1].after, tuple(outcome(self.words, one) for one in records)
        except Fault as fault:  # a text or the score has no value: the intent is in error
            records = self.round.dropped(records, state, fault)
            return records[-1].after, tuple(outcome(self.words, one) for one in records)

    def json(self, state: State) -> dict[str, Json]:
        """The state as ``tw-state/1``."""
        return state_json(self.words.known, state)

    def hash(self, state: State) -> str:
        """The state hash."""
        return state_hash(self.words.known, state)

    def legal(self, state: State) -> list[Command]:
        """Every command that would not be refused."""
        return self.round.legal(state)

    def describe(self, state: State, number: int) -> str:
        """The text of `describe x` now, or the message if a number in it has no value."""
        try:
            return self.words.described(number, Env(state, state, state.acting))
        except Fault as fault:
            return fault.text


class ReferenceSpeaker:
    """The questions of the resolver of typed words about one state (`ground.Speaker`)."""

    def __init__(self, reference: Reference, state: State) -> None:
        self._reference, self._state = reference, state
        self._words = reference.words
        self._env = Env(state, state, state.acting)

    @property
    def instance(self) -> Instance:
        return self._reference.instance

    @property
    def numbers(self) -> Mapping[str, int]:
        return {name: number for number, name in self._state.names.items()}

    def identifier(self, number: int) -> str:
        return self._state.names[number]

    def kind(self, number: int) -> str:
        return self._state.kinds.get(number, "")

    def in_scope(self, number: int) -> bool:
        return self._words.in_scope(number, self._env)

    def words_for(self, number: int) -> tuple[str, ...]:
        return self._words.words(number, self._env)

    def slot_texts(
        self, action: str, phrase: int, slot: int, args: Sequence[Raw]
    ) -> tuple[str, ...]:
        schema = self._words.rules.actions[action]
        slots = [part for part in schema.phrases[phrase].parts if isinstance(part, Hole)]
        names = {binder.name: arg for binder, arg in zip(schema.params, args, strict=True)}
        return (self._words.shown(slots[slot].term, self._env.only(names)),)

    def holds_all(self, command: Command) -> bool:
        """Whether every require of the command holds now: it would not be refused."""
        if command.is_pass:
            return True
        return self._reference.round.refusal(self._state, command) is None

    def candidates(self) -> Sequence[int]:
        return self._reference.round.candidates(self._state)
