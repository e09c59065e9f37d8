"""A game without its screen: give and undo commands, follow plans.

Every answer comes from the session; this module only words it for the transcript.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Literal

from tokenworld.diagnostics import Diagnostic, Failure, counted
from tokenworld.engine.changes import Breach
from tokenworld.ground import Command, Outcome
from tokenworld.model import World
from tokenworld.planning.verdict import PlanStep, Verdict
from tokenworld.play.model.hints import hint_sentence
from tokenworld.play.model.timeline import Edited, Node, Radar, RadarPlanner, Timeline, edit_slot
from tokenworld.prose.matching import command_texts
from tokenworld.session import Moment
from tokenworld.session.moments import LegalCommand
from tokenworld.session.obstacles import completed, requires_held
from tokenworld.session.session import LastChance, Session
from tokenworld.store.records import IntentSource
from tokenworld.verbs.output import Glyphs

if TYPE_CHECKING:
    from tokenworld.session.reloading import Reloaded
    from tokenworld.verbs.runs.trace import Tracing

_LOOKED_AT = 100
"""So many bindings of each action are looked at."""


@dataclass(frozen=True, slots=True)
class Forbidden:
    """A command that would be refused now, in words, with the text of its first failed require."""

    command: Command
    text: str
    reason: str


def forbidden(
    session: Session, legal: tuple[LegalCommand, ...], limit: int = 60
) -> tuple[Forbidden, ...]:
    """Up to ``limit`` commands that are not ``legal``, those with the fewest failed requires first.

    Left out is what names objects that the actor cannot name, and what static facts rule out.
    """
    if session.ended():
        return ()
    allowed = {one.command for one in legal}
    counted = [
        (_failed(session, command), command)
        for command in _candidates(session)
        if command not in allowed
    ]
    counted.sort(key=lambda one: one[0])
    commands = tuple(command for _, command in counted[:limit])
    texts = command_texts(commands, session.world.program, session.speaker())
    found = (
        Forbidden(command, text, _reason(session, command))
        for command, text in zip(commands, texts, strict=True)
    )
    return tuple(one for one in found if one.reason)


def _candidates(session: Session) -> Iterator[Command]:
    state, speaker = session.state, session.speaker()
    for name, action in session.world.program.actions.items():
        places = [n for n, one in enumerate(action.params) if one.type.kind == "object"]
        for args in islice(session.known.bindings(state, name) or (), _LOOKED_AT):
            objects = (args[place] for place in places)
            if all(isinstance(one, int) and speaker.in_scope(one) for one in objects):
                yield Command(name, args)


def _failed(session: Session, command: Command) -> int:
    try:
        found = enumerate(requires_held(session.engine, session.state, command))
        hides = session.known.hides
        return sum(one is not True for n, one in found if not hides(command.action, n))
    except Breach:
        return 1


def _reason(session: Session, command: Command) -> str:
    try:
        reports = session.known.why(session.state, command)
    except Breach as breach:
        return breach.message
    return next((one.text for one in reports if one.holds is not True), "")


@dataclass(slots=True)
class Track:
    """Steps with the hash of the state each is to be given in, as far as they were given.

    Undo brings an earlier hash back, and with it the step that follows there. ``certain``: the
    plan reaches its goal with this run's own draws, so luck that looks different is no obstacle.
    """

    steps: tuple[PlanStep, ...]
    certain: bool
    hashes: list[str] = field(default_factory=list)

    def position(self, state_hash: str) -> int | None:
        """Return how many steps are done in this state; ``None`` where the plan does not fit."""
        return self.hashes.index(state_hash) if state_hash in self.hashes else None

    def next_step(self, state_hash: str) -> PlanStep | None:
        """The step to give in this state."""
        position = self.position(state_hash)
        if position is None or position >= len(self.steps):
            return None
        return self.steps[position]

    def follow(
        self, before: str, command: Command | None, outcomes: Sequence[Outcome], after: str
    ) -> None:
        """Record a tick of any player; if it was the next step of the plan, advance the plan."""
        position, step = self.position(before), self.next_step(before)
        if position is None or step is None or command != step.command:
            return
        if outcomes[-1].status in ("executed", "waiting") and self._as_hoped(step, outcomes):
            self.hashes[position + 1 :] = [after]

    def _as_hoped(self, step: PlanStep, outcomes: Sequence[Outcome]) -> bool:
        if self.certain:
            return True
        drawn = [draw for one in outcomes for draw in one.draws]
        first = {(d.rule, d.args): d.draw for d in reversed(drawn)}  # a step counts from its own
        found = {(d.rule, d.args, d.draw - first[d.rule, d.args]): d.choice for d in drawn}
        return all(found.get((one.rule, one.args, one.draw)) == one.choice for one in step.draws)


EntryKind = Literal["welcome", "typed", "said", "refused", "puzzled", "ending", "note", "fault"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A paragraph of the transcript."""

    kind: EntryKind
    text: str


def reported(outcome: Outcome, world: World, glyphs: Glyphs) -> Iterator[Entry]:
    """Yield the paragraphs of a record: refusal, texts, broken laws and reached endings."""
    if outcome.refusal is not None:
        yield Entry("refused", outcome.refusal.text)
    if outcome.no_match is not None:
        yield Entry("puzzled", outcome.no_match.message)
    yield from (Entry("said", text) for text in outcome.said)
    if outcome.breach is not None:
        yield Entry("fault", f"{outcome.breach['code']}: {outcome.breach['message']}")
    state = _state_of(outcome)
    if state:
        yield Entry("said", state)
    yield from (Entry("ending", ending_text(name, world, glyphs)) for name in outcome.latched)


def _state_of(outcome: Outcome) -> str:
    """A word where the world itself says nothing."""
    match outcome.status:
        case "waiting" if outcome.progress is not None:
            done, total = outcome.progress
            return f"It goes on: {done} of {total} ticks done."
        case "interrupted" if not outcome.said:
            return "What you were doing is broken off."
        case "halted":
            return "The world is over. Undo with Ctrl+Z, or quit with Ctrl+Q."
        case "executed" if not outcome.said and not outcome.latched and not outcome.progress:
            if outcome.changes:
                return "Done."
            return "Time passes." if outcome.time_passed else "Nothing changes."
    return ""


def ending_text(name: str, world: World, glyphs: Glyphs) -> str:
    """Return the text that announces an ending."""
    ending = next(one for one in world.endings if one.name == name)
    match ending.ending:
        case "goal":
            text = f"{glyphs.won} You have reached the goal `{name}`."
        case "lose":
            text = f"{glyphs.lost} You have lost: `{name}`."
        case "stop":
            text = f"{glyphs.halted} The world stops: `{name}`."
    after = "You may play on" if world.endless else "The world is over"
    return f"{text} {after}; Ctrl+Z takes the last step back."


_WELCOME = "Type a command, or press F2 for what you can do, F3 for a hint, F1 for help."


def fault_text(failure: Failure) -> str:
    """Every diagnostic of a failure as a sentence with its hint."""
    return " ".join(map(_told, failure.diagnostics))


def _told(found: Diagnostic) -> str:
    return f"{found.code}: {found.message}" + (f" {found.hint}" if found.hint else "")


class Game:
    """A session being played by a person, with the transcript and the plan being followed.

    ``entries`` only ever grows: undone entries stay readable, marked as undone. ``operator``:
    the whole state is shown, with the quality of the run and the radar.
    """

    def __init__(
        self,
        session: Session,
        glyphs: Glyphs,
        plan: tuple[PlanStep, ...] = (),
        verdict: Verdict | None = None,
    ) -> None:
        self.session, self.glyphs = session, glyphs
        self.operator = session.operator
        self.timeline = Timeline(session)
        self.entries: list[Entry] = [Entry("welcome", self._welcome())]
        for moment in session.moments[1:]:
            self._tell(moment)
        self.track: Track | None = None
        if plan:
            # it was made for this run's own draws, whatever its first verdict counted on
            self.follow(plan, certain=True)
            self._add("note", f"A plan of {len(plan)} steps is ready: F6 plays a step of it, "
                              "F7 all of it.")  # fmt: skip
        elif verdict is not None:
            self._add("note", hint_sentence(verdict, None))
        self._legal: tuple[Moment, tuple[LegalCommand, ...]] | None = None
        self._forbidden: tuple[Moment, tuple[Forbidden, ...]] | None = None
        self._tracing: Tracing | None = None
        self._radar: Radar | None = None
        self._planner: RadarPlanner | None = None

    @property
    def tracing(self) -> Tracing:
        """Tells the laws of a tick; made anew where the rules were exchanged."""
        from tokenworld.verbs.runs.trace import Tracing  # with the run store, which few games need

        if self._tracing is None or self._tracing.engine is not self.session.engine:
            self._tracing = Tracing(self.session)
        return self._tracing

    @property
    def radar(self) -> Radar:
        """The radar, with the answers so far on which moments can reach the goal."""
        if self._radar is None or not self._radar.fits(self.timeline):
            self._radar = Radar(self.timeline)
        return self._radar

    def planner(self) -> RadarPlanner:
        """Return the planner's door of the radar, for one other thread at a time."""
        if self._planner is None or not self._planner.fits(self.session):
            self._planner = RadarPlanner(self.session)
        return self._planner

    def _welcome(self) -> str:
        return f"Welcome to {self.session.world.world.title}. {_WELCOME}"

    def _add(self, kind: EntryKind, text: str) -> None:
        self.entries.append(Entry(kind, text))

    # ---- giving commands --------------------------------------------------------------------

    def give(self, intent: str | Command, source: IntentSource = "human") -> bool:
        """Give a command; return false, with a note on the reason, if the run store failed."""
        session = self.session
        before = session.engine.hash(session.state)
        try:
            command = self._meant(intent)
            outcomes = session.intend(intent, source=source)
        except Failure as failure:
            self._add("typed", intent if isinstance(intent, str) else session.text_of(intent))
            self._add("fault", f"{fault_text(failure)} The command was not carried out.")
            return False
        self._tell(session.moments[-1])
        if self.track is not None:
            after = session.engine.hash(session.state)
            self.track.follow(before, command, outcomes, after)
        return True

    def _meant(self, intent: str | Command) -> Command | None:
        if isinstance(intent, Command) or self.track is None:
            return intent if isinstance(intent, Command) else None
        return self.session.why_not(intent).command

    def _tell(self, moment: Moment) -> None:
        self._add("typed", moment.asked)
        for outcome in moment.outcomes:
            self.entries.extend(reported(outcome, self.session.world.world, self.glyphs))
            if done := completed(self.session, moment, outcome):
                self._add("said", f"`{done}` is done.")

    # ---- taking back ------------------------------------------------------------------------

    def undo(self) -> bool:
        """Take back the last command that changed something, and the idle ones after it."""
        moments = self.session.moments
        last = next((n for n in range(len(moments) - 1, 0, -1) if _changed(moments[n])), None)
        if last is None:
            self._add("note", "There is nothing to undo.")
            return False
        asked, left = moments[last].asked, self.timeline.sync()
        while len(self.session.moments) > last:
            self.session.undo()
        self.timeline.undone(left)
        self._add("note", f"{self.glyphs.undone} Undone: {asked}")
        return True

    def redo(self) -> bool:
        """Redo the step that was undone last, if no other step was played since."""
        node = self.timeline.redo()
        if node is None:
            self._add("note", "There is nothing to redo.")
            return False
        self._add("note", f"{self.glyphs.redone} Redone: {node.moment.asked}")
        return True

    def edit(self, text: str) -> Edited | None:
        """Set a slot, as ``robot.wound = 2``, on a scratch branch; return ``None``, with a note
        on the reason, if it does not fit."""
        slot, _, value = text.partition("=")
        try:
            found = edit_slot(self.session, slot.strip(), value.strip())
        except Failure as failure:
            self.fault(failure)
            return None
        self.timeline.sync()
        self._add("note", f"{self.glyphs.changed} By hand: {self.session.moments[-1].edit}. This "
                          "branch is a trial: nothing of it is recorded.")  # fmt: skip
        for one in found.broken:
            self._add("note", f"{self.glyphs.refused} {one}")
        return found

    def drop_scratch(self) -> bool:
        """Leave the scratch branch and drop it; return false, with a note, if there is none."""
        dropped = self.timeline.forget_scratch()
        self._add("note", f"{self.glyphs.undone} The trial is dropped; play goes on where it began."
                          if dropped else "There is no trial to drop.")  # fmt: skip
        return dropped

    def jump(self, node: Node) -> None:
        """Go to a moment of the timeline; later steps are a branch."""
        self.timeline.jump(node)
        where = f"tick {node.moment.state.tick} of {self.timeline.name_of(node.line)}"
        asked = f", after {node.moment.asked}" if node.moment.asked else ""
        self._add("note", f"{self.glyphs.undone} Now at {where}{asked}.")

    def renew(self, found: Reloaded) -> None:
        """Continue with changed rules; earlier steps cannot be undone any more."""
        self.timeline, self.track = Timeline(self.session), None
        changes = len(found.notes)
        told = f", {counted(changes, 'change')} to the state" if changes else ""
        self._add("note", f"{self.glyphs.hint} The rules were changed{told}; play goes on.")

    def would_lose(self) -> bool:
        """Return whether quitting throws play away: something was done, and nothing records it."""
        session = self.session
        return session.recording is None and any(map(_changed, session.moments))

    # ---- legal commands -----------------------------------------------------------------------

    def legal(self) -> tuple[LegalCommand, ...]:
        """Return the legal commands: with words and with time first, looking around last."""
        now = self.session.moments[-1]
        if self._legal is None or self._legal[0] is not now:
            listed = sorted(self.session.legal(), key=self._rank)
            self._legal = (now, tuple(listed))
        return self._legal[1]

    def forbidden(self) -> tuple[Forbidden, ...]:
        """Return commands that would be refused now, the nearest to possible first."""
        now = self.session.moments[-1]
        if self._forbidden is None or self._forbidden[0] is not now:
            self._forbidden = (now, forbidden(self.session, self.legal()))
        return self._forbidden[1]

    def _rank(self, one: LegalCommand) -> tuple[bool, bool]:
        return one.text == one.call, not self.session.takes_time(one.command)

    def suggestion(self, typed: str) -> str | None:
        """Return the likeliest completion of the typed text: a legal command if there is one."""
        if not typed.strip():
            return None
        wanted = typed.casefold()
        legal = (one.text for one in self.legal() if one.text.casefold().startswith(wanted))
        found = next(legal, None) or next(iter(self.session.complete(typed, 1)), None)
        return None if found is None else typed + found[len(typed) :]

    # ---- plans --------------------------------------------------------------------------------

    def follow(self, steps: tuple[PlanStep, ...], *, certain: bool) -> None:
        """Follow a plan from the present state."""
        now = self.session.engine.hash(self.session.state)
        self.track = Track(steps, certain, [now])

    def next_step(self) -> PlanStep | None:
        """The plan's next step, if a plan is followed and fits the present state."""
        if self.track is None:
            return None
        return self.track.next_step(self.session.engine.hash(self.session.state))

    def progress(self) -> tuple[int, int]:
        """Return how many steps of the plan are played, and how many it has."""
        if self.track is None:
            return 0, 0
        done = self.track.position(self.session.engine.hash(self.session.state))
        return done or 0, len(self.track.steps)

    def play_step(self) -> bool:
        """Play the plan's next step; return false, with a note, if there is none or the plan is
        broken."""
        step = self.next_step()
        if step is None:
            self._add("note", self._no_step())
            return False
        if not self.give(step.command, "planner"):
            return False
        if self._on_course():
            return True
        self._add("note", "That went otherwise than the plan counted on: press F3 for a new one.")
        return False

    def _on_course(self) -> bool:
        assert self.track is not None
        return self.track.position(self.session.engine.hash(self.session.state)) is not None

    def _no_step(self) -> str:
        if self.track is None:
            return "No plan is at hand: press F3 for a hint, which makes one."
        if self._on_course():
            return "The plan is played to its end."
        return "The plan does not fit the present state: press F3 for a new one, or undo."

    def advise(self, verdict: Verdict, chance: LastChance | None = None) -> str | None:
        """Take a verdict on the present state as a hint; the next step in words."""
        self.radar.learn(self.session.state, verdict)
        if verdict.answer == "winnable":
            self.follow(verdict.steps, certain=bool(verdict.wins_with_seed))
        step = self.next_step() if verdict.answer == "winnable" else None
        words = None if step is None else self.session.text_of(step.command)
        self._add("note", f"{self.glyphs.hint} {hint_sentence(verdict, words, chance)}")
        return words

    def step_texts(self, verdict: Verdict, most: int) -> tuple[str, ...]:
        """Return the steps of a plan after the first, in words or, for new objects, as calls."""
        known = len(self.session.state.names)
        steps = tuple(zip(verdict.steps, verdict.plan, strict=True))[1:most]
        return tuple(
            self.session.text_of(step.command)
            if all(not isinstance(one, int) or one < known for one in step.command.args)
            else shown.command
            for step, shown in steps
        )

    def note(self, text: str) -> None:
        """Add a note to the transcript that is no text of the world."""
        self._add("note", text)

    def fault(self, failure: Failure) -> None:
        """A failed request, with the next step."""
        self._add("fault", fault_text(failure))


def _changed(moment: Moment) -> bool:
    return bool(moment.edit) or any(one.hash_before != one.hash_after for one in moment.outcomes)
