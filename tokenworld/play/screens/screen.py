"""The play screen: its areas, the screens it opens, and its strip for an operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input
from textual.worker import Worker, get_current_worker

from tokenworld.ground import PASS, Command, Outcome
from tokenworld.play.model.game import Game
from tokenworld.play.model.records import Describer
from tokenworld.play.model.transcripts import command, text_as
from tokenworld.play.model.view import View, acting, title_line
from tokenworld.play.screens.advised import OFFER, STEP_SECONDS
from tokenworld.play.screens.guided import TALL, GuidedScreen, hidden
from tokenworld.play.screens.keys import keys_here
from tokenworld.play.widgets.actions import ActionList, CommandLine, TickList, Transcript, offer
from tokenworld.play.widgets.shown import Content, Words, entitle, styled_line
from tokenworld.play.widgets.source import SourcePane
from tokenworld.play.widgets.texts import (
    TABS,
    Details,
    QualityStrip,
    TabStrip,
    TextPane,
    TitleBar,
    framed,
)
from tokenworld.session import Session
from tokenworld.session.obstacles import may_come_true
from tokenworld.session.refusals.explained import (
    Explanation,
    explained,
    explained_record,
    helped,
)
from tokenworld.verbs.output import Line, line

if TYPE_CHECKING:
    from tokenworld.play.screens.dialogs import Form
    from tokenworld.play.screens.quality import Job, Scored, ScoreFailed, ScoreReady

Copied = Literal["command", "plan", "script", "scenario"]
"""The forms in which play can be copied."""


FIRST_SECONDS = 2.0
"""So long after the first frame the run is scored for the first time."""
SECONDS = 10.0
"""It is scored no more often than this."""


LEAST = (80, 24)
"""The columns and rows that the screen needs."""
WIDE = 110
"""The columns from which a screen has room for all panes."""
_PLACEHOLDER = "Type a command, or press F2 for what you can do, F3 for a hint"


def operator_lines() -> Iterator[Line]:
    """Yield the lines on the content of operator mode and its keys."""
    yield line("Operator mode shows more than a player sees. F12 ends it.", "head")
    for key, told in (
        ("Row at the top", "the quality of the last 50 ticks: the verdict, then each dimension "
         "that failed or is in warn. A click on it, or `quality`, tells what each means"),
        ("Left", "every object that the actor may name, wherever it is"),
        ("Ctrl+O", "the state, slot by slot, with what the last tick changed"),
        ("Ctrl+L", "the laws of a tick: which fired, and what each changed"),
        ("Ctrl+R", "the text of the rule behind the command or the tick under the cursor; on a "
         "high screen it is shown at once"),
        ("Ctrl+T", "the timeline, with the dead-end radar: since when the goal is out of reach"),
    ):  # fmt: skip
        yield line("")
        yield ((key, "head"), (f": {told}.", "plain"))
    yield line("")
    yield line("Secrets stay hidden, unless `tw play --operator` began the game.", "dim")


def prompt(session: Session, waiting: int = 0) -> Content:
    """``> ``, after the name of who acts where several do, and the number of pasted lines that
    wait."""
    told = acting(session) or ""
    told += f" +{waiting}" if waiting else ""
    return styled_line(((f"{told}> ".lstrip(), "typed"),))


def _key(key: str, action: str, text: str, shown: str, tooltip: str) -> Binding:
    return Binding(
        key, action, text, key_display=shown, tooltip=tooltip, id=f"play.{text.casefold()}"
    )


class PlayScreen(GuidedScreen):
    """World, story, actions, details and ticks around one command line."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide"), (160, "-very-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (TALL, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = "#command"
    BINDINGS: ClassVar[list[BindingType]] = [
        _key("f1", "help", "Help", "F1", "How to play, and the keys; ? in a pane does the same"),
        _key("f2", "show('actions')", "Actions", "F2", "What you can do now; typing narrows it. "
             "Again: what you cannot do, and why not"),
        _key("f3", "hint", "Hint", "F3", "The next step towards the goal, or since when there is "
             "none. Again: the next three steps, then all of them"),
        _key("f4", "why", "Why", "F4", "Why the typed or highlighted command would be refused, "
             "without giving it. Again: all its conditions"),
        _key("f5", "show('ticks')", "Ticks", "F5", "Every tick so far, with its record. Again: the "
             "timeline"),
        _key("f6", "play_step", "Step", "F6", "Play the next step of the plan"),
        _key("f7", "play_plan", "Run", "F7", "Play the rest of the plan"),
        hidden("f8", "ahead('way')", "way", "The goal, how far it is, and what every way to it "
                "passes through"),
        hidden("f9", "ahead('last chance')", "last", "The last tick at which the goal was in "
                "reach"),
        hidden("f10", "satisfy", "satisfy", "A way to what was refused; Enter plays it"),
        hidden("enter", "accept", "accept", "Play the steps, or write the rule, that wait for a "
                "yes"),
        _key("ctrl+z", "undo", "Undo", "^Z", "Take the last step back"),
        hidden("ctrl+y", "redo", "redo", "Do again what was undone"),
        hidden("ctrl+o", "inspect", "inspect", "The state: every slot before and after the last "
                "tick, who is in what, and maps; e sets a slot, for a trial"),
        hidden("ctrl+s", "save", "save", "Save the game: story, records, plan, script, a test, a "
                "picture"),
        hidden("ctrl+t", "timeline", "timeline", "Every moment: jump, branch, compare, and the "
                "dead-end radar"),
        hidden("escape", "leave", "leave", "Stop a hint, or a plan that runs; else go to or from "
                "the command line"),
        hidden("ctrl+l", "laws", "laws", "The laws of a tick: what ran in which order, and what "
                "each did"),
        _key("f12", "operator", "Operator", "F12", "Every object wherever it is, and the quality "
             "of the run; or the player's view again"),
        hidden("ctrl+g", "go_on", "go_on", "Let time pass until what takes longer is done"),
    ]  # fmt: skip

    _scorer: Worker[None] | None = None
    _scored: Scored | None = None
    _last_job: Job | None = None
    _wanted = False
    _examined = ""

    def __init__(
        self, game: Game, *, watch: bool = True, blinks: bool = True, tour: bool = False
    ) -> None:
        super().__init__(game, watch=watch, tour=tour)
        self._blinks = blinks
        self.renew()
        self._front = "actions"
        self._drawn_front = self._everything = False

    def compose(self) -> ComposeResult:
        world, carried = TextPane("world", "World"), TextPane("carried", "You carry")
        chart = TextPane("chart", "Map")
        glyphs, prompt = self.game.glyphs, Words("> ", id="prompt")
        left = Vertical(chart, world, carried, Transcript(glyphs), id="left")
        ticks = TickList(glyphs)
        side = Vertical(TabStrip(), ActionList(glyphs.refused), Details(), ticks, id="side")
        bar = Horizontal(prompt, CommandLine(self.game.suggestion, _PLACEHOLDER), id="bar")
        body = Horizontal(left, side, id="body")
        tour = Words(id="tour", classes="pane")
        return framed(QualityStrip(), body, SourcePane(glyphs), tour, bar)

    def on_mount(self) -> None:
        self._explain(
            [line("Here stands why a command is refused, what a tick changed, and hints.", "dim")],
            "Details",
        )
        self.query_one(CommandLine).cursor_blink = self._blinks
        self._bring_up("actions")
        self.show_source()
        self.refresh_all()
        self._show_strip()
        self.show_tour()
        if self.game.session.recording is not None:
            self.set_timer(FIRST_SECONDS, self._oversee)
            self.set_interval(SECONDS, self._oversee)

    # ---- showing ----------------------------------------------------------------------------

    def renew(self) -> None:
        sources = self.game.session.world.loaded.by_name
        self._describer = Describer(self.game.glyphs, sources, whole=False, keys=True)

    def refresh_all(self) -> None:
        """Show the game as it is now."""
        session = self.game.session
        view = self._view()
        waiting = len(self.query_one(CommandLine).waiting)
        self._show_title()
        self.query_one("#prompt", Words).update(prompt(session, waiting))
        self.query_one("#world", TextPane).tell(view.lines, view.title)
        self._show_map(view)
        carried = self.query_one("#carried", TextPane)
        carried.display = view.carried is not None and not (self.has_map and not view.carried)
        carried.tell([line(", ".join(view.carried or ()) or "nothing")])
        self.query_one(Transcript).catch_up(self.game.entries)
        self.query_one(TickList).refill(self.game.session.moments)
        self._offer_actions()
        self.follow()
        self.show_keys()

    def _show_title(self) -> None:
        """The title row; on a screen that is too small that it is."""
        columns, rows = self.size
        if not columns or (columns >= LEAST[0] and rows >= LEAST[1]):
            told = title_line(self.game.session, self.game.glyphs)
        else:
            told = line(f"Too small: {columns}x{rows}, needs {LEAST[0]}x{LEAST[1]}", "link")
        self.query_one(TitleBar).update(styled_line(told))

    @property
    def has_map(self) -> bool:
        """Return whether the world has a map."""
        return bool(self.game.session.world.world.layouts)

    def _show_map(self, view: View) -> None:
        chart = self.query_one("#chart", TextPane)
        chart.display = self.has_map
        if self.has_map:
            chart.tell(view.map_lines)

    def _view(self) -> View:
        columns, rows = self.size
        width = columns * 36 // 100 if columns >= WIDE else columns // 2
        size = (width - 5, 11 if rows >= TALL else 5)
        return View(self.game.session, whole=self.game.operator, window=size)

    def on_resize(self) -> None:
        """Cut the map to the new size; say if it is too small."""
        self.call_after_refresh(self._show_title)
        if self.has_map:
            self.call_after_refresh(lambda: self._show_map(self._view()))

    def _offer_actions(self) -> None:
        typed = self.query_one(CommandLine).value
        self.query_one(ActionList).show_offer(offer(self.game, typed, everything=self._everything))

    def bring_up(self, pane: str) -> None:
        self._drawn_front = False
        self._bring_up(pane)

    def _bring_up(self, pane: str) -> None:
        """Put a pane of the side in front, where only one fits."""
        self._front = pane
        self.query_one(TabStrip).show(pane)
        for name in TABS:
            self.query_one(f"#{name}").set_class(name == pane, "-front")

    def _explain(self, lines: Iterable[Line], title: str, offer: Content | None = None) -> None:
        self.query_one(Details).tell(lines, title, offer)

    # ---- giving commands ----------------------------------------------------------------------

    def give(self, intent: str | Command) -> None:
        """Give a command, or one of the screen's own words if the world has no such command."""
        self._stop_waiting()
        if isinstance(intent, str) and self._own_word(intent):
            return
        if self.game.give(intent):
            self._after_tick()
            self.did("command")
        self.refresh_all()

    def _own_word(self, text: str) -> bool:
        word, _, rest = text.strip().partition(" ")
        if word == "satisfy" and rest and self.game.session.why_not(text).command is None:
            self.satisfy(rest)
            return True
        actions = {
            "hint": self.action_hint,
            "undo": self.action_undo,
            "help": self.action_help,
            "?": self.action_help,
            "redo": self.action_redo,
            "timeline": self.action_timeline,
            "inspect": self.action_inspect,
            "save": self.action_save,
            "reload": self.action_reload,
            "runs": self.action_runs,
            "laws": self.action_laws,
            "quality": self.action_quality,
            "operator": self.action_operator,
            "go on": self.action_go_on,
            "source": self.action_source,
            "tour": self.action_tour,
        }
        if word == "why" and rest:
            self.examine(rest.removeprefix("not "))
            return True
        if text.strip() not in (*actions, "quit"):
            return False
        if self.game.session.why_not(text).command is not None:
            return False
        if text.strip() == "quit":
            self.run_worker(self.app.action_quit())
        else:
            actions[text.strip()]()
        return True

    def _after_tick(self) -> None:
        """Explain a refused intent; return to the actions after an executed one."""
        moment = self.game.session.moments[-1]
        self.examined = outcome = moment.outcomes[-1]
        if outcome.status in ("executed", "waiting", "interrupted"):
            self._let_details_go()
            return
        self._show_record(outcome, moment.asked, f"Why: {moment.asked}")
        if outcome.no_match is not None:
            self.tell_gap(moment.asked)
        self._draw_details()

    def _show_record(self, outcome: Outcome, asked: str, title: str) -> None:
        session = self.game.session
        found = explained_record(session, outcome)
        now = any(one is outcome for one in session.moments[-1].outcomes[-1:])
        if now and found is not None:
            found = helped(session, found)
        self.subject = asked if now and outcome.status == "refused" else ""
        self._examined = self.subject
        told = self._describer.record(outcome, found=found)
        self._explain_refusal(told, title, found if self.subject else None)

    def _explain_refusal(self, told: Iterable[Line], title: str, found: Explanation | None) -> None:
        """Show a refusal; F10 is offered where it can find a way."""
        command = None if found is None or found.allowed else found.command
        offered = command is not None and may_come_true(self.game.session, command)
        self._explain(told, title, OFFER if offered else None)
        if offered:  # the offer itself may be out of view
            entitle(self.query_one(Details), subtitle="F10 makes it possible")

    def _let_details_go(self) -> None:
        """Back to the actions, if it was not the player who asked for the details."""
        if self._drawn_front:
            self._bring_up("actions")
        self._drawn_front = False

    def _draw_details(self) -> None:
        self._drawn_front = self._drawn_front or self._front == "actions"
        self._bring_up("details")

    def examine(self, asked: str) -> None:
        """Explain a command without giving it; again, with every condition that is met."""
        self.did("why")
        self.examined = asked
        whole, title = self._examined == asked, f"Why: {asked}"
        self._examined = "" if whole else asked
        found = helped(self.game.session, explained(self.game.session, asked))
        self.subject = asked if found.command is not None and not found.allowed else ""
        if found.no_match is not None:
            self.tell_gap(asked)
            self._draw_details()
            return
        self.follow()
        describer = replace(self._describer, whole=whole)
        self._explain_refusal(describer.examined(found), title, found)
        self._draw_details()

    def on_command_line_given(self, event: CommandLine.Given) -> None:
        self.give(event.text)

    def on_action_list_chosen(self, event: ActionList.Chosen) -> None:
        if not event.choice.legal:
            self.examine(event.choice.text)
            return
        self.query_one(CommandLine).value = ""
        self.give(event.choice.text)

    def on_tick_list_picked(self, event: TickList.Picked) -> None:
        title = f"Tick {event.outcome.tick}: {event.asked}"
        self._show_record(event.outcome, event.asked, title)
        self.examined = event.outcome
        self.follow()
        if event.opened:
            self._bring_up("details")

    def on_tab_strip_picked(self, event: TabStrip.Picked) -> None:
        self.action_show(event.pane)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._offer_actions()
        self.follow()

    def on_key(self, event: events.Key) -> None:
        """Pass keys typed anywhere to the command line."""
        command = self.query_one(CommandLine)
        if event.key in self.active_bindings:
            return  # a key of the user's own
        if event.is_printable and event.character and self.focused is not command:
            event.stop()
            event.prevent_default()
            if event.character == "?":
                self.action_help()
            else:
                command.insert_typed(event.character)

    def on_paste(self, event: events.Paste) -> None:
        """Pass text pasted anywhere to the command line; a web page begins without a focus."""
        event.stop()
        command = self.query_one(CommandLine)
        command.focus()
        command.post_message(events.Paste(event.text))

    # ---- keys -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("play_step", "play_plan"):
            return self.game.next_step() is not None
        if action == "accept":
            return self.proposed() is not None or self.scaffolded() is not None
        return super().check_action(action, parameters)

    def action_show(self, pane: str) -> None:
        """Show a pane and focus it; a second press on the actions shows or hides illegal commands,
        on the ticks it opens the timeline."""
        if pane == "actions" and self.query_one(ActionList).has_focus:
            self.action_everything()
        if pane == "ticks" and self.query_one(TickList).has_focus:
            self.action_timeline()
            return
        self.bring_up(pane)
        self.query_one(f"#{pane}").focus()
        if pane == "actions":
            self.did("actions")

    def action_everything(self) -> None:
        """List illegal commands too, with the reasons; or hide them again."""
        self._everything = not self._everything
        self._offer_actions()

    def action_why(self) -> None:
        """Examine the typed command, else the highlighted one, else focus the details, which show
        every condition of the last refusal."""
        meant = self.meant()
        if meant:
            self.examine(meant)
            return
        if self.subject and self.query_one(Details).border_title == f"Why: {self.subject}":
            self.examine(self.subject)
        self.action_show("details")

    def meant(self) -> str:
        typed = self.query_one(CommandLine).value.strip()
        actions = self.query_one(ActionList)
        if typed or not actions.has_focus or actions.chosen is None:
            return typed
        return actions.chosen.text

    def prepare(self, text: str) -> None:
        self.query_one(CommandLine).value = text
        self.query_one(CommandLine).focus()

    def on_command_line_pasted(self, event: CommandLine.Pasted) -> None:
        self.game.note(f"Of {event.lines:,} pasted lines the first is in the command line. Enter "
                       "gives it and brings the next one; Esc drops the rest.")  # fmt: skip
        self.refresh_all()

    def on_command_line_confirmed(self) -> None:
        self.action_accept()

    def action_undo(self) -> None:
        self._travel(self.game.undo)
        self.did("undo")

    def action_hint(self) -> None:
        super().action_hint()
        self.did("hint")

    def action_redo(self) -> None:
        self._travel(self.game.redo)

    def _travel(self, go: Callable[[], object]) -> None:
        self._stop_waiting()
        go()
        self._let_details_go()
        self.refresh_all()

    def action_leave(self) -> None:
        """Stop a running job; else move between the command line and the actions."""
        command = self.query_one(CommandLine)
        dropped, command.waiting = bool(command.waiting), []
        if dropped:
            command.value = ""
        if self._stop_waiting() or dropped:
            self.refresh_all()
            return
        if self.end_tour():
            return
        if self.focused is not command:
            command.focus()
        elif self._front == "details":
            self.query_one(Details).focus()
        else:
            self.query_one(f"#{self._front}").focus()

    # ---- other screens --------------------------------------------------------------------------

    def action_timeline(self) -> None:
        """All that was played, and the way back to it."""
        from tokenworld.play.screens.timeline import TimelineScreen

        self._stop_waiting()
        screen = TimelineScreen(self.game, replace(self._describer, whole=True))
        self.app.push_screen(screen, lambda _: self.refresh_all())

    def action_save(self, form: Form | None = None) -> None:
        """Save the game, in this format or in one that is picked."""
        from tokenworld.play.screens.dialogs import SaveDialog

        self._stop_waiting()
        dialog = SaveDialog(self.game, self.app.export_screenshot())
        self.app.push_screen(dialog, lambda _: self.refresh_all())
        if form is not None:
            self.call_after_refresh(dialog.ask, form)

    def action_inspect(self) -> None:
        """Show every slot before and after the last tick, the contents of objects, and maps."""
        from tokenworld.play.screens.inspecting import InspectScreen

        self._stop_waiting()
        self.app.push_screen(InspectScreen(self.game), lambda _: self.refresh_all())

    def action_runs(self) -> None:
        """The runs of the store that this game is recorded in: any of them can be looked at."""
        self._stop_waiting()
        self.app.action_runs()  # type: ignore[attr-defined]  # the one app that has this screen

    def action_copy(self, what: Copied) -> None:
        """Put the last command, or all that was played, on the clipboard of the terminal."""
        session = self.game.session
        text = command(session) if what == "command" else text_as(session, what, "saved game")
        if not text:
            self.game.note("Nothing was asked yet, so there is nothing to copy.")
        else:
            self.app.copy_to_clipboard(text)
            lines = len(text.splitlines())
            told = f"`{text}`" if what == "command" else f"{lines} lines"
            self.game.note(f"Copied as {'test' if what == 'scenario' else what}: {told}.")
        self.refresh_all()

    def action_edit(self) -> None:
        """Set a slot by hand: see the inspector, which shows them."""
        from tokenworld.play.screens.inspecting import InspectScreen

        self._stop_waiting()
        screen = InspectScreen(self.game)
        self.app.push_screen(screen, lambda _: self.refresh_all())
        self.call_after_refresh(screen.action_edit)

    def action_drop(self) -> None:
        """Drop the trial branch, and return to its beginning."""
        self._stop_waiting()
        self.game.drop_scratch()
        self.refresh_all()

    def action_help(self) -> None:
        from tokenworld.play.screens.dialogs import HelpDialog

        pane = "" if self.focused is None else self.focused.id or ""
        keys = keys_here(self, alone=False)
        self.app.push_screen(HelpDialog(pane, keys))
        self.did("help")

    # ---- quality --------------------------------------------------------------------------------

    @property
    def _strip(self) -> QualityStrip:
        return self.query_one(QualityStrip)

    @property
    def scoring(self) -> bool:
        """Return whether the run is being scored."""
        return self._scorer is not None

    def _show_strip(self) -> None:
        """The row with the quality of the run, for an operator."""
        recorded = self.game.session.recording is not None
        self._strip.display = self.game.operator
        if self._scored is None:
            told = (
                "not scored yet" if recorded else "nothing is recorded, so there is no run to score"
            )
            self._strip.tell((("Quality: ", "dim"), (told, "dim")))

    def _oversee(self) -> None:
        if self.game.operator:
            self.rescore()

    def action_operator(self) -> None:
        """Switch between the operator's view and the player's view."""
        self.game.operator = not self.game.operator
        self._show_strip()
        self.show_source()
        self.refresh_all()
        if self.game.operator:
            self._explain(operator_lines(), "Operator mode")
            self._draw_details()
            self._oversee()
        elif self.query_one(Details).border_title == "Operator mode":
            self._explain((), "Details")
            self._let_details_go()

    def rescore(self) -> None:
        """Score the run beside the game, if something came since the last time."""
        from tokenworld.play.screens.quality import job_of

        job = job_of(self.game.session)
        if self._scorer is None and job is not None and job != self._last_job:
            self._last_job = job
            self._scorer = self._score(job)

    @work(thread=True, exclusive=True, group="quality")
    def _score(self, job: Job) -> None:
        from tokenworld.play.screens.quality import score

        worker = get_current_worker()

        def post(message: ScoreReady | ScoreFailed) -> None:
            if not worker.is_cancelled:
                self.post_message(message)

        score(job, post)

    def on_score_ready(self, event: ScoreReady) -> None:
        from tokenworld.play.screens.quality import QualityScreen, strip_line

        self._scorer, self._scored = None, event.scored
        self._strip.tell(strip_line(event.scored.card, self.game.glyphs))
        for screen in self.app.screen_stack:
            if isinstance(screen, QualityScreen):
                screen.show(event.scored)
        if self._wanted:
            self.action_quality()

    def on_score_failed(self, event: ScoreFailed) -> None:
        self._scorer, self._wanted = None, False
        self._strip.tell((("Quality: ", "dim"), (event.text, "warn")))

    def on_quality_strip_opened(self) -> None:
        self.action_quality()

    def action_quality(self) -> None:
        """The dimensions of the last scorecard; where there is none yet, once there is one."""
        if self.game.session.recording is None:
            self.game.note("Nothing is recorded here, so there is no run to score.")
            self.refresh_all()
            return
        if self._scored is None:
            self._wanted = True
            self.rescore()
            return
        from tokenworld.play.screens.quality import QualityScreen

        self._wanted = False
        self._stop_waiting()
        self.app.push_screen(QualityScreen(self.game, self._scored), self._go_to_record)

    def _go_to_record(self, seq: int | None) -> None:
        """Show the record at a place of the run's history, beside the list of ticks."""
        if seq is None or self._scored is None:
            return
        from tokenworld.play.screens.quality import outcome_of

        found = outcome_of(self.game.session, self._scored, seq)
        if found is None:
            self.game.note(f"Record {seq} was played before this game began, or was taken back.")
            self.refresh_all()
            return
        asked, outcome = found
        self.action_show("ticks")
        self.query_one(TickList).point_at(outcome)
        self._show_record(outcome, asked, f"Tick {outcome.tick}: {asked}")

    # ---- laws -----------------------------------------------------------------------------------

    def action_laws(self) -> None:
        """The laws of the highlighted tick, if the ticks have the focus; else of the last one."""
        from tokenworld.play.screens.timeline import TraceScreen

        self._stop_waiting()
        self.game.timeline.sync()
        way = self.game.timeline.path(self.game.timeline.now)
        if len(way) < 2:
            self.game.note("Nothing was played yet, so no law ran.")
            self.refresh_all()
            return
        ticks = self.query_one(TickList)
        chosen = ticks.chosen if ticks.has_focus else None
        at = next(
            (n for n, one in enumerate(way) if any(o is chosen for o in one.moment.outcomes)),
            len(way) - 1,
        )
        self.app.push_screen(TraceScreen(self.game, way, at))

    # ---- long actions ---------------------------------------------------------------------------

    def action_go_on(self) -> None:
        """Let time pass until the long action under way is done; Esc stops."""
        self._stop_waiting()
        if self._under_way():
            self._stepping = self.set_interval(STEP_SECONDS, self._pass_on)
            return
        self.game.note("Nothing that takes longer is under way.")
        self.refresh_all()

    def _under_way(self) -> bool:
        session = self.game.session
        return not session.ended() and session.engine.running(session.state) is not None

    def _pass_on(self) -> None:
        given = self.game.give(PASS)
        if given:
            self._after_tick()
        if not given or not self._under_way():
            self._stop_waiting()
        self.refresh_all()
