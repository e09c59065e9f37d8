"""Hints for findings about types: they suggest a replacement by the types of nearby names.

The other modules of this package call these functions when they report; nothing here reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NoReturn

from tokenworld import model as m
from tokenworld.check.draft import Draft
from tokenworld.check.typing.context import Context
from tokenworld.check.typing.types import assignable, can_equal, is_subtype
from tokenworld.diagnostics import Related, Span, counted, joined
from tokenworld.model import is_optional, show_type, without_none
from tokenworld.syntax import nodes as syn

Parameters = tuple[m.Binder, ...] | tuple[m.FluentParam, ...]


def in_words(kind: m.ValueType) -> str:
    """The type as it is named in a message: that of a single number is "a number"."""
    single = isinstance(kind, m.NumberType) and kind.low is not None and kind.low == kind.high
    return "a number" if single else show_type(kind)


def _attributes(term: m.Term, ctx: Context) -> Iterator[m.Fluent]:
    """The attributes of the type of a term."""
    kind = term.type
    if isinstance(kind, m.ObjectType) and kind.name in ctx.draft.types:
        yield from (ctx.draft.fluents[key] for key in ctx.draft.types[kind.name].attributes)


def _part_of(term: m.Term, target: m.ValueType, ctx: Context) -> str | None:
    """``x.f`` for an object where one attribute alone has the kind of values that is needed."""
    wanted = without_none(target)
    found = [
        one.name
        for one in _attributes(term, ctx)
        if can_equal(ctx.draft.types, without_none(one.type), wanted)
    ]
    return f"{ctx.quoted(term)}.{found[0]}" if len(found) == 1 else None


def of_place(term: m.Term, target: m.ValueType, ctx: Context) -> str:
    """The hint where a value of another kind is needed."""
    fixed = isinstance(term, m.ObjectLiteral)  # its attributes are not known at the start
    part = None if fixed else _part_of(term, target, ctx)
    unquoted = _unquoted(ctx.quoted(term), target, ctx)
    if unquoted is not None:
        return f"Write `{unquoted}`, without quotes."
    untyped = isinstance(term.type, m.ObjectType) and term.type.name == m.ROOT
    named = isinstance(target, (m.ObjectType, m.EnumType))
    if untyped and named and isinstance(term, (m.Local, m.ObjectLiteral)):
        kind = show_type(without_none(target))
        return f"Write its type where it is declared: `{ctx.quoted(term)}: {kind}`."
    match term.type, target:
        case m.ObjectType(name=wide), m.ObjectType(name=narrow) if is_subtype(
            ctx.draft.types, narrow, wide
        ):
            return f"Narrow it first, with `is {narrow}` on a name."
        case _ if part is not None:
            return f"Write `{part}`."
        case _, m.EnumType():
            return of_members(target, ctx)
        case m.NumberType(), m.BoolType():
            if isinstance(term, m.NumberLiteral) and term.value in (0, 1):
                return f"Write `{'true' if term.value else 'false'}`."
            return "Write `true` or `false`, or a comparison such as `x > 0`."
        case m.TextType(), m.BoolType():
            return "Write `true` or `false`."
        case m.BoolType(), m.NumberType() | m.RealType():
            if isinstance(term, m.BoolLiteral):
                return f"Write `{1 if term.value else 0}`."
            return f"Write `if {ctx.quoted(term)} then 1 else 0`."
        case _:
            none = ", or `none`" if is_optional(target) else ""
            listed = ", ".join(f"`{name}`" for name in objects_of(target, ctx))
            value = f"one of {listed}" if listed else "a value"
            return f"Write {value} of the type `{show_type(without_none(target))}`{none}."


_MOST_NAMED = 6


def objects_of(kind: m.ValueType, ctx: Context) -> tuple[str, ...]:
    """The objects of a type that may be named here; none if they are many."""
    if not isinstance(kind, m.ObjectType):
        return ()
    there = ctx.draft.object_types.items()
    seen = ((name, of) for (world, name), of in there if world in (None, ctx.world))
    found = [name for name, of in seen if is_subtype(ctx.draft.types, of, kind.name)]
    return tuple(found) if len(found) <= _MOST_NAMED else ()


def _unquoted(written: str, target: m.ValueType, ctx: Context) -> str | None:
    """The value in a quoted text, if a value of the target type is written there."""
    if isinstance(target, m.EnumType):
        plain = written.strip('"').lower()
        return plain if plain in ctx.draft.enums[target.name].members else None
    wanted = isinstance(target, m.BoolType), isinstance(target, (m.NumberType, m.RealType))
    forms = "true|false" if wanted[0] else r"-?\d+(\.\d+)?[a-z%]*"
    found = re.fullmatch(rf'"({forms})"', written) if any(wanted) else None
    return None if found is None else found[1]


def of_members(enum: m.EnumType, ctx: Context) -> str:
    """The hint where a member of an enum is needed."""
    members = ctx.draft.enums[enum.name].members
    return f"Write one of {', '.join(f'`{member}`' for member in members[:6])}."


def of_pair(left: m.Term, right: m.Term, ctx: Context) -> str:
    """The hint where two sides of a comparison can never be equal."""
    if isinstance(left.type, m.EnumType) and isinstance(right.type, m.TextType):
        return "Write the member without quotes."
    parts = (_part_of(left, right.type, ctx), _part_of(right, left.type, ctx))
    told = " or ".join(f"`{one}`" for one in parts if one is not None)
    return f"Write {told}." if told else "Compare values of one kind."


def of_order(term: m.Term, other: m.Term, ctx: Context) -> str:
    """The hint where something without an order is compared by ``<``."""
    if isinstance(term.type, m.CollectionType):
        return f"Write `count({ctx.quoted(term)})` for how many there are."
    unquoted = _unquoted(ctx.quoted(term), other.type, ctx)
    if unquoted is not None:
        return f"Write `{unquoted}`, without quotes."
    part = _part_of(term, other.type, ctx)
    return f"Write `{part}`." if part is not None else "Use `==` or `!=`."


def unordered(kind: m.EnumType, span: Span, ctx: Context) -> NoReturn:
    """Report a use of an enum as a ladder, which it is not (TW0309)."""
    enum = ctx.draft.enums[kind.name]
    ladder = (
        f"`enum {enum.name} {{ {' < '.join(enum.members[:6])}{' < …' * (len(enum.members) > 6)} }}`"
    )
    hint = f"Write {ladder}, the lowest first, or compare with `==`."
    related = (Related(enum.span, "declared without an order"),)
    what = f"The members of `{enum.name}` have no order."
    ctx.draft.stop("TW0309", what, span, "not a ladder", hint, related)


def of_operand(term: m.Term, ctx: Context) -> str:
    """The hint where something else than a number is calculated with."""
    shown, kind = ctx.quoted(term), term.type
    if isinstance(kind, m.EnumType):
        if ctx.draft.enums[kind.name].ladder:
            return f"Write `next({shown})` or `prev({shown})` for the member beside it."
        return "Write the member: members of an enum without an order are not counted."
    if isinstance(kind, m.CollectionType):
        return f"Write `count({shown})` for how many there are."
    if isinstance(kind, m.BoolType):
        return f"Write `(if {shown} then 1 else 0)`."
    part = _part_of(term, m.NumberType(), ctx)
    return "Calculate with numbers only." if part is None else f"Write `{part}`."


def of_step(target: m.Term, op: str, kind: m.ValueType, ctx: Context) -> str:
    """The hint where ``+=`` or ``-=`` changes something else than a number."""
    shown = ctx.quoted(target)
    match kind:
        case m.EnumType() if ctx.draft.enums[kind.name].ladder:
            return f"Write `{shown} = {'next' if op == '+=' else 'prev'}({shown})`."
        case m.EnumType():
            return f"{of_members(kind, ctx).removesuffix('.')} after `=`."
        case m.BoolType():
            return f"Write `{shown} = {'true' if op == '+=' else 'false'}`."
        case _:
            return "Write `=`."


def of_target(term: m.Term, ctx: Context) -> str:
    """The hint where something is changed that is no stored value."""
    if isinstance(term.type, m.ObjectType):
        return f"Write which of its values changes: `{ctx.quoted(term)}.f`."
    return "Change the attribute, function or relation that it comes from."


def of_units(left: m.Term, right: m.Term, ctx: Context) -> str:
    """The hint where the units of two numbers differ."""
    for one, other in ((left, right), (right, left)):
        plain = isinstance(one.type, m.NumberType) and not one.type.unit
        if plain and isinstance(one, m.NumberLiteral) and isinstance(other.type, m.NumberType):
            return f"Write `{ctx.quoted(one)}{other.type.unit}`."
    for one, other in ((left, right), (right, left)):
        plain = isinstance(other.type, m.NumberType) and not other.type.unit
        if plain and isinstance(one, m.NumberLiteral) and isinstance(one.type, m.NumberType):
            return f"Write `{ctx.quoted(one).removesuffix(one.type.unit)}`."
    for one, other in ((left, right), (right, left)):
        kinds = (one.type, other.type)
        if isinstance(one, m.NumberLiteral) and isinstance(kinds[0], m.NumberType):
            unit = kinds[1].unit if isinstance(kinds[1], m.NumberType) else ""
            return f"Write `{ctx.quoted(one).removesuffix(kinds[0].unit)}{unit}`."
    return "Write both with one unit."


def unit_in_words(kind: m.NumberType) -> str:
    """The unit of a number as a message names it."""
    return f"`{kind.unit}`" if kind.unit else "no unit"


def check_count(
    what: str, name: syn.Name, params: Parameters | Sequence[str], given: int, draft: Draft
) -> None:
    """Report a call with too many or too few arguments (TW0302), in the same words everywhere.

    ``what`` is the kind of the called thing. ``params`` are its parameters in their order, without
    the object before a dot.
    """
    if len(params) == given:
        return
    takes, rest = counted(len(params), "argument"), abs(len(params) - given)
    said = f"The {what} `{name.value}` takes {takes}, and this gives {given}."
    draft.stop("TW0302", said, name.span, f"{given} given", _of_count(params, rest, given))


def _of_count(params: Parameters | Sequence[str], rest: int, given: int) -> str:
    """The parameters of a call, and how many of them are missing or too many."""
    if not params:
        return "Leave the arguments away."
    shown = [
        one if isinstance(one, str) else f"{one.name}: {show_type(one.type)}" for one in params
    ]
    told = [f"`{one}`" for one in shown]
    listed = joined(told, "and")
    order = ", in this order" if len(told) > 1 else ""
    much = "is missing" if given < len(params) else "is too much"
    if rest > 1:
        much = "are missing" if given < len(params) else "are too many"
    return f"Give it {listed}{order}: {rest} {much}."


def exchanged(terms: Sequence[m.Term], params: Parameters, ctx: Context) -> bool:
    """Return whether two arguments fit each other's place, and not their own."""
    kinds = [without_none(one.type) for one in params]
    if len(terms) != 2 or len(kinds) != 2:
        return False
    types, given = ctx.draft.types, [without_none(one.type) for one in terms]
    fits = [assignable(types, given[n], kinds[n]) for n in (0, 1)]
    return not any(fits) and all(assignable(types, given[n], kinds[1 - n]) for n in (0, 1))


def attribute_of_kind(type_name: str, written: str, ctx: Context) -> str | None:
    """The hint where the name of a type, with a small letter, means the attribute of that type."""
    draft = ctx.draft
    keys = draft.types[type_name].attributes if type_name in draft.types else ()
    plain = written.replace("_", "")
    found = [
        fluent
        for fluent in (draft.fluents[key] for key in keys)
        if isinstance(fluent.type, (m.ObjectType, m.EnumType))
        if fluent.type.name.lower() == plain
    ]
    return f"Write `{found[0].name}`." if len(found) == 1 else None


def attribute_for(type_name: str, value: m.Term, ctx: Context) -> str | None:
    """The hint where a value fits one attribute alone of the type of a new object."""
    draft = ctx.draft
    found = [
        draft.fluents[key].name
        for key in draft.types[type_name].attributes
        if assignable(draft.types, value.type, draft.fluents[key].type)
    ]
    return f"Write `{found[0]}`." if len(found) == 1 else None


def local_for(kind: str, ctx: Context) -> str | None:
    """The only name in sight for an object of a type: a parameter, a variable, or who acts."""
    draft = ctx.draft
    names = [
        name
        for name, of in ctx.names.items()
        if isinstance(of, m.ObjectType) and of.name != m.ROOT
        if is_subtype(draft.types, kind, of.name)
    ]
    if not names and draft.actor is not None and ctx.me:
        names = [draft.actor_name] if is_subtype(draft.types, kind, draft.actor) else []
    return names[0] if len(names) == 1 else None
