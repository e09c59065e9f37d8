"""Checking a file again after an edit, for the price of what the edit can influence.

A `Workspace` keeps the items of the last text with their nodes, and what analyses found out of
them. Where an edit leaves all declarations as they were, and what a rule is to other rules (its
name, parameters and labels), only the edited rules are checked again, with the analyses of pairs
and lines that they take part in. Any other edit, and one that leaves a mistake of the syntax, is
checked in full. The findings are always those of a check of the whole new text.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from operator import is_
from typing import Final

from tokenworld.check import PASSES, Checked, Pass, assemble, check_source, run_pass, undisturbed
from tokenworld.check.cascades import without_followups
from tokenworld.check.cells import Cut, Cutter
from tokenworld.check.draft import Draft, Entry
from tokenworld.check.lints import check_lints
from tokenworld.check.memo import Memo
from tokenworld.check.modules import (
    DataLoader,
    Loader,
    data_loader,
    file_loader,
    load,
    read_entries,
)
from tokenworld.check.moving import Places
from tokenworld.check.repairs import with_repairs
from tokenworld.diagnostics import Diagnostic, Source, has_errors, in_order
from tokenworld.model import Program
from tokenworld.syntax import nodes as syn

__all__ = ["Rechecked", "Workspace"]

_RULES: Final = (
    syn.ActionDecl, syn.LawDecl, syn.WatchDecl, syn.InvariantDecl, syn.ConserveDecl,
    syn.DescribeDecl, syn.ScenarioDecl,
)  # fmt: skip
"""Items that no declaration is made of: what others see of them is their `_face`."""

_TABLES: Final = (
    "units", "enums", "types", "fluents", "events", "params", "phases", "objects", "derives",
    "worlds", "param_types", "object_types", "derive_items",
)  # fmt: skip
_VALUES: Final = ("actor", "actor_name", "pddl")


@dataclass(slots=True)
class Rechecked:
    """The result of a check: every finding in order, and the program where it is asked for.

    ``whole``: everything was checked. ``sources`` are the texts that the findings point into.
    """

    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[Source, ...]
    whole: bool
    _draft: Draft | None
    _places: Places | None
    _program: Program | None = None

    @property
    def ok(self) -> bool:
        """Whether the program can be run."""
        return not has_errors(self.diagnostics)

    @property
    def program(self) -> Program | None:
        """The program, put together when it is asked for the first time."""
        if self._program is None and self._draft is not None and self._places and self.ok:
            self._program = self._places.moved(assemble(self._draft))
            self._draft = self._places = None
        return self._program


@dataclass(slots=True)
class _Settled:
    """A check that is done: its draft, and what each pass reported.

    ``early`` and ``late`` are the tables before the rules and behind the worlds.
    """

    entries: list[Entry]
    draft: Draft
    reports: dict[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    early: dict[str, object] = field(default_factory=dict)
    late: dict[str, object] = field(default_factory=dict)


class Workspace:
    """One root file under edit, with the modules that it uses."""

    def __init__(
        self,
        loader: Loader | None = None,
        data: DataLoader = data_loader,
        *,
        pedantic: bool = False,
    ) -> None:
        self._loader = loader or file_loader(())
        self._data = data
        self._pedantic = pedantic
        self._cutter = Cutter()
        self._cut: Cut | None = None
        self._memo = Memo()
        self._settled: _Settled | None = None
        self._modules: dict[Source, tuple[list[Entry], tuple[Diagnostic, ...]]] = {}

    def open(self, source: Source) -> Rechecked:
        """Check a text in full, and keep what later edits can use."""
        self._cut = self._settled = None
        return self.edit(source)

    def edit(self, source: Source) -> Rechecked:
        """Check the text after an edit. Never raises on any text."""
        with undisturbed():
            return self._edited(source)

    def _edited(self, source: Source) -> Rechecked:
        cut = self._next_cut(source)
        if cut is None:
            return self._whole(source)
        self._cut = cut
        draft = self._loaded(cut)
        if has_errors(draft.report):
            return self._whole(source)
        return self._checked(draft, cut)

    def _next_cut(self, source: Source) -> Cut | None:
        if self._cut is None or self._cut.source.name != source.name:
            return self._cutter.cut(source)
        return self._cutter.recut(self._cut, source)

    def _whole(self, source: Source) -> Rechecked:
        found: Checked = check_source(source, self._loader, self._data, pedantic=self._pedantic)
        return Rechecked(found.diagnostics, found.sources, True, None, None, found.program)

    def _loaded(self, cut: Cut) -> Draft:
        """A new draft with the entries of the file and its modules."""
        draft = Draft(pedantic=self._pedantic)
        draft.read, draft.memo, draft.pieces = self._data, self._memo, self._cutter.pieces

        def read(source: Source) -> tuple[list[Entry], tuple[Diagnostic, ...]]:
            if source is cut.source:
                return [cell.entry for cell in cut.cells], ()
            if source not in self._modules:
                self._modules[source] = read_entries(source)
            return self._modules[source]

        load(draft, cut.source, self._loader, read)
        return draft

    def _checked(self, draft: Draft, cut: Cut) -> Rechecked:
        settled, whole = self._settled, False
        if settled is None or not self._again(draft, settled):
            whole = True
            if settled is not None:
                draft = self._loaded(cut)
            self._memo.clear()
            self._cutter.forget(cut)
            draft.pieces = self._cutter.pieces
            self._settled = _in_full(draft)
        places = Places(cut)
        found = without_followups(draft)
        findings = self._memo.each("repairs", found, lambda one: with_repairs(one, draft))
        told = in_order(map(places.finding, findings))
        return Rechecked(told, tuple(draft.sources.values()), whole, draft, places)

    def _again(self, draft: Draft, settled: _Settled) -> bool:
        """Check only what changed since; `False` where that cannot be told apart."""
        changed = _changes(settled.entries, draft.entries)
        if changed is None or settled.draft.data or draft.namespaces:
            return False
        # A draft of its own for what the files say: `settled` is replaced when all went well.
        _restore(draft, settled.early)
        draft.sort_like(settled.draft, changed)
        told = iter(PASSES)
        for step in told:
            if step.name == "rules":
                run_pass(step, draft)
                break
            draft.report.extend(settled.reports[step.name])
        if any(_face(one, settled.draft) != _face(other, draft) for one, other in changed):
            return False
        _restore(draft, settled.late)
        for step in told:
            if step.name in _BETWEEN:
                draft.report.extend(settled.reports[step.name])
            else:
                _run(step, draft)
        self._memo.trim()
        self._settled = _Settled(draft.entries, draft, settled.reports, settled.early, settled.late)
        return True


_BETWEEN: Final = ("objects", "tables", "worlds")
"""Passes behind that of the rules which read declarations only."""


def _in_full(draft: Draft) -> _Settled:
    """Run every pass, and note what each one found."""
    settled = _Settled(draft.entries, draft)
    for step in PASSES:
        if step.name == "rules":
            settled.early = _kept(draft)
        before = len(draft.report)
        _run(step, draft)
        settled.reports[step.name] = tuple(draft.report[before:])
        if step.name == _BETWEEN[-1]:
            settled.late = _kept(draft)
    return settled


def _run(step: Pass, draft: Draft) -> None:
    if step.run is not check_lints or not has_errors(draft.report):
        run_pass(step, draft)


def _kept(draft: Draft) -> dict[str, object]:
    """The tables of declarations as they are now."""
    return {name: copy(getattr(draft, name)) for name in (*_TABLES, *_VALUES)}


def _restore(draft: Draft, kept: dict[str, object]) -> None:
    for name, value in kept.items():
        setattr(draft, name, value)


# ---- what an edit changed ---------------------------------------------------------------


def _changes(before: Sequence[Entry], after: Sequence[Entry]) -> list[tuple[Entry, Entry]] | None:
    """The rules that are new, each with what it replaces; `None` if more than rules changed."""
    if len(before) != len(after):
        return None
    places = [place for place, same in enumerate(map(is_, before, after)) if not same]
    found = [(before[place], after[place]) for place in places]
    for one, other in found:
        rule = isinstance(other.item, _RULES) and type(one.item) is type(other.item)
        if not rule and one.item is not other.item:
            return None
    return found


def _face(entry: Entry, draft: Draft) -> object:
    """What the rest of a program may know of a rule without reading it."""
    match entry.item:
        case syn.ActionDecl(name=name):
            action = draft.actions.get(name.value)
            if action is None or action.span is not entry.item.span:
                return name.value
            params = tuple((one.name, one.type, one.domain) for one in action.params)
            return name.value, params, tuple(one.label for one in action.requires)
        case syn.LawDecl(name=name):
            law = draft.laws.get(name.value)
            own = law is not None and law.span is entry.item.span
            return name.value, own, law.phase if law is not None and own else ""
        case syn.WatchDecl(name=name):
            return name.value, name.value in draft.watches
        case syn.InvariantDecl(name=name):
            return name.value, name.value in draft.invariants
        case syn.ConserveDecl(name=name):
            return name.value, name.value in draft.conserves
        case _:
            return None
