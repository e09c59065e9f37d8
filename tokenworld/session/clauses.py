"""The requires of a command as trees: each clause with its text, truth and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tokenworld.diagnostics import Source, Span
from tokenworld.engine import Clause, ClauseKind, State
from tokenworld.engine.clauses import clauses_of
from tokenworld.engine.compile import guards_of
from tokenworld.ground import Command, Json, Outcome
from tokenworld.session.moments import Moment
from tokenworld.session.obstacles import command_of
from tokenworld.session.session import Session

__all__ = ["Branch", "require_trees", "trees_of_record"]


@dataclass(frozen=True, slots=True)
class Branch:
    """A clause of a require: its words in the rules, whether it holds, what it reads, its parts.

    ``case`` is set for one case of *any* or *all*: the values of its variables. ``left_out`` cases
    are not among the parts.
    """

    kind: ClauseKind
    text: str
    holds: bool | None
    values: tuple[tuple[str, Json], ...]
    parts: tuple[Branch, ...]
    case: str = ""
    left_out: int = 0


def require_trees(
    session: Session, command: Command, state: State | None = None
) -> dict[int, Branch]:
    """Each require of a command by its index, in a state (the present one)."""
    at = session.state if state is None else state
    action = session.world.program.actions.get(command.action)
    if action is None or not all(
        one < len(at.kinds) and at.alive(one) for one in _objects(session, command)
    ):
        return {}
    engine, sources = session.engine, {one.name: one for one in session.world.loaded.sources}
    unit = engine.stepper.unit
    now = at if unit.free(at, command) else unit.cancelled(at)
    was = unit.since(now, command)
    return {
        index: _branch(clauses_of(engine.code, now, was, command, index), sources)
        for index in range(len(guards_of(action)))
    }


def _objects(session: Session, command: Command) -> Sequence[int]:
    params = session.world.program.actions[command.action].params
    pairs = zip(params, command.args, strict=True)
    return [one for binder, one in pairs if binder.type.kind == "object" and isinstance(one, int)]


def trees_of_record(session: Session, outcome: Outcome) -> dict[int, Branch]:
    """The requires of a refused record of this session, in the state that it was refused in."""
    if outcome.status != "refused":
        return {}
    moments: Sequence[Moment] = session.moments
    for number, moment in enumerate(moments):
        if any(one is outcome for one in moment.outcomes):
            before = moments[number - 1] if number else moment
            if before.state.layout is not session.engine.layout:
                return {}
            command = command_of(session, before, outcome)
            return {} if command is None else require_trees(session, command, before.state)
    return {}


def _branch(clause: Clause, sources: Mapping[str, Source]) -> Branch:
    values = {_text(span, sources): value for span, value in clause.values}
    return Branch(
        clause.kind,
        _text(clause.span, sources),
        clause.holds,
        tuple(values.items()),
        tuple(_branch(one, sources) for one in clause.parts),
        clause.case,
        clause.left_out,
    )


def _text(span: Span, sources: Mapping[str, Source]) -> str:
    """What is written there, with single spaces."""
    source = sources.get(span.file)
    return "" if source is None else " ".join(source.text[span.start : span.end].split())
