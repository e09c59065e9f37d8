"""The part of the play screen that asks planners and follows plans, beside the game."""

from __future__ import annotations

from collections.abc import Iterable

from textual import work
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker, get_current_worker

from tokenworld.engine import State
from tokenworld.planning import Verdict
from tokenworld.session.hinting import LastChance
from tokenworld.tools.play.ahead import TITLES, Topic, ahead_lines
from tokenworld.tools.play.game import Game
from tokenworld.tools.play.hinting import (
    AheadReady,
    HintFailed,
    HintProgress,
    HintReady,
    ask,
    ask_ahead,
)
from tokenworld.tools.play.hints import LEVELS, hint_lines
from tokenworld.tools.play.lines import Line, line
from tokenworld.tools.play.widgets.texts import Details

__all__ = ["STEP_SECONDS", "AdvisedScreen"]

_SOMETIMES = ("play_step", "play_plan", "accept")
"""What can be done in some states only; see ``check_action``."""

STEP_SECONDS = 0.12
"""Between two steps of a plan that runs by itself, so that one can follow it."""

_OFFER = Content.from_markup(
    "[@click=screen.play_step] Play this step F6 [/]  [@click=screen.play_plan] Play all F7 [/]"
)


class AdvisedScreen(Screen[None]):
    """A game with somebody to ask. Whoever builds on it shows the answers."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game
        self._hint: Worker[None] | None = None
        self._asked = "Hint"
        self._request = 0
        self._level = 0
        self._enabled: tuple[bool | None, ...] = ()
        self._told: tuple[State, Verdict, LastChance | None, str | None] | None = None
        self._stepping: Timer | None = None

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

    # ---- hints and plans ------------------------------------------------------------------------

    def action_hint(self) -> None:
        """Ask the planner, beside the game; asked again, tell more of the answer."""
        if self._tell_more():
            return
        self._stop_waiting()
        if self.game.session.ended():
            self.game.note("The world is over, so there is nothing to hint at: undo with Ctrl+Z.")
            self.refresh_all()
            return
        self._level, self._told = 0, None
        self._begin("Hint")
        self._hint = self._ask(self._request)

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
        """Ask how far the goal is, what cannot be missed, or where it was lost."""
        self._stop_waiting()
        self._begin(TITLES[topic])
        self._hint = self._ask_ahead(self._request, topic)

    def _begin(self, title: str) -> None:
        self._asked = title
        self._explain([line("Thinking. Esc stops it.", "head")], title)
        self._draw_details()
        self._request += 1

    @work(thread=True, exclusive=True, group="hint")
    def _ask(self, request: int) -> None:
        worker = get_current_worker()
        ask(self.game.session, request, lambda: worker.is_cancelled, self.post_message)

    @work(thread=True, exclusive=True, group="hint")
    def _ask_ahead(self, request: int, topic: Topic) -> None:
        worker = get_current_worker()
        session, stopped = self.game.session, lambda: worker.is_cancelled
        ask_ahead(session, request, topic, stopped, self.post_message)

    def _stop_waiting(self) -> bool:
        """Stop a hint that is being made and a plan that runs by itself."""
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
        """Whether this is the hint that is waited for: not one that was stopped."""
        return self._hint is not None and request == self._request

    def on_hint_progress(self, event: HintProgress) -> None:
        if self._awaits(event.request):
            self._explain([line("Thinking. Esc stops it.", "head"), line(event.text)], self._asked)

    def on_hint_ready(self, event: HintReady) -> None:
        if not self._awaits(event.request):
            return
        self._hint = None
        words = self.game.advise(event.verdict, event.chance)
        self._told = (self.game.session.state, event.verdict, event.chance, words)
        self._retell()
        self.refresh_all()

    def on_ahead_ready(self, event: AheadReady) -> None:
        if not self._awaits(event.request):
            return
        self._hint = None
        self._explain(ahead_lines(event.ahead, self.game.glyphs), self._asked)
        self.refresh_all()

    def on_hint_failed(self, event: HintFailed) -> None:
        if not self._awaits(event.request):
            return
        self._hint = None
        self.game.fault(event.failure)
        self._explain([line("No hint could be made; the story says why.", "warn")], self._asked)
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
        """Where the plan stands, and what it does next."""
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
