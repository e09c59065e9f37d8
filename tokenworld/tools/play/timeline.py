"""The timeline: every moment of this game, also those that were taken back, and the way to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tokenworld.session.clauses import trees_of_record
from tokenworld.session.radar import Prospect
from tokenworld.session.timeline import Node
from tokenworld.tools.play.blocked import in_the_way
from tokenworld.tools.play.dialogs import AskDialog
from tokenworld.tools.play.game import Game
from tokenworld.tools.play.lines import Line, line
from tokenworld.tools.play.radar import RadarScreen, prospect_mark, sounding_lines
from tokenworld.tools.play.records import Describer, json_text
from tokenworld.tools.play.title import title_text
from tokenworld.tools.play.widgets.frame import framed
from tokenworld.tools.play.widgets.lists import KeyedList, select_key
from tokenworld.tools.play.widgets.texts import Details, TitleBar

__all__ = ["TimelineScreen", "difference_lines"]


def difference_lines(game: Game, first: Node, second: Node) -> Iterator[Line]:
    """What differs between two moments, slot by slot."""
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
        values = f"{json_text(one.old)} {game.glyphs.becomes} {json_text(one.new)}"
        yield ((f"{one.slot}  ", "plain"), (values, "good"))
    if not found:
        yield line("Nothing differs.")


def _named(game: Game, node: Node) -> str:
    return f"tick {node.moment.state.tick} of {game.timeline.name_of(node.line)}"


class MomentList(KeyedList):
    """The moments, line by line."""

    BINDINGS: ClassVar[list[BindingType]] = [select_key("Go there")]


class TimelineScreen(RadarScreen):
    """Lines of moments, one below the other; the highlighted moment is told beside them.

    The sign in front of each says whether the goal is in reach from there (see `radar`).
    """

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
        Binding("f1", "help", "Help", show=False, id="timeline.help"),
        Binding("escape,q", "leave", "Back", key_display="Esc", id="timeline.close"),
    ]  # fmt: skip

    def __init__(self, game: Game, describer: Describer) -> None:
        super().__init__(game)
        self._describer = describer
        self._rows: list[Node | None] = []
        self._mark: Node | None = None

    def compose(self) -> ComposeResult:
        listed = MomentList(id="moments", classes="pane", markup=False)
        return framed(Horizontal(listed, Details(), id="timeline"))

    def on_mount(self) -> None:
        moments = self.query_one(OptionList)
        moments.border_title = "Timeline"
        self._refill(self.game.timeline.sync())
        moments.focus()
        self.sound()

    # ---- showing ------------------------------------------------------------------------------

    def _refill(self, at: Node) -> None:
        """Show all lines, this moment highlighted."""
        timeline = self.game.timeline
        path = {node.number for node in timeline.path(timeline.now)}
        known = self.game.radar.soundings()
        self._rows, options = [], []
        for nodes in timeline.lines:
            self._rows.append(None)
            options.append(Option(self._heading(nodes[0].line, nodes[0]), disabled=True))
            for node in nodes:
                self._rows.append(node)
                row = self._row(node, node.number in path, known[node.number].prospect)
                options.append(Option(row))
        moments = self.query_one(OptionList)
        moments.set_options(options)
        moments.highlighted = next(
            n for n, one in enumerate(self._rows) if one is not None and one.number == at.number
        )
        self.query_one(TitleBar).update(title_text(self.game.session, self.game.glyphs))
        self._tell(at)

    def _heading(self, number: int, first: Node) -> Content:
        timeline = self.game.timeline
        name = Content.styled(timeline.name_of(number), "bold")
        if first.parent is None:
            return name
        came = timeline.nodes[first.parent]
        return Content.assemble(name, (f"  from {_named(self.game, came)}", "$foreground-muted"))

    def paint(self) -> None:
        """The radar's signs anew; highlight and scrolling stay where they are."""
        moments, timeline = self.query_one(OptionList), self.game.timeline
        path = {node.number for node in timeline.path(timeline.now)}
        known = self.game.radar.soundings()
        for at, node in enumerate(self._rows):
            if node is not None:
                row = self._row(node, node.number in path, known[node.number].prospect)
                moments.replace_option_prompt_at_index(at, row)
        if self._chosen is not None:
            self._tell(self._chosen)

    def say_radar(self, text: str) -> None:
        self.query_one(OptionList).border_subtitle = text

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
        return Content.assemble(
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
        known = radar.soundings()[node.number]
        reach = list(sounding_lines(known, radar.lost_since(node), self.game.glyphs))
        if not node.moment.outcomes:
            edit = node.moment.edit
            began = f"By hand: {edit}" if edit else "Here play began."
            details.tell([line(began), line(""), *reach], "Trial" if edit else "Start")
            return
        outcome, asked = node.moment.outcomes[-1], node.moment.asked
        found = in_the_way(self.game.session, outcome)
        trees = trees_of_record(self.game.session, outcome)
        told = [*self._describer.record(outcome, asked, found, trees), line(""), *reach]
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
        """Stand at the highlighted moment; what is played then is a branch."""
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
        from tokenworld.tools.play.tracing import TraceScreen

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

    def action_help(self) -> None:
        from tokenworld.tools.play.dialogs import HelpDialog

        self.app.push_screen(HelpDialog("timeline"))

    def action_leave(self) -> None:
        self.dismiss(None)
