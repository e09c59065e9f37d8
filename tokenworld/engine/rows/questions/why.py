"""Why a command is refused: every require with the values that decided (language.md §6, §9).

The functions of an action's requires are written when it is first asked about. They are written
with care: a require is asked although one before it failed, so that its types may not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tokenworld.core.nodes import Let, Require, Term
from tokenworld.core.rules import Action
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.changes import Breach
from tokenworld.engine.rows.code.program import Program
from tokenworld.engine.rows.layout import NAMES
from tokenworld.ground import Command, Json, RequireReport, show_value
from tokenworld.model import show_type

UNDEFINED = (Breach, TypeError, KeyError, IndexError)
"""The errors of a require that is evaluated although an earlier one failed."""
Place = tuple[Any, ...]
"""The row, that at the start of the tick, who acts, and the arguments."""


@frozen
class _Asked:
    """One require: does it hold, its text, the value of each atom."""

    require: Require
    holds: Callable[..., Any]
    text: Callable[..., str] | None
    atoms: tuple[tuple[str, Term, Callable[..., Any]], ...]


class Requires:
    """The requires of a program's actions, term by term."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[str, tuple[_Asked, ...]] = {}

    def reports(
        self, S: list[Any], W: list[Any], me: int | None, command: Command, *,
        careful: bool = False,
    ) -> tuple[RequireReport, ...]:  # fmt: skip
        """Reports on every require of a command, in written order; ``W``: the tick's start.

        ``careful``: one without a value is reported as such, even if all before it hold.
        """
        place, found, failed = (S, W, me, *command.args), list[RequireReport](), careful
        for index, asked in enumerate(self._asked(command.action)):
            report = self._report(asked, index, place, after_failure=failed)
            failed = failed or report.holds is not True
            found.append(report)
        return tuple(found)

    def requires_held(
        self, S: list[Any], W: list[Any], me: int | None, command: Command
    ) -> tuple[bool | None, ...]:
        """The truth of each require, in written order; ``None`` for one without a value."""
        place = (S, W, me, *command.args)
        return tuple([_holds(one, place) for one in self._asked(command.action)])

    def _report(
        self, asked: _Asked, index: int, place: Place, *, after_failure: bool
    ) -> RequireReport:
        require = asked.require
        holds = _holds(asked, place) if after_failure else bool(asked.holds(*place))
        values = {text: self._value(term, read, place) for text, term, read in asked.atoms}
        text = _worded(asked, place) if holds is not True else ""
        return RequireReport(
            index, require.label, require.source, text, holds, values, str(require.span)
        )

    def _value(self, term: Term, read: Callable[..., Any], place: Place) -> Json:
        try:
            value = read(*place)
        except UNDEFINED:
            return f"undefined ({show_type(term.type)})"
        return show_value(self._program.slots.program, place[0][NAMES], term.type, value)

    # ---- writing ------------------------------------------------------------------------------

    def _asked(self, name: str) -> tuple[_Asked, ...]:
        if name not in self._known:
            action = self._program.rules.actions[name]
            self._known[name] = tuple(
                self._compiled(action, one, lets) for one, lets in guards_of(action)
            )
        return self._known[name]

    def _compiled(self, action: Action, require: Require, lets: tuple[Let, ...]) -> _Asked:
        program, params = self._program, [one.name for one in action.params]

        def value_of(term: Term) -> Callable[..., Any]:
            return program.value_of(term, params, lets, careful=True)

        atoms = tuple((source, term, value_of(term)) for source, term in require.atoms)
        text = require.text
        worded = None if text is None else program.text_of(text, params, lets, careful=True)
        return _Asked(require, value_of(require.condition), worded, atoms)


def guards_of(action: Action) -> Iterator[tuple[Require, tuple[Let, ...]]]:
    """Each require of an action with the lets written before it."""
    lets: tuple[Let, ...] = ()
    for guard in action.guards:
        if isinstance(guard, Let):
            lets = (*lets, guard)
        else:
            yield guard, lets


def _holds(asked: _Asked, place: Place) -> bool | None:
    """Return whether a require holds; ``None`` where it has no value."""
    try:
        return bool(asked.holds(*place))
    except UNDEFINED:
        return None


def _worded(asked: _Asked, place: Place) -> str:
    if asked.text is not None:
        try:
            return asked.text(*place)
        except UNDEFINED:
            pass
    return f"This needs: {asked.require.source}."
