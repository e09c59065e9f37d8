"""`Session`: intend, look, ask why, undo, plan. Every surface goes through it.

The functions after the class decide what planners may tell a player. A planner sees the whole
state; the player gets its plan if no require, change, law or ending on the way reads a secret.
A secret that an executed action showed is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import (
    Engine,
    EngineSimulator,
    EngineSpeaker,
    ForcedLuck,
    Knowledge,
    Luck,
    State,
)
from tokenworld.engine.clock import waiting_matters
from tokenworld.ground import By, Command, Json, LuckyDraw, NoMatch, Outcome
from tokenworld.model import Body
from tokenworld.planning.honest.secrets import deciding, told_by
from tokenworld.planning.ladder import plan
from tokenworld.planning.verdict import Answer, PlanStep, Verdict
from tokenworld.prose.matching import command_text, completions
from tokenworld.prose.wording import EnglishProse
from tokenworld.session.intents import AnyIntent, Resolver, halt_json, intent_json
from tokenworld.session.loading import OpenWorld, open_world
from tokenworld.session.moments import Given, LegalCommand, Moment, Past, WhyNot, with_engine
from tokenworld.session.solving import WhichLuck, solve

if TYPE_CHECKING:
    from pathlib import Path

    from tokenworld.planning.hints import Hint
    from tokenworld.planning.planners.answers import Classical
    from tokenworld.session.recording import Recording
    from tokenworld.store.log import RunStore
    from tokenworld.store.records import IntentSource


class Session:
    """A world being played. ``moments[0]`` is the start; undo drops the last moment.

    Its results contain only the player's knowledge (see `Knowledge`): secrets are hidden in
    records, commands, reasons and the state. To an ``operator`` nothing is hidden, and the log
    holds all. With a ``recording`` every record is in the store before `intend` returns; an undone
    record stays there, and play goes on in a branch. A session that does not ``remember`` has its
    last two moments only.
    """

    def __init__(
        self,
        world: OpenWorld,
        seed: int = 0,
        *,
        store: RunStore | None = None,
        player: str = "human",
        operator: bool = False,
    ) -> None:
        self.operator = operator
        self.enter(world)
        self.seed = seed
        self.player = player
        start = self.engine.start(seed)
        self.recording = None if store is None else _recording(store, world, start, player)
        self.moments: list[Moment] = [Moment(start, "", (), self._run(), 0)]
        self.remembers = True
        self._cut = False

    @classmethod
    def open(cls, target: str | Path, seed: int = 0, **options: object) -> Session:
        """A session of ``FILE[:world]``, given as text or as a path."""
        return cls(open_world(target), seed, **options)  # type: ignore[arg-type]

    def enter(self, world: OpenWorld) -> None:
        """Take over the rules of a world: its engine, and the words that it knows."""
        self.world = world
        self.engine = world.engine
        self._past = Past(self.engine)
        self._resolver = Resolver(world)

    # ---- looking ------------------------------------------------------------------------------

    @property
    def known(self) -> Knowledge:
        """The states that are possible for all that the player knows."""
        return self.engine.everything if self.operator else self.engine.known

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
        return self.engine.reached(self.state)

    def ended(self) -> bool:
        """Return whether later intents are halted."""
        return self.engine.over(self.state)

    def won(self, goal: str | None = None) -> bool:
        """Return whether a goal line (this one) is latched."""
        return self._is_latched("goal", goal)

    def lost(self, name: str | None = None) -> bool:
        """Return whether a lose line (this one) is latched."""
        return self._is_latched("lose", name)

    def _is_latched(self, kind: str, name: str | None) -> bool:
        endings, latched = self.world.world.endings, self.latched
        return any(
            one.name in latched
            for one in endings
            if one.ending == kind and name in (None, one.name)
        )

    def state_json(self) -> dict[str, Json]:
        """The present state as ``tw-state/1``, without secrets that are hidden."""
        return self.known.json(self.state)

    def speaker(self) -> EngineSpeaker:
        """The reader of typed words for the present state."""
        return EngineSpeaker(self.engine, self.state)

    # ---- acting -------------------------------------------------------------------------------

    def intend(
        self,
        intent: AnyIntent,
        *,
        source: IntentSource = "human",
        draws: Sequence[LuckyDraw] | None = None,
        luck: Luck | None = None,
        expect: str | None = None,
        by: By = "player",
        hand_over: bool = False,
    ) -> tuple[Outcome, ...]:
        """Give the intent of the actor whose turn it is; its records (two where a long action is
        broken off, or goes on after a fruitless intent). With one actor that is one tick; with
        several, the last one's ends the round. A fruitless intent changes nothing.

        ``draws`` forces outcomes of chance, as a *possible* plan needs; ``luck`` decides them all.
        ``expect`` is the status that a scenario wants; it is stored with the intent. ``by``: the
        runner may pass for a player. ``hand_over``: words without a meaning are yielded to an
        operator.
        """
        began = time.perf_counter_ns()
        before = self.state
        command = self._resolver.resolve(before, intent)
        if hand_over and isinstance(command, NoMatch):
            command = replace(command, yielded=True)
        luck = luck if draws is None else ForcedLuck(draws)
        asked = self._noted(intent, before)
        after, outcomes = self.engine.play(before, command, luck, by=by)
        if self.recording is not None:
            spent = (time.perf_counter_ns() - began) // 1000
            stored = self._stored(intent, outcomes, expect)
            words = asked if isinstance(asked, str) else None
            self._record(stored, outcomes, after, source, words, spent)
        shown = tuple(map(self.known.outcome, outcomes))
        drawn = tuple(draw for one in outcomes for draw in one.draws)
        self._append(after, asked, shown, Given.of(command, by, draws, luck), drawn)
        return shown

    def halt(self, cause: str, *, source: IntentSource = "human") -> Outcome:
        """Note that the runner stops here (an alarm, a player that failed); its record."""
        state = self.state
        outcome = self.engine.halt(state, cause)
        self._record(halt_json(self.actor, cause), (outcome,), state, source, None)
        self._append(state, "", (outcome,), Given())
        return outcome

    def _append(
        self,
        after: State,
        asked: str | Callable[[], str],
        outcomes: tuple[Outcome, ...],
        given: Given | None,
        drawn: tuple[LuckyDraw, ...] = (),
    ) -> None:
        records = len(outcomes) + (0 if self._cut else self.moments[-1].records)
        self._cut = False
        scratch = self.moments[-1].scratch
        run = None if scratch else self._run()
        moment = Moment(after, asked, outcomes, run, records, scratch, drawn=drawn)
        if self.remembers:
            self._past.add(moment, self.moments[-1], given)
        else:
            del self.moments[:-1]
        self.moments.append(moment)

    def _run(self) -> int | None:
        return None if self.recording is None else self.recording.handle.id

    def _noted(self, intent: AnyIntent, state: State) -> str | Callable[[], str]:
        """The words of an intent, or a call that composes them where nobody may want them."""
        if self.recording is None and not self.remembers:
            return ""
        late = self.recording is None and not self._resolver.is_at(state)
        if late and isinstance(intent, Command):
            return partial(self._resolver.text_of, state, intent)
        return self._asked(intent, state)

    def _asked(self, intent: AnyIntent, state: State) -> str:
        if isinstance(intent, str):
            return intent
        if isinstance(intent, Command):
            return self._resolver.text_of(state, intent)
        stored = intent_json(intent, None, {})
        if "text" in stored:
            return str(stored["text"])
        return "pass" if "pass" in stored else str(stored.get("action", ""))

    def _stored(
        self, intent: AnyIntent, outcomes: tuple[Outcome, ...], expect: str | None
    ) -> dict[str, Json]:
        """The form of an intent in the log."""
        stored = intent_json(intent, self.actor, outcomes[-1].args)
        if expect is not None:
            stored["expect"] = expect
        if outcomes[0].status == "yielded":
            stored["yield"] = True
        return stored

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
        self.moments[-1] = self.moments[-1].at(state)

    def reseed(self, seed: int) -> None:
        """Give later draws another seed; nothing else of the state changes."""
        self.seed = seed
        state = self.state.fork()
        state.seed = seed
        self.moments[-1] = self.moments[-1].at(state)

    def same_facts(self, other: State) -> bool:
        """Return whether objects, functions and relations are as in another state of this
        session."""
        return self.engine.same_facts(self.state, other)

    def undo(self) -> bool:
        """Take back the last step; false at the start. The store keeps its records."""
        if len(self.moments) == 1:
            return False
        self.moments.pop()
        self.moments[-1].hold()
        self._cut = True
        return True

    def travel(self, moments: Sequence[Moment]) -> None:
        """Move to the end of a line of moments that was played in this session before.

        Later records continue the run that ends there, else a branch of its run.
        """
        self.moments = list(moments)
        self.moments[-1].hold()
        last, recording = self.moments[-1], self.recording
        end = None if recording is None else (recording.handle.id, recording.written)
        self._cut = end is not None and end != (last.run, last.records)

    def finish(self, reason: str) -> None:
        """Close the recorded run, if any."""
        if self.recording is not None:
            self.recording.finish(reason)

    # ---- asking -------------------------------------------------------------------------------

    def legal(self) -> tuple[LegalCommand, ...]:
        """The legal commands for some values of the secrets, as calls and as words."""
        return self._resolver.listed(self.state, self.known.commands(self.state))

    def why_not(self, intent: AnyIntent) -> WhyNot:
        """Examine an intent without giving it."""
        asked = self._asked(intent, self.state)
        command = self._resolver.resolve(self.state, intent)
        if isinstance(command, NoMatch):
            return WhyNot(asked, None, (), command)
        requires, known = self.known.why(self.state, command), self.known
        allowed = all(one.holds is True or one.hidden for one in requires)
        may = allowed and (known.is_whole or known.may(self.state, command))
        sure = known.is_sure(self.state, command)
        return WhyNot(asked, command, requires, allowed=may, sure=sure)

    def complete(self, prefix: str, limit: int = 20) -> tuple[str, ...]:
        """Return commands that begin with the typed text."""
        return completions(prefix, self.world.program, self.speaker(), limit)

    def text_of(self, command: Command) -> str:
        """The words for a command in the present state."""
        return command_text(command, self.world.program, self.speaker())

    def takes_time(self, command: Command) -> bool:
        """Return whether a tick passes when the command is executed now."""
        return not self.engine.asked(self.state, lambda tick: tick.is_free(command))

    def can_pass(self) -> bool:
        """Return whether letting time go by can matter, for the world or for others who take
        turns."""
        others = len(self.state.actors) > 1
        return not self.ended() and (waiting_matters(self.engine.instance) or others)

    def simulator(self) -> EngineSimulator:
        """The present state as a searcher sees it."""
        return EngineSimulator(self.engine, self.state)

    def apart(self, *, past: bool = False) -> Session:
        """The present moment on an engine of its own, unrecorded: to plan in another thread.

        An engine caches its results, so two threads must not share one. With ``past`` it has all
        earlier moments too.
        """
        engine = Engine(self.engine.instance, EnglishProse())
        world = replace(self.world, engine=engine)
        twin = Session(world, self.seed, player=self.player, operator=self.operator)
        moments = self.moments if past else [Moment(self.state, "", (), None, 0)]
        twin.moments = with_engine(moments, engine)
        return twin

    # ---- planning -----------------------------------------------------------------------------

    def plan(
        self,
        goal: str | None = None,
        *,
        time_limit: float = 60.0,
        within: int | None = None,
        luck: WhichLuck = "possible",
        original: Classical | None = None,
        say: Callable[[str], None] | None = None,
        cancel: Callable[[], bool] | None = None,
    ) -> Verdict:
        """Return whether a goal can still be reached from here, as far as a player may know.

        With ``luck`` *least*, the plan counts on as little of it as is found. ``original`` runs a
        planner on the PDDL that the world was imported from; it is for the start only.
        """

        found = solve(
            self.engine,
            self.state,
            goal,
            time_limit=time_limit,
            within=within,
            luck=luck,
            original=original,
            say=say,
            cancel=cancel,
        )
        return foreseen(self, found)

    def hint(
        self,
        goal: str | None = None,
        *,
        time_limit: float = 20.0,
        cancel: Callable[[], bool] | None = None,
    ) -> Hint:
        """The hint from here: the next step of a shortest plan, the distance, landmarks."""

        return hint(self, goal, seconds=time_limit, cancel=cancel or (lambda: False))


def _recording(store: RunStore, world: OpenWorld, start: State, player: str) -> Recording:
    """A new run in the store, which is not loaded where nothing is recorded."""
    from tokenworld.session.recording import Recording

    return Recording.begin(store, world, start, player)


def hidden_about(session: Session, moments: Sequence[Moment] | None = None) -> tuple[str, ...]:
    """The names of hidden secrets that may influence any reachable fact, at the end of ``moments``
    (of all of them)."""
    if session.known.is_whole:
        return ()
    instance = session.engine.instance
    names = tuple(instance.program.actions)
    return deciding(instance, names, _shown_secrets(session, moments))


def hidden_on(
    session: Session, steps: Sequence[PlanStep], moments: Sequence[Moment] | None = None
) -> tuple[str, ...]:
    """The names of unknown secrets that a plan from the end of ``moments`` depends on."""
    if session.known.is_whole:
        return ()
    names = tuple(one.command.action for one in steps if not one.command.is_pass)
    return deciding(session.engine.instance, names, _shown_secrets(session, moments))


def _shown_secrets(session: Session, moments: Sequence[Moment] | None) -> frozenset[str]:
    played = session.moments if moments is None else moments
    done = (
        one.action
        for moment in played
        for one in moment.outcomes
        if one.status == "executed" and one.action in session.world.program.actions
    )
    return told_by(session.engine.instance, done)


def foreseen(
    session: Session, verdict: Verdict, moments: Sequence[Moment] | None = None
) -> Verdict:
    """The verdict for a player: *unknown*, with the reason, if it depends on secrets."""
    if session.known.is_whole:
        return verdict
    if verdict.answer == "winnable":
        hidden = hidden_on(session, verdict.steps, moments)
        if not hidden:  # that there is no better one may depend on them all the same
            about = hidden_about(session, moments)
            return replace(verdict, optimal=None) if about else verdict
    else:
        hidden = hidden_about(session, moments)
        if not hidden:
            return verdict
    listed = ", ".join(f"`{one}`" for one in hidden)
    note = Diagnostic(
        "TW0808",
        f"The way to the goal depends on what is hidden: {listed}.",
        hint="Find it out in play. `tw plan` shows it to operators.",
    )
    return Verdict("unknown", verdict.goal, None, "", "", notes=(note,))


Cancel = Callable[[], bool]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LastChance:
    """The last moment at which a session could be won.

    ``moment`` is the number of the last winnable moment (0: the start; ``None``: not even that),
    ``tick`` its tick, ``lost_by`` the next intent, empty if there was none. ``known`` is false if
    there was no time for a verdict: then a later moment may be winnable too.
    """

    moment: int | None
    tick: int | None
    lost_by: str
    known: bool


def hint(
    session: Session,
    goal: str | None,
    *,
    seconds: float,
    say: Say = lambda line: None,
    cancel: Cancel = lambda: False,
) -> Hint:
    """The hint for the present state. Raises `Failure` (TW0813) where the world is over."""
    from tokenworld.planning.hints import hint_from

    if session.ended():
        advice = "Undo, or begin a new run."
        raise Failure(Diagnostic("TW0813", "The world is over.", hint=advice))
    simulator = EngineSimulator(session.engine, session.state)
    return hint_from(
        simulator,
        session.state,
        goal,
        seconds=seconds,
        say=say,
        cancel=cancel,
        heard=lambda verdict: foreseen(session, verdict),
        landmarks=not hidden_about(session),
    )


def last_winnable(
    session: Session,
    goal: str | None,
    *,
    seconds: float,
    known: dict[str, Answer] | None = None,
    say: Say = lambda line: None,
    cancel: Cancel = lambda: False,
) -> LastChance:
    """The last moment of the session from which the goal could be reached.

    A goal that is out of reach stays so: a binary search over the moments finds the last one.
    ``known`` caches verdicts by `asked_of` from call to call. When ``cancel`` answers true, the
    search ends without an answer.
    """
    moments, verdicts = session.moments, {} if known is None else known
    end = time.monotonic() + seconds
    low, high, sure = -1, len(moments), True
    while high - low > 1:
        middle = len(moments) - 1 if high == len(moments) else (low + high) // 2
        if cancel():
            sure = False
            break
        say(f"asking whether the goal was in reach at tick {moments[middle].state.tick}")
        answer = _answer(session, middle, goal, end, verdicts, cancel)
        sure = sure and answer != "unknown"
        if answer == "winnable":
            low = middle
        else:
            high = middle
    if low < 0:
        return LastChance(None, None, _asked(moments, 0), sure)
    return LastChance(low, moments[low].state.tick, _asked(moments, low + 1), sure)


def _asked(moments: Sequence[Moment], number: int) -> str:
    return moments[number].asked if number < len(moments) else ""


def asked_of(session: Session, state: State, goal: str | None) -> str:
    """The key of the verdict on whether a goal can be reached from a state."""
    return f"{session.engine.hash(state)} {goal or ''}"


def _answer(
    session: Session,
    number: int,
    goal: str | None,
    end: float,
    known: dict[str, Answer],
    cancel: Cancel,
) -> Answer:
    state = session.moments[number].state
    key = asked_of(session, state, goal)
    if key not in known:
        simulator = EngineSimulator(session.engine, state)
        left = max(end - time.monotonic(), 0.1)
        found = plan(simulator, state, goal, time_limit=left, cancel=cancel)
        known[key] = foreseen(session, found, session.moments[: number + 1]).answer
    return known[key]
