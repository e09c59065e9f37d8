"""What cannot be done now, and why not: the commands that the rules forbid, the nearest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from tokenworld.engine.delta import Breach
from tokenworld.ground import Command
from tokenworld.prose import command_texts
from tokenworld.session.obstacles import stands
from tokenworld.session.session import LegalCommand, Session

__all__ = ["Forbidden", "forbidden"]

_LOOKED_AT = 100
"""So many bindings of each action are looked at."""


@dataclass(frozen=True, slots=True)
class Forbidden:
    """A command that would be refused now, in words, with the text of its first failed require."""

    command: Command
    text: str
    reason: str


def forbidden(
    session: Session, legal: tuple[LegalCommand, ...], limit: int = 60
) -> tuple[Forbidden, ...]:
    """Up to ``limit`` commands that are not ``legal``, those with the fewest failed requires first.

    Left out is what names objects that the actor cannot name, and what static facts rule out.
    """
    if session.ended():
        return ()
    allowed = {one.command for one in legal}
    counted = [
        (_failed(session, command), command)
        for command in _candidates(session)
        if command not in allowed
    ]
    counted.sort(key=lambda one: one[0])
    commands = tuple(command for _, command in counted[:limit])
    texts = command_texts(commands, session.world.program, session.speaker())
    found = (
        Forbidden(command, text, _reason(session, command))
        for command, text in zip(commands, texts, strict=True)
    )
    return tuple(one for one in found if one.reason)


def _candidates(session: Session) -> Iterator[Command]:
    engine, state, speaker = session.engine, session.state, session.speaker()
    for name, action in session.world.program.actions.items():
        places = [n for n, one in enumerate(action.params) if one.type.kind == "object"]
        for args in islice(engine.bindings(state, name) or (), _LOOKED_AT):
            objects = (args[place] for place in places)
            if all(isinstance(one, int) and speaker.in_scope(one) for one in objects):
                yield Command(name, args)


def _failed(session: Session, command: Command) -> int:
    try:
        return sum(one is not True for one in stands(session.engine, session.state, command))
    except Breach:
        return 1


def _reason(session: Session, command: Command) -> str:
    try:
        reports = session.engine.why(session.state, command)
    except Breach as breach:
        return breach.message
    return next((one.text for one in reports if one.holds is not True), "")
