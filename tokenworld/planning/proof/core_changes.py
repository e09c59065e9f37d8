"""Single changes to a world: another number, start value or object, or one condition less.

Each is a program (and a body that changes its start state) with the words that tell an author what
to do. Whether it helps is for `core_repair` to find out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.ground import Instance, Raw
from tokenworld.model import (
    AddFact,
    And,
    Assign,
    Body,
    BoolType,
    Compare,
    FieldValue,
    Fluent,
    NumberLiteral,
    ObjectDecl,
    ObjectType,
    Program,
    Read,
    RemoveFact,
    Require,
    Term,
)
from tokenworld.planning.lower.algebra import Slot
from tokenworld.planning.proof.core_parts import (
    Part,
    conjuncts,
    constant,
    relaxed,
    slot_text,
    value_shown,
)
from tokenworld.planning.proof.core_why import Missing, Way, Why

__all__ = [
    "Candidate",
    "Repair",
    "RepairKind",
    "conditions",
    "core_values",
    "numbers",
    "objects",
    "start_values",
]

RepairKind = Literal["number", "start value", "condition", "object"]
_MOST_VALUES = 12


@dataclass(frozen=True, slots=True)
class Repair:
    """One change to the world after which the goal can be reached in ``ticks``."""

    kind: RepairKind
    text: str
    span: Span
    ticks: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change to try. ``place`` is what it changes: one way to change it is enough."""

    repair: Repair
    program: Program
    place: str
    body: Body = ()


# ---- start values -----------------------------------------------------------------------------


def start_values(why: Why, missing: Missing) -> Iterator[Candidate]:
    """Another start value for a slot that a condition looks at, if it would then hold."""
    for held in missing.held:
        fluent = why.instance.program.fluents[held.slot[0]]
        count = 0
        for value in _values(why, fluent):
            with why.analysis.supposing(held.slot, frozenset((value,))):
                helps = not why.never(missing.term, missing.env)
            if helps and count < _MOST_VALUES:
                count += 1
                yield _started(why, fluent, held.slot, value)


def core_values(why: Why, part: Part) -> Iterator[Candidate]:
    """Other start values for a slot of the core."""
    fluent, slot = why.instance.program.fluents[part.name], (part.name, part.args)
    others = [value for value in _values(why, fluent) if value != why.facts.initial(slot)]
    for value in others[:_MOST_VALUES]:
        yield _started(why, fluent, slot, value)


def _values(why: Why, fluent: Fluent) -> tuple[Raw, ...]:
    """The values of a fluent; of a wide range the ends and some between."""
    values = why.facts.domain(fluent.type) or ()
    if len(values) <= 4 * _MOST_VALUES or isinstance(fluent.type, ObjectType):
        return tuple(values)
    step = len(values) // _MOST_VALUES
    return (*values[::step], values[-1])


def _started(why: Why, fluent: Fluent, slot: Slot, value: Raw) -> Candidate:
    instance = why.instance
    shown = value_shown(instance, fluent.type, value)
    span = _written_at(instance, fluent, slot)
    text = f"let `{slot_text(instance, fluent, slot[1])}` be `{shown}` at the start"
    args = tuple(
        constant(instance, param.type, arg, span)
        for param, arg in zip(fluent.params, slot[1], strict=True)
    )
    target = Read(fluent.id, args, fluent.type, span)
    change: AddFact | RemoveFact | Assign
    if isinstance(fluent.type, BoolType) and fluent.fluent_kind == "relation":
        change = AddFact(target, span) if value else RemoveFact(target, span)
    else:
        change = Assign(target, "=", constant(instance, fluent.type, value, span), span)
    place = slot_text(instance, fluent, slot[1])
    return Candidate(Repair("start value", text, span), instance.program, place, (change,))


def _written_at(instance: Instance, fluent: Fluent, slot: Slot) -> Span:
    if fluent.fluent_kind == "attribute" and slot[1] and isinstance(slot[1][0], int):
        found = instance.declared(slot[1][0], instance.names[slot[1][0]])
        if found is not None:
            fields = (one.span for one in found.fields if one.fluent == fluent.id)
            return next(fields, found.span)
    return fluent.span


# ---- numbers and conditions -------------------------------------------------------------------


def numbers(why: Why, missing: Missing) -> Iterator[Candidate]:
    """The constant that a slot is compared with, moved to what the slot can reach."""
    term = missing.term
    if not isinstance(term, Compare) or term.op in ("==", "!="):
        return
    literal = next((x for x in (term.left, term.right) if isinstance(x, NumberLiteral)), None)
    values = [why.analysis.domain(held.slot) for held in missing.held]
    if literal is None or not values or values[0] is None:
        return
    old_value = literal.value
    reached = [one for one in values[0] if isinstance(one, int)]
    for bound in sorted(reached, key=lambda one: abs(one - old_value))[:_MOST_VALUES]:
        moved = replace(literal, value=bound)
        sides = [moved if one is literal else one for one in (term.left, term.right)]
        changed = replace(term, left=sides[0], right=sides[1])
        if not why.never(changed, missing.env):
            kind = literal.type
            new, old = (value_shown(why.instance, kind, one) for one in (bound, literal.value))
            text = f"in `{missing.text}`, let the number be {new}, not {old}"
            yield _rewritten(why, "number", text, term, changed)


def conditions(why: Why, parts: Sequence[Part], missing: Sequence[Missing]) -> Iterator[Candidate]:
    """A condition left out: those that lack something, then those of the core."""
    program = why.instance.program
    for action in program.actions.values():
        for index, require in enumerate(action.requires):
            terms = conjuncts(require.condition)
            if any(one.term in terms for one in missing):
                part = Part("require", action.name, require.source, require.span, index)
                yield _dropped(why, part)
    for law in program.laws.values():
        for one in missing:
            if law.when is not None and one.term in conjuncts(law.when):
                text = f"drop `{one.text}` from law `{law.name}`"
                kept = [term for term in conjuncts(law.when) if term != one.term]
                when = _joined(kept) if kept else None
                laws = {**program.laws, law.name: replace(law, when=when)}
                repair = Repair("condition", text, one.span)
                yield Candidate(repair, replace(program, laws=laws), f"{law.name} {one.text}")
    for part in parts:
        if part.kind in ("require", "ending", "invariant"):
            yield _dropped(why, part)


def _joined(terms: Sequence[Term]) -> Term:
    return terms[0] if len(terms) == 1 else And(tuple(terms), BoolType(), terms[0].span)


def _dropped(why: Why, part: Part) -> Candidate:
    words = {
        "require": f"drop `require {part.text}` of `{part.name}`",
        "ending": f"drop the line `{part.name}: {part.text}`",
        "invariant": f"drop the invariant `{part.name}: {part.text}`",
    }
    program, _ = relaxed(why.instance, (part,))
    repair = Repair("condition", words[part.kind], part.span)
    return Candidate(repair, program, f"{part.name} {part.text}")


def _rewritten(why: Why, kind: RepairKind, text: str, old: Term, new: Term) -> Candidate:
    """The program with one conjunct of a require or of a law's condition replaced."""
    program = why.instance.program

    def swap(term: Term) -> Term:
        return _joined([new if one == old else one for one in conjuncts(term)])

    actions = {
        name: replace(
            action,
            guards=tuple(
                replace(one, condition=swap(one.condition)) if isinstance(one, Require) else one
                for one in action.guards
            ),
        )
        for name, action in program.actions.items()
    }
    laws = {
        name: law if law.when is None else replace(law, when=swap(law.when))
        for name, law in program.laws.items()
    }
    world = why.instance.world
    endings = tuple(
        replace(one, condition=swap(one.condition)) if one.ending == "goal" else one
        for one in world.endings
    )
    worlds = {**program.worlds, world.name: replace(world, endings=endings)}
    changed = replace(program, actions=actions, laws=laws, worlds=worlds)
    return Candidate(Repair(kind, text, old.span), changed, f"number {old.span}")


# ---- objects ----------------------------------------------------------------------------------


def objects(why: Why, way: Way) -> Iterator[Candidate]:
    """An object of a type that has none, in every place where its first reference may point."""
    instance = why.instance
    for of in way.empty:
        if of not in instance.program.types:
            continue
        name = _fresh(instance, of)
        places = [None, *_places(instance, of)]
        for field in places:
            yield _added(instance, name, of, field)


def _fresh(instance: Instance, of: str) -> str:
    name = of.lower()
    while name in instance.numbers or name in instance.program.objects:
        name += "_2"
    return name


def _places(instance: Instance, of: str) -> Iterator[FieldValue]:
    """Values of the attributes of a type that point at objects."""
    program, span = instance.program, instance.world.span
    for key in program.types[of].attributes:
        kind = program.fluents[key].type
        if isinstance(kind, ObjectType):
            for number in instance.members[kind.name]:
                yield FieldValue(key, constant(instance, kind, number, span), span)


def _added(instance: Instance, name: str, of: str, field: FieldValue | None) -> Candidate:
    program, world = instance.program, instance.world
    fields = () if field is None else (field,)
    declared = ObjectDecl(name, of, None, (), fields, world.name, world.span)
    inside = ""
    if field is not None:
        fluent = program.fluents[field.fluent]
        value = getattr(field.value, "name", "")
        inside = f" {{ {fluent.name} = {value} }}"
    text = f"add `object {name}: {of}{inside}`"
    changed = replace(program, objects={**program.objects, name: declared})
    return Candidate(Repair("object", text, world.span), changed, f"object {of}")
