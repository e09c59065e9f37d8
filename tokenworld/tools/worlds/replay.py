"""A world answers for recorded rows: what its rules make of a state and a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import is_
from typing import Final

from tokenworld.engine import EngineSimulator, EngineSpeaker, SeededLuck, State
from tokenworld.engine.delta import RawChange
from tokenworld.engine.result import Result
from tokenworld.ground import PASS, Command, NoMatch
from tokenworld.prose import Parser
from tokenworld.prose.lexicon import Lexicon
from tokenworld.session.loading import OpenWorld
from tokenworld.tools.worlds.adapter import Adapter
from tokenworld.tools.worlds.answers import Answer, Task
from tokenworld.tools.worlds.mapping import RecordMapping
from tokenworld.tools.worlds.rows import Recorded, Score, TextRow
from tokenworld.tools.worlds.scoring import Difference, strict

__all__ = ["Known", "WorldAnswerer"]

_KEPT: Final = 1024
"""States that are kept ready."""


@dataclass(frozen=True, slots=True)
class Known:
    """A recorded state as the world has it, ready for any command."""

    recorded: Recorded
    score: Score
    state: State
    speaker: EngineSpeaker
    lexicon: Lexicon


class WorldAnswerer:
    """Plays rows by the rules of one world. Equal states are read once."""

    def __init__(self, world: OpenWorld, mapping: RecordMapping) -> None:
        self.world, self.adapter = world, Adapter(world.engine, mapping)
        self._stepper = world.engine.stepper
        self._stepper.watches.silent = True
        self._parser = Parser(world.program)
        self._luck = SeededLuck()
        self._states: dict[tuple[int, int, Score], Known] = {}

    def answers(self, row: TextRow) -> Mapping[Task, Answer]:
        """All four tasks. Raises `Failure` where a state does not fit the world.

        Where the state after the action is the recorded one, the tick of the whole step is that of
        ``env`` as well; otherwise the recorded one is read and let tick.
        """
        known = self.known(row)
        acted, results = self.step(known, self.command(row, known))
        middle = _settled(self.written(acted, known), row.acted)
        end = _settled(self.written(results[-1].after, known), row.ticked)
        score = self.adapter.score(results[-1].after).to_json()
        how = partial(self._how, known.state, results)
        blame = partial(self._writer, results)
        step = Answer(end.objects, end.next_id, score, "", how, blame)
        exact = middle.objects is row.acted.objects and middle.next_id == row.acted.next_id
        return {
            "act": Answer(middle.objects, middle.next_id, None, "", how, blame),
            "env": step if exact else self._tick(row),
            "score": Answer(score=score, how=how),
            "step": step,
        }

    def known(self, row: TextRow) -> Known:
        """The state that a row begins with."""
        return self._read(row.before, row.score_before, row.place, "current_state")

    def command(self, row: TextRow, known: Known) -> Command | NoMatch:
        """What the words of a row mean in its state."""
        policy = self.world.world.ambiguous
        return self._parser.command(row.action, known.speaker, policy, known.lexicon)

    def _read(self, recorded: Recorded, score: Score, place: str, part: str) -> Known:
        """The state of a record; one that the world would write otherwise does not fit it."""
        key = (id(recorded.objects), recorded.next_id, score)
        known = self._states.get(key)
        if known is not None and known.recorded.objects is recorded.objects:
            return known
        state = self.adapter.read(recorded, score, f"{place}: {part}")
        speaker = EngineSpeaker(self.world.engine, state)
        if len(self._states) >= _KEPT:
            self._states.clear()
        known = self._states[key] = Known(recorded, score, state, speaker, Lexicon(speaker))
        return known

    def written(self, state: State, known: Known) -> Recorded:
        """A state as a record; the very record where nothing was written since it was read."""
        before = known.state
        same = (
            state.kinds is before.kinds
            and all(map(is_, state.cols, before.cols))
            and all(map(is_, state.kids, before.kids))
        )
        return known.recorded if same else self.adapter.write(state)

    def step(self, known: Known, command: Command | NoMatch) -> tuple[State, list[Result]]:
        """The state after the action alone, and the records of the whole tick."""
        results = self._stepper.tick(known.state, command, self._luck)
        if isinstance(command, NoMatch) or results[-1].status == "refused":
            return known.state, results
        return self._stepper.acted(known.state, command, self._luck), results

    def _tick(self, row: TextRow) -> Answer:
        """What a tick without an action makes of the recorded state after the action."""
        known = self._read(row.acted, row.score_before, row.place, "action_state")
        results = self._stepper.tick(known.state, PASS, self._luck)
        end = _settled(self.written(results[-1].after, known), row.ticked)
        return Answer(end.objects, end.next_id, blame=partial(self._writer, results))

    # ---- why ------------------------------------------------------------------------------------

    def _how(self, before: State, results: Sequence[Result]) -> str:
        """What became of the command: ``refused: shut (world.tw:49:3)``."""
        last = results[-1]
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


def _settled(found: Recorded, wanted: Recorded) -> Recorded:
    """The recorded state itself where the found one is no other: compared once, known for good."""
    same = strict(found.objects, found.next_id, wanted.objects, wanted.next_id)
    return wanted if same else found


def _changes(results: Sequence[Result]) -> list[RawChange]:
    return [change for one in results for change in (*one.changes, *one.law_changes)]
