"""Files: the root file and the modules it uses, each once, used ones first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tokenworld.check.draft import Draft, Entry
from tokenworld.diagnostics import Failure, Source, Span, read_source
from tokenworld.syntax import nodes as syn
from tokenworld.syntax import parse_source

__all__ = ["Loader", "file_loader", "load"]

Loader = Callable[[tuple[str, ...], Source], Source | None]
"""Finds a module by its dotted path, seen from a source; ``None`` if there is none."""


def file_loader(rules: tuple[Path, ...]) -> Loader:
    """Looks beside the using file, then in each folder of ``rules`` (language.md §1)."""

    def find(path: tuple[str, ...], user: Source) -> Source | None:
        beside = (user.path.parent,) if user.path is not None else ()
        for folder in (*beside, *rules):
            file = folder.joinpath(*path).with_suffix(".tw")
            if file.is_file():
                return read_source(file, "/".join(path) + ".tw")
        return None

    return find


def load(draft: Draft, root: Source, loader: Loader) -> None:
    """Fill ``draft.entries`` with all items; worlds and scenarios of modules stay out."""
    _load_file(draft, root, loader, (), is_root=True)


def _load_file(
    draft: Draft, source: Source, loader: Loader, chain: tuple[str, ...], *, is_root: bool
) -> None:
    draft.sources[source.name] = source
    tree, problems = parse_source(source)
    draft.report.extend(problems)
    entries = [_entry(item) for item in tree.items]
    for entry in entries:
        if isinstance(entry.item, syn.UseDecl):
            _use(draft, entry.item, source, loader, (*chain, _identity(source)))
    hidden = () if is_root else (syn.WorldDecl, syn.ScenarioDecl)
    draft.entries.extend(entry for entry in entries if not isinstance(entry.item, hidden))


def _identity(source: Source) -> str:
    """What tells files apart: where they lie; a text without a file has only its name."""
    return source.name if source.path is None else str(source.path.resolve())


def _entry(item: syn.Item) -> Entry:
    if isinstance(item, syn.QuirkDecl):
        return Entry(_entry(item.item).item, item.reason.value)
    return Entry(item)


def _use(
    draft: Draft, use: syn.UseDecl, user: Source, loader: Loader, chain: tuple[str, ...]
) -> None:
    path = tuple(name.value for name in use.path)
    shown = ".".join(path)
    found = _find(draft, use.span, path, user, loader)
    if found is None:
        hint = f"Put it at `{'/'.join(path)}.tw` beside this file or in `rules/`."
        draft.tell("TW0001", f"There is no module `{shown}`.", use.span, "not found", hint)
    elif _identity(found) in chain:
        what = f"`{shown}` uses itself, directly or through others."
        draft.tell("TW0206", what, use.span, "import cycle", "Move what both need to a third.")
    elif _identity(found) not in map(_identity, draft.sources.values()):
        _load_file(draft, found, loader, chain, is_root=False)


def _find(
    draft: Draft, span: Span, path: tuple[str, ...], user: Source, loader: Loader
) -> Source | None:
    try:
        return loader(path, user)
    except Failure as failure:
        draft.report.extend(failure.diagnostics)
        return None
