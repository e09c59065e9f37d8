"""What can be done with one object in a session, and why the rest cannot be done."""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.engine.legal.focus import focus_on
from tokenworld.ground import Command
from tokenworld.prose import command_texts
from tokenworld.session.session import LegalCommand, Session

__all__ = ["Barred", "Focused", "focused", "object_named"]


@dataclass(frozen=True, slots=True)
class Barred:
    """A command that would not be executed now: the first reason, and where its rule stands."""

    command: Command
    call: str
    status: str
    label: str
    reason: str
    place: str


@dataclass(frozen=True, slots=True)
class Focused:
    """What can be done with an object, and (as many as were asked for) what cannot, and why.

    ``others`` counts the commands that name it and are not possible now. ``unlisted`` are the
    actions with too many commands to try.
    """

    name: str
    kind: str
    legal: tuple[LegalCommand, ...]
    barred: tuple[Barred, ...]
    others: int
    unlisted: tuple[str, ...]


def object_named(session: Session, word: str) -> int:
    """The number of the object with this name, an identifier or as players call it.

    Raises `Failure` (TW0006) where there is none, or where several are called so.
    """
    state, speaker = session.state, session.speaker()
    number = state.numbers.get(word)
    if number is not None and state.alive(number):
        return number
    plain = word.casefold()
    alive = [one for one in range(len(state.kinds)) if state.alive(one)]
    called = [one for one in alive if plain in map(str.casefold, speaker.words_for(one))]
    if len(called) == 1:
        return called[0]
    names = ", ".join(f"`{state.names[one]}`" for one in called)
    if called:
        message, hint = f"Several objects are called `{word}`.", f"Name one of {names}."
        raise Failure(Diagnostic("TW0006", message, hint=hint))
    known = (state.names[one] for one in alive)
    hint = did_you_mean(word, known) or "Give the name of an object as the file has it."
    what = f"The world `{session.world.world.name}` has no object `{word}` now."
    raise Failure(Diagnostic("TW0006", what, hint=hint))


def focused(session: Session, number: int, *, barred: int = 0) -> Focused:
    """What can be done with an object now; up to ``barred`` commands that cannot, with reasons."""
    engine, state = session.engine, session.state
    found = focus_on(engine, state, number)
    simulator = session.simulator()
    texts = command_texts(found.legal, session.world.program, session.speaker())
    return Focused(
        state.names[number],
        state.kinds[number] or "",
        tuple(
            LegalCommand(one, simulator.show(state, one), text)
            for one, text in zip(found.legal, texts, strict=True)
        ),
        tuple(_barred(session, one) for one in found.impossible(barred)),
        found.bindings - len(found.legal),
        found.unlisted,
    )


def _barred(session: Session, command: Command) -> Barred:
    """The record that the command would make tells why it is not executed."""
    outcome = session.engine.play(session.state, command)[1][-1]
    call = session.simulator().show(session.state, command)
    if outcome.refusal is not None:
        refusal = outcome.refusal
        return Barred(command, call, outcome.status, refusal.label, refusal.text, refusal.place)
    breach = outcome.breach or {}
    reason = str(breach.get("message") or outcome.cause or "")
    return Barred(command, call, outcome.status, "", reason, str(breach.get("place") or ""))
