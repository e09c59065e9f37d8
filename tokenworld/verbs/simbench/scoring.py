"""Score the answers to a set: right and wrong ones, and the properties that are wrong.

Each answer is judged by the paper's scorer, which accepts corrupted states, and strictly. A
property of an object (`What`) is right, or wrong in one of five ways (`Way`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from tokenworld.planning.space.policy import wilson
from tokenworld.store.usage import Prices, Total
from tokenworld.verbs.records.answers import (
    Answer,
    Count,
    Objects,
    Task,
    given,
    passes,
    read_answer,
    same,
    wanted,
)
from tokenworld.verbs.records.rows import TextRow
from tokenworld.verbs.simbench.asking import Transcript, asked_row, confidence_of, in_order
from tokenworld.verbs.simbench.baselines import COPY, copied
from tokenworld.verbs.simbench.sets import Part, Question, QuestionSet

Way = Literal["right", "wrong value", "changed wrongly", "unchanged wrongly", "left out", "form"]
WAYS: Final[tuple[Way, ...]] = (
    "right", "wrong value", "changed wrongly", "unchanged wrongly", "left out", "form",
)  # fmt: skip
"""``changed wrongly``: should not have changed; ``unchanged wrongly``: should have; ``left out``:
the answer does not tell it; ``form``: a value of another kind, or an answer that cannot be read."""
WHOLE: Final = "(the answer)"
"""The property of unreadable answers."""
OBJECTS: Final = "(objects)"
"""The property of objects that are there or not."""
_ABSENT: Final = object()
_BINS: Final = 5


@dataclass(slots=True)
class Share(Count):
    """A count with the intervals of its shares."""

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {"asked": self.rows}
        for name, number in (("lenient", self.published), ("strict", self.strict)):
            within = wilson(number, self.rows) if self.rows else (0.0, 1.0)
            told[name] = {"right": number, "interval": [round(one, 4) for one in within]}
        return told


Kind = Literal["dynamic", "static", "all"]
KINDS: Final[tuple[Kind, ...]] = ("dynamic", "static", "all")


@dataclass(slots=True)
class Card:
    """The scores of one predictor. ``shares`` by part and kind, ``verbs`` by verb and kind,
    ``ways`` by property, ``steps`` of its own predictions by their number, ``sure`` by stated
    probability."""

    who: str
    shares: dict[tuple[Part, Kind], Share] = field(default_factory=dict)
    verbs: dict[tuple[str, Kind], Share] = field(default_factory=dict)
    ways: dict[str, dict[Way, int]] = field(default_factory=dict)
    steps: dict[int, Share] = field(default_factory=dict)
    sure: list[tuple[float, bool]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    partial: list[int] = field(default_factory=list)
    """Questions whose answers leave out objects that were there and still are."""
    unanswered: int = 0
    used: Total | None = None
    """The tokens and the cost of its answers; ``None`` for those who use no model."""
    firsts: frozenset[int] = frozenset()
    """Questions that are the first step of a chain of own predictions."""

    def share(self, part: Part, kind: Kind = "all") -> Share:
        return self.shares.setdefault((part, kind), Share())

    def add(self, question: Question, row: TextRow, answer: Answer) -> bool:
        """Judge one answer; whether it is right strictly."""
        right = row.score_after.to_json()
        exact = passes(row, question.task, answer, right, strictly=True)
        loose = exact or passes(row, question.task, answer, right, strictly=False)
        kinds: tuple[Kind, ...] = ("dynamic" if question.dynamic else "static", "all")
        for kind in kinds:
            self.share(question.part, kind).add(published=loose, strict=exact)
            if question.part not in ("chain", "own"):
                share = self.verbs.setdefault((question.verb, kind), Share())
                share.add(published=loose, strict=exact)
        if question.part == "own" or question.number in self.firsts:
            self.steps.setdefault(question.step, Share()).add(published=loose, strict=exact)
        if question.part != "own":
            self._note(question, row, answer)
        return exact

    def _note(self, question: Question, row: TextRow, answer: Answer) -> None:
        if answer.fault:
            self.faults.append(f"question {question.number}: {answer.fault}")
            self._count(WHOLE, "form")
            return
        for what, way in ways(row, question.task, answer):
            self._count(what, way)
            if what == OBJECTS and way == "left out":
                self.partial += [question.number] if question.number not in self.partial else []

    def _count(self, what: str, way: Way) -> None:
        counts = self.ways.setdefault(what, {})
        counts[way] = counts.get(way, 0) + 1

    @property
    def one_step(self) -> float | None:
        """The strict share of right answers to the rows of chains, each from its true state."""
        return self.share("chain").share(strictly=True)

    def calibration(self) -> list[tuple[float, float, int]]:
        """Mean stated probability, share of right answers and number of answers, in five bins."""
        bins: dict[int, list[tuple[float, bool]]] = {}
        for stated, right in self.sure:
            bins.setdefault(min(int(stated * _BINS), _BINS - 1), []).append((stated, right))
        return [
            (sum(one for one, _ in held) / len(held), sum(one for _, one in held) / len(held),
             len(held))
            for _, held in sorted(bins.items())
        ]  # fmt: skip

    def brier(self) -> float | None:
        """The mean squared error of the stated probabilities (Brier 1950)."""
        if not self.sure:
            return None
        return sum((stated - right) ** 2 for stated, right in self.sure) / len(self.sure)


# ---- ways to be wrong ---------------------------------------------------------------------------


def ways(row: TextRow, task: Task, answer: Answer) -> Iterator[tuple[str, Way]]:
    """Each property of each object in the state before, the recorded and the predicted one, with
    the way in which the prediction is right or wrong."""
    if task in ("score", "step"):
        before, target, found = row.score_before.to_json(), row.score_after.to_json(), answer.score
        for key, value in target.items():
            yield key, _way(before[key], value, (found or {}).get(key, _ABSENT))
    if task == "score":
        return
    before_by, target_by, found_by = (
        _by_number(one) for one in (given(row, task).objects, wanted(row, task).objects,
                                    answer.objects or ())
    )  # fmt: skip
    for number in {**target_by, **found_by, **before_by}:
        states = [one.get(number) for one in (before_by, target_by, found_by)]
        yield from _object_ways(*states)


def _by_number(objects: Objects) -> dict[object, Mapping[str, Any]]:
    return {one["uuid"]: one for one in objects}


_Object = Mapping[str, Any] | None


def _object_ways(before: _Object, target: _Object, found: _Object) -> Iterator[tuple[str, Way]]:
    if target is None or found is None:
        yield OBJECTS, _there(before, target, found)
        return
    if before is None:
        yield OBJECTS, "right"
    keys = {**target["properties"], **found["properties"], **(before or {}).get("properties", {})}
    for key in keys:
        yield key, _way(*(_value(one, key) for one in (before, target, found)))
    for part in ("name", "type", "contains"):
        old = _ABSENT if before is None else before[part]
        if not (same(target[part], found[part]) and (before is None or same(old, target[part]))):
            yield part, _way(old, target[part], found[part])


def _value(one: _Object, key: str) -> Any:
    return _ABSENT if one is None else one["properties"].get(key, _ABSENT)


def _there(before: _Object, target: _Object, found: _Object) -> Way:
    """Classify an object that is missing in the state before, the target or the answer."""
    if target is None and found is None:
        return "right"
    if target is None:
        return "changed wrongly" if before is None else "unchanged wrongly"
    return "unchanged wrongly" if before is None else "left out"


def _way(before: Any, target: Any, found: Any) -> Way:
    if found is _ABSENT or target is _ABSENT:
        if found is target:
            return "right"
        if target is _ABSENT:
            return "changed wrongly" if before is _ABSENT else "unchanged wrongly"
        return "left out"
    if same(found, target):
        return "right"
    if found is not None and target is not None and _sort(found) is not _sort(target):
        return "form"
    if before is not _ABSENT and same(before, target):
        return "changed wrongly"
    if before is not _ABSENT and same(found, before):
        return "unchanged wrongly"
    return "wrong value"


def _sort(value: Any) -> type:
    """The kind of a JSON value; all numbers are of one."""
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return float if numeric else type(value)


# ---- cards --------------------------------------------------------------------------------------


def card_of(
    found: QuestionSet, transcript: Transcript, who: str, prices: Prices | None = None
) -> Card:
    """The scores of the answers of a transcript. A question that was not asked is not counted; one
    that could not be asked, since an earlier answer cannot be read, counts as wrong."""
    card = Card(who, used=transcript.used(prices), firsts=_firsts(found))
    for question in found.questions:
        entry = transcript.entries.get(question.number)
        if entry is None and asked_row(found, question, transcript) is not None:
            card.unanswered += 1
            continue
        row, answer = transcript.answer(found, question)
        exact = card.add(question, row, answer)
        stated = None if entry is None else confidence_of(entry.text)
        if stated is not None:
            card.sure.append((stated, exact))
    return card


def _firsts(found: QuestionSet) -> frozenset[int]:
    """The questions in which a chain of own predictions begins."""
    return frozenset(
        one.after for one in found.questions if one.after is not None and one.step == 2
    )


def baseline_cards(found: QuestionSet) -> Iterator[Card]:
    """The scores of those who use no model: on single rows only."""
    known = {COPY: None, **{who: found.baselines[who] for who in sorted(found.baselines)}}
    for who, answers in known.items():
        card = Card(who)
        for question in found.questions:
            row = found.row(question)
            if question.part in ("chain", "own"):
                continue
            task = question.task
            told = copied(row, task) if answers is None else answers.get(question.number)
            card.add(question, row, _read(told, row, task))
        yield card


def _read(told: object, row: TextRow, task: Task) -> Answer:
    if isinstance(told, dict) and "fault" in told:
        return Answer(fault=str(told["fault"]))
    return in_order(read_answer(told, row, task), row, task)
