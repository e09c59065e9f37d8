"""Durative actions of PDDL 2.1 as actions that take several ticks.

A `.tw` action asks its conditions when it begins and when it ends, and does everything at its end;
nothing else is done meanwhile. So the timed parts of a durative action become one condition and
one effect, where the order of its own start and end makes no difference. What would make one is
reported with its place, and so is any other use of time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from tokenworld.planning.reader.expressions import is_number, show
from tokenworld.planning.reader.sexpr import Faults, Group, Item, Word

__all__ = ["Untimed", "duration", "untimed"]

_When = Literal["start", "all", "end"]
_Part = tuple[_When, Item]
_LOGIC = frozenset(("and", "or", "not", "imply", "forall", "exists", "when", "=", "<", ">", "<=",
                    ">=", "+", "-", "*", "/", "assign", "increase", "decrease", "scale-up",
                    "scale-down"))  # fmt: skip
_NUMERIC = frozenset(("assign", "increase", "decrease", "scale-up", "scale-down"))


@dataclass(frozen=True, slots=True)
class Untimed:
    """The condition and the effect of a durative action, without times."""

    condition: Group
    effect: Group


def duration(item: Item, faults: Faults) -> Item:
    """The value in ``(= ?duration value)``, a number of ticks if it is a number.

    Anything else is unsupported, which `Faults` raises with its place.
    """
    if isinstance(item, Group) and len(item.items) == 2 and item.head == "and":
        item = item.items[1]
    parts = item.items if isinstance(item, Group) else ()
    named = len(parts) == 3 and isinstance(parts[1], Word) and parts[1].text == "?duration"
    if not named or not isinstance(item, Group) or item.head != "=":
        hint = "Give one duration, as in `(= ?duration 5)`."
        raise faults.unsupported("A duration that is not fixed", item.span, hint)
    value = parts[2]
    if not isinstance(value, Word):
        return value
    ticks = float(value.text) if is_number(value) else 0.0
    if ticks < 1 or ticks != int(ticks):
        hint = "Count time in ticks: whole numbers from 1 on."
        raise faults.unsupported(f"A duration of `{value.text}`", value.span, hint)
    return Word(str(int(ticks)), value.span)


def untimed(condition: Item, effect: Item, faults: Faults) -> Untimed:
    """The timed parts of a durative action as one condition and one effect."""
    return _Timed(faults, list(_conditions(condition, faults)), list(_effects(effect, faults))).all(
        condition, effect
    )


@dataclass(slots=True)
class _Timed:
    """The parts of a durative action with their times."""

    faults: Faults
    conditions: list[_Part]
    effects: list[_Part]
    begun: list[Item] = field(init=False)
    """The effects at the start."""

    def __post_init__(self) -> None:
        self.begun = [one for when, one in self.effects if when == "start"]

    def all(self, condition: Item, effect: Item) -> Untimed:
        ended = [one for when, one in self.effects if when == "end"]
        done = {_fact(one) for one in ended}
        changed = frozenset(head for one in self.begun for head in _changed(one))
        for one in ended:
            self._apart(one, changed)
        kept = [one for one in self.begun if _fact(one) not in done]
        asked = [one for when, one in self.conditions if self._is_asked(when, one, changed)]
        return Untimed(_joined(asked, condition), _joined([*kept, *ended], effect))

    def _is_asked(self, when: _When, item: Item, changed: frozenset[str]) -> bool:
        """Whether a condition is to be asked before the start: not if the start makes it true."""
        if when == "start" or not changed & set(_heads(item)):
            return True
        if show(item).lower() in (show(one).lower() for one in self.begun):
            return False
        hint = "Ask for it at the start, or make it true before."
        raise self.faults.unsupported("A condition on what the start changes", item.span, hint)

    def _apart(self, item: Item, changed: frozenset[str]) -> None:
        """Refuse an effect at the end that depends on those at the start."""
        numbers = isinstance(item, Group) and item.head in _NUMERIC
        reads = set(_heads(item)) if numbers else set(_heads(item)) - set(_changed(item))
        if changed & reads:
            hint = "Make both changes at the end."
            raise self.faults.unsupported(
                "An effect at the end of what the start changes", item.span, hint
            )


def _joined(items: list[Item], place: Item) -> Group:
    return Group((Word("and", place.span), *items), place.span)


def _fact(item: Item) -> str:
    """The text of the fact that an effect makes true or false."""
    if isinstance(item, Group) and item.head == "not" and len(item.items) == 2:
        item = item.items[1]
    return show(item).lower()


def _heads(item: Item) -> Iterator[str]:
    """The predicates and functions in an item."""
    if isinstance(item, Group):
        if item.head and item.head not in _LOGIC:
            yield item.head
        for part in item.items[1:]:
            yield from _heads(part)


def _changed(item: Item) -> Iterator[str]:
    """The predicates and functions that an effect changes."""
    if not isinstance(item, Group) or not item.items:
        return
    match item.head:
        case "and" | "not":
            for part in item.items[1:]:
                yield from _changed(part)
        case "forall" | "when":
            yield from _changed(item.items[-1])
        case "assign" | "increase" | "decrease" | "scale-up" | "scale-down":
            for part in item.items[1:2]:
                yield part.key if isinstance(part, Word) else part.head
        case head:
            yield head


# ---- times --------------------------------------------------------------------------------------


def _conditions(item: Item, faults: Faults) -> Iterator[_Part]:
    """The conditions with their times."""
    if isinstance(item, Group) and item.items:
        if item.head == "and":
            for part in item.items[1:]:
                yield from _conditions(part, faults)
            return
        if item.head == "forall" and len(item.items) == 3:
            for when, inner in _conditions(item.items[2], faults):
                yield when, Group((*item.items[:2], inner), item.span)
            return
        if item.head == "preference" and len(item.items) > 1:
            yield _preferred(item, faults)
            return
        yield _timed(item, faults, "condition")


def _preferred(item: Group, faults: Faults) -> _Part:
    """A preference for a condition at one time."""
    inner = list(_conditions(item.items[-1], faults))
    times = {when for when, _ in inner}
    if len(times) != 1:
        hint = "Write a preference for each time."
        raise faults.unsupported("A preference about several times", item.span, hint)
    asked = inner[0][1] if len(inner) == 1 else _joined([one for _, one in inner], item)
    return inner[0][0], Group((*item.items[:-1], asked), item.span)


def _effects(item: Item, faults: Faults) -> Iterator[_Part]:
    """The effects with their times."""
    if not isinstance(item, Group) or not item.items:
        return
    if item.head == "and":
        for part in item.items[1:]:
            yield from _effects(part, faults)
    elif item.head == "forall" and len(item.items) == 3:
        for when, inner in _effects(item.items[2], faults):
            yield when, Group((*item.items[:2], inner), item.span)
    elif item.head == "when" and len(item.items) == 3:
        tests = list(_conditions(item.items[1], faults))
        for when, inner in _effects(item.items[2], faults):
            if any(asked != when for asked, _ in tests):
                hint = "Ask for the condition at the same time as the effect."
                raise faults.unsupported("A condition at another time", item.span, hint)
            test = _joined([one for _, one in tests], item)
            yield when, Group((item.items[0], test, inner), item.span)
    else:
        yield _timed(item, faults, "effect")


def _timed(item: Group, faults: Faults, what: str) -> _Part:
    """``(at start …)``, ``(over all …)`` or ``(at end …)``."""
    moment = item.items[1] if len(item.items) == 3 else None
    key = moment.key if isinstance(moment, Word) else ""
    if item.head == "at" and key == "start":
        return "start", item.items[2]
    if item.head == "at" and key == "end":
        return "end", item.items[2]
    if (item.head, key, what) == ("over", "all", "condition"):
        return "all", item.items[2]
    hint = "Write `(at start …)`, `(over all …)` or `(at end …)` around it."
    raise faults.unexpected(f"`{show(item)[:40]}` has no time.", item.span, hint)
