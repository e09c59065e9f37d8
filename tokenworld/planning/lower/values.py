"""The values that each slot can ever hold, and the rules that can write it.

Rules are evaluated on sets of values, again and again as the sets they read grow, until nothing
changes. The result bounds what is reachable from the start state: a slot with one value is a
constant, the others become variables with just these values. A slot that keeps growing is widened
to its whole type. Most rules ask for the same derives of the same arguments: the value of one is
kept until a slot that it read can hold more values.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from tokenworld.core.nodes import Term
from tokenworld.core.rules import Action, Derive
from tokenworld.ground import Raw
from tokenworld.model import BoolType, Fluent, NumberType, ValueType
from tokenworld.planning.lower.algebra import (
    ALIVE,
    AWARD,
    CLOCK,
    COIN,
    DID,
    LONG,
    RING,
    Env,
    Explosion,
    Mark,
    Obstacle,
    Refused,
    SetAlgebra,
    Slot,
    Value,
    ValueSet,
    ordered_values,
)
from tokenworld.planning.lower.bodies import Bodies, Change, Effects
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.numbers import in_range
from tokenworld.planning.lower.terms import Terms
from tokenworld.planning.lower.units import Unit, body_of, opened

_PATIENCE = 24
"""The number of times that a slot may grow before it is widened."""
_MOST_SUMS = 20_000
_MOST_UNBOUNDED = 200
"""The largest number of values of a slot of an infinite type."""
_ASKED_EVERY = 1 << 12
"""Terms between two looks: one takes as long as four steps of the diagrams."""


@dataclass(slots=True)
class Profile:
    """Facts about one ground rule.

    ``feasible``: its condition may hold. ``sets`` and ``steps`` count its writes per slot by
    ``=`` (or add, remove) and by ``+=``, ``swept`` are the slots that change where it destroys.
    ``risky`` slots may be given numbers outside their range. ``fallible``: it may demand something
    that fails.
    """

    feasible: bool = False
    sets: dict[Slot, int] = field(default_factory=dict)
    steps: dict[Slot, int] = field(default_factory=dict)
    swept: dict[Slot, None] = field(default_factory=dict)
    risky: dict[Slot, None] = field(default_factory=dict)
    fallible: bool = False

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots it may write."""
        return tuple(dict.fromkeys((*self.sets, *self.steps, *self.swept)))


class _Unset:
    """A slot with a known start value only."""


class _Algebra(SetAlgebra):
    """Sets of values in which slots outside the rules are left open."""

    def slot(self, slot: Slot, was: bool) -> ValueSet:
        name, args = slot
        if name in (LONG, DID, COIN):
            return None
        if name == AWARD:
            return frozenset((False, True))
        if name == RING and isinstance(args[0], int):
            return frozenset(range(args[0]))
        if name == CLOCK and isinstance(args[0], int):
            return frozenset(range(args[0] + 1))
        return super().slot(slot, was)


@dataclass(slots=True)
class _Kept:
    """A value, the slots it depends on, and when these were last seen unchanged."""

    value: ValueSet
    reads: dict[Slot, None]
    seen: int


class KeptDerives(Terms[ValueSet]):
    """An evaluator on sets of values that may grow. `grew` is called for a slot that did.

    ``late`` is called after every so many terms; once it returns true, `Explosion` is raised.
    """

    def __init__(
        self, facts: Facts, algebra: SetAlgebra, late: Callable[[], bool] | None = None
    ) -> None:
        self._sets, self._late = algebra, late
        self._growths: dict[Slot, int] = {}
        self._now = self._work = 0
        super().__init__(facts, algebra)

    def grew(self, slot: Slot) -> None:
        """A slot can hold more values from now on."""
        self._now += 1
        self._growths[slot] = self._now

    def begin(self) -> None:
        """Forget all but derives: another rule is evaluated, whose reads are its own."""
        self._memo = {}
        self._rows = {}
        self.collections.forget()

    def forget(self) -> None:
        super().forget()
        self._bodies: dict[Hashable, _Kept] = {}
        self._tables: dict[Hashable, _Kept] = {}

    def _computed(self, term: Term, env: Env[ValueSet]) -> ValueSet:
        self._work += 1
        if self._work % _ASKED_EVERY == 0 and self._late is not None and self._late():
            raise Explosion(self._work, late=True)
        return super()._computed(term, env)

    def body(self, derive: Derive, args: tuple[Raw, ...], was: bool, actor: Raw = None) -> ValueSet:
        if self.fixpoints.stage:  # its value there is a guess
            return super().body(derive, args, was, actor)
        evaluated = partial(super().body, derive, args, was, actor)
        return self._kept(self._bodies, (derive.name, args, was, actor), evaluated)

    def derived(self, name: str, args: tuple[Raw, ...], was: bool, actor: Raw = None) -> ValueSet:
        derive = self.facts.rules.derives[name]
        if not derive.recursive or None in args or self.fixpoints.stage:
            return super().derived(name, args, was, actor)
        table = self._tables.get((name, was, actor))
        if table is None or not self._holds(table):
            self.fixpoints.forget()
            self._tables.clear()

        def worked_out() -> ValueSet:
            self.fixpoints.value(derive, args, was, actor)
            return None

        self._kept(self._tables, (name, was, actor), worked_out)
        return self.fixpoints.value(derive, args, was, actor)

    def _kept(
        self, store: dict[Hashable, _Kept], key: Hashable, work_out: Callable[[], ValueSet]
    ) -> ValueSet:
        known, algebra = store.get(key), self._sets
        if known is None or not self._holds(known):
            outer, algebra.reads = algebra.reads, {}
            memo, self._memo = self._memo, {}
            closures = self.collections.exchanged({})
            try:
                value = work_out()
            finally:
                reads, algebra.reads = algebra.reads, outer
                self._memo = memo
                self.collections.exchanged(closures)
            known = store[key] = _Kept(value, reads, self._now)
        algebra.reads.update(known.reads)
        return known.value

    def _holds(self, known: _Kept) -> bool:
        if known.seen < self._now:
            growths, seen = self._growths, known.seen
            if any(growths.get(slot, 0) > seen for slot in known.reads):
                return False
            known.seen = self._now
        return True


class ValueAnalysis:
    """The fixpoint over all ground rules. ``profiles`` and `domain` are its results.

    ``late`` may end it with an `Explosion`, and a slot of more than ``widest`` values is `Refused`.
    """

    def __init__(
        self,
        facts: Facts,
        units: Iterable[Unit],
        late: Callable[[], bool] | None = None,
        widest: int | None = None,
    ) -> None:
        self.facts, self._widest = facts, widest
        self.units = tuple(units)
        self.profiles: dict[Unit, Profile] = {unit: Profile() for unit in self.units}
        self.obstacles: list[Obstacle] = []
        self._known: dict[Slot, ValueSet] = {}
        self._growth: dict[Slot, int] = {}
        self._readers: dict[Slot, dict[Unit, None]] = {}
        self._steppers: dict[tuple[object, Slot], set[Unit]] = {}
        self._algebra = _Algebra(facts.starts, self._known)
        self._terms = KeptDerives(facts, self._algebra, late)
        self._bodies: Bodies[ValueSet] = Bodies(self._terms, lambda slot, size: None)
        self._run()

    # ---- results --------------------------------------------------------------------------

    def domain(self, slot: Slot) -> tuple[Raw, ...] | None:
        """The values a slot can have, in the order of its type; ``None`` if without bound."""
        if slot[0] == ALIVE:
            return (True, False) if slot in self._known else (self.facts.initial(slot),)
        known = self._known.get(slot, self.facts.starts(slot))
        if known is None:
            return None
        values = [one for one in ordered_values(known) if not isinstance(one, Mark)]
        order = self.facts.domain(self._fluent(slot).type)
        if order is None:
            return tuple(values)
        rank = {value: position for position, value in enumerate(order)}
        return tuple(sorted(values, key=lambda value: rank.get(value, len(rank))))

    def changes(self, slot: Slot) -> bool:
        """Return whether any rule may give the slot another value."""
        return slot in self._known

    def _fluent(self, slot: Slot) -> Fluent:
        return self.facts.program.fluents[slot[0]]

    def evaluators(self) -> tuple[Terms[ValueSet], Bodies[ValueSet], SetAlgebra]:
        """The evaluators of terms and bodies on the sets that the analysis found."""
        self._terms.forget()
        return self._terms, self._bodies, self._algebra

    @contextmanager
    def supposing(self, slot: Slot, values: ValueSet) -> Iterator[None]:
        """As if a slot could hold just these values."""
        before = self._known.get(slot, _Unset)
        self._known[slot] = values
        self._terms.forget()
        try:
            yield
        finally:
            if isinstance(before, type):
                del self._known[slot]
            else:
                self._known[slot] = before
            self._terms.forget()

    # ---- the fixpoint ---------------------------------------------------------------------

    def _run(self) -> None:
        waiting = deque(self.units)
        queued = set(self.units)
        while waiting:
            unit = waiting.popleft()
            queued.discard(unit)
            for slot in self._visit(unit):
                for reader in self._readers.get(slot, ()):
                    if reader not in queued:
                        queued.add(reader)
                        waiting.append(reader)

    def takes(self, unit: Unit) -> ValueSet:
        """The possible durations of an action, in ticks."""
        if not isinstance(unit.rule, Action) or unit.rule.takes is None:
            return frozenset((1,))
        self._terms.begin()
        env, _ = opened(self._terms, unit)
        return self._terms.value(unit.rule.takes, env)

    def _visit(self, unit: Unit) -> list[Slot]:
        """Evaluate a rule on the values found so far; return the slots with new values."""
        self._terms.begin()
        self._algebra.reads.clear()
        effects = self._effects(unit)
        profile = self.profiles[unit]
        profile.feasible = effects is not None
        grown = [] if effects is None else self._learn(unit, effects, profile)
        for slot in self._algebra.reads:
            self._readers.setdefault(slot, {})[unit] = None
        return grown

    def _effects(self, unit: Unit) -> Effects[ValueSet] | None:
        env, guard = opened(self._terms, unit)
        if self._algebra.never(guard):
            return None
        key = unit.draw_key(self.facts)
        try:
            return self._bodies.run(body_of(unit), env, self._terms.true, key, lambda slot: True)
        except Refused as refused:
            self.obstacles.append(refused.obstacle)
            return None

    def _learn(self, unit: Unit, effects: Effects[ValueSet], profile: Profile) -> list[Slot]:
        profile.sets, profile.steps, profile.swept = {}, {}, {}
        yes: frozenset[Value] = frozenset((True,))
        profile.fallible = any(demand != yes for _, demand in effects.demands)
        for write in effects.writes:
            counts = profile.steps if write.op == "+" else profile.sets
            counts[write.slot] = counts.get(write.slot, 0) + 1
        grown = []
        for write in effects.writes:
            new = self._stored(unit, write)
            grown.extend([write.slot] if self._add(write.slot, new) else [])
        for number, _ in effects.destroyed:
            grown.extend(self._destroyed(number, profile))
        return grown

    def _destroyed(self, number: int, profile: Profile) -> Iterator[Slot]:
        """Destroy an object: references to it may become `none`, or its former place."""
        gone: Slot = (ALIVE, (number,))
        profile.sets[gone] = 1
        if self._add(gone, frozenset((False,))):
            yield gone
        for fluent in self.facts.pointing(number):
            home: ValueSet = frozenset((None,))
            if fluent.nested and self.facts.has_slot(fluent, (number,)):
                home = self._algebra.slot((fluent.id, (number,)), False)
            for args in product(*self.facts.arguments(fluent)):
                slot = self.facts.slot(fluent, args)
                held = self._algebra.slot(slot, False)
                if held is None or number in held:
                    profile.swept[slot] = None
                    if self._add(slot, home):
                        yield slot

    def _add(self, slot: Slot, new: ValueSet) -> bool:
        """Add possible values of a slot; return whether any is new."""
        old = self._known.get(slot, self.facts.starts(slot))
        if old is None or (new is not None and new <= old):
            return False
        self._growth[slot] = self._growth.get(slot, 0) + 1
        both = None if new is None else old | new
        if slot[0] != ALIVE and (both is None or self._growth[slot] > _PATIENCE):
            wide = self._widened(slot, both)
            both = None if wide is None else wide | old
        self._known[slot] = both
        if self._widest is not None and both is not None and len(both) > self._widest:
            fluent, name = self._fluent(slot), self.facts.slot_name(slot)
            raise Refused(f"`{name}`", fluent.span, f"its {len(both):,} values are too many")
        if both == old:
            return False
        self._terms.grew(slot)
        return True

    def _stored(self, unit: Unit, write: Change[ValueSet]) -> ValueSet:
        """The values that a write may leave in its slot; ``None`` for any value."""
        profile, slot = self.profiles[unit], write.slot
        if slot[0] == ALIVE:
            return write.value
        fluent = self._fluent(slot)
        values = write.value
        if write.op == "+":
            values = self._stepped(unit, slot, write.value)
        kind = fluent.type
        if values is not None:  # where a value is not defined the rule does not happen
            values = frozenset(one for one in values if not isinstance(one, Mark))
        if isinstance(kind, BoolType) and values is not None:
            return frozenset(False if one is None else one for one in values)
        if not isinstance(kind, NumberType) or fluent.clamped:
            return None if values is None else frozenset(stopped(one, kind) for one in values)
        kept = None if values is None else frozenset(one for one in values if inside(one, kind))
        if kept != values or (values is None and (kind.low, kind.high) != (None, None)):
            profile.risky[slot] = None
        return kept

    def _stepped(self, unit: Unit, slot: Slot, steps: ValueSet) -> ValueSet:
        """Return the sums of a slot's values and its increments, if only one rule adds to it."""
        group = ("phase", unit.phase) if unit.kind == "law" else unit
        steppers = self._steppers.setdefault((group, slot), set())
        steppers.add(unit)
        old = self._algebra.slot(slot, False)
        several = len(steppers) > 1 or self.profiles[unit].steps.get(slot, 0) > 1
        if several or steps is None or old is None or len(steps) * len(old) > _MOST_SUMS:
            return None
        return frozenset(summed(one, step) for one in old for step in steps)

    def _widened(self, slot: Slot, values: ValueSet) -> ValueSet:
        whole = self.facts.domain(self._fluent(slot).type)
        if whole is not None:
            extra = frozenset(() if values is None or None not in values else (None,))
            return frozenset(whole) | self.facts.starts(slot) | extra
        if values is None or len(values) > _MOST_UNBOUNDED:
            return None
        return values


def summed(left: Value, right: Value) -> Value:
    if isinstance(left, Mark) or isinstance(right, Mark):
        return Mark.BROKEN
    if not isinstance(left, (int, float)):
        return left
    return left + right if isinstance(right, (int, float)) else left


def inside(value: Value, kind: NumberType) -> bool:
    return not isinstance(value, Mark) and in_range(value, kind.low, kind.high)


def stopped(value: Value, kind: ValueType) -> Value:
    """A value as a clamped slot stores it."""
    if not isinstance(kind, NumberType) or not isinstance(value, int):
        return value
    raised = value if kind.low is None else max(value, kind.low)
    return raised if kind.high is None else min(raised, kind.high)
