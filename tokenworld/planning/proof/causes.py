"""The chain of causes: conditions of the goal that never hold, and rules that could change that.

The value analysis gives the values that each slot can ever hold; a condition that is false on them
is false in every state. Each such condition is listed with the nearest rules that would make it
true, and with the conditions that these rules lack in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from tokenworld.core.nodes import Body, If, Term
from tokenworld.core.rules import Action, Ending, Law
from tokenworld.core.walk import conjuncts, statements_in
from tokenworld.diagnostics import Span
from tokenworld.ground import Instance, Simulator, StateT
from tokenworld.model import ObjectType
from tokenworld.planning.lower.algebra import Env, Mark, Refused, Slot, ValueSet
from tokenworld.planning.lower.bodies import Change
from tokenworld.planning.lower.facts import facts_of
from tokenworld.planning.lower.units import Unit, actions_of, body_of, cancelled_of, laws_of, opened
from tokenworld.planning.lower.values import ValueAnalysis
from tokenworld.planning.proof.unsolvable_core import quoted, slot_text, value_shown

_DEEPEST = 8
_MOST_WAYS = 3
_MOST_SHOWN = 4
_MOST_COMPARED = 16
"""Bindings of a rule that lack as little that are compared."""

_Lacking = list[tuple[Term, Env[ValueSet]]]
"""Conditions that never hold."""


@dataclass(frozen=True, slots=True)
class Held:
    """A slot and its possible values, as authors write them."""

    slot: Slot
    name: str
    values: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A condition that never holds: its place, the values of its slots, and rules that could help.

    No ``ways``: no rule ever gives one of the slots a value that it lacks.
    """

    term: Term
    env: Env[ValueSet]
    text: str
    span: Span
    held: tuple[Held, ...]
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A rule that would make a condition hold, and the conditions that keep it from being applied.

    ``empty`` lists the types of its parameters that have no object.
    """

    kind: str
    name: str
    shown: str
    span: Span
    lacks: tuple[Missing, ...]
    empty: tuple[str, ...] = ()


class Why:
    """Explains one world in one state. ``sound``: the value analysis covers all its rules."""

    def __init__(
        self, simulator: Simulator[StateT], state: StateT, quote: Mapping[str, str]
    ) -> None:
        self.instance: Instance = simulator.instance_at(state)
        self._quote = quote
        self.facts = facts_of(simulator, state)
        self.sound = True
        try:
            actions = list(actions_of(self.facts, hopeless=True))
            laws = laws_of(self.facts, hopeless=True)
            units = [*actions, *cancelled_of(actions).values(), *laws]
            self.analysis = ValueAnalysis(self.facts, units)
            self.sound = not self.analysis.obstacles
        except Refused:
            self.sound = False

    def goal(self, name: str) -> tuple[Missing, ...]:
        """Return the conjuncts of a goal that never hold, each with its causes.

        Below a conjunct, ``above`` has the texts and rules of the chain so far, and its fluents.
        """
        if not self.sound:
            return ()
        return self._lacking(self._line(name).condition, Env(), frozenset(), 0)

    def _line(self, name: str) -> Ending:
        world = self.facts.rules.worlds[self.instance.world.name]
        return next(one for one in world.goals if one.name == name)

    def goal_slots(self, name: str) -> frozenset[Slot]:
        """The slots that a goal line looks at itself."""
        parts = conjuncts((self._line(name).condition,))
        return frozenset(slot for one in parts for slot in self._slots(one, Env()))

    def never(self, term: Term, env: Env[ValueSet]) -> bool:
        """Return whether a condition is false on all values that slots can have."""
        terms, _, algebra = self.analysis.evaluators()
        return algebra.never(terms.condition(term, env))

    # ---- conditions -----------------------------------------------------------------------

    def _lacking(
        self, term: Term, env: Env[ValueSet], above: frozenset[str], depth: int
    ) -> tuple[Missing, ...]:
        return tuple(
            self._missing(one, env, above, depth)
            for one in conjuncts((term,))
            if self.never(one, env)
        )

    def _missing(
        self, term: Term, env: Env[ValueSet], above: frozenset[str], depth: int
    ) -> Missing:
        slots = self._slots(term, env)
        text = quoted(term.span, self._quote)
        key = f"{text} {sorted(str(slot) for slot in slots)}"
        ways: tuple[Way, ...] = ()
        if depth < _DEEPEST and key not in above:
            about = {slot[0] for slot in slots}
            ways = self._ways(term, env, slots, above | {key} | about, depth)
        fluents = self.instance.program.fluents
        authored = [slot for slot in slots if not fluents[slot[0]].monitor]
        held = tuple(self._held(slot) for slot in authored[:_MOST_SHOWN])
        return Missing(term, env, text, term.span, held, ways)

    def _slots(self, term: Term, env: Env[ValueSet]) -> list[Slot]:
        """The stored slots that a condition looks at, in order."""
        terms, _, algebra = self.analysis.evaluators()
        algebra.reads.clear()
        terms.condition(term, env)
        fluents = self.instance.program.fluents
        found = [slot for slot in algebra.reads if slot[0] in fluents]
        return [slot for slot in found if self._wanting(slot, term, env)] or found

    def _wanting(self, slot: Slot, term: Term, env: Env[ValueSet]) -> bool:
        """Return whether another value of this slot alone would make the condition true."""
        with self.analysis.supposing(slot, None):
            return not self.never(term, env)

    def _held(self, slot: Slot) -> Held:
        fluent = self.instance.program.fluents[slot[0]]
        values = self.analysis.domain(slot)
        if values is None:
            shown = "anything"
        elif len(values) > _MOST_SHOWN:
            ends = (value_shown(self.instance, fluent.type, one) for one in (values[0], values[-1]))
            shown = "..".join(ends)
        else:
            shown = ", ".join(value_shown(self.instance, fluent.type, one) for one in values)
        return Held(slot, slot_text(self.instance, fluent, slot[1]), shown)

    # ---- rules ----------------------------------------------------------------------------

    @cached_property
    def _rules(self) -> list[tuple[Action | Law, frozenset[str], list[Unit]]]:
        lowered = self.facts.rules
        rules: list[Action | Law] = [*lowered.actions.values(), *lowered.laws.values()]
        return [
            (rule, rule.footprint.writes, [one for one in self.analysis.units if one.rule is rule])
            for rule in rules
        ]

    def _ways(
        self,
        term: Term,
        env: Env[ValueSet],
        slots: Sequence[Slot],
        above: frozenset[str],
        depth: int,
    ) -> tuple[Way, ...]:
        """The nearest binding of each rule that would help, those that lack least first."""
        found = []
        names = {slot[0] for slot in slots}
        for rule, written, units in self._rules:
            if not written & names:
                continue
            way = self._nearest(term, env, slots, units, above, depth)
            empty = self._empty(rule)
            if way is not None:
                found.append(way)
            elif empty and not units:
                found.append(Way(_kind(rule), rule.name, rule.name, rule.span, (), empty))
        return tuple(sorted(found, key=lambda way: len(way.lacks))[:_MOST_WAYS])

    def _empty(self, rule: Action | Law) -> tuple[str, ...]:
        """The types of parameters that have no object."""
        types = [one.type.name for one in rule.params if isinstance(one.type, ObjectType)]
        return tuple(dict.fromkeys(one for one in types if not self.instance.members[one]))

    def _nearest(
        self,
        term: Term,
        env: Env[ValueSet],
        slots: Sequence[Slot],
        units: Sequence[Unit],
        above: frozenset[str],
        depth: int,
    ) -> Way | None:
        """The binding of a rule that lacks least, and of several the one whose lacks are about
        something new: else the chain runs in a circle."""
        best: list[tuple[Unit, _Lacking]] = []
        for unit in units:
            again = self._call(unit) in above
            write = None if again else self._helping(unit, term, env, slots)
            if write is not None:
                lacking = list(self._lacks(unit, write))
                if lacking and (not best or len(lacking) < len(best[0][1])):
                    best = [(unit, lacking)]
                elif lacking and len(lacking) == len(best[0][1]) and len(best) < _MOST_COMPARED:
                    best.append((unit, lacking))
        if not best:
            return None
        unit, lacking = min(best, key=lambda one: self._circling(one[1], above))
        above |= {self._call(unit)}
        lacks = [self._missing(one, inside, above, depth + 1) for one, inside in lacking]
        return Way(_kind(unit.rule), unit.rule.name, self._call(unit), unit.span, tuple(lacks))

    def _circling(self, lacking: _Lacking, above: frozenset[str]) -> tuple[int, int]:
        """A rank of conditions: the number about fluents that the chain is about already, then the
        number about fluents that a rule changes."""
        names = [{slot[0] for slot in self._slots(*one)} for one in lacking]
        return (
            sum(one <= above for one in names),
            sum(one <= self._written for one in names),
        )

    @cached_property
    def _written(self) -> frozenset[str]:
        """The fluents that some rule changes."""
        return frozenset(name for _, written, _ in self._rules for name in written)

    def _call(self, unit: Unit) -> str:
        args = self.facts.shown_args(unit.params, unit.args)
        return f"{unit.rule.name}({', '.join(str(one) for one in args)})"

    def _writes(self, unit: Unit) -> list[Change[ValueSet]]:
        terms, bodies, _ = self.analysis.evaluators()
        env, _ = opened(terms, unit)
        key = unit.draw_key(self.facts)
        try:
            return bodies.run(body_of(unit), env, terms.true, key, lambda slot: True).writes
        except Refused:
            return []

    def _helping(
        self, unit: Unit, term: Term, env: Env[ValueSet], slots: Sequence[Slot]
    ) -> Change[ValueSet] | None:
        """A change of the rule after which the condition could hold."""
        for write in self._writes(unit):
            if write.slot in slots:
                with self.analysis.supposing(write.slot, self._result(write)):
                    if not self.never(term, env):
                        return write
        return None

    def _result(self, write: Change[ValueSet]) -> ValueSet:
        match write.op:
            case "add" | "remove":
                return frozenset((write.op == "add",))
            case "+":
                return self._stepped(write)
            case "=":
                return write.value
            case _:
                assert_never(write.op)
        return None

    def _stepped(self, write: Change[ValueSet]) -> ValueSet:
        """All that a number can become by steps of one sign."""
        old = self.analysis.domain(write.slot)
        kind = self.facts.domain(self.instance.program.fluents[write.slot[0]].type)
        steps = None if write.value is None else [one for one in write.value if _is_number(one)]
        if old is None or kind is None or steps is None:
            return None
        numbers = [one for one in old if _is_number(one)]
        up, down = any(one > 0 for one in steps), any(one < 0 for one in steps)  # type: ignore[operator]
        return frozenset(
            one
            for one in kind
            if _is_number(one)
            and ((up and one > min(numbers, default=0)) or (down and one < max(numbers, default=0)))  # type: ignore[operator,type-var]
        )

    def _lacks(self, unit: Unit, write: Change[ValueSet]) -> Iterator[tuple[Term, Env[ValueSet]]]:
        """The conditions of a rule, and around one of its changes, that never hold."""
        terms, _, _ = self.analysis.evaluators()
        env, _ = opened(terms, unit)
        conditions: list[Term] = []
        if isinstance(unit.rule, Law):
            conditions += [] if unit.rule.when is None else conjuncts((unit.rule.when,))
        else:
            conditions += conjuncts(one.condition for one in unit.rule.requires)
        conditions += conjuncts(_around(body_of(unit), write.span))
        for one in conditions:
            try:
                if self.never(one, env):
                    yield one, env
            except KeyError:  # it names a loop's variable
                continue


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, (bool, Mark))


def _kind(rule: Action | Law) -> str:
    return "action" if isinstance(rule, Action) else "law"


def _around(body: Body, span: Span) -> Iterator[Term]:
    """The conditions under which the effect at a place happens, as far as they are plain ``if``."""
    for one in statements_in(body):
        if isinstance(one, If) and any(inner.span == span for inner in statements_in(one.then)):
            yield one.condition
