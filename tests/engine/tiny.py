"""Small worlds written in the language, played tick by tick."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenworld.diagnostics import Source
from tokenworld.engine import State
from tokenworld.engine.rows.stepper import Tick
from tokenworld.ground import Command, Outcome, show_value
from tokenworld.model import CollectionType
from tokenworld.prose.intents import CallIntent, TypedIntent
from tokenworld.session import OpenWorld, Session, open_world
from tokenworld.session.intents import AnyIntent
from tokenworld.session.loading import open_text

__all__ = ["DOMAINS", "Game", "domain", "play"]

DOMAINS = Path(__file__).parents[2] / "domains"


@dataclass
class Game:
    """A session with short methods for the tests."""

    session: Session

    @property
    def state(self) -> State:
        return self.session.state

    def records(self, intent: AnyIntent) -> tuple[Outcome, ...]:
        """Every record of one intent; a text such as ``take(lamp)`` is typed."""
        return self.session.intend(intent)

    def do(self, intent: AnyIntent) -> Outcome:
        """The last record of an intent."""
        return self.records(intent)[-1]

    def all(self, *intents: AnyIntent) -> Outcome:
        """Several intents, each of which is executed; the last record."""
        for intent in intents:
            last = self.do(intent)
            assert last.status == "executed", (intent, last)
        return last

    def get(self, slot: str) -> Any:
        """A stored value in exchange form: ``lamp.at``, ``sky()``, ``carried(hero, wood)``."""
        found = self.session.state_json()
        if "." in slot:
            owner, name = slot.split(".")
            objects: Any = found["objects"]
            return next(one for one in objects if one["name"] == owner)["attrs"][name]
        name, _, rest = slot.rstrip(")").partition("(")
        args = [part.strip() for part in rest.split(",") if part.strip()]
        functions: Any = found["functions"]
        relations: Any = found["relations"]
        if name in relations:
            return args in relations[name]
        rows = [value for given, value in functions[name] if list(map(str, given)) == args]
        return rows[0] if rows else None

    def ask(self, derive: str, *names: str) -> Any:
        """The value of a derive for objects by name, in exchange form."""
        engine = self.session.engine
        instance = engine.instance
        found = instance.program.derives[derive]
        args = [instance.numbers[name] for name in names]

        def value(tick: Tick) -> Any:
            S = tick.row.S
            return tick.code["derive", derive](S, S, tick.of.me, *args)

        raw = engine.asked(self.state, value)
        kind = found.type
        if isinstance(kind, CollectionType):
            return [show_value(instance.program, instance.names, kind.element, one) for one in raw]
        return show_value(instance.program, instance.names, kind, raw)

    def contents(self, name: str) -> list[str]:
        """The `contents` of an object, in order."""
        objects: Any = self.session.state_json()["objects"]
        return list(next(one for one in objects if one["name"] == name)["contents"])

    @property
    def hash(self) -> str:
        return self.session.engine.hash(self.state)


def open_tiny(text: str, name: str = "w") -> OpenWorld:
    return open_text((Source("t.tw", None, text),), name)


def play(text: str, seed: int = 0, name: str = "w") -> Game:
    """The start of the world ``w`` of a program."""
    return Game(Session(open_tiny(text, name), seed))


def domain(name: str, seed: int = 0) -> Game:
    """The start of one of the four worlds."""
    return Game(Session(open_world(str(DOMAINS / name / "world.tw")), seed))


def call(action: str, **args: Any) -> CallIntent:
    return CallIntent(action, args)


def typed(text: str) -> TypedIntent:
    return TypedIntent(text)


__all__ += ["Command", "call", "open_tiny", "typed"]
