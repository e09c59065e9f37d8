"""Intents of any form to resolved commands of the present state (language.md §8, step 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from tokenworld.engine import EngineSpeaker, State
from tokenworld.ground import Command, Json
from tokenworld.ground import NoMatch as _NoMatch
from tokenworld.prose.commands import Parser
from tokenworld.prose.intents import CallIntent, Intent, PassIntent, TypedIntent
from tokenworld.prose.lexicon import Lexicon, Meanings, Vocabulary
from tokenworld.prose.matching import command_texts
from tokenworld.session.loading import OpenWorld
from tokenworld.session.moments import LegalCommand

AnyIntent = str | Command | Intent

_VOCABULARIES = 64
"""Vocabularies of states whose meanings are kept: a place, or a thing with another name, each."""


class Resolver:
    """Resolves intents for one world."""

    def __init__(self, world: OpenWorld) -> None:
        self._world = world
        self._parser = Parser(world.program)
        self._last: tuple[State, EngineSpeaker, Lexicon] | None = None
        self._meanings: dict[Vocabulary, Meanings] = {}

    def lexicon(self, state: State) -> Lexicon:
        """The lexicon of a state, cached for the last state."""
        last = self._last
        if last is not None and last[0] is state:
            return last[2]
        speaker = EngineSpeaker(self._world.engine, state)
        if last is not None and speaker.says_as(last[1]):
            lexicon = last[2].told_by(speaker)
        else:
            lexicon = Lexicon(speaker)
            if len(self._meanings) >= _VOCABULARIES:
                self._meanings.clear()
            lexicon.share(self._meanings)
        self._last = (state, speaker, lexicon)
        return lexicon

    def is_at(self, state: State) -> bool:
        """Return whether the lexicon of a state is at hand."""
        return self._last is not None and self._last[0] is state

    def text_of(self, state: State, command: Command) -> str:
        """The words of a command in a state. Where rules decide words, those of one command are
        read alone."""
        engine = self._world.engine
        shared = engine.words_last or self.is_at(state)
        lexicon = self.lexicon(state) if shared else Lexicon(EngineSpeaker(engine, state))
        return command_texts((command,), self._world.program, lexicon.speaker, lexicon)[0]

    def listed(self, state: State, commands: Iterable[Command]) -> tuple[LegalCommand, ...]:
        """Commands of a state as calls and as words, kept while the words are the same."""
        lexicon = self.lexicon(state)
        known, found = lexicon.meanings.shown, list[LegalCommand]()
        for one in commands:
            shown = known.get(one)
            if shown is None:
                call = self._world.engine.call(state, one)
                shown = known[one] = LegalCommand(one, call, self.text_of(state, one))
            found.append(shown)
        return tuple(found)

    def resolve(self, state: State, intent: AnyIntent) -> Command | _NoMatch:
        """The command an intent means now, or why it means none."""
        if isinstance(intent, Command):
            return intent
        other = self._other_actor(state, named_actor(intent))
        if other is not None:
            return other
        lexicon = self.lexicon(state)
        policy = self._world.world.ambiguous
        return self._parser.command(intent, lexicon.speaker, policy, lexicon)

    def _other_actor(self, state: State, actor: str | None) -> _NoMatch | None:
        """Return the message for an intent of an actor whose turn it is not."""
        known = None if state.acting is None else state.names[state.acting]
        if actor is None or actor == known:
            return None
        here = f"`{known}` acts here." if known else "Nobody acts here."
        what = f"`{actor}` cannot act. {here}"
        if len(state.actors) > 1:
            takes_turns = actor in (state.names[one] for one in state.actors)
            here = f"It is the turn of `{known}`"
            what = f"`{actor}` takes no turns. {here}."
            if takes_turns:
                what = f"{here}, not of `{actor}`."
        return _NoMatch("no_such_object", what, (known,) if known else (), out_of_turn=True)


def named_actor(intent: AnyIntent) -> str | None:
    """The actor that an intent names itself."""
    return None if isinstance(intent, (str, Command)) else intent.actor


def halt_json(actor: str | None, cause: str) -> dict[str, Json]:
    """The JSON stored in place of an intent where the runner stopped."""
    return {"format": "tw-intent/1", "actor": actor, "halt": cause}


def intent_json(intent: AnyIntent, actor: str | None, shown: Mapping[str, Json]) -> dict[str, Json]:
    """The stored form of an intent: enough to give it again.

    ``actor`` is whose turn it is, used where the intent names nobody; ``shown`` are the resolved
    arguments by name, used for a `Command`.
    """
    base: dict[str, Json] = {"format": "tw-intent/1", "actor": named_actor(intent) or actor}
    match intent:
        case str() as text:
            return {**base, "text": text}
        case TypedIntent(text=text):
            return {**base, "text": text}
        case PassIntent():
            return {**base, "pass": True}
        case CallIntent(action=action, args=args):
            return {**base, "action": action, "args": dict(args)}
        case Command() if intent.is_pass:
            return {**base, "pass": True}
        case Command(action=action):
            return {**base, "action": action, "args": dict(shown)}
        case _:
            assert_never(intent)
