"""`Explanation`: why a command is refused, as every surface shows it.

`tw why`, `tw run`, the screen, `info` of gymnasium and the tools of MCP take this object: its JSON
is `to_json`, its text that of `verbs.refusals.lines`. The requires are the engine's; since when one
fails is asked of the session's past; the way out is a search that runs only if it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from tokenworld.diagnostics import Source, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import Clause, ClauseKind, EngineSpeaker, State
from tokenworld.engine.rows.questions.asking import judging
from tokenworld.engine.rows.questions.clauses import clauses_of
from tokenworld.engine.rows.stepper import Tick
from tokenworld.ground import Command, Json, NoMatch, Outcome, RequireReport, Status, value_text
from tokenworld.model import Action, NumberType
from tokenworld.prose.matching import command_text
from tokenworld.session.intents import AnyIntent
from tokenworld.session.moments import Moment
from tokenworld.session.obstacles import Obstacle, Turns, command_of, helps, obstacles
from tokenworld.session.session import Session

if TYPE_CHECKING:
    from tokenworld.session.refusals.ways import Satisfaction


# ---- Requires part by part ----------------------------------------------------------------------
# The requires of a command part by part: which clause decides, and by which values.


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


# ---- Explanations -------------------------------------------------------------------------------

FORMAT: Final = "tw-refusal/1"


@frozen
class Explanation:
    """A command that was given or examined, with the values of its requires.

    ``asked`` are its words, ``call`` is the same as a call; ``rule`` and ``place`` are its action
    and the place of that, empty for words that name no action. ``status``: of the record, or that
    which a record would have now (*executed* if no require fails; for some values of the secrets,
    if it is not ``sure``). ``obstacles`` tell since when requires fail, by their index; ``trees``
    show each require part by part, in texts only. ``units`` are those of the values, by their
    text in the rules. ``way`` is ``None`` until it is asked for;
    ``helps`` is a command after which the failed require of that index holds.
    """

    asked: str
    command: Command | None
    call: str
    rule: str
    place: str
    status: Status
    tick: int
    requires: tuple[RequireReport, ...] = ()
    obstacles: Mapping[int, Obstacle] = field(default_factory=dict)
    trees: Mapping[int, Branch] = field(default_factory=dict)
    no_match: NoMatch | None = None
    sure: bool = True
    helps: Mapping[int, str] = field(default_factory=dict)
    way: Satisfaction | None = None
    units: Mapping[str, str] = field(default_factory=dict)

    def value(self, atom: str, value: Json) -> str:
        """Return a value as an author writes it, with its unit."""
        unit = self.units.get(atom, "")
        if not unit or value is None:
            return value_text(value)
        if unit == "%":  # 25% is the number 0.25
            value = f"{Decimal(str(value)) * 100:f}"
        return f"{value}{unit}"

    @property
    def allowed(self) -> bool:
        """Return whether the command can be executed."""
        return self.status == "executed"

    @property
    def first(self) -> RequireReport | None:
        """The require that refuses: the first false one."""
        return next((one for one in self.requires if one.holds is False), None)

    def to_json(self) -> dict[str, Json]:
        """``tw-refusal/1``: the `refusal` of ``tw-outcome/1`` with more keys."""
        first, requires = self.first, [self._require(one) for one in self.requires]
        return {
            "format": FORMAT,
            "command": self.asked,
            "call": self.call,
            "rule": self.rule,
            "rule_span": self.place,
            "status": self.status,
            "tick": self.tick,
            "label": "" if first is None else first.label,
            "text": self.text,
            "index": None if first is None else first.index,
            "span": "" if first is None else first.place,
            "failed": [one for one in requires if one["holds"] is not True],
            "requires": [*requires],
            "suggestions": [] if self.no_match is None else list(self.no_match.suggestions),
            "way": None if self.way is None else self._way(self.way),
        }

    @property
    def text(self) -> str:
        """The reason in one sentence; empty where there is none."""
        if self.no_match is not None:
            return self.no_match.message
        return "" if self.first is None else self.first.text

    def _require(self, one: RequireReport) -> dict[str, Json]:
        found = self.obstacles.get(one.index)
        since = None if found is None or one.generated else found.to_json()
        return {**one.to_json(), "since": since}

    def _way(self, way: Satisfaction) -> dict[str, Json]:
        helps: list[Json] = [
            {"index": index, "command": text} for index, text in sorted(self.helps.items())
        ]
        return {**way.to_json(), "helps": helps}


@dataclass(slots=True)
class Explainer:
    """Explains the commands of a session.

    It caches results about the past, so that a long run is not replayed for each refusal.
    """

    session: Session
    _turns: Turns = field(default_factory=dict)

    def examined(self, intent: AnyIntent) -> Explanation:
        """Explain a command without giving it."""
        session = self.session
        found = session.why_not(intent)
        if found.command is None:
            return _meaningless(found.asked, found.no_match, session.tick)
        status: Status = "executed" if found.allowed else "refused"
        bare = self._explained(found.command, found.requires, status, session.moments)
        return replace(bare, sure=found.sure)

    def record(self, outcome: Outcome) -> Explanation | None:
        """Explain a record of this session; ``None`` where it is neither refused nor without a
        meaning."""
        session = self.session
        if outcome.refusal is None and outcome.no_match is None:
            return None
        for number in range(len(session.moments) - 1, -1, -1):
            moment = session.moments[number]
            if not any(one is outcome for one in moment.outcomes):
                continue
            command = command_of(session, moment, outcome)
            if outcome.refusal is None or command is None:
                return _meaningless(moment.asked, outcome.no_match, outcome.tick)
            past, requires = session.moments[:number], outcome.refusal.requires
            found = self._explained(command, requires, outcome.status, past)
            return replace(found, tick=outcome.tick)
        return None

    def _explained(
        self,
        command: Command,
        requires: tuple[RequireReport, ...],
        status: Status,
        past: Sequence[Moment],
    ) -> Explanation:
        session, state = self.session, past[-1].state
        same = state.layout is session.engine.layout  # the rules were changed since, if it is not
        action = session.world.program.actions.get(command.action)
        return Explanation(
            _words(session, state, command),
            command,
            session.engine.call(state, command),
            "" if action is None else f"action {action.name}",
            "" if action is None else str(action.span),
            status,
            state.tick,
            requires,
            {}
            if status == "executed" or not same
            else obstacles(session, command, past, self._turns),
            require_trees(session, command, state) if same else {},
            units={} if action is None else _units(action),
        )


def _units(action: Action) -> dict[str, str]:
    """Return the units of the values in the requires of an action, by their text."""
    atoms = (atom for require in action.requires for atom in require.atoms)
    kinds = ((atom.text, atom.term.type) for atom in atoms)
    return {text: of.unit for text, of in kinds if isinstance(of, NumberType) and of.unit}


def _words(session: Session, state: State, command: Command) -> str:
    return command_text(command, session.world.program, EngineSpeaker(session.engine, state))


def _meaningless(asked: str, found: NoMatch | None, tick: int) -> Explanation:
    status: Status = "no_match" if found is None else found.status
    return Explanation(asked, None, "", "", "", status, tick, no_match=found)


def explained(session: Session, intent: AnyIntent) -> Explanation:
    """Explain a command without giving it."""
    return Explainer(session).examined(intent)


def explained_record(session: Session, outcome: Outcome) -> Explanation | None:
    """Explain a record of a session that was refused, or has no meaning."""
    return Explainer(session).record(outcome)


def explained_log(outcome: Mapping[str, Any]) -> Explanation | None:
    """Explain a refusal as a log has it (``tw-outcome/1``): without its past and its parts."""
    refusal = outcome.get("refusal")
    if refusal is None:
        return None
    requires = tuple(
        RequireReport(
            one["index"], one["label"], one["condition"], one["text"], one["holds"], one["values"],
            one["span"], hidden=one.get("hidden", False),
        )
        for one in refusal["requires"]
    )  # fmt: skip
    rule = f"action {outcome['action']}"
    return Explanation("", None, "", rule, "", "refused", outcome["tick"], requires)


def helped(session: Session, found: Explanation) -> Explanation:
    """Add a command that can be given now, after which the first failed require holds."""
    if found.command is None or not found.obstacles:
        return found
    first = min(found.obstacles)
    text = helps(session, found.command, first)
    return found if text is None else replace(found, helps={first: text})


def with_way(
    session: Session,
    found: Explanation,
    *,
    seconds: float,
    say: Callable[[str], None] = lambda line: None,
    cancel: Callable[[], bool] = lambda: False,
) -> Explanation:
    """Add the way that makes a refused command of the present state possible: a plan, or why there
    is none. It takes ``seconds`` at most. Nothing is added to a command that nothing refuses, nor
    where the world is over."""
    from tokenworld.session.refusals.ways import satisfy

    if found.command is None or found.allowed or session.ended():
        return found
    way = satisfy(session.apart(), found.command, seconds=seconds, say=say, cancel=cancel)
    return replace(helped(session, found), way=way)
