"""Scoring the run that is being played, beside the game: by the same producer as `tw quality`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual.message import Message

from tokenworld.diagnostics import Failure
from tokenworld.quality import score_run
from tokenworld.session import Session
from tokenworld.store import Database, find_run, history
from tokenworld.tools.play.grades import Scored

__all__ = ["Job", "ScoreFailed", "ScoreReady", "job_of", "score"]

Job = tuple[Path, int, int, int]
"""A store, the number of a run, and the session's last moment: its records in that run, and how
many records the session has itself."""


class ScoreReady(Message):
    """The scorecard of a job."""

    def __init__(self, job: Job, scored: Scored) -> None:
        super().__init__()
        self.job, self.scored = job, scored


class ScoreFailed(Message):
    """Why a job has no scorecard."""

    def __init__(self, job: Job, text: str) -> None:
        super().__init__()
        self.job, self.text = job, text


def job_of(session: Session) -> Job | None:
    """What there is to score: the run that the session stands in; ``None`` if nothing is stored."""
    recording, last = session.recording, session.moments[-1]
    if recording is None or last.run is None:
        return None
    own = sum(len(one.outcomes) for one in session.moments)
    return recording.store.path, last.run, last.records, own


def score(job: Job, post: Callable[[ScoreReady | ScoreFailed], object]) -> None:
    """Score a job and post what comes of it. Runs in a thread, with a connection of its own.

    A run that cannot be scored must not take the game down, so every failure becomes a message.
    """
    path, number, records, own = job
    try:
        with Database.open(path, writable=False) as opened:
            run = find_run(opened, str(number))
            before = len(history(opened, run)) - run.ticks + records - own
            post(ScoreReady(job, Scored(score_run(opened, run), before)))
    except Failure as failure:
        found = failure.diagnostics[0]
        post(ScoreFailed(job, f"{found.code}: {found.message}"))
    except Exception as error:
        post(ScoreFailed(job, f"it could not be worked out: {error or type(error).__name__}"))
