"""Stored runs on the screen, an agent's too: picked from a list, and looked at record by record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widgets import OptionList

from tokenworld.diagnostics import Failure
from tokenworld.play.model.game import fault_text
from tokenworld.play.model.playback import Playback, stored_runs
from tokenworld.play.model.records import Describer
from tokenworld.play.model.view import View, title_text
from tokenworld.play.screens.dialogs import Overlay
from tokenworld.play.widgets.shown import Content, content, entitle, option
from tokenworld.play.widgets.texts import Details, KeyedList, TextPane, TitleBar, framed, select_key
from tokenworld.session.refusals.explained import explained_record
from tokenworld.session.replaying import asked_in
from tokenworld.store.records import Run, Tick
from tokenworld.verbs.output import Glyphs, line

SPEEDS: Final = (1, 2, 5, 10, 25)
"""Records a second, when a run plays by itself."""

_WELL: Final = ("executed", "waiting")


def run_text(run: Run) -> str:
    """A run in a line: its name, how long it is, who played it, and how it ended."""
    ended = run.ending.reason if run.ending else "open"
    kept = "  reference" if run.reference else ""
    who = f"by {run.header.player}, seed {run.header.seed}"
    return f"{run.slug:<18} {run.ticks:>6} records  {who:<22} {ended}{kept}"


class RunList(KeyedList):
    """The runs of a store."""

    BINDINGS: ClassVar[list[BindingType]] = [select_key("Open")]


class RunsScreen(Overlay[str]):
    """The list of runs of a store; its result is the name of one."""

    pane = "runs"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", key_display="Enter", id="runs.open"),
        Binding("f1,question_mark", "help", "Help", show=False, id="runs.help"),
        Binding("escape,q", "leave", "Back", key_display="Esc", id="runs.close"),
    ]

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._runs: tuple[Run, ...] = ()

    def compose(self) -> ComposeResult:
        return framed(RunList(id="runs", classes="pane"))

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        entitle(listed, "Runs")
        try:
            self._runs = stored_runs(self._path)
        except Failure as failure:
            listed.add_option(option(fault_text(failure), disabled=True))
        self.query_one(TitleBar).update(f"Runs of {self._path}")
        listed.add_options(option(run_text(one)) for one in self._runs)
        listed.highlighted = 0 if self._runs else None
        listed.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None and self._runs:
            self.dismiss(self._runs[at].slug)


class Arrived(Message):
    """The present place of a run, or the reason why it cannot continue."""

    def __init__(self, failure: Failure | None = None) -> None:
        super().__init__()
        self.failure = failure


def _go(playback: Playback, place: int, cancel: Callable[[], bool]) -> Arrived:
    try:
        playback.go(place, cancel)
    except Failure as failure:
        return Arrived(failure)
    return Arrived()


class WatchScreen(Overlay[int]):
    """A stored run, read only.

    Its result is the place at which a new run begins. While a thread moves the playback, it belongs
    to that thread.
    """

    pane = "records"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "step(1)", "Next", key_display="→", id="watch.next"),
        Binding("left,h", "step(-1)", "Before", key_display="←", id="watch.before"),
        Binding("space", "play", "Play", key_display="Space", id="watch.play"),
        Binding("plus,equals_sign", "speed(1)", "Fast", key_display="+", id="watch.faster"),
        Binding("minus", "speed(-1)", "Slow", key_display="-", id="watch.slower"),
        Binding("n", "refusal(1)", "Refusal", key_display="n", id="watch.refusal"),
        Binding("p", "refusal(-1)", "Refusal before", show=False, id="watch.refusal_before"),
        Binding("b", "branch", "Branch", key_display="b", id="watch.branch",
                tooltip="Go on from here in a run of your own"),
        Binding("f1,question_mark", "help", "Help", show=False, id="watch.help"),
        Binding("escape,q", "leave", "Back", key_display="Esc", id="watch.close"),
    ]  # fmt: skip

    def __init__(self, playback: Playback, glyphs: Glyphs) -> None:
        super().__init__()
        self.playback, self.glyphs = playback, glyphs
        sources = playback.session.world.loaded.by_name
        self._describer = Describer(glyphs, sources)
        self._timer: Timer | None = None
        self._speed = 1
        self._wanted: int | None = None
        self._busy = False

    def compose(self) -> ComposeResult:
        records = KeyedList(id="records", classes="pane")
        watched = Vertical(TextPane("world", "World"), Details(), id="watched")
        return framed(Horizontal(records, watched, id="watch"))

    def on_mount(self) -> None:
        records = self.query_one("#records", OptionList)
        records.add_option(option("       start"))
        records.add_options(option(self._row(one)) for one in self.playback.ticks)
        records.highlighted = 0
        records.focus()
        self._tell()

    # ---- showing ------------------------------------------------------------------------------

    def _row(self, tick: Tick) -> Content:
        style = "$text-success" if tick.status in _WELL else "$text-error"
        return content(
            (f"{self.glyphs.of(tick.status)} ", style),
            (f"{tick.seq:>4} ", "$foreground-muted"),
            (f"{tick.status.replace('_', ' '):<8} ", style),
            asked_in(tick),
        )

    def _tell(self) -> None:
        """Show the present place of the run."""
        found, session = self.playback, self.playback.session
        shown = title_text(session, self.glyphs)
        who = found.run.header.player
        self.query_one(TitleBar).update(f"{found.run.slug} by {who}, read only  {shown}")
        view = View(session, whole=True)
        self.query_one("#world", TextPane).tell(view.lines, view.title)
        records = self.query_one("#records", OptionList)
        playing = f", {SPEEDS[self._speed]} a second" if self._timer is not None else ""
        entitle(records, f"Records ({found.place} of {len(found.ticks)}{playing})")
        details = self.query_one(Details)
        if found.outcome is None:
            details.tell([line("Here the run begins.")], "Start")
            return
        asked = session.moments[-1].asked
        title = f"Record {found.place}: {asked}"
        why = explained_record(session, found.outcome)
        prose = found.ticks[found.place - 1].prose or ""
        told = (line(f"» {one}") for one in prose.splitlines())
        details.tell([*told, *self._describer.record(found.outcome, found=why)], title)

    # ---- going --------------------------------------------------------------------------------

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if event.option_index != self.playback.place:
            self.go(event.option_index)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.query_one(Details).focus()

    def go(self, place: int) -> None:
        """Go to a place, in a thread; while one is on the way the last wish counts."""
        if self._busy:
            self._wanted = place
            return
        self._busy, self._wanted = True, None
        self._move(place)

    @work(thread=True, group="watch")
    def _move(self, place: int) -> None:
        self.post_message(_go(self.playback, place, lambda: not self.is_running))

    def on_arrived(self, event: Arrived) -> None:
        self._busy = False
        if event.failure is not None:
            self._stop()
            self.notify(fault_text(event.failure), severity="error")
        elif self._wanted not in (None, self.playback.place):
            assert self._wanted is not None
            self.go(self._wanted)
            return
        self._tell()
        with self.prevent(OptionList.OptionHighlighted):
            self.query_one("#records", OptionList).highlighted = self.playback.place
        if self.playback.place == len(self.playback.ticks):
            self._stop()

    # ---- keys -----------------------------------------------------------------------------------

    @property
    def _towards(self) -> int:
        """Return the present place, or the one that the playback moves to."""
        return self.playback.place if self._wanted is None else self._wanted

    def action_step(self, by: int) -> None:
        self._stop()
        self.go(self._towards + by)

    def action_refusal(self, step: int) -> None:
        """Go to the next record that did not go through, or to the one before."""
        self._stop()
        place = self.playback.refusal(step, self._towards)
        if place is None:
            self.notify(f"No refusal {'follows' if step > 0 else 'comes before'}.")
        else:
            self.go(place)

    def action_play(self) -> None:
        """Let the run play by itself, or stop it."""
        if not self._stop():
            self._timer = self.set_interval(1 / SPEEDS[self._speed], self._play_on)
            self._tell()

    def _play_on(self) -> None:
        if not self._busy:
            self.go(self.playback.place + 1)

    def action_speed(self, by: int) -> None:
        self._speed = min(max(self._speed + by, 0), len(SPEEDS) - 1)
        if self._stop():
            self.action_play()

    def _stop(self) -> bool:
        """Stop playing by itself; whether it did."""
        if self._timer is None:
            return False
        self._timer.stop()
        self._timer = None
        if not self._busy:
            self._tell()
        return True

    def action_branch(self) -> None:
        """Go on from here in a run of one's own."""
        if not self._busy:
            self._stop()
            self.dismiss(self.playback.place)

    def action_help(self) -> None:
        self._stop()
        super().action_help()

    def action_leave(self) -> None:
        self._stop()
        super().action_leave()
