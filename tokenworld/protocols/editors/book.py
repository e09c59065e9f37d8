"""The texts under edit and the results of their checks, independent of any protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from tokenworld.assets import MissingAssetsError, rules_folder
from tokenworld.check import Checked, check_source, undisturbed
from tokenworld.check.workspace import Workspace
from tokenworld.diagnostics import Failure, Reach, Source, reaching, read_source
from tokenworld.diagnostics.positions import Positions
from tokenworld.diagnostics.source import BYTE_ORDER_MARK
from tokenworld.protocols.editors.names import Names, Symbol, Use, names_of
from tokenworld.session.loading import project_loader, started

_USE: Final = re.compile(r"\buse[ \t\r\n]+([a-z`][\w.` \t]*)")

Place = tuple[Path | str, int]
"""A file (its resolved path, or the name of a text without one) and an offset in it."""


@dataclass(eq=False)
class Snapshot:
    """One text with the result of its check; its names are looked up on first use."""

    source: Source
    checked: Checked

    @cached_property
    def names(self) -> Names:
        return names_of(self.checked.sources, self.checked.program)

    @cached_property
    def positions(self) -> Positions:
        return Positions(self.source.text)

    def source_named(self, file: str) -> Source:
        """Return the text that contains a span."""
        return next((one for one in self.checked.sources if one.name == file), self.source)

    def place_of(self, symbol: Symbol) -> Place:
        """Return the place of the declaration of a symbol, the same for every file that asks."""
        return identity(self.source_named(symbol.span.file)), symbol.span.start

    def at(self, offset: int) -> Use | None:
        """Return the name at an offset of the text."""
        return self.names.at(self.source.name, offset)


@dataclass(slots=True)
class Text:
    """A text that an editor has open. ``good`` is the last check of it that gave a program."""

    uri: str
    version: int | None
    source: Source
    workspace: Workspace
    found: Snapshot | None = None
    good: Snapshot | None = None


def identity(source: Source) -> Path | str:
    """Return the identity of a source: its resolved path, or its name."""
    return source.name if source.path is None else source.path.resolve()


@dataclass(slots=True)
class Book:
    """All texts that an editor has open, by their URIs, and the folders that it shows."""

    texts: dict[str, Text] = field(default_factory=dict)
    opened: dict[Path, str] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()

    def put(self, uri: str, path: Path | None, text: str, version: int | None) -> None:
        """Store a text as it is now in the editor."""
        text = readable(text.removeprefix(BYTE_ORDER_MARK))
        name = uri if path is None else str(path)
        source = Source(name, path, text)
        known = self.texts.get(uri)
        if known is None:
            self.texts[uri] = Text(uri, version, source, self._workspace())
        else:
            known.source, known.version = source, version
        if path is not None:
            self.opened[path.resolve()] = text

    def _workspace(self) -> Workspace:
        return Workspace(project_loader())

    def restart(self, text: Text) -> None:
        """Discard the results of earlier checks of a text, after a check was interrupted."""
        text.workspace = self._workspace()

    def close(self, uri: str) -> None:
        """Remove a closed text; its file counts again."""
        text = self.texts.pop(uri, None)
        if text is not None and text.source.path is not None:
            self.opened.pop(text.source.path.resolve(), None)

    def check(self, uri: str) -> Snapshot | None:
        """Check a text as `tw check` does; `None` if it was closed meanwhile."""
        text = self.texts.get(uri)
        if text is None:
            return None
        source = text.source
        with undisturbed(), self.reading():
            again = text.workspace.edit(source)
            whole = Checked(again.program, again.diagnostics, again.sources)
            found = Snapshot(source, started(whole)[0])
        text.found = found
        if found.checked.program is not None:
            text.good = found
        return found

    def users(self, of: str) -> list[str]:
        """Return the open texts whose last check read the file of another one."""
        changed = self.texts.get(of)
        if changed is None:
            return []
        wanted = identity(changed.source)
        return [
            uri
            for uri, text in self.texts.items()
            if uri != of and text.found is not None
            and any(identity(one) == wanted for one in text.found.checked.sources)
        ]  # fmt: skip

    def uri_of(self, source: Source) -> str:
        """Return the URI of a source, in the editor's spelling if the editor has opened it."""
        wanted = identity(source)
        known = (uri for uri, text in self.texts.items() if identity(text.source) == wanted)
        path = Path(source.name) if source.path is None else source.path
        return next(known, None) or path.resolve().as_uri()

    def snapshot(self, source: Source) -> Snapshot:
        """Return the check of a text of the project: the last one if the editor has it open."""
        for text in self.texts.values():
            if text.found is not None and text.found.source is source:
                return text.found
        return Snapshot(source, self.checked(source))

    def checked(self, source: Source, edited: Mapping[Path, str] | None = None) -> Checked:
        """Check one text, with the open texts, as ``edited``, in place of files."""
        with self.reading(edited):
            return check_source(source, project_loader())

    def reading(self, edited: Mapping[Path, str] | None = None) -> AbstractContextManager[None]:
        """Read the open texts, as ``edited`` by resolved path, in place of files."""
        return reaching(Reach(None, {**self.opened, **(edited or {})}))

    def writable(self, source: Source) -> bool:
        """Return whether a file belongs to the project: not to the rules that come with `tw`."""
        try:
            bundled = rules_folder().resolve()
        except MissingAssetsError:
            return True
        path = identity(source)
        if not isinstance(path, Path) or not path.is_relative_to(bundled):
            return True
        return any(bundled.is_relative_to(folder.resolve()) for folder in self.folders)


class Project:
    """The current texts of a project, and which of them reads which.

    Open texts come first, then the files of the folders that the editor shows; without folders,
    those of the folder of ``about``.
    """

    def __init__(self, book: Book, about: Source) -> None:
        self.book = book
        self._find = project_loader()
        self._reads: dict[Path | str, set[Path | str]] = {}
        self._snapshots: dict[Path | str, Snapshot] = {}
        self._sources = {identity(one.source): one.source for one in book.texts.values()}
        folders = book.folders or (() if about.path is None else (about.path.parent,))
        for path in (one.resolve() for top in folders for one in sorted(top.rglob("*.tw"))):
            if path not in self._sources and path.is_file():
                for source in _read(path):
                    self._sources[path] = source
        with book.reading():
            for source in self._sources.values():
                self._used_by(source)

    def readers(self, file: Path | str) -> Iterator[Snapshot]:
        """Yield the checks of a file and of all texts that read it, directly or indirectly."""
        for place, source in self._sources.items():
            if file == place or file in self._closure(place):
                if place not in self._snapshots:
                    self._snapshots[place] = self.book.snapshot(source)
                yield self._snapshots[place]

    def _closure(self, place: Path | str) -> set[Path | str]:
        found, todo = {place}, [place]
        while todo:
            new = self._reads.get(todo.pop(), set()) - found
            found |= new
            todo += new
        return found

    def _used_by(self, source: Source) -> None:
        """Record the files that the `use` lines of a text, and of the texts they use, name."""
        if identity(source) in self._reads:
            return
        reads = self._reads[identity(source)] = set()
        for one in _USE.findall(source.text):
            path = tuple(part.strip(" \t`") for part in one.split(" as ")[0].split("."))
            try:
                used = self._find(path, source) if all(path) else None
            except Failure:
                continue
            if used is not None:
                reads.add(identity(used))
                self._used_by(used)


def readable(text: str) -> str:
    """Return the text with a replacement for each lone surrogate, which no file can hold."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _read(path: Path) -> Sequence[Source]:
    try:
        return (read_source(path),)
    except Failure:
        return ()
