"""The types pass: the hierarchy of object types and every stored fluent (language.md §2, §3)."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.check.attributes import attribute_id, fact_id
from tokenworld.check.draft import Draft
from tokenworld.check.literals import kind_type, type_of_ref
from tokenworld.diagnostics import Related, did_you_mean
from tokenworld.model import (
    BOOL,
    ROOT,
    Fluent,
    FluentParam,
    ObjectKind,
    ObjectType,
    ValueType,
)
from tokenworld.syntax import nodes as syn

__all__ = ["declare_fluents", "declare_types"]


# ---- the hierarchy --------------------------------------------------------------------


def declare_types(draft: Draft) -> None:
    """Names, parents and ancestors of all object types."""
    items: dict[str, syn.TypeDecl] = {}
    for item, _ in draft.items(syn.TypeDecl):
        name = item.name.value
        if name in items or name in draft.enums or name == ROOT:
            first = items[name].span if name in items else item.span
            draft.twice("type", item.name, draft.enums[name].span if name in draft.enums else first)
            continue
        items[name] = item
    for name in items:
        _declare(draft, name, items, ())


def _declare(
    draft: Draft, name: str, items: dict[str, syn.TypeDecl], chain: tuple[str, ...]
) -> None:
    if name in draft.types:
        return
    item = items[name]
    if name in chain:
        what = f"`{name}` inherits from itself."
        draft.tell("TW0206", what, item.name.span, "inheritance cycle", "Remove one parent.")
        draft.types[name] = ObjectKind(name, (), (name, ROOT), (), (), item.span)
        return
    parents = _parents(draft, item, items)
    for parent in parents:
        _declare(draft, parent, items, (*chain, name))
    if name not in draft.types:
        ancestors = _linear(draft, name, parents)
        rooted = any(parent.value == ROOT for parent in item.parents)
        draft.types[name] = ObjectKind(name, parents, ancestors, (), (), item.span, rooted)


def _parents(draft: Draft, item: syn.TypeDecl, items: dict[str, syn.TypeDecl]) -> tuple[str, ...]:
    found: list[str] = []
    for parent in item.parents:
        if parent.value in items:
            found.append(parent.value)
        elif parent.value != ROOT:
            hint = did_you_mean(parent.value, items) or f"Declare `type {parent.value}`."
            what = f"There is no type `{parent.value}`."
            draft.tell("TW0202", what, parent.span, "unknown type", hint)
    return tuple(dict.fromkeys(found))


def _linear(draft: Draft, name: str, parents: tuple[str, ...]) -> tuple[str, ...]:
    """The type, then its ancestors, each before its own parents, last the root."""
    found: list[str] = []
    for parent in parents:
        for ancestor in draft.types[parent].ancestors:
            if ancestor in found:
                found.remove(ancestor)
            found.append(ancestor)
    rest = [ancestor for ancestor in found if ancestor != ROOT]
    return (name, *rest, ROOT)


# ---- fluents --------------------------------------------------------------------------


def declare_fluents(draft: Draft) -> None:
    """Attributes, relations, functions and tables, without their defaults."""
    for kind, _ in draft.items(syn.TypeDecl):
        for member in kind.members:
            if isinstance(member, syn.AttributeDecl):
                draft.attempt(lambda k=kind, m=member: _attribute(draft, k, m))  # type: ignore[misc]
    for relation, _ in draft.items(syn.RelationDecl):
        draft.attempt(lambda r=relation: _relation(draft, r))  # type: ignore[misc]
    for function, _ in draft.items(syn.FunctionDecl):
        draft.attempt(lambda f=function: _function(draft, f))  # type: ignore[misc]
    for table, _ in draft.items(syn.TableDecl):
        draft.attempt(lambda t=table: _table(draft, t))  # type: ignore[misc]
    _inherit(draft)


def _flagged(draft: Draft, fluent: Fluent, flags: tuple[syn.Flag, ...]) -> Fluent:
    for flag in flags:
        match flag:
            case syn.Mark(kind=kind):
                fluent = _marked(draft, fluent, kind, flag)
            case syn.Inverse(name=name):
                _leads(draft, fluent, "inverse", flag)
                fluent = replace(fluent, inverse=name.value)
            case syn.Closure(name=name):
                _leads(draft, fluent, "closure", flag)
                fluent = replace(fluent, closure=name.value)
            case syn.Default():
                pass
    return fluent


def _leads(draft: Draft, fluent: Fluent, kind: str, flag: syn.Flag) -> None:
    """Collections of what points at an object need a fact that leads from object to object."""
    ends = (*(param.type for param in fluent.params), fluent.type)
    if fluent.fluent_kind == "relation" or (
        len(ends) == 2 and all(isinstance(end, ObjectType) for end in ends)
    ):
        return
    what = f"`{fluent.name}` does not lead from one object to another."
    draft.stop("TW0310", what, flag.span, f"`{kind}` does not fit", "Remove the flag.")


def _marked(draft: Draft, fluent: Fluent, kind: str, flag: syn.Mark) -> Fluent:
    numeric = fluent.type.kind in ("number", "real")
    refers = isinstance(fluent.type, ObjectType)
    fits = {
        "clamped": numeric,
        "unique": fluent.fluent_kind != "relation",
        "nested": refers and fluent.fluent_kind == "attribute",
        "ordered": refers and fluent.fluent_kind == "attribute",
        "symmetric": fluent.fluent_kind == "relation",
        "acyclic": fluent.fluent_kind == "relation",
    }
    if not fits[kind]:
        what = f"`{kind}` does not fit `{fluent.name}`."
        draft.stop("TW0310", what, flag.span, "flag does not fit", "Remove the flag.")
    match kind:
        case "clamped":
            return replace(fluent, clamped=True)
        case "unique":
            return replace(fluent, unique=True)
        case "nested":
            return replace(fluent, nested=True)
        case "ordered":
            return replace(fluent, ordered=True)
        case "symmetric":
            return replace(fluent, symmetric=True)
        case _:
            return replace(fluent, acyclic=True)


def _modified(fluent: Fluent, modifiers: tuple[syn.Modifier, ...]) -> Fluent:
    kinds = {modifier.kind for modifier in modifiers}
    return replace(fluent, static="static" in kinds, secret="secret" in kinds)


def _attribute(draft: Draft, owner: syn.TypeDecl, item: syn.AttributeDecl) -> None:
    key = attribute_id(owner.name.value, item.name.value)
    if key in draft.fluents:
        draft.twice("attribute", item.name, draft.fluents[key].span)
        return
    params = (FluentParam("self", ObjectType(owner.name.value)),)
    kind = type_of_ref(draft, item.type)
    fluent = Fluent(key, item.name.value, "attribute", params, kind, None, item.span)
    draft.fluents[key] = _modified(_flagged(draft, fluent, item.flags), item.modifiers)


def _params(draft: Draft, formals: tuple[syn.Formal, ...]) -> tuple[FluentParam, ...]:
    return tuple(
        FluentParam(formal.name.value, kind_type(draft, formal.kind), formal.kind is not None)
        for formal in formals
    )


def _new(draft: Draft, what: str, name: syn.Name) -> bool:
    if fact_id(name.value) in draft.fluents:
        draft.twice(what, name, draft.fluents[fact_id(name.value)].span)
        return False
    return True


def _relation(draft: Draft, item: syn.RelationDecl) -> None:
    if not _new(draft, "relation", item.name):
        return
    name, params = item.name.value, _params(draft, item.params)
    fluent = Fluent(fact_id(name), name, "relation", params, BOOL, None, item.span)
    fluent = _modified(_flagged(draft, fluent, item.flags), item.modifiers)
    two_ends = len(params) == 2 and params[0].type == params[1].type
    if (fluent.symmetric or fluent.acyclic or fluent.closure) and not two_ends:
        hint = "Give it two parameters of one type."
        draft.stop("TW0310", f"`{name}` does not join two like objects.", item.span, hint=hint)
    draft.fluents[fluent.id] = fluent


def _function(draft: Draft, item: syn.FunctionDecl) -> None:
    if not _new(draft, "function", item.name):
        return
    name, kind = item.name.value, type_of_ref(draft, item.type)
    params, key = _params(draft, item.params), fact_id(name)
    fluent = Fluent(key, name, "function", params, kind, None, item.span)
    draft.fluents[key] = _modified(_flagged(draft, fluent, item.flags), item.modifiers)


def _table(draft: Draft, item: syn.TableDecl) -> None:
    if not _new(draft, "table", item.name):
        return
    name = item.name.value
    kind: ValueType = type_of_ref(draft, item.type) if item.type is not None else BOOL
    params, key = _params(draft, item.params), fact_id(name)
    fluent = Fluent(key, name, "table", params, kind, None, item.span)
    draft.fluents[key] = replace(_flagged(draft, fluent, item.flags), static=True)


def _inherit(draft: Draft) -> None:
    """Attributes of each type, inherited ones first; one name, one declaration (TW0311)."""
    own: dict[str, list[Fluent]] = {}
    for fluent in draft.fluents.values():
        if fluent.fluent_kind == "attribute" and isinstance(fluent.params[0].type, ObjectType):
            own.setdefault(fluent.params[0].type.name, []).append(fluent)
    for name, kind in draft.types.items():
        found: dict[str, str] = {}
        for ancestor in reversed(kind.ancestors):
            for fluent in own.get(ancestor, ()):
                if found.get(fluent.name, fluent.id) != fluent.id:
                    what = f"`{name}` would have two attributes `{fluent.name}`."
                    related = (Related(draft.fluents[found[fluent.name]].span, "the other one"),)
                    hint = "Rename one, or declare it in a common parent."
                    draft.tell("TW0311", what, fluent.span, "declared here", hint, related)
                found[fluent.name] = fluent.id
        draft.types[name] = replace(kind, attributes=tuple(found.values()))
