"""Questions about a command in a row, which leave the row unchanged.

A command is judged once a long action under way is broken off, as a tick would do. A command is not
judged if it continues that action, or if that cannot be broken off.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tokenworld.engine.changes import Breach
from tokenworld.engine.rows.commit import commit
from tokenworld.engine.rows.layout import LATCHED
from tokenworld.engine.rows.record import Record
from tokenworld.engine.rows.stepper import ADDED, Tick
from tokenworld.ground import Command, RequireReport


@contextmanager
def judging(tick: Tick, command: Command) -> Iterator[bool]:
    """Let the row be that in which a command is judged; false where nothing is."""
    mark, judged = tick.row.mark, not (command.is_pass or tick.goes_on(command))
    try:
        try:
            tick.cancel(command) if judged else None
        except Breach:
            tick.row.undo(mark)
            judged = False
        yield judged
    finally:
        tick.row.undo(mark)


# ---- requires -----------------------------------------------------------------------------------


def reports(tick: Tick, command: Command, *, careful: bool = False) -> tuple[RequireReport, ...]:
    """Reports on every require of a command, on those that the language adds if they fail; none if
    nothing is judged. ``careful``: only those of the author, and one without a value is reported as
    such although all before it hold."""
    mark = tick.row.mark
    if not (command.is_pass or tick.goes_on(command)):
        tick.begins(command)
    try:
        with judging(tick, command) as judged:
            if not judged:
                return ()
            generated = None if careful else _added(tick, command)
            S, since = tick.row.S, tick.since(command)
            found = tick.of.why.reports(S, since, tick.acting, command, careful=careful)
            if generated is None:
                return found
            return tick.of.shown.requires(replace(generated, requires=found))
    finally:
        tick.row.undo(mark)


def _added(tick: Tick, command: Command) -> Record | None:
    """The refusal by a require that the language adds, if the command meets one now."""
    mark = tick.row.mark
    if tick.row.S[LATCHED] and not tick.world.endless:
        return None
    try:
        done = tick.do(command)
    except Breach:
        return None  # the tick would be rolled back or fail
    finally:
        tick.row.undo(mark)
    return done if done.generated else None


def requires_held(tick: Tick, command: Command) -> tuple[bool | None, ...] | None:
    """The truth of each require of a command, in written order, ``None`` for one without a value;
    no tuple if nothing is judged."""
    with judging(tick, command) as judged:
        return requires_held_now(tick, command) if judged else None


def requires_held_now(tick: Tick, command: Command) -> tuple[bool | None, ...]:
    """The same in the row as it is, even during a long action."""
    return tick.of.why.requires_held(tick.row.S, tick.since(command), tick.acting, command)


# ---- legal commands -----------------------------------------------------------------------------


def is_legal(tick: Tick, command: Command) -> bool:
    """Return whether a command is neither refused nor an error of a number in its requires."""
    return _is_allowed(tick, command, added=True)


def may(tick: Tick, command: Command) -> bool:
    """Return whether the author's requires allow a command."""
    return _is_allowed(tick, command, added=False)


def _is_allowed(tick: Tick, command: Command, *, added: bool) -> bool:
    """Return whether all requires of a command hold: the author's and the ``added`` ones."""
    if command.is_pass or tick.goes_on(command):
        return True
    mark = tick.row.mark
    try:
        tick.cancel(command)
        if tick.failed(command) is not None:
            return False
        return not (added and _does_refuse(tick, command))
    except Breach:
        return False
    finally:
        tick.row.undo(mark)


def is_refused(tick: Tick, command: Command) -> bool:
    """Return whether a command is refused, not rolled back and no error."""
    with judging(tick, command) as judged:
        return judged and _does_refuse(tick, command)


def _does_refuse(tick: Tick, command: Command) -> bool:
    try:
        return tick.do(command).status == "refused"
    except Breach:
        return False  # the tick would be rolled back or fail


def breaks(tick: Tick, command: Command) -> bool:
    """Return whether a require of the language refuses a command whose own requires hold.

    The caller undoes its writes; a `Breach` of another kind is no refusal.
    """
    if tick.ticks(command) > 1 and not tick.until(command):
        return False
    try:
        commit(tick.row, tick.body(command, "run", tick.since(command)))
    except Breach as breach:
        return breach.kind in ADDED
    return False
