"""How constructs are found in a checked program: tests on its model."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tokenworld.model import (
    Action,
    Body,
    CollectionRange,
    Compare,
    Effect,
    Fold,
    Let,
    Member,
    NumberType,
    Program,
    Read,
    Require,
    Say,
    Slot,
    Template,
    Term,
    World,
    effects_in,
    subterms,
    terms_of,
)

__all__ = [
    "Test",
    "action_",
    "bodies",
    "builtin",
    "effect_",
    "effects",
    "ending_",
    "exact",
    "fluent",
    "fold_",
    "in_list",
    "kind_",
    "let_",
    "literal_slot",
    "names_",
    "narrowed",
    "over_",
    "overridden",
    "phase_",
    "roots",
    "slot_",
    "slots",
    "templates",
    "term_",
    "terms",
    "unsaid_parameter",
    "was_",
]

Test = Callable[[Program, World], bool]


# ---- parts of a program -------------------------------------------------------------------


def bodies(program: Program, world: World) -> Iterator[Body]:
    for action in program.actions.values():
        yield from (action.body, action.cancelled)
        yield tuple(guard for guard in action.guards if isinstance(guard, Let))
    yield from (law.body for law in program.laws.values())
    yield from (birth.body for birth in program.births)
    yield from (watch.body for watch in program.watches.values())
    yield from (rule.body for rule in program.describes)
    yield from world.setups
    yield from (legend.body for layout in world.layouts for legend in layout.legends)


def effects(program: Program, world: World) -> Iterator[Effect]:
    for body in bodies(program, world):
        yield from effects_in(body)


def templates(program: Program, world: World) -> Iterator[Template]:
    yield from (one.template for one in effects(program, world) if isinstance(one, Say))
    for action in program.actions.values():
        yield from (one.text for one in action.requires if one.text is not None)
    yield from (line.text for line in world.endings if line.text is not None)


def slots(program: Program, world: World) -> Iterator[Slot]:
    for template in templates(program, world):
        yield from (part for part in template.parts if isinstance(part, Slot))


def roots(program: Program, world: World) -> Iterator[Term]:
    for effect in effects(program, world):
        yield from terms_of(effect)
    for action in program.actions.values():
        yield from (one.condition for one in action.requires)
        yield from (t for t in (action.takes, action.until, action.cost) if t is not None)
    yield from (law.when for law in program.laws.values() if law.when is not None)
    yield from (watch.when for watch in program.watches.values())
    yield from (derive.value for derive in program.derives.values())
    yield from (line.condition for line in world.endings)
    yield from (slot.term for slot in slots(program, world))
    yield from (rule.name for rule in program.called)


def terms(program: Program, world: World) -> Iterator[Term]:
    for root in roots(program, world):
        yield from subterms(root)


# ---- makers of tests ----------------------------------------------------------------------


def term_(kind: str, **wanted: object) -> Test:
    return lambda program, world: any(
        term.kind == kind and all(getattr(term, key) == value for key, value in wanted.items())
        for term in terms(program, world)
    )


def effect_(kind: str, **wanted: object) -> Test:
    return lambda program, world: any(
        one.kind == kind and all(getattr(one, key) == value for key, value in wanted.items())
        for one in effects(program, world)
    )


def let_(kind: str) -> Test:
    return lambda program, world: any(
        isinstance(one, Let) and one.value.kind == kind for one in effects(program, world)
    )


def fluent(**wanted: object) -> Test:
    return lambda program, world: any(
        all(getattr(one, key) == value for key, value in wanted.items())
        for one in program.fluents.values()
    )


def kind_(test: Callable[[object], bool]) -> Test:
    return lambda program, world: any(test(one.type) for one in program.fluents.values())


def action_(test: Callable[[Action], bool]) -> Test:
    return lambda program, world: any(test(one) for one in program.actions.values())


def phase_(order: str) -> Test:
    return lambda program, world: any(
        phase.order == order and any(law.phase == phase.name for law in program.laws.values())
        for phase in program.phases.values()
    )


def ending_(kind: str) -> Test:
    return lambda program, world: any(line.ending == kind for line in world.endings)


def slot_(test: Callable[[Slot], bool]) -> Test:
    return lambda program, world: any(test(one) for one in slots(program, world))


def fold_(kind: str) -> Test:
    return term_("fold", fold=kind)


def builtin(name: str) -> Test:
    return term_("builtin", name=name)


def over_(test: Callable[[CollectionRange], bool]) -> Test:
    return lambda program, world: any(
        isinstance(binder.domain, CollectionRange) and test(binder.domain)
        for term in terms(program, world)
        if isinstance(term, Fold)
        for binder in term.binders
    )


def literal_slot(program: Program, world: World) -> bool:
    return any(
        isinstance(part, Slot) and part.term.kind != "local"
        for action in program.actions.values()
        for phrase in action.phrases
        for part in phrase.parts
    )


def unsaid_parameter(program: Program, world: World) -> bool:
    return any(
        any(
            all(not (isinstance(part, Slot) and names_(part, binder.name)) for part in phrase.parts)
            for binder in action.params
        )
        for action in program.actions.values()
        for phrase in action.phrases
    )


def names_(slot: Slot, name: str) -> bool:
    return slot.term.kind == "local" and getattr(slot.term, "name", "") == name


def narrowed(program: Program, world: World) -> bool:
    return any(
        (isinstance(part, Compare) and part.op == "!=" and part.right.kind == "none_literal")
        or part.kind == "is_type"
        for action in program.actions.values()
        for guard in action.guards
        if isinstance(guard, Require)
        for part in subterms(guard.condition)
    )


def overridden(program: Program, world: World) -> bool:
    return any(
        field.span != program.fluents[field.fluent].span
        and program.fluents[field.fluent].default is not None
        and field.value != program.fluents[field.fluent].default
        for kind in program.types.values()
        for field in kind.defaults
    )


def in_list(program: Program, world: World) -> bool:
    return any(
        isinstance(term, Member) and term.collection.kind == "list"
        for term in terms(program, world)
    )


def was_(program: Program, world: World) -> bool:
    return any(isinstance(term, Read) and term.was for term in terms(program, world))


def exact(decimals: int = 0, unit: str = "") -> Callable[[object], bool]:
    return lambda kind: (
        isinstance(kind, NumberType) and kind.decimals >= decimals and kind.unit == unit
    )
