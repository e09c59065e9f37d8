"""Files: the root file and the modules it uses, each once, used ones first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tokenworld.check.aliases import Uses, put_behind_aliases
from tokenworld.check.draft import Draft, Entry
from tokenworld.diagnostics import Diagnostic, Failure, Source, Span, read_source
from tokenworld.syntax import docs_of, parse_source
from tokenworld.syntax import nodes as syn

__all__ = [
    "DataLoader",
    "Loader",
    "Reader",
    "data_loader",
    "entry_of",
    "file_loader",
    "load",
    "read_entries",
]

Loader = Callable[[tuple[str, ...], Source], Source | None]
"""Finds a module by its dotted path, seen from a source; ``None`` if there is none."""

Reader = Callable[[Source], tuple[list[Entry], tuple[Diagnostic, ...]]]
"""The items of a text, and what is wrong with its syntax."""

DataLoader = Callable[[str, Source], Source]
"""Reads a file that a source names, such as a recorded state; `Failure` if it cannot."""


def file_loader(rules: tuple[Path, ...]) -> Loader:
    """Looks beside the using file, then in the project's ``rules``, then in each of ``rules``.

    The project's folder is any that holds the using file, the nearest first (language.md §1).
    """

    def find(path: tuple[str, ...], user: Source) -> Source | None:
        inside = Path(*path[:-1], f"{path[-1]}.tw")
        for folder in (*_around(user), *rules):
            if _is_file(folder / inside):
                return read_source(folder / inside, inside.as_posix())
        return None

    return find


def _is_file(path: Path) -> bool:
    """Whether a file is there; a name that no file system takes is that of none."""
    try:
        return path.is_file()
    except OSError:
        return False


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
    """The files read so far: their entries in the order of use, and who uses whom."""

    draft: Draft
    loader: Loader
    read: Reader
    entries: list[tuple[str, list[Entry]]] = field(default_factory=list)
    uses: dict[str, Uses] = field(default_factory=dict)


def read_entries(source: Source) -> tuple[list[Entry], tuple[Diagnostic, ...]]:
    """The items of a text with their doc comments, and what is wrong with its syntax."""
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
    """What tells files apart: where they lie; a text without a file has only its name."""
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
        hint = f"Put it at `{'/'.join(path)}.tw` beside this file or in `rules/`."
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
