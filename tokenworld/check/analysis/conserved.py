"""The net change that a rule makes to a conserved amount (language.md §7).

An amount is a sum of stored numbers, each counted once: ``sum(v.level for v: Vessel)``, single
slots, and multiples of these. `outcomes` lists the ways through a body: which changes are made
together, and which conditions hold then. The net change of each way is a linear form over the state
before it: zero, provably not zero, or open.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from tokenworld import model as m
from tokenworld.check.analysis.aliasing import Knowledge, skeleton
from tokenworld.check.analysis.intervals import Facts, entry
from tokenworld.check.analysis.linear import Form, Interval, constant
from tokenworld.check.analysis.substitution import Rulebook, inlined
from tokenworld.check.analysis.uses import fluents_written
from tokenworld.check.typing.types import can_equal, is_subtype
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import is_optional, slot_writes, targets_of

_MOST = 64


@frozen
class Made:
    """One change, the loops around it, and the facts known there."""

    effect: m.Effect
    loops: tuple[Span, ...]
    facts: Facts


@frozen
class Outcome:
    """The changes of one way through a body; ``facts`` opens the names its terms use."""

    facts: Facts
    made: tuple[Made, ...] = ()


@frozen
class Work:
    """One body of a rule: an action's changes or its ``cancelled`` block, or a law's changes.

    ``guard`` is the rule whose conditions hold before the body, if there are any.
    """

    rule: str
    phase: str | None
    body: m.Body
    start: Facts
    guard: m.Action | m.Law | None = None
    params: tuple[m.Binder, ...] = ()

    @property
    def facts(self) -> Facts:
        """The facts known before the body, computed on first use."""
        return self.start if self.guard is None else entry(self.guard, self.start.words)


def works(rule: m.Action | m.Law, start: Facts) -> tuple[Work, ...]:
    """The bodies of a rule that may change the state of a running world."""
    if isinstance(rule, m.Law):
        return (Work(rule.name, rule.phase, rule.body, start, rule, rule.params),)
    return (
        Work(rule.name, None, rule.body, start, rule),
        Work(rule.name, None, rule.cancelled, start),
    )


def outcomes(body: m.Body, facts: Facts) -> tuple[Outcome, ...] | None:
    """The ways through a body that are not provably impossible; ``None`` for too many.

    A change in a loop stands once for all its rounds; each branch in a loop gives a way of its own.
    """
    found = _ways(body, (Outcome(facts),), ())
    if found is None:
        return None
    return tuple(one for one in found if not one.facts.impossible)


def _ways(
    body: m.Body, before: tuple[Outcome, ...], loops: tuple[Span, ...]
) -> tuple[Outcome, ...] | None:
    for effect in body:
        after: list[Outcome] = []
        for one in before:
            ways = _one(effect, one, loops)
            if ways is None:
                return None
            after += ways
        if len(after) > _MOST:
            return None
        before = tuple(after)
    return before


def _one(effect: m.Effect, at: Outcome, loops: tuple[Span, ...]) -> tuple[Outcome, ...] | None:
    facts = at.facts
    match effect:
        case m.Let():
            return (replace(at, facts=facts.let(effect)),)
        case m.If(condition=condition, then=then, otherwise=otherwise):
            first = _ways(then, (replace(at, facts=facts.given(condition)),), loops)
            second = _ways(otherwise, (replace(at, facts=facts.given(condition, False)),), loops)
            return None if first is None or second is None else (*first, *second)
        case m.Chance(branches=branches, otherwise=otherwise):
            return _either((*(branch.body for branch in branches), otherwise), at, loops)
        case m.Pick(body=body, otherwise=otherwise):
            return _either((body, otherwise), at, loops)
        case m.For(where=where, body=body):
            inside = _ways(body, (replace(at, facts=facts.given(where)),), (*loops, effect.span))
            return None if inside is None else (at, *(replace(one, facts=facts) for one in inside))
        case m.WriteEffect() | m.LifeEffect():
            return (replace(at, made=(*at.made, Made(effect, loops, facts))),)
        case m.OutputEffect():
            return (at,)
        case _:
            assert_never(effect)


def _either(
    bodies: tuple[m.Body, ...], at: Outcome, loops: tuple[Span, ...]
) -> tuple[Outcome, ...] | None:
    found: list[Outcome] = []
    for body in bodies:
        ways = _ways(body, (at,), loops)
        if ways is None:
            return None
        found += ways
    return tuple(found)


def touches(work: Work, fluents: frozenset[str], book: Rulebook) -> bool:
    """Return whether a body may change one of the fluents."""
    return bool(fluents_written([work.body], book) & fluents)


@frozen
class _Summand:
    """``factor`` times every slot of a fluent whose arguments fit: a type, or one constant.

    ``fluent`` is ``None`` where the objects themselves are counted, by the one type in ``args``.
    """

    factor: Fraction
    fluent: str | None
    args: tuple[m.ObjectType | m.EnumType | m.Term, ...]


@frozen
class Amount:
    """A conserved sum as summands."""

    summands: tuple[_Summand, ...]


def amount_of(term: m.Term, book: Rulebook) -> Amount | None:
    """A term as a sum of slots; ``None`` if it is something else."""
    found = _summands(term, Fraction(1), (), book)
    return None if found is None else Amount(found)


def _summands(
    term: m.Term, factor: Fraction, binders: tuple[m.Binder, ...], book: Rulebook
) -> tuple[_Summand, ...] | None:
    match term:
        case m.NumberLiteral():
            return () if not binders else _counted(factor * _value(term), binders)
        case m.Rescale(term=inner):
            return _summands(inner, factor, binders, book)
        case m.Negate(term=inner):
            return _summands(inner, -factor, binders, book)
        case m.Arithmetic(op="+" | "-", left=left, right=right):
            one = _summands(left, factor, binders, book)
            other = _summands(right, factor if term.op == "+" else -factor, binders, book)
            return None if one is None or other is None else (*one, *other)
        case m.Arithmetic(op="*", left=m.NumberLiteral() as left, right=right):
            return _summands(right, factor * _value(left), binders, book)
        case m.Arithmetic(op="*", left=left, right=m.NumberLiteral() as right):
            return _summands(left, factor * _value(right), binders, book)
        case m.DeriveCall():
            opened = inlined(term, book.derives)
            return None if opened is None else _summands(opened, factor, binders, book)
        case m.Fold(fold="sum", where=None, value=value) if value is not None:
            return _summands(value, factor, (*binders, *term.binders), book)
        case m.Fold(fold="count", where=None, value=None):
            return _counted(factor, (*binders, *term.binders))
        case m.Read():
            return _slots(term, factor, binders)
        case (
            m.LeafTerm() | m.InverseOf() | m.ClosureOf() | m.LogicTerm() | m.TestTerm()
            | m.Arithmetic() | m.ToReal() | m.CompositeTerm()
        ):  # fmt: skip
            return None
        case _:
            assert_never(term)


def _value(term: m.NumberLiteral) -> Fraction:
    assert isinstance(term.type, m.NumberType)
    return Fraction(term.value, 10**term.type.decimals)


def _counted(factor: Fraction, binders: tuple[m.Binder, ...]) -> tuple[_Summand, ...] | None:
    """Objects of one type, each counted once."""
    if len(binders) != 1 or not isinstance(binders[0].domain, m.TypeRange):
        return None
    kind = binders[0].domain.of
    return (_Summand(factor, None, (kind,)),) if isinstance(kind, m.ObjectType) else ()


def _slots(
    read: m.Read, factor: Fraction, binders: tuple[m.Binder, ...]
) -> tuple[_Summand, ...] | None:
    """The slots of a read under binders: each variable must be one argument, once."""
    kinds = {one.name: one.domain.of for one in binders if isinstance(one.domain, m.TypeRange)}
    used: list[str] = []
    args: list[m.ObjectType | m.EnumType | m.Term] = []
    for arg in read.args:
        if isinstance(arg, m.Local) and arg.name in kinds:
            kind = kinds[arg.name]
            if not isinstance(kind, (m.ObjectType, m.EnumType)):
                return None
            used.append(arg.name)
            args.append(kind)
        elif isinstance(arg, (m.ObjectLiteral, m.EnumLiteral, m.NumberLiteral)):
            args.append(arg)
        else:
            return None
    if read.was or sorted(used) != sorted(binder.name for binder in binders):
        return None
    return (_Summand(factor, read.fluent, tuple(args)),)


# ---- the change of one way --------------------------------------------------------------


@frozen
class _Tally:
    """Adds up the effect of changes on an amount; each method gives ``None`` if it is unknown."""

    amount: Amount
    book: Rulebook
    outcome: Outcome
    is_law: bool

    def factor(self, target: m.Read) -> Fraction | None:
        """The factor of a slot in the amount."""
        total = Fraction(0)
        for one in self.amount.summands:
            if one.fluent == target.fluent:
                fits = [
                    self._fits(arg, want) for arg, want in zip(target.args, one.args, strict=True)
                ]
                if None in fits and False not in fits:
                    return None
                total += one.factor if all(fits) else 0
        return total

    def _fits(self, arg: m.Term, want: m.ObjectType | m.EnumType | m.Term) -> bool | None:
        types = self.book.types
        if is_optional(arg.type):
            return None  # a slot of `none` is not written
        if isinstance(want, m.EnumType):
            return True
        if isinstance(want, m.ObjectType):
            assert isinstance(arg.type, m.ObjectType)
            if is_subtype(types, arg.type.name, want.name):
                return True
            return None if can_equal(types, arg.type, want) else False
        if skeleton(arg) == skeleton(want):
            return True
        apart = Knowledge(types, self.book.fluents).different((arg,), (want,))
        return False if apart else None

    def change(self, made: Made) -> Form | None:
        """The change of the amount by one effect."""
        if isinstance(made.effect, m.Create):
            return self._created(made.effect, made.facts)
        if isinstance(made.effect, m.Destroy):
            return self._destroyed(made.effect.target)
        writes, total = slot_writes(made.effect), constant(0)
        for write in writes if not self._exchanged(writes, made) else ():
            change = self._written(write, made)
            if change is None:
                return None
            total = total.plus(change)
        return total

    def _written(self, write: m.SlotWrite, made: Made) -> Form | None:
        facts = made.facts
        match write.op:
            case "=":
                return self._set(facts, write.target, facts.form(write.value), made)
            case "+=":
                return self._step(facts, write.target, facts.form(write.value))
            case "-=":
                return self._step(facts, write.target, facts.form(write.value).times(-1))
            case "add" | "remove":
                return constant(0)  # relations are no part of an amount
            case _:
                assert_never(write.op)

    def _exchanged(self, writes: tuple[m.SlotWrite, ...], made: Made) -> bool:
        """Two slots that count alike, of one fluent that nothing else changes here, swap values."""
        if self.is_law or made.loops or [one.op for one in writes] != ["=", "="]:
            return False
        left, right = (one.target for one in writes)
        one, other = self.factor(left), self.factor(right)
        alike = left.fluent == right.fluent and one is not None and one == other
        return alike and self._writes(left.fluent) == 2

    def _step(self, facts: Facts, target: m.Read, by: Form) -> Form | None:
        factor = self.factor(target)
        if not factor:
            return None if factor is None else constant(0)
        fluent = self.book.fluents[target.fluent]
        if fluent.clamped and not self._unstopped(facts, target, by, fluent):
            return None
        return by.times(factor)

    def _unstopped(self, facts: Facts, target: m.Read, by: Form, fluent: m.Fluent) -> bool:
        """Return whether a clamped number provably stays in its range, and is changed only once."""
        if self.is_law or self._writes(target.fluent) > 1:
            return False
        return _within(self.outcome.facts.also(facts).interval(facts.form(target).plus(by)), fluent)

    def _writes(self, fluent: str) -> int:
        made = (target for one in self.outcome.made for target in targets_of(one.effect))
        return sum(target.fluent == fluent for target in made)

    def _set(self, facts: Facts, target: m.Read, value: Form, made: Made) -> Form | None:
        factor = self.factor(target)
        if not factor:
            return None if factor is None else constant(0)
        fluent = self.book.fluents[target.fluent]
        change = value.minus(facts.form(target))
        if fluent.clamped and not _within(facts.interval(value), fluent):
            return None
        if (self.is_law or made.loops or not self._alone(target, made)) and not _nil(facts, change):
            return None
        return change.times(factor)

    def _alone(self, target: m.Read, made: Made) -> bool:
        """Return whether no other change of this way may write the same slot."""
        known = self.outcome.facts.knowledge(self.book)
        mine = tuple(made.facts.open(arg) for arg in target.args)
        seen = False
        for other in self.outcome.made:
            for read in targets_of(other.effect):
                if read is target:
                    seen = True
                elif read.fluent == target.fluent:
                    args = tuple(other.facts.open(arg) for arg in read.args)
                    if not known.different(mine, args):
                        return False
        return seen

    def _created(self, effect: m.Create, facts: Facts) -> Form | None:
        """Count a new object with its fields; its births are counted with the rule."""
        total = constant(0)
        given = {field.fluent: field.value for field in effect.fields}
        defaults = {field.fluent: field.value for field in self.book.types[effect.of].defaults}
        for one in self.amount.summands:
            match one.args:
                case (m.ObjectType(name=name),) if is_subtype(self.book.types, effect.of, name):
                    if one.fluent is None:
                        total = total.plus(constant(one.factor))
                        continue
                    value = given.get(one.fluent, defaults.get(one.fluent))
                    form = (
                        _first(self.book.fluents[one.fluent])
                        if value is None
                        else facts.form(value)
                    )
                    total = total.plus(form, one.factor)
                case args if any(
                    isinstance(arg, m.ObjectType)
                    and is_subtype(self.book.types, effect.of, arg.name)
                    for arg in args
                ):
                    return None
                case _:
                    pass
        return total

    def _destroyed(self, target: m.Term) -> Form | None:
        """Nothing is lost with an object that is surely not counted."""
        for one in self.amount.summands:
            for arg in one.args:
                kind = arg if isinstance(arg, m.ObjectType) else getattr(arg, "type", None)
                if isinstance(kind, m.ObjectType) and can_equal(self.book.types, target.type, kind):
                    return None
        return constant(0)


def _first(fluent: m.Fluent) -> Form:
    """The initial value of a number without a default: 0 if in its range, else the lower end."""
    kind = fluent.type
    assert isinstance(kind, m.NumberType)
    low, high = kind.low, kind.high
    inside = (low is None or low <= 0) and (high is None or high >= 0)
    return constant(0 if inside or low is None else Fraction(low, 10**kind.decimals))


def _within(found: Interval | None, fluent: m.Fluent) -> bool:
    kind = fluent.type
    if found is None or not isinstance(kind, m.NumberType) or kind.low is None or kind.high is None:
        return found is None
    step = Fraction(1, 10**kind.decimals)
    low = found.low is not None and found.low >= kind.low * step
    return low and found.high is not None and found.high <= kind.high * step


def _nil(facts: Facts, change: Form) -> bool:
    found = facts.interval(change)
    return found is None or found.is_zero


def net_change(amount: Amount, outcome: Outcome, book: Rulebook, is_law: bool) -> Interval | None:
    """The interval of the net change of one way; ``None`` if it is unknown.

    The rounds of each loop must sum to zero by themselves.
    """
    tally = _Tally(amount, book, outcome, is_law)
    sums: dict[tuple[Span, ...], Form] = {(): constant(0)}
    for made in outcome.made:
        change = tally.change(made)
        if change is None:
            return None
        sums[made.loops] = sums.get(made.loops, constant(0)).plus(change)
    for loops, form in sums.items():
        if loops:
            within = next(made.facts for made in outcome.made if made.loops == loops)
            if not _nil(within, form):
                return None
    return outcome.facts.interval(sums[()]) or Interval(Fraction(0), Fraction(0))
