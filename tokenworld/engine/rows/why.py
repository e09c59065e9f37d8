"""Why a command is refused: every require with the values that decided (language.md §6, §9).

The functions of an action's requires are written when it is first asked about. They are written
with care: a require is asked although one before it failed, so that its types may not hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenworld.core.nodes import Let, Require, Term
from tokenworld.core.rules import Action
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.delta import Breach
from tokenworld.engine.rows.bodies import BodyWriter
from tokenworld.engine.rows.layout import NAMES
from tokenworld.engine.rows.program import Program
from tokenworld.engine.rows.terms import Name
from tokenworld.ground import Command, Json, RequireReport, show_value
from tokenworld.model import show_type

__all__ = ["UNDEFINED", "Requires"]

UNDEFINED = (Breach, TypeError, KeyError, IndexError)
"""What evaluating a require can raise after an earlier one failed."""
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
        self, S: list[Any], W: list[Any], me: int | None, command: Command
    ) -> tuple[RequireReport, ...]:
        """Every require of a command as it stands, in written order; ``W``: the tick's start."""
        place, found, failed = (S, W, me, *command.args), list[RequireReport](), False
        for index, asked in enumerate(self._asked(command.action)):
            report = self._report(asked, index, place, after_failure=failed)
            failed = failed or report.holds is not True
            found.append(report)
        return tuple(found)

    def _report(
        self, asked: _Asked, index: int, place: Place, *, after_failure: bool
    ) -> RequireReport:
        require = asked.require
        try:
            holds: bool | None = bool(asked.holds(*place))
        except UNDEFINED:
            if not after_failure:
                raise
            holds = None
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
            writer = self._program.writer
            writer.careful = True
            try:
                self._known[name] = tuple(self._written(self._program.rules.actions[name]))
            finally:
                writer.careful = False
        return self._known[name]

    def _written(self, action: Action) -> list[_Asked]:
        lets, names = list[Let](), list[tuple[Require, str, str, list[str]]]()
        for guard in action.guards:
            if isinstance(guard, Let):
                lets.append(guard)
                continue
            atoms = [self._term(action, lets, term) for _, term in guard.atoms]
            text = "" if guard.text is None else self._text(action, lets, guard)
            names.append((guard, self._term(action, lets, guard.condition), text, atoms))
        self._program.load()
        space = self._program.space
        return [
            _Asked(
                require,
                space[holds],
                space[text] if text else None,
                tuple(
                    (source, term, space[name])
                    for (source, term), name in zip(require.atoms, atoms, strict=True)
                ),
            )
            for require, holds, text, atoms in names
        ]

    def _opened(
        self, action: Action, lets: list[Let]
    ) -> tuple[BodyWriter, dict[str, Name], list[str]]:
        """A function under way: the lets before a require are written, its parameters named."""
        writer = self._program.writer
        names = {one.name: Name(writer.fresh("a")) for one in action.params}
        given = [one.code for one in names.values()]
        body = BodyWriter(writer, self._program.births)
        for let in lets:
            names = dict(body.statement(let, names))
        return body, names, given

    def _closed(self, body: BodyWriter, value: str, given: list[str]) -> str:
        name = self._program.writer.fresh("why_")
        self._program.writer.function(name, given, [*body.lines, (1, f"return {value}")])
        return name

    def _term(self, action: Action, lets: list[Let], term: Term) -> str:
        body, names, given = self._opened(action, lets)
        return self._closed(body, self._program.writer.term(term, names), given)

    def _text(self, action: Action, lets: list[Let], require: Require) -> str:
        assert require.text is not None
        body, names, given = self._opened(action, lets)
        function, passed = self._program.writer.text_function(require.text, names)
        return self._closed(body, f"{function}({', '.join(['S', 'W', 'me', *passed])})", given)


def _worded(asked: _Asked, place: Place) -> str:
    if asked.text is not None:
        try:
            return asked.text(*place)
        except UNDEFINED:
            pass
    return f"This needs: {asked.require.source}."
