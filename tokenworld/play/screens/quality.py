"""The quality of the run that is played: scored beside the game, as a strip and as a screen.

`tokenworld.verbs.quality.scorecard.score_run` scores, as for `tw quality`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, assert_never

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import OptionList

from tokenworld.diagnostics import Failure
from tokenworld.ground import Outcome
from tokenworld.play.model.game import Game
from tokenworld.play.screens.dialogs import Overlay
from tokenworld.play.widgets.shown import Content, entitle, option, styled_line
from tokenworld.play.widgets.texts import Details, KeyedList, TitleBar, framed, select_key
from tokenworld.session import Session
from tokenworld.store.database import Database
from tokenworld.store.read import find_run, history
from tokenworld.verbs.output import Glyphs, Line, Piece, Role, line
from tokenworld.verbs.quality.dimensions import Dimension, Grade
from tokenworld.verbs.quality.fate import BAD
from tokenworld.verbs.quality.scorecard import Scorecard, Verdict, score_run, verdict_sentence

_ROLES: dict[Grade, Role] = {"OK": "good", "WARN": "warn", "FAIL": "bad", "N/A": "dim"}
_VERDICTS: dict[Verdict, tuple[str, Role]] = {
    "HEALTHY": ("HEALTHY", "good"),
    "DEGRADED": ("DEGRADED", "warn"),
    "FAILED": ("FAILED", "bad"),
    "INSUFFICIENT_DATA": ("TOO FEW TICKS", "dim"),
}


@dataclass(frozen=True, slots=True)
class Scored:
    """A scorecard, with the number of records in the history of its run and that of the moments
    that the session had then.

    The records of a scorecard are places in that history, from 1; a session that goes on with a
    stored run has only the last of them.
    """

    card: Scorecard
    records: int
    moments: int


def outcome_of(session: Session, scored: Scored, seq: int) -> tuple[str, Outcome] | None:
    """Return the intent and the record at a place of the history, if the session has it."""
    behind = scored.records - seq
    for moment in reversed(session.moments[: scored.moments]):
        if 0 <= behind < len(moment.outcomes):
            return moment.asked, moment.outcomes[-1 - behind]
        behind -= len(moment.outcomes)
    return None


def _sign(grade: Grade, glyphs: Glyphs) -> str:
    match grade:
        case "OK":
            return glyphs.executed
        case "WARN":
            return glyphs.error
        case "FAIL":
            return glyphs.refused
        case "N/A":
            return glyphs.unevaluated
        case _:
            assert_never(grade)


def strip_line(card: Scorecard, glyphs: Glyphs) -> Line:
    """The verdict, then each dimension that is failed or in warn."""
    bad = [one for grade in ("FAIL", "WARN") for one in card.dimensions if one.status == grade]
    cells = [
        (f" {glyphs.dot} {_sign(one.status, glyphs)} {one.title.lower()}", _ROLES[one.status])
        for one in bad
    ]
    good: Piece = (f" {glyphs.dot} {glyphs.executed} no dimension failed or in warn", "good")
    return (("Quality: ", "dim"), _verdict(card, glyphs), *(cells or [good]))


def _verdict(card: Scorecard, glyphs: Glyphs) -> Piece:
    word, role = _VERDICTS[card.verdict]
    return f"{glyphs.hint} {word}", role


def summary_lines(card: Scorecard, glyphs: Glyphs) -> Iterator[Line]:
    """Yield the verdict and every dimension, as the command line prints them."""
    _, role = _VERDICTS[card.verdict]
    yield line(verdict_sentence(card), role)
    window = card.window
    if window.n:
        span = f"Records {window.first} to {window.last} of {card.subject.run}"
        yield line(f"{span}: {window.n} of the last {window.requested}.", "dim")
    yield line(f"Goal: {card.fate.text}.", "warn" if card.fate.name in BAD else "plain")
    for one in card.dimensions:
        yield line("")
        yield from _head(one, glyphs)


def _head(one: Dimension, glyphs: Glyphs) -> Iterator[Line]:
    sign = _sign(one.status, glyphs)
    yield ((f"{sign} {one.title}", _ROLES[one.status]), (f"  {one.status}", _ROLES[one.status]))
    yield line(f"  {one.meaning}", "dim")
    yield line(f"  {' '.join(one.text.split())}")


def dimension_lines(one: Dimension, glyphs: Glyphs) -> Iterator[Line]:
    """One dimension: grade, numbers, limits, the course of its value, and the ticks against it."""
    yield from _head(one, glyphs)
    for name, limit in one.thresholds.items():
        yield line(f"  {name}: {limit}", "dim")
    if one.series:
        yield line("")
        yield line("Course", "head")
        yield line(f"  {_sparks([value for _, value in one.series], glyphs)}", "typed")
        for tick, value in one.series:
            yield ((f"  record {tick:>4}  ", "dim"), (_number(value), "plain"))
    yield line("")
    if one.evidence:
        number = len(one.evidence)
        records = "one record" if number == 1 else f"{number} records"
        yield line(f"It rests on {records}; Enter on one goes there.", "dim")
    else:
        yield line("It rests on no single record.", "dim")


def _sparks(values: Sequence[Fraction], glyphs: Glyphs) -> str:
    """A column for each value, between the least and the greatest."""
    low, high = min(values), max(values)
    top = len(glyphs.sparks) - 1
    if high == low:
        return glyphs.sparks[top // 2] * len(values)
    return "".join(glyphs.sparks[int((one - low) * top / (high - low))] for one in values)


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.3f}"


Job = tuple[Path, int, int, int]
"""A store, the number of a run, the records that it has up to the session's last moment, and how
many moments the session has."""


class ScoreReady(Message):
    """The scorecard of a job."""

    def __init__(self, job: Job, scored: Scored) -> None:
        super().__init__()
        self.job, self.scored = job, scored


class ScoreFailed(Message):
    """The reason why a job has no scorecard."""

    def __init__(self, job: Job, text: str) -> None:
        super().__init__()
        self.job, self.text = job, text


def job_of(session: Session) -> Job | None:
    """Return the job for the run of the session; ``None`` if nothing is stored."""
    recording, last = session.recording, session.moments[-1]
    if recording is None or last.run is None:
        return None
    return recording.store.path, last.run, last.records, len(session.moments)


def score(job: Job, post: Callable[[ScoreReady | ScoreFailed], object]) -> None:
    """Score a job and post the result. Runs in a thread, with a connection of its own.

    A run that cannot be scored must not take the game down, so every failure becomes a message.
    """
    path, number, records, moments = job
    try:
        with Database.open(path, writable=False) as opened:
            run = find_run(opened, str(number))
            whole = len(history(opened, run)) - run.ticks + records
            post(ScoreReady(job, Scored(score_run(opened, run), whole, moments)))
    except Failure as failure:
        found = failure.diagnostics[0]
        post(ScoreFailed(job, f"{found.code}: {found.message}"))
    except Exception as error:
        post(ScoreFailed(job, f"it could not be worked out: {error or type(error).__name__}"))


_Row = tuple[Dimension | None, int | None]
"""A dimension (``None``: the verdict over all), and a record that speaks against it."""


class GradeList(KeyedList):
    """Dimensions, and the records against each."""

    BINDINGS: ClassVar[list[BindingType]] = [select_key("Go to record")]


class QualityScreen(Overlay[int]):
    """Gives back the record to go to; ``None`` for none."""

    pane = "quality"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go", "Go to record", key_display="Enter", id="quality.go"),
        Binding("f1,question_mark", "help", "Help", key_display="F1", id="quality.help"),
        Binding("escape,q", "leave", "Back", key_display="Esc", id="quality.close"),
    ]

    def __init__(self, game: Game, scored: Scored) -> None:
        super().__init__()
        self.game, self._scored = game, scored
        self._rows: list[_Row] = []

    def compose(self) -> ComposeResult:
        listed = GradeList(id="grades", classes="pane")
        return framed(Horizontal(listed, Details(), id="grading"))

    def on_mount(self) -> None:
        grades = self.query_one(OptionList)
        entitle(grades, "Quality")
        self.show(self._scored)
        grades.focus()

    def show(self, scored: Scored) -> None:
        """Show a newer scorecard, with the same row highlighted if it still exists."""
        grades = self.query_one(OptionList)
        chosen = self._key(grades.highlighted)
        self._scored = scored
        self._rows = [(None, None)]
        for one in scored.card.dimensions:
            self._rows += [(one, None), *((one, tick) for tick in one.evidence)]
        grades.set_options(option(self._prompt(row)) for row in self._rows)
        keys = [self._key(at) for at in range(len(self._rows))]
        grades.highlighted = keys.index(chosen) if chosen in keys else 0
        title = f"{scored.card.subject.title} {self.game.glyphs.dot} {scored.card.subject.run}"
        self.query_one(TitleBar).update(title)
        self._tell()

    def _key(self, at: int | None) -> tuple[str, int | None]:
        if at is None or at >= len(self._rows):
            return "", None
        dimension, tick = self._rows[at]
        return (dimension.id if dimension else ""), tick

    def _prompt(self, row: _Row) -> Content:
        dimension, tick = row
        glyphs, card = self.game.glyphs, self._scored.card
        if dimension is None:
            return styled_line((("Verdict ", "head"), _verdict(card, glyphs)))
        if tick is None:
            sign, role = _sign(dimension.status, glyphs), _ROLES[dimension.status]
            return styled_line(((f"{sign} {dimension.title}", role),))
        found = outcome_of(self.game.session, self._scored, tick)
        asked, status = ("", "") if found is None else (found[0], found[1].status)
        text = f"   record {tick:>4} {status.replace('_', ' ')} {asked}".rstrip()
        return styled_line(((text, "dim" if found is None else "plain"),))

    def _tell(self) -> None:
        at = self.query_one(OptionList).highlighted
        dimension = self._rows[at][0] if at is not None else None
        glyphs, details = self.game.glyphs, self.query_one(Details)
        if dimension is None:
            details.tell(summary_lines(self._scored.card, glyphs), "All dimensions")
        else:
            details.tell(dimension_lines(dimension, glyphs), dimension.title)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._tell()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_go()

    def action_go(self) -> None:
        """Back to the game, at the highlighted record."""
        at = self.query_one(OptionList).highlighted
        tick = None if at is None else self._rows[at][1]
        if tick is not None:
            self.dismiss(tick)
