"""What stands behind a dot: attributes, inverses and closures of a type."""

from __future__ import annotations

from typing import NoReturn

from tokenworld.check.context import Context
from tokenworld.check.draft import Draft
from tokenworld.check.relations import is_subtype
from tokenworld.diagnostics import Related, did_you_mean
from tokenworld.model import Fluent, ObjectType, Term, ValueType, show_type
from tokenworld.syntax import nodes as syn

__all__ = ["attribute_id", "attribute_of", "fact_id", "find_member", "wrong_type"]


def fact_id(name: str) -> str:
    """The id of a relation, function or table: its name, quoted if it has a dot of its own.

    So no id can stand for two fluents: the last dot outside quotes parts type and attribute.
    """
    return f"`{name}`" if "." in name else name


def attribute_id(type_name: str, name: str) -> str:
    """The id of an attribute."""
    return f"{type_name}.{fact_id(name)}"


def attribute_of(draft: Draft, type_name: str, name: str) -> Fluent | None:
    """The attribute ``name`` of a type, inherited ones included."""
    if type_name not in draft.types:
        return None
    attributes = (draft.fluents[key] for key in draft.types[type_name].attributes)
    return next((one for one in attributes if one.name == name), None)


def find_member(draft: Draft, kind: ValueType, name: str) -> Fluent | None:
    """The fluent behind ``.name`` on a value: its attribute, inverse or closure."""
    if not isinstance(kind, ObjectType):
        return None
    own = attribute_of(draft, kind.name, name)
    if own is not None:
        return own
    for fluent in draft.fluents.values():
        if name in (fluent.inverse, fluent.closure) and _has_end(draft, fluent, kind.name):
            return fluent
    return None


def _has_end(draft: Draft, fluent: Fluent, type_name: str) -> bool:
    """Whether the collection that ``fluent`` adds exists on objects of a type."""
    end = fluent.params[0].type if fluent.fluent_kind == "relation" else fluent.type
    return isinstance(end, ObjectType) and is_subtype(draft.types, type_name, end.name)


def wrong_type(base: Term, name: syn.Name, ctx: Context) -> NoReturn:
    """Report that nothing of that name stands behind the dot."""
    draft, kind = ctx.draft, base.type
    if not isinstance(kind, ObjectType):
        what = f"`{ctx.quoted(base)}` is {show_type(kind)}, which has no attributes."
        draft.stop("TW0204", what, name.span, "no attribute", "Read an attribute of an object.")
    below = [
        fluent
        for fluent in draft.fluents.values()
        if name.value in (fluent.name, fluent.inverse, fluent.closure)
        and fluent.fluent_kind == "attribute"
        and isinstance(fluent.params[0].type, ObjectType)
    ]
    if below:
        owner = show_type(below[0].params[0].type)
        if name.value != below[0].name and isinstance(below[0].type, ObjectType):
            owner = below[0].type.name
        what = f"Not every `{kind.name}` has `{name.value}`."
        hint = f"Narrow it first, with `is {owner}` on a name."
        related = (Related(below[0].span, f"`{name.value}` is declared here"),)
        draft.stop("TW0204", what, name.span, f"an attribute of `{owner}`", hint, related)
    names = [draft.fluents[key].name for key in _attributes(draft, kind.name)]
    others = [n for f in draft.fluents.values() for n in (f.inverse, f.closure) if n is not None]
    known = (*names, *others, *draft.derive_items, *draft.fluents)
    hint = did_you_mean(name.value, known) or f"Declare it in `type {kind.name}`."
    draft.stop("TW0201", f"`{kind.name}` has no `{name.value}`.", name.span, "unknown", hint)


def _attributes(draft: Draft, type_name: str) -> tuple[str, ...]:
    return draft.types[type_name].attributes if type_name in draft.types else ()
