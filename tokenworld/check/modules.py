"""Files: the root file and the modules it uses, each loaded once, used ones first (language.md §1).

Every file has a prefix that its declarations carry in the tables of the program: nothing for the
root and what it uses plainly, ``c.`` for a module behind ``use a.b as c``. Declarations and the
places that can only hold a name of one kind are rewritten here, once; names in expressions are
looked up when they are checked, since a local or a member of an enum may come first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Final, TypeVar, cast

from tokenworld.check.draft import Draft, Entry, Namespace
from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    Source,
    Span,
    did_you_mean,
    is_source,
    read_source,
)
from tokenworld.syntax import docs_of, parse_source
from tokenworld.syntax import nodes as syn

_NAMES: Final = {
    "grid": "blast cells chasing hearing movement pushing sight wandering wildfire",
    "std": (
        "beliefs body clock coins combat contagion containers crafting dialogue doors economy "
        "factions fire food growth heat husbandry ignition light liquids moods quests sight "
        "skills speech teamwork things tools travel weather"
    ),
    "textgame": "circuits devices food matter sinks things tree using verdict",
}
STANDARD: Final = tuple(f"{folder}.{one}" for folder in _NAMES for one in _NAMES[folder].split())
"""The dotted names of the packaged modules (`rules/`)."""

Loader = Callable[[tuple[str, ...], Source], Source | None]
"""Finds a module by its dotted path, seen from a source; ``None`` if there is none."""

Reader = Callable[[Source], tuple[list[Entry], tuple[Diagnostic, ...]]]
"""The items of a text and its syntax errors."""

DataLoader = Callable[[str, Source], Source]
"""Reads a file that a source names, such as a recorded state; `Failure` if it cannot."""


def file_loader(rules: tuple[Path, ...]) -> Loader:
    """Look beside the using file, then in the project's ``rules``, then in each of ``rules``.

    The project's folder is any that holds the using file, the nearest first (language.md §1).
    Texts of a `Reach` replace files.
    """

    def find(path: tuple[str, ...], user: Source) -> Source | None:
        inside = Path(*path[:-1], f"{path[-1]}.tw")
        for folder in (*_around(user), *rules):
            if is_source(folder / inside):
                return read_source(folder / inside, inside.as_posix())
        return None

    return find


def _around(user: Source) -> Iterator[Path]:
    """The folder of a file, then the ``rules`` of the folders around it."""
    if user.path is not None:
        yield user.path.parent
        yield from (folder / "rules" for folder in user.path.resolve().parents)


def data_loader(name: str, user: Source) -> Source:
    """Reads a data file beside the file that names it."""
    folder = user.path.parent if user.path is not None else Path()
    return read_source(folder / name, name)


@dataclass(slots=True)
class _Loading:
    """The files read so far: their entries in the order of use, and the uses of each file."""

    draft: Draft
    loader: Loader
    read: Reader
    entries: list[tuple[str, list[Entry]]] = field(default_factory=list)
    uses: dict[str, Uses] = field(default_factory=dict)


def read_entries(source: Source) -> tuple[list[Entry], tuple[Diagnostic, ...]]:
    """The items of a text with their doc comments, and its syntax errors."""
    tree, problems = parse_source(source)
    docs = docs_of(tree)
    return [entry_of(item, docs.get(item.span.line)) for item in tree.items], problems


def load(draft: Draft, root: Source, loader: Loader, read: Reader = read_entries) -> None:
    """Fill ``draft.entries`` with all items; worlds and scenarios of modules stay out."""
    draft.root = root
    loading = _Loading(draft, loader, read)
    _load_file(loading, root, (), is_root=True)
    put_behind_aliases(draft, loading.entries, loading.uses, root.name)


def _load_file(loading: _Loading, source: Source, chain: tuple[str, ...], *, is_root: bool) -> None:
    draft = loading.draft
    draft.sources[source.name] = source
    uses = loading.uses[source.name] = []
    entries, problems = loading.read(source)
    draft.report.extend(problems)
    for use in [one.item for one in entries if type(one.item) is syn.UseDecl]:
        used = _use(loading, use, source, (*chain, _identity(source)))
        if used is not None:
            uses.append((None if use.alias is None else use.alias.value, used))
    hidden = () if is_root else (syn.WorldDecl, syn.ScenarioDecl)
    shown = [entry for entry in entries if type(entry.item) not in hidden] if hidden else entries
    loading.entries.append((source.name, shown))


def _identity(source: Source) -> str:
    """The identity of a file: its resolved path, or the name of a text without a file."""
    return source.name if source.path is None else str(source.path.resolve())


def entry_of(item: syn.Item, doc: str | None) -> Entry:
    """An item with the remarks around it."""
    if isinstance(item, syn.QuirkDecl):
        return Entry(entry_of(item.item, None).item, item.reason.value, doc)
    return Entry(item, None, doc)


def _use(loading: _Loading, use: syn.UseDecl, user: Source, chain: tuple[str, ...]) -> str | None:
    """The name of the used file, read now unless it was read before."""
    draft, path = loading.draft, tuple(name.value for name in use.path)
    shown = ".".join(path)
    found = _find(loading, use.span, path, user)
    if found is None:
        put = f"Put it at `{'/'.join(path)}.tw` beside this file or in `rules/`."
        same = [one for one in STANDARD if one.rpartition(".")[2] == path[-1]]
        hint = f"Did you mean `{same[0]}`?" if same else did_you_mean(shown, STANDARD) or put
        draft.tell("TW0001", f"There is no module `{shown}`.", use.span, "not found", hint)
        return None
    if _identity(found) in chain:
        what = f"`{shown}` uses itself, directly or through others."
        draft.tell("TW0206", what, use.span, "import cycle", "Move what both need to a third.")
        return None
    for known in draft.sources.values():
        if _identity(known) == _identity(found):
            return known.name
    named = _named_apart(found, user, draft)
    _load_file(loading, named, chain, is_root=False)
    return named.name


def _named_apart(found: Source, user: Source, draft: Draft) -> Source:
    """The module under a name of its own: a neighbour of a module is named after its folder."""
    beside = found.path is not None and user.path is not None and user is not draft.root
    if beside and found.path == Path(user.path or "").parent / found.name:
        found = replace(found, name=(Path(user.name).parent / found.name).as_posix())
    if found.name in draft.sources and found.path is not None:
        found = replace(found, name=found.path.as_posix())
    return found


def _find(loading: _Loading, span: Span, path: tuple[str, ...], user: Source) -> Source | None:
    try:
        return loading.loader(path, user)
    except Failure as failure:
        loading.draft.report.extend(_placed(found, span) for found in failure.diagnostics)
        return None


def _placed(found: Diagnostic, span: Span) -> Diagnostic:
    """A finding without a place gets that of the line that asked for the file."""
    return found if found.span is not None else replace(found, span=span)


Uses = list[tuple[str | None, str]]
"""The uses of a file, in order: the short name, if any, and the name of the used file."""

NodeT = TypeVar("NodeT")
Kinds = Mapping[str, set[str]]

_DECLARED: dict[type[syn.Node], str] = {
    syn.TypeDecl: "type", syn.EnumDecl: "type", syn.RelationDecl: "fact", syn.FunctionDecl: "fact",
    syn.TableDecl: "fact", syn.DeriveDecl: "fact", syn.ParamDecl: "param", syn.EventDecl: "event",
    syn.PhaseDecl: "phase", syn.ActionDecl: "rule", syn.LawDecl: "rule", syn.BelieveDecl: "rule",
    syn.WatchDecl: "watch", syn.InvariantDecl: "invariant", syn.ConserveDecl: "conserve",
    syn.ActorDecl: "actor", syn.ObjectDecl: "object", syn.EffectDecl: "effect",
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
    syn.Apply: {"name": "effect"},
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
    """The prefixes that a file may write before a name, each with the prefix of its file."""
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
