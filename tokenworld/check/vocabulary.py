"""The vocabulary pass: units, enums, types, fluents, params, events, phases, objects' types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from tokenworld.check.context import Context
from tokenworld.check.draft import Draft
from tokenworld.check.folds import formal_binders
from tokenworld.check.literals import number_type, type_of_ref
from tokenworld.diagnostics import Span
from tokenworld.model import ROOT, Enum, Event, Param, PddlEntry, Phase, Unit
from tokenworld.syntax import nodes as syn

__all__ = ["declare_events", "declare_files", "declare_params", "declare_words"]

EDITIONS = ("1",)


class _Placed(Protocol):
    @property
    def span(self) -> Span: ...


def fresh(draft: Draft, what: str, name: syn.Name, table: Mapping[str, _Placed]) -> bool:
    """Whether the name is new in its namespace; reports it if not."""
    if name.value in table:
        draft.twice(what, name, table[name.value].span)
        return False
    return True


def declare_files(draft: Draft) -> None:
    """``edition``, ``pddl`` and ``actor``: what holds for the whole program."""
    for edition, _ in draft.items(syn.EditionDecl):
        if edition.number.digits not in EDITIONS:
            what = f"There is no edition {edition.number.digits} of the language."
            draft.tell("TW0002", what, edition.span, "unknown edition", "Write `edition 1`.")
    for block, _ in draft.items(syn.PddlDecl):
        draft.pddl.extend(_pddl_entry(entry) for entry in block.entries)
    for actor, _ in draft.items(syn.ActorDecl):
        if draft.actor is not None:
            what = "The acting object is named twice."
            draft.tell("TW0203", what, actor.span, "a second `actor`", "Keep one `actor` line.")
        draft.actor, draft.actor_name = actor.type.value, actor.name.value


def _pddl_entry(entry: syn.PddlEntry) -> PddlEntry:
    values = tuple(v.digits if isinstance(v, syn.Number) else v.value for v in entry.values)
    return PddlEntry(entry.key.value, values, entry.span)


def declare_words(draft: Draft) -> None:
    """Units, enums and phases."""
    for unit, _ in draft.items(syn.UnitDecl):
        if fresh(draft, "unit", unit.name, draft.units):
            draft.attempt(lambda unit=unit: _unit(draft, unit))  # type: ignore[misc]
    for enum, _ in draft.items(syn.EnumDecl):
        if fresh(draft, "enum", enum.name, draft.enums):
            _enum(draft, enum)
    for phase, _ in draft.items(syn.PhaseDecl):
        if phase.name.value in draft.phases:
            what = f"The phase `{phase.name.value}` is declared twice."
            draft.tell("TW0502", what, phase.name.span, "declared again", "Keep one line of it.")
            continue
        order = "by_nesting" if phase.by_nesting else "sequential"
        kind = order if phase.sequentially else "simultaneous"
        draft.phases[phase.name.value] = Phase(phase.name.value, kind, phase.span)  # type: ignore[arg-type]


def _unit(draft: Draft, unit: syn.UnitDecl) -> None:
    name = unit.name.value
    if unit.value is None:
        draft.units[name] = Unit(name, name, 1, unit.span)
        return
    base = number_type(draft, unit.value)
    if base.decimals or not base.unit or base.unit == "%":
        hint = "Write a whole multiple of another unit, such as `unit l = 1000ml`."
        draft.stop("TW0303", f"`{name}` is no multiple of a unit.", unit.value.span, hint=hint)
    draft.units[name] = Unit(name, base.unit, base.low or 0, unit.span)


def _enum(draft: Draft, enum: syn.EnumDecl) -> None:
    seen: dict[str, syn.Name] = {}
    for member in enum.members:
        if member.value in seen:
            draft.twice("member", member, seen[member.value].span)
        seen.setdefault(member.value, member)
    draft.enums[enum.name.value] = Enum(enum.name.value, tuple(seen), enum.ladder, enum.span)


def declare_params(draft: Draft) -> None:
    """``param`` lines; their defaults are constants in their range."""
    for param, _ in draft.items(syn.ParamDecl):
        if fresh(draft, "param", param.name, draft.params):
            draft.attempt(lambda param=param: _param(draft, param))  # type: ignore[misc]


def _param(draft: Draft, param: syn.ParamDecl) -> None:
    from tokenworld.check.expressions import check, fit

    name, kind = param.name.value, type_of_ref(draft, param.type)
    ctx = Context(draft, was=False, me=False)
    default = fit(check(param.value, ctx, kind), kind, ctx, f"param `{name}`")
    draft.params[name] = Param(name, kind, default, param.learned, param.span)


def declare_events(draft: Draft) -> None:
    """``event`` lines, and the types of all objects, which expressions need early."""
    for event, _ in draft.items(syn.EventDecl):
        if fresh(draft, "event", event.name, draft.events):
            params = draft.attempt(
                lambda event=event: formal_binders(Context(draft), event.params)  # type: ignore[misc]
            )
            if params is not None:
                draft.events[event.name.value] = Event(event.name.value, params, event.span)
    for item, _ in draft.items(syn.ObjectDecl):
        _object_types(draft, None, item)
    for world, _ in draft.items(syn.WorldDecl):
        for inner in world.items:
            if isinstance(inner, syn.ObjectDecl):
                _object_types(draft, world.name.value, inner)
    for derive, _ in draft.items(syn.DeriveDecl):
        _derive_name(draft, derive)


def _object_types(draft: Draft, world: str | None, item: syn.ObjectDecl) -> None:
    kind = item.type.value if item.type is not None else ROOT
    for name in item.names:
        places = {(world, name.value), (None, name.value)} & set(draft.object_types)
        if places:
            what = f"The object `{name.value}` is declared twice."
            draft.tell("TW0203", what, name.span, "declared again", "Rename one of the two.")
        else:
            draft.object_types[world, name.value] = kind


def _derive_name(draft: Draft, derive: syn.DeriveDecl) -> None:
    name = derive.name
    if name.value in draft.derive_items:
        draft.twice("derive", name, draft.derive_items[name.value].span)
    elif name.value in draft.fluents:
        draft.twice("fact", name, draft.fluents[name.value].span)
    else:
        draft.derive_items[name.value] = derive
