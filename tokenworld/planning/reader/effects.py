"""The effects of an action as the body of a `.tw` action (language.md §16).

A `.tw` body may not read a slot that it changed before (TW0403), while PDDL has no such rule: all
effects read the state before. So `body_lines` names with `let`, at the start of the body, a
condition or a value that an earlier effect changes, and puts a `forall` that reads such a slot
before the change. `told_order` notes where the written order is another one. If each of two loops
reads slots that the other changes, there is no such order: their reads are written with `was`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, assert_never, cast

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.planning.reader.expressions import NEGATIONS, Expressions, is_timed, show
from tokenworld.planning.reader.names import (
    ATOM,
    FRACTION,
    PAID,
    SUM,
    TOTAL_COST,
    UNARY,
    Locals,
    Phrase,
    joined,
)
from tokenworld.planning.reader.sexpr import Group, Item, Word

Line = tuple[str, Span]
"""A line of the `.tw` text and the place in the PDDL that it comes from."""

_Op = Literal["assign", "increase", "decrease", "scale-up", "scale-down"]
_SHARE = re.compile(r"(\d+(\.\d*)?|\.\d+|\d+/[1-9]\d*)\Z")
_CHANGES = frozenset(("assign", "increase", "decrease", "scale-up", "scale-down"))


@frozen
class Put:
    """A fact that becomes true or, if not ``positive``, false."""

    predicate: str
    args: tuple[Phrase, ...]
    positive: bool
    key: str
    span: Span


@frozen
class Change:
    """A function that gets a value."""

    op: _Op
    target: Phrase
    value: Phrase
    key: str
    span: Span

    @property
    def pays(self) -> bool:
        """Return whether the change increases ``total-cost``."""
        return self.key == PAID

    @property
    def scales(self) -> bool:
        """Return whether it reads the value that it changes."""
        return self.op in ("scale-up", "scale-down")


@frozen
class When:
    test: Phrase
    effects: tuple[Effect, ...]
    span: Span


@frozen
class Loop:
    """``forall``: ``head`` are its variables with their types, empty where it has none."""

    head: str
    names: Locals
    effects: tuple[Effect, ...]
    span: Span


@frozen
class Chance:
    """``probabilistic``: outcomes with their probabilities as written.

    The last may be empty, for the remaining probability.
    """

    outcomes: tuple[tuple[str, tuple[Effect, ...]], ...]
    span: Span

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects of all outcomes."""
        return tuple(one for _, effects in self.outcomes for one in effects)


Effect = Put | Change | When | Loop | Chance


class Effects(Expressions):
    """Reads effects; nested conjunctions are joined, for no meaning hangs on them."""

    def effects(self, item: Item, names: Locals) -> tuple[Effect, ...]:
        """The effects of an item."""
        if isinstance(item, Word):
            message = f"`{item.text}` stands where an effect should be."
            hint = "Write `(not (…))`." if item.key in NEGATIONS else f"Write `({item.text})`."
            raise self.faults.unexpected(message, item.span, hint)
        if not item.items:
            return ()
        if item.head == "and":
            return tuple(one for part in item.items[1:] for one in self.effects(part, names))
        return (self._effect(item, names),)

    def _effect(self, item: Group, names: Locals) -> Effect:
        match item.head:
            case "not":
                (part,) = self.exactly(item, 1, "a fact")
                return self.put(part, names, positive=False)
            case "when":
                condition, body = self.exactly(item, 2, "a condition and an effect")
                test = self.condition(condition, names)
                return When(test, self.effects(body, names), item.span)
            case "forall":
                params, body = self.exactly(item, 2, "variables and an effect")
                bound = self.params(params, item.span)
                self.symbols.check_typed(bound, "variable", self.faults)
                inner = names.bind(bound)
                head = self.spelling.binders(bound, inner)
                return Loop(head, inner, self.effects(body, inner), item.span)
            case op if op in _CHANGES:
                return self._change(item, cast("_Op", op), names)
            case "probabilistic":
                return self._chance(item, names)
            case "oneof" | "one-of":
                hint = "Import the outcomes as actions of their own, or give them probabilities."
                raise self.faults.unsupported(f"`{item.head}`", item.span, hint)
            case "at" | "over" if is_timed(item):
                hint = "Use an action without duration."
                raise self.faults.unsupported("A timed effect", item.span, hint)
            case "or" | "imply" | "exists" | "=":
                message = f"`{item.head}` is no effect."
                hint = "Name each change, or move the condition into `when`."
                raise self.faults.unexpected(message, item.span, hint)
            case _:
                return self.put(item, names, positive=True)

    def put(self, item: Item, names: Locals, *, positive: bool) -> Put:
        """A fact that is set."""
        head, args = self.atom(item, names)
        text = self.changed(head, args, item.span).text
        return Put(text.partition("(")[0], args, positive, head.key, item.span)

    def _chance(self, item: Group, names: Locals) -> Chance:
        parts, whole = item.items[1:], Fraction(0)
        if not parts or len(parts) % 2:
            message = "`probabilistic` takes pairs of a probability and an effect."
            hint = "Write `(probabilistic 0.25 effect …)`."
            raise self.faults.unexpected(message, item.span, hint)
        outcomes: list[tuple[str, tuple[Effect, ...]]] = []
        for share, effect in zip(parts[::2], parts[1::2], strict=True):
            weight = self._probability(share)
            whole += weight
            text = show(share) if weight != 1 else ""
            outcomes.append((text.replace("/", " / "), self.effects(effect, names)))
        if whole > 1:
            what = "The probabilities of these outcomes sum to more than 1."
            raise self.faults.unexpected(what, item.span, "Lower one of them.")
        if whole == 1:  # the rest is the last outcome
            outcomes[-1] = ("", outcomes[-1][1])
        return Chance(tuple(outcomes), item.span)

    def _probability(self, item: Item) -> Fraction:
        if isinstance(item, Word) and _SHARE.match(item.text):
            found = Fraction(item.text)
            if found <= 1:
                return found
        message = f"`{show(item)[:40]}` is no probability."
        hint = "Write a number from 0 to 1, such as `0.25` or `1/3`."
        raise self.faults.unexpected(message, item.span, hint)

    def _change(self, item: Group, op: _Op, names: Locals) -> Change:
        target, value = self.exactly(item, 2, "a function and a value")
        left = self.applied(target, names, paid=True)
        right = self.term(value, names)
        change = Change(op, left, right, next(iter(left.numbers), PAID), item.span)
        divided = frozenset((FRACTION,) if op == "scale-down" else ())
        self.groups.append(left.numbers | right.numbers | divided)
        return change


# ---- what actions pay ----------------------------------------------------------------------------


def is_counted(item: Item, chance: bool = False) -> bool:
    """Return whether a rule does more with ``total-cost`` than to increase it: such a domain
    counts with it. ``chance``: the item is an outcome of `probabilistic`, which no cost can
    depend on."""
    if isinstance(item, Word):
        return item.key == TOTAL_COST
    parts, inside = item.items, chance or item.head == "probabilistic"
    if item.head == "increase" and len(parts) == 3 and not chance:
        target = parts[1]
        if isinstance(target, Group) and len(target.items) == 1:
            target = target.items[0]
        if isinstance(target, Word) and target.key == TOTAL_COST:
            parts = parts[2:]
    return any(is_counted(one, inside) for one in parts)


def paid(effects: Sequence[Effect]) -> Phrase | None:
    """Return the term that effects add to ``total-cost``, or ``None``.

    An increase under a condition is a term with `if`, one for all of some objects a `sum`.
    """
    always = (one.value for one in effects if isinstance(one, Change) and one.pays)
    found = (*always, *_partly(effects))
    if len(found) < 2:
        return found[0] if found else None
    return joined("+", SUM, found, found[0].span, SUM, SUM + 1)


def _partly(effects: Sequence[Effect]) -> Iterator[Phrase]:
    """Yield the increases of ``total-cost`` under a condition or for each of some objects."""
    for effect in effects:
        match effect:
            case When(test=test, effects=inner):
                if one := paid(inner):
                    text, reads = f"(if {test.text} then {one.text} else 0)", one.reads | test.reads
                    yield Phrase(text, ATOM, one.span, reads, one.numbers)
            case Loop(head=head, effects=inner):
                if one := paid(inner):
                    text = f"sum({one.text} for {head})" if head else f"({one.text})"
                    yield Phrase(text, ATOM, one.span, one.reads, one.numbers)
            case Put() | Chance() | Change():
                pass
            case _:
                assert_never(effect)


def unpaid(effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """Return the effects without the increases of ``total-cost``."""
    return tuple(one for effect in effects for one in _unpaid(effect))


def _unpaid(effect: Effect) -> Iterator[Effect]:
    match effect:
        case When(effects=inner) | Loop(effects=inner):
            if (kept := unpaid(inner)) or not inner:
                yield replace(effect, effects=kept)
        case Put() | Chance():
            yield effect
        case Change():
            if not effect.pays:
                yield effect
        case _:
            assert_never(effect)


def paid_items(effect: Item) -> Iterator[Item]:
    """Yield the parts of an effect that increase ``total-cost``, as written."""
    if not isinstance(effect, Group) or not effect.items:
        return
    match effect.head:
        case "and":
            for part in effect.items[1:]:
                yield from paid_items(part)
        case "when" | "forall":
            for one in paid_items(effect.items[-1]):
                yield Group((*effect.items[:-1], one), effect.span)
        case "increase" if len(effect.items) == 3:
            target = effect.items[1]
            if (target.head if isinstance(target, Group) else target.key) == TOTAL_COST:
                yield effect


# ---- what effects read and write ----------------------------------------------------------------


def reads(effect: Effect) -> frozenset[str]:
    """The predicates and functions that an effect depends on."""
    match effect:
        case When(test=test, effects=effects):
            return test.reads.union(*map(reads, effects))
        case Loop(effects=effects) | Chance(effects=effects):
            return frozenset[str]().union(*map(reads, effects))
        case Change(value=value):
            return value.reads | (frozenset((effect.key,)) if effect.scales else frozenset())
        case Put(args=args):
            return frozenset[str]().union(*(arg.reads for arg in args))
        case _:
            assert_never(effect)


def writes(effect: Effect) -> frozenset[str]:
    """The predicates and functions that an effect changes."""
    match effect:
        case Put(key=key) | Change(key=key):
            return frozenset((key,))
        case When(effects=effects) | Loop(effects=effects) | Chance(effects=effects):
            return frozenset[str]().union(*map(writes, effects))
        case _:
            assert_never(effect)


# ---- order --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Placed:
    """An effect of a `.tw` body, and the written effects that it is made of.

    ``sources`` are their places among the effects as written, from 0; with several, the effect is a
    loop, and ``sizes`` says how many effects of its body came from each.
    """

    effect: Effect
    sources: tuple[int, ...]
    sizes: tuple[int, ...]


def _ordered(effects: Sequence[Effect]) -> tuple[_Placed, ...]:
    """The effects, in which loops that read a changed value are moved before the change."""
    early: list[_Placed] = []
    rest: list[_Placed] = []
    changed: set[str] = set()
    for index, effect in enumerate(effects):
        size = len(effect.effects) if isinstance(effect, Loop) else 1
        placed = _Placed(effect, (index,), (size,))
        if not isinstance(effect, Loop) or not changed & reads(effect):
            rest.append(placed)
        elif not _joined(effect, placed, early) and not _joined(effect, placed, rest):
            early.append(placed)
        changed |= writes(effect)
    return (*early, *rest)


def _joined(loop: Loop, placed: _Placed, listed: list[_Placed]) -> bool:
    """Join the loop to one that reads its writes and runs over the same variables."""
    written = writes(loop)
    for index, one in enumerate(listed):
        other = one.effect
        if isinstance(other, Loop) and written & reads(other) and loop.head == other.head:
            both = Loop(other.head, other.names, (*other.effects, *loop.effects), other.span)
            sources, sizes = (*one.sources, *placed.sources), (*one.sizes, *placed.sizes)
            listed[index] = _Placed(both, sources, sizes)
            return True
    return False


def told_order(effects: Sequence[Effect]) -> str:
    """The order of an action's effects in its body, as a note; empty if it is the written order.

    ``2 1 3``: the first one written is second here. ``1.1 2 1.2-3``: the loop that is first here
    has the first one as its effect 1, and the last one as its effects 2 and 3. It is empty too
    where the parts are unknown: a joined loop is rearranged inside, or a loop has no variables.
    """
    placed = _ordered(effects)
    if any(_is_unclear(one, one.effect) for one in placed if isinstance(one.effect, Loop)):
        return ""
    found: dict[int, str] = {}
    for number, one in enumerate(placed, 1):
        found |= zip(one.sources, _parts(number, one), strict=True)
    words = [found[source] for source in sorted(found)]
    plain = [str(number) for number in range(1, len(words) + 1)]
    return "" if words == plain else " ".join(words)


def _is_unclear(placed: _Placed, loop: Loop) -> bool:
    if not loop.head:
        return True
    inner = tuple(one.effect for one in _ordered(loop.effects))
    return len(placed.sources) > 1 and inner != loop.effects


def _parts(number: int, placed: _Placed) -> Iterator[str]:
    """The names of the sources of one effect in `told_order`."""
    if len(placed.sources) == 1:
        yield str(number)
        return
    start = 1
    for size in placed.sizes:
        end = start + size - 1
        yield f"{number}.{start}-{end}" if size > 1 else f"{number}.{start}"
        start = end + 1


# ---- bodies ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Frame:
    """A body, or one round of a loop: the slots changed so far and the `let` lines."""

    changed: set[str] = field(default_factory=set)
    lets: list[Line] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def named(self, text: str, stale: frozenset[str], span: Span, names: Locals) -> str:
        """Return the text, or the name of a `let` for it if it reads changed slots."""
        if not self.changed & stale:
            return text
        name = names.fresh("before", self.names)
        self.names.append(name)
        self.lets.append((f"let {name} = {text}", span))
        return name


def body_lines(effects: Sequence[Effect], names: Locals, indent: str) -> list[Line]:
    """The changes of an action; its costs are written elsewhere."""
    return _framed(effects, names, indent, _Frame())


def _framed(effects: Sequence[Effect], names: Locals, indent: str, frame: _Frame) -> list[Line]:
    found = _block([one.effect for one in _ordered(effects)], names, indent, frame)
    return [*((indent + text, span) for text, span in frame.lets), *found]


def _block(effects: Sequence[Effect], names: Locals, indent: str, frame: _Frame) -> list[Line]:
    found: list[Line] = []
    for effect in effects:
        found += _lines(effect, names, indent, frame)
        frame.changed |= writes(effect)
    return found


def _lines(effect: Effect, names: Locals, indent: str, frame: _Frame) -> list[Line]:
    match effect:
        case Put(predicate=predicate, args=args, positive=positive, span=span):
            given = (frame.named(one.text, one.reads, one.span, names) for one in args)
            how = "add" if positive else "remove"
            return [(f"{indent}{how} {predicate}({', '.join(given)})", span)]
        case Change(value=value, span=span):
            tight = UNARY if effect.scales else 0
            text = frame.named(value.within(tight), value.reads, span, names)
            old = effect.target.text
            if effect.scales:
                old = frame.named(old, effect.target.reads | {effect.key}, span, names)
            return [(indent + _change(effect, old, text), span)]
        case When(test=test, effects=effects, span=span):
            text = frame.named(test.text, test.reads, test.span, names)
            inner = _block(effects, names, indent + "  ", frame)
            return [(f"{indent}if {text} {{", span), *inner, (indent + "}", span)]
        case Chance():
            return _chances(effect, names, indent, frame)
        case Loop():
            return _loop(effect, names, indent, frame)
        case _:
            assert_never(effect)


def _chances(chance: Chance, names: Locals, indent: str, frame: _Frame) -> list[Line]:
    """A body for each outcome; one that is sure is no draw."""
    found: list[Line] = []
    for share, effects in chance.outcomes:
        if not share and not found:
            return _block(effects, names, indent, frame)
        word = "else" if not share else f"or {share}" if found else f"chance {share}"
        found.append((f"{indent}{'} ' if found else ''}{word} {{", chance.span))
        found += _block(effects, names, indent + "  ", frame)
    return [*found, (indent + "}", chance.span)]


def _loop(loop: Loop, names: Locals, indent: str, frame: _Frame) -> list[Line]:
    """A loop over one `when` asks its condition before the first round: ``where``."""
    inside = _Frame(names=frame.names)
    if not loop.head:
        return _framed(loop.effects, names, indent, inside)
    head, effects = loop.head, loop.effects
    if len(effects) == 1 and isinstance(effects[0], When):
        head += f" where {effects[0].test.text}"
        effects = effects[0].effects
    inner = _framed(effects, loop.names, indent + "  ", inside)
    return [(f"{indent}for {head} {{", loop.span), *inner, (indent + "}", loop.span)]


def _change(change: Change, old: str, value: str) -> str:
    """``f(x) += 1`` and the other updates; ``old`` is the value before."""
    target = change.target.text
    match change.op:
        case "assign":
            return f"{target} = {value}"
        case "increase":
            return f"{target} += {value}"
        case "decrease":
            return f"{target} -= {value}"
        case "scale-up":
            return f"{target} = {old} * {value}"
        case "scale-down":
            return f"{target} = {old} / {value}"
        case _:
            assert_never(change.op)
