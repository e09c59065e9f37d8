"""A scorecard in lines: the strip of seven cells, and one dimension with its series and ticks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tokenworld.ground import Outcome
from tokenworld.quality import Dimension, DimensionId, Grade, Scorecard, Verdict, verdict_sentence
from tokenworld.session import Session
from tokenworld.tools.play.glyphs import Glyphs
from tokenworld.tools.play.lines import Line, Piece, Role, line

__all__ = [
    "Scored",
    "dimension_lines",
    "outcome_of",
    "strip_line",
    "summary_lines",
]

_SHORT: dict[DimensionId, str] = {
    "groundedness": "Ground",
    "character": "Charac",
    "action_coherence": "Coher",
    "refusal_cluster": "Refus",
    "vocabulary": "Vocab",
    "conservation": "Conserv",
    "graph_fan_out": "Fan-out",
}
_ROLES: dict[Grade, Role] = {"OK": "good", "WARN": "warn", "FAIL": "bad", "N/A": "dim"}
_VERDICTS: dict[Verdict, tuple[str, Role]] = {
    "HEALTHY": ("HEALTHY", "good"),
    "DEGRADED": ("DEGRADED", "warn"),
    "FAILED": ("FAILED", "bad"),
    "INSUFFICIENT_DATA": ("TOO FEW TICKS", "dim"),
}


@dataclass(frozen=True, slots=True)
class Scored:
    """A scorecard, and how many records lie before the first moment of the session.

    The ticks of a scorecard are places in the history of the run, from 1; a session that goes on
    with a stored run has only the last of them.
    """

    card: Scorecard
    before: int


def outcome_of(session: Session, scored: Scored, seq: int) -> tuple[str, Outcome] | None:
    """What was asked and the record at a place of the history; ``None`` if it is not at hand."""
    records = [(one.asked, found) for one in session.moments for found in one.outcomes]
    at = seq - 1 - scored.before
    return records[at] if 0 <= at < len(records) else None


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


def strip_line(card: Scorecard, glyphs: Glyphs) -> Line:
    """Seven cells and the verdict in one row of 78 columns: a sign and a word for each."""
    cells: list[Piece] = []
    for one in card.dimensions:
        cells.append((f"{_sign(one.status, glyphs)}{_SHORT[one.id]} ", _ROLES[one.status]))
    word, role = _VERDICTS[card.verdict]
    return (*cells, (f"{glyphs.hint} {word}", role))


def summary_lines(card: Scorecard, glyphs: Glyphs) -> Iterator[Line]:
    """The verdict and every dimension, as the command line tells them."""
    _, role = _VERDICTS[card.verdict]
    yield line(verdict_sentence(card), role)
    window = card.window
    if window.n:
        span = f"Records {window.first} to {window.last} of {card.subject.run}"
        yield line(f"{span}: {window.n} of the last {window.requested}.", "dim")
    for one in card.dimensions:
        yield line("")
        yield from _head(one, glyphs)


def _head(one: Dimension, glyphs: Glyphs) -> Iterator[Line]:
    sign = _sign(one.status, glyphs)
    yield ((f"{sign} {one.title}", _ROLES[one.status]), (f"  {one.status}", _ROLES[one.status]))
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
