"""Durative actions of PDDL 2.1 as actions that take several ticks.

A `.tw` action asks its conditions when it begins and when it ends, and does everything at its end;
nothing else is done meanwhile. So the timed parts of a durative action become one condition and
one effect, where the order of its own start and end makes no difference. What would make one is
reported with its place, and so is any other use of time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Literal

from tokenworld.diagnostics import Source, Span
from tokenworld.planning.reader.expressions import is_number, show
from tokenworld.planning.reader.sexpr import Faults, Group, Item, Word, read_items

Apart = Callable[[str, str], bool]
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
    if ticks <= 0:
        hint = "Give it more than 0: other actions could be done meanwhile."
        raise faults.unsupported(f"A duration of `{value.text}`", value.span, hint)
    return Word(str(int(ticks)) if ticks == int(ticks) else value.text, value.span)


def filled(item: Item, ticks: Item) -> Item:
    """An item with the duration in the place of `?duration`."""
    if isinstance(item, Word):
        return ticks if item.key == "?duration" else item
    return Group(tuple(filled(one, ticks) for one in item.items), item.span)


def untimed(condition: Item, effect: Item, faults: Faults, apart: Apart) -> Untimed:
    """The timed parts of a durative action as one condition and one effect.

    ``apart``: whether two words have types without a common object.
    """
    conditions, effects = list(_conditions(condition, faults)), list(_effects(effect, faults))
    return _Timed(faults, conditions, effects, apart).all(condition, effect)


@dataclass(slots=True)
class _Timed:
    """The parts of a durative action with their times."""

    faults: Faults
    conditions: list[_Part]
    effects: list[_Part]
    apart: Apart
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
        asked = [self._before(one) if when != "start" and changed & set(_heads(one)) else one
                 for when, one in self.conditions]  # fmt: skip
        told = [one for one in asked if show(one) != "(and)"]
        return Untimed(_joined(told, condition), _joined([*kept, *ended], effect))

    def _before(self, item: Item) -> Item:
        """Return the condition before the start that makes ``item`` hold after it: ``item``
        regressed through the effects of the start (Reiter 1991)."""
        if not isinstance(item, Group) or not set(_heads(item)) & self._changed:
            return item
        match item.head:
            case "and" | "or" | "not" | "imply":
                parts = (self._before(one) for one in item.items[1:])
                return Group((item.items[0], *parts), item.span)
            case "forall" | "exists" if len(item.items) == 3 and not self._hides(item.items[1]):
                inner = self._before(item.items[2])
                return Group((*item.items[:2], inner), item.span)
            case head if head not in _LOGIC:
                return self._regressed(item)
            case _:
                raise self._depends(item)

    @property
    def _changed(self) -> frozenset[str]:
        return frozenset(head for one in self.begun for head in _changed(one))

    def _hides(self, variables: Item) -> bool:
        """Return whether a quantifier binds a name that an effect at the start has."""
        given = set(words_of(variables))
        return any(given & set(words_of(one)) for one in self.begun)

    def _regressed(self, fact: Group) -> Item:
        """A fact before the start: removed ones are no longer true, added ones are."""
        span, found = fact.span, fact
        effects = [one for one in self.begun if self._meets(fact, one)]
        for adds in (False, True):
            for effect in effects:
                if not isinstance(effect, Group) or effect.head not in (fact.head, "not"):
                    raise self._depends(fact)
                if (effect.head != "not") is adds:
                    same = _same(fact, effect if adds else effect.items[1], span)
                    parts = (found, same) if adds else (found, _list(span, "not", same))
                    found = _list(span, "or" if adds else "and", *parts)
                    if adds and show(same) == "(and)":
                        found = same
        return found

    def _meets(self, fact: Group, effect: Item) -> bool:
        """Return whether an effect may be about this fact, as far as types tell."""
        if fact.head not in _changed(effect):
            return False
        if isinstance(effect, Group) and effect.head == "not":
            effect = effect.items[1]
        if not isinstance(effect, Group) or effect.head != fact.head:
            return True
        pairs = zip(fact.items[1:], effect.items[1:], strict=False)
        return not any(self.apart(show(a).lower(), show(b).lower()) for a, b in pairs)

    def _depends(self, item: Item) -> Exception:
        hint = "Ask for it at the start, or make it true before."
        return self.faults.unsupported("A condition on what the start changes", item.span, hint)

    def _apart(self, item: Item, changed: frozenset[str]) -> None:
        """Refuse an effect at the end that depends on those at the start."""
        numbers = isinstance(item, Group) and item.head in _NUMERIC
        reads = set(_heads(item)) if numbers else set(_heads(item)) - set(_changed(item))
        if changed & reads:
            hint = "Make both changes at the end."
            raise self.faults.unsupported(
                "An effect at the end of what the start changes", item.span, hint
            )


def action_group(name: Word, fields: Mapping[str, Item]) -> Group:
    """A classical action with those of the fields that such an action has."""
    known = (":parameters", ":precondition", ":effect")
    parts = ((Word(key, name.span), fields[key]) for key in known if key in fields)
    return Group((Word(":action", name.span), name, *chain.from_iterable(parts)), name.span)


def without_time(
    domain: Source, problem: Source, instant: Mapping[str, Group]
) -> tuple[str, str] | None:
    """A temporal domain and its problem as classical PDDL: durative actions become those in
    ``instant``, by name, and the numbers at the start and the metric go. ``None`` where nothing is
    durative.

    A plan of the pair, its actions one after the other, is a plan of the temporal problem.
    """
    if not instant:
        return None
    return _classical(domain, instant), _classical(problem, instant)


def _classical(source: Source, instant: Mapping[str, Group]) -> str:
    """A file that was read without an error before."""
    (whole,) = read_items(source, Faults())
    assert isinstance(whole, Group)
    parts = [_untimed_part(one, instant) for one in whole.items if isinstance(one, Group)]
    texts = (show(one) for one in parts if one.head not in _LEFT_OUT)
    return "\n".join(("(define", *texts, ")\n"))


_LEFT_OUT = (":functions", ":metric")


def _untimed_part(item: Group, instant: Mapping[str, Group]) -> Group:
    name = item.items[1] if len(item.items) > 1 else None
    if item.head == ":durative-action" and isinstance(name, Word):
        return instant[name.key]
    if item.head == ":requirements":
        return Group((item.items[0], Word(":adl", item.span)), item.span)
    if item.head == ":init":
        facts = (one for one in item.items if not (isinstance(one, Group) and one.head == "="))
        return Group(tuple(facts), item.span)
    return item


def binders(item: Group) -> Iterator[Group]:
    """The lists of variables in an action: its parameters, and those of its quantifiers."""
    for word, part in pairwise(item.items):
        if show(word).lower() in (":parameters", "forall", "exists") and isinstance(part, Group):
            yield part
    for part in item.items:
        if isinstance(part, Group):
            yield from binders(part)


def _list(span: Span, head: str, *items: Item) -> Group:
    return Group((Word(head, span), *items), span)


def _same(fact: Group, effect: Item, span: Span) -> Group:
    """Return the condition that two facts of one predicate have equal arguments."""
    args = effect.items[1:] if isinstance(effect, Group) else ()
    pairs = zip(fact.items[1:], args, strict=False)
    tests = (_list(span, "=", a, b) for a, b in pairs if show(a).lower() != show(b).lower())
    return _list(span, "and", *tests)


def words_of(item: Item) -> Iterator[str]:
    """The words in an item in small letters."""
    if isinstance(item, Word):
        yield item.key
    else:
        for part in item.items:
            yield from words_of(part)


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
