"""What a player without a screen is told: the world as text, tick by tick."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest

from tokenworld.ground import Command, Outcome
from tokenworld.prose import command_texts
from tokenworld.session.session import Session

__all__ = ["observation"]

OFFERED = 20
"""So many possible commands are named at most."""


def observation(session: Session) -> str:
    """What has just happened and what can be done: all that a player needs to go on.

    Deterministic text of one or more lines, none of them empty.
    """
    lines = list(_welcome(session) if len(session.moments) == 1 else _happened(session))
    if session.actor is not None and len(session.state.actors) > 1:
        lines.append(f"It is the turn of {session.actor}.")
    return "\n".join(line for line in (*lines, *_offers(session)) if line.strip())


def _welcome(session: Session) -> Iterator[str]:
    world = session.world.world
    yield world.title or world.name
    acting = session.state.acting
    if acting is not None:
        yield f"You are {session.engine.name(session.state, acting)}."
    for goal in world.goals:
        yield f"A goal is `{goal.name}`."
    yield "Answer with one command in one line."


def _happened(session: Session) -> Iterator[str]:
    for outcome in session.moments[-1].outcomes:
        yield from _told(outcome)
    for name in session.latched:
        yield f"`{name}` is reached."


def _told(outcome: Outcome) -> Iterator[str]:
    """One record in words."""
    if outcome.refusal is not None:
        yield f"Refused: {outcome.refusal.text}"
    elif outcome.no_match is not None:
        yield f"Not understood: {outcome.no_match.message}"
        if outcome.no_match.suggestions:
            yield f"You could say: {'; '.join(outcome.no_match.suggestions)}"
    elif outcome.breach is not None:
        yield f"Not done: {outcome.breach['message']}"
    elif outcome.progress is not None:
        yield f"Under way: {outcome.progress[0]} of {outcome.progress[1]}."
    elif not outcome.said:
        yield "Done."
    yield from outcome.said


def _mixed(session: Session) -> tuple[Command, ...]:
    """Possible commands, the first one of every action before the second of any."""
    by_action: dict[str, list[Command]] = {}
    for command in session.engine.legal(session.state):
        listed = by_action.setdefault(command.action, [])
        if len(listed) < OFFERED:
            listed.append(command)
    rounds = zip_longest(*by_action.values())
    return tuple(islice((one for each in rounds for one in each if one is not None), OFFERED))


def _offers(session: Session) -> Iterator[str]:
    if session.ended():
        return
    commands = _mixed(session)
    texts = command_texts(commands, session.world.program, session.speaker())
    yield f"Possible now: {'; '.join((*dict.fromkeys(texts), 'pass'))}"
