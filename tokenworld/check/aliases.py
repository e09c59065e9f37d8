"""Modules behind a short name: ``use a.b as c`` (language.md §1).

Every file has a prefix that its declarations carry in the tables of the program: nothing for the
root and what it uses plainly, ``c.`` for a module behind ``c``. Declarations and the places that
can only hold a name of one kind are rewritten here, once; names in expressions are looked up when
they are checked, since a local or a member of an enum may come first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from tokenworld.check.draft import Draft, Entry, Namespace
from tokenworld.diagnostics import Span
from tokenworld.syntax import nodes as syn

__all__ = ["Uses", "dotted", "put_behind_aliases"]

Uses = list[tuple[str | None, str]]
"""What a file uses, in order: the short name, if any, and the name of the used file."""

NodeT = TypeVar("NodeT")
Kinds = Mapping[str, set[str]]

_DECLARED: dict[type[syn.Node], str] = {
    syn.TypeDecl: "type", syn.EnumDecl: "type", syn.RelationDecl: "fact", syn.FunctionDecl: "fact",
    syn.TableDecl: "fact", syn.DeriveDecl: "fact", syn.ParamDecl: "param", syn.EventDecl: "event",
    syn.PhaseDecl: "phase", syn.ActionDecl: "rule", syn.LawDecl: "rule", syn.BelieveDecl: "rule",
    syn.WatchDecl: "watch", syn.InvariantDecl: "invariant", syn.ConserveDecl: "conserve",
    syn.ActorDecl: "actor", syn.ObjectDecl: "object",
}  # fmt: skip
"""Items whose name (``name`` or ``names``) goes behind the prefix, and its namespace."""

_NAMED: dict[type[syn.Node], dict[str, str]] = {
    syn.NamedType: {"name": "type"}, syn.TypeDecl: {"parents": "type"},
    syn.IsType: {"type": "type"}, syn.Create: {"type": "type"}, syn.ObjectDecl: {"type": "type"},
    syn.ActorDecl: {"type": "type"}, syn.Spare: {"type": "type"}, syn.Layout: {"type": "type"},
    syn.Qualified: {"type": "type"}, syn.LawDecl: {"phase": "phase"},
    syn.BelieveDecl: {"phase": "phase"}, syn.Emit: {"event": "event"},
    syn.ConserveDecl: {"exceptions": "rule"}, syn.Tune: {"name": "param"},
    syn.Turns: {"actors": "object"}, syn.When: {"actor": "object"},
}  # fmt: skip
"""Fields that hold a name of one kind and nothing else."""


def dotted(ref: syn.Expr) -> str | None:
    """``a.b.c`` where a path is names only."""
    match ref:
        case syn.Name(value=value):
            return value
        case syn.Attr(base=base, name=name):
            before = dotted(base)
            return None if before is None else f"{before}.{name.value}"
        case _:
            return None


def put_behind_aliases(
    draft: Draft, files: list[tuple[str, list[Entry]]], uses: Mapping[str, Uses], root: str
) -> None:
    """Fill ``draft.entries``, names of aliased modules behind their prefix."""
    prefixes = _prefixes(uses, root)
    for name in uses:
        seen = tuple(dict.fromkeys((way, prefixes[used]) for way, used in _seen(name, uses)))
        if seen != (("", ""),):
            draft.namespaces[name] = Namespace(prefixes[name], seen)
    if not draft.namespaces:
        for _, entries in files:
            draft.entries += entries
        return
    named = [_declare(entry, prefixes[name]) for name, entries in files for entry in entries]
    kinds = _kinds(iter(named))
    for entry in named:
        draft.entries.append(replace(entry, item=_resolved(entry.item, draft, kinds)))


def _prefixes(uses: Mapping[str, Uses], root: str) -> dict[str, str]:
    """The shortest chain of short names behind which each file is found."""
    found = {root: ""}
    level = [root]
    while level:
        later: list[tuple[str, str]] = []
        while level:
            name = level.pop(0)
            for alias, used in uses[name]:
                if alias is not None:
                    later.append((used, f"{found[name]}{alias}."))
                elif used not in found:
                    found[used] = found[name]
                    level.append(used)
        for used, prefix in later:
            if used not in found:
                found[used] = prefix
                level.append(used)
    return found


def _seen(name: str, uses: Mapping[str, Uses]) -> tuple[tuple[str, str], ...]:
    """What may stand before a name in a file, with the file that it then comes from."""
    found = [("", name)]
    for way, user in found:
        for alias, used in uses[user]:
            one = (way if alias is None else f"{way}{alias}.", used)
            if one not in found:
                found.append(one)
    return tuple(found)


# ---- rewriting --------------------------------------------------------------------------


def _declare(entry: Entry, prefix: str) -> Entry:
    """The item with its own name behind the prefix."""
    item = entry.item
    if not prefix or type(item) not in _DECLARED:
        return entry
    if isinstance(item, syn.ObjectDecl):
        names = tuple(replace(name, value=prefix + name.value) for name in item.names)
        return replace(entry, item=replace(item, names=names))
    name = cast(syn.Name, getattr(item, "name"))  # noqa: B009
    fields_ = {"name": replace(name, value=prefix + name.value)}
    return replace(entry, item=cast(syn.Item, replace(cast(syn.Node, item), **fields_)))  # type: ignore[arg-type]


def _kinds(entries: Iterator[Entry]) -> Kinds:
    found: dict[str, set[str]] = {kind: set() for kind in (*_DECLARED.values(), "object")}
    for entry in entries:
        item = entry.item
        if isinstance(item, syn.ObjectDecl):
            found["object"] |= {name.value for name in item.names}
        elif type(item) in _DECLARED:
            name = cast(syn.Name, getattr(item, "name"))  # noqa: B009
            found[_DECLARED[type(item)]].add(name.value)
    return found


def _resolved(node: NodeT, draft: Draft, kinds: Kinds) -> NodeT:
    """The tree with each name of a settled kind in its full form."""
    if isinstance(node, tuple):
        return cast(NodeT, tuple(_resolved(part, draft, kinds) for part in node))
    if not is_dataclass(node) or isinstance(node, (type, Span, syn.Name)):
        return node
    special = _NAMED.get(cast(type[syn.Node], type(node)), {})
    changed: dict[str, object] = {}
    for one in fields(node):
        value = getattr(node, one.name)
        if one.name in special:
            changed[one.name] = _full(value, draft, kinds[special[one.name]])
        elif one.name != "span":
            changed[one.name] = _resolved(value, draft, kinds)
    return cast(NodeT, replace(node, **changed))


def _full(value: object, draft: Draft, known: Collection[str]) -> object:
    if isinstance(value, tuple):
        return tuple(_full(part, draft, known) for part in value)
    if isinstance(value, syn.Name):
        found = next((one for one in draft.candidates(value) if one in known), None)
        return value if found is None else replace(value, value=found)
    return value
