"""Which values a stored enum or truth value can ever have: what is written anywhere."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.check.draft import Draft
from tokenworld.check.uses import effects_below, program_parts
from tokenworld.check.writes import written_slots
from tokenworld.model import (
    AddFact,
    Assign,
    BoolLiteral,
    BoolType,
    Choose,
    Create,
    EnumLiteral,
    EnumType,
    FieldValue,
    Fluent,
    NoneLiteral,
    ObjectDecl,
    ObjectKind,
    Read,
    RemoveFact,
    Term,
)

__all__ = ["possible_values"]


def possible_values(draft: Draft) -> dict[str, frozenset[int]]:
    """For each enum or truth fluent whose writes are all constants: the positions it may have.

    Fluents that some calculation, exchange or recorded state sets are left out, and so is
    everything in a program without a world: who uses it may set anything.
    """
    if not draft.worlds or any(world.start for world in draft.worlds.values()):
        return {}
    found: dict[str, set[int]] = {
        key: _implicit(fluent)
        for key, fluent in draft.fluents.items()
        if isinstance(fluent.type, (BoolType, EnumType)) and fluent.fluent_kind != "table"
    }
    for key, value in _values(draft):
        if key not in found:
            continue
        known = _constants(value)
        if known is None:
            del found[key]
        else:
            found[key] |= known
    return {key: frozenset(values) for key, values in found.items()}


def _implicit(fluent: Fluent) -> set[int]:
    """The value without any writing: the default, else false or the first member."""
    if fluent.default is not None:
        return set()
    return set() if isinstance(fluent.type, EnumType) and fluent.type.optional else {0}


def _values(draft: Draft) -> Iterator[tuple[str, Term | None]]:
    """Every value that is written to a fluent; ``None`` where it is not in the text."""
    for fluent in draft.fluents.values():
        if fluent.default is not None:
            yield fluent.id, fluent.default
    for part in program_parts(draft):
        for item in part if isinstance(part, tuple) else ():
            if isinstance(item, ObjectKind):
                yield from _fields(item.defaults)
            elif isinstance(item, ObjectDecl):
                yield from _fields(item.fields)
        for effect in effects_below(part):
            match effect:
                case Assign(target=target, op="=", value=value):
                    yield target.fluent, value
                case AddFact(target=target) | RemoveFact(target=target):
                    yield target.fluent, _truth(effect)
                case Create(fields=fields):
                    yield from _fields(fields)
                case _:
                    yield from ((write.fluent, None) for write in written_slots(effect, draft))


def _fields(fields: tuple[FieldValue, ...]) -> Iterator[tuple[str, Term]]:
    for field in fields:
        yield field.fluent, field.value


def _truth(effect: AddFact | RemoveFact) -> Term:
    target: Read = effect.target
    return BoolLiteral(isinstance(effect, AddFact), target.type, target.span)


def _constants(value: Term | None) -> set[int] | None:
    match value:
        case EnumLiteral(index=index):
            return {index}
        case BoolLiteral(value=truth):
            return {int(truth)}
        case NoneLiteral():
            return set()
        case Choose(then=then, otherwise=otherwise):
            one, other = _constants(then), _constants(otherwise)
            return None if one is None or other is None else one | other
        case _:
            return None
