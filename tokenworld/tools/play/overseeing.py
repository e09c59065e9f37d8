"""The part of the play screen for an operator: the quality strip, law traces, and going on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.worker import Worker, get_current_worker

from tokenworld.ground import PASS, Outcome
from tokenworld.tools.play.advised import STEP_SECONDS, AdvisedScreen
from tokenworld.tools.play.widgets.quality_strip import QualityStrip
from tokenworld.tools.play.widgets.tick_list import TickList

if TYPE_CHECKING:  # loaded when the first run is scored: the first frame does not wait for it
    from tokenworld.tools.play.grades import Scored
    from tokenworld.tools.play.scoring import Job, ScoreFailed, ScoreReady

__all__ = ["FIRST_SECONDS", "SECONDS", "OverseeingScreen"]

FIRST_SECONDS = 2.0
"""So long after the first frame the run is scored for the first time."""
SECONDS = 10.0
"""It is scored no more often than this."""


class OverseeingScreen(AdvisedScreen):
    """Whoever builds on it has a strip, a list of ticks and a pane for details."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+l", "laws", "Laws", show=False, id="play.laws"),
        Binding("f12", "quality", "Quality", show=False, id="play.quality"),
        Binding("ctrl+g", "go_on", "Go on", show=False, id="play.go_on"),
    ]

    _scorer: Worker[None] | None = None
    _scored: Scored | None = None
    _last_job: Job | None = None
    _wanted = False

    def _show_record(self, outcome: Outcome, asked: str, title: str) -> None:
        raise NotImplementedError

    def action_show(self, pane: str) -> None:
        raise NotImplementedError

    # ---- quality --------------------------------------------------------------------------------

    def on_mount(self) -> None:
        if self.game.session.recording is not None:
            self._strip.tell((("Quality: ", "dim"), ("not scored yet", "dim")))
            self.set_timer(FIRST_SECONDS, self.rescore)
            self.set_interval(SECONDS, self.rescore)

    @property
    def _strip(self) -> QualityStrip:
        return self.query_one(QualityStrip)

    @property
    def scoring(self) -> bool:
        """Whether the run is being scored."""
        return self._scorer is not None

    def rescore(self) -> None:
        """Score the run beside the game, if something came since the last time."""
        from tokenworld.tools.play.scoring import job_of

        job = job_of(self.game.session)
        if self._scorer is None and job is not None and job != self._last_job:
            self._last_job = job
            self._scorer = self._score(job)

    @work(thread=True, exclusive=True, group="quality")
    def _score(self, job: Job) -> None:
        from tokenworld.tools.play.scoring import score

        worker = get_current_worker()

        def post(message: ScoreReady | ScoreFailed) -> None:
            if not worker.is_cancelled:
                self.post_message(message)

        score(job, post)

    def on_score_ready(self, event: ScoreReady) -> None:
        from tokenworld.tools.play.grades import strip_line
        from tokenworld.tools.play.quality import QualityScreen

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
        from tokenworld.tools.play.quality import QualityScreen

        self._wanted = False
        self._stop_waiting()
        self.app.push_screen(QualityScreen(self.game, self._scored), self._go_to_record)

    def _go_to_record(self, seq: int | None) -> None:
        """Show the record at a place of the run's history, beside the list of ticks."""
        if seq is None or self._scored is None:
            return
        from tokenworld.tools.play.grades import outcome_of

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
        from tokenworld.tools.play.tracing import TraceScreen

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
        return not session.ended() and session.simulator().running(session.state) is not None

    def _pass_on(self) -> None:
        given = self.game.give(PASS)
        if given:
            self._after_tick()
        if not given or not self._under_way():
            self._stop_waiting()
        self.refresh_all()
