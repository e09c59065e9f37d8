"""The details pane in words: requires clause by clause, and the record of a tick."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from tokenworld.diagnostics import Source, Span, counted
from tokenworld.engine import Clause, ClauseKind, State
from tokenworld.engine.rows.questions.asking import judging
from tokenworld.engine.rows.questions.clauses import clauses_of
from tokenworld.engine.rows.stepper import Tick
from tokenworld.ground import Change, Command, Json, NoMatch, Outcome, RequireReport, value_text
from tokenworld.session import Session, WhyNot
from tokenworld.session.moments import Moment
from tokenworld.session.obstacles import Obstacle, command_of, obstacles
from tokenworld.verbs.output import Glyphs, Line, Role, line


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
    """Each require of a command by its index, in a state (the present one): not those whose parts
    are hidden."""
    at = session.state if state is None else state
    action = session.world.program.actions.get(command.action)
    if action is None or not all(
        one < len(at.kinds) and at.alive(one) for one in _objects(session, command)
    ):
        return {}
    engine, sources = session.engine, {one.name: one for one in session.world.loaded.sources}

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
    """Return the source text of a span, with single spaces."""
    source = sources.get(span.file)
    return "" if source is None else " ".join(source.text[span.start : span.end].split())


def in_the_way(session: Session, outcome: Outcome) -> dict[int, Obstacle]:
    """The failed requires of a refused record of this session; nothing for other records."""
    if outcome.status != "refused":
        return {}
    for number in range(len(session.moments) - 1, -1, -1):
        moment = session.moments[number]
        if outcome in moment.outcomes:
            # the last refusal left the present state as it is: what helps there helps now
            last = moment is session.moments[-1]
            past = session.moments if last else session.moments[:number]
            command = command_of(session, moment, outcome)
            return {} if command is None else obstacles(session, command, past)
    return {}


_NONE: Mapping[int, Obstacle] = {}
_TREES: Mapping[int, Branch] = {}
_CASES: Mapping[str, str] = {
    "and": "all of", "or": "any of", "not": "not", "implies": "the first implies the second",
    "any": "any of the cases", "all": "every case", "derive": "stands for",
}  # fmt: skip


_JOINED: frozenset[str] = frozenset({"and", "or", "any", "all"})
"""Clauses of which the parts decide that have the same value as the whole."""


def _label(report: RequireReport) -> str:
    return report.label or f"require {report.index + 1}"


def slot_text(change: Change) -> str:
    """``at(robot)``: the slot that a change is of."""
    fluent = change.fluent.rpartition(".")[2]
    return f"{fluent}({', '.join(map(value_text, change.args))})" if change.args else fluent


def short_place(place: str) -> str:
    """``world.tw:17:3``: a place without the folders before the file."""
    return PurePath(place).name


@dataclass(frozen=True, slots=True)
class Describer:
    """Puts reports and records into words, with the source lines that they point at.

    Of a refusal, what holds is folded into one line, unless ``whole``.
    """

    glyphs: Glyphs
    sources: Mapping[str, Source]
    whole: bool = True

    # ---- requires ---------------------------------------------------------------------------

    def examined(
        self,
        found: WhyNot,
        obstacles: Mapping[int, Obstacle] = _NONE,
        trees: Mapping[int, Branch] = _TREES,
    ) -> Iterator[Line]:
        """Tell why a command would or would not be executed; it was not given."""
        if found.no_match is not None:
            yield from self._no_match(found.no_match)
            return
        if found.allowed:
            good = f"{self.glyphs.executed} `{found.asked}` can be done now"
            if found.sure:
                yield line(f"{good}.", "good")
            else:
                yield line(f"{good}, as far as can be known: it depends on what is hidden.", "good")
        else:
            yield line(f"{self.glyphs.refused} `{found.asked}` would be refused.", "bad")
        yield from self.requires(found.requires, obstacles, trees)

    def requires(
        self,
        found: Iterable[RequireReport],
        obstacles: Mapping[int, Obstacle] = _NONE,
        trees: Mapping[int, Branch] = _TREES,
    ) -> Iterator[Line]:
        """Requires with their signs, texts, values, places and source lines.

        What fails comes first, then what was not evaluated, then what holds: where something else
        does not, its labels in one line.
        """
        listed = sorted(found, key=lambda one: (False, None, True).index(one.holds))
        if not listed:
            yield line("It needs nothing.", "dim")
        folded = [one for one in listed if one.holds]
        if self.whole or len(folded) == len(listed):
            folded = []
        for report in listed[: len(listed) - len(folded)]:
            yield line("")
            yield from self._require(report, None if report.generated else trees.get(report.index))
            if report.index in obstacles and not report.generated:
                yield from self._obstacle(obstacles[report.index])
        if folded:
            labels = ", ".join(map(_label, folded))
            yield line("")
            yield ((f"{self.glyphs.executed} {counted(len(folded), 'condition')} met: ", "good"),
                   (labels, "plain"), ("  F4 shows all", "dim"))  # fmt: skip

    def _require(self, report: RequireReport, tree: Branch | None) -> Iterator[Line]:
        role: Role = "warn" if report.holds is None else "good" if report.holds else "bad"
        label = f"{self.glyphs.holds(report.holds)} {_label(report)}"
        yield ((label, role), (": ", "dim"), (report.condition, "head"))
        if report.holds is None:
            yield line(f"  {report.text if report.hidden else 'not evaluated'}", "warn")
        elif not report.holds:
            yield line(f"  {report.text}")
        if tree is not None and tree.parts:
            yield from self._tree(tree, 1)
        else:
            for atom, value in report.values.items():
                yield ((f"  {atom} = ", "plain"), (value_text(value), role))
        yield from self._source(report.place)

    def _tree(self, tree: Branch, depth: int) -> Iterator[Line]:
        """The parts of a clause, each with its sign and the values that decide."""
        space = "  " * depth
        joint = _CASES.get(tree.kind)
        if joint is not None:
            yield line(f"{space}{joint}", "dim")
        folds = joint is not None and tree.kind in _JOINED and not self.whole
        parts = [one for one in tree.parts if not folds or one.holds is tree.holds]
        for one in parts:
            role: Role = "warn" if one.holds is None else "good" if one.holds else "bad"
            sign = f"{space}{self.glyphs.holds(one.holds)} "
            yield ((sign, role), (one.case or one.text, "plain"))
            for atom, value in one.values:
                yield ((f"{space}    {atom} = ", "dim"), (value_text(value), role))
            yield from self._tree(one, depth + 1)
        left_out = tree.left_out + len(tree.parts) - len(parts)
        if left_out:
            yield line(f"{space}and {left_out} more, which do not decide", "dim")

    def _obstacle(self, found: Obstacle) -> Iterator[Line]:
        """Since when a require is false, by which change, and what would lift it."""
        if found.since is None:
            yield line("  false from the start", "warn")
        else:
            yield (("  false since tick ", "warn"), (str(found.since), "warn"),
                   (f": {found.asked}", "plain"))  # fmt: skip
        for change in found.causes:
            yield ((f"    {self._changed(change)} ", "plain"), (change.rule, "dim"))
        if found.fix is not None:
            yield ((f"  {self.glyphs.hint} ", "good"), (found.fix, "head"), (" helps", "plain"))

    def _changed(self, change: Change) -> str:
        values = f"{value_text(change.old)} {self.glyphs.becomes} {value_text(change.new)}"
        return f"{slot_text(change)} {values}"

    def _source(self, place: str) -> Iterator[Line]:
        text = self.source_line(place)
        shown = f" {text}" if text else ""
        yield line(f"  {short_place(place)}{shown}", "dim")

    def source_line(self, place: str) -> str:
        """The line a place points at, with single spaces; empty if its file is not at hand."""
        file, _, rest = place.partition(":")
        while file not in self.sources and rest:
            more, _, rest = rest.partition(":")
            file = f"{file}:{more}"
        number = rest.partition(":")[0]
        if file not in self.sources or not number.isdigit():
            return ""
        return " ".join(self.sources[file].line_text(int(number)).split())

    # ---- records ----------------------------------------------------------------------------

    def record(
        self,
        outcome: Outcome,
        asked: str,
        obstacles: Mapping[int, Obstacle] = _NONE,
        trees: Mapping[int, Branch] = _TREES,
    ) -> Iterator[Line]:
        """Everything that one record says."""
        yield from self._heading(outcome, asked)
        if outcome.refusal is not None:
            yield from self.requires(outcome.refusal.requires, obstacles, trees)
            return
        if outcome.no_match is not None:
            yield from self._no_match(outcome.no_match)
        yield from self._breach(outcome)
        yield from self._effects(outcome)
        yield from self._chance(outcome)
        yield from self._listed("Ending", outcome.latched)
        before, after = outcome.hash_before[:8], outcome.hash_after[:8]
        if before != after:
            yield line("")
            yield line(f"state {before} {self.glyphs.becomes} {after}", "dim")

    def _heading(self, outcome: Outcome, asked: str) -> Iterator[Line]:
        role: Role = "good" if outcome.status in ("executed", "waiting") else "bad"
        sign, word = self.glyphs.of(outcome.status), outcome.status.replace("_", " ")
        yield ((f"{sign} {word}", role), (f" in tick {outcome.tick}", "dim"))
        yield line(asked, "head")
        if outcome.progress is not None:
            done, total = outcome.progress
            yield line(f"{done} of {total} ticks done")
        if outcome.cause:
            yield line(outcome.cause)
        if outcome.status in ("executed", "waiting", "interrupted") and not outcome.time_passed:
            yield line("No time passed.", "dim")

    def _no_match(self, found: NoMatch) -> Iterator[Line]:
        yield line(found.message, "warn")
        if found.suggestions:
            yield line("")
            yield line("You could say", "head")
            yield from (line(f"  {one}") for one in found.suggestions)

    def _breach(self, outcome: Outcome) -> Iterator[Line]:
        breach = outcome.breach
        if breach is None:
            return
        yield line(f"{breach['code']}: {breach['message']}", "bad")
        for key in ("rule", "witness", "culprits", "before", "after"):
            value = breach.get(key)
            if value:
                shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                yield ((f"  {key} ", "dim"), (shown, "plain"))
        place = str(breach.get("place") or "")
        if place:
            yield from self._source(place)
        yield from self._changes("Discarded", outcome.discarded)

    def _effects(self, outcome: Outcome) -> Iterator[Line]:
        yield from self._changes("Changes", outcome.changes)
        yield from self._listed("Laws fired", outcome.fired)
        yield from self._changes("Changes by laws", outcome.law_changes)
        events = (f"{name}({', '.join(map(value_text, args))})" for name, args in outcome.events)
        yield from self._listed("Events", events)
        yield from self._listed("Said", outcome.said)
        if outcome.status == "executed" and outcome.noop and not outcome.law_changes:
            yield line("Nothing changed.", "dim")

    def _chance(self, outcome: Outcome) -> Iterator[Line]:
        draws = (
            f"{draw.rule}({', '.join(map(value_text, draw.args))}): {draw.text()}"
            for draw in outcome.draws
        )
        yield from self._listed("Draws of chance", draws)

    def _changes(self, title: str, changes: Iterable[Change]) -> Iterator[Line]:
        listed = tuple(changes)
        if listed:
            yield line("")
            yield line(title, "head")
        for one in listed:
            slot = slot_text(one)
            values = f"{value_text(one.old)} {self.glyphs.becomes} {value_text(one.new)}"
            yield ((f"  {slot} ", "plain"), (values, "good"), (f"  {one.rule}", "dim"))

    def _listed(self, title: str, entries: Iterable[str]) -> Iterator[Line]:
        listed = tuple(entries)
        if listed:
            yield line("")
            yield line(title, "head")
            yield from (line(f"  {one}") for one in listed)
