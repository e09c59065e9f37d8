"""The timeline with the dead-end radar, and the law trace of a tick, as screens."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import ClassVar, assert_never

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import OptionList
from textual.worker import Worker, get_current_worker

from tokenworld.diagnostics import Failure
from tokenworld.ground import value_text
from tokenworld.planning.verdict import Verdict
from tokenworld.play.model.game import Game, fault_text
from tokenworld.play.model.records import Describer
from tokenworld.play.model.timeline import Node, Prospect, RadarAnswer, RadarPlanner, has_goal
from tokenworld.play.model.view import title_text
from tokenworld.play.screens.dialogs import AskDialog, Overlay
from tokenworld.play.widgets.shown import Content, content, entitle, option
from tokenworld.play.widgets.texts import Details, KeyedList, TextPane, TitleBar, framed, select_key
from tokenworld.session.refusals.explained import explained_record
from tokenworld.verbs.output import Glyphs, Line, Role, line
from tokenworld.verbs.runs.trace import trace_lines

SECONDS = 4.0
"""Seconds for which a planner is asked about one moment."""
BUDGET = 120.0
"""Seconds of planning after which the radar pauses until the user starts it again."""

_ROLES: dict[Prospect, tuple[Role, str]] = {
    "winnable": ("good", "in reach"),
    "dead": ("bad", "dead"),
    "unknown": ("warn", "unknown"),
    "pending": ("dim", "not asked yet"),
}
_STYLES: dict[Prospect, str] = {
    "winnable": "$text-success",
    "dead": "bold $text-error",
    "unknown": "$text-warning",
    "pending": "$foreground-muted",
}


def _sign(prospect: Prospect, glyphs: Glyphs) -> str:
    match prospect:
        case "winnable":
            return glyphs.won
        case "dead":
            return glyphs.lost
        case "unknown":
            return glyphs.no_match
        case "pending":
            return glyphs.dot
        case _:
            assert_never(prospect)


def prospect_mark(prospect: Prospect, glyphs: Glyphs) -> Content:
    """The sign of an answer, in front of a row."""
    return content((f"{_sign(prospect, glyphs)} ", _STYLES[prospect]))


def legend(glyphs: Glyphs) -> str:
    """Return the meanings of the signs."""
    return f" {glyphs.dot} ".join(
        f"{_sign(one, glyphs)} {_ROLES[one][1]}" for one in ("winnable", "dead", "unknown")
    )


def answer_lines(answer: RadarAnswer, since: Node | None, glyphs: Glyphs) -> Iterator[Line]:
    """Yield the lines on the radar's answer for one moment."""
    role, _ = _ROLES[answer.prospect]
    sign = _sign(answer.prospect, glyphs)
    by = f" ({answer.by})" if answer.by else ""
    match answer.prospect:
        case "winnable":
            yield ((f"{sign} The goal can be reached from here", role), (by, "dim"))
        case "dead":
            yield ((f"{sign} No way leads to the goal from here", role), (by, "dim"))
            if since is not None and since.moment.outcomes:
                first = since.moment.outcomes[0].tick
                yield line(f"  Unwinnable since tick {first}: {since.moment.asked}", role)
            elif since is not None:
                yield line("  It was never in reach.", role)
        case "unknown":
            yield line(f"{sign} No plan was found in time, and none was ruled out.", role)
        case "pending":
            yield line(f"{sign} Nobody has asked yet whether the goal is in reach.", role)
        case _:
            assert_never(answer.prospect)


class Answered(Message):
    """A planner's verdict on a node, or why there is none."""

    def __init__(self, node: Node, verdict: Verdict | None, failure: str, seconds: float) -> None:
        super().__init__()
        self.node, self.verdict, self.failure, self.seconds = node, verdict, failure, seconds


class Asking(Message):
    """The progress of a planner, in words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class RadarScreen(Overlay[None]):
    """A screen on which the radar works, one question at a time."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game
        self._asking: Worker[None] | None = None
        self._spent = 0.0
        self._halted = "" if game.operator else "off: d looks for where the goal is lost"
        self._asked_of: Node | None = None
        self._patience = SECONDS

    def paint(self) -> None:
        """Draw the present answers."""
        raise NotImplementedError

    def say_radar(self, text: str) -> None:
        """Show how far the radar is, in one line."""
        raise NotImplementedError

    # ---- working --------------------------------------------------------------------------------

    @property
    def asking(self) -> bool:
        """Return whether a question is being worked on."""
        return self._asking is not None

    def ask_next(self) -> None:
        """Ask about the next moment, if there is one and the radar is not at rest."""
        if self._asking is not None:
            return
        node = None if self._halted or not has_goal(self.game.session) else self._next()
        if node is None:
            self.say_radar(self._rest())
            return
        self._asked_of = node
        self.say_radar(self._progress(""))
        self._asking = self._ask(node, self.game.planner())

    def _next(self) -> Node | None:
        if self._spent >= BUDGET:
            self._halted = f"rests after {BUDGET:.0f} s; d goes on"
            return None
        return self.game.radar.question()

    def rest(self) -> None:
        """Stop the radar; its answers stay."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    def action_radar(self) -> None:
        """Stop the radar; or continue it, with more time for undecided moments."""
        if self._asking is not None:
            self.rest()
            self._halted = "stopped; d goes on"
        else:
            self._halted, self._spent, self._patience = "", 0.0, self._patience * 2
            self.game.radar.forget_unknown()
            self.paint()
        self.ask_next()

    def _rest(self) -> str:
        if not has_goal(self.game.session):
            return "radar: this world has no goal"
        return f"radar {self._halted}" if self._halted else legend(self.game.glyphs)

    def _progress(self, text: str) -> str:
        radar, node = self.game.radar, self._asked_of
        total = len(self.game.timeline.nodes)
        tick = "" if node is None else f", tick {node.moment.state.tick}"
        told = f": {text}" if text else ""
        return f"radar: {total - radar.pending} of {total} known{tick}{told}"

    @work(thread=True, exclusive=True, group="radar")
    def _ask(self, node: Node, planner: RadarPlanner) -> None:
        worker, began = get_current_worker(), time.monotonic()
        verdict, failure = None, ""
        try:
            verdict = planner.ask(
                node.moment,
                self._patience,
                say=lambda text: self._heard(worker, text),
                cancel=lambda: worker.is_cancelled,
            )
        except Failure as found:
            failure = fault_text(found)
        except Exception as error:  # an error of a planner does not end the game
            failure = f"the planner stopped unexpectedly: {error or type(error).__name__}"
        if not worker.is_cancelled:
            self.post_message(Answered(node, verdict, failure, time.monotonic() - began))

    def _heard(self, worker: Worker[None], text: str) -> None:
        if not worker.is_cancelled:
            self.post_message(Asking(text))

    def on_asking(self, event: Asking) -> None:
        if self._asking is not None:
            self.say_radar(self._progress(event.text))

    def on_answered(self, event: Answered) -> None:
        if self._asking is None:
            return
        self._asking = None
        self._spent += event.seconds
        state = event.node.moment.state
        if event.verdict is not None:
            self.game.radar.learn(state, event.verdict)
        else:
            self._halted = f"stopped: {event.failure}"
        self.paint()
        self.ask_next()

    def on_unmount(self) -> None:
        self.rest()


def difference_lines(game: Game, first: Node, second: Node) -> Iterator[Line]:
    """Show the differences between two moments, slot by slot."""
    timeline = game.timeline
    yield ((_named(game, first), "head"), (f" {game.glyphs.becomes} ", "dim"),
           (_named(game, second), "head"))  # fmt: skip
    common = timeline.common(first, second)
    if common in (first, second):
        yield line("One goes on from the other.", "dim")
    else:
        yield line(f"They part after {_named(game, common)}.", "dim")
    yield line("")
    found = timeline.differences(first, second)
    for one in found:
        values = f"{value_text(one.old)} {game.glyphs.becomes} {value_text(one.new)}"
        yield ((f"{one.slot}  ", "plain"), (values, "good"))
    if not found:
        yield line("Nothing differs.")


def _named(game: Game, node: Node) -> str:
    return f"tick {node.moment.state.tick} of {game.timeline.name_of(node.line)}"


class MomentList(KeyedList):
    """The moments, line by line."""

    BINDINGS: ClassVar[list[BindingType]] = [select_key("Go there")]


class TimelineScreen(RadarScreen):
    """Lines of moments, one below the other, with the details of the highlighted moment.

    The sign in front of each says whether the goal is in reach from there (see `radar`).
    """

    pane = "timeline"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "jump", "Go there", key_display="Enter", id="timeline.jump"),
        Binding("m", "mark", "Mark", key_display="m", id="timeline.mark",
                tooltip="Compare the moments that are walked to with this one"),
        Binding("n", "name", "Name", key_display="n", id="timeline.name"),
        Binding("l", "laws", "Laws", key_display="l", id="timeline.laws"),
        Binding("d", "radar", "Radar", key_display="d", id="timeline.radar",
                tooltip="Stop the dead-end radar, or let it go on with more time"),
        Binding("u", "undo", "Undo", key_display="u", id="timeline.undo"),
        Binding("r", "redo", "Redo", key_display="r", id="timeline.redo"),
        Binding("f1,question_mark", "help", "Help", show=False, id="timeline.help"),
        Binding("escape,q", "leave", "Back", key_display="Esc", id="timeline.close"),
    ]  # fmt: skip

    def __init__(self, game: Game, describer: Describer) -> None:
        super().__init__(game)
        self._describer = describer
        self._rows: list[Node | None] = []
        self._mark: Node | None = None

    def compose(self) -> ComposeResult:
        listed = MomentList(id="moments", classes="pane")
        return framed(Horizontal(listed, Details(), id="timeline"))

    def on_mount(self) -> None:
        moments = self.query_one(OptionList)
        entitle(moments, "Timeline")
        self._refill(self.game.timeline.sync())
        moments.focus()
        self.ask_next()

    # ---- showing ------------------------------------------------------------------------------

    def _refill(self, at: Node) -> None:
        """Show all lines, this moment highlighted."""
        timeline = self.game.timeline
        path = {node.number for node in timeline.path(timeline.now)}
        known = self.game.radar.answers()
        self._rows, options = [], []
        for nodes in timeline.lines:
            self._rows.append(None)
            options.append(option(self._heading(nodes[0].line, nodes[0]), disabled=True))
            for node in nodes:
                self._rows.append(node)
                row = self._row(node, node.number in path, known[node.number].prospect)
                options.append(option(row))
        moments = self.query_one(OptionList)
        moments.set_options(options)
        moments.highlighted = next(
            n for n, one in enumerate(self._rows) if one is not None and one.number == at.number
        )
        self.query_one(TitleBar).update(title_text(self.game.session, self.game.glyphs))
        self._tell(at)

    def _heading(self, number: int, first: Node) -> Content:
        timeline = self.game.timeline
        name = content((timeline.name_of(number), "bold"))
        if first.parent is None:
            return name
        came = timeline.nodes[first.parent]
        return content(name, (f"  from {_named(self.game, came)}", "$foreground-muted"))

    def paint(self) -> None:
        """The radar's signs anew; highlight and scrolling stay where they are."""
        moments, timeline = self.query_one(OptionList), self.game.timeline
        path = {node.number for node in timeline.path(timeline.now)}
        known = self.game.radar.answers()
        for at, node in enumerate(self._rows):
            if node is not None:
                row = self._row(node, node.number in path, known[node.number].prospect)
                moments.replace_option_prompt_at_index(at, row)
        if self._chosen is not None:
            self._tell(self._chosen)

    def say_radar(self, text: str) -> None:
        entitle(self.query_one(OptionList), subtitle=text)

    def _row(self, node: Node, here: bool, prospect: Prospect) -> Content:
        glyphs, moment = self.game.glyphs, node.moment
        if not moment.outcomes:
            sign, when, asked = glyphs.dot, f"{moment.state.tick:>3}", moment.asked or "start"
        else:
            outcome = moment.outcomes[-1]
            status = outcome.status.replace("_", " ")
            sign, asked = glyphs.of(outcome.status), moment.asked
            when = f"{outcome.tick:>3} {status:<8}"
        style = "" if here else "$foreground-muted"
        return content(
            prospect_mark(prospect, glyphs),
            (f"{sign} {when} ", style),
            (self._marks(node), "bold"),
            (asked, style),
        )

    def _marks(self, node: Node) -> str:
        """In front of the command, as a long one is cut at its end."""
        now = node.number == self.game.timeline.now.number
        marked = self._mark is not None and node.number == self._mark.number
        glyphs = self.game.glyphs
        return f"{glyphs.hint} " * now + f"{glyphs.changed} " * marked

    def _tell(self, node: Node) -> None:
        details = self.query_one(Details)
        if self._mark is not None and self._mark.number != node.number:
            details.tell(difference_lines(self.game, self._mark, node), "Difference")
            return
        radar = self.game.radar
        known = radar.answers()[node.number]
        reach = list(answer_lines(known, radar.lost_since(node), self.game.glyphs))
        if not node.moment.outcomes:
            edit = node.moment.edit
            began = f"By hand: {edit}" if edit else "Here play began."
            details.tell([line(began), line(""), *reach], "Trial" if edit else "Start")
            return
        outcome, asked = node.moment.outcomes[-1], node.moment.asked
        found = explained_record(self.game.session, outcome)
        told = [*self._describer.record(outcome, found=found), line(""), *reach]
        details.tell(told, f"Tick {outcome.tick}: {asked}")

    @property
    def _chosen(self) -> Node | None:
        at = self.query_one(OptionList).highlighted
        return None if at is None else self._rows[at]

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        node = self._rows[event.option_index]
        if node is not None:
            self._tell(node)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_jump()

    # ---- keys -----------------------------------------------------------------------------------

    def action_jump(self) -> None:
        """Go to the highlighted moment; later steps are a branch."""
        if self._chosen is not None:
            self.game.jump(self._chosen)
            self._refill(self.game.timeline.now)

    def action_mark(self) -> None:
        """Compare with this moment from now on; marking it again ends that."""
        node = self._chosen
        if node is not None:
            again = self._mark is not None and self._mark.number == node.number
            self._mark = None if again else node
            self._refill(node)

    def action_name(self) -> None:
        """Give the highlighted line a name."""
        node = self._chosen
        if node is None:
            return
        known = self.game.timeline.name_of(node.line)

        def named(name: str | None) -> None:
            if name is not None:
                self.game.timeline.rename(node.line, name)
                self._refill(node)

        self.app.push_screen(AskDialog("Name of this branch", known), named)

    def action_laws(self) -> None:
        """The laws of the highlighted moment's tick."""

        node = self._chosen
        if node is not None and node.parent is not None:
            way = self.game.timeline.path(node)
            self.app.push_screen(TraceScreen(self.game, way, len(way) - 1))

    def action_undo(self) -> None:
        self.game.undo()
        self._refill(self.game.timeline.now)

    def action_redo(self) -> None:
        self.game.redo()
        self._refill(self.game.timeline.now)


class TraceScreen(Overlay[None]):
    """The ticks of one path from the start; ``at`` is the one shown first."""

    pane = "laws"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,p", "go(-1)", "Earlier", key_display="←", id="laws.earlier"),
        Binding("right,n", "go(1)", "Later", key_display="→", id="laws.later"),
        Binding("f1,question_mark", "help", "Help", key_display="F1", id="laws.help"),
        Binding("escape,q", "leave", "Back", key_display="Esc", id="laws.close"),
    ]

    def __init__(self, game: Game, way: Sequence[Node], at: int) -> None:
        super().__init__()
        self.game, self._way, self._at = game, tuple(way), at

    def compose(self) -> ComposeResult:
        return framed(TextPane("laws", "Laws"))

    def on_mount(self) -> None:
        self.query_one(TitleBar).update(title_text(self.game.session, self.game.glyphs))
        self.query_one("#laws").focus()
        self._tell()

    def _tell(self) -> None:
        before, node = self._way[self._at - 1], self._way[self._at]
        found = self.game.tracing.trace(before.moment.state, node.moment)
        title = f"Laws of tick {found.tick}: {self._at} of {len(self._way) - 1}"
        self.query_one("#laws", TextPane).tell(trace_lines(found, self.game.glyphs), title)

    def action_go(self, by: int) -> None:
        """The tick before or after, as far as there is one."""
        if 1 <= self._at + by < len(self._way):
            self._at += by
            self._tell()
