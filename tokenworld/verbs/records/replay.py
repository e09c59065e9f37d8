"""Worlds that answer for recorded rows: state read in, command played, state written.

A record lists objects in containment pre-order and names contents. Names may repeat, so an object
is found by its position. An object keeps its recorded number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from operator import is_
from pathlib import Path
from typing import Any, Final

from tokenworld.assets import MissingAssetsError, domains_folder
from tokenworld.diagnostics import Diagnostic, Failure, read_source
from tokenworld.engine import Engine, EngineSimulator, EngineSpeaker, SeededLuck, State
from tokenworld.engine.changes import RawChange
from tokenworld.engine.clock import deciding_terms
from tokenworld.engine.rows import Record
from tokenworld.engine.rows.layout import KINDS
from tokenworld.engine.rows.live import Halves
from tokenworld.engine.rows.stepper import Tick
from tokenworld.ground import PASS, Command, Json, NoMatch
from tokenworld.model import calls
from tokenworld.prose.commands import Parser
from tokenworld.prose.lexicon import Lexicon, Meanings, Vocabulary
from tokenworld.session.loading import OpenWorld, by_other_rules, open_world, split_target
from tokenworld.verbs.coverage import Coverage
from tokenworld.verbs.records.answers import Answer, Difference, Task, all_right, strict, unequal
from tokenworld.verbs.records.properties import (
    MAPPING_FILE,
    MISSING,
    Codec,
    Context,
    Misread,
    Place,
    RecordMapping,
    RecordWords,
    mapping_beside,
    read_mapping,
)
from tokenworld.verbs.records.rows import STATES, Recorded, Score, TextRow

Shape = Mapping[str, Any]
Watch = Callable[[Sequence[Record]], None]
Held = tuple[tuple[str, Place], ...]
"""Truths that no record shows, and which are taken to hold."""


class _Misplaced(Exception):
    """A path into the record and a clause that says what does not fit there."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


class Adapter:
    """Reads and writes the states of one world as its records have them."""

    def __init__(self, engine: Engine, mapping: RecordMapping) -> None:
        self.engine, self.mapping = engine, mapping
        try:
            self.words = RecordWords(engine, mapping)
            self.words.check()
        except Misread as misread:
            raise _unfit(mapping.path, str(misread), "the mapping") from None
        nested = [one for one in engine.layout.columns if one.fluent.nested and one.has_children]
        if len(nested) != 1:
            why = "a world of records has one `nested` attribute"
            raise _unfit(mapping.path, why, "the world")
        self._held = nested[0]
        self._shown_types = {name: shown for shown, name in mapping.types.items()}

    # ---- reading ------------------------------------------------------------------------------

    def read(
        self, recorded: Recorded, score: Score | None = None, place: str = "state", task: str = ""
    ) -> State:
        """The state that a record shows; `Failure` (TW0006) where the world has no place for it.

        What no record shows has its default. ``score`` tells which endings are reached, ``task``
        what the game asks for.
        """
        try:
            shape = self._shape(recorded, score, task)
        except _Misplaced as misplaced:
            raise _unfit(place, misplaced.why, misplaced.path) from None
        except RecursionError:
            raise _unfit(place, "it is nested beyond use", "objects") from None
        state = self.engine.restored(shape, source=place)
        self._check_written(state, recorded, place)
        return state

    def check(self, recorded: Recorded, place: str) -> None:
        """`Failure` (TW0006) where a record names types, properties or contents that are unknown:
        such a state can be nobody's right answer. Its values are not looked at."""
        try:
            _Tree(recorded.objects, self.mapping, self.mapping.root is not None)
            for position, one in enumerate(recorded.objects):
                kind = self._type(one, position)
                for key in one["properties"]:
                    self._codec(kind, key, position)
        except _Misplaced as misplaced:
            raise _unfit(place, misplaced.why, misplaced.path) from None
        except RecursionError:
            raise _unfit(place, "it is nested beyond use", "objects") from None

    def _shape(self, recorded: Recorded, score: Score | None, task: str) -> dict[str, Json]:
        objects = recorded.objects
        parents = _Tree(objects, self.mapping, self.mapping.root is not None).parents
        names = self._identifiers(objects)
        context = Context(_named(objects, names), {}, {})
        self._told(score, task, context)
        held: dict[int | None, list[str]] = {}
        for position, parent in enumerate(parents):
            held.setdefault(parent, []).append(names[position])
        shown: list[Json] = [*self._hidden_root(held)]
        for position, one in enumerate(objects):
            holder = parents[position]
            at = self.mapping.root if holder is None else names[holder]
            shown.append({
                "id": one["uuid"], "name": names[position], "type": self._type(one, position),
                "attrs": self._attributes(one, position, names[position], at, context),
                "contents": held.get(position, []),
            })  # fmt: skip
        return {
            "objects": shown, "next_id": recorded.next_id, "functions": context.functions,
            "relations": context.relations,
            "outcomes": [] if score is None else self._outcomes(score),
        }  # fmt: skip

    def _told(self, score: Score | None, task: str, context: Context) -> None:
        """Note what the score and the task tell of the world."""
        words = self.words
        if score is not None:
            told = ((words.over, score.over), (words.won, score.won), (words.kept, score.score))
            for place, value in told:
                if place is not None:
                    place.read(value, None, None, {}, context)
        try:
            words.read_task(task, context)
        except Misread as misread:
            raise _Misplaced("taskDesc", str(misread)) from None

    def _identifiers(self, objects: Sequence[Shape]) -> list[str]:
        """The name of each object in the world: the declared one where number and type agree."""
        instance = self.engine.instance
        names: list[str] = []
        for position, one in enumerate(objects):
            number, kind = one["uuid"], self._type(one, position)
            known = instance.objects[number] if 0 <= number < len(instance.objects) else None
            declared = known is not None and known.of == kind
            names.append(known.name if known and declared else f"{kind.lower()}_{number}")
        return names

    def _type(self, one: Shape, position: int) -> str:
        kind: str = one["type"]
        kind = self.mapping.types.get(kind, kind)
        if kind not in self.engine.instance.program.types:
            raise _Misplaced(f"objects[{position}].type", f"the world has no type `{kind}`")
        return kind

    def _hidden_root(self, held: Mapping[int | None, list[str]]) -> list[Json]:
        root, instance = self.mapping.root, self.engine.instance
        if root is None:
            return []
        if root not in instance.numbers:
            raise _Misplaced("root", f"the world declares no object `{root}`")
        number = instance.numbers[root]
        of = instance.objects[number].of
        attrs = {self._held.fluent.name: None}
        contents = held.get(None, [])
        return [{"id": number, "name": root, "type": of, "attrs": attrs, "contents": contents}]

    def _attributes(
        self, one: Shape, position: int, name: str, at: str | None, context: Context
    ) -> dict[str, Json]:
        kind = self._type(one, position)
        attrs: dict[str, Json] = {self._held.fluent.name: at}
        label = self.mapping.label
        if label is not None:
            attrs[label] = one["name"].removesuffix(f" (ID: {one['uuid']})")
        for key, value in one["properties"].items():
            codec = self._codec(kind, key, position)
            try:
                codec.read(value, name, attrs, context)
            except Misread as misread:
                path = f"objects[{position}].properties.{key}"
                raise _Misplaced(path, str(misread)) from None
        return attrs

    def _codec(self, kind: str, key: str, position: int) -> Codec:
        """The reader and the writer of a recorded property."""
        codec = self.words.codecs(kind).get(key)
        if codec is None:
            path = f"objects[{position}].properties.{key}"
            raise _Misplaced(path, f"`{kind}` of the world has no property `{key}`")
        return codec

    def _outcomes(self, score: Score) -> list[Json]:
        """The endings that a recorded score tells of: which of several the records do not say."""
        if not score.over:
            return []
        endings = self.engine.instance.world.endings
        fitting = (one.name for one in endings if (one.ending == "goal") == score.won)
        found: list[Json] = [*fitting]
        return found[:1]

    def _check_written(self, state: State, recorded: Recorded, place: str) -> None:
        """Check that derived values, names above all, are shown as they were recorded."""
        found = self.write(state)
        differences = unequal(found.objects, found.next_id, recorded.objects, recorded.next_id)
        for one in differences:
            why = f"the world makes it {one.found!r}, and the record says {one.wanted!r}"
            raise _unfit(place, why, f"{one.name}: {one.what}" if one.name else one.what)

    # ---- writing --------------------------------------------------------------------------------

    def write(self, state: State) -> Recorded:
        """A state as a record shows it."""
        return self.engine.asked(state, lambda tick: self._written(state, tick))

    def _written(self, state: State, tick: Tick) -> Recorded:
        children = state.kids[self._held.index]
        found: list[Shape] = []
        names = _Names(tick, self.words.name_of)
        root = self._root(state)
        if self.mapping.root is None:
            self._write(tick, children, root, found, names)
        else:
            for child in children[root]:
                self._write(tick, children, child, found, names)
        return Recorded(found, state.next_id)

    def _root(self, state: State) -> int:
        """The root container: named by the mapping, or the outermost one around the actor."""
        if self.mapping.root is not None:
            return state.numbers[self.mapping.root]
        parents, here = state.cols[self._held.index], state.me
        while here is not None and parents[here] is not None:
            here = parents[here]
        return here or 0

    def _write(
        self, tick: Tick, children: Sequence[Sequence[int]], x: int, found: list[Shape],
        names: _Names,
    ) -> None:  # fmt: skip
        kinds = tick.row.S[KINDS]
        kind = kinds[x] or ""
        inside, parts = children[x], self.mapping.parts.get(self._shown_types.get(kind, kind), 0)
        found.append(self._object(tick, x, kind, inside[parts:], names))
        for part in inside[:parts]:
            kind = kinds[part] or ""
            found.append(self._object(tick, part, kind, children[part], names))
        for part in inside[:parts]:
            for child in children[part]:
                self._write(tick, children, child, found, names)
        for child in inside[parts:]:
            self._write(tick, children, child, found, names)

    def _object(self, tick: Tick, x: int, kind: str, inside: Sequence[int], names: _Names) -> Shape:
        properties = {}
        for key, codec in self.words.codecs(kind).items():
            value = codec.write(tick, x)
            if value is not MISSING:
                properties[key] = value
        return {
            "name": names[x], "uuid": x, "type": self._shown_types.get(kind, kind),
            "properties": properties, "contains": [names[child] for child in inside],
        }  # fmt: skip

    def score(self, state: State) -> Score:
        """The score of a state as the records count it."""
        endings = self.engine.instance.world.endings
        goals = {one.name for one in endings if one.ending == "goal"}
        over, won = self._told_now(state, self.words.over), self._told_now(state, self.words.won)
        return Score(
            self.engine.score(state),
            bool(state.latched) if over is None else over,
            not goals.isdisjoint(state.latched) if won is None else won,
        )

    def _told_now(self, state: State, place: Place | None) -> bool | None:
        """The value of a Boolean without parameters in a state; ``None`` for no place."""
        return None if place is None else bool(self.engine.asked(state, place.get))


class _Names(dict[int, str]):
    """The recorded names of one state's objects, each worked out once."""

    def __init__(self, tick: Tick, name_of: Callable[[Tick, int], str]) -> None:
        super().__init__()
        self._tick, self._name_of = tick, name_of

    def __missing__(self, x: int) -> str:
        found = self[x] = self._name_of(self._tick, x)
        return found


class _Tree:
    """The holder of each object, by position: each is followed by its contents, in their order.

    The contents of a type with parts begin with these: they stand behind it one by one, then comes
    what each holds.
    """

    def __init__(self, objects: Sequence[Shape], mapping: RecordMapping, rootless: bool) -> None:
        self._objects, self._parts = objects, mapping.parts
        self.parents: list[int | None] = [None] * len(objects)
        end = self._walk(0) if objects else 0
        while rootless and end < len(objects):
            end = self._walk(end)
        if end < len(objects):
            why = f"no object above it contains `{objects[end]['name']}`"
            raise _Misplaced(f"objects[{end}]", why)

    def _walk(self, position: int) -> int:
        """Place what an object holds; the position behind all of it."""
        parts = range(position + 1, position + 1 + self._parts.get(self._type(position), 0))
        end = parts.stop
        if end > len(self._objects):
            raise _Misplaced(f"objects[{position}]", "its parts are missing")
        for part in parts:
            self.parents[part] = position
        for part in parts:
            end = self._fill(part, end)
        return self._fill(position, end)

    def _type(self, position: int) -> str:
        kind: str = self._objects[position]["type"]
        return kind

    def _fill(self, holder: int, end: int) -> int:
        for index, name in enumerate(self._objects[holder]["contains"]):
            if end >= len(self._objects) or self._objects[end]["name"] != name:
                path = f"objects[{holder}].contains[{index}]"
                raise _Misplaced(path, f"`{name}` is not the next object that is listed")
            self.parents[end] = holder
            end = self._walk(end)
        return end


def _named(objects: Sequence[Shape], names: Sequence[str]) -> dict[str, str]:
    """Recorded names to names of the world; of several with one name the first."""
    found: dict[str, str] = {}
    for one, name in zip(objects, names, strict=True):
        found.setdefault(one["name"], name)
    return found


def _unfit(place: str, why: str, path: str) -> Failure:
    message = f"`{place}` does not fit the world at `{path}`: {why}."
    hint = "Correct the record, the mapping file beside the world, or the world."
    return Failure(Diagnostic("TW0006", message, hint=hint))


_KEPT: Final = 1024
"""States that are kept ready."""
_CHECKED: Final = 4096
"""States whose names were found known."""
_TRANSITIONS: Final = 20_000
"""Commands of these states whose outcome is kept."""


@dataclass(slots=True)
class Outcome:
    """A state that was worked out, with the records of the tick that made it. ``shown`` is the
    recorded state itself, once it was found equal to one."""

    after: State
    records: Sequence[Record]
    shown: Recorded
    score: Mapping[str, Any]


@dataclass(slots=True)
class Transition:
    """The states after a command alone (``middle``), and after the tick (``end``), with the
    ``records`` of the command and its tick."""

    middle: Recorded
    end: Outcome
    records: Sequence[Record]


@dataclass(slots=True)
class Known:
    """A recorded state as the world has it, ready for any command. ``rest`` is the tick in which
    nothing is done."""

    recorded: Recorded
    score: Score
    state: State
    speaker: EngineSpeaker
    lexicon: Lexicon
    transitions: dict[str, Transition] = field(default_factory=dict)
    rest: Outcome | None = None


class WorldAnswerer:
    """Plays rows by the rules of one world. Equal states are read once, equal questions are
    answered once, and a state in which nothing was done ticks once. ``watch`` hears the records of
    each row. ``unseen`` counts the rows that are right only where a truth that no record shows held
    before them."""

    def __init__(
        self, world: OpenWorld, mapping: RecordMapping, watch: Watch = lambda records: None
    ) -> None:
        self.world, self.adapter = world, Adapter(world.engine, mapping)
        self._parser = Parser(world.program)
        self._luck, self._watch = SeededLuck(), watch
        self._states: dict[tuple[int, Score, str, Held], Known] = {}
        truths = self.adapter.words.unseen
        sizes = range(1, len(truths) + 1)
        self._guesses = [held for size in sizes for held in combinations(truths, size)]
        self._held: Held = ()
        self.unseen = 0
        self._count = 0
        self._checked: dict[int, Recorded] = {}
        self._meanings: dict[Vocabulary, Meanings] = {}
        self._always = world.world.time_always
        self._forgets = not calls(deciding_terms(world.engine.instance), "did", "busy")

    def answers(self, row: TextRow) -> Mapping[Task, Answer]:
        """All four tasks. Raises `Failure` where a state does not fit the world.

        What no record shows is false, unless all answers are right only if it is true.
        """
        self.check(row)
        answers, records = self._answered(row)
        if self._guesses and not all_right(row, answers):
            for held in self._guesses:
                self._held = held
                guessed = self._answered(row)
                if all_right(row, guessed[0]):
                    answers, records = guessed
                    self.unseen += 1
                    break
            self._held = ()
        self._watch(records)
        return answers

    def _answered(self, row: TextRow) -> tuple[Mapping[Task, Answer], Sequence[Record]]:
        """The four answers, with the records of the command and its tick.

        Where the state after the action is the recorded one, the tick of the whole step is that of
        ``env`` as well; otherwise the recorded one is read and let tick.
        """
        known = self.known(row)
        found = known.transitions.get(row.action) or self._transition(known, row)
        middle = found.middle = _settled(found.middle, row.acted)
        how = partial(self._how, known, row)
        step = self._ended(found.end, row, how)
        answers: dict[Task, Answer] = {
            "act": Answer(middle.objects, middle.next_id, None, "", how, step.blame),
            "env": step
            if middle.objects is row.acted.objects and middle.next_id == row.acted.next_id
            else self._tick(row),
            "score": Answer(score=found.end.score, how=how),
            "step": step,
        }
        return answers, found.records

    def check(self, row: TextRow) -> None:
        """`Failure` where a row names what the world does not know, whoever is to answer it."""
        for recorded, part in zip((row.before, row.acted, row.ticked), STATES, strict=True):
            if self._checked.get(id(recorded)) is not recorded:
                self.adapter.check(recorded, f"{row.place}: {part}")
                if len(self._checked) >= _CHECKED:
                    self._checked.clear()
                self._checked[id(recorded)] = recorded

    def known(self, row: TextRow) -> Known:
        """The state that a row begins with."""
        return self._read(row.before, row, "current_state")

    def command(self, row: TextRow, known: Known) -> Command | NoMatch:
        """The command that the words of a row mean in its state."""
        policy = self.world.world.ambiguous
        return self._parser.command(row.action, known.speaker, policy, known.lexicon)

    def _read(self, recorded: Recorded, row: TextRow, part: str) -> Known:
        """The state of a record; one that the world would write otherwise does not fit it."""
        score, task = row.score_before, row.task
        key = (id(recorded), score, task, self._held)
        known = self._states.get(key)
        if known is not None and known.recorded is recorded:
            return known
        state = self.adapter.read(recorded, score, f"{row.place}: {part}", task)
        for _, place in self._held:
            state = self.world.engine.put(state, place.stored, (), True)
        speaker = EngineSpeaker(self.world.engine, state)
        lexicon = Lexicon(speaker)
        if len(self._states) >= _KEPT or self._count >= _TRANSITIONS:
            self._states.clear()
            self._meanings.clear()
            self._count = 0
        lexicon.share(self._meanings)
        known = self._states[key] = Known(recorded, score, state, speaker, lexicon)
        return known

    def written(self, state: State, known: Known) -> Recorded:
        """A state as a record; the very record where nothing was written since it was read."""
        return known.recorded if _same(state, known.state) else self.adapter.write(state)

    # ---- what comes of a command ----------------------------------------------------------------

    def _transition(self, known: Known, row: TextRow) -> Transition:
        found = self.world.engine.halves(known.state, self.command(row, known), self._luck)
        if self._idle(known.state, found):
            middle, end = known.recorded, self._rest(known)
        else:
            middle, end = self.written(found.acted, known), self._outcome(found, known)
        self._count += 1
        made = known.transitions[row.action] = Transition(middle, end, found.records)
        return made

    def _idle(self, before: State, found: Halves) -> bool:
        """Return whether time goes on from here as if nothing had been done."""
        last, acted = found.done, found.acted
        if last.breach is not None or before.longs or acted.longs or len(before.actors) > 1:
            return False
        if last.status in ("refused", "no_match"):
            return self._always
        return last.status == "executed" and self._forgets and _same(acted, before)

    def _rest(self, known: Known) -> Outcome:
        if known.rest is None:
            found = self.world.engine.halves(known.state, PASS, self._luck)
            known.rest = self._outcome(found, known)
        return known.rest

    def _outcome(self, found: Halves, known: Known) -> Outcome:
        after = found.after
        score = self.adapter.score(after).shown
        return Outcome(after, found.records, self.written(after, known), score)

    def _ended(self, end: Outcome, row: TextRow, how: Callable[[], str] = str) -> Answer:
        shown = end.shown = _settled(end.shown, row.ticked)
        blame = partial(self._writer, end.records)
        return Answer(shown.objects, shown.next_id, end.score, "", how, blame)

    def _tick(self, row: TextRow) -> Answer:
        """The state after a tick without an action, from the recorded state after the action."""
        known = self._read(row.acted, row, "action_state")
        return self._ended(self._rest(known), row)._replace(score=None)

    # ---- why ------------------------------------------------------------------------------------

    def _how(self, known: Known, row: TextRow) -> str:
        """Do the command once more and say what it came to: ``refused: shut (world.tw:49:3)``."""
        before = known.state
        last = self.world.engine.halves(before, self.command(row, known), self._luck).done
        if last.no_match is not None:
            return f"no_match: {last.no_match.message}"
        if last.command is None or last.command.is_pass:
            return last.status
        shown = EngineSimulator(self.world.engine).show(before, last.command)
        if last.status == "refused" and last.refused is not None:
            requires = self.world.program.actions[last.command.action].requires
            if last.refused < len(requires):
                require = requires[last.refused]
                return f"refused {shown}: {require.label} ({require.span})"
            return f"refused {shown}: {last.generated}"
        breach = "" if last.breach is None else f": {last.breach.message}"
        return f"{last.status} {shown}{breach}"

    def _writer(self, records: Sequence[Record], difference: Difference) -> str:
        """The rule that last wrote what is different, with its place; empty for none."""
        fluents = self.adapter.words.fluents_of(difference.what)
        for column, key, old, new, title in reversed(_changes(records)):
            owner = key[0] if isinstance(key, tuple) else key
            moved = column.fluent.nested and difference.uuid in (old, new)
            mine = owner == difference.uuid and column.fluent.name in fluents
            if (moved and difference.what == "contains") or mine:
                return self._rule(title)
        return ""

    def _rule(self, title: str) -> str:
        kind, _, name = title.partition(" ")
        program = self.world.program
        rule = program.laws.get(name) if kind == "law" else program.actions.get(name)
        return title if rule is None else f"{title} ({rule.span})"


def _same(one: State, other: State) -> bool:
    """Return whether nothing was written on the way from one state to the other."""
    return (
        one.kinds is other.kinds
        and all(map(is_, one.cols, other.cols))
        and all(map(is_, one.kids, other.kids))
    )


def _settled(found: Recorded, wanted: Recorded) -> Recorded:
    """The recorded state itself where the found one is no other: compared once, known for good."""
    if found is wanted:
        return wanted
    same = strict(found.objects, found.next_id, wanted.objects, wanted.next_id)
    return wanted if same else found


def _changes(records: Sequence[Record]) -> list[RawChange]:
    return [change for one in records for change in one.made]


class Games:
    """Worlds by the game that their mapping names; each is opened when its first row comes.

    ``coverage`` has what the rows of each reach, if that is to be ``measured``.
    """

    def __init__(
        self, targets: Mapping[str, tuple[str, RecordMapping]], *, measured: bool = False
    ) -> None:
        self._targets, self._measured = targets, measured
        self._open: dict[str, WorldAnswerer] = {}
        self.coverage: dict[str, Coverage] = {}

    def __contains__(self, game: str) -> bool:
        return game in self._targets

    @property
    def names(self) -> tuple[str, ...]:
        """The games there are, in order."""
        return tuple(self._targets)

    def unseen(self) -> Iterator[tuple[str, tuple[str, ...], int]]:
        """The games with rows that are right only if something held that no record shows: its
        names, and the number of these rows."""
        for game, one in sorted(self._open.items()):
            if one.unseen:
                yield game, one.adapter.mapping.unseen, one.unseen

    def answerer(self, game: str) -> WorldAnswerer:
        """The world of a game; `Failure` where it is not sound."""
        if game not in self._open:
            self._open[game] = self._opened(game, *self._targets[game])
        return self._open[game]

    def _opened(self, game: str, target: str, mapping: RecordMapping) -> WorldAnswerer:
        world = open_world(target, scenarios=False)
        if not self._measured:
            return WorldAnswerer(world, mapping)
        coverage = self.coverage[game] = Coverage()
        world = by_other_rules(world, coverage.instrument(world.program))
        return WorldAnswerer(world, mapping, coverage.watch_records)


def _folder(target: str) -> Path | None:
    """The folder of worlds that a target names, here or, by its bare name, among the bundled ones;
    ``None`` where it names a file."""
    path = Path(target)
    if path.exists() or path.suffix or ":" in target or len(path.parts) != 1:
        return path if path.is_dir() else None
    try:
        bundled = domains_folder() / target
    except MissingAssetsError:
        return None
    return bundled if bundled.is_dir() and not (bundled / "world.tw").exists() else None


def games_of(target: str, *, measured: bool = False) -> Games:
    """The games of ``FILE[:world]``, or of a folder: each ``*/world.tw`` with a mapping beside it.
    ``measured``: what rows reach in them is counted.

    Raises `Failure` (TW0001, TW0006) where there is no world or no mapping.
    """
    folder = _folder(target)
    if folder is None:
        path, _ = split_target(target)
        read_source(path)  # where there is no world, its mapping is not what is missing
        mapping = mapping_beside(path)
        return Games({mapping.game: (target, mapping)}, measured=measured)
    files = sorted(folder.glob(f"*/{MAPPING_FILE}"))
    if not files:
        message = f"`{target}` has no folder with a world and a `{MAPPING_FILE}`."
        raise Failure(Diagnostic("TW0001", message, hint="Name a world's file, or their folder."))
    mappings = [(file, read_mapping(file)) for file in files]
    targets = {one.game: (str(file.parent / "world.tw"), one) for file, one in mappings}
    return Games(targets, measured=measured)
