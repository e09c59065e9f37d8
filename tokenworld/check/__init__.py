"""The checker: from syntax trees to one checked `Program`, in passes.

Read `PASSES` top to bottom to know what happens to a source text. Each pass fills tables of the
`Draft` or reports diagnostics; a later pass may rely on every earlier one.
"""

from __future__ import annotations

import gc
import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time

from tokenworld.check.analysis.bounds import check_bounds
from tokenworld.check.analysis.laws import check_laws
from tokenworld.check.analysis.lints import check_lints
from tokenworld.check.analysis.proofs import check_proofs
from tokenworld.check.analysis.writes import check_creations, check_writes
from tokenworld.check.beliefs import check_beliefs
from tokenworld.check.born import with_births
from tokenworld.check.cascades import at_declarations, said_once, with_repairs, without_followups
from tokenworld.check.draft import Draft
from tokenworld.check.fluents import check_tables, declare_defaults, declare_fluents, declare_types
from tokenworld.check.modules import DataLoader, Loader, data_loader, file_loader, load
from tokenworld.check.over_time import check_over_time, with_monitors
from tokenworld.check.phrases import check_phrases, check_specificity
from tokenworld.check.rules import check_derives, check_rules, stratify
from tokenworld.check.scenarios import check_scenarios
from tokenworld.check.scratch import check_scratch, with_resets
from tokenworld.check.standard import with_modules
from tokenworld.check.typing.statements import check_named_effects
from tokenworld.check.vocabulary import (
    check_namespaces,
    declare_events,
    declare_files,
    declare_params,
    declare_words,
)
from tokenworld.check.worlds import check_objects, check_worlds
from tokenworld.diagnostics import Diagnostic, Source, has_errors, in_order
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import Program, SourceRef

__all__ = [
    "PASSES",
    "Checked",
    "Loader",
    "Pass",
    "Timed",
    "Watch",
    "assemble",
    "check_source",
    "data_loader",
    "file_loader",
    "run_pass",
    "timed",
    "tried",
    "undisturbed",
]


@frozen
class Pass:
    """One step of the checker; ``settles`` names its subject in a phrase."""

    name: str
    settles: str
    run: Callable[[Draft], None]


PASSES: tuple[Pass, ...] = (
    Pass("files", "edition, pddl block, actor", declare_files),
    Pass("words", "units, enums, phases", declare_words),
    Pass("types", "the hierarchy of object types", declare_types),
    Pass("fluents", "attributes, relations, functions, tables", declare_fluents),
    Pass("names", "events, derives and objects by name", declare_events),
    Pass("namespaces", "actor type; clashing inverses, closures, nestings", check_namespaces),
    Pass("params", "tunable constants", declare_params),
    Pass("defaults", "initial values, overrides, rows of tables", declare_defaults),
    Pass("derives", "derived facts and their types", check_derives),
    Pass("strata", "recursion of derived facts", stratify),
    Pass("effects", "effects with a name, which rules call", check_named_effects),
    Pass("rules", "actions, laws, watches, invariants, prose", check_rules),
    Pass("objects", "objects and their fields", check_objects),
    Pass("tables", "a row for every key", check_tables),
    Pass("worlds", "start states, endings, policies", check_worlds),
    Pass("scenarios", "tests that play a world", check_scenarios),
    Pass("scratch", "reads and writes of scratch slots", check_scratch),
    Pass("history", "conditions on all states up to now", check_over_time),
    Pass("phrases", "phrases of two actions that match the same words", check_phrases),
    Pass("specificity", "two names, descriptions or births for one type", check_specificity),
    Pass("writes", "reads after changes, two values for one slot", check_writes),
    Pass("creations", "initial values of created objects", check_creations),
    Pass("laws", "laws of one phase that give one slot two values", check_laws),
    Pass("bounds", "numbers that may or must leave their ranges", check_bounds),
    Pass("proofs", "invariants and conserved sums that a rule breaks", check_proofs),
    Pass("beliefs", "facts that models guess, and the laws that draw them", check_beliefs),
    Pass("lints", "legal code that is probably a mistake", check_lints),
)


_ANALYSES = frozenset(
    {check_phrases, check_specificity, check_writes, check_creations, check_laws, check_bounds}
    | {check_proofs, check_beliefs, check_lints}
)
"""Passes that look at the program as a whole; they are left out when a repair is tried."""

Watch = Callable[[Pass, Draft], None]
"""Runs a pass (see `run_pass`), and may measure it."""


@frozen
class Checked:
    """The result of a check: a program if there is no error, and every finding in order."""

    program: Program | None
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[Source, ...]

    @property
    def ok(self) -> bool:
        """Return whether the program can be run."""
        return self.program is not None


def check_source(
    root: Source,
    loader: Loader | None = None,
    data: DataLoader = data_loader,
    *,
    pedantic: bool = False,
    watch: Watch | None = None,
) -> Checked:
    """Check a root file with the modules it uses. Never raises on any text.

    ``loader`` finds modules; without one, only those beside the file are found. ``data``
    reads the states that worlds begin with. ``pedantic`` adds remarks that are often deliberate.
    ``watch`` is handed each pass to run it, and may measure it.
    """
    with undisturbed():
        draft = Draft(pedantic=pedantic)
        draft.read = data
        return _checked(draft, root, loader or file_loader(()), watch or run_pass)


MANY_NODES = 100_000
"""A program with more nodes of its own counts as large for the collector of cycles."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Switch off the garbage collector of cycles: it would visit every new node again and again,
    and a check makes hardly any cycles. After a check of a large program the new nodes count as old
    ones, so that the next collection does not visit them: a third of the time. This is not done
    after a small one, because nodes that count as old at once do not bring a full collection
    nearer: a caller that checks many programs would keep all garbage."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        large = gc.get_count()[0] > MANY_NODES
        if large and not gc.get_freeze_count():  # what the caller has frozen stays so
            gc.freeze()
            gc.unfreeze()
        gc.enable()


def _checked(draft: Draft, root: Source, loader: Loader, run: Watch) -> Checked:
    load(draft, root, loader)
    if not has_errors(draft.report):
        for step in PASSES:
            if step.run is not check_lints or not has_errors(draft.report):
                run(step, draft)
    else:
        _recovered(draft)
    sources = tuple(draft.sources.values())
    causes = with_modules(at_declarations(without_followups(draft), draft), draft, loader)
    repaired = tuple(with_repairs(one, draft) for one in causes)
    if has_errors(repaired):
        repaired = tried(repaired, draft)
    findings = said_once(in_order(repaired))
    program = None if has_errors(findings) else assemble(draft)
    draft.memo.clear()  # it refers to the draft: the two would never be freed
    return Checked(program, findings, sources)


def tried(found: tuple[Diagnostic, ...], draft: Draft) -> tuple[Diagnostic, ...]:
    """The findings with hints that were tested; the module that tests them is loaded for errors
    only."""
    from tokenworld.check.repairs.telling import with_tried

    settling = [step.run for step in PASSES if step.run not in _ANALYSES]
    return with_tried(found, draft, settling)


def run_pass(step: Pass, draft: Draft) -> None:
    """Run a pass; a program that is too deep for it gets one finding."""
    try:
        step.run(draft)
    except RecursionError:
        span = next((entry.item.span for entry in draft.entries), None)
        if span is not None and "TW0101" not in [one.code for one in draft.report]:
            what = "The program is nested too deeply to be checked."
            hint = "Shorten long chains of types, derives, operators or `else if`."
            draft.tell("TW0101", what, span, "somewhere from here on", hint)


def _recovered(draft: Draft) -> None:
    """After syntax errors only the names that are surely there are checked.

    An item that did not parse may declare anything, so names of the kinds it could have declared
    would be reported as unknown; those findings are dropped.
    """
    syntax_errors = len(draft.report)
    for step in PASSES:
        run_pass(step, draft)
    unread = _unread(draft)
    kept = draft.report[:syntax_errors]
    kept += [one for one in draft.report[syntax_errors:] if not _may_follow(one, draft, unread)]
    draft.report[:] = [found for found in kept if found.is_error]


def _may_follow(found: Diagnostic, draft: Draft, unread: frozenset[str] | None) -> bool:
    """Return whether a finding may come from an item that was not read."""
    if found.code in ("TW0204", "TW0510", "TW0602"):
        return True
    if found.code == "TW0702" and "action" in (unread or ()) and "label" in found.message:
        return True
    if found.code not in ("TW0201", "TW0202", "TW0502", "TW0702") or found.span is None:
        return False
    name = draft.text(found.span).strip("`").lstrip("0123456789.")  # of `5l`, the unit
    if unread is None or name.lower() in unread:
        return True
    return not (found.hint or "").startswith("Did you mean") and bool(unread & _NAMING)


_NAMING = frozenset({"type", "enum", "actor", "world"})
"""Items that may lack even their name, so that an unknown declaration is missing."""


def _unread(draft: Draft) -> frozenset[str] | None:
    """The words that stand outside of all items that were read, in small letters: names that an
    item with a mistake may declare. ``None`` if a module is missing: it may declare anything."""
    if any(one.code == "TW0001" or _of_use(one, draft) for one in draft.report):
        return None
    read = [entry.item.span for entry in draft.entries]
    words: set[str] = set()
    for name, source in draft.sources.items():
        place = 0
        for span in sorted((one for one in read if one.file == name), key=lambda one: one.start):
            words.update(_WORD.findall(source.text, place, max(place, span.start)))
            place = max(place, span.end)
        words.update(_WORD.findall(source.text, place))
    return frozenset(word.strip("`").lower() for word in words)


def _of_use(found: Diagnostic, draft: Draft) -> bool:
    """Return whether a `use` could not be read."""
    source = None if found.span is None else draft.source_of(found.span)
    if found.span is None or source is None or found.code != "TW0101":
        return False
    return source.line_text(found.span.line).lstrip().startswith("use ")


_WORD = re.compile(r"`[^`\n]+`|[A-Za-z_]\w*")


def assemble(draft: Draft) -> Program:
    """The frozen program of a draft without errors."""
    sources = tuple(
        SourceRef(Path(source.name).name, hashlib.sha256(source.text.encode()).hexdigest())
        for source in draft.sources.values()
    )
    program = Program(
        sources=sources,
        units=draft.units,
        enums=draft.enums,
        types=draft.types,
        objects=draft.objects,
        fluents=draft.fluents,
        derives=draft.derives,
        params=draft.params,
        events=draft.events,
        phases=draft.phases,
        actions=draft.actions,
        laws=draft.laws,
        births=tuple(draft.births),
        watches=draft.watches,
        invariants=draft.invariants,
        conserves=draft.conserves,
        called=tuple(draft.called),
        scopes=tuple(draft.scopes),
        describes=tuple(draft.describes),
        worlds=draft.worlds,
        scenarios=tuple(draft.scenarios),
        actor=draft.actor,
        actor_name=draft.actor_name,
        pddl=tuple(draft.pddl),
    )
    noting = with_monitors(program, draft)
    asked = noting is not program or any("born" in one.text for one in draft.sources.values())
    program = with_resets(noting)
    return with_births(program) if asked else program


# ---- the time of each pass, for authors of large files -------------------------------------------


@frozen
class Timed:
    """A check and the CPU seconds of its steps, in order; the last entry is the whole."""

    checked: Checked
    steps: tuple[tuple[str, float], ...]


def timed(check: Callable[[Watch], Checked]) -> Timed:
    """Measure a check that hands its passes to a `Watch`.

    The time before the first pass counts as `reading`, the time after the last one as `starting`:
    worlds are compiled then. It is CPU time, so that other programs count little.
    """
    marks: list[tuple[str, float]] = [("", process_time())]
    spent: list[tuple[str, float]] = []

    def watch(step: Pass, draft: Draft) -> None:
        begin = process_time()
        if len(marks) == 1:
            spent.append(("reading", begin - marks[0][1]))
        run_pass(step, draft)
        marks.append((step.name, process_time()))
        spent.append((step.name, marks[-1][1] - begin))

    checked = check(watch)
    end = process_time()
    name = "reading" if len(marks) == 1 else "starting"
    spent.append((name, end - marks[-1][1]))
    return Timed(checked, (*spent, ("all", end - marks[0][1])))
