"""The vocabulary pass: units, enums, types, fluents, params, events, phases, objects' types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from tokenworld.check.attributes import fact_id
from tokenworld.check.context import Context
from tokenworld.check.draft import Draft
from tokenworld.check.folds import formal_binders
from tokenworld.check.layouts import cells_of, created_by_name
from tokenworld.check.literals import number_type, type_of_ref
from tokenworld.diagnostics import Span
from tokenworld.model import (
    ROOT,
    Arithmetic,
    BoolLiteral,
    Enum,
    EnumLiteral,
    Event,
    Negate,
    NoneLiteral,
    NumberLiteral,
    ObjectLiteral,
    Param,
    ParamRead,
    PddlEntry,
    Phase,
    Rescale,
    TemplateTerm,
    Term,
    ToReal,
    Unit,
    subterms,
)
from tokenworld.syntax import nodes as syn

__all__ = [
    "check_constant",
    "declare_events",
    "declare_files",
    "declare_params",
    "declare_words",
    "fresh",
]

EDITIONS = ("1",)
PHASES = 64


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
        draft.attempt(lambda unit=unit: _unit(draft, unit))  # type: ignore[misc]
    for enum, _ in draft.items(syn.EnumDecl):
        if fresh(draft, "enum", enum.name, draft.enums):
            _enum(draft, enum)
    for phase, _ in draft.items(syn.PhaseDecl):
        if phase.name.value in draft.phases:
            what = f"The phase `{phase.name.value}` is declared twice."
            draft.tell("TW0502", what, phase.name.span, "declared again", "Keep one line of it.")
            continue
        if len(draft.phases) == PHASES:
            what = f"A program has at most {PHASES} phases."
            hint = "Join some of them: laws of one phase read the same state."
            draft.tell("TW0502", what, phase.span, "one too many", hint)
            break
        order = "by_nesting" if phase.by_nesting else "sequential"
        kind = order if phase.sequentially else "simultaneous"
        draft.phases[phase.name.value] = Phase(phase.name.value, kind, phase.span)  # type: ignore[arg-type]


def _unit(draft: Draft, unit: syn.UnitDecl) -> None:
    found = _unit_of(draft, unit)
    known = draft.units.get(found.name)
    if known is None:
        draft.units[found.name] = found
    elif (known.base, known.multiple) != (found.base, found.multiple) or not draft.namespaces:
        draft.twice("unit", unit.name, known.span)


def _unit_of(draft: Draft, unit: syn.UnitDecl) -> Unit:
    """A unit keeps its name behind `use … as`: no number could be written with another one."""
    name = unit.name.value
    if unit.value is None:
        return Unit(name, name, 1, unit.span)
    base = number_type(draft, unit.value)
    if base.decimals or not base.unit or base.unit == "%":
        hint = "Write a whole multiple of another unit, such as `unit l = 1000ml`."
        draft.stop("TW0303", f"`{name}` is no multiple of a unit.", unit.value.span, hint=hint)
    return Unit(name, base.unit, base.low or 0, unit.span)


def _enum(draft: Draft, enum: syn.EnumDecl) -> None:
    seen: dict[str, syn.Name] = {}
    for member in enum.members:
        if member.value in seen:
            draft.twice("member", member, seen[member.value].span)
        seen.setdefault(member.value, member)
    draft.enums[enum.name.value] = Enum(enum.name.value, tuple(seen), enum.ladder, enum.span)


def declare_params(draft: Draft) -> None:
    """``param`` lines; their defaults are constants, which may build on other params.

    They are kept in an order in which each one stands behind those that its default needs.
    """
    items: dict[str, syn.ParamDecl] = {}
    for param, _ in draft.items(syn.ParamDecl):
        name = param.name.value
        if name in items:
            draft.twice("param", param.name, items[name].span)
            continue
        items[name] = param
        kind = draft.attempt(lambda param=param: type_of_ref(draft, param.type))  # type: ignore[misc]
        if kind is not None:
            draft.param_types[name] = kind
    for name in draft.param_types:
        draft.attempt(lambda item=items[name]: _param(draft, item))  # type: ignore[misc]
    _in_order(draft)


def _param(draft: Draft, param: syn.ParamDecl) -> None:
    from tokenworld.check.expressions import check, fit

    name = param.name.value
    kind, ctx = draft.param_types[name], Context(draft, was=False, me=False)
    default = fit(check(param.value, ctx, kind), kind, ctx, f"param `{name}`")
    check_constant(default, draft, f"param `{name}`")
    draft.params[name] = Param(name, kind, default, param.learned, param.span)


def check_constant(term: Term, draft: Draft, what: str) -> None:
    """Report a value that depends on a state where a constant is needed."""
    for part in subterms(term):
        if not isinstance(part, _CONSTANT):
            hint = "Write a number, a name or a calculation of constants."
            said = f"The {what} is a constant, and `{draft.text(part.span)}` is not."
            draft.stop("TW0301", said, part.span, "depends on the state", hint)


_CONSTANT = (
    BoolLiteral, NumberLiteral, EnumLiteral, NoneLiteral, ObjectLiteral, ParamRead, TemplateTerm,
    Negate, Rescale, ToReal, Arithmetic,
)  # fmt: skip


def _in_order(draft: Draft) -> None:
    ordered: dict[str, Param] = {}
    for name in list(draft.params):
        if draft.attempt(lambda name=name: _place(name, (), ordered, draft)) is None:  # type: ignore[misc]
            break
    draft.params = {**ordered, **draft.params}


def _place(name: str, chain: tuple[str, ...], ordered: dict[str, Param], draft: Draft) -> bool:
    """Put a param behind those that its default reads."""
    param = draft.params.get(name)
    if param is None or name in ordered:
        return True
    if name in chain:
        what = f"The default of `{name}` builds on itself."
        draft.stop("TW0206", what, param.default.span, "a circle", "Write a number.")
    for part in subterms(param.default):
        if isinstance(part, ParamRead):
            _place(part.name, (*chain, name), ordered, draft)
    ordered[name] = param
    return True


def declare_events(draft: Draft) -> None:
    """``event`` lines, and what expressions need early: types of all objects, names of derives."""
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
        for inner in world.items:
            _born(draft, world.name.value, inner)
    for derive, _ in draft.items(syn.DeriveDecl):
        _derive_name(draft, derive)


def _born(draft: Draft, world: str, line: syn.WorldItem) -> None:
    """Objects that a layout or a setup creates under a name that the world's lines may use."""
    if isinstance(line, syn.Layout):
        for name in cells_of(line):
            _object_type(draft, world, syn.Name(line.type.span, name), line.type.value)
    for one in created_by_name(line):
        _object_type(draft, world, one.name, one.type.value)


def _object_types(draft: Draft, world: str | None, item: syn.ObjectDecl) -> None:
    kind = item.type.value if item.type is not None else ROOT
    for name in item.names:
        _object_type(draft, world, name, kind)


def _object_type(draft: Draft, world: str | None, name: syn.Name, kind: str) -> None:
    if any((place, name.value) in draft.object_types for place in (world, None)):
        draft.tell(
            "TW0203",
            f"The object `{name.value}` is declared twice.",
            name.span,
            "declared again",
            "Rename one of the two.",
        )
    else:
        draft.object_types[world, name.value] = kind


def _derive_name(draft: Draft, derive: syn.DeriveDecl) -> None:
    name = derive.name
    if name.value in draft.derive_items:
        draft.twice("derive", name, draft.derive_items[name.value].span)
    elif fact_id(name.value) in draft.fluents:
        draft.twice("fact", name, draft.fluents[fact_id(name.value)].span)
    else:
        draft.derive_items[name.value] = derive
