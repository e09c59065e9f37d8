"""The player: a model that plays an accepted world and reports what contradicts its rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tokenworld.diagnostics import Failure
from tokenworld.prose.intents import TypedIntent
from tokenworld.session.players import give_once
from tokenworld.session.remote import observation
from tokenworld.session.session import Session
from tokenworld.verbs.author import prompts
from tokenworld.verbs.author.answers import json_of
from tokenworld.verbs.author.asking import Message
from tokenworld.verbs.author.desk import Desk
from tokenworld.verbs.author.specification import Specification
from tokenworld.verbs.author.tools import opened

MOST_STEPS: Final = 30
_MOST_ANSWERS: Final = 10


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a player saw violated, and the commands that led there."""

    mechanic: str
    expected: str
    found: str
    trace: tuple[str, ...]

    @property
    def told(self) -> str:
        way = ", ".join(self.trace)
        return f"- {self.mechanic}: expected {self.expected}; found {self.found} (after: {way})"


def play(desk: Desk, text: str, spec: Specification | None, description: str) -> list[Violation]:
    """Let the player play the first world of a text, for 30 steps at most."""
    try:
        session = Session(opened(text), seed=desk.settings.seed)
    except Failure:
        return []  # a domain without a world
    messages = prompts.player(spec, description, observation(session))
    trace: list[str] = []
    found: list[Violation] = []
    for _ in range(_MOST_ANSWERS):
        answer = desk.ask("player", messages)
        said = _read(answer)
        found += [
            _violation(one, trace) for one in _list(said, "violated") if isinstance(one, dict)
        ]
        if said.get("end") or session.ended() or len(trace) >= MOST_STEPS:
            break
        told = "\n".join(_step(session, str(one), trace) for one in _list(said, "do"))
        told = told or 'Answer with an object such as {"do": ["pass"], "violated": []}.'
        messages += [Message("assistant", answer), Message("user", told)]
    desk.note("play", trace, observation(session))
    return found


def _step(session: Session, command: str, trace: list[str]) -> str:
    if session.ended() or len(trace) >= MOST_STEPS:
        return f"> {command}\nPlay is over."
    trace.append(command)
    give_once(session, TypedIntent(command))
    return f"> {command}\n{observation(session)}"


def _read(answer: str) -> dict[str, Any]:
    try:
        found = json_of(answer)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _list(said: dict[str, Any], key: str) -> list[object]:
    found = said.get(key)
    return found if isinstance(found, list) else []


def _violation(one: dict[str, object], trace: list[str]) -> Violation:
    mechanic, expected, found = (
        str(one.get(key, "?")) for key in ("mechanic", "expected", "found")
    )
    return Violation(mechanic, expected, found, tuple(trace))
