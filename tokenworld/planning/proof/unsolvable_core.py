"""The minimal core of an unwinnable world: the parts without which the proof does not go through.

`find_core` deletes part after part and asks an oracle each time whether the goal is still proved
unreachable: relaxed reachability, our own search or Fast Downward, the cheapest that proves the
world as it is. `relaxed` makes the program without a part.

To *relax* a part makes the goal no harder: a conjunct of the goal is no longer asked for, a
require or a condition of a law no longer tested, a losing line or an invariant taken out, a law
becomes optional for the actor, and a start value may be chosen freely. If the goal is out of reach
although a part is relaxed, the proof does not depend on that part. Conditions on the type of a name
(``x != none``, ``x is T``) stay: the rest of the rule has no meaning without them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Generic, Literal, assert_never

from tokenworld import model as m
from tokenworld.diagnostics import Diagnostic, Failure, Span
from tokenworld.ground import (
    Instance,
    Raw,
    Simulator,
    StateT,
    domain_of,
    show_value,
    slots,
)
from tokenworld.planning.lower.encode import Encoding, encode_facts
from tokenworld.planning.lower.facts import facts_of
from tokenworld.planning.planners.downward import (
    BLIND,
    FF,
    find_downward,
    run_searches,
)
from tokenworld.planning.search.interpreted import Exhausted, Limits
from tokenworld.planning.search.own import OwnSearch

PartKind = Literal["goal", "ending", "require", "law", "when", "invariant", "fluent", "fact"]
_MOST_WISHES = 6_000
"""Most commands that represent free start values of one fluent."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part: ``name`` is the rule, line or fluent it belongs to, ``index`` which one of it.

    ``args`` are those of a slot, ``text`` is how the author wrote it (or the slot and its value),
    ``span`` where.
    """

    kind: PartKind
    name: str
    text: str
    span: Span
    index: int = 0
    args: tuple[Raw, ...] = ()


# ---- the parts of a world ---------------------------------------------------------------------


def rule_parts(instance: Instance, goal: str, quote: Mapping[str, str]) -> Iterator[Part]:
    """All parts but start values; those that most likely play no role come first.

    ``quote`` maps source names to their texts.
    """
    program, world = instance.program, instance.world
    line = next(one for one in world.goals if one.name == goal)
    asked = tuple(m.conjuncts((line.condition,)))
    for index, term in enumerate(asked):
        if _relied_on(term, (one for one in asked if one is not term), quote):
            continue
        yield Part("goal", goal, quoted(term.span, quote), term.span, index)
    for one in world.endings:
        if one.ending != "goal":
            yield Part("ending", one.name, one.source, one.span)
    for rule in program.invariants.values():
        yield Part("invariant", rule.name, rule.source, rule.span)
    for kept in program.conserves.values():
        yield Part("invariant", kept.name, kept.source, kept.span)
    for law in program.laws.values():
        yield Part("law", law.name, law.name, law.span)
    for law in program.laws.values():
        for index, term in enumerate(whens(law)):
            if narrows(term) or m.looks_back((term,)):  # only laws may look back
                continue
            yield Part("when", law.name, quoted(term.span, quote), term.span, index)
    for action in program.actions.values():
        for index, require in enumerate(action.requires):
            if all(narrows(one) for one in m.conjuncts((require.condition,))):
                continue
            yield Part("require", action.name, require.source, require.span, index)


def narrows(condition: m.Term) -> bool:
    """Return whether a condition states the type of a name, which its rule needs."""
    match condition:
        case m.Compare(op="==" | "!=", left=left, right=right):
            return isinstance(left, m.NoneLiteral) or isinstance(right, m.NoneLiteral)
        case m.And(terms=parts) | m.Or(terms=parts):
            return any(narrows(one) for one in parts)
        case m.Not(term=inner):
            return narrows(inner)
        case m.Implies(left=left, right=right):
            return narrows(left) or narrows(right)
        case m.IsType():
            return True
        case m.LeafTerm() | m.StateTerm() | m.TestTerm() | m.NumberTerm() | m.CompositeTerm():
            return False
        case _:
            assert_never(condition)


def _relied_on(term: m.Term, others: Iterable[m.Term], quote: Mapping[str, str]) -> bool:
    """Return whether other parts need a condition on the presence or type of a value."""
    if not narrows(term):
        return False
    said = {quoted(one.span, quote) for one in _subjects(term)}
    return any(text in quoted(one.span, quote) for one in others for text in said)


def _subjects(term: m.Term) -> Iterator[m.Term]:
    """The values that a condition compares with `none`, or asks for their type."""
    for part in m.subterms(term):
        if isinstance(part, m.IsType):
            yield part.term
        elif isinstance(part, m.Compare) and isinstance(part.right, m.NoneLiteral):
            yield part.left
        elif isinstance(part, m.Compare) and isinstance(part.left, m.NoneLiteral):
            yield part.right


def quoted(span: Span, quote: Mapping[str, str]) -> str:
    """The source text at a place, on one line."""
    return " ".join(quote.get(span.file, "")[span.start : span.end].split())


def fluent_parts(instance: Instance) -> Iterator[Part]:
    """The start values of each fluent that can be chosen freely, all slots together."""
    for fluent in instance.program.fluents.values():
        if (
            fluent.fluent_kind != "table"
            and not fluent.monitor
            and 0 < _wishes(instance, fluent) <= _MOST_WISHES
        ):
            yield Part("fluent", fluent.id, fluent.id, fluent.span)


def _wishes(instance: Instance, fluent: m.Fluent) -> int:
    values = domain_of(instance, fluent.type)
    sizes = [len(domain_of(instance, param.type) or ()) for param in fluent.params]
    return 0 if values is None else prod(sizes) * len(values)


def fact_parts(
    instance: Instance, fluent_id: str, read: Mapping[tuple[Raw, ...], Raw]
) -> Iterator[Part]:
    """The start value of each slot of a fluent; ``read`` gives the values by arguments."""
    fluent = instance.program.fluents[fluent_id]
    for args, value in read.items():
        shown = value_shown(instance, fluent.type, value)
        text = f"{slot_text(instance, fluent, args)} = {shown}"
        span = start_place(instance, fluent, args)
        yield Part("fact", fluent_id, text, span, args=args)


def value_shown(instance: Instance, kind: m.ValueType, value: Raw) -> str:
    """A value as an author writes it."""
    shown = show_value(instance.program, instance.names, kind, value)
    if shown is None:
        return "none"
    return str(shown).lower() if isinstance(shown, bool) else str(shown)


def slot_text(instance: Instance, fluent: m.Fluent, args: Sequence[Raw]) -> str:
    """A slot as an author writes it: ``chest.state``, ``road(a, b)``."""
    shown = [
        value_shown(instance, param.type, arg)
        for param, arg in zip(fluent.params, args, strict=True)
    ]
    if fluent.fluent_kind == "attribute":
        return f"{shown[0]}.{fluent.name}"
    return f"{fluent.name}({', '.join(shown)})"


def start_place(instance: Instance, fluent: m.Fluent, args: Sequence[Raw]) -> Span:
    """The place of a start value: the object's field, its line, or the fluent."""
    if fluent.fluent_kind == "attribute" and args and isinstance(args[0], int):
        declaration = instance.declared(args[0], instance.names[args[0]])
        if declaration is not None:
            fields = (one.span for one in declaration.fields if one.fluent == fluent.id)
            return next(fields, declaration.span)
    return fluent.span


# ---- the relaxed world ------------------------------------------------------------------------


def relaxed(instance: Instance, parts: Iterable[Part]) -> tuple[m.Program, m.World]:
    """The program and world with these parts relaxed; names of objects stay as they are."""
    program, world, wishes = instance.program, instance.world, dict[str, list[Part]]()
    gone: dict[PartKind, set[tuple[str, int]]] = {}
    for part in parts:
        if part.kind in ("fluent", "fact"):
            wishes.setdefault(part.name, []).append(part)
        else:
            gone.setdefault(part.kind, set()).add((part.name, part.index))
    world = replace(world, endings=tuple(_endings(world, gone)))
    out = {kind: {name for name, _ in names} for kind, names in gone.items()}
    free = out.get("law", set())
    laws = {n: law for n, law in program.laws.items() if n not in free}
    taken = out.get("invariant", ())
    actions = {
        name: _without(action, {at for n, at in gone.get("require", ()) if n == name})
        for name, action in program.actions.items()
    }
    for name, law in program.laws.items():
        dropped = {at for n, at in gone.get("when", ()) if n == name}
        if dropped or name in free:
            actions[f"\nlaw {name}"] = _at_will(law, dropped)
    for fluent, chosen in wishes.items():
        wish = _wish(instance, program.fluents[fluent], chosen)
        actions[wish.name] = wish
    program = replace(
        program,
        laws=laws,
        actions=actions,
        invariants={n: one for n, one in program.invariants.items() if n not in taken},
        conserves={n: one for n, one in program.conserves.items() if n not in taken},
        worlds={**program.worlds, world.name: world},
    )
    return program, world


def _endings(world: m.World, gone: Mapping[PartKind, set[tuple[str, int]]]) -> Iterator[m.Ending]:
    for line in world.endings:
        if line.ending == "goal":
            dropped = {at for name, at in gone.get("goal", ()) if name == line.name}
            yield replace(line, condition=_fewer(line.condition, dropped)) if dropped else line
        elif (line.name, 0) not in gone.get("ending", ()):
            yield line


def _fewer(condition: m.Term, dropped: set[int]) -> m.Term:
    kept = tuple(one for at, one in enumerate(m.conjuncts((condition,))) if at not in dropped)
    return together(kept, condition.span)


def together(terms: Sequence[m.Term], span: Span) -> m.Term:
    """The conjunction of conditions, true where there is none."""
    if not terms:
        return m.BoolLiteral(True, m.BoolType(), span)
    return terms[0] if len(terms) == 1 else m.And(tuple(terms), m.BoolType(), span)


def _without(action: m.Action, dropped: set[int]) -> m.Action:
    if not dropped:
        return action
    requires = [one for one in action.guards if isinstance(one, m.Require)]
    out = [one for at, one in enumerate(requires) if at in dropped]
    guards = [_narrowing(one) if isinstance(one, m.Require) and one in out else one
              for one in action.guards]  # fmt: skip
    return replace(action, guards=tuple(one for one in guards if one is not None))


def _narrowing(require: m.Require) -> m.Require | None:
    """The conjuncts of a require that narrow the types of names."""
    kept = tuple(one for one in m.conjuncts((require.condition,)) if narrows(one))
    if not kept:
        return None
    return replace(require, condition=together(kept, require.span))


def whens(law: m.Law) -> tuple[m.Term, ...]:
    """The parts of a law's condition."""
    return () if law.when is None else tuple(m.conjuncts((law.when,)))


def _at_will(law: m.Law, dropped: set[int]) -> m.Action:
    """A law as an action that takes no time, without some of its conditions."""
    kept = [one for at, one in enumerate(whens(law)) if at not in dropped]
    guards = tuple(
        m.Require(one, "", None, "", (), law.span) for one in kept if not m.looks_back((one,))
    )
    at_once = m.NumberLiteral(0, m.NumberType(), law.span)
    name = f"\nlaw {law.name}"
    return m.Action(name, law.params, (), at_once, None, None, guards, law.body, (), law.span)


def _wish(instance: Instance, fluent: m.Fluent, parts: Sequence[Part]) -> m.Action:
    """An action that gives these slots of a fluent any value, as if they had begun with it."""
    span = fluent.span
    binders = [
        m.Binder(f"\nx{at}", m.TypeRange(param.type), param.type, span)
        for at, param in enumerate(fluent.params)
    ]
    value = m.Binder("\nvalue", m.TypeRange(fluent.type), fluent.type, span)
    names = [m.Local(one.name, one.type, span) for one in binders]
    guards: tuple[m.Require, ...] = ()
    if all(part.kind == "fact" for part in parts):
        chosen = tuple(_is(instance, names, part.args, span) for part in parts)
        condition = chosen[0] if len(chosen) == 1 else m.Or(chosen, m.BoolType(), span)
        guards = (m.Require(condition, "", None, "", (), span),)
    target = m.Read(fluent.id, tuple(names), fluent.type, span)
    change = m.Assign(target, "=", m.Local(value.name, value.type, span), span)
    params = (*binders, value)
    return m.Action(
        f"\nwish {fluent.id}", params, (), None, None, None, guards, (change,), (), span
    )


def _is(instance: Instance, names: Sequence[m.Local], args: Sequence[Raw], span: Span) -> m.Term:
    equal = tuple(
        m.Compare("==", name, constant(instance, name.type, arg, span), m.BoolType(), span)
        for name, arg in zip(names, args, strict=True)
    )
    return together(equal, span)


def constant(instance: Instance, kind: m.ValueType, value: Raw, span: Span) -> m.Term:
    """A raw value as a term."""
    match kind:
        case _ if value is None:
            return m.NoneLiteral(kind, span)
        case m.BoolType():
            return m.BoolLiteral(bool(value), kind, span)
        case m.EnumType(name=name) if isinstance(value, int):
            member = instance.program.enums[name].members[value]
            return m.EnumLiteral(name, member, value, kind, span)
        case m.ObjectType() if isinstance(value, int):
            return m.ObjectLiteral(instance.names[value], kind, span)
        case m.NumberType() if isinstance(value, int):
            return m.NumberLiteral(value, kind, span)
        case (
            m.EnumType() | m.ObjectType() | m.NumberType() | m.RealType() | m.TextType()
            | m.NoneType() | m.CollectionType()
        ):  # fmt: skip
            raise TypeError(f"{value!r} is no constant")
        case _:
            assert_never(kind)


Rebuild = Callable[[m.Program, m.Body], tuple[Simulator[StateT], StateT]]
"""Another program's simulator and start state, changed by a body."""
Remake = Callable[[m.Program], Instance]
OracleName = Literal["relaxed reachability", "own search", "fast-downward"]
_SHARE = 0.4
"""The share of the time left that one proof may take."""
_GROWTH = 40
"""Most states of a relaxed world, as a multiple of the states of the world itself."""
_GLANCE = 1.5
"""Seconds of the greedy search for a plan before the search for a proof."""
_SMALL = 100
"""Most states of a world for which our own search is tried before a planner."""


@dataclass(frozen=True)
class Variants(Generic[StateT]):
    """A world's texts, and how to make it anew from a changed program.

    ``quote`` maps source names to texts, ``remake`` makes the instance of a changed program and
    ``rebuild`` its simulator. ``states`` is the number of states of the world, if known, and
    ``relaxed`` whether it may be unreachable without deletions: if not, that is not computed again.
    """

    quote: Mapping[str, str]
    remake: Remake
    rebuild: Rebuild[StateT]
    states: int | None = None
    relaxed: bool = True


@dataclass(frozen=True, slots=True)
class Core:
    """The parts that keep a goal out of reach.

    ``minimal``: without any one of them the ``oracle`` no longer proves it. Otherwise time ran out
    and the last ``unsure`` parts were not tried.
    """

    goal: str
    parts: tuple[Part, ...]
    oracle: OracleName
    minimal: bool
    unsure: int = 0


def find_core(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str,
    variants: Variants[StateT],
    *,
    seconds: float,
) -> Core | None:
    """The core of an unwinnable goal line in ``seconds``; ``None`` if nothing proves it here."""
    end = time.monotonic() + seconds
    oracle = _oracle(simulator, state, goal, variants, end)
    if oracle is None:
        return None
    instance = simulator.instance_at(state)
    shrink = _Shrink(instance, oracle, end)
    rules = tuple(rule_parts(instance, goal, variants.quote))
    if oracle.name == "relaxed reachability":  # nothing is undone: what laws do hinders nobody
        rules = tuple(part for part in rules if part.kind != "law")
    shrink.drop_groups(_grouped(rules))
    fluents = shrink.drop(tuple(fluent_parts(instance)), keep=False)
    for fluent in fluents:
        values = _values(simulator, state, instance, fluent.name)
        shrink.drop_halves(tuple(fact_parts(instance, fluent.name, values)))
    return Core(goal, tuple(shrink.kept), oracle.name, not shrink.unsure, shrink.unsure)


def _values(
    simulator: Simulator[StateT], state: StateT, instance: Instance, fluent: str
) -> dict[tuple[Raw, ...], Raw]:
    known = instance.program.fluents[fluent]
    return {args: simulator.read(state, fluent, args) for args in slots(instance, known)}


# ---- oracles ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Oracle:
    """A test whether a goal is still unreachable after these parts are relaxed."""

    name: OracleName
    proves: Callable[[Sequence[Part]], bool]


def _oracle(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str,
    variants: Variants[StateT],
    end: float,
) -> _Oracle | None:
    """Return the fastest oracle that proves the unchanged world unwinnable; ``None`` if none
    does."""
    instance, states = simulator.instance_at(state), variants.states

    def encoded(parts: Sequence[Part]) -> Encoding | None:
        changed = variants.remake(relaxed(instance, parts)[0])
        if len(changed.objects) != len(instance.objects):
            return None
        found = encode_facts(facts_of(simulator, state, changed), goal)
        return found if isinstance(found, Encoding) else None

    def relaxedly(parts: Sequence[Part]) -> bool:
        found = encoded(parts)
        return found is not None and found.unreachable

    def exhausted(parts: Sequence[Part]) -> bool:
        try:
            other, start = variants.rebuild(relaxed(instance, parts)[0], ())
        except Failure:
            return False
        left = end - time.monotonic()
        limits = Limits(None if states is None else states * _GROWTH, _SHARE * left)
        return isinstance(OwnSearch(other, start, goal).run(limits), Exhausted)

    def by_planner(parts: Sequence[Part]) -> bool:
        found, program = encoded(parts), find_downward()
        if found is None or isinstance(program, Diagnostic):
            return False
        if found.unreachable:
            return True
        left = max(_SHARE * (end - time.monotonic()), 0.0)
        for search, seconds in ((FF, min(_GLANCE, left)), (BLIND, left)):
            (answer,) = run_searches(program, found.text, (search,), seconds=seconds)
            if answer.result in ("plan", "no plan"):
                return answer.result == "no plan"
        return False

    searches = [_Oracle("own search", exhausted), _Oracle("fast-downward", by_planner)]
    if states is None or states > _SMALL:  # relaxed it is larger still
        searches.reverse()
    undone = [_Oracle("relaxed reachability", relaxedly)] if variants.relaxed else []
    ways = (*undone, *searches)
    return next((one for one in ways if one.proves(())), None)


# ---- deletion ---------------------------------------------------------------------------------


def _grouped(parts: Sequence[Part]) -> list[tuple[Part, ...]]:
    """Parts of one kind and rule together, in order."""
    groups: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        groups.setdefault((part.kind, part.name), []).append(part)
    return [tuple(group) for group in groups.values()]


class _Shrink:
    """Relaxes parts one after another; ``kept`` are the parts that the proof needs."""

    def __init__(self, instance: Instance, oracle: _Oracle, end: float) -> None:
        self._instance, self._oracle, self._end = instance, oracle, end
        self._relaxed: list[Part] = []
        self.kept: list[Part] = []
        self.unsure = 0

    def drop_groups(self, groups: Sequence[tuple[Part, ...]]) -> None:
        """Relax whole groups where that is possible, else the parts of a group one by one."""
        for group in groups:
            if len(group) == 1 or not self._try(group):
                self.drop(group)

    def drop_halves(self, parts: Sequence[Part]) -> None:
        """Relax parts that cannot all be relaxed together, half of them at a time.

        A proof takes long and a plan that refutes it is found fast: parts that can go together are
        not proved one by one.
        """
        if len(parts) < 2:
            self.kept += parts
            return
        middle = (len(parts) + 1) // 2
        for half in (parts[:middle], parts[middle:]):
            if self._over():
                self.unsure += len(half)
                self.kept += half
            elif not self._try(half):
                self.drop_halves(half)

    def drop(self, parts: Sequence[Part], *, keep: bool = True) -> list[Part]:
        """Relax each part that plays no role; the others are kept, and returned."""
        left = []
        for part in parts:
            if self._over():
                self.unsure += 1
                left.append(part)
            elif not self._try((part,)):
                left.append(part)
        self.kept += left if keep else []
        return left

    def _over(self) -> bool:
        return time.monotonic() >= self._end

    def _try(self, parts: Sequence[Part]) -> bool:
        if self._over() or not self._oracle.proves([*self._relaxed, *parts]):
            return False
        self._relaxed += parts
        return True
