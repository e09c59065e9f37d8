"""Blocks: rules that act together on one state, and what each slot holds after them (§5).

An action is a block of one rule, a simultaneous phase a block of all its laws. A `Moment` is when a
block reads: in the actor's turn, at its end, or in a phase (§8). A slot that can change is one of
the `Variables`, the others are constants. Everything is computed on demand: slots that are
irrelevant for the plan are never evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import assert_never

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw
from tokenworld.model import BoolType, Fluent, NumberType, RealType
from tokenworld.planning.lower.algebra import (
    ALIVE,
    AWARD,
    CLOCK,
    COIN,
    DID,
    LONG,
    RING,
    WAS,
    Diagram,
    DiagramAlgebra,
    Diagrams,
    Env,
    Mark,
    Refused,
    Slot,
    Value,
)
from tokenworld.planning.lower.bodies import Bodies, Change, Demand, DrawSite, Effects
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.terms import Terms
from tokenworld.planning.lower.units import Unit, body_of, opened
from tokenworld.planning.lower.values import ValueAnalysis

WIDEST = 5_000
"""The values of a variable at most."""


@frozen
class Taken:
    """A draw: its site, the rule that makes it, and how many draws that rule made before."""

    site: DrawSite[Diagram]
    unit: Unit
    number: Diagram


class Variables:
    """Slots by variable number and the other way round.

    ``draws`` maps each coin met so far to its draw, ``long_is_read``: some rule asked for the
    present long action.
    """

    def __init__(self, facts: Facts, analysis: ValueAnalysis, diagrams: Diagrams) -> None:
        self.facts, self.analysis, self.diagrams = facts, analysis, diagrams
        self.levels: dict[Slot, int] = {}
        self.slots: list[Slot] = []
        self.coins: dict[Slot, int] = {}
        self.draws: dict[Slot, Taken] = {}
        self.long_is_read = False
        self._first_writes: dict[Slot, int] = {}
        for unit, profile in analysis.profiles.items():
            if profile.feasible:
                for slot in profile.slots:
                    known = self._first_writes.get(slot, unit.phase)
                    self._first_writes[slot] = min(known, unit.phase)

    def read(self, slot: Slot, was: bool, phase: int) -> Diagram:
        """The value of a slot for a reader in a phase (-1: the actor)."""
        self.long_is_read = self.long_is_read or slot[0] == LONG
        if was and self._first_writes.get(slot, phase) < phase:
            slot = (WAS, (slot[0], *slot[1]))
        return self.now(slot)

    def now(self, slot: Slot) -> Diagram:
        """The value of a slot."""
        if slot not in self.levels:
            domain = self.domain(slot)
            if len(domain) == 1:
                return self.diagrams.leaf(domain[0])
            self.levels[slot] = self.diagrams.declare(domain)
            self.slots.append(slot)
        return self.diagrams.variable(self.levels[slot])

    def coin(self, slot: Slot, size: int) -> Diagram:
        """The value of a coin with ``size`` sides."""
        self.coins[slot] = size
        return self.now(slot)

    def domain(self, slot: Slot) -> tuple[Raw, ...]:
        """The values of a slot's variable."""
        name, args = slot
        match name:
            case _ if name == RING and isinstance(args[0], int):
                return tuple(range(args[0]))
            case _ if name == CLOCK and isinstance(args[0], int):
                return tuple(range(args[0] + 1))
            case _ if name == COIN:
                return tuple(range(self.coins[slot]))
            case _ if name in (DID, AWARD):
                return (False, True)
            case _ if name == LONG:
                return (None, *range(self.facts.stage_count))
            case _ if name == WAS:
                return self.domain(self.stored(slot))
            case _:
                return self._stored_domain(slot)

    def _stored_domain(self, slot: Slot) -> tuple[Raw, ...]:
        domain = self.analysis.domain(slot)
        if domain is not None and len(domain) <= WIDEST:
            return domain
        shown = self.facts.slot_name(slot)
        reason = "its values have no bound that is known"
        if domain is not None:
            reason = f"its {len(domain):,} values are too many"
        raise Refused(f"`{shown}`", self.span_of(slot), reason)

    def span_of(self, slot: Slot) -> Span:
        """The place of the declaration of a stored fluent."""
        return self.facts.program.fluents[slot[0]].span

    @staticmethod
    def stored(slot: Slot) -> Slot:
        """The slot whose earlier value a `WAS` slot keeps."""
        fluent, *args = slot[1]
        return str(fluent), tuple(args)

    def initial(self, slot: Slot) -> Raw:
        """The value in the start state."""
        return self.facts.initial(self.stored(slot) if slot[0] == WAS else slot)

    def name(self, slot: Slot) -> str:
        """A readable name."""
        if slot[0] == WAS:
            return f"was {self.facts.slot_name(self.stored(slot))}"
        return self.facts.slot_name(slot)

    def is_stored(self, slot: Slot) -> bool:
        """Return whether rules write the slot (the others are kept up by the encoding itself)."""
        return slot[0] == ALIVE or slot[0] in self.facts.program.fluents


class Moment:
    """The point of a tick at which rules read: a phase (-1: the actor's turn), with its evaluators.

    ``idle``: no long action is under way any more, as for an intent that broke one off.
    """

    def __init__(self, variables: Variables, phase: int, *, idle: bool = False) -> None:
        self.variables, self.phase = variables, phase
        self.diagrams = variables.diagrams

        def read(slot: Slot, was: bool) -> Diagram:
            if idle and slot[0] == LONG:
                return variables.diagrams.none
            if slot[0] == AWARD and phase < 0:
                return self.given(slot)
            return variables.read(slot, was, phase)

        algebra = DiagramAlgebra(self.diagrams, read)
        self.terms: Terms[Diagram] = Terms(variables.facts, algebra)
        self.bodies: Bodies[Diagram] = Bodies(self.terms, variables.coin)

    def given(self, slot: Slot) -> Diagram:
        """Return the condition that an award was given, also in the state in which the actor
        chooses: the variable is set one command later."""
        facts, number = self.variables.facts, slot[1][0]
        assert isinstance(number, int)
        award = facts.rules.worlds[facts.instance.world.name].awards[number]
        now = self.terms.condition(award.when, Env())
        return self.diagrams.either(self.variables.now(slot), now)


class Block:
    """Rules that read one state and whose writes are put together."""

    def __init__(
        self, name: str, units: Sequence[Unit], analysis: ValueAnalysis, moment: Moment
    ) -> None:
        self.name, self.moment, self._analysis = name, moment, analysis
        self.units = tuple(unit for unit in units if analysis.profiles[unit].feasible)
        self.diagrams, self._facts = moment.diagrams, moment.variables.facts
        self._writers: dict[Slot, list[Unit]] = {}
        for unit in self.units:
            for slot in analysis.profiles[unit].slots:
                self._writers.setdefault(slot, []).append(unit)
        self._values: dict[Slot, Diagram] = {}
        self._staged: dict[tuple[Slot, int], Diagram] = {}
        self._destroyed: list[tuple[int, Diagram]] | None = None
        self._born: dict[Unit, Mapping[int, Diagram]] = {}
        self._begun: dict[Unit, tuple[Env[Diagram], Diagram]] = {}
        self._made: dict[tuple[Unit, str], dict[Slot, list[Change[Diagram]]]] = {}
        self._sound: Diagram | None = None
        self._allowed: Diagram | None = None

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots that the block may write."""
        return tuple(self._writers)

    def writes(self, slot: Slot) -> bool:
        """Return whether the block may write a slot."""
        return slot in self._writers

    def guard(self) -> Diagram:
        """The requires of an action: where its one rule may run."""
        result = self.diagrams.true
        for unit in self.units:
            result = self.diagrams.both(result, self.opened(unit)[1])
        return result

    def meet_draws(self) -> None:
        """Walk every rule, so that all its draws are known, those too that decide nothing."""
        for unit in self.units:
            self._effects(unit, None)

    # ---- after the block --------------------------------------------------------------------

    def after(self, slot: Slot) -> Diagram:
        """The value of a slot after the block; a `Mark` if the block cannot be executed."""
        found = self._values.get(slot)
        if found is None:
            found = self._values[slot] = self._after(slot, frozenset())
        return found

    def after_others(self, slot: Slot, exempt: frozenset[str]) -> Diagram:
        """The value of a slot after the block without the rules of these names."""
        return self._after(slot, exempt) if exempt else self.after(slot)

    def _after(self, slot: Slot, exempt: frozenset[str]) -> Diagram:
        if slot[0] == ALIVE:
            return self._alive(slot, exempt)
        destroyed = self._all_destroyed(exempt)
        value = self._stage(slot, len(destroyed), exempt)
        for number in self.moment.terms.facts.objects_in(slot):
            for gone, condition in destroyed:
                if gone == number:  # a destroyed object has no slots: any value will do
                    first = self.moment.variables.domain(slot)[0]
                    if self._facts.is_unborn(slot):  # but that of an object which may come again
                        first = self._facts.initial(slot)
                    value = self.diagrams.choose(condition, self.diagrams.leaf(first), value)
        return value

    def _alive(self, slot: Slot, exempt: frozenset[str]) -> Diagram:
        value = self.moment.variables.now(slot)
        for unit in self._writers.get(slot, ()) if self._facts.is_birth(slot) else ():
            if unit.rule.name not in exempt:
                for write in self._effects(unit, slot).writes:
                    if write.slot == slot:
                        value = self.diagrams.either(value, write.condition)
        for gone, condition in self._all_destroyed(exempt):
            if gone == slot[1][0]:
                value = self.diagrams.choose(condition, self.diagrams.false, value)
        return value

    def _stage(self, slot: Slot, count: int, exempt: frozenset[str]) -> Diagram:
        """The value of a slot after all writes and the first ``count`` destructions."""
        key = (slot, count)
        if exempt or key not in self._staged:
            found = self._swept(slot, count, exempt) if count else self._written(slot, exempt)
            if exempt:
                return found
            self._staged[key] = found
        return self._staged[key]

    def _written(self, slot: Slot, exempt: frozenset[str]) -> Diagram:
        old = self.moment.variables.now(slot)
        writes = [
            write
            for unit in self._writers.get(slot, ())
            if unit.rule.name not in exempt
            for write in self._changes(unit, slot)
        ]
        fluent = self.moment.variables.facts.program.fluents[slot[0]]
        return _merged(self.diagrams, fluent, old, writes) if writes else old

    def _swept(self, slot: Slot, count: int, exempt: frozenset[str]) -> Diagram:
        """A slot that points at the destroyed object points at nothing, or at where that was."""
        before = self._stage(slot, count - 1, exempt)
        number, condition = self._all_destroyed(exempt)[count - 1]
        facts, diagrams = self.moment.variables.facts, self.diagrams
        fluent = facts.program.fluents[slot[0]]
        if fluent not in tuple(facts.pointing(number)) or number not in diagrams.leaves(before):
            return before
        heir = diagrams.none
        if fluent.nested and facts.has_slot(fluent, (number,)):
            heir = self._stage((fluent.id, (number,)), count - 1, exempt)
        points = diagrams.lift(("side", number), lambda value: value == number, before)
        return diagrams.choose(diagrams.both(condition, points), heir, before)

    def _all_destroyed(self, exempt: frozenset[str]) -> list[tuple[int, Diagram]]:
        """The destructions of the block in order."""
        if self._destroyed is None or exempt:
            found = [
                one
                for unit in self.units
                if unit.rule.name not in exempt
                and any(slot[0] == ALIVE for slot in self._analysis.profiles[unit].sets)
                for one in self._effects(unit, None).destroyed
            ]
            if exempt:
                return found
            self._destroyed = found
        return self._destroyed

    def _changes(self, unit: Unit, slot: Slot) -> Sequence[Change[Diagram]]:
        """The writes of one rule to a slot; one walk is for all slots of a fluent of which it only
        adds and removes facts, because such writes evaluate nothing that others do not."""
        rule, body = (unit.kind, unit.rule.name), partial(body_of, unit)
        if not self.moment.bodies.makes_facts(rule, body, slot[0]):
            return [one for one in self._effects(unit, slot).writes if one.slot == slot]
        key = (unit, slot[0])
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = {}
            for one in self._effects(unit, slot, every=True).writes:
                found.setdefault(one.slot, []).append(one)
        return found.get(slot, ())

    def opened(self, unit: Unit) -> tuple[Env[Diagram], Diagram]:
        """The names that a rule's body sees, and the condition under which it runs."""
        found = self._begun.get(unit)
        if found is None:
            found = self._begun[unit] = opened(self.moment.terms, unit)
        return found

    def _effects(self, unit: Unit, slot: Slot | None, *, every: bool = False) -> Effects[Diagram]:
        """Walk one rule, looking only at the writes to one slot (none: at no write), or to
        ``every`` slot of its fluent."""
        terms = self.moment.terms
        env, guard = self.opened(unit)
        condition = guard if unit.kind == "law" else terms.true
        key = unit.draw_key(terms.facts)

        def wanted(one: Slot) -> bool:
            same = slot is not None and one[0] == slot[0]
            return same and (every or slot is None or one[1] in ((), slot[1]))

        effects = self.moment.bodies.run(
            body_of(unit), env, condition, key, wanted, self._born_before(unit)
        )
        self._note(unit, effects)
        return effects

    def _born_before(self, unit: Unit) -> Mapping[int, Diagram]:
        """The objects that rules before this one create in the block, with the conditions."""
        if not self._facts.unborn:
            return {}
        if not self._born:
            born: Mapping[int, Diagram] = {}
            for one in self.units:
                self._born[one] = born
                if any(self._facts.is_birth(slot) for slot in self._analysis.profiles[one].sets):
                    born = self._effects(one, None).born
        return self._born[unit]

    def _note(self, unit: Unit, effects: Effects[Diagram]) -> None:
        number, diagrams = self.diagrams.leaf(0), self.diagrams
        one, nothing = diagrams.leaf(1), diagrams.leaf(0)
        for site in effects.draws:
            self.moment.variables.draws.setdefault(site.coin, Taken(site, unit, number))
            step = diagrams.choose(site.taken, one, nothing)
            number = diagrams.lift("count", _plus, number, step)

    # ---- what must hold ---------------------------------------------------------------------

    def ok(self) -> Diagram:
        """The condition under which the block can be executed."""
        return self.diagrams.both(self.sound(), self.allowed())

    def sound(self) -> Diagram:
        """The condition that its writes agree and are defined; otherwise the tick is an error."""
        if self._sound is None:
            agreed = (_is_agreed(self.diagrams, one) for one in self._risky())
            self._sound = self._all((*self._demands("error"), *agreed))
        return self._sound

    def allowed(self) -> Diagram:
        """The condition that ranges hold, unique values stay unique and no cycle forms.

        Elsewhere an action is refused by a generated require.
        """
        if self._allowed is None:
            inside = (_is_inside(self.diagrams, one) for one in self._risky())
            self._allowed = self._all((*self._demands("range"), *inside, *self._shapes()))
        return self._allowed

    def _all(self, conditions: Iterable[Diagram]) -> Diagram:
        result = self.diagrams.true
        for condition in conditions:
            result = self.diagrams.both(result, condition)
        return result

    def _demands(self, kind: Demand) -> Iterator[Diagram]:
        for unit in self.units:
            if self._analysis.profiles[unit].fallible:
                for own, demand in self._effects(unit, None).demands:
                    if own == kind:
                        yield demand

    def _risky(self) -> Iterator[Diagram]:
        """The values written to slots whose writes may clash or leave a range."""
        for slot in self.slots:
            if slot[0] != ALIVE and self._is_risky(slot):
                yield self._asked(slot)

    def _is_risky(self, slot: Slot) -> bool:
        """Return whether the writes to a slot may clash or leave its range."""
        profiles = [self._analysis.profiles[unit] for unit in self._writers[slot]]
        sets = sum(profile.sets.get(slot, 0) for profile in profiles)
        steps = sum(profile.steps.get(slot, 0) for profile in profiles)
        fluent = self.moment.variables.facts.program.fluents[slot[0]]
        bounded = isinstance(fluent.type, NumberType) and not fluent.clamped
        outside = bounded and any(slot in profile.risky for profile in profiles)
        return outside or sets > 1 or (sets > 0 and steps > 0) or (bounded and steps > 1)

    def _shapes(self) -> Iterable[Diagram]:
        """Unique fluents stay unique, nested and acyclic ones without a cycle."""
        for slot in self.slots:
            if slot[0] == ALIVE:
                continue
            fluent = self.moment.variables.facts.program.fluents[slot[0]]
            if fluent.unique:
                yield from self._unique(slot)
            if fluent.nested:
                yield self._no_cycle(slot)
            if fluent.acyclic:
                yield self._no_circle(slot)

    def _others(self, name: str) -> list[Slot]:
        """All slots of a fluent."""
        facts = self.moment.variables.facts
        fluent = facts.program.fluents[name]
        found = (facts.slot(fluent, args) for args in product(*facts.arguments(fluent)))
        return list(dict.fromkeys(found))

    def _kept(self, slot: Slot) -> Diagram:
        """The value of a slot after the block, `none` where its object was destroyed."""
        value = self.after(slot)
        for number in self.moment.variables.facts.objects_in(slot):
            alive = self.after((ALIVE, (number,)))
            value = self.diagrams.choose(alive, value, self.diagrams.none)
        return value

    def _asked(self, slot: Slot) -> Diagram:
        """The value written to a slot, before anything is destroyed."""
        return self._stage(slot, 0, frozenset())

    def _held(self, slot: Slot) -> Diagram:
        """The value of a slot before objects are destroyed, `none` where its object is none."""
        value = self._asked(slot)
        for number in self.moment.variables.facts.objects_in(slot):
            alive = self.moment.variables.now((ALIVE, (number,)))
            value = self.diagrams.choose(alive, value, self.diagrams.none)
        return value

    def _unique(self, slot: Slot) -> Iterable[Diagram]:
        mine = self._kept(slot)
        for other in self._others(slot[0]):
            if other != slot:
                yield self.diagrams.lift("distinct", _distinct, mine, self._kept(other))

    def _no_cycle(self, slot: Slot) -> Diagram:
        """Following a nested fluent upwards from its new value never comes back.

        The destroyed are still there: their contents then move along paths without a cycle.
        """
        diagrams, name, start = self.diagrams, slot[0], slot[1][0]
        if not self._may_return(name, start):
            return diagrams.true
        returns: dict[Raw, Diagram] = {start: diagrams.true}
        while True:
            new: dict[Raw, Diagram] = {start: diagrams.true}
            for other in self._others(name):
                if other[1][0] != start:
                    new[other[1][0]] = self._leads(self._held(other), returns)
            if new == returns:
                return diagrams.negate(self._leads(self._held(slot), returns))
            returns = new

    def _leads(self, value: Diagram, returns: dict[Raw, Diagram]) -> Diagram:
        def one(leaf: object) -> Diagram:
            if isinstance(leaf, Mark) or leaf is None:
                return self.diagrams.false
            return returns.get(leaf, self.diagrams.false)  # type: ignore[call-overload,no-any-return]

        return self.diagrams.bind(value, one)

    def _may_return(self, name: str, start: Raw) -> bool:
        """Return whether the values that slots can have admit a way from an object back to it."""
        has_slot = {slot[1][0] for slot in self._others(name)}
        seen: set[Raw] = set()
        waiting = list(self._targets(name, start))
        while waiting:
            number = waiting.pop()
            if number == start:
                return True
            if number is not None and number not in seen and number in has_slot:
                seen.add(number)
                waiting.extend(self._targets(name, number))
        return False

    def _targets(self, name: str, number: Raw) -> Sequence[Raw]:
        return self.moment.variables.domain((name, (number,)))

    def _no_circle(self, slot: Slot) -> Diagram:
        """A fact of an acyclic relation that is made true closes no circle."""
        diagrams, (start, first) = self.diagrams, slot[1]
        edges = {
            other[1]: self._kept(other)
            for other in self._others(slot[0])
            if True in diagrams.leaves(self._kept(other))
        }
        reached: dict[Raw, Diagram] = {first: diagrams.true}
        while True:
            new = dict(reached)
            for (left, right), fact in edges.items():
                if left in reached:
                    step = diagrams.both(reached[left], diagrams.lift("fact", _is_true, fact))
                    new[right] = diagrams.either(new.get(right, diagrams.false), step)
            if new == reached:
                break
            reached = new
        made = diagrams.lift("fact", _is_true, self._asked(slot))
        closes = diagrams.both(made, reached.get(start, diagrams.false))
        return diagrams.negate(closes)


def _plus(left: object, right: object) -> int:
    return (left if isinstance(left, int) else 0) + (right if isinstance(right, int) else 0)


def _distinct(left: object, right: object) -> bool:
    return isinstance(left, Mark) or left is None or left != right


def _is_true(value: object) -> bool:
    return value is True


# ---- writes put together ----------------------------------------------------------------------


def _merged(
    diagrams: Diagrams, fluent: Fluent, old: Diagram, writes: Sequence[Change[Diagram]]
) -> Diagram:
    """The value of a slot after all ``writes``; a `Mark` if they conflict.

    All ``=`` must agree, all ``+=`` add up, a clamped slot is clamped once, ``add`` beats
    ``remove``.
    """
    added, removed = diagrams.false, diagrams.false
    given = stepped = diagrams.leaf(Mark.UNSET)
    for write in writes:
        match write.op:
            case "add":
                added = diagrams.either(added, write.condition)
            case "remove":
                removed = diagrams.either(removed, write.condition)
            case "=":
                value = write.value
                if isinstance(fluent.type, BoolType):
                    value = diagrams.lift("stored truth", _stored_truth, value)
                given = diagrams.lift("give", _give, write.condition, value, given)
            case "+":
                stepped = diagrams.lift("step", _step, write.condition, write.value, stepped)
            case _:
                assert_never(write.op)
    stored = diagrams.lift(("store", fluent.id), _store(fluent), given, stepped, old)
    stored = diagrams.choose(removed, diagrams.false, stored)
    return diagrams.choose(added, diagrams.true, stored)


def _is_agreed(diagrams: Diagrams, value: Diagram) -> Diagram:
    """The condition that the writes to a slot agree and are defined."""
    return diagrams.lift("agreed", lambda one: one not in (Mark.CLASH, Mark.BROKEN), value)


def _is_inside(diagrams: Diagrams, value: Diagram) -> Diagram:
    """The condition that a number is inside its range."""
    return diagrams.lift("inside", lambda one: one is not Mark.OUTSIDE, value)


def _stored_truth(value: Value) -> Value:
    return False if value is None else value


def _give(condition: Value, value: Value, given: Value) -> Value:
    if condition is not True:
        return condition if condition is Mark.BROKEN else given
    if given is Mark.UNSET or given == value:
        return value
    return given if given is Mark.BROKEN else Mark.CLASH


def _step(condition: Value, step: Value, so_far: Value) -> Value:
    if condition is not True:
        return condition if condition is Mark.BROKEN else so_far
    if step is Mark.BROKEN or so_far is Mark.BROKEN:
        return Mark.BROKEN
    total = so_far if isinstance(so_far, (int, float)) else 0
    return total + step if isinstance(step, (int, float)) else total


def _store(fluent: Fluent) -> Callable[[Value, Value, Value], Value]:
    def store(given: Value, step: Value, old: Value) -> Value:
        if Mark.BROKEN in (given, step):
            return Mark.BROKEN
        if given is Mark.UNSET and step is Mark.UNSET:
            return old
        if given is not Mark.UNSET:
            return _bounded(fluent, given) if step is Mark.UNSET else Mark.CLASH
        if not isinstance(old, (int, float)) or not isinstance(step, (int, float)):
            return old
        return _bounded(fluent, old + step)

    return store


def _bounded(fluent: Fluent, value: Value) -> Value:
    """The value as it is stored: clamped, or `Mark.OUTSIDE`."""
    kind = fluent.type
    if isinstance(kind, RealType) and isinstance(value, int):
        return float(value)
    if not isinstance(kind, NumberType) or not isinstance(value, int):
        return value
    if kind.low is not None and value < kind.low:
        return kind.low if fluent.clamped else Mark.OUTSIDE
    if kind.high is not None and value > kind.high:
        return kind.high if fluent.clamped else Mark.OUTSIDE
    return value
