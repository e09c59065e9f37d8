"""Measure planning: families of worlds by size, encoding and engine.

Verdicts are compared first: engines that answer must agree, a plan must survive the replay, and one
that is called optimal must be as short as any. Then come the medians of wall-clock seconds until
the verdict, with encoding and processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.measure import WrongResultError
from tokenworld.assets import domains_folder
from tokenworld.diagnostics import Failure
from tokenworld.engine import EngineSimulator
from tokenworld.planning.lower.encode import Encoding, encode
from tokenworld.planning.planners.by_encoding import plan_on
from tokenworld.planning.planners.by_name import plan_by
from tokenworld.planning.verdict import Verdict
from tokenworld.session import Session

__all__ = ["FAMILIES", "Case", "Measured", "distraction", "measure", "report"]

SECONDS = 30.0
REPEATS = 3
SLOW = 10.0
"""A measurement that takes this many seconds is done once."""


@dataclass(frozen=True, slots=True)
class Case:
    """A world of a family, by size."""

    family: str
    size: str
    world: str

    @property
    def target(self) -> str:
        file, _, name = self.world.partition(":")
        path = domains_folder() / self.family / f"{file}.tw"
        return f"{path}:{name}" if name else str(path)


FAMILIES = (
    Case("greenhouse", "1", "world"),
    Case("greenhouse", "2", "more:two"),
    Case("greenhouse", "3", "more:three"),
    Case("greenhouse", "3, 4 lamps", "more:lit"),
    Case("greenhouse", "1, 3 jugs", "scarce:enough"),
    Case("greenhouse", "1, 2 jugs", "scarce:too_little"),
    Case("greenhouse", "2, 6 jugs", "scarce:enough_for_two"),
    Case("greenhouse", "2, 5 jugs", "scarce:too_little_for_two"),
    Case("skirmish", "1", "world"),
    Case("skirmish", "2", "more:two"),
    Case("skirmish", "3", "more:three"),
    Case("skirmish", "3, twin", "twin:three"),
    Case("workshop", "1", "world"),
    Case("workshop", "2", "more:two"),
    Case("workshop", "3", "more:three"),
    Case("workshop", "3, twin", "twin:three"),
)

Route = Callable[[Session, float], Verdict]


def _named(engine: str) -> Route:
    def run(session: Session, seconds: float) -> Verdict:
        simulator = EngineSimulator(session.engine, session.state)
        return plan_by(simulator, session.state, None, engine, seconds=seconds)

    return run


def _encoded(encoding: str) -> Route:
    def run(session: Session, seconds: float) -> Verdict:
        simulator = EngineSimulator(session.engine, session.state)
        return plan_on(simulator, session.state, None, encoding, seconds=seconds)

    return run


ROUTES: dict[str, Route] = {
    "own search": _named("own"),
    "E, first of ff and blind": _encoded("E"),
    "E, blind (optimal)": _named("blind"),
    "A, ENHSP": _encoded("A"),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of one engine on one case; ``seconds`` is ``None`` if the planner is missing."""

    case: Case
    route: str
    verdict: Verdict
    seconds: float | None
    digest: str


def measure(
    cases: Sequence[Case] = FAMILIES, routes: Sequence[str] = tuple(ROUTES), repeats: int = REPEATS
) -> Iterator[list[Measured]]:
    """Each case with all engines. Raises `WrongResultError` if two of them disagree."""
    for case in cases:
        rows = [_measured(case, route, repeats) for route in routes]
        _agree(case, [row.verdict for row in rows])
        yield rows


def _measured(case: Case, route: str, repeats: int) -> Measured:
    session = Session.open(case.target)
    times: list[float] = []
    verdict = Verdict("unknown", None, None, "", "")
    while len(times) < repeats and (not times or times[-1] < SLOW):
        try:
            verdict = ROUTES[route](session, SECONDS)
        except Failure:
            return Measured(case, route, verdict, None, _digest(session))
        times.append(verdict.seconds)
    missing = any(attempt.result == "missing" for attempt in verdict.attempts)
    return Measured(case, route, verdict, None if missing else median(times), _digest(session))


def _digest(session: Session) -> str:
    """The first digits of the digest of encoding E."""
    simulator, state = EngineSimulator(session.engine, session.state), session.state
    found = encode(simulator.instance_at(state), simulator, state, None)
    return found.digest[:12] if isinstance(found, Encoding) else "none"


def _agree(case: Case, verdicts: Sequence[Verdict]) -> None:
    """Check that the answers agree, and that no plan is shorter than one that is called optimal."""
    answers = {one.answer for one in verdicts if one.answer != "unknown"}
    if len(answers) > 1:
        raise WrongResultError(f"{case.target}: {' and '.join(sorted(answers))}")
    ticks = [one.ticks for one in verdicts if one.answer == "winnable"]
    best = {one.ticks for one in verdicts if one.optimal == "ticks"}
    if len(best) > 1 or (best and min(ticks) < min(best)):
        raise WrongResultError(f"{case.target}: optimal is {best}, plans take {ticks} ticks")


# ---- what does not matter -----------------------------------------------------------------------


def distraction(pairs: int = 7) -> tuple[float, float]:
    """Median seconds on encoding E without and with four lamps, measured alternately.

    Slicing must give both one encoding: raises `WrongResultError` if they differ.
    """
    plain, lit = (
        Session.open(Case("greenhouse", "", f"more:{n}").target) for n in ("three", "lit")
    )
    if _digest(plain) != _digest(lit):
        raise WrongResultError("the lamps are part of the encoding")
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(pairs):
        for session, found in zip((plain, lit), times, strict=True):
            found.append(ROUTES["E, first of ff and blind"](session, SECONDS).seconds)
    return median(times[0]), median(times[1])


# ---- the table ----------------------------------------------------------------------------------


def report() -> Iterator[str]:
    """The lines of the report, verdicts and digests first."""
    found = list(measure())
    yield "verdicts agree; digest of encoding E, shortest plan known"
    for rows in found:
        yield _verdict_line(rows)
    yield ""
    yield "median seconds (ticks of the plan)"
    for rows in found:
        for row in rows:
            yield _time_line(row)
    plain, lit = distraction()
    yield ""
    yield f"four lamps that do not matter: {plain:.2f} s without, {lit:.2f} s with them"


def _verdict_line(rows: Sequence[Measured]) -> str:
    case, answers = rows[0].case, {row.verdict.answer for row in rows}
    answer = next((one for one in ("winnable", "unwinnable") if one in answers), "unknown")
    ticks = min((row.verdict.ticks for row in rows if row.verdict.answer == "winnable"), default=0)
    optimal = any(row.verdict.optimal == "ticks" for row in rows)
    short = f"{ticks} ticks{' (optimal)' if optimal else ''}" if ticks else ""
    return f"{case.family:<11}{case.size:<12}{answer:<11}{rows[0].digest:<13}{short}".rstrip()


def _time_line(row: Measured) -> str:
    verdict = row.verdict
    if row.seconds is None:
        came_to = "not installed"
    elif verdict.answer == "unknown":
        result = verdict.attempts[-1].result if verdict.attempts else "no answer"
        came_to = f"{row.seconds:8.2f} {result}"
    else:
        what = f"{verdict.ticks} ticks" if verdict.answer == "winnable" else "proved"
        came_to = f"{row.seconds:8.2f} {what}, {verdict.engine}"
    return f"{row.case.family:<11}{row.case.size:<12}{row.route:<26}{came_to}"
