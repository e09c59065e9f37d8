"""Intents of any form to resolved commands of the present state (language.md §8, step 2)."""

from __future__ import annotations

from collections.abc import Mapping

from tokenworld.engine import EngineSpeaker, State
from tokenworld.ground import Command, Json
from tokenworld.ground import NoMatch as _NoMatch
from tokenworld.prose import CallIntent, Intent, Parser, PassIntent, TypedIntent
from tokenworld.session.loading import OpenWorld

__all__ = ["AnyIntent", "Resolver", "intent_json"]

AnyIntent = str | Command | Intent


class Resolver:
    """Resolves intents for one world."""

    def __init__(self, world: OpenWorld) -> None:
        self._world = world
        self._parser = Parser(world.program)

    @property
    def parser(self) -> Parser:
        return self._parser

    def resolve(self, state: State, intent: AnyIntent) -> Command | _NoMatch:
        """The command an intent means now, or why it means none."""
        if isinstance(intent, Command):
            return intent
        actor = None if isinstance(intent, str) else intent.actor
        unknown = self._other_actor(actor)
        if unknown is not None:
            return unknown
        speaker = EngineSpeaker(self._world.engine, state)
        return self._parser.command(intent, speaker, self._world.world.ambiguous)

    def _other_actor(self, actor: str | None) -> _NoMatch | None:
        instance = self._world.instance
        known = None if instance.me is None else instance.names[instance.me]
        if actor in (None, known):
            return None
        here = f"`{known}` acts here." if known else "Nobody acts here."
        return _NoMatch(
            "no_such_object", f"`{actor}` cannot act. {here}", (known,) if known else ()
        )


def intent_json(intent: AnyIntent, actor: str | None, shown: Mapping[str, Json]) -> dict[str, Json]:
    """The stored form of an intent: enough to give it again.

    ``shown`` are the resolved arguments by name, used for a `Command`.
    """
    base: dict[str, Json] = {"format": "tw-intent/1", "actor": actor}
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
