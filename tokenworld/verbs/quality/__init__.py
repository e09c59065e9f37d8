"""The quality of a run: seven dimensions over its last ticks, and one verdict.

`score_run` is the one producer; the command line, the screen and the morning report show what it
makes. `judge` is its pure half: facts in, scorecard out.
"""

from __future__ import annotations

from tokenworld.verbs.quality.dimensions import (
    DEFAULT_MARKERS,
    Coverage,
    Dimension,
    DimensionId,
    Fact,
    Grade,
    Markers,
    Window,
    read_markers,
    window_of,
)
from tokenworld.verbs.quality.scorecard import (
    DEFAULT_WINDOW,
    Scorecard,
    Subject,
    Verdict,
    judge,
    score_run,
    scorecard_lines,
    verdict_sentence,
)
from tokenworld.verbs.recheck import Checkpoint

__all__ = [
    "Checkpoint",
    "Coverage",
    "DEFAULT_MARKERS",
    "DEFAULT_WINDOW",
    "Dimension",
    "DimensionId",
    "Fact",
    "Grade",
    "Markers",
    "Scorecard",
    "Subject",
    "Verdict",
    "Window",
    "judge",
    "read_markers",
    "score_run",
    "scorecard_lines",
    "verdict_sentence",
    "window_of",
]
