"""Names: members of types after a dot, facts, objects, enum members, steps on the grid.

Nothing here checks expressions: `expressions` looks names up here (language.md §1, §3, §12).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NoReturn, get_args

from tokenworld import model as m
from tokenworld.check.draft import Abandon, Draft
from tokenworld.check.modules import dotted
from tokenworld.check.typing.advice import attribute_of_kind, local_for, objects_of, of_members
from tokenworld.check.typing.context import BROKEN, Context
from tokenworld.check.typing.types import is_subtype
from tokenworld.diagnostics import Related, Span, did_you_mean
from tokenworld.model import show_type
from tokenworld.syntax import nodes as syn
from tokenworld.syntax.foreign.words import METHODS, NAMES, function_word


def fact_id(name: str) -> str:
    """The id of a relation, function or table: its name, in backticks if the name has a dot.

    So ids are unique: the last dot outside backticks separates type and attribute.
    """
    return f"`{name}`" if "." in name else name


def attribute_id(type_name: str, name: str) -> str:
    """The id of an attribute."""
    return f"{type_name}.{fact_id(name)}"


def attribute_of(draft: Draft, type_name: str, name: str) -> m.Fluent | None:
    """The attribute ``name`` of a type, inherited ones included."""
    if type_name not in draft.types:
        return None
    attributes = (draft.fluents[key] for key in draft.types[type_name].attributes)
    return next((one for one in attributes if one.name == name), None)


def find_member(draft: Draft, kind: m.ValueType, name: str) -> m.Fluent | None:
    """The fluent behind ``.name`` on a value: its attribute, inverse or closure."""
    if not isinstance(kind, m.ObjectType):
        return None
    own = attribute_of(draft, kind.name, name)
    if own is not None:
        return own
    for fluent in draft.fluents.values():
        if name in (fluent.inverse, fluent.closure) and _has_end(draft, fluent, kind.name):
            return fluent
    return None


def _has_end(draft: Draft, fluent: m.Fluent, type_name: str) -> bool:
    """Return whether the collection that ``fluent`` adds exists on objects of a type."""
    end = fluent.params[0].type if fluent.fluent_kind == "relation" else fluent.type
    return isinstance(end, m.ObjectType) and is_subtype(draft.types, type_name, end.name)


INHERIT: Final = "Inherit it"
"""Begins the hint if a type lacks an attribute that an unrelated type has."""


def wrong_type(base: m.Term, name: syn.Name, ctx: Context) -> NoReturn:
    """Report a name after the dot that the type of the base does not have."""
    draft, kind = ctx.draft, base.type
    foreign = function_word(name.value)
    if foreign == function_word("len") and isinstance(kind, m.CollectionType):
        foreign = f"Write `count({ctx.quoted(base)})`."
    if foreign and name.span.end <= base.span.start:  # `len(x)`, which could be `x.len`
        what = f"There is no function `{name.value}`."
        draft.stop("TW0201", what, name.span, "unknown", foreign)
    if not isinstance(kind, m.ObjectType):
        what = f"`{ctx.quoted(base)}` is {show_type(kind)}, which has no attributes."
        hint = foreign or "Read an attribute of an object."
        draft.stop("TW0204", what, name.span, "no attribute", hint)
    below = [
        fluent
        for fluent in draft.fluents.values()
        if name.value in (fluent.name, fluent.inverse, fluent.closure)
        and fluent.fluent_kind == "attribute"
        and isinstance(fluent.params[0].type, m.ObjectType)
    ]
    if below:
        owner = show_type(below[0].params[0].type)
        if name.value != below[0].name and isinstance(below[0].type, m.ObjectType):
            owner = below[0].type.name
        what = f"Not every `{kind.name}` has `{name.value}`."
        hint = f"Narrow it first, with `is {owner}` on a name."
        kinds = ({*one.ancestors} for one in draft.types.values())
        if not any({kind.name, owner} <= one for one in kinds):  # nothing is both
            hint = f"{INHERIT}: `type {kind.name} : {owner}`, or name a `{owner}`."
        if kind.name == m.ROOT and isinstance(base, m.Local):
            hint = f"Write its type: `{base.name}: {owner}`, or narrow it with `is {owner}`."
        related = (Related(below[0].span, f"`{name.value}` is declared here"),)
        draft.stop("TW0204", what, name.span, f"an attribute of `{owner}`", hint, related)
    names = [draft.fluents[key].name for key in _attributes(draft, kind.name)]
    others = [n for f in draft.fluents.values() for n in (f.inverse, f.closure) if n is not None]
    facts = [one.name for one in draft.fluents.values() if one.fluent_kind != "attribute"]
    near = did_you_mean(name.value, (*names, *others))
    near = (
        near
        or did_you_mean(name.value, (*draft.derive_items, *facts))
        or attribute_of_kind(kind.name, name.value, ctx)
        or _as_argument(base, name, ctx)
    )
    hint = METHODS.get(name.value) or near or f"Declare it in `type {kind.name}`."
    if name.value in ("name", "label", "title"):
        hint = f"Write `{ctx.quoted(base)}` alone: a text shows the name of an object."
    draft.stop("TW0201", f"`{kind.name}` has no `{name.value}`.", name.span, "unknown", hint)


def _as_argument(base: m.Term, name: syn.Name, ctx: Context) -> str | None:
    """The hint where the member of an enum stands behind the dot: ``r.exit(north)``."""
    owners = {one.name for one in ctx.draft.enums.values() if name.value in one.members}
    for fluent in ctx.draft.fluents.values():
        kinds = [one.type for one in fluent.params]
        if len(kinds) == 2 and isinstance(kinds[1], m.EnumType) and kinds[1].name in owners:
            return f"Write `{ctx.quoted(base)}.{fluent.name}({name.value})`."
    return None


def _attributes(draft: Draft, type_name: str) -> tuple[str, ...]:
    return draft.types[type_name].attributes if type_name in draft.types else ()


COMPASS: dict[str, tuple[int, int]] = {
    "north": (0, -1),
    "east": (1, 0),
    "south": (0, 1),
    "west": (-1, 0),
}
"""Directions of the grid by the name of their enum member: columns count from the left, rows from
the top."""


def is_step(fluent: m.Fluent, draft: Draft) -> bool:
    """Return whether layouts fill this function: ``step(c: Cell, d: Direction): Cell?``."""
    name = fluent.name.removeprefix(draft.namespace(fluent.span).prefix)
    if fluent.fluent_kind != "function" or name != "step" or len(fluent.params) != 2:
        return False
    cell, direction = (param.type for param in fluent.params)
    if not isinstance(cell, m.ObjectType) or not isinstance(direction, m.EnumType):
        return False
    if not isinstance(fluent.type, m.ObjectType) or not fluent.type.optional:
        return False
    compass = set(COMPASS) <= set(draft.enums[direction.name].members)
    return compass and is_subtype(draft.types, cell.name, fluent.type.name)


def step_type(fluent: m.Fluent, args: tuple[m.Term, ...], draft: Draft) -> m.ValueType:
    """The type of a call: on a subtype of the cells a step leads to that subtype again."""
    if not is_step(fluent, draft) or not isinstance(fluent.type, m.ObjectType):
        return fluent.type
    start = args[0].type
    if isinstance(start, m.ObjectType) and is_subtype(draft.types, start.name, fluent.type.name):
        return m.ObjectType(start.name, optional=True)
    return fluent.type


def step_of(draft: Draft, of: str) -> m.Fluent | None:
    """The function that a layout of cells of a type fills."""
    for fluent in draft.fluents.values():
        if is_step(fluent, draft):
            cell = fluent.params[0].type
            if isinstance(cell, m.ObjectType) and is_subtype(draft.types, of, cell.name):
                return fluent
    return None


def coordinate_of(draft: Draft, of: str, name: str) -> m.Fluent | None:
    """The attribute that takes the column (``x``) or the row (``y``) of a cell."""
    fluent = attribute_of(draft, of, name)
    if fluent is None or not isinstance(fluent.type, m.NumberType):
        return None
    return fluent if fluent.type.decimals == 0 and not fluent.type.unit else None


def fact_named(name: syn.Name, ctx: Context) -> m.Fluent | str | None:
    """The meaning of a name called with arguments: a fluent, or the full name of a derive."""
    draft = ctx.draft
    for full in draft.candidates(name):
        if fact_id(full) in draft.fluents:
            return draft.fluents[fact_id(full)]
        if full in draft.derive_items:
            return full
    return None


def closure_named(name: syn.Name, ctx: Context) -> m.Fluent | None:
    """The relation whose closure has that name."""
    draft = ctx.draft
    names = draft.candidates(name)
    for one in draft.fluents.values():
        if one.fluent_kind == "relation" and one.closure is not None:
            prefix = draft.namespace(one.span).prefix
            if f"{prefix}{one.closure}" in names:
                return one
    return None


def collection_of(fluent: m.Fluent) -> m.ValueType:
    """The type of the elements of an inverse or a closure of a fluent."""
    end = 1 if fluent.fluent_kind == "relation" else 0
    return m.CollectionType(fluent.params[end].type)


def behind_alias(base: syn.Ref, name: syn.Name, ctx: Context) -> syn.Name | None:
    """``c.name`` as one name where ``c`` is the short name of a module (`use a.b as c`)."""
    before = dotted(base)
    if before is None or before.partition(".")[0] in ctx.names:
        return None
    ways = ctx.draft.namespace(name.span).seen
    if not any(way == f"{before}." for way, _ in ways):
        return None
    return syn.Name(base.span.join(name.span), f"{before}.{name.value}")


def object_named(name: syn.Name, ctx: Context) -> m.ObjectLiteral | None:
    """The object that a name means here: one of the world, or one of every world."""
    draft = ctx.draft
    for value in draft.candidates(name):
        for world in (ctx.world, None):
            if (world, value) in draft.object_types:
                if world is not None and value in ctx.unborn:
                    _not_yet(name, ctx)
                of = draft.object_types[world, value]
                if of != m.ROOT and of not in draft.types:
                    raise Abandon  # its type is reported where it is declared
                return m.ObjectLiteral(value, m.ObjectType(of), name.span)
    return None


def _not_yet(name: syn.Name, ctx: Context) -> NoReturn:
    what = f"`{name.value}` is created later."
    hint = "Name it after it is created, in a later `setup` or in a line of the world."
    ctx.draft.stop("TW0201", what, name.span, "not there yet", hint)


def term_of_name(name: syn.Name, ctx: Context, expected: m.ValueType | None) -> m.Term:
    draft, value = ctx.draft, name.value
    if ctx.names.get(value) is BROKEN:
        raise Abandon
    if value in ctx.names:
        return m.Local(value, ctx.names[value], name.span)
    if isinstance(expected, m.EnumType) and value in draft.enums[expected.name].members:
        return _member_of(ctx, expected.name, value, name.span)
    if draft.actor is not None and draft.actor_name in draft.candidates(name):
        return _me(ctx, name.span)
    return _global(name, ctx, expected)


def _me(ctx: Context, span: Span) -> m.Term:
    draft = ctx.draft
    if not ctx.me:
        what = f"Nobody acts here, and `{draft.actor_name}` could be any of several actors."
        hint = "Name the object instead."
        draft.stop("TW0201", what, span, "no acting object", hint)
    return m.Me(m.ObjectType(draft.actor or ""), span)


def somebody_acts(derive: str, name: syn.Name, ctx: Context) -> None:
    """Report a derive that reads the actor in a place without one."""
    draft = ctx.draft
    if not ctx.me and derive in draft.derives and draft.derives[derive].uses_me:
        what = f"Nobody acts here, and `{name.value}` depends on `{draft.actor_name}`."
        hint = "Give the derive a parameter for the object."
        draft.stop("TW0201", what, name.span, "no acting object", hint)


def _global(name: syn.Name, ctx: Context, expected: m.ValueType | None) -> m.Term:
    draft, value = ctx.draft, name.value
    found = object_named(name, ctx)
    if found is not None:
        return found
    for full in draft.candidates(name):
        if full in draft.param_types:
            return m.ParamRead(full, draft.param_types[full], name.span)
    if value == "score":
        return m.BuiltinCall("score", (), m.NumberType(), name.span)
    if value == "pi":
        return m.BuiltinCall("pi", (), m.REAL, name.span)
    owners = [enum.name for enum in draft.enums.values() if value in enum.members]
    if len(owners) == 1:
        return _member_of(ctx, owners[0], value, name.span)
    if owners:
        written = " or ".join(f"`{owner}.{value}`" for owner in owners)
        what = f"`{value}` is a member of several enums."
        draft.stop("TW0205", what, name.span, "ambiguous", f"Write {written}.")
    return _unknown_name(name, ctx, expected)


_ACTORS: Final = frozenset({"self", "this", "player", "actor", "hero", "agent", "user"})
"""Names that are given to who acts elsewhere."""


def _owner(ctx: Context, value: str) -> str | None:
    """The owner of an attribute: the only visible object that has it, the actor, or ``x`` for any
    other."""
    kinds = ((name, kind) for name, kind in ctx.names.items() if isinstance(kind, m.ObjectType))
    local = [name for name, kind in kinds if attribute_of(ctx.draft, kind.name, value) is not None]
    if len(local) == 1:
        return local[0]
    draft, known = ctx.draft, ctx.draft.actor is not None and ctx.world is None
    if known and draft.actor and attribute_of(draft, draft.actor, value) is not None:
        return draft.actor_name
    attributes = (one for one in draft.fluents.values() if one.fluent_kind == "attribute")
    return "x" if any(one.name == value for one in attributes) else None


def _as_local(name: syn.Name, ctx: Context) -> str | None:
    """The hint where a name that nothing has is given a value, as locals are elsewhere."""
    source = ctx.draft.source_of(name.span)
    behind = "" if source is None else source.text[name.span.end :].lstrip(" ")
    if ctx.world is not None or not behind.startswith("=") or behind.startswith("=="):
        return None
    return f"Write `let {name.value} = …` for a value of this body."


_MOST_SHOWN: Final = 4
_UNDECLARED: Final = "Declare it, or correct its name."


def _as_bound(name: syn.Name, ctx: Context) -> str | None:
    """The hint for a fold that does not bind its name, as in ``sum(v.level)``."""
    fold = _fold_around(name, ctx)
    return f"Say what it stands for: `{fold}(… for {name.value}: T)`." if fold else None


_FOLD_BEFORE: Final = re.compile(r"\b(any|all|count|sum|min|max|first|last)$")


def _fold_around(name: syn.Name, ctx: Context) -> str | None:
    """Return the fold around a name whose line has no `for`."""
    source = ctx.draft.source_of(name.span)
    line = "" if source is None else source.line_text(name.span.line)
    before, depth = line[: name.span.column - 1], 0
    for at in range(len(before) - 1, -1, -1):
        depth += (before[at] == ")") - (before[at] == "(")
        if depth < 0:
            depth = 0
            found = _FOLD_BEFORE.search(before[:at].rstrip())
            if found and not re.search(r"\bfor\b", line):
                return found[1]
    return None


def _as_param(name: syn.Name, ctx: Context) -> str | None:
    """The hint where a short name looks like a parameter, by an attribute that no other has."""
    source = ctx.draft.source_of(name.span)
    read = re.match(r"\.(\w+)", "" if source is None else source.text[name.span.end :])
    if read is None or len(name.value) > 1:
        return None
    kinds = (kind.name for kind in ctx.names.values() if isinstance(kind, m.ObjectType))
    if any(attribute_of(ctx.draft, kind, read[1]) for kind in kinds):
        return None
    owner = owner_type(ctx, read[1])
    return None if owner is None else f"Declare it as a parameter: `{name.value}: {owner}`."


def owner_type(ctx: Context, attribute: str) -> str | None:
    """Return the first type that declares an attribute of this name."""
    for one in ctx.draft.fluents.values():
        if one.name == attribute and one.fluent_kind == "attribute":
            return show_type(one.params[0].type)
    return None


def _by_type(value: str, ctx: Context) -> str | None:
    """The hint where the name of a type, with a small letter, means the one thing of that type."""
    kind = next((one for one in ctx.draft.types if one.lower() == value.replace("_", "")), None)
    local = None if kind is None else local_for(kind, ctx)
    return None if local is None else f"Write `{local}` for the `{kind}`."


def _swapped(value: str, known: Collection[str]) -> str | None:
    """The hint where the cell of a layout is named with its row before its column."""
    parts = re.fullmatch(r"(.+)_(\d+)_(\d+)", value)
    other = f"{parts[1]}_{parts[3]}_{parts[2]}" if parts else ""
    cells = [one for one in known if parts and re.fullmatch(rf"{re.escape(parts[1])}_\d+_\d+", one)]
    if cells and other not in known:
        return f"The cells are `{cells[0]}` to `{cells[-1]}`: the column first, then the row."
    return f"Write `{other}`: the column first, then the row." if other in known else None


def _unknown_name(name: syn.Name, ctx: Context, expected: m.ValueType | None) -> m.Term:
    draft, value = ctx.draft, name.value
    if fact_named(name, ctx) is not None:
        params = _parameters(name, ctx)
        hint = f"Write them in parentheses: `{value}({', '.join(params)})`."
        lacks = "arguments" if params else "parentheses"
        hint = hint if params else f"Write `{value}()`."
        draft.stop("TW0201", f"`{value}` needs its {lacks}.", name.span, "not a value", hint)
    visible = [key for world, key in draft.object_types if world in (None, ctx.world)]
    members = [member for enum in draft.enums.values() for member in enum.members]
    known = (*ctx.names, *visible, *draft.params, *members, draft.actor_name)
    elsewhere = [world for world, key in draft.object_types if key == value and world]
    near = NAMES.get(value) or _swapped(value, known)
    if near is None and len(value) > 1:
        near = did_you_mean(value, known)
    near = near or _as_bound(name, ctx) or _as_param(name, ctx)
    letters = [one for one in ctx.names if len(one) == 1]
    if near is None and len(letters) == 1:  # several are all alike
        near = did_you_mean(value, letters)
    by_place = _as_local(name, ctx) or _by_type(value, ctx)
    member = of_members(expected, ctx) if isinstance(expected, m.EnumType) else None
    fitting = ", ".join(f"`{one}`" for one in objects_of(expected, ctx)) if expected else ""
    fitting = f"Write one of {fitting}, or declare it." if fitting else ""
    sight = ", ".join(f"`{one}`" for one in list(ctx.names)[:_MOST_SHOWN])
    sight = f"Write one of {sight}, or declare it." if sight and ctx.world is None else ""
    hint = near or by_place or member or fitting or sight or _UNDECLARED
    if value == "me" and draft.actor is None:
        hint = "Declare who acts: `actor me: T`."
    elif owner := _owner(ctx, value):
        hint = f"Write whose it is: `{owner}.{value}`."
    elif value in get_args(m.StatusName) and ctx.world is not None:
        hint = f"Write `status {value}` as a check that stands alone."
    elif value in _ACTORS and "here" in ctx.names:
        hint = "Write `here` for the cell of the character."
    elif value in (*_ACTORS, "me") and draft.actor is not None:
        hint = f"Write `{draft.actor_name}` for who acts, or the name of a parameter."
    if elsewhere:
        local = local_for(draft.object_types[elsewhere[0], value], ctx)
        hint = (
            f"`{value}` belongs to the world `{elsewhere[0]}`: rules see only objects declared "
            f"outside worlds. {f'Write `{local}`' if local else 'Use a parameter'}."
        )
    draft.stop("TW0201", f"There is nothing called `{value}` here.", name.span, "unknown", hint)


def _parameters(name: syn.Name, ctx: Context) -> tuple[str, ...]:
    """The names of the parameters of a fact."""
    found, draft = fact_named(name, ctx), ctx.draft
    if isinstance(found, m.Fluent):
        return tuple(one.name for one in found.params)
    item = draft.derive_items.get(found) if found is not None else None
    return () if item is None else tuple(one.name.value for one in item.params)


def _member_of(ctx: Context, enum: str, member: str, span: Span) -> m.Term:
    index = ctx.draft.enums[enum].members.index(member)
    return m.EnumLiteral(enum, member, index, m.EnumType(enum), span)


def enum_member(enum: syn.Name, member: syn.Name, ctx: Context, span: Span) -> m.Term:
    if enum.value not in ctx.draft.enums:
        if attribute_of(ctx.draft, enum.value, member.value) is not None:
            what = f"`{enum.value}` is a type: it has no `{member.value}` itself."
            path = f"x.{member.value}"
            fold = _fold_around(enum, ctx) or "sum"
            more = "" if fold in ("sum", "min", "max") else " …"
            hint = f"Write `{path}` with a name: `{fold}({path}{more} for x: {enum.value})`."
            ctx.draft.stop("TW0201", what, enum.span, "a type", hint)
        ctx.draft.unknown("enum", enum, ctx.draft.enums)
    members = ctx.draft.enums[enum.value].members
    if member.value not in members:
        hint = did_you_mean(member.value, members) or f"Its members are {', '.join(members)}."
        what = f"`{enum.value}` has no member `{member.value}`."
        ctx.draft.stop("TW0201", what, member.span, "unknown member", hint)
    return _member_of(ctx, enum.value, member.value, span)
