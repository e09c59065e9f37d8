"""What happens on the screen, without the screen: commands given, told and taken back.

Every answer comes from the session; this module only words it for the transcript.
"""

from __future__ import annotations

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Command
from tokenworld.planning import PlanStep, Verdict
from tokenworld.session import LegalCommand, Moment, Session
from tokenworld.session.forbidden import Forbidden, forbidden
from tokenworld.session.hinting import LastChance
from tokenworld.session.radar import Radar, Scout
from tokenworld.session.reloading import Reloaded
from tokenworld.session.scratch import Edited, edit_slot
from tokenworld.session.timeline import Node, Timeline
from tokenworld.session.tracing import Tracing
from tokenworld.store import IntentSource
from tokenworld.tools.play.glyphs import Glyphs
from tokenworld.tools.play.hints import hint_sentence
from tokenworld.tools.play.telling import Entry, EntryKind, reported
from tokenworld.tools.play.track import Track

__all__ = ["Entry", "EntryKind", "Game", "fault_text"]

_WELCOME = "Type a command, or press F2 for what you can do, F3 for a hint, F1 for help."


def fault_text(failure: Failure) -> str:
    """Every diagnostic of a failure as a sentence with its hint."""
    return " ".join(map(_told, failure.diagnostics))


def _told(found: Diagnostic) -> str:
    return f"{found.code}: {found.message}" + (f" {found.hint}" if found.hint else "")


class Game:
    """A session being played by a person, with the transcript and the plan being followed.

    ``entries`` only ever grows: what was undone stays readable, marked as undone.
    """

    def __init__(
        self,
        session: Session,
        glyphs: Glyphs,
        plan: tuple[PlanStep, ...] = (),
        verdict: Verdict | None = None,
    ) -> None:
        self.session, self.glyphs = session, glyphs
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
        self._scout: Scout | None = None

    @property
    def tracing(self) -> Tracing:
        """Tells the laws of a tick; made anew where the rules were exchanged."""
        if self._tracing is None or self._tracing.engine is not self.session.engine:
            self._tracing = Tracing(self.session)
        return self._tracing

    @property
    def radar(self) -> Radar:
        """From which moments the goal is in reach, as far as somebody asked."""
        if self._radar is None or not self._radar.fits(self.timeline):
            self._radar = Radar(self.timeline)
        return self._radar

    def scout(self) -> Scout:
        """Whom the radar asks, in one other thread at a time."""
        if self._scout is None or not self._scout.fits(self.session):
            self._scout = Scout(self.session)
        return self._scout

    def _welcome(self) -> str:
        return f"Welcome to {self.session.world.world.title}. {_WELCOME}"

    def _add(self, kind: EntryKind, text: str) -> None:
        self.entries.append(Entry(kind, text))

    # ---- giving commands --------------------------------------------------------------------

    def give(self, intent: str | Command, source: IntentSource = "human") -> bool:
        """Give a command; false, with the reason told, if the run store did not take it."""
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

    # ---- taking back ------------------------------------------------------------------------

    def undo(self) -> bool:
        """Take back the last command that changed something, and the idle ones behind it."""
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
        """Do again what was undone last, if nothing else was done since."""
        node = self.timeline.redo()
        if node is None:
            self._add("note", "There is nothing to redo.")
            return False
        self._add("note", f"{self.glyphs.redone} Redone: {node.moment.asked}")
        return True

    def edit(self, text: str) -> Edited | None:
        """Set a slot, as ``robot.wound = 2``, on a scratch branch; ``None``, with the reason told,
        where it does not fit."""
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
        """Leave the scratch branch and forget it; false, with that told, where there is none."""
        dropped = self.timeline.forget_scratch()
        self._add("note", f"{self.glyphs.undone} The trial is dropped; play goes on where it began."
                          if dropped else "There is no trial to drop.")  # fmt: skip
        return dropped

    def jump(self, node: Node) -> None:
        """Go to a moment of the timeline; what is played then is a branch."""
        self.timeline.jump(node)
        where = f"tick {node.moment.state.tick} of {self.timeline.name_of(node.line)}"
        asked = f", after {node.moment.asked}" if node.moment.asked else ""
        self._add("note", f"{self.glyphs.undone} Now at {where}{asked}.")

    def renew(self, found: Reloaded) -> None:
        """Go on with changed rules: what was played before cannot be undone any more."""
        self.timeline, self.track = Timeline(self.session), None
        changes = len(found.notes)
        told = f", {changes} change{'' if changes == 1 else 's'} to the state" if changes else ""
        self._add("note", f"{self.glyphs.hint} The rules were changed{told}; play goes on.")

    def would_lose(self) -> bool:
        """Whether quitting throws play away: something was done, and nothing records it."""
        session = self.session
        return session.recording is None and any(map(_changed, session.moments))

    # ---- what can be done ---------------------------------------------------------------------

    def legal(self) -> tuple[LegalCommand, ...]:
        """What would be executed now: with words and with time first, looking around last."""
        now = self.session.moments[-1]
        if self._legal is None or self._legal[0] is not now:
            listed = sorted(self.session.legal(), key=self._rank)
            self._legal = (now, tuple(listed))
        return self._legal[1]

    def forbidden(self) -> tuple[Forbidden, ...]:
        """What would be refused now, the nearest to possible first."""
        now = self.session.moments[-1]
        if self._forbidden is None or self._forbidden[0] is not now:
            self._forbidden = (now, forbidden(self.session, self.legal()))
        return self._forbidden[1]

    def _rank(self, one: LegalCommand) -> tuple[bool, bool]:
        return one.text == one.call, not self.session.takes_time(one.command)

    def suggestion(self, typed: str) -> str | None:
        """The command that what was typed most likely becomes: a legal one if there is one."""
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
        """How many steps of the plan are played, and how many it has."""
        if self.track is None:
            return 0, 0
        done = self.track.position(self.session.engine.hash(self.session.state))
        return done or 0, len(self.track.steps)

    def play_step(self) -> bool:
        """Play the plan's next step; false, with the reason told, if there is none or it is off."""
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
        """The steps of a plan behind the first, in words; those that speak of what is not there
        yet are shown as calls."""
        known = len(self.session.state.names)
        steps = tuple(zip(verdict.steps, verdict.plan, strict=True))[1:most]
        return tuple(
            self.session.text_of(step.command)
            if all(not isinstance(one, int) or one < known for one in step.command.args)
            else shown.command
            for step, shown in steps
        )

    def note(self, text: str) -> None:
        """Something to tell that the world did not say."""
        self._add("note", text)

    def fault(self, failure: Failure) -> None:
        """Something that could not be done, with what to do about it."""
        self._add("fault", fault_text(failure))


def _changed(moment: Moment) -> bool:
    return bool(moment.edit) or any(one.hash_before != one.hash_after for one in moment.outcomes)
