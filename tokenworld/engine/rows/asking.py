"""What is asked of a row about a command: nothing of it remains."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.engine.delta import Breach
from tokenworld.engine.rows.commit import commit
from tokenworld.engine.rows.layout import LATCHED
from tokenworld.engine.rows.record import Record
from tokenworld.engine.rows.stepper import ADDED, Tick
from tokenworld.ground import Command, RequireReport

__all__ = ["breaks", "is_legal", "may", "reports"]


def reports(tick: Tick, command: Command) -> tuple[RequireReport, ...]:
    """Every require of a command as it stands, those that the language adds if they fail.

    They are tested once a long action under way is cancelled; there are none where the command
    lets it go on, or where it cannot be cancelled.
    """
    if command.is_pass or tick.goes_on(command):
        return ()
    row, mark = tick.row, tick.row.mark
    tick.begins(command)
    try:
        tick.cancel(command)
    except Breach:
        row.undo(mark)
        return ()
    try:
        generated = _added(tick, command)
        found = tick.of.why.reports(row.S, tick.since(command), tick.acting, command)
        return (
            found
            if generated is None
            else tick.of.shown.requires(replace(generated, requires=found))
        )
    finally:
        row.undo(mark)


def _added(tick: Tick, command: Command) -> Record | None:
    """The refusal by a require that the language adds, if the command meets one now."""
    mark = tick.row.mark
    if tick.row.S[LATCHED] and not tick.world.endless:
        return None
    try:
        done = tick.do(command)
    except Breach:
        return None  # the tick would be rolled back or be in error
    finally:
        tick.row.undo(mark)
    return done if done.generated else None


def is_legal(tick: Tick, command: Command) -> bool:
    """Whether a command would not be refused, nor be in error for a number in its requires."""
    if tick.goes_on(command):
        return True
    mark = tick.row.mark
    try:
        tick.cancel(command)
        if tick.failed(command) is not None:
            return False
        try:
            return tick.do(command).status != "refused"
        except Breach:
            return True  # the tick would be rolled back or be in error
    except Breach:
        return False
    finally:
        tick.row.undo(mark)


def may(tick: Tick, command: Command) -> bool:
    """Whether the author's requires allow a command."""
    if tick.goes_on(command):
        return True
    mark = tick.row.mark
    try:
        tick.cancel(command)
        return tick.failed(command) is None
    except Breach:
        return False
    finally:
        tick.row.undo(mark)


def breaks(tick: Tick, command: Command) -> bool:
    """Whether a require of the language refuses a command whose own requires hold. The caller
    takes back what it writes; a `Breach` of another kind is no refusal."""
    if tick.ticks(command) > 1 and not tick.until(command):
        return False
    try:
        commit(tick.row, tick.body(command, "run", tick.since(command)))
    except Breach as breach:
        return breach.kind in ADDED
    return False
