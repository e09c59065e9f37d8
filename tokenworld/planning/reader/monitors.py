"""Constraints and preferences of a problem as rules (language.md §16, §19).

They are said in the words of `.tw` about all states up to now, which the checker compiles to
monitors. The goal asks the state after the last action. A constraint that a state breaks for good
is also asked before: a `require` refuses to go on from such a state, in actions that change what
the constraint reads. So no phase and no other step is needed.

What violated preferences cost is paid at the end, by actions that settle them one after the other
(Keyder and Geffner 2009), a few at a time; one in a precondition is paid by its action.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import assert_never

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.planning.pddl.words import LABEL
from tokenworld.planning.reader.effects import Change, Line, writes
from tokenworld.planning.reader.files import Action, Domain, Problem
from tokenworld.planning.reader.measures import Measure, Unmeasured
from tokenworld.planning.reader.names import (
    AND,
    ATOM,
    COMPARE,
    NOT,
    OR,
    SUM,
    TOTAL_COST,
    UNARY,
    Phrase,
    joined,
    word,
)
from tokenworld.planning.reader.trajectories import AllOf, Bound, ForAll, Modal, Trajectory, Wanted

_MOST_SUMS = 8
"""The largest number of costs of one settling action, because encodings list all sums."""
_MOST_SCALE = 10**9
_MOST_DECIMALS = 3
"""The largest number of decimals of a duration; more are rounded, to bound the ticks."""


_Watched = tuple[frozenset[str] | None, Line]


@frozen
class Timer:
    """For how long ``then`` is owed, since the first state with ``first`` after the last ``then``.

    ``slot`` is 0 where nothing is owed, else 1 more than the ticks that have passed; more than
    ``most`` ticks are counted as one more. ``bound`` are the variables.
    """

    slot: str
    bound: str
    first: Phrase
    then: Phrase
    most: int

    @property
    def kept(self) -> str:
        """That nothing is owed in this state."""
        nothing = f"{self.slot} == 0 and {_negated(self.first).within(NOT)}"
        return f"{self.slot} <= {self.most + 1} and {self.then.within(NOT)} or {nothing}"

    @property
    def fine(self) -> str:
        """That an action may follow, which takes a tick at least."""
        last = f"{self.slot} == {self.most + 1} and {self.then.within(NOT)}"
        return f"{self.slot} <= {self.most} or {last}"

    def counted(self, took: str) -> str:
        """The change to it in an action that takes so many ticks."""
        after = str(1 + int(took)) if took.isdigit() else f"1 + {took}"
        owed = f"if {self.slot} > 0 then {self.slot} + {took}"
        begun = f"else if {self.first.text} then {after} else 0"
        met = f"if {self.slot} <= {self.most + 1} and {self.then.within(NOT)} then 0 else"
        change = f"{self.slot} = ({met} {owed} {begun})"
        return f"for {self.bound} {{ {change} }}" if self.bound else change


@dataclass(slots=True)
class Monitors:
    """The additions to the rules for the constraints and preferences of a problem.

    ``declared`` are fluents; ``asked`` are lines of the actions that change one of these predicates
    and functions, or of all actions (``None``); ``ends`` are conjuncts of the goal, ``settling``
    actions; ``clock`` counts ticks, of which ``ticks`` are a unit of time, and so do ``timers``.
    ``made`` are the names of all these. With a measure, ``paid`` are the costs of the actions, and
    a plan of cost c has the metric ``sign * (offset + c / scale)``; ``unmeasured`` says why there
    is none.
    """

    declared: list[Line] = field(default_factory=list)
    asked: list[_Watched] = field(default_factory=list)
    ends: list[Phrase] = field(default_factory=list)
    settling: list[list[Line]] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    clock: str = ""
    timers: list[Timer] = field(default_factory=list)
    ticks: int = 1
    takes: dict[str, str] = field(default_factory=dict)
    goal: Phrase | None = None
    paid: dict[str, str] | None = None
    unmeasured: str = ""
    scale: int = 1
    sign: int = 1
    offset: Fraction = Fraction(0)

    def lines(self, action: Action) -> Iterator[Line]:
        """Yield the lines to add to an action, before its own changes."""
        changed = frozenset[str]().union(*map(writes, action.effects))
        for watched, line in self.asked:
            if watched is None or watched & changed:
                yield line
        took = self.takes.get(action.name.key, str(self.ticks))
        for one in self.timers:
            yield f"  {one.counted(took)}", action.span
        if self.clock:
            yield f"  {self.clock}() += {took}", action.span


def monitors(
    domain: Domain,
    problems: tuple[Problem, ...],
    measure: Measure | None,
    members: Callable[[Bound], int],
    real: frozenset[str],
) -> Monitors:
    """The rules of a problem's constraints, and of its preferences with a ``measure``.

    Only costs, which need just decimals, may be those of several problems.
    ``members`` counts the values of a variable; ``real`` are the functions that are not whole.
    Raises `Unmeasured` if the actions cannot pay the metric as costs.
    """
    return _Writer(domain, problems, members, real).all(measure)


class _Writer:
    """Writes the monitors of one problem, each under a name of its own."""

    def __init__(
        self,
        domain: Domain,
        problems: tuple[Problem, ...],
        members: Callable[[Bound], int],
        real: frozenset[str],
    ) -> None:
        symbols, problem = domain.symbols, problems[0]
        self._domain, self._problem, self._members = domain, problem, members
        self._values = [one for each in problems for one in each.init if isinstance(one, Change)]
        self._real = real
        effects = [one for action in domain.actions for one in action.effects]
        self._changed = frozenset[str]().union(*map(writes, effects))
        self._taken = {*symbols.predicates, *symbols.functions, *problem.every}
        self._taken |= {one.name.key for one in domain.actions}
        self._until = 0
        self._feeds = _feeds(domain)
        self.found = Monitors()

    def all(self, measure: Measure | None) -> Monitors:
        self._count_ticks()
        hard = [one for one in self._wanted() if one.name is None]
        for one in hard:
            self.found.ends.append(_closed(self._kept(one.of, one.scope, one), one.scope))
        if measure is not None:
            self._measure(measure)
        else:
            self._settle(())
        self._count_time()
        return self.found

    def _wanted(self) -> tuple[Wanted, ...]:
        return (*self._domain.constraints, *self._problem.constraints)

    # ---- names and lines --------------------------------------------------------------------

    def _fresh(self, wanted: str) -> str:
        name, number = wanted, 2
        while name.lower() in self._taken:
            name, number = f"{wanted}-{number}", number + 1
        self._taken.add(name.lower())
        self.found.made.append(name)
        return word(name)

    def _watched(self, of: Modal) -> frozenset[str]:
        """The predicates and functions that a word about time depends on."""
        reads = frozenset[str]().union(*(one.reads for one in of.conditions))
        return reads.union(*(self._feeds.get(one, frozenset()) for one in reads))

    # ---- trajectories -----------------------------------------------------------------------

    def _kept(self, of: Trajectory, scope: tuple[Bound, ...], wanted: Wanted) -> Phrase:
        """Return the condition on the state after the last action that it is kept."""
        match of:
            case AllOf(parts=parts):
                kept = [self._kept(one, scope, wanted) for one in parts]
                return _conjoined(kept, of.span)
            case ForAll(bound=bound, part=part):
                return _closed(self._kept(part, (*scope, *bound), wanted), bound)
            case Modal():
                return self._modal(of, scope, wanted)
            case _:
                assert_never(of)

    def _modal(self, of: Modal, scope: tuple[Bound, ...], wanted: Wanted) -> Phrase:
        match of.kind:
            case "at end":
                return of.conditions[0]
            case "within":
                (by,) = map(self._by, of.times)
                parts = (*of.conditions, self._now(f"<= {by}", of.span))
                return _over_time("sometime", (_conjoined(parts, of.span),), of.span)
            case "hold-after":
                (by,) = map(self._by, of.times)
                parts = (self._now(f"<= {by}", of.span), *of.conditions)
                late = _over_time("always", (_either(parts, of.span),), of.span)
                return _conjoined((late, *of.conditions), of.span)
            case "hold-during":
                return self._held(of)
            case "always-within":
                return self._timed(of, scope, wanted)
            case "sometime" | "sometime-after":
                return _over_time(of.kind, of.conditions, of.span)
            case "always" if wanted.name is None:
                self._ask(of, of.conditions[0], scope)
                return of.conditions[0]
            case "always" | "at-most-once" | "sometime-before":
                kept = _over_time(of.kind, of.conditions, of.span)
                if wanted.name is None:
                    self._ask(of, kept, scope)
                return kept
            case _:
                assert_never(of.kind)

    def _ask(
        self, of: Modal, fine: Phrase, scope: tuple[Bound, ...], *, always: bool = False
    ) -> None:
        """Refuse actions after a state that breaks a constraint for good: those that change a
        fluent of the constraint, or with ``always`` all."""
        line = f"  require {_closed(fine, scope).text} else {LABEL}"
        self.found.asked.append((None if always else self._watched(of), (line, of.span)))

    # ---- time -------------------------------------------------------------------------------

    def _count_ticks(self) -> None:
        """Let a tick be so short that all durations are whole numbers of ticks."""
        timed = [(one, one.takes) for one in self._domain.actions if one.takes is not None]
        decimals = max((self._decimals_of_time(took) for _, took in timed), default=0)
        self.found.ticks = 10 ** min(decimals, _MOST_DECIMALS)
        for action, took in timed:
            (text,) = self._whole(Fraction(self.found.ticks), took)
            self.found.takes[action.name.key] = text

    def _decimals_of_time(self, took: Phrase) -> int:
        """Return the decimals of a duration; the maximum if a division never terminates."""
        over = [one.partition("(")[0].strip("`").lower() for one in _DIVISORS.findall(took.text)]
        values = [one.value.text for one in self._values if one.key in over]
        found = [_decimals_of_quotient(one) for one in (*filter(_is_decimal, over), *values)]
        more = [_MOST_DECIMALS if one is None else one for one in found]
        return self._factor_decimals(took) + max(more, default=_MOST_DECIMALS if over else 0)

    def _timed(self, of: Modal, scope: tuple[Bound, ...], wanted: Wanted) -> Phrase:
        """That after each state with a condition the other holds in time: a timer counts."""
        (first, then), (time,) = of.conditions, of.times
        most, name = math.floor(time * self.found.ticks), self._fresh("waited")
        bound, args = (", ".join(one) for one in ([x.text for x in scope], [x.name for x in scope]))
        timer = Timer(f"{name}({args})", bound, first, then, most)
        self.found.timers.append(timer)
        line = f"function {name}({bound}): 0 to {most + 2} clamped"
        self.found.declared.append((line, of.span))
        reads = first.reads | then.reads
        if wanted.name is None:
            self._ask(of, Phrase(timer.fine, OR, of.span, reads), scope, always=True)
        return Phrase(timer.kept, OR, of.span, reads)

    def _by(self, time: Fraction) -> int:
        """The last tick of a time."""
        self.found.clock = self.found.clock or self._fresh("elapsed")
        until = math.floor(time * self.found.ticks)
        self._until = max(self._until, until)
        return until

    def _now(self, test: str, span: Span) -> Phrase:
        return Phrase(f"{self.found.clock}() {test}", COMPARE, span)

    def _held(self, of: Modal) -> Phrase:
        """That a condition holds in the states that begin from one time on and before another, and
        in the state that is there at the first time."""
        (held,), (first, last) = of.conditions, of.times
        begins, ends = self._by(first), self._by(last)
        early = self._now(f"< {begins + (first * self.found.ticks > begins)}", of.span)
        late = self._now(f">= {ends + (last * self.found.ticks > ends)}", of.span)
        during = _over_time("always", (_either((early, late, held), of.span),), of.span)
        until = self._now(f"<= {begins}", of.span)
        sides = (_negated(held), held)
        parts = tuple(_conjoined((until, one), of.span) for one in sides)
        return _conjoined((during, _over_time("sometime-after", parts, of.span)), of.span)

    def _count_time(self) -> None:
        """Count the ticks of all actions, up to the first one after all deadlines."""
        if self.found.clock:
            span = self._problem.name.span
            high = f"0 to {self._until + 1} clamped"
            self.found.declared.append((f"function {self.found.clock}(): {high}", span))

    # ---- what plans pay ---------------------------------------------------------------------

    def _measure(self, measure: Measure) -> None:
        """Add the metric to the costs of actions, and the preferences to the settling ones."""
        if self._domain.symbols.counted:
            functions = {**measure.functions, TOTAL_COST: measure.cost}
            kept = {name: one for name, one in functions.items() if one}
            measure = replace(measure, cost=Fraction(0), functions=kept)
        found = self.found
        found.sign, found.offset = measure.sign, measure.constant
        self._set_scale(measure)
        soft = [one for one in self._wanted() if one.name is not None]
        soft += self._problem.preferences
        self._refuse_unknown(measure, soft)
        paid = (self._settled(one, measure.preferences.get(one.name or "", 0)) for one in soft)
        terms = [term for one in paid for term in one]
        self._settle(list(_chunks(terms)))
        found.paid = {one.name.key: self._paid(one, measure) for one in self._domain.actions}

    def _refuse_unknown(self, measure: Measure, soft: Sequence[Wanted]) -> None:
        asked = [one for action in self._domain.actions for one in action.preferences]
        known = {one.name for one in (*soft, *asked)}
        for name in measure.preferences:
            if name not in known:
                raise Unmeasured(f"there is no preference `{name}`")
        for one in asked:
            if measure.preferences.get(one.name or "", 0) < 0:
                raise Unmeasured(f"a plan would be better the more often it violates `{one.name}`")

    def _set_scale(self, measure: Measure) -> None:
        """Costs are whole numbers: find a unit that divides every payment."""
        parts = [measure.cost, measure.time / self.found.ticks, *measure.preferences.values()]
        for name, factor in measure.functions.items():
            parts += (factor * one for one in self._amounts(name))
            self.found.offset += factor * self._start(name)
        if measure.cost:
            amounts = (one.cost for one in self._domain.actions if one.cost is not None)
            parts += (measure.cost * Fraction(1, 10 ** self._decimals(one)) for one in amounts)
        self.found.scale = math.lcm(*(one.denominator for one in parts))
        if self.found.scale > _MOST_SCALE:
            raise Unmeasured("its numbers have too many decimals")

    def _amounts(self, name: str) -> Iterator[Fraction]:
        """Yield the increases of a function, in units of the last decimal."""
        signature = self._domain.symbols.functions.get(name)
        if signature is None or signature.params or signature.result is not None:
            raise Unmeasured(f"there is no number `{name}` without arguments")
        for action in self._domain.actions:
            for effect in action.effects:
                if name not in writes(effect):
                    continue
                if not isinstance(effect, Change) or effect.op != "increase":
                    raise Unmeasured(f"`{name}` is not only increased, or under a condition")
                yield Fraction(1, 10 ** self._decimals(effect.value))

    def _start(self, name: str) -> Fraction:
        values = [one.value.text for one in self._values if one.key == name]
        return Fraction(values[-1]) if values else Fraction(0)

    def _decimals(self, amount: Phrase) -> int:
        """Return the largest number of decimals that an amount can have."""
        quotients = [_decimals_of_quotient(one) for one in _DIVISORS.findall(amount.text)]
        if None in quotients:
            raise Unmeasured(f"`{amount.text}` is a division")
        if amount.numbers & self._real & self._changed:
            raise Unmeasured(f"`{amount.text}` depends on real numbers that change")
        return self._factor_decimals(amount) + sum(one or 0 for one in quotients)

    def _factor_decimals(self, amount: Phrase) -> int:
        """The same of its factors, as they are at the start."""
        texts = [amount.text]
        texts += (one.value.text for one in self._values if one.key in amount.numbers)
        shown = (found.rstrip("0") for text in texts for found in _DECIMALS.findall(text))
        return max(map(len, shown), default=0) * (1 + amount.text.count(" * "))

    def _settled(self, one: Wanted, weight: Fraction | int) -> Iterator[tuple[str, int]]:
        """Yield the costs of a preference at the end, with the number of its different amounts.

        A preference of negative weight costs each time that it is kept.
        """
        if not weight:
            return
        kept = self._kept(one.of, one.scope, one)
        times = math.prod(map(self._members, one.scope))
        if weight < 0:
            self.found.offset += weight * times
        yield self._penalty(one, kept, Fraction(weight)), times + 1

    def _penalty(self, one: Wanted, kept: Phrase, weight: Fraction) -> str:
        """Return the cost of each violation, or of each time that it is kept."""
        units = abs(weight) * self.found.scale
        if not one.scope:
            both = (0, units) if weight > 0 else (units, 0)
            return f"(if {kept.text} then {both[0]} else {both[1]})"
        counted = _negated(kept) if weight > 0 else kept
        bound = ", ".join(each.text for each in one.scope)
        text = f"count({one.scope[0].name} for {bound} where {counted.text})"
        return text if units == 1 else f"{units} * {text}"

    def _settle(self, chunks: Sequence[Sequence[str]]) -> None:
        found, goal = self.found, self._problem.goal
        every = (*goal.conjuncts, *found.ends)
        if not chunks:
            found.goal = _conjoined(every, goal.span) if found.ends else None
            return
        stage = self._fresh("settled")
        found.declared.append((f"function {stage}(): 0 to {len(chunks)}", goal.span))
        found.asked.append((None, (f"  require {stage}() == 0 else {LABEL}", goal.span)))
        for number, paid in enumerate(chunks):
            head = f"action {self._fresh(f'settle-{number + 1}')}() cost {' + '.join(paid)} {{"
            lines = [head, f"  require {stage}() == {number}"]
            lines += [f"  require {one.text}" for one in every if number == 0]
            lines += [f"  {stage}() = {number + 1}", "}"]
            found.settling.append([(line, goal.span) for line in lines])
        found.goal = Phrase(f"{stage}() == {len(chunks)}", COMPARE, goal.span)

    def _paid(self, action: Action, measure: Measure) -> str:
        """The cost of an action; empty where it has none."""
        parts = [] if action.cost is None else list(self._times(measure.cost, action.cost))
        for effect in action.effects:
            if isinstance(effect, Change) and effect.key in measure.functions:
                parts += self._times(measure.functions[effect.key], effect.value)
        one = Phrase("1", ATOM, action.span)
        parts += self._times(measure.time, action.takes or one)
        for wanted in action.preferences:
            weight = measure.preferences.get(wanted.name or "", Fraction(0))
            if weight:
                assert isinstance(wanted.of, Modal)
                parts.append(self._penalty(wanted, wanted.of.conditions[0], weight))
        return " + ".join(parts)

    def _times(self, factor: Fraction, amount: Phrase) -> Iterator[str]:
        return self._whole(factor * self.found.scale, amount)

    def _whole(self, units: Fraction, amount: Phrase) -> Iterator[str]:
        """So many units of an amount, as a whole number."""
        if not units:
            return
        text = amount.within(SUM + 1) if units == 1 else f"{units} * {amount.within(UNARY)}"
        inexact = amount.numbers & self._real or " / " in text
        yield f"round({text}, 0)" if inexact else text


_DECIMALS = re.compile(r"\d\.(\d+)")
_DIVISORS = re.compile(r" / (\S+?)(?=[\s),]|$)")


def _is_decimal(text: str) -> bool:
    return re.fullmatch(r"[\d.]*\d", text) is not None


def _decimals_of_quotient(divisor: str) -> int | None:
    """The number of decimals that a division adds; ``None`` unless by a number such as 2.5."""
    number = Fraction(divisor) if _is_decimal(divisor) else Fraction(0)
    found = 1 / number if number else None
    digits = (one for one in range(_MOST_DIGITS) if found and (found * 10**one).denominator == 1)
    return next(digits, None)


_MOST_DIGITS = 9
"""Of the reciprocal of a divisor."""


def _chunks(terms: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    """The terms in order, a few at a time, so that the sums are few."""
    found: list[str] = []
    sums = 1
    for text, amounts in terms:
        if found and sums * amounts > _MOST_SUMS:
            yield found
            found, sums = [], 1
        found.append(text)
        sums *= amounts
    if found:
        yield found


def _feeds(domain: Domain) -> dict[str, frozenset[str]]:
    """All that each derived predicate depends on."""
    found: dict[str, frozenset[str]] = {}
    while True:
        before = dict(found)
        for one in domain.derived:
            key, reads = one.head.name.key, one.condition.reads
            more = reads.union(*(found.get(read, frozenset()) for read in reads))
            found[key] = found.get(key, frozenset()) | more
        if found == before:
            return found


# ---- conditions ---------------------------------------------------------------------------------


def _over_time(kind: str, conditions: Sequence[Phrase], span: Span) -> Phrase:
    """One of the words of `.tw` about all states up to now."""
    said = " then ".join(one.within(NOT) for one in conditions)
    reads = frozenset[str]().union(*(one.reads for one in conditions))
    return Phrase(f"{kind.replace('-', '_')} {said}", NOT, span, reads)


def _negated(one: Phrase) -> Phrase:
    if one.level == NOT and one.text.startswith("not "):
        return Phrase(one.text.removeprefix("not "), COMPARE, one.span, one.reads)
    return Phrase(f"not {one.within(NOT)}", NOT, one.span, one.reads)


def _conjoined(parts: Sequence[Phrase], span: Span) -> Phrase:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Phrase("true", ATOM, span, parts=())
    found = joined("and", AND, tuple(parts), span, NOT)
    return Phrase(found.text, AND, span, found.reads, parts=tuple(parts))


def _either(parts: Sequence[Phrase], span: Span) -> Phrase:
    return joined("or", OR, tuple(parts), span, AND)


def _closed(one: Phrase, scope: Sequence[Bound]) -> Phrase:
    """The condition for all values of the variables."""
    if not scope:
        return one
    return Phrase(f"all({one.text} for {', '.join(b.text for b in scope)})", ATOM, one.span)
