"""The one door: intend, look, ask why, undo, plan. Every surface goes through it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tokenworld.engine import Engine, EngineSimulator, EngineSpeaker, ForcedLuck, State
from tokenworld.ground import Command, Json, LuckyDraw, NoMatch, Outcome
from tokenworld.model import Body
from tokenworld.planning import Verdict
from tokenworld.prose import EnglishProse, command_text, command_texts, completions
from tokenworld.session.intents import AnyIntent, Resolver, halt_json, intent_json
from tokenworld.session.loading import OpenWorld, open_world
from tokenworld.session.moments import LegalCommand, Moment, WhyNot
from tokenworld.session.solving import solve

if TYPE_CHECKING:
    from tokenworld.planning.hints import Hint
    from tokenworld.session.recording import Recording
    from tokenworld.store import IntentSource, RunStore

__all__ = ["LegalCommand", "Moment", "Session", "WhyNot"]


class Session:
    """A world being played. ``moments[0]`` is the start; undo drops the last moment.

    With a ``recording`` every record is in the store before `intend` returns; an undone record
    stays there, and play goes on in a branch.
    """

    def __init__(
        self,
        world: OpenWorld,
        seed: int = 0,
        *,
        store: RunStore | None = None,
        player: str = "human",
    ) -> None:
        self.enter(world)
        self.seed = seed
        self.player = player
        start = self.engine.start(seed)
        self.recording = None if store is None else _recording(store, world, start, player)
        self.moments: list[Moment] = [Moment(start, "", (), self._run(), 0)]
        self._cut = False

    @classmethod
    def open(cls, target: str, seed: int = 0, **options: object) -> Session:
        """A session of ``FILE[:world]``."""
        return cls(open_world(target), seed, **options)  # type: ignore[arg-type]

    def enter(self, world: OpenWorld) -> None:
        """Take over the rules of a world: its engine, and the words that it knows."""
        self.world = world
        self.engine = world.engine
        self._resolver = Resolver(world)

    # ---- looking ------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """The present state."""
        return self.moments[-1].state

    @property
    def actor(self) -> str | None:
        """The name of the acting object: of the one whose turn it is."""
        state = self.state
        return None if state.acting is None else state.names[state.acting]

    @property
    def tick(self) -> int:
        """Ticks committed so far."""
        return self.state.tick

    @property
    def latched(self) -> tuple[str, ...]:
        """The endings reached so far; where outcomes are live, the one that is true now."""
        return self.engine.stepper.endings.reached(self.state, self.state.me)

    def ended(self) -> bool:
        """Whether later intents are halted."""
        return self.engine.stepper.endings.over(self.state)

    def won(self, goal: str | None = None) -> bool:
        """Whether a goal line (this one) is latched."""
        goals = (goal,) if goal else self.engine.stepper.endings.named("goal")
        return any(name in self.latched for name in goals)

    def lost(self, name: str | None = None) -> bool:
        """Whether a lose line (this one) is latched."""
        losses = (name,) if name else self.engine.stepper.endings.named("lose")
        return any(one in self.latched for one in losses)

    def state_json(self) -> dict[str, Json]:
        """The present state as ``tw-state/1``."""
        return self.engine.json(self.state)

    def speaker(self) -> EngineSpeaker:
        """What typed words may ask of the present state."""
        return EngineSpeaker(self.engine, self.state)

    # ---- acting -------------------------------------------------------------------------------

    def intend(
        self,
        intent: AnyIntent,
        *,
        source: IntentSource = "human",
        draws: Sequence[LuckyDraw] | None = None,
        expect: str | None = None,
    ) -> tuple[Outcome, ...]:
        """Give the intent of the actor whose turn it is; its records (two where a long action is
        cancelled). With one actor that is one tick; with several, the last one's ends the round.

        ``draws`` forces outcomes of chance, as a *possible* plan needs. ``expect`` is the status
        that a scenario wants; it is stored with the intent.
        """
        began = time.perf_counter_ns()
        before = self.state
        command = self._resolver.resolve(before, intent)
        luck = None if draws is None else ForcedLuck(draws)
        after, outcomes = self.engine.play(before, command, luck)
        asked = self._asked(intent, before)
        stored = intent_json(intent, self.actor, outcomes[-1].args)
        if expect is not None:
            stored["expect"] = expect
        spent = (time.perf_counter_ns() - began) // 1000
        self._record(stored, outcomes, after, source, asked, spent)
        self._append(after, asked, outcomes)
        return outcomes

    def halt(self, cause: str, *, source: IntentSource = "human") -> Outcome:
        """Note that the runner stops here (an alarm, a player that failed); its record."""
        state = self.state
        outcome = self.engine.halt(state, cause)
        self._record(halt_json(self.actor, cause), (outcome,), state, source, None)
        self._append(state, "", (outcome,))
        return outcome

    def _append(self, after: State, asked: str, outcomes: tuple[Outcome, ...]) -> None:
        records = len(outcomes) + (0 if self._cut else self.moments[-1].records)
        self._cut = False
        scratch = self.moments[-1].scratch
        run = None if scratch else self._run()
        self.moments.append(Moment(after, asked, outcomes, run, records, scratch))

    def _run(self) -> int | None:
        return None if self.recording is None else self.recording.handle.id

    def _asked(self, intent: AnyIntent, state: State) -> str:
        if isinstance(intent, str):
            return intent
        if isinstance(intent, Command):
            return command_text(intent, self.world.program, EngineSpeaker(self.engine, state))
        stored = intent_json(intent, None, {})
        if "text" in stored:
            return str(stored["text"])
        return "pass" if "pass" in stored else str(stored.get("action", ""))

    def _record(
        self,
        stored: dict[str, Json],
        outcomes: tuple[Outcome, ...],
        after: State,
        source: IntentSource,
        asked: str | None,
        microseconds: int = 0,
    ) -> None:
        recording = self.recording
        if recording is None or self.moments[-1].scratch:
            return
        if self._cut:
            left = self.moments[-1]
            recording.branch(left.run, left.records, self.engine.hash(self.state))
        for index, outcome in enumerate(outcomes):
            last = index == len(outcomes) - 1
            snapshot = self.engine.json(after) if last and recording.wants_snapshot() else None
            recording.append(stored, outcome, source, asked, snapshot, microseconds)

    def edit(self, body: Body) -> None:
        """A `given` of a scenario: change the state between ticks. Nothing of it is recorded."""
        state = self.engine.edit(self.state, body)
        last = self.moments[-1]
        self.moments[-1] = Moment(state, last.asked, last.outcomes, last.run, last.records)

    def reseed(self, seed: int) -> None:
        """Give later draws another seed; nothing else of the state changes."""
        self.seed = seed
        state = self.state.fork()
        state.seed = seed
        last = self.moments[-1]
        self.moments[-1] = Moment(state, last.asked, last.outcomes, last.run, last.records)

    def same_facts(self, other: State) -> bool:
        """Whether objects, functions and relations are as in another state of this session."""
        return self.engine.same_facts(self.state, other)

    def undo(self) -> bool:
        """Take back the last step; false at the start. The store keeps what was recorded."""
        if len(self.moments) == 1:
            return False
        self.moments.pop()
        self._cut = True
        return True

    def travel(self, moments: Sequence[Moment]) -> None:
        """Stand at the end of a line of moments that was played in this session before.

        What is recorded then goes on in the run that ends there, else in a branch of its run.
        """
        self.moments = list(moments)
        last, recording = self.moments[-1], self.recording
        end = None if recording is None else (recording.handle.id, recording.written)
        self._cut = end is not None and end != (last.run, last.records)

    def finish(self, reason: str) -> None:
        """Close the recorded run, if any."""
        if self.recording is not None:
            self.recording.finish(reason)

    # ---- asking -------------------------------------------------------------------------------

    def legal(self) -> tuple[LegalCommand, ...]:
        """What would be executed now, as calls and as words."""
        commands = tuple(self.engine.legal(self.state))
        texts = command_texts(
            commands, self.world.program, self.speaker(), self._resolver.lexicon(self.state)
        )
        simulator = self.simulator()
        return tuple(
            LegalCommand(command, simulator.show(self.state, command), text)
            for command, text in zip(commands, texts, strict=True)
        )

    def why_not(self, intent: AnyIntent) -> WhyNot:
        """Examine an intent without giving it."""
        asked = self._asked(intent, self.state)
        command = self._resolver.resolve(self.state, intent)
        if isinstance(command, NoMatch):
            return WhyNot(asked, None, (), command)
        return WhyNot(asked, command, self.engine.why(self.state, command))

    def complete(self, prefix: str, limit: int = 20) -> tuple[str, ...]:
        """Commands that begin with what was typed."""
        return completions(prefix, self.world.program, self.speaker(), limit)

    def text_of(self, command: Command) -> str:
        """The words for a command in the present state."""
        return command_text(command, self.world.program, self.speaker())

    def takes_time(self, command: Command) -> bool:
        """Whether a tick passes when the command is executed now."""
        return not self.engine.stepper.unit.free(self.state, command)

    def can_pass(self) -> bool:
        """Whether letting time go by can matter, for the world or for others who take turns."""
        others = len(self.state.actors) > 1
        return not self.ended() and (self.engine.stepper.waiting_matters or others)

    def simulator(self) -> EngineSimulator:
        """The present state as a searcher sees it."""
        return EngineSimulator(self.engine, self.state)

    def apart(self, *, past: bool = False) -> Session:
        """The present moment on an engine of its own, unrecorded: to plan in another thread.

        A search makes an engine silent while it looks ahead, so it must not share one with play.
        With ``past`` it has all earlier moments too.
        """
        engine = Engine(self.engine.instance, EnglishProse())
        twin = Session(replace(self.world, engine=engine), self.seed, player=self.player)
        moments = self.moments if past else [Moment(self.state, "", (), None, 0)]
        twin.moments = [replace(one, state=one.state.fork()) for one in moments]
        for one in twin.moments:
            one.state.layout = engine.layout
        return twin

    # ---- planning -----------------------------------------------------------------------------

    def plan(
        self,
        goal: str | None = None,
        *,
        time_limit: float = 60.0,
        within: int | None = None,
        say: Callable[[str], None] | None = None,
        cancel: Callable[[], bool] | None = None,
    ) -> Verdict:
        """Whether a goal can still be reached from here."""
        return solve(
            self.engine,
            self.state,
            goal,
            time_limit=time_limit,
            within=within,
            say=say,
            cancel=cancel,
        )

    def hint(
        self,
        goal: str | None = None,
        *,
        time_limit: float = 20.0,
        cancel: Callable[[], bool] | None = None,
    ) -> Hint:
        """What helps from here: the next step of a shortest plan, the distance, landmarks."""
        from tokenworld.session.hinting import hint

        return hint(self, goal, seconds=time_limit, cancel=cancel or (lambda: False))


def _recording(store: RunStore, world: OpenWorld, start: State, player: str) -> Recording:
    """A new run in the store, which is not loaded where nothing is recorded."""
    from tokenworld.session.recording import Recording

    return Recording.begin(store, world, start, player)
