"""``tw report``: the morning report as data, as Markdown and as one HTML file without links.

For every run it lists the facts that an operator needs first: the failed dimensions, with ticks to
look at; halted players with the reason; the most frequent refusals; rules that never fired; words
that were not understood; whether a goal was reached, and how many ticks a plan would have taken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Annotated, Any

from tokenworld.diagnostics import Diagnostic, Failure, fields_json, visible
from tokenworld.ground import Json
from tokenworld.session import OpenWorld
from tokenworld.session.replaying import stored_session
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, history, list_runs
from tokenworld.store.records import Run, Tick
from tokenworld.store.usage import Prices, Total, read_prices, total
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, Output, write_file
from tokenworld.verbs.pages import (
    PAGE_END,
    TABLE_END,
    page_head,
    plain_markdown,
    table_head,
    table_html,
    text_html,
)
from tokenworld.verbs.quality.dimensions import Dimension, Fact
from tokenworld.verbs.quality.fate import Plans
from tokenworld.verbs.quality.scorecard import (
    DEFAULT_WINDOW,
    Scorecard,
    score_run,
    verdict_sentence,
)
from tokenworld.verbs.quality.trend import (
    HISTORY,
    TREND,
    Share,
    read_shares,
    share_of,
    trend_rows,
    write_shares,
)


def title(report: Morning) -> str:
    """The heading."""
    return f"Morning report, since {report.since}" if report.since else "Morning report"


def summary(report: Morning) -> str:
    """The number of runs of each verdict in one line."""
    number = len(report.runs)
    if not number:
        return "No run was recorded."
    counts = ", ".join(f"{count} {name}" for name, count in report.verdicts.items())
    return f"{number} {'run' if number == 1 else 'runs'}: {counts}."


def facts_of(one: RunReport) -> Iterator[tuple[str, str]]:
    """The facts of a run beside its dimensions, as pairs of a name and a sentence."""
    run = one.run
    began = f", began {run.timing.started}" if run.timing else ""
    ended = run.ending.reason if run.ending else "not finished"
    yield (
        "run",
        f"{run.ticks} records by {run.header.player}, seed {run.header.seed}, {ended}{began}",
    )
    if one.trouble:
        yield "not scored", one.trouble
        return
    yield "goal", _goal(one)
    for agent in () if one.card is None else one.card.agents:
        yield (
            agent.name,
            "; ".join(
                f"[{bad.status}] {bad.title.lower()}: {bad.text}" for bad in agent.dimensions
            ),
        )
    if one.model is not None:
        yield "model", one.model.text
    for halt in one.halts:
        yield "halted", f"{halt.place}: {halt.came_to.removeprefix('halted: ')}"
    if one.refusal_reasons:
        yield "refused most", _counted(one.refusal_reasons)
    if one.not_understood:
        yield "not understood", _counted(one.not_understood)
    if one.open_gaps:
        yield "open gaps", ", ".join(f"{gap.place} ({gap.asked})" for gap in one.open_gaps)
    if one.never_fired:
        yield "never fired", ", ".join(one.never_fired)


def _goal(one: RunReport) -> str:
    """The endings reached, each with its tick, or what became of the goal; the ticks of a plan."""
    how = {True: "reached", False: "ended by"}
    reached = [f"{how[end.won]} {end.name} in tick {end.tick}" for end in one.endings]
    said = "; ".join(reached) or ("" if one.card is None else one.card.fate.text)
    if one.plan_ticks is None:
        return said
    return f"{said} (a plan takes {one.plan_ticks} ticks, the run used {one.ticks_used})"


def _counted(pairs: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{text} ({number})" for text, number in pairs)


def markdown(report: Morning) -> str:
    """The whole report; it ends in a newline."""
    return visible("\n".join(_lines(report)) + "\n")


def _lines(report: Morning) -> Iterator[str]:
    yield f"# {title(report)}"
    yield ""
    yield summary(report)
    if report.runs:
        yield ""
        yield "| run | player | records | verdict | in |"
        yield "|---|---|---|---|---|"
        for one in report.runs:
            named = ", ".join(bad.title.lower() for bad in one.bad) or "–"
            run, player = plain_markdown(one.run.slug), plain_markdown(one.run.header.player)
            yield f"| {run} | {player} | {one.run.ticks} | {one.verdict} | {named} |"
    if rows := trend_rows(report.trend):
        yield from ("", "## Trend", "", TREND, "")
        head, *body = rows
        yield from (f"| {' | '.join(head)} |", "|---" * len(head) + "|")
        yield from (f"| {' | '.join(row)} |" for row in body)
    for one in report.runs:
        yield from _run_markdown(one)


def _run_markdown(one: RunReport) -> Iterator[str]:
    yield ""
    mark = " · reference" if one.run.reference is not None else ""
    yield f"## {plain_markdown(one.run.slug)}: {one.verdict}{mark}"
    yield ""
    if one.card is not None:
        yield plain_markdown(verdict_sentence(one.card))
        yield ""
    for name, sentence in facts_of(one):
        yield f"- **{name}:** {plain_markdown(sentence)}"
    for bad in one.bad:
        yield ""
        yield f"### [{bad.status}] {bad.title}: {' '.join(plain_markdown(bad.text).split())}"
        yield ""
        for example in one.examples.get(bad.id, ()):
            came_to = plain_markdown(example.came_to)
            yield f"- {example.place}: `{_code(example.asked)}` → {came_to}"


def _code(text: str) -> str:
    return " ".join(text.replace("`", "'").split())


_WIDTH, _HEIGHT, _PAD = 160, 36, 4
_CELL, _TALL = 9, 22
_SIGNS = {
    "executed": "·", "refused": "x", "no_match": "?", "rolled_back": "r", "waiting": "…",
    "interrupted": "/", "yielded": "y", "error": "!", "halted": "h",
}  # fmt: skip


def series_chart(one: Dimension) -> str:
    """The series of a dimension as a line, from its least to its greatest value."""
    points = one.series
    if len(points) < 2:
        return ""
    values = [value for _, value in points]
    low, high = min(values), max(values)
    path = " ".join(
        f"{_place(index, len(points))},{_level(value, low, high)}"
        for index, value in enumerate(values)
    )
    told = ", ".join(f"record {place}: {_number(value)}" for place, value in points)
    return (
        f'<svg class="series" role="img" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}"><title>{escape(one.title)}</title>'
        f"<desc>{escape(told)}</desc>"
        f'<polyline points="{path}" fill="none" stroke="currentColor" stroke-width="2"/></svg>'
    )


def _place(index: int, number: int) -> int:
    return _PAD + index * (_WIDTH - 2 * _PAD) // (number - 1)


def _level(value: Fraction, low: Fraction, high: Fraction) -> int:
    """Downwards, as SVG counts; a series that never changes lies in the middle."""
    if high == low:
        return _HEIGHT // 2
    return _HEIGHT - _PAD - int((value - low) / (high - low) * (_HEIGHT - 2 * _PAD))


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.3g}"


def status_strip(facts: Sequence[Fact]) -> str:
    """One cell per tick, with a sign beside the colour."""
    if not facts:
        return ""
    cells = "".join(_cell(index, fact) for index, fact in enumerate(facts))
    width = len(facts) * _CELL
    return (
        f'<svg class="strip" role="img" width="{width}" height="{_TALL}" '
        f'viewBox="0 0 {width} {_TALL}"><title>statuses, record {facts[0].seq} to '
        f"{facts[-1].seq}</title>{cells}</svg>"
    )


def legend(facts: Sequence[Fact]) -> str:
    """The legend of a strip: the meaning of each sign, and its count."""
    if not facts:
        return ""
    counts = Counter[str](fact.status for fact in facts)
    told = ", ".join(
        f"{sign} {name} {counts[name]}" for name, sign in _SIGNS.items() if name in counts
    )
    ungrounded = sum(1 for fact in facts if fact.faults)
    also = f"; not grounded {ungrounded}" if ungrounded else ""
    return f'<p class="legend">{escape(told + also)}</p>'


def _cell(index: int, fact: Fact) -> str:
    x, sign = index * _CELL, _SIGNS[fact.status]
    kind = "ungrounded" if fact.faults else fact.status
    return (
        f'<g class="{kind}"><title>record {fact.seq}, tick {fact.tick}: {fact.status}</title>'
        f'<rect x="{x}" y="0" width="{_CELL - 1}" height="{_TALL}"/>'
        f'<text x="{x + _CELL // 2}" y="{_TALL - 7}">{sign}</text></g>'
    )


_STYLE = """
.OK, .HEALTHY { color: var(--ok); } .WARN, .DEGRADED { color: var(--warn); }
.FAIL, .FAILED, .UNREADABLE { color: var(--fail); font-weight: 600; }
article { margin: 2.5rem 0; } dt { font-weight: 600; } dd { margin: 0 0 .4rem 1rem; }
.meaning { font-size: .85rem; }
code, dd { overflow-wrap: anywhere; }
.dimensions td:first-child { width: 4rem; } .dimensions th { width: 10rem; }
.dimensions td:last-child { width: 160px; }
.legend { margin: .3rem 0 1rem; font-size: .85rem; }
.strip { max-width: 100%; height: auto; }
.strip text { font: 9px monospace; text-anchor: middle; fill: #000; }
.strip rect { fill: #9fd8b4; } .strip .refused rect, .strip .no_match rect { fill: #f5c26b; }
.strip .rolled_back rect, .strip .error rect, .strip .ungrounded rect { fill: #f58e97; }
.strip .waiting rect, .strip .interrupted rect, .strip .yielded rect { fill: #b9c9ee; }
.strip .halted rect { fill: #c9c9c9; }
@media (max-width: 44rem) {
  .dimensions tr, .dimensions td, .dimensions th { display: block; width: auto !important; }
  .dimensions { overflow-wrap: anywhere; } .dimensions tbody { display: block; }
  .dimensions tr { padding: .4rem 0; } .dimensions td, .dimensions th { padding: .1rem 0; }
}
"""


def page(report: Morning) -> str:
    """The whole file."""
    return visible("\n".join(_parts(report)) + "\n")


def _parts(report: Morning) -> Iterator[str]:
    yield from page_head(title(report), _STYLE)
    yield f"<p>{escape(summary(report))}</p>"
    if report.runs:
        yield table_head(("run", "player", "records", "verdict", "in"))
        yield from map(_row, report.runs)
        yield TABLE_END
    if rows := trend_rows(report.trend):
        head, *body = rows
        yield f"<h2>Trend</h2><p>{TREND}</p>"
        yield from table_html(head, body)
    for one in report.runs:
        yield from _run_html(one)
    yield PAGE_END


def _row(one: RunReport) -> str:
    slug, player = escape(one.run.slug), escape(one.run.header.player)
    named = ", ".join(bad.title.lower() for bad in one.bad) or "–"
    return (
        f'<tr><td><a href="#{slug}">{slug}</a></td><td>{player}</td><td>{one.run.ticks}</td>'
        f'<td class="{one.verdict}">{one.verdict}</td><td>{escape(named)}</td></tr>'
    )


def _run_html(one: RunReport) -> Iterator[str]:
    slug = escape(one.run.slug)
    mark = " · reference" if one.run.reference is not None else ""
    verdict = f'<span class="{one.verdict}">{one.verdict}</span>'
    yield f'<article id="{slug}"><h2>{slug}: {verdict}{mark}</h2>'
    if one.card is not None:
        sentence = verdict_sentence(one.card)
        if sentence != f"{one.verdict}.":  # the heading has said that
            yield f"<p>{escape(sentence)}</p>"
        yield status_strip(one.card.window.facts)
        yield legend(one.card.window.facts)
        yield '<table class="dimensions"><tbody>'
        for dimension in one.card.dimensions:
            yield from _dimension(one, dimension)
        yield "</tbody></table>"
    yield "<dl>"
    for name, sentence in facts_of(one):
        yield f"<dt>{escape(name)}</dt><dd>{text_html(sentence)}</dd>"
    yield "</dl></article>"


def _dimension(one: RunReport, dimension: Dimension) -> Iterator[str]:
    yield f'<tr><td class="{_css(dimension.status)}">[{dimension.status}]</td>'
    yield f'<th scope="row">{escape(dimension.title)}</th><td>{escape(dimension.text)}'
    yield f'<br><span class="meaning">{escape(dimension.meaning)}</span>'
    for example in one.examples.get(dimension.id, ()):
        asked, came_to = escape(example.asked), text_html(example.came_to)
        yield f"<br>{example.place}: <code>{asked}</code> → {came_to}"
    yield f"</td><td>{series_chart(dimension)}</td></tr>"


def _css(status: str) -> str:
    return status.replace("/", "")


_SPAN = re.compile(r"(\d{1,5})(m|h|d|w)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def report(
    out: Output,
    *,
    since: Annotated[str | None, "12h, 7d, a time of ISO 8601, or a run; all by default."] = None,
    output: Annotated[Path | None, opt.OUTPUT, "A folder for report.md and report.html."] = None,
    window: Annotated[opt.Window, "Number of last ticks of a run."] = 50,
    time_limit: Annotated[float, "Seconds to look for a plan of each world; 0: none."] = 5.0,
    prices: opt.Prices = None,
    store: opt.Store = None,
    now: datetime | None = None,
) -> int:
    """Tell the runs since a moment, all by default; write both files to a folder ``output``."""
    asked = read_prices(prices)
    earlier = () if output is None else read_shares(output / HISTORY)
    with RunStore.open(store, writable=False) as opened:
        runs = _since(opened, since, now or datetime.now(UTC))
        found = morning(
            opened, runs, since or "", window=window, plan_seconds=time_limit, earlier=earlier,
            prices=asked, say=out.progress,
        )  # fmt: skip
    if output is None:
        out.line(markdown(found).rstrip("\n"))
    else:
        _write(found, output, out)
    files = [] if output is None else [str(output / "report.md"), str(output / "report.html")]
    out.json({**found.to_json(), "files": files})
    return EXIT_OK


def _write(found: Morning, folder: Path, out: Output) -> None:
    hint = "Name a folder that can be written to."
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        message = f"The folder `{folder}` cannot be made: {why}."
        raise Failure(Diagnostic("TW1102", message, hint=hint)) from error
    write_file(folder / "report.md", markdown(found), hint)
    write_file(folder / "report.html", page(found), hint)
    write_shares(folder / HISTORY, found.trend, hint)
    out.line(f"wrote {folder / 'report.md'} and {folder / 'report.html'}")


def _since(store: RunStore, since: str | None, now: datetime) -> tuple[Run, ...]:
    """The runs that began at a moment or later: a time, a span before now, or a run."""
    runs = list_runs(store)
    if since is None:
        return runs
    moment = _moment(since, now)
    if moment is None:
        first = find_run(store, since)
        return tuple(run for run in runs if run.id >= first.id)
    return tuple(run for run in runs if _began(run) is not None and _began(run) >= moment)  # type: ignore[operator]


def _began(run: Run) -> datetime | None:
    """The time at which a run began, if the store has it."""
    if run.timing is None:
        return None
    try:
        began = datetime.fromisoformat(run.timing.started)
    except ValueError:
        return None
    return began if began.tzinfo else began.replace(tzinfo=UTC)


def _moment(since: str, now: datetime) -> datetime | None:
    """``12h`` or ``7d`` before now, or a time of ISO 8601 (local, where it names no zone)."""
    span = _SPAN.fullmatch(since.strip())
    if span is not None:
        return now - timedelta(**{_UNITS[span[2]]: int(span[1])})
    try:
        return datetime.fromisoformat(since.strip()).astimezone()
    except ValueError:
        return None


# ---- the contents of a report --------------------------------------------------------------------


_EXAMPLES = 3
_REASONS = 5


@dataclass(frozen=True, slots=True)
class Example:
    """A record to look at: its number, its tick, its intent, and its outcome in a sentence."""

    record: int
    tick: int
    asked: str
    came_to: str

    @property
    def place(self) -> str:
        """``record 7, tick 5``."""
        return f"record {self.record}, tick {self.tick}"


@dataclass(frozen=True, slots=True)
class Reached:
    """An ending, and the record and tick in which it was reached."""

    name: str
    record: int
    tick: int
    won: bool


@dataclass(frozen=True, slots=True)
class ModelUse:
    """The part of a language model in a run: its answers, their characters, the seconds from the
    first record to the last (``None`` where times were not kept), and the tokens that it told."""

    answers: int
    characters: int
    seconds: float | None
    usage: Total

    @property
    def text(self) -> str:
        """In words."""
        took = "" if self.seconds is None else f", {self.seconds:,.0f} s"
        counts = f"{self.answers:,} answers, {self.characters:,} characters{took}"
        return f"{counts}; {self.usage.text}"


@dataclass(frozen=True, slots=True)
class RunReport:
    """One run. ``plan_ticks`` is the length of a plan, ``None`` where none was found in time.
    ``model`` is the part of a language model in it.

    ``trouble`` says why there is no scorecard, where there is none.
    """

    run: Run
    card: Scorecard | None
    trouble: str
    examples: Mapping[str, tuple[Example, ...]]
    halts: tuple[Example, ...]
    refusal_reasons: tuple[tuple[str, int], ...]
    not_understood: tuple[tuple[str, int], ...]
    never_fired: tuple[str, ...]
    open_gaps: tuple[Example, ...]
    endings: tuple[Reached, ...]
    ticks_used: int
    plan_ticks: int | None
    model: ModelUse | None = None

    @property
    def verdict(self) -> str:
        return self.card.verdict if self.card is not None else "UNREADABLE"

    @property
    def bad(self) -> tuple[Dimension, ...]:
        """The dimensions that fail, then those in warn."""
        return (*self.card.failing, *self.card.warning) if self.card is not None else ()

    def to_json(self) -> dict[str, Json]:
        return {
            "run": self.run.slug,
            "started": self.run.timing.started if self.run.timing else None,
            "ended": self.run.ending.reason if self.run.ending else None,
            "reference": self.run.reference is not None,
            "verdict": self.verdict,
            "trouble": self.trouble or None,
            "scorecard": self.card.to_json() if self.card else None,
            **fields_json(self, "run", "card", "trouble"),
        }


@dataclass(frozen=True, slots=True)
class Morning:
    """All runs of a report, oldest first; ``since`` is the requested span, in words.

    ``earlier`` are the shares of reports before this one, the oldest first.
    """

    since: str
    runs: tuple[RunReport, ...]
    earlier: tuple[Share, ...] = ()

    @property
    def trend(self) -> tuple[Share, ...]:
        """The share of runs in which each dimension is OK, after those of earlier reports; the same
        report again adds nothing."""
        share = share_of(one.card for one in self.runs if one.card is not None)
        return self.earlier if self.earlier[-1:] == (share,) else (*self.earlier, share)

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of runs of each verdict, the worst first."""
        order = ("FAILED", "UNREADABLE", "DEGRADED", "INSUFFICIENT_DATA", "HEALTHY")
        counts = Counter(one.verdict for one in self.runs)
        return {name: counts[name] for name in order if counts[name]}

    def to_json(self) -> dict[str, Json]:
        return {
            "schema": "tw-report/2",
            "schema_version": 2,
            "since": self.since or None,
            "verdicts": dict(self.verdicts),
            "trend": [one.to_json() for one in self.trend],
            "runs": [one.to_json() for one in self.runs],
        }


def morning(
    store: RunStore,
    runs: Iterable[Run],
    since: str,
    *,
    window: int = DEFAULT_WINDOW,
    plan_seconds: float = 5.0,
    earlier: tuple[Share, ...] = (),
    prices: Prices | None = None,
    say: Callable[[str], None] | None = None,
) -> Morning:
    """The report of some runs. A run that cannot be scored is listed as such and stops no other.

    A plan for each world and seed is looked for during ``plan_seconds`` at most; 0: none is.
    ``prices`` are those of the model, where its answers tell tokens and no cost.
    """
    plans = Plans(plan_seconds)
    found = []
    for run in runs:
        if say is not None:
            say(f"scoring {run.slug}, {run.ticks:,} records")
        try:
            found.append(_report(store, run, window, plans, prices))
        except Failure as failure:
            found.append(_unscored(run, failure))
    return Morning(since, tuple(found), earlier)


def _unscored(run: Run, failure: Failure) -> RunReport:
    said = failure.diagnostics[0]
    trouble = f"{said.code}: {said.message}"
    return RunReport(run, None, trouble, {}, (), (), (), (), (), (), run.ticks, None)


def _report(
    store: RunStore, run: Run, window: int, plans: Plans, prices: Prices | None
) -> RunReport:
    card = score_run(store, run, window, plans=plans)
    ticks, world = history(store, run), stored_session(run).world
    bad = (*card.failing, *card.warning)
    examples: dict[str, tuple[Example, ...]] = {one.id: _examples(one, ticks, card) for one in bad}
    reached = tuple(_reached(world, ticks))
    used = next((one.tick + 1 for one in reached if one.won), _ticks_used(ticks))
    steps = plans.steps(world, run.header.digest, run.header.seed)
    return RunReport(
        run,
        card,
        "",
        examples,
        tuple(_example(place, tick) for place, tick in _with(ticks, "halted")),
        _most(_reason(tick) for _, tick in _with(ticks, "refused")),
        _most(_asked(tick) for _, tick in _with(ticks, "no_match")),
        _idle(world, ticks),
        tuple(_example(place, tick) for place, tick in _gaps(run, ticks)),
        reached,
        used,
        len(steps) or None,
        _model_use(run, ticks, prices),
    )


def _model_use(run: Run, ticks: Sequence[Tick], prices: Prices | None) -> ModelUse | None:
    """The part of a model in a run; ``None`` where none played."""
    given = [one for one in ticks if one.source == "llm" and one.outcome.get("by") == "player"]
    if not given:
        return None
    last = next((one.timing for one in reversed(ticks) if one.timing is not None), None)
    took = None
    if run.timing is not None and last is not None:
        began, ended = (datetime.fromisoformat(one.started) for one in (run.timing, last))
        took = (ended - began).total_seconds()
    used = total((one.usage for one in given), prices)
    return ModelUse(len(given), sum(len(one.text or "") for one in given), took, used)


# ---- ticks ------------------------------------------------------------------------------------


def _with(ticks: Sequence[Tick], status: str) -> list[tuple[int, Tick]]:
    return [(place, tick) for place, tick in enumerate(ticks, 1) if tick.status == status]


def _gaps(run: Run, ticks: Sequence[Tick]) -> list[tuple[int, Tick]]:
    """Return the records that an operator has not answered; the last one of a run that continues
    with the operator's rule is answered."""
    found = _with(ticks, "yielded")
    answered = run.ending is not None and run.ending.reason == "grown"
    return found[:-1] if answered else found


def _most(texts: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """The most frequent ones; equally frequent ones as they came."""
    return tuple(Counter(texts).most_common(_REASONS))


def _asked(tick: Tick) -> str:
    return tick.text or str(tick.outcome.get("action") or "pass")


def _reason(tick: Tick) -> str:
    """The action and the require that stood in its way."""
    refusal: Any = tick.outcome.get("refusal") or {}
    action = tick.outcome.get("action")
    return f"{action}: {refusal.get('label') or refusal.get('text')}"


def _examples(one: Dimension, ticks: Sequence[Tick], card: Scorecard) -> tuple[Example, ...]:
    faults = {fact.seq: fact.faults for fact in card.window.facts}
    found = []
    for place in one.evidence[:_EXAMPLES]:
        tick = ticks[place - 1]
        said = faults.get(place) or ()
        found.append(_example(place, tick, said[0] if one.id == "groundedness" and said else ""))
    return tuple(found)


def _example(place: int, tick: Tick, came_to: str = "") -> Example:
    number = int(str(tick.outcome.get("tick") or 0))
    return Example(place, number, _asked(tick), came_to or _came_to(tick))


def _came_to(tick: Tick) -> str:
    """A record in a sentence."""
    outcome: Any = tick.outcome
    for part, key in (("refusal", "text"), ("no_match", "message"), ("breach", "message")):
        if outcome.get(part):
            return f"{tick.status}: {outcome[part].get(key) or outcome[part].get('code')}"
    said = outcome.get("cause") or " ".join(outcome.get("said") or ())
    return f"{tick.status}: {said}" if said else tick.status


def _reached(world: OpenWorld, ticks: Sequence[Tick]) -> Iterable[Reached]:
    goals = {line.name for line in world.world.goals}
    for place, tick in enumerate(ticks, 1):
        outcome: Any = tick.outcome
        for name in outcome.get("latched") or ():
            yield Reached(str(name), place, int(outcome["tick"]), name in goals)


def _ticks_used(ticks: Sequence[Tick]) -> int:
    return sum(tick.outcome.get("time_passed") is True for tick in ticks)


def _idle(world: OpenWorld, ticks: Sequence[Tick]) -> tuple[str, ...]:
    """Actions that were never done and laws that never fired in the whole run."""
    done = {str(tick.outcome.get("action")) for tick in ticks if tick.status == "executed"}
    fired: set[str] = set()
    for tick in ticks:
        listed: Any = tick.outcome.get("fired") or ()
        fired |= {str(one).partition("(")[0] for one in listed}
    actions = (f"action {name}" for name in world.program.actions if name not in done)
    laws = (f"law {name}" for name in world.program.laws if f"law {name}" not in fired)
    return (*actions, *laws)
