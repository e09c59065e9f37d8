"""The part of the play screen that guides a player: the rule under the cursor, the jump mode, the
tour."""

from __future__ import annotations

from string import Formatter
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from tokenworld.ground import Outcome
from tokenworld.play.model.game import Game
from tokenworld.play.model.source import Passage, code_lines, rule_of_command, rules_of_record
from tokenworld.play.model.tour import Deed, Step, Tour
from tokenworld.play.screens.advised import AdvisedScreen
from tokenworld.play.screens.jump import LETTERS, JumpScreen
from tokenworld.play.screens.keys import key_of
from tokenworld.play.widgets.actions import CommandLine, TickList, Transcript
from tokenworld.play.widgets.shown import Words, content, entitle, link
from tokenworld.play.widgets.source import SourcePane
from tokenworld.play.widgets.texts import TABS

TALL: Final = 36
"""The rows from which a screen has room for high panes."""


def hidden(key: str, action: str, name: str, told: str) -> Binding:
    """A key of the game that the row of keys has no room for."""
    return Binding(key, action, told, show=False, id=f"play.{name}")


class GuidedScreen(AdvisedScreen):
    """A game with a source pane that follows the cursor, letters to jump by, and a tour.

    ``examined`` is the command that was examined last, or the record that was looked at or made.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        hidden("ctrl+r", "source", "source", "The text of the rule behind the command or the "
                   "tick under the cursor; or hide it"),
        hidden("ctrl+f", "jump", "jump", "A letter on each pane; typing it goes to the pane"),
        Binding("ctrl+e", "tour_next", "The next step of the tour", show=False, id="tour.next",
                priority=True),
    ]  # fmt: skip

    def __init__(self, game: Game, *, watch: bool = True, tour: bool = False) -> None:
        """``tour``: it begins with the tour."""
        super().__init__(game, watch=watch)
        self._tour = Tour() if tour else None
        self.examined: str | Outcome = ""

    def bring_up(self, pane: str) -> None:
        """Put a pane of the side in front, where only one fits; it stays there."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._tour is not None if action == "tour_next" else True

    # ---- the source pane ------------------------------------------------------------------------

    def action_source(self) -> None:
        """Show the source of the rule of the row under the cursor, or hide it."""
        self.show_source(not self.query_one(SourcePane).display)

    def show_source(self, shown: bool | None = None) -> None:
        """Show or hide the source pane; by itself only operator mode shows it, if there is room."""
        pane = self.query_one(SourcePane)
        shown = self.game.operator and self.size.height >= TALL if shown is None else shown
        if pane.has_focus and not shown:
            self.query_one(CommandLine).focus()
        pane.display = shown
        self.set_class(shown, "-sourced")
        self.follow()
        self.call_after_refresh(self.query_one(Transcript).scroll_end, animate=False)

    def follow(self) -> None:
        """Bring the source pane to the row under the cursor; while it is read, it stays."""
        pane = self.query_one(SourcePane)
        if pane.display and not pane.has_focus:
            found = self._rules_here()
            sources = self.game.session.world.loaded.by_name
            pane.show(tuple(code_lines(found, sources)), found[0].title if found else "")

    def _rules_here(self) -> tuple[Passage, ...]:
        """Return the rules of the highlighted tick, else of the typed or highlighted command,
        else of the command that was examined or given last."""
        session, ticks = self.game.session, self.query_one(TickList)
        program, record = session.world.program, ticks.chosen if ticks.has_focus else None
        match record or self.meant() or self.examined:
            case Outcome() as outcome:
                return rules_of_record(program, session.world.world, outcome)
            case str(asked) if asked:
                found = session.why_not(asked)
                if found.command is not None:
                    return rule_of_command(program, found.command.action, found.requires)
        return ()

    def on_descendant_focus(self) -> None:
        self.follow()

    def on_option_list_option_highlighted(self) -> None:
        self.follow()

    # ---- the jump mode --------------------------------------------------------------------------

    def action_jump(self) -> None:
        """Put a letter on each pane, and go to the one whose letter is typed."""
        panes = [(pane, self.query_one(f"#{pane}")) for pane, _ in LETTERS.values()]
        places = {pane: one.region for pane, one in panes if one.display or pane in TABS}
        self.app.push_screen(JumpScreen(places), self._jump)

    def _jump(self, pane: str | None) -> None:
        if pane in TABS:
            self.bring_up(pane)
        if pane is not None:
            self.query_one(f"#{pane}").focus()

    # ---- the tour -------------------------------------------------------------------------------

    def action_tour(self) -> None:
        """Begin the tour, from its first step."""
        self._tour = Tour()
        self.show_tour()

    def action_tour_next(self) -> None:
        """Pass over a step of the tour."""
        if self._tour is not None and self._tour.step is not None:
            self.did(self._tour.step.deed)

    def action_tour_end(self) -> None:
        self.end_tour()

    def did(self, deed: Deed) -> None:
        """Go on with the tour if its step asks for this."""
        if self._tour is not None and self._tour.did(deed):
            self.show_tour()

    def end_tour(self) -> bool:
        """End the tour; false where there is none."""
        ended, self._tour = self._tour is not None, None
        if ended:
            self.game.note("The tour ends here. `tour` begins it again.")
            self.show_tour()
            self.refresh_all()
        return ended

    def show_tour(self) -> None:
        """Show the step of the tour, and point at its pane."""
        box, step = self.query_one("#tour", Words), None if self._tour is None else self._tour.step
        self.query(".-pointed").remove_class("-pointed")
        box.display = step is not None
        self.set_class(box.display, "-touring")
        if self._tour is None or step is None:
            self.end_tour()
            return
        self.query_one(f"#{step.pane}").add_class("-pointed")
        entitle(box, self._tour.title)
        next_key = key_of(self, "tour.next")
        skip_key = key_of(self, "play.leave")
        links = (link("screen.tour_next", f"Next {next_key}"),
                 link("screen.tour_end", f"Skip {skip_key}"))  # fmt: skip
        box.update(content(self._in_words(step), "\n", links[0], "  ", links[1]))
        self.call_after_refresh(self.query_one(Transcript).scroll_end, animate=False)

    def _in_words(self, step: Step) -> str:
        """The text of a step, with the keys that are in force."""
        names = {name for _, name, _, _ in Formatter().parse(step.text) if name}
        words = {name: key_of(self, f"play.{name}") for name in names}
        if "example" in names:
            legal = self.game.legal()
            words["example"] = legal[0].text if legal else "pass"
        return step.text.format(**words)
