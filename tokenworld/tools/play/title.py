"""The title row: world, tick, score, and how things stand."""

from __future__ import annotations

from tokenworld.session import Session
from tokenworld.tools.play.glyphs import Glyphs

__all__ = ["title_text"]

_CELLS = 10


def title_text(session: Session, glyphs: Glyphs) -> str:
    """``The Cellar · tick 3 · score 0 · playing``; where several act, ``Mira's turn``."""
    parts = [
        session.world.world.title,
        f"tick {session.tick}",
        f"score {session.engine.score(session.state)}",
        _standing(session, glyphs),
    ]
    if session.moments[-1].scratch:
        parts.insert(1, f"{glyphs.changed} SCRATCH, not recorded")
    return f" {glyphs.dot} ".join(parts)


def _standing(session: Session, glyphs: Glyphs) -> str:
    names = ", ".join(session.latched)
    if session.lost():
        return f"{glyphs.lost} lost: {names}"
    if session.won():
        return f"{glyphs.won} won: {names}"
    if names:
        return f"{glyphs.halted} ended: {names}"
    running = session.simulator().running(session.state)
    if running is None:
        return _turn(session)
    command, done, total = running
    told = f"{glyphs.waiting} {session.text_of(command)}"
    return f"{told} {_bar(done, total, glyphs)} {done} of {total}"


def _turn(session: Session) -> str:
    """Whose turn it is, where several act."""
    state = session.state
    if len(state.actors) < 2 or state.acting is None:
        return "playing"
    return f"{session.engine.name(state, state.acting)}'s turn"


def _bar(done: int, total: int, glyphs: Glyphs) -> str:
    """How far a long action is, in at most so many cells."""
    cells = min(total, _CELLS)
    full = done * cells // total
    return glyphs.done * full + glyphs.left * (cells - full)
