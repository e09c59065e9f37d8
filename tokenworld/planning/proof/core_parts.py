"""The parts of a world that may keep its goal out of reach, and the world without one of them.

To *relax* a part makes the goal no harder: a conjunct of the goal is no longer asked for, a
require or a condition of a law no longer tested, a losing line or an invariant taken out, a law
becomes something that the actor may do or leave, and a start value may be chosen freely. What is
out of reach although a part is relaxed does not depend on that part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.ground import Instance, Raw, domain_of, show_value
from tokenworld.model import (
    Action,
    And,
    Assign,
    Binder,
    BoolLiteral,
    BoolType,
    Compare,
    Ending,
    EnumLiteral,
    EnumType,
    Fluent,
    Law,
    Local,
    NoneLiteral,
    NumberLiteral,
    NumberType,
    ObjectLiteral,
    ObjectType,
    Or,
    Program,
    Read,
    Require,
    Term,
    TypeRange,
    ValueType,
    World,
    looks_back,
)

__all__ = [
    "Part",
    "PartKind",
    "conjuncts",
    "constant",
    "fact_parts",
    "fluent_parts",
    "quoted",
    "relaxed",
    "rule_parts",
    "slot_text",
    "value_shown",
]

PartKind = Literal["goal", "ending", "require", "law", "when", "invariant", "fluent", "fact"]
_MOST_WISHES = 6_000
"""Commands that stand for free start values at most."""


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


# ---- which parts there are --------------------------------------------------------------------


def conjuncts(term: Term) -> tuple[Term, ...]:
    """The parts of a conjunction, nested ones too."""
    if isinstance(term, And):
        return tuple(part for one in term.terms for part in conjuncts(one))
    return (term,)


def rule_parts(instance: Instance, goal: str, quote: Mapping[str, str]) -> Iterator[Part]:
    """Everything but start values: what is most likely to be beside the point comes first.

    ``quote`` maps source names to their texts.
    """
    program, world = instance.program, instance.world
    line = next(one for one in world.goals if one.name == goal)
    for index, term in enumerate(conjuncts(line.condition)):
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
        for index, term in enumerate(_whens(law)):
            if looks_back((term,)):  # it compares with the start of the tick: asked of laws only
                continue
            yield Part("when", law.name, quoted(term.span, quote), term.span, index)
    for action in program.actions.values():
        for index, require in enumerate(action.requires):
            yield Part("require", action.name, require.source, require.span, index)


def quoted(span: Span, quote: Mapping[str, str]) -> str:
    """What stands at a place, on one line."""
    return " ".join(quote.get(span.file, "")[span.start : span.end].split())


def fluent_parts(instance: Instance) -> Iterator[Part]:
    """The start values of each fluent that can be chosen freely, all slots together."""
    for fluent in instance.program.fluents.values():
        if fluent.fluent_kind != "table" and 0 < _wishes(instance, fluent) <= _MOST_WISHES:
            yield Part("fluent", fluent.id, fluent.id, fluent.span)


def _wishes(instance: Instance, fluent: Fluent) -> int:
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
        span = _place(instance, fluent, args)
        yield Part("fact", fluent_id, text, span, args=args)


def value_shown(instance: Instance, kind: ValueType, value: Raw) -> str:
    """A value as an author writes it."""
    shown = show_value(instance.program, instance.names, kind, value)
    if shown is None:
        return "none"
    return str(shown).lower() if isinstance(shown, bool) else str(shown)


def slot_text(instance: Instance, fluent: Fluent, args: Sequence[Raw]) -> str:
    """A slot as an author writes it: ``chest.state``, ``road(a, b)``."""
    shown = [
        value_shown(instance, param.type, arg)
        for param, arg in zip(fluent.params, args, strict=True)
    ]
    if fluent.fluent_kind == "attribute":
        return f"{shown[0]}.{fluent.name}"
    return f"{fluent.name}({', '.join(shown)})"


def _place(instance: Instance, fluent: Fluent, args: Sequence[Raw]) -> Span:
    """Where a start value is written: the object's field, its line, or the fluent."""
    if fluent.fluent_kind == "attribute" and args and isinstance(args[0], int):
        declaration = instance.declared(args[0], instance.names[args[0]])
        if declaration is not None:
            fields = (one.span for one in declaration.fields if one.fluent == fluent.id)
            return next(fields, declaration.span)
    return fluent.span


# ---- the world without them -------------------------------------------------------------------


def relaxed(instance: Instance, parts: Iterable[Part]) -> tuple[Program, World]:
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


def _endings(world: World, gone: Mapping[PartKind, set[tuple[str, int]]]) -> Iterator[Ending]:
    for line in world.endings:
        if line.ending == "goal":
            dropped = {at for name, at in gone.get("goal", ()) if name == line.name}
            yield replace(line, condition=_fewer(line.condition, dropped)) if dropped else line
        elif (line.name, 0) not in gone.get("ending", ()):
            yield line


def _fewer(condition: Term, dropped: set[int]) -> Term:
    kept = tuple(one for at, one in enumerate(conjuncts(condition)) if at not in dropped)
    if not kept:
        return BoolLiteral(True, BoolType(), condition.span)
    return kept[0] if len(kept) == 1 else And(kept, BoolType(), condition.span)


def _without(action: Action, dropped: set[int]) -> Action:
    if not dropped:
        return action
    requires = [one for one in action.guards if isinstance(one, Require)]
    out = [one for at, one in enumerate(requires) if at in dropped]
    return replace(action, guards=tuple(one for one in action.guards if one not in out))


def _whens(law: Law) -> tuple[Term, ...]:
    return () if law.when is None else conjuncts(law.when)


def _at_will(law: Law, dropped: set[int]) -> Action:
    """What a law does as an action that takes no time, with fewer conditions."""
    whens = [one for at, one in enumerate(_whens(law)) if at not in dropped]
    guards = tuple(
        Require(one, "", None, "", (), law.span) for one in whens if not looks_back((one,))
    )
    at_once = NumberLiteral(0, NumberType(), law.span)
    name = f"\nlaw {law.name}"
    return Action(name, law.params, (), at_once, None, None, guards, law.body, (), law.span)


def _wish(instance: Instance, fluent: Fluent, parts: Sequence[Part]) -> Action:
    """An action that gives these slots of a fluent any value, as if they had begun with it."""
    span = fluent.span
    binders = [
        Binder(f"\nx{at}", TypeRange(param.type), param.type, span)
        for at, param in enumerate(fluent.params)
    ]
    value = Binder("\nvalue", TypeRange(fluent.type), fluent.type, span)
    names = [Local(one.name, one.type, span) for one in binders]
    guards: tuple[Require, ...] = ()
    if all(part.kind == "fact" for part in parts):
        chosen = tuple(_is(instance, names, part.args, span) for part in parts)
        condition = chosen[0] if len(chosen) == 1 else Or(chosen, BoolType(), span)
        guards = (Require(condition, "", None, "", (), span),)
    target = Read(fluent.id, tuple(names), fluent.type, span)
    change = Assign(target, "=", Local(value.name, value.type, span), span)
    params = (*binders, value)
    return Action(f"\nwish {fluent.id}", params, (), None, None, None, guards, (change,), (), span)


def _is(instance: Instance, names: Sequence[Local], args: Sequence[Raw], span: Span) -> Term:
    equal = tuple(
        Compare("==", name, constant(instance, name.type, arg, span), BoolType(), span)
        for name, arg in zip(names, args, strict=True)
    )
    if not equal:
        return BoolLiteral(True, BoolType(), span)
    return equal[0] if len(equal) == 1 else And(equal, BoolType(), span)


def constant(instance: Instance, kind: ValueType, value: Raw, span: Span) -> Term:
    """A raw value as a term."""
    match kind:
        case _ if value is None:
            return NoneLiteral(kind, span)
        case BoolType():
            return BoolLiteral(bool(value), kind, span)
        case EnumType(name=name) if isinstance(value, int):
            member = instance.program.enums[name].members[value]
            return EnumLiteral(name, member, value, kind, span)
        case ObjectType() if isinstance(value, int):
            return ObjectLiteral(instance.names[value], kind, span)
        case NumberType() if isinstance(value, int):
            return NumberLiteral(value, kind, span)
        case _:
            raise TypeError(f"{value!r} is no constant")
