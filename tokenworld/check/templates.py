"""Templates: prose with holes, each hole a term (language.md §11)."""

from __future__ import annotations

from tokenworld.check.context import Context
from tokenworld.model import (
    CollectionType,
    EnumType,
    ObjectType,
    Slot,
    Template,
    TextPart,
    show_type,
)
from tokenworld.syntax import nodes as syn

__all__ = ["check_template"]


def check_template(template: syn.Template, ctx: Context) -> Template:
    """The checked template; articles need objects or enum members, lists need collections."""
    parts = tuple(
        TextPart(part.value) if isinstance(part, syn.TextPart) else _slot(part, ctx)
        for part in template.parts
    )
    return Template(parts, template.span)


def _slot(slot: syn.Slot, ctx: Context) -> Slot:
    from tokenworld.check.expressions import check

    term = check(slot.value, ctx)
    listed = isinstance(term.type, CollectionType)
    if slot.list != listed:
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}."
        hint = "Write `{list …}` for a collection, and for nothing else."
        ctx.draft.stop("TW0301", what, slot.span, "cannot be printed so", hint)
    named = term.type.element if isinstance(term.type, CollectionType) else term.type
    if slot.article and not isinstance(named, (ObjectType, EnumType)):
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}, which takes no article."
        hint = f"Leave out `{slot.article}`."
        ctx.draft.stop("TW0301", what, slot.span, "no object", hint)
    return Slot(slot.article, slot.list, term)
