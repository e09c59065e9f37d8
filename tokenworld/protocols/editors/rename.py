"""Rename a declaration in the whole project, if nothing else changes.

The edited texts are checked again. Each program must be the same except for the name, and the
scenarios that passed must pass, for typed commands and told texts may hold names of objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Final

from tokenworld import model as m
from tokenworld.check import Checked
from tokenworld.diagnostics import Diagnostic, Edit, Failure, Source, Span
from tokenworld.diagnostics.diagnostic import edited
from tokenworld.protocols.editors.book import Book, Project, Snapshot, identity
from tokenworld.protocols.editors.names import Symbol, Use
from tokenworld.session.loading import Loaded
from tokenworld.session.scenarios import run_scenario
from tokenworld.syntax.tables import tables

_LOWER: Final = re.compile(r"[a-z][A-Za-z0-9_]*")
_UPPER: Final = re.compile(r"[A-Z][A-Za-z0-9_]*")
_TYPES: Final = ("type", "enum")
_FIXED: Final = ("module", "unit", "alias")
"""Kinds that are not renamed: the name of a file, and parts of numbers and of other names."""
_TOLD: Final = ("action", "event", "label", "member", "object")
"""Names that typed commands, told texts and recorded rows may hold."""
_PLAN_SECONDS: Final = 5.0


class Refused(Exception):
    """A rejected rename; the text gives the reason."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """The edits of one file of the project."""

    source: Source
    edits: tuple[Edit, ...]


def renamable(use: Use | None) -> Symbol:
    """Return the declaration that a name means; raises `Refused` if it cannot be renamed."""
    if use is None:
        raise Refused("There is no name of a declaration here.")
    if use.symbol.kind in _FIXED:
        raise Refused(f"The {use.symbol.kind} `{use.symbol.name}` cannot be renamed here.")
    return use.symbol


def uses_in_project(
    project: Project, found: Snapshot, symbol: Symbol
) -> Iterator[tuple[Source, Use]]:
    """Yield every use of a declaration in the project, each place once."""
    wanted = found.place_of(symbol)
    seen: set[tuple[Path | str, int]] = set()
    local = symbol.kind == "local"
    roots = (found,) if local else project.readers(wanted[0])
    for root in roots:
        for uses in root.names.uses.values():
            for use in uses:
                if use.symbol.name != symbol.name or root.place_of(use.symbol) != wanted:
                    continue
                source = root.source_named(use.span.file)
                place = identity(source), use.span.start
                if place not in seen:
                    seen.add(place)
                    yield source, use


def rename(book: Book, found: Snapshot, symbol: Symbol, new: str) -> tuple[Renamed, ...]:
    """Return the edits that give a declaration another name; raises `Refused` if they would break
    something."""
    written = _written(symbol, new)
    edits: dict[Path | str, tuple[Source, list[Edit]]] = {}
    project = Project(book, found.source)
    for source, use in uses_in_project(project, found, symbol):
        if not book.writable(source):
            raise Refused(f"`{symbol.name}` is used in `{source.name}`, which comes with `tw`.")
        _, known = edits.setdefault(identity(source), (source, []))
        known.append(Edit(use.span, written))
    done = tuple(Renamed(source, tuple(some)) for source, some in edits.values())
    _verify(project, found, symbol, new, done)
    return done


def _written(symbol: Symbol, new: str) -> str:
    """Return the name as written: in backquotes if it is reserved or not a plain name."""
    name = new[1:-1] if len(new) > 2 and new[0] == new[-1] == "`" else new
    if not name or not name.isprintable() or "`" in name or name != name.strip():
        raise Refused(f"`{new}` is no name.")
    plain = (_UPPER if symbol.kind in _TYPES else _LOWER).fullmatch(name)
    return name if plain and name not in tables().reserved else f"`{name}`"


def _verify(
    project: Project, found: Snapshot, symbol: Symbol, new: str, done: tuple[Renamed, ...]
) -> None:
    """Raise `Refused` unless every text that reads an edited file keeps its meaning."""
    texts = {identity(one.source): edited(one.source.text, one.edits) for one in done}
    book = project.book
    files = {place: text for place, text in texts.items() if isinstance(place, Path)}
    alike = _Alike(symbol.name, new.strip("`"))
    roots: dict[Path | str, Snapshot] = {identity(found.source): found}
    for one in done:
        for root in project.readers(identity(one.source)):
            roots.setdefault(identity(root.source), root)
    for place, root in roots.items():
        if root.checked.program is None:
            raise Refused(f"`{root.source.name}` has errors; correct them first.")
        text = texts.get(place, root.source.text)
        after = book.checked(Source(root.source.name, root.source.path, text), files)
        if after.program is None:
            raise Refused(_first_error(after.diagnostics))
        if not alike(root.checked.program, after.program):
            raise Refused(f"`{new.strip('`')}` would mean something else in `{root.source.name}`.")
        if symbol.kind in _TOLD:
            _play(root.checked, after)


def _first_error(found: tuple[Diagnostic, ...]) -> str:
    error = next(one for one in found if one.is_error)
    return f"{error.message} ({error.code}{f', {error.span}' if error.span else ''})"


def _play(before: Checked, after: Checked) -> None:
    """Raise `Refused` if a scenario fails that passed before."""
    assert before.program is not None
    assert after.program is not None
    pairs = zip(before.program.scenarios, after.program.scenarios, strict=True)
    for old, new in pairs:
        if not _passes(after, new) and _passes(before, old):
            told = f"The scenario `{new.title}` would fail"
            raise Refused(f"{told}: it types or expects the name.")


def _passes(checked: Checked, scenario: m.Scenario) -> bool:
    assert checked.program is not None
    loaded = Loaded(checked.program, checked.sources, checked.diagnostics)
    try:
        return run_scenario(loaded, scenario, plan_seconds=_PLAN_SECONDS).ok
    except Failure:
        return False


@dataclass(frozen=True, slots=True)
class _Alike:
    """A comparison of two checked programs, which may differ in one name and in places alone."""

    old: str
    new: str

    def __call__(self, one: object, other: object) -> bool:
        if isinstance(one, str) and isinstance(other, str):
            return one == other or self._named(one) == self._named(other)
        if type(one) is not type(other):
            return False
        if isinstance(one, Span | m.SourceRef):
            return True
        if isinstance(one, tuple) and isinstance(other, tuple):
            return len(one) == len(other) and all(map(self, one, other))
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            return self(tuple(one), tuple(other)) and self(
                tuple(one.values()), tuple(other.values())
            )
        if is_dataclass(one):
            names = [field.name for field in fields(one)]
            return all(self(getattr(one, name), getattr(other, name)) for name in names)
        return one == other

    def _named(self, text: str) -> str:
        """Return the text with the new name for the old one, backquotes left out."""
        old = rf"(?<![A-Za-z0-9_]){re.escape(self.old)}(?![A-Za-z0-9_])"
        return re.sub(old, lambda _: self.new, text).replace("`", "")
