"""Why a command is refused: every require with the values that decided (language.md §6, §9).

The fast check only says no; this walks the same requires term by term, on demand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.bodies import BodyWriter
from tokenworld.engine.compile import Code, extend, guards_of
from tokenworld.engine.delta import Breach
from tokenworld.engine.speech import text_function
from tokenworld.engine.state import State
from tokenworld.ground import Command, Json, RequireReport, show_value
from tokenworld.model import Action, Let, Require, Term, show_type

__all__ = ["UNDEFINED", "first_false", "load_code", "reports", "standing", "stands"]

UNDEFINED = (Breach, TypeError, KeyError, IndexError)
"""What evaluating a require can raise after an earlier one failed."""


@frozen
class _Asked:
    """One require, compiled: does it hold, its text, the value of each atom."""

    require: Require
    holds: Callable[..., Any]
    text: Callable[..., str] | None
    atoms: tuple[tuple[str, Term, Callable[..., Any]], ...]


def _asked(code: Code, action: Action) -> tuple[_Asked, ...]:
    """The compiled requires of an action, made once."""
    store: dict[str, tuple[_Asked, ...]] = code.space.setdefault("ASKED", {})
    if action.name not in store:
        store[action.name] = tuple(
            _compile(code, action, require, lets) for require, lets in guards_of(action)
        )
    return store[action.name]


def _compile(code: Code, action: Action, require: Require, lets: tuple[Let, ...]) -> _Asked:
    """Compiled with care: a require is asked although one before it failed."""
    emitter = code.emitter
    emitter.careful = True
    try:
        return _compiled(code, action, require, lets)
    finally:
        emitter.careful = False


def _compiled(code: Code, action: Action, require: Require, lets: tuple[Let, ...]) -> _Asked:
    holds = _function(code, action, lets, require.condition)
    atoms = tuple(
        (atom.text, atom.term, _function(code, action, lets, atom.term)) for atom in require.atoms
    )
    text = None if require.text is None else _text(code, action, require, lets)
    return _Asked(require, holds, text, atoms)


def _opened(
    code: Code, action: Action, lets: tuple[Let, ...]
) -> tuple[BodyWriter, dict[str, str], str, str]:
    emitter = code.emitter
    names = {binder.name: emitter.fresh("a") for binder in action.params}
    header = ", ".join(("S", "W", "me", *names.values()))
    writer = BodyWriter(emitter)
    for let in lets:
        writer.let(let, names, 1)
    return writer, names, header, emitter.fresh("why")


def load_code(code: Code, name: str, header: str, writer: BodyWriter) -> Callable[..., Any]:
    """Load a function that was written into the world's code."""
    texts = [text for _, text in code.emitter.texts]
    code.emitter.texts.clear()
    extend(code, "\n".join([*texts, f"def {name}({header}):", *writer.lines, ""]))
    return code.space[name]  # type: ignore[no-any-return]


def _function(code: Code, action: Action, lets: tuple[Let, ...], term: Term) -> Callable[..., Any]:
    writer, names, header, name = _opened(code, action, lets)
    writer.line(1, f"return {code.emitter.term(term, names)}")
    return load_code(code, name, header, writer)


def _text(
    code: Code, action: Action, require: Require, lets: tuple[Let, ...]
) -> Callable[..., str]:
    assert require.text is not None
    writer, names, header, name = _opened(code, action, lets)
    function, passed = text_function(code.emitter, require.text, names)
    writer.line(1, f"return {function}({', '.join(['S', 'W', 'me', *passed])})")
    return load_code(code, name, header, writer)


def first_false(code: Code, state: State, was: State, command: Command) -> int:
    """The index of the first require that does not hold for the actor whose turn it is."""
    for index, asked in enumerate(_asked(code, code.actions[command.action].action)):
        if not asked.holds(state, was, state.acting, *command.args):
            return index
    raise AssertionError("the fast check and the requires disagree")


def standing(code: Code, state: State, was: State, command: Command) -> tuple[bool | None, ...]:
    """Which requires of a command hold, in written order; ``None`` where one has no value."""
    asked = _asked(code, code.actions[command.action].action)
    place = (state, was, state.acting, *command.args)
    return tuple(_standing(one, place) for one in asked)


def _standing(asked: _Asked, place: tuple[Any, ...]) -> bool | None:
    try:
        return bool(asked.holds(*place))
    except UNDEFINED:
        return None


def stands(code: Code, state: State, was: State, command: Command, index: int) -> bool | None:
    """The same of one require."""
    asked = _asked(code, code.actions[command.action].action)[index]
    return _standing(asked, (state, was, state.acting, *command.args))


def reports(
    code: Code,
    state: State,
    command: Command,
    me: int | None,
    was: State | None = None,
    *,
    careful: bool = False,
) -> tuple[RequireReport, ...]:
    """Every require of a command as it stands, in written order; ``was``: the tick's start.

    ``careful``: one that has no value is told as such, also where all before it hold.
    """
    action = code.actions[command.action].action
    place = (state, was or state, me, *command.args)
    found: list[RequireReport] = []
    failed = careful
    for index, asked in enumerate(_asked(code, action)):
        report = _report(code, asked, index, place, after_failure=failed)
        failed = failed or report.holds is not True
        found.append(report)
    return tuple(found)


def _report(
    code: Code, asked: _Asked, index: int, place: tuple[Any, ...], *, after_failure: bool
) -> RequireReport:
    """One require at a ``place``: state, start of the tick, actor, arguments."""
    require = asked.require
    try:
        holds: bool | None = bool(asked.holds(*place))
    except UNDEFINED:
        if not after_failure:
            raise
        holds = None
    values = {text: _value(code, atom, read, place) for text, atom, read in asked.atoms}
    text = _worded(asked, place) if holds is not True else ""
    return RequireReport(
        index, require.label, require.source, text, holds, values, str(require.span)
    )


def _worded(asked: _Asked, place: tuple[Any, ...]) -> str:
    if asked.text is not None:
        try:
            return asked.text(*place)
        except UNDEFINED:
            pass
    return f"This needs: {asked.require.source}."


def _value(code: Code, term: Term, read: Callable[..., Any], place: tuple[Any, ...]) -> Json:
    try:
        value = read(*place)
    except UNDEFINED:
        return f"undefined ({show_type(term.type)})"
    instance = code.emitter.instance
    return show_value(instance.program, place[0].names, term.type, value)
