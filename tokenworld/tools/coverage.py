"""Scenario coverage: which rules fired, which requires refused, which branches were taken.

The program is instrumented, not the engine: every body and branch begins with an event of our own,
which changes no state, no hash and no draw. What was emitted while the scenarios ran is what was
covered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tokenworld.diagnostics import Span
from tokenworld.ground import Outcome
from tokenworld.model import (
    Action,
    Binder,
    Body,
    Chance,
    Effect,
    Emit,
    Event,
    For,
    If,
    Law,
    NumberLiteral,
    NumberType,
    Pick,
    Program,
    TypeRange,
)

__all__ = ["Coverage", "Mark"]

_EVENT = "\0covered"
"""No author can write this name, so no scenario can be told of it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place that scenarios should reach. ``kind``: action, law, cancelled, branch, require."""

    kind: str
    rule: str
    what: str
    span: Span

    def to_json(self, covered: bool) -> dict[str, object]:
        return {
            "kind": self.kind,
            "rule": self.rule,
            "what": self.what,
            "place": str(self.span),
            "covered": covered,
        }


@dataclass(slots=True)
class Coverage:
    """One program under measurement: its instrumented form, its marks and those reached."""

    marks: list[Mark] = field(default_factory=list)
    reached: set[int] = field(default_factory=set)
    _requires: dict[tuple[str, int], int] = field(default_factory=dict)

    def instrument(self, program: Program) -> Program:
        """The same program with an event at the head of every body and branch."""
        actions = {name: self._action(action) for name, action in program.actions.items()}
        laws = {name: self._law(law) for name, law in program.laws.items()}
        if not self.marks:
            return program
        span = self.marks[0].span
        kind = NumberType(0, len(self.marks))
        event = Event(_EVENT, (Binder("mark", TypeRange(kind), kind, span),), span)
        return replace(
            program, actions=actions, laws=laws, events={**program.events, _EVENT: event}
        )

    def watch(self, outcome: Outcome) -> None:
        """Take note of one record."""
        for name, args in outcome.events:
            if name == _EVENT and isinstance(args[0], int):
                self.reached.add(args[0])
        if outcome.refusal is not None:
            number = self._requires.get((outcome.action, outcome.refusal.index))
            if number is not None:
                self.reached.add(number)

    def listed(self) -> Iterator[tuple[Mark, bool]]:
        """Every mark in order, and whether it was reached."""
        for number, mark in enumerate(self.marks):
            yield mark, number in self.reached

    def share(self) -> tuple[int, int]:
        """How many marks were reached, of how many."""
        return len(self.reached), len(self.marks)

    # ---- marking ------------------------------------------------------------------------------

    def _mark(self, kind: str, rule: str, what: str, span: Span) -> int:
        self.marks.append(Mark(kind, rule, what, span))
        return len(self.marks) - 1

    def _action(self, action: Action) -> Action:
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

    def _law(self, law: Law) -> Law:
        rule = f"law {law.name}"
        return replace(law, body=self._headed(law.body, "law", rule, "fired", law.span))

    def _headed(self, body: Body, kind: str, rule: str, what: str, span: Span) -> Body:
        number = self._mark(kind, rule, what, span)
        literal = NumberLiteral(number, NumberType(number, number), span)
        inner = tuple(self._effect(effect, rule) for effect in body)
        return (Emit(_EVENT, (literal,), span), *inner)

    def _branch(self, body: Body, rule: str, what: str, span: Span) -> Body:
        """A branch that is written; an empty one stays what it is."""
        return self._headed(body, "branch", rule, what, span) if body else body

    def _effect(self, effect: Effect, rule: str) -> Effect:
        span = effect.span
        match effect:
            case If(then=then, otherwise=otherwise):
                yes = self._branch(then, rule, "if", span)
                return replace(
                    effect, then=yes, otherwise=self._branch(otherwise, rule, "else", span)
                )
            case For(body=body):
                return replace(effect, body=self._branch(body, rule, "for", span))
            case Chance(branches=branches, otherwise=otherwise):
                taken = tuple(
                    replace(one, body=self._branch(one.body, rule, f"chance, branch {index}", span))
                    for index, one in enumerate(branches, start=1)
                )
                rest = self._branch(otherwise, rule, "chance, else", span)
                return replace(effect, branches=taken, otherwise=rest)
            case Pick(body=body, otherwise=otherwise):
                some = self._branch(body, rule, "pick", span)
                return replace(
                    effect, body=some, otherwise=self._branch(otherwise, rule, "pick, else", span)
                )
            case _:
                return effect


def table(found: Sequence[tuple[Mark, bool]]) -> list[str]:
    """Counts by kind, then what was not reached, by place."""
    kinds = dict.fromkeys(mark.kind for mark, _ in found)
    lines = []
    for kind in kinds:
        own = [covered for mark, covered in found if mark.kind == kind]
        lines.append(f"  {kind:<10} {sum(own):>4} of {len(own)}")
    missed = [mark for mark, covered in found if not covered]
    lines += [f"  not reached: {mark.span}: {mark.rule}, {mark.what}" for mark in missed]
    return lines


__all__ += ["table"]
