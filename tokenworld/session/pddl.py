"""Worlds as PDDL and back: imported files as programs, start states exported, plans read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tokenworld.check import Pass, run_pass
from tokenworld.diagnostics import Diagnostic, Source, Span, read_source
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import Engine, EngineSimulator
from tokenworld.ground import Command
from tokenworld.planning.planners.by_pddl import OriginalPddl
from tokenworld.planning.reader import Imported, import_pddl
from tokenworld.planning.referee import fitted, refereed
from tokenworld.planning.verdict import Verdict
from tokenworld.session.loading import Loaded, LoadFailure, OpenWorld, choose_world, started_text
from tokenworld.session.solving import wins_under_seed

if TYPE_CHECKING:
    from tokenworld.check.draft import Draft
    from tokenworld.planning.pddl.export import PddlExport

_IMPORTED = "world.tw"
"""The name of an imported text in places."""


def is_pddl(path: str | Path) -> bool:
    """Return whether a path names a PDDL file, by its ending."""
    return Path(path).suffix.lower() == ".pddl"


def import_files(domain: Path, problems: Sequence[Path]) -> Imported:
    """The `.tw` text of a domain file and its problem files.

    Raises `Failure` for a file that cannot be read, and with everything in them that is wrong or
    has no counterpart, each with its place.
    """
    return import_pddl(read_source(domain), tuple(read_source(path) for path in problems))


def load_imported(imported: Imported) -> Loaded:
    """The checked program of an imported text.

    An error of the checker is a `LoadFailure` with a place in the PDDL, because that is the text
    that the author can change.
    """
    return _started(imported)[0]


def _started(imported: Imported) -> tuple[Loaded, dict[str, Engine]]:
    """The program with the engines of its worlds, which were compiled to see whether they start."""
    source = Source(_IMPORTED, None, imported.text)
    checked, engines = started_text(source, watch=_needed)
    if checked.program is None:
        errors = [found for found in checked.diagnostics if found.is_error]
        raise LoadFailure(tuple(_placed(one, imported, source) for one in errors), ())
    return Loaded(checked.program, checked.sources, checked.diagnostics), engines


def _needed(step: Pass, draft: Draft) -> None:
    """Run a pass, but not the lints: nobody wrote the imported text."""
    if step.name != "lints":
        run_pass(step, draft)


def _placed(found: Diagnostic, imported: Imported, source: Source) -> Diagnostic:
    """Return a finding about the imported text with the place in the PDDL that gave its line."""
    if found.span is None:
        return found
    line = source.line_text(found.span.line).strip()
    notes = (*found.notes, f"imported as: {line}")
    place = imported.place(found.span.line)
    return replace(found, span=place, label=None, related=(), fix=None, notes=notes)


def load_pddl(domain: Path, problems: Sequence[Path]) -> Loaded:
    """The checked program of a domain, each problem a world."""
    return load_imported(import_files(domain, problems))


@frozen
class OpenPair:
    """A domain and its problem as a compiled world, with their texts and the way back to them."""

    world: OpenWorld
    imported: Imported
    original: OriginalPddl

    def place(self, span: Span) -> Span:
        """Return the place in the PDDL that gave a place of the imported text."""
        return self.imported.place(span.line) if span.file == _IMPORTED else span

    def told(self, found: Diagnostic) -> Diagnostic:
        """A finding about the imported text, at the PDDL that its author can change."""
        if found.span is None or found.span.file != _IMPORTED:
            return found
        return _placed(found, self.imported, Source(_IMPORTED, None, self.imported.text))


def open_pair(domain: Path, problem: Path) -> OpenPair:
    """A domain and a problem, compiled; raises `Failure` as `import_files` and `load_imported`."""
    rules, start = read_source(domain), read_source(problem)
    imported = import_pddl(rules, (start,))
    loaded, engines = _started(imported)
    world = choose_world(loaded.program, None, str(problem))
    original = OriginalPddl(*(imported.classical or (rules.text, start.text)))
    return OpenPair(OpenWorld(loaded, world, engines[world.name]), imported, original)


def open_pddl(domain: Path, problem: Path) -> OpenWorld:
    """The world of a problem, compiled."""
    return open_pair(domain, problem).world


FOREIGN = "the plan given"
"""The finder of a plan that came from outside."""


def export(
    world: OpenWorld, goal: str | None, *, names: bool = False, luck: bool = False
) -> PddlExport:
    """Domain and problem of a world; ``goal`` names one of its goal lines.

    ``names``: with names that every planner takes. ``luck``: as PPDDL, with probabilities.
    """
    from tokenworld.planning.pddl.export import export_ppddl, export_world, sanitize

    start = world.engine.start()
    simulator = EngineSimulator(world.engine, start)
    if luck:
        found = export_ppddl(simulator.instance_at(start), partial(simulator.read, start), goal)
    else:
        found = export_world(simulator, start, goal, compiled=names)
    return sanitize(found) if names else found


def read_plan(world: OpenWorld, exported: PddlExport, plan: str, goal: str | None) -> Verdict | str:
    """The verdict *winnable* of a plan of an exported pair, or a clause that says why it is none.

    Raises `Failure` (TW0812) for a step that the pair does not have.
    """
    from tokenworld.planning.pddl.words import made

    start = world.engine.start()
    simulator = EngineSimulator(world.engine, start)
    steps = exported.steps(plan)
    commands = [step.command for step in steps]
    hidden = made(world.program) - exported.names.steps.keys()
    commands += (Command(one, ()) for one in world.program.actions if one in hidden)
    found = fitted(simulator, start, commands, goal)
    if found is None:
        return "its steps do not lead to the goal"
    verdict = refereed(simulator, start, found, goal, FOREIGN, "", polish=False)
    if isinstance(verdict, str):
        return verdict
    return verdict.with_seed(start.seed, wins_under_seed(world.engine, start, verdict.steps, goal))
