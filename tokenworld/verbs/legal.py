"""``tw legal``: the legal commands, all or those with one object, and why others are refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from tokenworld.diagnostics import (
    counted,
    did_you_mean,
    fields_json,
    usage,
)
from tokenworld.engine.rows.legal import Focus
from tokenworld.ground import Command, Json
from tokenworld.prose.matching import command_texts
from tokenworld.session import open_world
from tokenworld.session.moments import LegalCommand
from tokenworld.session.players import played
from tokenworld.session.session import Session
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output


@dataclass(frozen=True, slots=True)
class Barred:
    """A command that would not be executed now: the first reason, and the place of its rule."""

    command: Command
    call: str
    status: str
    label: str
    reason: str
    place: str


@dataclass(frozen=True, slots=True)
class Focused:
    """The legal commands with an object, and up to the asked number of illegal ones with reasons.

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
        raise usage(message, hint)
    known = (state.names[one] for one in alive)
    hint = did_you_mean(word, known) or "Give the name of an object as the file has it."
    raise usage(f"The world `{session.world.world.name}` has no object `{word}` now.", hint)


def focused(session: Session, number: int, *, barred: int = 0) -> Focused:
    """The legal commands with an object now, and up to ``barred`` illegal ones with reasons."""
    engine, state = session.engine, session.state
    found = engine.focus(state, number)
    if not session.known.is_whole:
        found = _as_known(session, found, number)
    texts = command_texts(found.legal, session.world.program, session.speaker())
    return Focused(
        state.names[number],
        state.kinds[number] or "",
        tuple(
            LegalCommand(one, engine.call(state, one), text)
            for one, text in zip(found.legal, texts, strict=True)
        ),
        tuple(_barred(session, one) for one in found.impossible(barred)),
        found.bindings - len(found.legal),
        found.unlisted,
    )


def _as_known(session: Session, found: Focus, number: int) -> Focus:
    """The commands with an object that may be executed, as far as a player may know."""
    state, known = session.state, session.known
    params = {name: one.params for name, one in session.world.program.actions.items()}
    legal = tuple(
        one
        for one in known.commands(state)
        if any(
            value == number and binder.type.kind == "object"
            for binder, value in zip(params[one.action], one.args, strict=True)
        )
    )
    return replace(found, legal=legal)


def _barred(session: Session, command: Command) -> Barred:
    """Return the first failed require of a command that a player may know."""
    if session.known.depends_on_secrets(command.action):
        return _foreseen(session, command)
    outcome = session.engine.play(session.state, command)[1][-1]
    call = session.engine.call(session.state, command)
    if outcome.refusal is not None:
        refusal = outcome.refusal
        return Barred(command, call, outcome.status, refusal.label, refusal.text, refusal.place)
    breach = outcome.breach or {}
    reason = str(breach.get("message") or outcome.cause or "")
    return Barred(command, call, outcome.status, "", reason, str(breach.get("place") or ""))


def _foreseen(session: Session, command: Command) -> Barred:
    reports = session.known.why(session.state, command)
    call = session.engine.call(session.state, command)
    first = next((one for one in reports if one.holds is False), None)
    if first is None:
        return Barred(command, call, "refused", "", "No value of what is hidden allows it.", "")
    return Barred(command, call, "refused", first.label, first.text, first.place)


_MOST = 1_000
"""The largest number of illegal commands that are listed."""


def legal(
    target: opt.World,
    out: Output,
    *,
    focus: Annotated[str | None, opt.Option("--with"), "Only with this object."] = None,
    every: Annotated[bool, opt.Option("--all"), "Also what cannot be done, and why."] = False,
    script: opt.PlayedAt = None,
    operator: opt.Operator = False,
    seed: opt.Seed = 0,
) -> int:
    """Print the legal commands after a script; returns 0 if there are any, 1 if there are none."""
    if every and focus is None:
        raise usage("`--all` is told of one object.", "Add `--with OBJECT`.")
    session = played(Session(open_world(target), seed, operator=operator), script)
    if focus is None:
        return _in_all(session, out)
    found = focused(session, object_named(session, focus), barred=_MOST if every else 0)
    _show(session, found, out, every=every)
    out.json(
        {
            **_head(session, found.legal),
            "object": {"name": found.name, "type": found.kind},
            "not_possible": found.others,
            **({"reasons": [_barred_json(one) for one in found.barred]} if every else {}),
            "unlisted": list(found.unlisted),
        }
    )
    return EXIT_OK if found.legal else EXIT_NEGATIVE


def _in_all(session: Session, out: Output) -> int:
    found = session.legal()
    unlisted = sorted(session.known.unlisted(session.state))
    _lines(found, out)
    _unlisted(unlisted, out)
    out.line(_count(session, len(found)))
    out.json({**_head(session, found), "unlisted": unlisted})
    return EXIT_OK if found else EXIT_NEGATIVE


# ---- as text --------------------------------------------------------------------------------


def _show(session: Session, found: Focused, out: Output, *, every: bool) -> None:
    _lines(found.legal, out)
    for one in found.barred:
        label = f"{one.label}: " if one.label else ""
        out.line(f"✗ {one.call}  {label}{one.reason}  {one.place}".rstrip())
    hidden = found.others - len(found.barred)
    if every and hidden:
        out.line(f"… and {hidden:,} more")
    _unlisted(found.unlisted, out)
    what = f"{_count(session, len(found.legal))} with {found.name} ({found.kind})"
    out.line(f"{what}; {found.others:,} cannot")


def _lines(found: tuple[LegalCommand, ...], out: Output) -> None:
    width = max((len(one.call) for one in found), default=0)
    for one in found:
        text = "" if one.text == one.call else one.text
        out.line(f"✓ {one.call:<{width}}  {text}".rstrip())


def _count(session: Session, number: int) -> str:
    if session.ended():
        return "the world is over: nothing can be done"
    return f"tick {session.tick}: {counted(number, 'command')} can be given"


def _unlisted(names: tuple[str, ...] | list[str], out: Output) -> None:
    if names:
        out.line(f"not listed, for they take too many arguments: {', '.join(names)}")


# ---- as JSON --------------------------------------------------------------------------------


def _head(session: Session, found: tuple[LegalCommand, ...]) -> dict[str, Json]:
    return {
        "schema_version": 1,
        "ok": True,
        "tick": session.tick,
        "actor": session.actor,
        "ended": session.ended(),
        "legal": [
            {"action": one.command.action, "call": one.call, "text": one.text} for one in found
        ],
    }


def _barred_json(one: Barred) -> dict[str, Json]:
    named = {"action": one.command.action, "span": one.place}
    return {**fields_json(one, "command", "place"), **named}
