"""A world answers for recorded rows: what its rules make of a state and a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import is_
from typing import Any, Final

from tokenworld.engine import EngineSimulator, EngineSpeaker, SeededLuck, State
from tokenworld.engine.clock import deciding_terms
from tokenworld.engine.delta import RawChange
from tokenworld.engine.luck import RecordingLuck
from tokenworld.engine.result import Result
from tokenworld.engine.searching.idling import reads_deeds
from tokenworld.ground import PASS, Command, NoMatch
from tokenworld.prose import Parser
from tokenworld.prose.lexicon import Cuts, Lexicon, Vocabulary
from tokenworld.session.loading import OpenWorld
from tokenworld.tools.worlds.adapter import Adapter
from tokenworld.tools.worlds.answers import Answer, Task
from tokenworld.tools.worlds.mapping import RecordMapping
from tokenworld.tools.worlds.rows import STATES, Recorded, Score, TextRow
from tokenworld.tools.worlds.scoring import Difference, strict

__all__ = ["Known", "WorldAnswerer"]

_KEPT: Final = 1024
"""States that are kept ready."""
_CHECKED: Final = 4096
"""States whose names were found known."""
_DEEDS: Final = 20_000
"""Commands of these states whose outcome is kept."""


@dataclass(slots=True)
class Outcome:
    """A state that was worked out, with the records of the tick that made it. ``shown`` is the
    recorded state itself, once it was found equal to one."""

    after: State
    results: Sequence[Result]
    shown: Recorded
    score: Mapping[str, Any]


@dataclass(slots=True)
class Deed:
    """What a command makes of a state: by itself (``middle``), and with the tick (``end``)."""

    middle: Recorded
    end: Outcome


@dataclass(slots=True)
class Known:
    """A recorded state as the world has it, ready for any command. ``rest`` is the tick in which
    nothing is done."""

    recorded: Recorded
    score: Score
    state: State
    speaker: EngineSpeaker
    lexicon: Lexicon
    deeds: dict[str, Deed] = field(default_factory=dict)
    rest: Outcome | None = None


class WorldAnswerer:
    """Plays rows by the rules of one world. Equal states are read once, equal questions are
    answered once, and a state in which nothing was done ticks once."""

    def __init__(self, world: OpenWorld, mapping: RecordMapping) -> None:
        self.world, self.adapter = world, Adapter(world.engine, mapping)
        self._stepper = world.engine.stepper
        self._stepper.watches.silent = True
        self._parser = Parser(world.program)
        self._luck = SeededLuck()
        self._states: dict[tuple[int, Score], Known] = {}
        self._deeds = 0
        self._checked: dict[int, Recorded] = {}
        self._cuts: dict[Vocabulary, Cuts] = {}
        self._always = world.world.time_always
        self._forgets = not reads_deeds(deciding_terms(world.engine.instance))

    def answers(self, row: TextRow) -> Mapping[Task, Answer]:
        """All four tasks. Raises `Failure` where a state does not fit the world.

        Where the state after the action is the recorded one, the tick of the whole step is that of
        ``env`` as well; otherwise the recorded one is read and let tick.
        """
        self.check(row)
        known = self.known(row)
        deed = known.deeds.get(row.action) or self._deed(known, row)
        middle = deed.middle = _settled(deed.middle, row.acted)
        how = partial(self._how, known, row)
        step = self._ended(deed.end, row, how)
        return {
            "act": Answer(middle.objects, middle.next_id, None, "", how, step.blame),
            "env": step
            if middle.objects is row.acted.objects and middle.next_id == row.acted.next_id
            else self._tick(row),
            "score": Answer(score=deed.end.score, how=how),
            "step": step,
        }

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
        return self._read(row.before, row.score_before, row.place, "current_state")

    def command(self, row: TextRow, known: Known) -> Command | NoMatch:
        """What the words of a row mean in its state."""
        policy = self.world.world.ambiguous
        return self._parser.command(row.action, known.speaker, policy, known.lexicon)

    def _read(self, recorded: Recorded, score: Score, place: str, part: str) -> Known:
        """The state of a record; one that the world would write otherwise does not fit it."""
        key = (id(recorded), score)
        known = self._states.get(key)
        if known is not None and known.recorded is recorded:
            return known
        state = self.adapter.read(recorded, score, f"{place}: {part}")
        speaker = EngineSpeaker(self.world.engine, state)
        lexicon = Lexicon(speaker)
        if len(self._states) >= _KEPT or self._deeds >= _DEEDS:
            self._states.clear()
            self._cuts.clear()
            self._deeds = 0
        lexicon.share(self._cuts)
        known = self._states[key] = Known(recorded, score, state, speaker, lexicon)
        return known

    def written(self, state: State, known: Known) -> Recorded:
        """A state as a record; the very record where nothing was written since it was read."""
        return known.recorded if _same(state, known.state) else self.adapter.write(state)

    # ---- what comes of a command ----------------------------------------------------------------

    def _deed(self, known: Known, row: TextRow) -> Deed:
        acted, results, luck = self.step(known, self.command(row, known))
        if self._idle(known.state, acted, results[-1]):
            middle, end = known.recorded, self._rest(known)
        else:
            middle = self.written(acted, known)
            end = self._outcome(self._stepper.completed(results, known.state, luck), known)
        self._deeds += 1
        deed = known.deeds[row.action] = Deed(middle, end)
        return deed

    def step(
        self, known: Known, command: Command | NoMatch
    ) -> tuple[State, list[Result], RecordingLuck]:
        """The state after the action alone, and what the tick of it needs."""
        luck = RecordingLuck(self._luck)
        results = self._stepper.opened(known.state, command, luck)
        return results[-1].after, results, luck

    def played(self, known: Known, command: Command | NoMatch) -> list[Result]:
        """The records of the whole tick, played and not remembered."""
        return self._stepper.tick(known.state, command, self._luck)

    def _idle(self, before: State, acted: State, result: Result) -> bool:
        """Whether time goes on from here as if nothing had been done."""
        if result.breach is not None or before.longs or acted.longs or len(before.actors) > 1:
            return False
        if result.status in ("refused", "no_match"):
            return self._always
        return result.status == "executed" and self._forgets and _same(acted, before)

    def _rest(self, known: Known) -> Outcome:
        if known.rest is None:
            known.rest = self._outcome(self._stepper.tick(known.state, PASS, self._luck), known)
        return known.rest

    def _outcome(self, results: Sequence[Result], known: Known) -> Outcome:
        after = results[-1].after
        score = self.adapter.score(after).shown
        return Outcome(after, results, self.written(after, known), score)

    def _ended(self, end: Outcome, row: TextRow, how: Callable[[], str] = str) -> Answer:
        shown = end.shown = _settled(end.shown, row.ticked)
        blame = partial(self._writer, end.results)
        return Answer(shown.objects, shown.next_id, end.score, "", how, blame)

    def _tick(self, row: TextRow) -> Answer:
        """What a tick without an action makes of the recorded state after the action."""
        known = self._read(row.acted, row.score_before, row.place, "action_state")
        return self._ended(self._rest(known), row)._replace(score=None)

    # ---- why ------------------------------------------------------------------------------------

    def _how(self, known: Known, row: TextRow) -> str:
        """What became of the command, done once more: ``refused: shut (world.tw:49:3)``."""
        before, last = known.state, self.step(known, self.command(row, known))[1][-1]
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

    def _writer(self, results: Sequence[Result], difference: Difference) -> str:
        """The rule that last wrote what is different, with its place; empty for none."""
        fluents = self.adapter.words.fluents_of(difference.what)
        for column, key, old, new, title in reversed(_changes(results)):
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
    """Whether nothing was written on the way from one state to the other."""
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


def _changes(results: Sequence[Result]) -> list[RawChange]:
    return [change for one in results for change in (*one.changes, *one.law_changes)]
