"""Count how often each rule, require and branch of a program was reached.

The program is instrumented, not the engine: every body and branch begins with an event of its own,
which changes no state, hash or draw. `tw test` counts what scenarios reach, `tw conform` what
recorded rows reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import assert_never

from tokenworld import model as m
from tokenworld.diagnostics import Source, Span, fields_json
from tokenworld.engine.rows import Record
from tokenworld.ground import Json, Outcome

_EVENT = "\0covered"
"""No author can write this name, so no scenario can be told of it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place that scenarios should reach. ``kind``: action, law, cancelled, branch, require."""

    kind: str
    rule: str
    what: str
    span: Span

    def to_json(self, count: int) -> dict[str, object]:
        place = {"place": str(self.span), "covered": count > 0, "count": count}
        return {**fields_json(self, "span"), **place}


@dataclass(slots=True)
class Coverage:
    """One program under measurement: its instrumented form, its marks and how often each was
    reached."""

    marks: list[Mark] = field(default_factory=list)
    counts: Counter[int] = field(default_factory=Counter)
    _requires: dict[tuple[str, int], int] = field(default_factory=dict)

    def instrument(self, program: m.Program) -> m.Program:
        """The same program with an event at the head of every body and branch."""
        actions = {name: self._action(action) for name, action in program.actions.items()}
        written = {name: self._law(law) for name, law in program.laws.items() if not law.added}
        laws = {**program.laws, **written}
        if not self.marks:
            return program
        span = self.marks[0].span
        kind = m.NumberType(0, len(self.marks))
        event = m.Event(_EVENT, (m.Binder("mark", m.TypeRange(kind), kind, span),), span)
        return replace(
            program, actions=actions, laws=laws, events={**program.events, _EVENT: event}
        )

    def watch(self, outcome: Outcome) -> None:
        """Take note of an outcome."""
        refused = None if outcome.refusal is None else outcome.refusal.index
        self._count(outcome.events, outcome.action, refused)

    def watch_records(self, records: Iterable[Record]) -> None:
        """Take note of the records of a tick."""
        for one in records:
            action = "" if one.command is None else one.command.action
            self._count(one.events, action, one.refused)

    def _count(
        self, events: Iterable[tuple[str, Sequence[Json]]], action: str, refused: int | None
    ) -> None:
        for name, args in events:
            if name == _EVENT and isinstance(args[0], int):
                self.counts[args[0]] += 1
        if refused is not None and (action, refused) in self._requires:
            self.counts[self._requires[action, refused]] += 1

    def listed(self) -> Iterator[tuple[Mark, int]]:
        """Every mark in order, and how often it was reached."""
        for number, mark in enumerate(self.marks):
            yield mark, self.counts[number]

    def to_json(self) -> dict[str, object]:
        """The marks, and how many of them were reached."""
        return _to_json(list(self.listed()))

    def told(self, name: str, *, each: bool = False) -> Iterator[str]:
        """Yield the reached share and the unreached marks; with ``each`` all counts."""
        found = list(self.listed())
        if found:
            yield _share(name, found)
            yield from table(found)
        if each:
            for mark, count in found:
                if count:
                    yield f"  {count:>9,}  {mark.span}: {mark.rule}, {mark.what}"

    # ---- marking ------------------------------------------------------------------------------

    def _mark(self, kind: str, rule: str, what: str, span: Span) -> int:
        self.marks.append(Mark(kind, rule, what, span))
        return len(self.marks) - 1

    def _action(self, action: m.Action) -> m.Action:
        rule = f"action {action.name}"
        body = self._headed(action.body, "action", rule, "executed", action.span)
        cancelled = action.cancelled
        if cancelled:
            cancelled = self._headed(cancelled, "cancelled", rule, "broken off", action.span)
        for index, require in enumerate(action.requires):
            what = f"refused because {require.label or require.source}"
            number = self._mark("require", rule, what, require.span)
            self._requires[action.name, index] = number
        return replace(action, body=body, cancelled=cancelled)

    def _law(self, law: m.Law) -> m.Law:
        rule = f"law {law.name}"
        return replace(law, body=self._headed(law.body, "law", rule, "fired", law.span))

    def _headed(self, body: m.Body, kind: str, rule: str, what: str, span: Span) -> m.Body:
        number = self._mark(kind, rule, what, span)
        literal = m.NumberLiteral(number, m.NumberType(number, number), span)
        inner = tuple(self._effect(effect, rule) for effect in body)
        return (m.Emit(_EVENT, (literal,), span), *inner)

    def _branch(self, body: m.Body, rule: str, what: str, span: Span) -> m.Body:
        """Mark a branch that has statements; an empty one is not changed."""
        return self._headed(body, "branch", rule, what, span) if body else body

    def _effect(self, effect: m.Effect, rule: str) -> m.Effect:
        span = effect.span
        match effect:
            case m.If(then=then, otherwise=otherwise):
                yes = self._branch(then, rule, "if", span)
                return replace(
                    effect, then=yes, otherwise=self._branch(otherwise, rule, "else", span)
                )
            case m.For(body=body):
                return replace(effect, body=self._branch(body, rule, "for", span))
            case m.Chance(branches=branches, otherwise=otherwise):
                taken = tuple(
                    replace(one, body=self._branch(one.body, rule, f"chance, branch {index}", span))
                    for index, one in enumerate(branches, start=1)
                )
                rest = self._branch(otherwise, rule, "chance, else", span)
                return replace(effect, branches=taken, otherwise=rest)
            case m.Pick(body=body, otherwise=otherwise):
                some = self._branch(body, rule, "pick", span)
                return replace(
                    effect, body=some, otherwise=self._branch(otherwise, rule, "pick, else", span)
                )
            case m.Let() | m.WriteEffect() | m.LifeEffect() | m.OutputEffect():
                return effect
            case _:
                assert_never(effect)


@dataclass(frozen=True, slots=True)
class Written:
    """The places that are written in one file, and how often scenarios of any file reached each.

    ``imported``: the file was not measured itself, but imported by one that was.
    """

    name: str
    imported: bool
    found: list[tuple[Mark, int]]

    def to_json(self) -> dict[str, object]:
        """The same as an object; `tw test --json` lists one for each file."""
        return {"file": self.name, "imported": self.imported, **_to_json(self.found)}

    def told(self) -> Iterator[str]:
        """The share that was reached; of a measured file also what was not."""
        if self.found:
            yield _share(f"{self.name}, imported" if self.imported else self.name, self.found)
            if not self.imported:
                yield from table(self.found)


Measured = tuple[Path, Iterable[Source], Coverage]
"""A measured file, the sources that were read for it, and its coverage."""


def by_file(measured: Sequence[Measured]) -> list[Written]:
    """Each place once, in the file that it is written in: first the measured files, then those
    that they import. A rule counts as reached whichever file's scenario reached it."""
    counts: Counter[Hashable] = Counter()
    marks: dict[Path, dict[Hashable, Mark]] = {path.resolve(): {} for path, _, _ in measured}
    names = {path.resolve(): str(path) for path, _, _ in measured}
    for path, sources, coverage in measured:
        places = {one.name: (one.path or Path(one.name)).resolve() for one in sources}
        twins: Counter[Hashable] = Counter()  # an effect with a name is marked at each call
        for mark, count in coverage.listed():
            file = places[mark.span.file]
            place = (file, mark.span.start, mark.rule, mark.what)
            key = (*place, twins[place])
            twins[place] += 1
            counts[key] += count
            if file == path.resolve() or file not in names:
                marks.setdefault(file, {}).setdefault(key, mark)
    return [
        Written(
            names.get(file) or next(iter(own.values())).span.file,
            file not in names,
            [(mark, counts[key]) for key, mark in own.items()],
        )
        for file, own in marks.items()
    ]


def _to_json(found: Sequence[tuple[Mark, int]]) -> dict[str, object]:
    places = [mark.to_json(count) for mark, count in found]
    return {"reached": _reached(found), "total": len(found), "places": places}


def _reached(found: Sequence[tuple[Mark, int]]) -> int:
    return sum(count > 0 for _, count in found)


def _share(name: str, found: Sequence[tuple[Mark, int]]) -> str:
    """The share that was reached: ``cellar.tw: 12 of 19 places reached``."""
    return f"{name}: {_reached(found)} of {len(found)} places reached"


def table(found: Sequence[tuple[Mark, int]]) -> list[str]:
    """Return the reached marks of each kind, then the unreached ones, by place."""
    kinds = dict.fromkeys(mark.kind for mark, _ in found)
    lines = []
    for kind in kinds:
        own = [count > 0 for mark, count in found if mark.kind == kind]
        lines.append(f"  {kind:<10} {sum(own):>4} of {len(own)}")
    missed = [mark for mark, count in found if not count]
    lines += [f"  not reached: {mark.span}: {mark.rule}, {mark.what}" for mark in missed]
    return lines
