"""The seven dimensions of quality: grade, numbers, and the facts they are computed from.

Groundedness, character and conservation are shares of the ticks; action coherence and refusal
cluster are about refusals; variety counts first uses of verbs; fan-out is about the graph whose
nodes are live objects and whose edges are true facts of relations and references.

All arithmetic is exact. A number is rounded only for display, and then towards its worse side, so
that the display never looks better than the judged value.

A free text that speaks of the framework, of an operator or of the system prompt breaks character.
Worlds in which such a word is an ordinary thing say so in `quality.toml` beside the `.tw`
file:

    [character]                      # every world of the folder
    allow = ["telephone operator"]   # not a break, whole words

    [worlds.cellar.character]        # one world; its keys replace those above
    markers = ["framework", "system prompt"]

    [actions]
    world = "open"                   # new actions for ever; by default a closed list
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import groupby, pairwise
from math import ceil, floor
from pathlib import Path
from typing import Literal

from tokenworld.diagnostics import fields_json, usage
from tokenworld.ground import Json, Status
from tokenworld.model.schema import CLOSED
from tokenworld.model.toml import read_toml
from tokenworld.store.records import IntentSource
from tokenworld.verbs.recheck import Checkpoint, Prose

REFUSE_LIKE: tuple[Status, ...] = ("refused", "no_match", "rolled_back")
_DONE: tuple[Status, ...] = ("executed", "waiting", "interrupted")


@dataclass(frozen=True, slots=True)
class Fact:
    """The data of one record that the dimensions use; ``seq`` is its place in the history, from 1.

    ``verb`` is the action that the intent resolved to (empty for `pass` and for no match), ``text``
    the free text of the player, if there is any. ``expected``: a scenario expected this status.
    ``faults`` lists the failed checks of the re-check; ``unchecked``: its narration is literal
    prose. ``blamed`` names the invariant and the rules of a rollback.
    ``asked``: the player gave the intent; records of time or of the runner are neither refused nor
    end a row of refusals. ``prose``: the text of a narrator. ``tick`` is the tick of the world, as
    `tw run` prints it; ``actor`` is the acting object.
    """

    seq: int
    status: Status
    source: IntentSource = "human"
    verb: str = ""
    text: str | None = None
    expected: bool = False
    faults: tuple[str, ...] = ()
    unchecked: bool = False
    blamed: tuple[str, ...] = ()
    asked: bool = True
    prose: Prose | None = None
    tick: int = 0
    actor: str = ""

    @property
    def refused_like(self) -> bool:
        """Return whether it counts among R: it was refused, and nobody had expected that."""
        return self.status in REFUSE_LIKE and not self.expected

    @property
    def used(self) -> str:
        """The verb that was really done, or begun; empty for none."""
        return self.verb if self.status in _DONE else ""


@dataclass(frozen=True, slots=True)
class Window:
    """The last ``requested`` records that count, and what stood before them.

    ``facts`` are those in the window; ``before`` all earlier ones. Records of the status `halted`
    are in neither.
    """

    requested: int
    before: tuple[Fact, ...]
    facts: tuple[Fact, ...]

    @property
    def n(self) -> int:
        """Ticks in the window."""
        return len(self.facts)

    @property
    def first(self) -> int | None:
        return self.facts[0].seq if self.facts else None

    @property
    def last(self) -> int | None:
        return self.facts[-1].seq if self.facts else None

    @property
    def errors(self) -> tuple[int, ...]:
        """The ticks with the status `error`."""
        return tuple(fact.seq for fact in self.facts if fact.status == "error")

    def buckets(self, size: int) -> tuple[tuple[Fact, ...], ...]:
        """The window in pieces of ``size`` from its first tick; the last one may be shorter."""
        return tuple(self.facts[at : at + size] for at in range(0, self.n, size))


def window_of(history: Sequence[Fact], requested: int) -> Window:
    """The window at the end of a run."""
    counted = tuple(fact for fact in history if fact.status != "halted")
    cut = max(0, len(counted) - requested)
    return Window(requested, counted[:cut], counted[cut:])


Grade = Literal["OK", "WARN", "FAIL", "N/A"]
DimensionId = Literal[
    "groundedness",
    "character",
    "action_coherence",
    "refusal_cluster",
    "vocabulary",
    "conservation",
    "graph_fan_out",
]
BUCKET = 10
"""Ticks of one point of a series."""

_TITLES: dict[DimensionId, tuple[str, str]] = {
    "groundedness": (
        "Faithful records",
        "Do the rules make of each intent what was recorded, and is what was told true?",
    ),
    "character": (
        "Story voice",
        "Do the players' texts speak of the world, and not of the program?",
    ),
    "action_coherence": (
        "Commands that work",
        "Do most commands go through, many in a row?",
    ),
    "refusal_cluster": (
        "Refusals in a row",
        "Does a player who is refused soon do something else?",
    ),
    "vocabulary": (
        "Variety",
        "Are new actions used as play goes on, or all that are of use?",
    ),
    "conservation": (
        "Invariants kept",
        "Do few actions break an invariant, and are taken back?",
    ),
    "graph_fan_out": (
        "Links between objects",
        "Do relations and references between objects grow, or stay?",
    ),
}
"""The name of each dimension and the question that it answers, for people; programs read its id."""


def title_of(dimension: DimensionId) -> str:
    """The name of a dimension for people."""
    return _TITLES[dimension][0]


VERSIONS: dict[DimensionId, int] = {
    "groundedness": 1,
    "character": 1,
    "action_coherence": 1,
    "refusal_cluster": 1,
    "vocabulary": 2,
    "conservation": 1,
    "graph_fan_out": 1,
}
"""The version of each definition: only grades of the same version are compared."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One judged dimension. ``text`` is the text of the scorecard after the title.

    ``values`` holds the whole numbers of the formula and its value; ``evidence`` the ticks that
    spoke against the run; ``series`` pairs of a tick and a value, to be drawn.
    """

    id: DimensionId
    status: Grade
    text: str
    values: Mapping[str, Json] = field(default_factory=dict)
    thresholds: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[int, ...] = ()
    series: tuple[tuple[int, Fraction], ...] = ()

    @property
    def title(self) -> str:
        return title_of(self.id)

    @property
    def meaning(self) -> str:
        """The question that the dimension answers, in one line."""
        return _TITLES[self.id][1]

    def to_json(self) -> dict[str, Json]:
        series = [[record, exact(value)] for record, value in self.series]
        return {
            **fields_json(self, "series"),
            "title": self.title,
            "meaning": self.meaning,
            "version": VERSIONS[self.id],
            "series": series,
        }


def graded(*, ok: bool, fail: bool) -> Grade:
    """FAIL, else OK, else what lies between."""
    return "FAIL" if fail else "OK" if ok else "WARN"


def missing(of: DimensionId, why: str, thresholds: Mapping[str, str]) -> Dimension:
    """A dimension that the window says nothing about."""
    return Dimension(of, "N/A", f"{'n/a':<8}{why}", thresholds=thresholds)


def shown(value: Fraction, decimals: int, *, up: bool = False) -> str:
    """The number with so many decimals, rounded down, or up."""
    scaled = value * 10**decimals
    whole = ceil(scaled) if up else floor(scaled)
    digits = f"{abs(whole):0{decimals + 1}d}"
    sign = "-" if whole < 0 else ""
    return f"{sign}{digits[:-decimals]}.{digits[-decimals:]}"


def exact(value: Fraction) -> int | float:
    """The JSON number nearest to an exact one: whole where it is."""
    return value.numerator if value.denominator == 1 else float(value)


def per_bucket(
    window: Window, measure: Callable[[Sequence[Fact]], Fraction]
) -> tuple[tuple[int, Fraction], ...]:
    """A series: the measure of every ten ticks, at the last of them."""
    return tuple((bucket[-1].seq, measure(bucket)) for bucket in window.buckets(BUCKET))


DEFAULT_MARKERS = ("framework", "yield", "mechanic", "system prompt", "operator", "scenario")
FILE_NAME = "quality.toml"


@dataclass(frozen=True, slots=True)
class _CharacterTable:
    """The table ``[character]`` of a file; missing keys come from other tables."""

    __pydantic_config__ = CLOSED
    markers: tuple[str, ...] | None = None
    allow: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class _ActionsTable:
    """The table ``[actions]``: whether players are to use new actions for ever (``open``), or only
    those that are of use (``closed``)."""

    __pydantic_config__ = CLOSED
    world: Literal["open", "closed"] | None = None


@dataclass(frozen=True, slots=True)
class _WorldTable:
    """The table ``[worlds.NAME]``."""

    __pydantic_config__ = CLOSED
    character: _CharacterTable = _CharacterTable()
    actions: _ActionsTable = _ActionsTable()


@dataclass(frozen=True, slots=True)
class _SettingsFile:
    """A ``quality.toml``."""

    __pydantic_config__ = CLOSED
    character: _CharacterTable = _CharacterTable()
    actions: _ActionsTable = _ActionsTable()
    worlds: Mapping[str, _WorldTable] = field(default_factory=dict)


@dataclass(frozen=True)
class Markers:
    """The words that break character in a world, and the phrases in which they do not."""

    words: tuple[str, ...] = DEFAULT_MARKERS
    allowed: tuple[str, ...] = ()

    @cached_property
    def _breaking(self) -> re.Pattern[str]:
        return _pattern(self.words)

    @cached_property
    def _harmless(self) -> re.Pattern[str]:
        return _pattern(self.allowed)

    def found(self, text: str) -> tuple[str, ...]:
        """The markers in a text, in order: whole words, whatever their case."""
        folded = text.casefold()
        if self.allowed:
            folded = self._harmless.sub("\n", folded)
        if not self.words:
            return ()
        hits = (" ".join(hit.group().split()) for hit in self._breaking.finditer(folded))
        return tuple(dict.fromkeys(hits))


def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(phrases, key=lambda one: (-len(one), one))
    spaced = (r"[^\S\n]+".join(map(re.escape, one.casefold().split())) for one in longest_first)
    return re.compile(rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)")


@dataclass(frozen=True)
class Settings:
    """The settings of a world: its markers, and whether its actions are a closed list."""

    markers: Markers = Markers()
    closed: bool = True


def settings_file(sources: tuple[str, ...], folder: Path | None = None) -> Path | None:
    """The `quality.toml` beside a program's first file, as seen from here, then from ``folder``."""
    if not sources:
        return None
    beside = Path(sources[0]).parent / FILE_NAME
    places = (beside, *(() if folder is None else (folder / beside,)))
    return next((place for place in places if place.is_file()), None)


def quality_settings(path: Path | None, world: str) -> Settings:
    """The settings that a file gives a world; the defaults without a file.

    Raises `Failure` TW0006 for an invalid file, at the line of the fault.
    """
    if path is None:
        return Settings()
    file = read_toml(_SettingsFile, path, f"`{path}` does not fit", _HINT)
    own, every = file.worlds.get(world, _WorldTable()).character, file.character
    words = every.markers if own.markers is None else own.markers
    allowed = every.allow if own.allow is None else own.allow
    markers = Markers(
        DEFAULT_MARKERS if words is None else _phrases(path, words), _phrases(path, allowed or ())
    )
    named = file.worlds.get(world, _WorldTable()).actions.world or file.actions.world
    return Settings(markers, named != "open")


def _phrases(path: Path, listed: tuple[str, ...]) -> tuple[str, ...]:
    if not all(one.strip() for one in listed):
        raise usage(f"`{path}` does not fit: a phrase is empty.", _HINT)
    return tuple(" ".join(one.split()) for one in listed)


_HINT = (
    'Write `[character]` with `allow = ["telephone operator"]` or `markers = [...]`, and '
    '`[actions]` with `world = "open"` or `"closed"`.'
)


GROUNDED_OK, GROUNDED_FAIL = Fraction(95, 100), Fraction(85, 100)
CHARACTER_OK, CHARACTER_FAIL = Fraction(98, 100), Fraction(90, 100)
ROLLBACKS_OK, ROLLBACKS_FAIL = Fraction(2, 100), Fraction(10, 100)


def groundedness(window: Window) -> Dimension:
    """1 - u/n: u records fail their re-check (a law of statuses, a change, a claim)."""
    limits = {"ok": ">= 0.95", "fail": "< 0.85"}
    if not window.n:
        return missing("groundedness", "no records", limits)
    bad = tuple(fact for fact in window.facts if fact.faults)
    n, u = window.n, len(bad)
    value = 1 - Fraction(u, n)
    told, also = _narrated(window)
    return Dimension(
        "groundedness",
        graded(ok=value >= GROUNDED_OK, fail=value < GROUNDED_FAIL),
        f"{shown(value, 2):<8}{n - u} of {n} records{also}",
        {
            "n": n,
            "u": u,
            "value": exact(value),
            "unchecked": sum(fact.unchecked for fact in window.facts),
            "faults": {str(fact.seq): list(fact.faults) for fact in bad},
            **told,
        },
        limits,
        tuple(fact.seq for fact in bad),
        per_bucket(window, lambda facts: 1 - _share(facts, [one for one in facts if one.faults])),
    )


def _narrated(window: Window) -> tuple[dict[str, Json], str]:
    """The figures of a narrator in a window, as values and in words; empty where none spoke."""
    told = [fact.prose for fact in window.facts if fact.prose is not None]
    if not told:
        return {}, ""
    claims, unread = sum(one.claims for one in told), sum(one.unread for one in told)
    words = f"; narrator: {claims} claims, {unread} unchecked"
    return {"narrated": len(told), "claims": claims, "unread": unread}, words


def character(window: Window, markers: Markers) -> Dimension:
    """1 - b/t: b of the t ticks with free text hold a marker."""
    limits = {"ok": ">= 0.98", "fail": "< 0.90"}
    spoken = [fact for fact in window.facts if fact.text is not None]
    if not spoken:
        return missing("character", "no free text", limits)
    found = {fact.seq: markers.found(fact.text or "") for fact in spoken}
    breaks = [fact for fact in spoken if found[fact.seq]]
    t, b = len(spoken), len(breaks)
    value = 1 - Fraction(b, t)
    return Dimension(
        "character",
        graded(ok=value >= CHARACTER_OK, fail=value < CHARACTER_FAIL),
        f"{shown(value, 2):<8}{t - b} of {t} texts",
        {
            "t": t,
            "b": b,
            "value": exact(value),
            "markers": list(markers.words),
            "allowed": list(markers.allowed),
            "found": {str(fact.seq): list(found[fact.seq]) for fact in breaks},
        },
        limits,
        tuple(fact.seq for fact in breaks),
        per_bucket(window, lambda facts: 1 - _share(*_texts(facts, markers))),
    )


def _texts(facts: Sequence[Fact], markers: Markers) -> tuple[list[Fact], list[Fact]]:
    spoken = [fact for fact in facts if fact.text is not None]
    return spoken, [fact for fact in spoken if markers.found(fact.text or "")]


def conservation(window: Window) -> Dimension:
    """Rolled back / n, with the invariants and rules to blame."""
    limits = {"ok": "<= 0.02", "fail": ">= 0.10"}
    if not window.n:
        return missing("conservation", "no records", limits)
    lost = [fact for fact in window.facts if fact.status == "rolled_back"]
    n = window.n
    value = Fraction(len(lost), n)
    blamed = tuple(dict.fromkeys(name for fact in lost for name in fact.blamed))
    by = f": {', '.join(blamed)}" if blamed else ""
    return Dimension(
        "conservation",
        graded(ok=value <= ROLLBACKS_OK, fail=value >= ROLLBACKS_FAIL),
        f"{shown(value, 2, up=True):<8}{len(lost)} of {n} records taken back{by}",
        {"n": n, "rolled_back": len(lost), "value": exact(value), "blamed": list(blamed)},
        limits,
        tuple(fact.seq for fact in lost),
        per_bucket(window, _rolled_back),
    )


def _rolled_back(facts: Sequence[Fact]) -> Fraction:
    return _share(facts, [fact for fact in facts if fact.status == "rolled_back"])


def _share(facts: Sequence[Fact], chosen: Sequence[Fact]) -> Fraction:
    return Fraction(len(chosen), len(facts)) if facts else Fraction(0)


STREAK_OK, STREAK_FAIL = 15, 5
RATE_OK, RATE_FAIL = Fraction(15, 10), Fraction(4)
CLUSTER_OK, CLUSTER_FAIL = 2, 5


def _runs(facts: Sequence[Fact], *, refused: bool) -> Iterator[list[Fact]]:
    """The longest pieces in which all ticks are among R, or none is."""
    own = [fact for fact in facts if fact.asked]
    for found, piece in groupby(own, key=lambda fact: fact.refused_like):
        if found is refused:
            yield list(piece)


def action_coherence(window: Window) -> Dimension:
    """L, the longest run without R, and r = 10 |R| / n."""
    limits = {"ok": "min(15, n) in a row or more, and at most 1.5 refusals per 10",
              "fail": "fewer than min(5, n) in a row, or 4 refusals per 10 or more"}  # fmt: skip
    n = sum(fact.asked for fact in window.facts)
    if not n:
        return missing("action_coherence", "no records", limits)
    refused = tuple(fact.seq for fact in window.facts if fact.asked and fact.refused_like)
    streak = max((len(piece) for piece in _runs(window.facts, refused=False)), default=0)
    rate = Fraction(10 * len(refused), n)
    return Dimension(
        "action_coherence",
        graded(
            ok=streak >= min(STREAK_OK, n) and rate <= RATE_OK,
            fail=streak < min(STREAK_FAIL, n) or rate >= RATE_FAIL,
        ),
        f"{streak} in a row, {shown(rate, 1, up=True)} refusals per 10",
        {"n": n, "streak": streak, "refused": len(refused), "refuse_rate": exact(rate)},
        limits,
        refused,
        per_bucket(
            window,
            lambda facts: Fraction(
                10 * sum(one.asked and one.refused_like for one in facts),
                max(1, sum(one.asked for one in facts)),
            ),
        ),
    )


def refusal_cluster(window: Window) -> Dimension:
    """m, the longest run of R touching the window, counted back before it.

    A planner's command must never be refused: a single refusal of one is a defect of the compiler.
    """
    limits = {"ok": "at most 2", "fail": "5 or more, or any refusal of a planner"}
    if not window.n:
        return missing("refusal_cluster", "no records", limits)
    cluster = _longest(window)
    most = len(cluster)
    planned = tuple(one.seq for one in window.facts if one.refused_like and one.source == "planner")
    note = ", a planner was refused" if planned else ""
    return Dimension(
        "refusal_cluster",
        graded(ok=most <= CLUSTER_OK and not planned, fail=most >= CLUSTER_FAIL or bool(planned)),
        f"{most} at most{note}",
        {"max": most, "planner_refusals": len(planned)},
        limits,
        tuple(fact.seq for fact in cluster) or planned,
        tuple((piece[-1].seq, Fraction(len(piece))) for piece in _touching(window)),
    )


def _longest(window: Window) -> list[Fact]:
    """The first of the longest runs of R that touch the window."""
    return max(_touching(window), key=len, default=[])


def _touching(window: Window) -> list[list[Fact]]:
    first = window.facts[0].seq
    pieces = _runs((*_carried_in(window), *window.facts), refused=True)
    return [piece for piece in pieces if piece[-1].seq >= first]


def _carried_in(window: Window) -> tuple[Fact, ...]:
    """The run of R that stands directly before the window."""
    count = 0
    for fact in reversed(window.before):
        if fact.asked and not fact.refused_like:
            break
        count += 1
    return window.before[len(window.before) - count :]


SLOW_OK, FAST_OK = Fraction(1, 2), Fraction(5, 2)
STALE, RUSH = 30, Fraction(4)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The verbs of a closed world; an open one has none. ``reachable`` are those that it offers, in
    order, ``needed`` those of a plan to its goal, if one is known: those are of use."""

    reachable: tuple[str, ...]
    needed: tuple[str, ...] = ()


def vocabulary(window: Window, coverage: Coverage | None) -> Dimension:
    """v = 10 (first uses in the run of a verb, in the window) / n, and z, the longest stretch
    without one."""
    limits = {"ok": "0.5 to 2.5 new per 10; in a closed world: all that are of use were used",
              "fail": "30 records without a new one, or above 4 in two tens in a row"}  # fmt: skip
    if not window.n:
        return missing("vocabulary", "no records", limits)
    firsts = _first_uses(window)
    rate = Fraction(10 * len(firsts), window.n)
    stretch = _stretch(window, firsts)
    rush = _rush(window, firsts)
    used, known = _covered(window, coverage)
    enough = _uses_what_is_needed(window, coverage)
    saturated = (bool(known) and used == known) or enough
    return Dimension(
        "vocabulary",
        graded(
            ok=saturated or SLOW_OK <= rate <= FAST_OK,
            fail=not saturated and (stretch >= STALE or rush),
        ),
        _text(rate, used, known, enough=enough),
        {
            "n": window.n,
            "first_uses": len(firsts),
            "rate": exact(rate),
            "stretch": stretch,
            "verbs_used": used,
            "verbs_reachable": known,
            "saturated": saturated,
            "needed": [] if coverage is None else list(coverage.needed),
        },
        limits,
        tuple(firsts),
        per_bucket(
            window,
            lambda facts: Fraction(10 * sum(one.seq in firsts for one in facts), len(facts)),
        ),
    )


def _text(rate: Fraction, used: int, known: int | None, *, enough: bool) -> str:
    if known and used == known:
        return f"all {known} used"
    if enough:
        return f"all that a plan needs, {used} of {known} used"
    covered = f", {used} of {known} used" if known is not None else ""
    return f"{shown(rate + Fraction(1, 20), 1)} new per 10{covered}"  # to the nearest tenth


def _first_uses(window: Window) -> dict[int, str]:
    """The ticks of the window in which a verb was used for the first time in the run."""
    seen = {fact.used for fact in window.before} | {""}
    found: dict[int, str] = {}
    for fact in window.facts:
        if fact.used not in seen:
            seen.add(fact.used)
            found[fact.seq] = fact.used
    return found


def _stretch(window: Window, firsts: dict[int, str]) -> int:
    longest = current = 0
    for fact in window.facts:
        current = 0 if fact.seq in firsts else current + 1
        longest = max(longest, current)
    return longest


def _rush(window: Window, firsts: dict[int, str]) -> bool:
    """Return whether two successive full buckets each had too many new verbs."""
    buckets = [one for one in window.buckets(BUCKET) if len(one) == BUCKET]
    news = [sum(fact.seq in firsts for fact in one) for one in buckets]
    hasty = [Fraction(10 * new, BUCKET) > RUSH for new in news]
    return any(one and other for one, other in pairwise(hasty))


def _uses_what_is_needed(window: Window, coverage: Coverage | None) -> bool:
    """Return whether every verb of a plan was used in the run so far."""
    needed = () if coverage is None else coverage.needed
    return bool(needed) and _used(window).issuperset(needed)


def _used(window: Window) -> set[str]:
    return {fact.used for fact in (*window.before, *window.facts)} - {""}


def _covered(window: Window, coverage: Coverage | None) -> tuple[int, int | None]:
    """Verbs used in the run so far, and how many there are to be used."""
    used = _used(window)
    if coverage is None:
        return len(used), None
    return len(used & set(coverage.reachable)), len(coverage.reachable)


SLOPE_POINTS, FAILING_DELTAS = 5, 3
FALLING = Fraction(-2, 100)


def graph_fan_out(points: Sequence[Checkpoint]) -> Dimension:
    """s = 10 (f_last - f_first) / ticks between them, over the last five checkpoints."""
    limits = {"ok": "0 or more",
              "fail": "each of the last 3 steps below -0.02 per object and 10 records"}  # fmt: skip
    if len(points) < 2:
        return missing("graph_fan_out", "fewer than 2 checkpoints", limits)
    chosen = points[-SLOPE_POINTS:]
    slope = _per_ten(chosen[0], chosen[-1])
    deltas = [_per_ten(one, other) for one, other in pairwise(points)][-FAILING_DELTAS:]
    falling = len(deltas) == FAILING_DELTAS and all(delta < FALLING for delta in deltas)
    return Dimension(
        "graph_fan_out",
        graded(ok=slope >= 0, fail=falling),
        "steady" if slope == 0 else f"{shown(slope, 3)} links per object and 10 records",
        {
            "slope": exact(slope),
            "deltas": [exact(delta) for delta in deltas],
            "checkpoints": [[one.seq, one.edges, one.nodes] for one in points],
        },
        limits,
        tuple(late.seq for early, late in pairwise(points) if _per_ten(early, late) < 0),
        tuple((one.seq, one.fan_out) for one in points),
    )


def _per_ten(first: Checkpoint, last: Checkpoint) -> Fraction:
    return 10 * (last.fan_out - first.fan_out) / (last.seq - first.seq)
