"""The quality of a run: seven dimensions over its last ticks, and one verdict.

`score_run` is the one producer; the command line, the screen and the morning report show what it
makes. `judge` is its pure half: facts in, scorecard out.
"""

from __future__ import annotations

from tokenworld.quality.dimension import Dimension, DimensionId, Grade
from tokenworld.quality.facts import Fact, Window, window_of
from tokenworld.quality.fanout import Checkpoint
from tokenworld.quality.markers import DEFAULT_MARKERS, Markers, read_markers
from tokenworld.quality.scorecard import DEFAULT_WINDOW, Scorecard, Subject, Verdict, judge
from tokenworld.quality.scoring import score_run
from tokenworld.quality.table import scorecard_lines, verdict_sentence
from tokenworld.quality.vocabulary import Coverage

__all__ = [
    "DEFAULT_MARKERS",
    "DEFAULT_WINDOW",
    "Checkpoint",
    "Coverage",
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
