"""Checking a file again after an edit: only the passes and rules that the edit can affect run.

A `Workspace` keeps the items of the last text with their nodes, and what analyses found out of
them. Where an edit leaves all declarations as they were, and what a rule is to other rules (its
name, parameters and labels), only the edited rules are checked again, with the analyses of pairs
and lines that they take part in. Any other edit, and one that leaves a syntax error, is checked in
full. The findings are always those of a check of the whole new text.

The root file is cut into cells, one per item, each a text of its own: the nodes of a cell count
their offsets from the start of the item, so they stay valid wherever the item moves. `Places` maps
these offsets back to the file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from operator import is_
from typing import Final, TypeVar, assert_never, cast

from tokenworld.check import (
    PASSES,
    Checked,
    Pass,
    assemble,
    check_source,
    run_pass,
    tried,
    undisturbed,
)
from tokenworld.check.analysis.lints import check_lints
from tokenworld.check.cascades import at_declarations, said_once, with_repairs, without_followups
from tokenworld.check.draft import Draft, Entry, Memo
from tokenworld.check.modules import (
    DataLoader,
    Loader,
    data_loader,
    entry_of,
    file_loader,
    load,
    read_entries,
)
from tokenworld.check.standard import with_modules
from tokenworld.diagnostics import (
    Diagnostic,
    Edit,
    Fix,
    Related,
    Source,
    Span,
    has_errors,
    in_order,
)
from tokenworld.model import Program
from tokenworld.syntax import nodes as syn
from tokenworld.syntax import parse_source
from tokenworld.syntax.lalr import Token, lex
from tokenworld.syntax.parse import Splitter
from tokenworld.syntax.tables import tables

Rule = (
    syn.ActionDecl | syn.LawDecl | syn.WatchDecl | syn.InvariantDecl | syn.ConserveDecl
    | syn.DescribeDecl | syn.ScenarioDecl
)  # fmt: skip
"""Items that declare nothing: other items see only their `_face`."""

_TABLES: Final = (
    "units", "enums", "types", "fluents", "events", "params", "phases", "objects", "derives",
    "worlds", "param_types", "object_types", "derive_items",
    "effect_items", "effects",
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
        """Return whether the program can be run."""
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
    """A finished check: its draft, and the findings of each pass. ``early`` and ``late`` are the
    tables before the rules and after the worlds."""

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
        """Check a text in full, and keep the results that later edits can reuse."""
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
        found = with_modules(at_declarations(without_followups(draft), draft), draft, self._loader)
        findings = tuple(self._memo.each("repairs", found, lambda one: with_repairs(one, draft)))
        if has_errors(findings):
            findings = tried(findings, draft)
        told = said_once(in_order(map(places.finding, findings)))
        return Rechecked(told, tuple(draft.sources.values()), whole, draft, places)

    def _again(self, draft: Draft, settled: _Settled) -> bool:
        """Check only the changed rules; `False` if these cannot be separated."""
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
        for one, other in changed:
            if isinstance(other.item, Rule) and _face(one, settled.draft) != _face(other, draft):
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
"""Passes after that of the rules which read declarations only."""


def _in_full(draft: Draft) -> _Settled:
    """Run every pass, and store its findings."""
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


# ---- the rules that an edit changed -----------------------------------------------------


def _changes(before: Sequence[Entry], after: Sequence[Entry]) -> list[tuple[Entry, Entry]] | None:
    """The changed rules, each with the rule it replaces; ``None`` if other items changed too."""
    if len(before) != len(after):
        return None
    places = [place for place, same in enumerate(map(is_, before, after)) if not same]
    found = [(before[place], after[place]) for place in places]
    for one, other in found:
        rule = isinstance(other.item, Rule) and type(one.item) is type(other.item)
        if not rule and one.item is not other.item:
            return None
    return found


def _face(entry: Entry, draft: Draft) -> object:
    """The parts of a rule that others depend on: name, parameters, labels."""
    item = entry.item
    assert isinstance(item, Rule)
    match item:
        case syn.ActionDecl(name=name):
            action = draft.actions.get(name.value)
            if action is None or action.span is not item.span:
                return name.value
            params = tuple((one.name, one.type, one.domain) for one in action.params)
            return name.value, params, tuple(one.label for one in action.requires)
        case syn.LawDecl(name=name):
            law = draft.laws.get(name.value)
            own = law is not None and law.span is item.span
            return name.value, own, law.phase if law is not None and own else ""
        case syn.WatchDecl(name=name):
            return name.value, name.value in draft.watches
        case syn.InvariantDecl(name=name):
            return name.value, name.value in draft.invariants
        case syn.ConserveDecl(name=name):
            return name.value, name.value in draft.conserves
        case syn.DescribeDecl() | syn.ScenarioDecl():
            return None
        case _:
            assert_never(item)


_AHEAD: Final = 200
"""Characters of the first untouched item that are read again: it ends the item before it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One item: its text under a name of its own, and its nodes, which count from its start."""

    source: Source
    entry: Entry


@dataclass(frozen=True, slots=True)
class Cut:
    """A text, and its items with the offsets at which they start."""

    source: Source
    starts: list[int]
    cells: list[Cell]


class Cutter:
    """Cuts texts; ``pieces`` are the texts of all cells by their names."""

    def __init__(self) -> None:
        self.pieces: dict[str, Source] = {}
        self._count = 0

    def cut(self, source: Source, before: Cut | None = None) -> Cut | None:
        """All items of a text, or `None` where its syntax has a mistake."""
        grammar = tables()
        tokens, problems = lex(source, grammar)
        if problems or not tokens:
            return None
        places = _places(source, tokens, 0, len(source.text))
        if places is None:
            return None
        cells = self._cells(source, places, () if before is None else before.cells)
        return None if cells is None else Cut(source, [start for start, _ in places], cells)

    def recut(self, before: Cut, source: Source) -> Cut | None:
        """The items of an edited text; those that the edit cannot touch are kept as they are."""
        window = _Window.between(before, source)
        if window is None:
            return self.cut(source, before)
        tokens, problems = lex(source, tables(), window.start, window.end)
        if problems:
            return None
        places = _places(source, tokens, window.start, window.stop)
        if places is None:
            return self.cut(source, before)
        first, last = window.first, window.last
        middle = self._cells(source, places, before.cells[first:last])
        if middle is None:
            return None
        shift = len(source.text) - len(before.source.text)
        behind = [start + shift for start in before.starts[last:]]
        starts = [*before.starts[:first], *(start for start, _ in places), *behind]
        if not starts:
            return None  # as in `cut`: no item is left that a later edit could leave alone
        cells = [*before.cells[:first], *middle, *before.cells[last:]]
        after = first + len(middle)
        if after < len(cells):  # its doc comment stands before it, where the edit was
            cells[after] = _documented(cells[after], source, starts[after])
        return Cut(source, starts, cells)

    def _cells(
        self, source: Source, places: list[tuple[int, int]], kept: Iterable[Cell]
    ) -> list[Cell] | None:
        """Cells for these stretches; a text that has a cell already keeps it."""
        known: dict[str, list[Cell]] = {}
        for cell in kept:
            known.setdefault(cell.source.text, []).append(cell)
        found: list[Cell] = []
        for start, end in places:
            text = source.text[start:end]
            alike = known.get(text)
            fresh = alike.pop(0) if alike else self._new(source.name, text)
            if fresh is None:
                return None
            found.append(_documented(fresh, source, start))
        return found

    def _new(self, file: str, text: str) -> Cell | None:
        self._count += 1
        piece = Source(f"{file}\0{self._count}", None, text)
        tree, problems = parse_source(piece)
        if problems or len(tree.items) != 1:
            return None
        self.pieces[piece.name] = piece
        return Cell(piece, entry_of(tree.items[0], None))

    def forget(self, cut: Cut) -> None:
        """Keep only the pieces of this text."""
        self.pieces = {cell.source.name: cell.source for cell in cut.cells}


def _places(
    source: Source, tokens: list[Token], start: int, stop: int
) -> list[tuple[int, int]] | None:
    """The spans of the items from ``start`` to ``stop``; `None` unless one ends at ``stop``."""
    splitter = Splitter(source, tables(), tokens)
    found: list[tuple[int, int]] = []
    position = 0
    while position < len(tokens) and tokens[position].start < stop:
        behind = splitter.item_end(position)
        if behind is None:
            return None
        found.append((tokens[position].start, tokens[behind - 1].end))
        position = behind
    at = tokens[position].start if position < len(tokens) else len(source.text)
    return found if at == stop or stop == len(source.text) else None


def _documented(cell: Cell, source: Source, start: int) -> Cell:
    """The cell with the doc comment above it: the `##` lines right before its line."""
    text, lines = source.text, list[str]()
    end = text.rfind("\n", 0, start)
    while end >= 0:
        first = text.rfind("\n", 0, end) + 1
        line = text[first:end].strip()
        if not line.startswith("##"):
            break
        lines.append(line.lstrip("#").strip())
        end = first - 1
    doc = "\n".join(reversed(lines)) if lines else None
    if doc == cell.entry.doc:
        return cell
    return Cell(cell.source, Entry(cell.entry.item, cell.entry.quirk, doc))


# ---- the passes that an edit affects ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Window:
    """The items ``first`` to ``last`` of the text before are read again.

    In the new text they lie from ``start`` to ``stop``; it is read up to ``end``.
    """

    first: int
    last: int
    start: int
    stop: int
    end: int

    @classmethod
    def between(cls, before: Cut, source: Source) -> _Window | None:
        """The difference between two texts; `None` if it is too large to be worth it."""
        old, new = before.source.text, source.text
        same = _common_start(old, new)
        tail = _common_end(old, new, min(len(old), len(new)) - same)
        changed = len(old) - tail
        first = max(0, bisect_left(before.starts, same) - 1)
        piece = before.cells[first].source.text
        if first > 0 and not _well_begun(piece, same - before.starts[first]):
            first -= 1
        last = bisect_right(before.starts, changed)
        while last < len(before.starts) and "\n" not in old[changed : before.starts[last]]:
            last += 1
        start = before.starts[first] if before.starts and before.starts[first] <= same else 0
        if last == len(before.starts):
            return cls(first, last, start, len(new), len(new))
        stop = before.starts[last] + len(new) - len(old)
        end = new.find("\n", stop + _AHEAD)
        piece = before.cells[last].source.text
        if end >= 0 and not _well_begun(piece, _AHEAD):
            return None
        return cls(first, last, start, stop, len(new) if end < 0 else end)


def _well_begun(text: str, length: int) -> bool:
    """Return whether this many characters of an item surely hold its first two words."""
    begin = text[:length]
    return "#" not in begin and len(begin.split()) > 2


def _common_start(one: str, other: str) -> int:
    """The length of the common start of two texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: str, other: str, most: int) -> int:
    """The length of the common end of two texts, ``most`` at most."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        left = one[len(one) - middle : len(one) - low]
        if left == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


NodeT = TypeVar("NodeT")


class Places:
    """The offsets of the cells of one text."""

    def __init__(self, cut: Cut) -> None:
        self._file = cut.source
        self._cut = cut
        self._corners: dict[str, tuple[int, int, int]] = {}

    @cached_property
    def _starts(self) -> dict[str, int]:
        """The offset of each cell by its name, computed on first use."""
        pairs = zip(self._cut.cells, self._cut.starts, strict=True)
        return {cell.source.name: start for cell, start in pairs}

    def span(self, span: Span) -> Span:
        """The place in the file; that of another file stays as it is."""
        corner = self._corners.get(span.file)
        if corner is None:
            if span.file not in self._starts:
                return span
            start = self._starts[span.file]
            corner = self._corners[span.file] = (start, *self._file.line_and_column(start))
        offset, line, column = corner
        return Span(
            self._file.name,
            span.start + offset,
            span.end + offset,
            span.line + line - 1,
            span.column + column - 1 if span.line == 1 else span.column,
            span.end_line + line - 1,
            span.end_column + column - 1 if span.end_line == 1 else span.end_column,
        )

    def finding(self, found: Diagnostic) -> Diagnostic:
        """A diagnostic with all its places."""
        span = None if found.span is None else self.span(found.span)
        related = found.related
        if related:
            related = tuple([Related(self.span(one.span), one.label) for one in related])
        fix = found.fix
        if fix is not None:
            edits = tuple([Edit(self.span(one.span), one.text) for one in fix.edits])
            fix = Fix(fix.title, edits, fix.safe)
        return Diagnostic(
            found.code, found.message, span, found.label, found.notes, found.hint, related, fix,
            found.severity,
        )  # fmt: skip

    def moved(self, node: NodeT) -> NodeT:
        """Any part of the model with its places; a part without any stays the very same."""
        if isinstance(node, Span):
            return cast(NodeT, self.span(node))
        if isinstance(node, tuple):
            parts = tuple([self.moved(part) for part in node])
            return cast(NodeT, parts) if any(map(_differs, parts, node)) else node
        if isinstance(node, Mapping):
            return cast(NodeT, {key: self.moved(part) for key, part in node.items()})
        changed = {}
        for name in _fields(type(node)):
            before = getattr(node, name)
            after = self.moved(before)
            if after is not before:
                changed[name] = after
        return cast(NodeT, replace(cast(Span, node), **changed)) if changed else node


def _differs(one: object, other: object) -> bool:
    return one is not other


_KNOWN: dict[type, tuple[str, ...]] = {}


def _fields(kind: type) -> tuple[str, ...]:
    found = _KNOWN.get(kind)
    if found is None:
        names = (one.name for one in fields(kind)) if is_dataclass(kind) else ()
        found = _KNOWN[kind] = tuple(names)
    return found
