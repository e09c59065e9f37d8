"""PDDL files as programs and worlds: imported as `.tw` text, then checked like any other text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Source, read_source
from tokenworld.engine import Engine
from tokenworld.planning.reader import Imported, import_pddl
from tokenworld.session.loading import (
    Loaded,
    LoadFailure,
    OpenWorld,
    choose_world,
    started_text,
)

__all__ = ["import_files", "is_pddl", "load_imported", "load_pddl", "open_pddl"]


def is_pddl(path: str | Path) -> bool:
    """Whether a path names a PDDL file, by its ending."""
    return Path(path).suffix.lower() == ".pddl"


def import_files(domain: Path, problems: Sequence[Path]) -> Imported:
    """The `.tw` text of a domain file and its problem files.

    Raises `Failure` for a file that cannot be read, and with everything in them that is wrong or
    has no counterpart, each with its place.
    """
    return import_pddl(read_source(domain), tuple(read_source(path) for path in problems))


def load_imported(imported: Imported) -> Loaded:
    """The checked program of an imported text.

    What the checker refuses is a `LoadFailure` that points into the PDDL, for that is the text that
    its author can change.
    """
    return _started(imported)[0]


def _started(imported: Imported) -> tuple[Loaded, dict[str, Engine]]:
    """The program with the engines of its worlds, which were compiled to see whether they start."""
    source = Source("world.tw", None, imported.text)
    checked, engines = started_text(source)
    if checked.program is None:
        errors = [found for found in checked.diagnostics if found.is_error]
        raise LoadFailure(tuple(_told(one, imported, source) for one in errors), ())
    return Loaded(checked.program, checked.sources, checked.diagnostics), engines


def _told(found: Diagnostic, imported: Imported, source: Source) -> Diagnostic:
    """A finding about the imported text, at the PDDL behind its line."""
    if found.span is None:
        return found
    line = source.line_text(found.span.line).strip()
    notes = (*found.notes, f"imported as: {line}")
    place = imported.place(found.span.line)
    return replace(found, span=place, label=None, related=(), fix=None, notes=notes)


def load_pddl(domain: Path, problems: Sequence[Path]) -> Loaded:
    """The checked program of a domain, each problem a world."""
    return load_imported(import_files(domain, problems))


def open_pddl(domain: Path, problem: Path) -> OpenWorld:
    """The world of a problem, compiled."""
    loaded, engines = _started(import_files(domain, (problem,)))
    world = choose_world(loaded.program, None, str(problem))
    return OpenWorld(loaded, world, engines[world.name])
