"""Worlds that answer for recorded rows: state read in, command played, state written."""

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
from tokenworld.engine import EngineSpeaker, SeededLuck, State
from tokenworld.engine.changes import RawChange
from tokenworld.engine.clock import deciding_terms
from tokenworld.engine.rows import Record
from tokenworld.engine.rows.live import Halves
from tokenworld.ground import PASS, Command, NoMatch
from tokenworld.model import calls
from tokenworld.prose.commands import Parser
from tokenworld.prose.lexicon import Lexicon, Meanings, Vocabulary
from tokenworld.session.loading import OpenWorld, by_other_rules, open_world, split_target
from tokenworld.verbs.coverage import Coverage
from tokenworld.verbs.records.adapter import Adapter, Base
from tokenworld.verbs.records.answers import Answer, Difference, Task, all_right, strict
from tokenworld.verbs.records.properties import (
    MAPPING_FILE,
    Place,
    RecordMapping,
    mapping_beside,
    read_mapping,
)
from tokenworld.verbs.records.rows import STATES, Recorded, Score, TextRow

Watch = Callable[[Sequence[Record]], None]
Held = tuple[tuple[str, Place], ...]
"""Truths that no record shows, and which are taken to hold."""


_KEPT: Final = 1024
"""States that are kept ready."""
_CHECKED: Final = 4096
"""States whose names were found known."""
_TRANSITIONS: Final = 20_000
"""Commands of these states whose outcome is kept."""


@dataclass(slots=True)
class Outcome:
    """A computed state, with the records of its tick. ``shown`` is the
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

    base: Base
    score: Score
    speaker: EngineSpeaker
    lexicon: Lexicon
    transitions: dict[str, Transition] = field(default_factory=dict)
    rest: Outcome | None = None

    @property
    def recorded(self) -> Recorded:
        return self.base.recorded

    @property
    def state(self) -> State:
        return self.base.state


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
        self._last: Base | None = None
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
        written = found.middle
        middle = found.middle = self._settled(written, row.acted, row, "action_state")
        if found.end.shown is written:
            found.end.shown = middle
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
        """Raise `Failure` if a row has names that the world lacks, for any predictor."""
        for recorded, part in zip((row.before, row.acted, row.ticked), STATES, strict=True):
            self._check(recorded, row, part)

    def _check(self, recorded: Recorded, row: TextRow, part: str) -> None:
        if self._checked.get(id(recorded)) is not recorded:
            self.adapter.check(recorded, f"{row.place}: {part}")
            if len(self._checked) >= _CHECKED:
                self._checked.clear()
            self._checked[id(recorded)] = recorded

    def _settled(self, found: Recorded, wanted: Recorded, row: TextRow, part: str) -> Recorded:
        """The recorded state itself where the found one is no other: compared once, known for good.
        Another one must be of this world (`check`)."""
        if found is wanted:
            return wanted
        if strict(found.objects, found.next_id, wanted.objects, wanted.next_id):
            return wanted
        self._check(wanted, row, part)
        return found

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
        base = self.adapter.based(recorded, score, f"{row.place}: {part}", task, self._last)
        self._last = base
        for _, place in self._held:
            base = base._replace(state=self.world.engine.put(base.state, place.stored, (), True))
        speaker = EngineSpeaker(self.world.engine, base.state)
        lexicon = Lexicon(speaker)
        if len(self._states) >= _KEPT or self._count >= _TRANSITIONS:
            self._states.clear()
            self._meanings.clear()
            self._count = 0
        lexicon.share(self._meanings)
        known = self._states[key] = Known(base, score, speaker, lexicon)
        return known

    def written(self, state: State, known: Known) -> Recorded:
        """A state as a record; the very record where nothing was written since it was read."""
        same = _same(state, known.state)
        return known.recorded if same else self.adapter.write(state, known.base)

    # ---- the outcome of a command ---------------------------------------------------------------

    def _transition(self, known: Known, row: TextRow) -> Transition:
        before, command = known.state, self.command(row, known)
        idle = partial(self._idle, before)
        found = self.world.engine.halves(before, command, self._luck, idle)
        records: Sequence[Record] = found.records
        if idle(found.done, found.acted):
            middle, end = known.recorded, self._rest(known)
            records = (*records, *end.records)
        else:
            middle = self.written(found.acted, known)
            end = self._outcome(found, known, middle)
        self._count += 1
        made = known.transitions[row.action] = Transition(middle, end, records)
        return made

    def _idle(self, before: State, last: Record, acted: State) -> bool:
        """Return whether the tick is the same as without the command."""
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

    def _outcome(self, found: Halves, known: Known, middle: Recorded | None = None) -> Outcome:
        """``middle`` is the record of the state after the command, if that is known."""
        after = found.after
        same = self.adapter.words.timeless and _equal(found.acted, after)
        shown = middle if same else None
        score = self.adapter.score(after).shown
        return Outcome(after, found.records, shown or self.written(after, known), score)

    def _ended(self, end: Outcome, row: TextRow, how: Callable[[], str] = str) -> Answer:
        shown = end.shown = self._settled(end.shown, row.ticked, row, "tick_state")
        blame = partial(self._writer, end.records)
        return Answer(shown.objects, shown.next_id, end.score, "", how, blame)

    def _tick(self, row: TextRow) -> Answer:
        """The state after a tick without an action, from the recorded state after the action."""
        known = self._read(row.acted, row, "action_state")
        return self._ended(self._rest(known), row)._replace(score=None)

    # ---- why ------------------------------------------------------------------------------------

    def _how(self, known: Known, row: TextRow) -> str:
        """Execute the command again; return its status and reason:
        ``refused: shut (world.tw:49:3)``."""
        before = known.state
        last = self.world.engine.halves(before, self.command(row, known), self._luck).done
        if last.no_match is not None:
            return f"no_match: {last.no_match.message}"
        if last.command is None or last.command.is_pass:
            return last.status
        shown = self.world.engine.call(before, last.command)
        if last.status == "refused" and last.refused is not None:
            requires = self.world.program.actions[last.command.action].requires
            if last.refused < len(requires):
                require = requires[last.refused]
                return f"refused {shown}: {require.label} ({require.span})"
            return f"refused {shown}: {last.generated}"
        breach = "" if last.breach is None else f": {last.breach.message}"
        return f"{last.status} {shown}{breach}"

    def _writer(self, records: Sequence[Record], difference: Difference) -> str:
        """Return the rule that last wrote a differing value, with its place; empty for none."""
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


def _equal(one: State, other: State) -> bool:
    """Return whether two states of one tick hold the same facts."""
    return (
        one.kinds == other.kinds
        and one.next_id == other.next_id
        and one.cols == other.cols
        and one.kids == other.kids
    )


def _changes(records: Sequence[Record]) -> list[RawChange]:
    return [change for one in records for change in one.made]


class Games:
    """Worlds by the game that their mapping names; each is opened when its first row comes.

    ``coverage`` has the places that the rows of each reach, if ``measured``.
    """

    def __init__(
        self, targets: Mapping[str, tuple[str, RecordMapping]], *, measured: bool = False
    ) -> None:
        self._targets, self._measured = targets, measured
        self._open: dict[str, WorldAnswerer] = {}
        self.coverage: dict[str, Coverage] = {}

    @classmethod
    def of(cls, world: OpenWorld, mapping: RecordMapping) -> Games:
        """Return the one game of a world that is open already."""
        found = cls({mapping.game: ("", mapping)})
        found._open[mapping.game] = WorldAnswerer(world, mapping)
        return found

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
        read_source(path)  # without a world a missing mapping is not the fault
        mapping = mapping_beside(path)
        return Games({mapping.game: (target, mapping)}, measured=measured)
    files = sorted(folder.glob(f"*/{MAPPING_FILE}"))
    if not files:
        message = f"`{target}` has no folder with a world and a `{MAPPING_FILE}`."
        raise Failure(Diagnostic("TW0001", message, hint="Name a world's file, or their folder."))
    mappings = [(file, read_mapping(file)) for file in files]
    targets = {one.game: (str(file.parent / "world.tw"), one) for file, one in mappings}
    return Games(targets, measured=measured)
