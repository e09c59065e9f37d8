"""The requires of a command part by part: which clause decides, and by which values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tokenworld.diagnostics import Source, Span
from tokenworld.engine import Clause, ClauseKind, State
from tokenworld.engine.rows.questions.asking import judging
from tokenworld.engine.rows.questions.clauses import clauses_of
from tokenworld.engine.rows.stepper import Tick
from tokenworld.ground import Command, Json
from tokenworld.session.session import Session


@dataclass(frozen=True, slots=True)
class Branch:
    """A clause of a require: its text in the rules, its truth, the values that it reads, its parts.

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


def require_trees(session: Session, command: Command, at: State) -> dict[int, Branch]:
    """Each require of a command by its index, in a state: not those whose parts are hidden."""
    action = session.world.program.actions.get(command.action)
    if action is None or not all(
        one < len(at.kinds) and at.alive(one) for one in _objects(session, command)
    ):
        return {}
    engine, sources = session.engine, session.world.loaded.by_name

    def clauses(tick: Tick) -> tuple[Clause, ...]:
        with judging(tick, command):
            return clauses_of(tick, command)

    return {
        index: _branch(clause, sources)
        for index, clause in enumerate(engine.asked(at, clauses))
        if not session.known.hides(command.action, index)
    }


def _objects(session: Session, command: Command) -> Sequence[int]:
    params = session.world.program.actions[command.action].params
    pairs = zip(params, command.args, strict=True)
    return [one for binder, one in pairs if binder.type.kind == "object" and isinstance(one, int)]


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
    """Return the source text of a span, with single spaces."""
    source = sources.get(span.file)
    return "" if source is None else " ".join(source.text[span.start : span.end].split())
