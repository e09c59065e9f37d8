"""The part of the play screen that asks planners in threads and follows plans, beside the game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Final, assert_never

from textual import work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker, get_current_worker

from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source
from tokenworld.engine import State
from tokenworld.ground import Command
from tokenworld.planning.verdict import Answer, Explaining, Verdict
from tokenworld.play.model.game import Game
from tokenworld.play.model.hints import (
    LEVELS,
    TITLES,
    Ahead,
    Topic,
    ahead_lines,
    goal_lines,
    hint_lines,
    look_ahead,
)
from tokenworld.play.widgets.shown import Content, content, link
from tokenworld.play.widgets.texts import Details
from tokenworld.session import LoadFailure, OpenWorld, Session
from tokenworld.session.carrying import Carried
from tokenworld.session.refusals.ways import Satisfaction, satisfy
from tokenworld.session.reloading import (
    Gap,
    Reloaded,
    Trial,
    Watched,
    carried_again,
    gap,
    grown,
    growth,
    reload_world,
    tried,
)
from tokenworld.session.session import LastChance, asked_of, last_winnable
from tokenworld.verbs.output import Glyphs, Line, line, replace_bytes
from tokenworld.verbs.refusals.lines import satisfaction_lines, short_place

HINT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Advice:
    """A verdict on a state; ``chance`` says since when there is no way, where there is none."""

    verdict: Verdict
    chance: LastChance | None = None


Say = Callable[[str], None]
Cancelled = Callable[[], bool]
Found = Advice | Ahead | Satisfaction | Failure
Work = Callable[[Session, Say, Cancelled], Found]
"""Asks a planner about the present state of a session, in a thread."""


class Thinking(Message):
    """A line of progress from the planner that works on a request."""

    def __init__(self, request: int, text: str) -> None:
        super().__init__()
        self.request, self.text = request, text


class Answered(Message):
    """The answer about the state that a request was made in, or why there is none."""

    def __init__(self, request: int, found: Found) -> None:
        super().__init__()
        self.request, self.found = request, found


def advise(session: Session, say: Say, cancelled: Cancelled) -> Advice:
    """Plan from the session's present state; where there is no way, look since when."""
    verdict = session.apart().plan(time_limit=HINT_SECONDS, say=say, cancel=cancelled)
    if verdict.answer != "unwinnable" or cancelled():
        return Advice(verdict)
    explaining = Explaining()
    chance = explaining("the last chance", lambda: _since(session, say, cancelled), None)
    return Advice(replace(verdict, notes=(*verdict.notes, *explaining.notes)), chance)


def _since(session: Session, say: Say, cancelled: Cancelled) -> LastChance:
    """Find when the goal was lost that is out of reach now."""
    twin = session.apart(past=True)
    known: dict[str, Answer] = {asked_of(twin, twin.state, None): "unwinnable"}
    return last_winnable(twin, None, seconds=HINT_SECONDS, known=known, say=say, cancel=cancelled)


def ahead_on(topic: Topic) -> Work:
    """Look ahead from the session's present state, and back."""
    return lambda session, say, cancelled: look_ahead(
        session.apart(past=True), topic, HINT_SECONDS, say, cancelled
    )


def way_to(command: Command) -> Work:
    """Search from the session's present state for a way to a command."""
    return lambda session, say, cancelled: satisfy(
        session.apart(), command, seconds=HINT_SECONDS, say=say, cancel=cancelled
    )


def safely(work: Callable[[], Found]) -> Found:
    """Do some work in a thread and return its result. Whatever goes wrong in the planner must not
    take the game down with it, so every exception becomes a `Failure` that is returned."""
    try:
        return work()
    except Failure as failure:
        return failure
    except Exception as error:
        reason = str(error) or type(error).__name__
        message = f"The planner stopped unexpectedly: {reason}."
        hint = "Run `tw doctor` to see what is installed; you can play on without hints."
        return Failure(Diagnostic("TW0812", message, hint=hint))


_SOMETIMES = ("play_step", "play_plan", "accept")
"""The actions that can be done in some states only; see ``check_action``."""

STEP_SECONDS = 0.12
"""Between two steps of a plan that runs by itself, so that one can follow it."""

_OFFER = content(
    link("screen.play_step", "Play this step F6"), "  ", link("screen.play_plan", "Play all F7")
)


OFFER = link("screen.satisfy", "Make it possible F10")
_ACCEPT = link("screen.accept", "Play these steps Enter")
_TITLE = "A way there"


# ---- rules mended in play: gaps, and changed files -----------------------------------------------


WATCH_SECONDS: Final = 2.0
"""Seconds between two looks at the files; only their times are read."""

_LOOK: Final = 1.0
"""Seconds to look for dead ends with the rules as they were, and again with new actions."""

_LISTED: Final = 8
_RULE: Final = "A new rule"
_RELOAD: Final = "Changed rules"
_WRITE = link("screen.accept", "Write it and try again Enter")


class TrialReady(Message):
    """A new action for words, tried after the rules; ``None`` where they make no phrase."""

    def __init__(self, asked: str, found: Trial | Failure | None) -> None:
        super().__init__()
        self.asked, self.found = asked, found


class FilesRead(Message):
    """The changed world begun with the game's state, ``None`` where no text differs, or why not;
    ``of`` is the world whose files were read, ``told`` what new actions make of it."""

    def __init__(
        self,
        found: Carried | Failure | None,
        of: OpenWorld,
        retry: str = "",
        told: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        self.found, self.of, self.retry, self.told = found, of, retry, told


# ---- in words -----------------------------------------------------------------------------------


def gap_lines(found: Gap, glyphs: Glyphs) -> Iterator[Line]:
    """Show which words failed, and the nearest commands."""
    yield line(f"{glyphs.no_match} {found.found.message}", "warn")
    yield (("What does not fit is ", "plain"), (found.failed, "head"), (".", "plain"))
    if found.near:
        yield line("")
        yield line("You could say", "head")
        yield from (line(f"  {one}") for one in found.near)
    yield line("")
    yield line("F11 begins a rule for these words.", "dim")


def trial_lines(found: Trial, glyphs: Glyphs) -> Iterator[Line]:
    """Yield the new action, its place, and the findings of the checker about it."""
    place = "no file" if found.source.path is None else found.source.path.name
    if found.clean:
        yield line(f"{glyphs.executed} This goes after the rules of `{place}`.", "good")
    else:
        yield line(f"{glyphs.refused} This does not check, so it is not written.", "bad")
    for one in found.stub.params:
        yield line(f"{one.param} stands for `{one.thing}`, any {one.kind}.", "dim")
    yield line("")
    yield from (line(text) for text in found.stub.text.splitlines())
    yield from diagnostic_lines(found.findings, (found.source,))


def diagnostic_lines(found: tuple[Diagnostic, ...], sources: tuple[Source, ...]) -> Iterator[Line]:
    """Findings of the checker, each with its place, the line there and the next step."""
    texts = {one.name: one for one in sources}
    for one in found[:_LISTED]:
        yield line("")
        yield line(f"{one.code}: {one.message}", "bad" if one.is_error else "warn")
        if one.span is not None:
            place = f"{one.span.file}:{one.span.line}:{one.span.column}"
            text = texts[one.span.file].line_text(one.span.line) if one.span.file in texts else ""
            yield line(f"  {short_place(place)} {' '.join(text.split())}".rstrip(), "dim")
        if one.hint:
            yield line(f"  {one.hint}")
    if len(found) > _LISTED:
        yield line("")
        yield line(f"and {len(found) - _LISTED} more", "dim")


def reload_lines(found: Reloaded, glyphs: Glyphs, told: tuple[str, ...] = ()) -> Iterator[Line]:
    """Yield the lines on the state under the changed rules; with ``told`` also on the world."""
    yield line(f"{glyphs.executed} The changed rules are in force.", "good")
    yield line(f"{found.kept} values stayed as they were.")
    yield from (line(f"{glyphs.changed} {one}") for one in found.notes)
    yield from (line(one) for one in told)
    if found.left is not None:
        yield line("")
        yield line(f"Run {found.left} is closed here; the game goes on in {found.run}.", "dim")


# ---- in a thread --------------------------------------------------------------------------------


def _try(session: Session, asked: str, post: Callable[[Message], object]) -> None:
    try:
        post(TrialReady(asked, tried(session, asked)))
    except Failure as failure:
        post(TrialReady(asked, failure))


def _read(session: Session, retry: str, post: Callable[[Message], object]) -> None:
    world = session.world
    try:
        carried = carried_again(world, session.state)
        post(FilesRead(carried, world, retry, _growing(session, carried)))
    except Failure as failure:
        post(FilesRead(failure, world, retry))


def _growing(session: Session, carried: Carried | None) -> tuple[str, ...]:
    """The effect of new actions on a world, in sentences: conserved quantities, and dead ends
    unless they may rest on hidden facts."""
    known = session.world.program.actions
    if carried is None or carried.world.program.actions.keys() <= known.keys():
        return ()
    found = growth(session.apart(), carried, _LOOK)
    whole = session.known.is_whole
    return tuple((found if whole else replace(found, before=None, after=None)).told())


# ---- on the screen ------------------------------------------------------------------------------


class AdvisedScreen(Screen[None]):
    """A game with a planner to ask. Subclasses show the answers, and define the typed or
    highlighted command and the place where a command can be prepared.

    ``subject`` is the refused command that the details show, if they show one. ``unknown`` are the
    last words that meant nothing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f11", "scaffold", "New rule", show=False, id="play.scaffold",
                tooltip="Begin a rule for words that mean nothing yet"),
        Binding("ctrl+n", "reload", "Reload", show=False, id="play.reload",
                tooltip="Go on with the world's files as they are now"),
    ]  # fmt: skip

    def __init__(self, game: Game, *, watch: bool = True) -> None:
        super().__init__()
        self.game = game
        self._hint: Worker[None] | None = None
        self._asked = "Hint"
        self._request = 0
        self._level = 0
        self._enabled: tuple[bool | None, ...] = ()
        self._told: tuple[State, Verdict, LastChance | None, str | None] | None = None
        self._stepping: Timer | None = None
        self.subject = ""
        self._proposal: tuple[State, Satisfaction] | None = None
        self.unknown = ""
        self._watch = watch
        self._trial: Trial | None = None
        self._watched = Watched(game.session)

    def on_mount(self) -> None:
        if self._watch:
            self.set_interval(WATCH_SECONDS, self._look)

    def refresh_all(self) -> None:
        raise NotImplementedError

    def show_keys(self) -> None:
        """Make the row of keys anew, if other keys do something now: it is dear to make."""
        enabled = tuple(self.check_action(one, ()) for one in _SOMETIMES)
        if enabled != self._enabled:
            self._enabled = enabled
            self.refresh_bindings()

    def _explain(self, lines: Iterable[Line], title: str, offer: Content | None = None) -> None:
        raise NotImplementedError

    def _draw_details(self) -> None:
        raise NotImplementedError

    def _after_tick(self) -> None:
        raise NotImplementedError

    def give(self, intent: str | Command) -> None:
        raise NotImplementedError

    def renew(self) -> None:
        """Update the parts that depend on the rules after these were replaced."""
        raise NotImplementedError

    # ---- hints and plans ------------------------------------------------------------------------

    def action_hint(self) -> None:
        """Ask the planner in the background; a second call shows more of the answer."""
        if self._tell_more():
            return
        self._stop_waiting()
        if self.game.session.ended():
            self.game.note("The world is over, so there is nothing to hint at: undo with Ctrl+Z.")
            self.refresh_all()
            return
        self._level, self._told = 0, None
        self._begin("Hint", advise)

    def tell_steps(self, level: int) -> None:
        """The hint at a level (see `hints.LEVELS`), once there is one."""
        self._level = level
        if not self._retell():
            self.action_hint()
            self._level = level

    def _tell_more(self) -> bool:
        """One level more of the hint that is shown; false where none is shown, or all of it."""
        shown = self.query_one(Details).border_title == "Hint"
        if not shown or self._level + 1 >= len(LEVELS) or self._hint is not None:
            return False
        if self._told is None or LEVELS[self._level] >= len(self._told[1].steps):
            return False
        self._level += 1
        return self._retell()

    def _retell(self) -> bool:
        """Show the hint on the present state at the present level; false if there is none."""
        if self._told is None or self._told[0] is not self.game.session.state:
            return False
        _, verdict, chance, words = self._told
        later = self.game.step_texts(verdict, LEVELS[self._level]) if words else ()
        told = hint_lines(verdict, words, self.game.glyphs, chance=chance, later=later)
        self._explain(told, "Hint", None if words is None else _OFFER)
        self._draw_details()
        return True

    def action_ahead(self, topic: Topic) -> None:
        """Show the distance of the goal, the landmarks, or where the goal was lost."""
        self._stop_waiting()
        self._begin(TITLES[topic], ahead_on(topic))

    def _begin(self, title: str, work: Work) -> None:
        """Run a planner in the background; its progress is shown under a title."""
        self._asked = title
        self._explain([line("Thinking. Esc stops it.", "head")], title)
        self._draw_details()
        self._request += 1
        self._hint = self._ask(self._request, work)

    @work(thread=True, exclusive=True, group="hint")
    def _ask(self, request: int, asking: Work) -> None:
        worker, session = get_current_worker(), self.game.session

        def say(text: str) -> None:
            self.post_message(Thinking(request, text))

        found = safely(lambda: asking(session, say, lambda: worker.is_cancelled))
        self.post_message(Answered(request, found))

    def _stop_waiting(self) -> bool:
        """Stop a hint that is being made and a plan that runs by itself; lay aside a new rule that
        waits for a yes."""
        self._trial = None
        stopped = self._hint is not None or self._stepping is not None
        if self._hint is not None:
            self._hint.cancel()
            self._hint = None
            self._explain([line("The hint was stopped.", "dim")], self._asked)
        if self._stepping is not None:
            self._stepping.stop()
            self._stepping = None
        return stopped

    def _awaits(self, request: int) -> bool:
        """Return whether this is the hint that is waited for: not one that was stopped."""
        return self._hint is not None and request == self._request

    def on_thinking(self, event: Thinking) -> None:
        if self._awaits(event.request):
            self._explain([line("Thinking. Esc stops it.", "head"), line(event.text)], self._asked)

    def on_answered(self, event: Answered) -> None:
        if not self._awaits(event.request):
            return
        self._hint = None
        glyphs, state = self.game.glyphs, self.game.session.state
        match event.found:
            case Advice(verdict, chance):
                words = self.game.advise(verdict, chance)
                self._told = (state, verdict, chance, words)
                self._retell()
            case Ahead() as ahead:
                told = [*goal_lines(self.game.session), line(""), *ahead_lines(ahead, glyphs)]
                self._explain(told, self._asked)
            case Satisfaction() as found:
                self._proposal = (state, found) if found.steps else None
                offer = _ACCEPT if found.steps else None
                self._explain(satisfaction_lines(found, glyphs), _TITLE, offer)
            case Failure() as failure:
                self.game.fault(failure)
                why = "No hint could be made; the story says why."
                self._explain([line(why, "warn")], self._asked)
            case _:
                assert_never(event.found)
        self.refresh_all()

    def action_play_step(self) -> None:
        """Play the next step of the plan."""
        self._stop_waiting()
        self._play_step()

    def _play_step(self) -> bool:
        before = self.game.session.moments[-1]
        played = self.game.play_step()
        if played:
            self._explain(*self._plan_told())
        elif self.game.session.moments[-1] is not before:
            self._after_tick()
        self.refresh_all()
        return played

    def _plan_told(self) -> tuple[list[Line], str, Content | None]:
        """Return the progress of the plan and its next step, in lines."""
        done, total = self.game.progress()
        lines = [line(f"{done} of {total} steps are played.")]
        step = self.game.next_step()
        if step is None:
            return lines, "Plan", None
        words = self.game.session.text_of(step.command)
        return [*lines, line(""), (("Next: ", "dim"), (words, "head"))], "Plan", _OFFER

    def action_play_plan(self) -> None:
        """Play the rest of the plan, a step at a time."""
        self._stop_waiting()
        self._stepping = self.set_interval(STEP_SECONDS, self._play_on)

    def _play_on(self) -> None:
        if not self._play_step() or self.game.next_step() is None:
            self._stop_waiting()

    # ---- a way to a command ---------------------------------------------------------------------

    def examine(self, asked: str) -> None:
        raise NotImplementedError

    def meant(self) -> str:
        """The typed or highlighted command; empty for none."""
        raise NotImplementedError

    def prepare(self, text: str) -> None:
        """Write a command where it can be given with Enter."""
        raise NotImplementedError

    def proposed(self) -> Satisfaction | None:
        """The way that waits for a yes, if it starts in the present state."""
        if self._proposal is None or self._proposal[0] is not self.game.session.state:
            return None
        return self._proposal[1]

    def action_satisfy(self) -> None:
        """Look for a way to the typed or highlighted command, else to the one just refused."""
        asked = self.meant() or self.subject
        if asked:
            self.satisfy(asked)
        else:
            self.game.note("Type a command that is refused, or pick one, and press F10.")
            self.refresh_all()

    def satisfy(self, asked: str) -> None:
        """Look for a way to a command, beside the game."""
        self._stop_waiting()
        found = self.game.session.why_not(asked)
        if found.command is None or found.allowed or self.game.session.ended():
            self.examine(asked)
            return
        self._proposal, self.subject = None, asked
        self._begin(_TITLE, way_to(found.command))

    def _accept_steps(self) -> None:
        """Play the proposed steps; the command that they lead to is ready to be given."""
        found = self.proposed()
        if found is None:
            return
        self._proposal = None
        self.game.follow(found.steps, certain=found.certain)
        self.game.note(f"{self.game.glyphs.hint} On the way to `{found.text}`.")
        self.prepare(found.text if found.aim == "command" else "")
        self.action_play_plan()

    # ---- gaps -----------------------------------------------------------------------------------

    def tell_gap(self, asked: str) -> None:
        """Show the reason why words have no meaning."""
        found = gap(self.game.session, asked)
        if found is not None:
            self.unknown, self._trial = asked, None
            self._explain(gap_lines(found, self.game.glyphs), f"Why: {asked}", self._nearby(found))

    def _nearby(self, found: Gap) -> Content:
        links = [link(f"screen.near({at})", text) for at, text in enumerate(found.near[:3])]
        self._near = found.near
        return content(" ").join([*links, link("screen.scaffold", "New rule F11")])

    def action_near(self, at: int) -> None:
        """Give a command that comes near the words."""
        if at < len(self._near):
            self.give(self._near[at])

    def action_scaffold(self) -> None:
        """Begin a rule for the typed words, else for the last ones that meant nothing."""
        asked = self.meant() or self.unknown
        if not asked or self.game.session.why_not(asked).no_match is None:
            self.game.note("Type words that mean nothing yet, and press F11: a rule for them.")
            self.refresh_all()
            return
        self._stop_waiting()
        self._explain([line("Trying a rule for these words.", "head")], _RULE)
        self._draw_details()
        self._try_stub(asked, self.game.session.apart())

    @work(thread=True, exclusive=True, group="mend")
    def _try_stub(self, asked: str, twin: Session) -> None:
        _try(twin, asked, self.post_message)

    def on_trial_ready(self, event: TrialReady) -> None:
        match event.found:
            case Failure() as failure:
                self._told_wrong(failure, _RULE)
            case None:
                self._explain([line("There are no words here to make a rule of.", "warn")], _RULE)
            case Trial() as found:
                self._trial = found if found.clean and found.source.path is not None else None
                told = trial_lines(found, self.game.glyphs)
                self._explain(told, _RULE, _WRITE if self._trial is not None else None)
            case _:
                assert_never(event.found)
        self.show_keys()

    def scaffolded(self) -> Trial | None:
        """The new rule that waits for a yes."""
        return self._trial

    def action_accept(self) -> None:
        """Write the new rule that waits for a yes; else play the proposed steps."""
        trial, self._trial = self._trial, None
        if trial is None:
            self._accept_steps()
            return
        try:
            _append(trial)
        except Failure as failure:
            self._told_wrong(failure, _RULE)
            self.refresh_all()
            return
        path = trial.source.path
        self.game.note(f"{self.game.glyphs.hint} `{trial.stub.name}` is written to `{path}`.")
        self._begin_reading(trial.stub.words)

    # ---- changed files --------------------------------------------------------------------------

    def _look(self) -> None:
        if self.app.screen is self and self._watched.changed():
            self.action_reload()

    def action_reload(self) -> None:
        """Read the world's files again and continue with them, if their text differs."""
        self._begin_reading("")

    def _begin_reading(self, retry: str) -> None:
        self._watched.changed()  # the watch need not report these files again
        self._read_files(retry)

    @work(thread=True, exclusive=True, group="mend")
    def _read_files(self, retry: str) -> None:
        _read(self.game.session, retry, self.post_message)

    def on_files_read(self, event: FilesRead) -> None:
        if event.of is not self.game.session.world:  # a key and the watch read the same change
            self._read_files(event.retry)
            return
        self._stop_waiting()
        match event.found:
            case Failure() as failure:
                self._told_wrong(failure, _RELOAD)
            case None:
                self.game.note("The files of this world have the text that is played.")
            case Carried() as carried:
                self._take_over(carried, event.retry, event.told)
            case _:
                assert_never(event.found)
        self.refresh_all()

    def _take_over(self, carried: Carried, retry: str, told: tuple[str, ...]) -> None:
        try:
            found = reload_world(self.game.session, carried)
        except Failure as failure:
            self._told_wrong(failure, _RELOAD)
            return
        self.unknown, self._trial = "", None
        self.game.renew(found)
        self.renew()
        self._explain(reload_lines(found, self.game.glyphs, told), _RELOAD)
        self._draw_details()
        if retry:
            self.give(retry)

    def _told_wrong(self, failure: Failure, title: str) -> None:
        """Show findings; the game stays as it is."""
        sources = failure.sources if isinstance(failure, LoadFailure) else ()
        head = line("Play goes on with the rules as they were.", "warn")
        self._explain([head, *diagnostic_lines(failure.diagnostics, sources)], title)
        self._draw_details()
        self.game.note(f"{self.game.glyphs.error} {failure.diagnostics[0].message} "
                       "Play goes on with the rules as they were.")  # fmt: skip


def _append(trial: Trial) -> None:
    """Put the new action into its file, all at once. Raises `Failure` (TW0001) where the file was
    changed since it was read, or cannot be written; then it is as it was."""
    path = trial.source.path
    assert path is not None
    if grown(read_source(path).text, trial.stub.text) != trial.source.text:
        message = f"`{path}` was changed meanwhile."
        raise Failure(Diagnostic("TW0001", message, hint="Press F11 again to try the rule anew."))
    try:
        replace_bytes(path, trial.source.text.encode("utf-8"))
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror or error}."
        hint = "Play a copy of the world in a folder of yours."
        raise Failure(Diagnostic("TW0001", message, hint=hint)) from None
