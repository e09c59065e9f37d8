"""Facts that nothing reads: they may be kept, changed and shown, and never decide anything."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Instance
from tokenworld.model import (
    Body,
    Fluent,
    ObjectType,
    Program,
    Say,
    Term,
    World,
    body_terms,
    effects_in,
    fluents_read,
    rule_terms,
    slot_terms,
)

__all__ = ["Unread", "unread_facts"]


@frozen
class Unread:
    """A fact that no rule reads; ``shown`` tells that words speak of it."""

    name: str
    shown: bool
    place: Span


def unread_facts(instance: Instance) -> tuple[Unread, ...]:
    """The stored facts of a world that no rule reads, in order of declaration.

    Tables, static facts and facts of types without objects are left out. What only derived facts
    read counts if something reads these in turn.
    """
    program, world = instance.program, instance.world
    decided = fluents_read(_deciding(program, world), program.derives)
    shown = fluents_read(_prose_terms(program, world), program.derives)
    return tuple(
        Unread(fluent.id, fluent.id in shown, fluent.span)
        for fluent in program.fluents.values()
        if fluent.id not in decided and not _for_records(fluent) and _here(instance, fluent)
    )


def _for_records(fluent: Fluent) -> bool:
    """Whether a fact is there to describe a thing: nothing can change it anyway."""
    return fluent.static or fluent.fluent_kind == "table"


def _here(instance: Instance, fluent: Fluent) -> bool:
    """Whether the world has a slot of the fluent."""
    objects = (p.type.name for p in fluent.params if isinstance(p.type, ObjectType))
    return all(instance.members[name] for name in objects)


def _deciding(program: Program, world: World) -> Iterator[Term]:
    yield from rule_terms(program, world)
    for watch in program.watches.values():
        yield watch.when
        yield from body_terms(watch.body)
    for award in (*world.awards, *world.pays):
        yield from (award.amount, award.when)
    yield from () if world.score is None else (world.score,)


def _prose_terms(program: Program, world: World) -> Iterator[Term]:
    """What words speak of: texts, names, descriptions, and which objects can be named."""
    for action in program.actions.values():
        for template in action.phrases:
            yield from slot_terms(template)
        for require in action.requires:
            yield from () if require.text is None else slot_terms(require.text)
    spoken = [action.body for action in program.actions.values()]
    spoken += [law.body for law in program.laws.values()]
    spoken += [watch.body for watch in program.watches.values()]
    for body in spoken:
        yield from _said(body)
    for describe in program.describes:
        yield from _said(describe.body)
        yield from body_terms(describe.body)
    for called in program.called:
        yield from (called.name, *called.aka)
    yield from (scope.condition for scope in program.scopes)
    for line in world.endings:
        yield from () if line.text is None else slot_terms(line.text)


def _said(body: Body) -> Iterator[Term]:
    for effect in effects_in(body):
        if isinstance(effect, Say):
            yield from slot_terms(effect.template)
