"""``tw legal``: what can be done now, in all or with one object."""

from __future__ import annotations

from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, read_source
from tokenworld.ground import Json
from tokenworld.prose import read_script
from tokenworld.session import LegalCommand, Session, open_world
from tokenworld.session.focusing import Barred, Focused, focused, object_named
from tokenworld.tools.output import EXIT_NEGATIVE, EXIT_OK, Output

__all__ = ["legal"]

_MOST = 1_000
"""Commands that cannot be done are told up to this number."""


def legal(
    target: str,
    out: Output,
    *,
    focus: str | None,
    script: Path | None,
    every: bool,
    seed: int,
) -> int:
    """What can be done after a script; 0 where something can, 1 where nothing can."""
    if every and focus is None:
        hint = "Add `--with OBJECT`."
        raise Failure(Diagnostic("TW0006", "`--all` is told of one object.", hint=hint))
    session = Session(open_world(target), seed)
    if script is not None:
        for line in read_script(read_source(script)):
            session.intend(line.intent)
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
    unlisted = sorted(session.engine.unlisted(session.state))
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
    commands = "1 command" if number == 1 else f"{number:,} commands"
    return f"tick {session.tick}: {commands} can be given"


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
    return {
        "action": one.command.action,
        "call": one.call,
        "status": one.status,
        "label": one.label,
        "reason": one.reason,
        "span": one.place,
    }
