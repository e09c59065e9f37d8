"""Constraints on a plan and preferences of PDDL3 (Gerevini and Long 2005), read with their places.

A constraint is a condition on the states that a plan passes; `monitors` turns it into rules. A
preference is a constraint that a plan may violate; the metric counts the violations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Literal, Union, cast

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.planning.reader.effects import Effects
from tokenworld.planning.reader.expressions import is_number, show
from tokenworld.planning.reader.names import Locals, Phrase, Typed
from tokenworld.planning.reader.sexpr import Group, Item, Word

Kind = Literal[
    "at end",
    "always",
    "sometime",
    "at-most-once",
    "sometime-after",
    "sometime-before",
    "within",
    "hold-during",
    "hold-after",
    "always-within",
]
_CONDITIONS: dict[str, int] = {
    "always": 1,
    "sometime": 1,
    "at-most-once": 1,
    "sometime-after": 2,
    "sometime-before": 2,
    "within": 1,
    "hold-during": 1,
    "hold-after": 1,
    "always-within": 2,
}
"""The number of conditions after each word."""
_TIMES = {"within": 1, "hold-during": 2, "hold-after": 1, "always-within": 1}
"""The number of times before the conditions."""


@frozen
class Bound:
    """A variable of a `forall` around constraints: ``text`` binds it, ``name`` reads it."""

    param: Typed
    text: str
    name: str


@frozen
class Modal:
    """One word about time with its conditions, and the times of some words."""

    kind: Kind
    conditions: tuple[Phrase, ...]
    span: Span
    times: tuple[Fraction, ...] = ()


@frozen
class AllOf:
    parts: tuple[Trajectory, ...]
    span: Span


@frozen
class ForAll:
    bound: tuple[Bound, ...]
    part: Trajectory
    span: Span


Trajectory = Union[Modal, AllOf, ForAll]  # noqa: UP007  (recursive, as `sexpr.Item`)


@frozen
class Wanted:
    """A constraint on plans, for all values of the variables in ``scope``.

    With a ``name`` it is a preference. Without, the plan must keep it; a preference without a name,
    which no metric can count, is left out.
    """

    name: str | None
    scope: tuple[Bound, ...]
    of: Trajectory
    span: Span


def parted(item: Item) -> tuple[list[Item], list[Item]]:
    """The conjuncts of a condition without preferences, and the preferences in it.

    A `forall` around both becomes two. A condition without a preference is one part, as written.
    """
    if not isinstance(item, Group) or not has_preference(item):
        return [item], []
    if item.head == "preference":
        return [], [item]
    found: tuple[list[Item], list[Item]] = ([], [])
    if item.head == "and":
        for part in item.items[1:]:
            for listed, more in zip(found, parted(part), strict=True):
                listed.extend(more)
        return found
    if item.head == "forall" and len(item.items) == 3:
        for listed, more in zip(found, parted(item.items[2]), strict=True):
            listed.extend(Group((*item.items[:2], one), item.span) for one in more)
        return found
    return [item], []  # the reader of conditions refuses it


def apart(condition: Item) -> tuple[Item, tuple[tuple[int, Item], ...]]:
    """A precondition without its preferences, and these with their places among the conjuncts."""
    if not has_preference(condition):
        return condition, ()
    parts = condition.items[1:] if isinstance(condition, Group) and condition.head == "and" else ()
    hard: list[Item] = []
    soft: list[tuple[int, Item]] = []
    for part in parts or (condition,):
        kept, preferred = parted(part)
        hard += kept
        for one in preferred:
            soft.append((len(hard) + len(soft), one))
    span = condition.span
    return Group((Word("and", span), *hard), span), tuple(soft)


def has_preference(item: Item) -> bool:
    """Return whether a preference stands somewhere in an item."""
    waiting = [item]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Group):
            if one.head == "preference":
                return True
            waiting += one.items
    return False


class Trajectories(Effects):
    """Reads constraints and preferences."""

    def preferences(
        self, items: Sequence[Item], names: Locals, scope: tuple[Bound, ...] = ()
    ) -> Iterator[Wanted]:
        """The preferences of a goal or a precondition, as `parted` leaves them."""
        for item in items:
            assert isinstance(item, Group)
            if item.head == "preference":
                name, body = self._preference(item)
                of = Modal("at end", (self.condition(body, names),), item.span)
                yield from _named(name, scope, of, item.span)
            else:
                bound, inner = self._bound(item, names)
                yield from self.preferences(item.items[2:], inner, (*scope, *bound))

    def constraints(
        self, item: Item, names: Locals, scope: tuple[Bound, ...] = ()
    ) -> Iterator[Wanted]:
        """The constraints of a ``:constraints`` section, those to keep and preferences."""
        if not isinstance(item, Group):
            raise self._no_constraint(item)
        if not item.items:
            return
        match item.head:
            case "and":
                for part in item.items[1:]:
                    yield from self.constraints(part, names, scope)
            case "forall":
                bound, inner = self._bound(item, names)
                yield from self.constraints(item.items[2], inner, (*scope, *bound))
            case "preference":
                name, body = self._preference(item)
                yield from _named(name, scope, self._trajectory(body, names), item.span)
            case _:
                yield Wanted(None, scope, self._trajectory(item, names), item.span)

    def _preference(self, item: Group) -> tuple[str | None, Item]:
        """Return the name of a preference and its condition."""
        parts = item.items[1:]
        if len(parts) == 1:
            return None, parts[0]
        name, body = self.exactly(item, 2, "a name and a condition")
        return self.name(name, "preference's name", item.span).key, body

    def _bound(self, item: Group, names: Locals) -> tuple[tuple[Bound, ...], Locals]:
        params = self.params(self.exactly(item, 2, "variables and a constraint")[0], item.span)
        self.symbols.check_typed(params, "variable", self.faults)
        inner = names.bind(params)
        bound = (
            Bound(one, self.spelling.binders((one,), inner), inner.names[one.name.key])
            for one in params
        )
        return tuple(bound), inner

    def _trajectory(self, item: Item, names: Locals) -> Trajectory:
        if not isinstance(item, Group):
            raise self._no_constraint(item)
        match item.head:
            case "and":
                parts = tuple(self._trajectory(one, names) for one in item.items[1:])
                return AllOf(parts, item.span)
            case "forall":
                bound, inner = self._bound(item, names)
                return ForAll(bound, self._trajectory(item.items[2], inner), item.span)
            case "at" if len(item.items) == 3 and show(item.items[1]).lower() == "end":
                return Modal("at end", (self.condition(item.items[2], names),), item.span)
            case head if head in _CONDITIONS:
                return self._modal(item, cast("Kind", head), names)
            case _:
                raise self._no_constraint(item)

    def _modal(self, item: Group, kind: Kind, names: Locals) -> Modal:
        times, conditions = _TIMES.get(kind, 0), _CONDITIONS[kind]
        what = ("", "a time and ", "two times and ")[times]
        what += "a condition" if conditions == 1 else "two conditions"
        parts = self.exactly(item, times + conditions, what)
        read = tuple(self.condition(one, names) for one in parts[times:])
        return Modal(kind, read, item.span, tuple(map(self._time, parts[:times])))

    def _time(self, item: Item) -> Fraction:
        if isinstance(item, Word) and is_number(item) and Fraction(item.text) >= 0:
            return Fraction(item.text)
        message = f"`{show(item)[:40]}` is no time."
        raise self.faults.unexpected(message, item.span, "Write a number, 0 or more.")

    def _no_constraint(self, item: Item) -> Exception:
        message = f"`{show(item)[:40]}` is no constraint."
        hint = "Say when it holds: `(always …)`, `(sometime …)`, `(at end …)`."
        return self.faults.unexpected(message, item.span, hint)


def _named(
    name: str | None, scope: tuple[Bound, ...], of: Trajectory, span: Span
) -> Iterator[Wanted]:
    """A preference, if it has a name."""
    if name is not None:
        yield Wanted(name, scope, of, span)
