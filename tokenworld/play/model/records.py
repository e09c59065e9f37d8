"""The panes in words: requires clause by clause and the record of a tick, for the details pane; the
title row, the world pane and the inventory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import cast

from tokenworld.diagnostics import Source, Span
from tokenworld.engine import Clause, ClauseKind, State
from tokenworld.engine.rows.questions.asking import judging
from tokenworld.engine.rows.questions.clauses import clauses_of
from tokenworld.engine.rows.stepper import Tick
from tokenworld.ground import Change, Command, Json, NoMatch, Outcome, RequireReport, value_text
from tokenworld.model import Fluent, NumberType, ObjectType, ValueType
from tokenworld.session import Session, WhyNot
from tokenworld.session.moments import Moment
from tokenworld.session.obstacles import Obstacle, command_of, obstacles
from tokenworld.verbs.output import Glyphs, Line, Piece, Role, line


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


def slot_text(change: Change) -> str:
    """``at(robot)``: the slot that a change is of."""
    fluent = change.fluent.rpartition(".")[2]
    return f"{fluent}({', '.join(map(value_text, change.args))})" if change.args else fluent


def short_place(place: str) -> str:
    """``world.tw:17:3``: a place without the folders before the file."""
    return PurePath(place).name


@dataclass(frozen=True, slots=True)
class Describer:
    """Puts reports and records into words, with the source lines that they point at."""

    glyphs: Glyphs
    sources: Mapping[str, Source]

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
        """Every require with its sign, text, values, place and source line.

        What fails comes first, then what was not evaluated, then what holds.
        """
        listed = sorted(found, key=lambda one: (False, None, True).index(one.holds))
        if not listed:
            yield line("It needs nothing.", "dim")
        for report in listed:
            yield line("")
            yield from self._require(report, None if report.generated else trees.get(report.index))
            if report.index in obstacles and not report.generated:
                yield from self._obstacle(obstacles[report.index])

    def _require(self, report: RequireReport, tree: Branch | None) -> Iterator[Line]:
        role: Role = "warn" if report.holds is None else "good" if report.holds else "bad"
        label = f"{self.glyphs.holds(report.holds)} {report.label or f'require {report.index + 1}'}"
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
        for one in tree.parts:
            role: Role = "warn" if one.holds is None else "good" if one.holds else "bad"
            sign = f"{space}{self.glyphs.holds(one.holds)} "
            yield ((sign, role), (one.case or one.text, "plain"))
            for atom, value in one.values:
                yield ((f"{space}    {atom} = ", "dim"), (value_text(value), role))
            yield from self._tree(one, depth + 1)
        if tree.left_out:
            yield line(f"{space}and {tree.left_out} more", "dim")

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


# ---- the title row, the world pane and the inventory ---------------------------------------------


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
    return f"{session.known.name(state, state.acting)}'s turn"


def _bar(done: int, total: int, glyphs: Glyphs) -> str:
    """Draw how far a long action is, in at most so many cells."""
    cells = min(total, _CELLS)
    full = done * cells // total
    return glyphs.done * full + glyphs.left * (cells - full)


_MOST = 250
"""So many objects are told one by one, the nearest first; the state inspector has them all."""


@dataclass(frozen=True)
class View:
    """The present state of a session in words. Secret fluents stay secret.

    Only objects in scope are told: those whose names the actor may use.
    """

    session: Session

    @cached_property
    def _objects(self) -> Mapping[str, Mapping[str, Json]]:
        listed = cast("Sequence[Mapping[str, Json]]", self._state["objects"])
        return {str(one["name"]): one for one in listed}

    @cached_property
    def _state(self) -> Mapping[str, Json]:
        return self.session.state_json()

    @cached_property
    def _known(self) -> Mapping[str, None]:
        """The names in scope, in the order of the objects."""
        speaker, numbers = self.session.speaker(), self.session.state.numbers
        return {name: None for name in self._objects if speaker.in_scope(numbers[name])}

    # ---- the place ------------------------------------------------------------------------

    @cached_property
    def place(self) -> str | None:
        """The object that the actor is at: its nested attribute, else its first reference."""
        actor = self.session.actor
        if actor is None or actor not in self._objects:
            return None
        references = [
            (fluent.nested, value)
            for fluent, value in self._attributes(actor)
            if isinstance(fluent.type, ObjectType) and value is not None
        ]
        references.sort(key=lambda one: not one[0])
        return str(references[0][1]) if references else None

    @property
    def title(self) -> str:
        """The name of the place, else that of the world."""
        return self.session.world.world.title if self.place is None else self._name(self.place)

    @property
    def lines(self) -> tuple[Line, ...]:
        """Return what `describe` says of the place, then every known fact by type."""
        told = tuple(line(one) for one in self._description())
        known = (*self._by_type(), *self._tables())
        return (*told, line(""), *known) if told and known else (*told, *known)

    def _description(self) -> list[str]:
        if self.place is None:
            return []
        number = self.session.state.numbers[self.place]
        return self.session.engine.describe(self.session.state, number).splitlines()

    # ---- facts ----------------------------------------------------------------------------

    def _by_type(self) -> Iterator[Line]:
        groups: dict[str, list[str]] = {}
        nearest = sorted(self._known, key=self._distance)
        for name in nearest[:_MOST]:
            groups.setdefault(str(self._objects[name]["type"]), []).append(name)
        for kind, names in groups.items():
            yield from self._group(kind, names)
        if len(nearest) > _MOST:
            yield line(f"and {len(nearest) - _MOST:,} more: Ctrl+O shows them all", "dim")

    @cached_property
    def _near(self) -> frozenset[str]:
        """The actor and its place."""
        return frozenset(one for one in (self.session.actor, self.place) if one is not None)

    def _distance(self, name: str) -> int:
        """The actor first, then what is with it, then the rest."""
        near = self._near
        if name in near:
            return int(name != self.session.actor)
        attributes = cast("Mapping[str, Json]", self._objects[name]["attrs"])
        if not any(isinstance(value, str) and value in near for value in attributes.values()):
            return 2  # no value is even spelt like one of them
        together = any(
            isinstance(fluent.type, ObjectType) and value in near
            for fluent, value in self._attributes(name)
        )
        return 1 if together else 2

    def _group(self, kind: str, names: list[str]) -> Iterator[Line]:
        """Objects of one type: bare ones in one line, the others in a line each."""
        told = {name: ", ".join(self._told(name)) for name in names}
        bare = [self._name(name) for name in names if not told[name]]
        if bare:
            yield ((", ".join(bare), "plain"), (f" ({kind})", "dim"))
        for name in names:
            if told[name]:
                kind_piece: Piece = (f" ({kind})", "dim")
                yield ((self._name(name), "plain"), kind_piece, (f": {told[name]}", "plain"))

    def _told(self, name: str) -> Iterator[str]:
        for fluent, value in self._attributes(name):
            if fluent.secret or value is None:
                continue
            word = fluent.name.replace("_", " ")
            if isinstance(value, bool):
                yield word if value else f"not {word}"
            else:
                yield f"{word} {self._value(fluent.type, value)}"

    def _attributes(self, name: str) -> Iterator[tuple[Fluent, Json]]:
        found = self._objects[name]
        kind, attributes = str(found["type"]), cast("Mapping[str, Json]", found["attrs"])
        for attribute, value in attributes.items():
            key = (kind, attribute)
            if key not in self._fluents:
                self._fluents[key] = self._fluent(*key)
            fluent = self._fluents[key]
            if fluent is not None:
                yield fluent, value

    @cached_property
    def _fluents(self) -> dict[tuple[str, str], Fluent | None]:
        """Fluents by type and attribute, as far as they were looked up."""
        return {}

    def _fluent(self, kind: str, attribute: str) -> Fluent | None:
        program = self.session.world.program
        ids = (f"{one}.{attribute}" for one in (kind, *program.types[kind].ancestors))
        return next((program.fluents[one] for one in ids if one in program.fluents), None)

    @cached_property
    def _shared(self) -> dict[str, Fluent]:
        """Functions and relations by the name that the state gives them."""
        fluents = self.session.world.program.fluents.values()
        return {one.name: one for one in fluents if one.fluent_kind != "attribute"}

    def _tables(self) -> Iterator[Line]:
        """Functions and relations, as far as their objects are known."""
        relations = cast("Mapping[str, Sequence[Sequence[Json]]]", self._state["relations"])
        functions = cast("Mapping[str, Sequence[tuple[Sequence[Json], Json]]]",
                         self._state["functions"])  # fmt: skip
        for name, tuples in relations.items():
            rows = [self._arguments(one) for one in tuples if self._tellable(name, one)]
            if rows:
                yield ((f"{name}: ", "plain"), ("; ".join(filter(None, rows)) or "yes", "plain"))
        for name, valued in functions.items():
            kind = self._shared[name].type
            shown = [
                f"{self._arguments(args)} {self._value(kind, value)}".strip()
                for args, value in valued
                if self._tellable(name, args)
            ]
            if shown:
                yield ((f"{name.replace('_', ' ')}: ", "plain"), ("; ".join(shown), "plain"))

    def _tellable(self, fluent: str, args: Sequence[Json]) -> bool:
        if self._shared[fluent].secret:
            return False
        return all(arg in self._known for arg in args if arg in self._objects)

    def _arguments(self, args: Sequence[Json]) -> str:
        return " ".join(self._name(str(arg)) for arg in args)

    # ---- words ----------------------------------------------------------------------------

    def _name(self, name: str) -> str:
        number = self.session.state.numbers.get(name)
        if number is None:
            return name.replace("_", " ")
        return self.session.known.name(self.session.state, number)

    def _value(self, kind: ValueType, value: Json) -> str:
        match kind:
            case ObjectType():
                return self._name(str(value))
            case NumberType(unit=unit):
                return f"{value}{unit}"
            case _:
                return str(value).replace("_", " ")

    # ---- what is carried --------------------------------------------------------------------

    @property
    def carried(self) -> tuple[str, ...] | None:
        """The actor's contents; ``None`` if nobody acts.

        Where the world nests nothing: the objects with an attribute that refers to the actor.
        """
        actor = self.session.actor
        if actor is None or actor not in self._objects:
            return None
        nests = any(fluent.nested for fluent in self.session.world.program.fluents.values())
        contents = cast("Sequence[str]", self._objects[actor]["contents"])
        return tuple(self._name(one) for one in (contents if nests else self._referring(actor)))

    def _referring(self, actor: str) -> Iterator[str]:
        for name in self._objects:
            for fluent, value in self._attributes(name):
                if isinstance(fluent.type, ObjectType) and value == actor and name != actor:
                    yield name
                    break
