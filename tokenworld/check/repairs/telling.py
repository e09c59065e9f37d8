"""Hints that name the very words to write: an edit is told if the item then has no error.

`with_tried` is called with the findings of a program that has errors, and with nothing else: the
check of a sound program does not load this package.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import replace
from itertools import groupby, islice
from typing import Final

from tokenworld.check.draft import Draft, Entry
from tokenworld.check.modules import entry_of
from tokenworld.check.repairs.values import corrections, placed
from tokenworld.check.repairs.words import Broken, Rewrite, rewrites, spelled
from tokenworld.check.typing.arithmetic import BUILTINS
from tokenworld.check.typing.names import attribute_id, fact_id
from tokenworld.diagnostics import Diagnostic, Edit, Fix, Source, Span
from tokenworld.syntax import nodes as syn
from tokenworld.syntax.lalr import Token, lex
from tokenworld.syntax.parse import Splitter, build_item
from tokenworld.syntax.tables import tables
from tokenworld.syntax.templates import Context

# ---- Trials -------------------------------------------------------------------------------------
# One item checked anew among the declarations of its program, as often as somebody asks.
#
# The passes run over the tried items alone. They read the tables that the check of the program
# left, so a trial takes a millisecond, however large the program is.

Step = Callable[[Draft], None]
_TABLES: Final = (
    "sources", "units", "enums", "types", "fluents", "events", "params", "phases", "objects",
    "derives", "actions", "laws", "births", "watches", "invariants", "conserves", "called",
    "scopes", "describes", "worlds", "scenarios", "pddl", "param_types", "object_types",
    "derive_items", "derives_open", "effect_items", "effects", "effects_open",
)  # fmt: skip
_AGAIN: Final = " is declared twice."


class Trial:
    """The tables of a check, and the passes that settle an item."""

    def __init__(self, draft: Draft, steps: Sequence[Step]) -> None:
        self._draft = draft
        self._steps = steps

    def errors(self, source: Source, entries: Sequence[Entry]) -> tuple[Diagnostic, ...]:
        """The errors of these items of a text, which replaces the one of the same name."""
        draft = copy(self._draft)
        for name in _TABLES:
            setattr(draft, name, copy(getattr(draft, name)))
        draft.sources[source.name] = source
        draft.report, draft.entries, draft._by_kind = [], list(entries), {}
        draft.memo = type(draft.memo)()
        for entry in entries:
            _forget(draft, entry.item)
        for step in self._steps:
            step(draft)
        return tuple(one for one in draft.report if one.is_error)


_DECLARED: Final[dict[type, tuple[str, ...]]] = {
    syn.UnitDecl: ("units",), syn.EnumDecl: ("enums",), syn.TypeDecl: ("types",),
    syn.EventDecl: ("events",), syn.PhaseDecl: ("phases",), syn.ActionDecl: ("actions",),
    syn.LawDecl: ("laws",), syn.WatchDecl: ("laws", "watches"), syn.WorldDecl: ("worlds",),
    syn.InvariantDecl: ("invariants",), syn.ConserveDecl: ("conserves",),
    syn.ParamDecl: ("params", "param_types"), syn.DeriveDecl: ("derives", "derive_items"),
    syn.EffectDecl: ("effects", "effect_items"),
}  # fmt: skip


def _forget(draft: Draft, item: syn.Item) -> None:
    """Remove the declarations of an item from the tables, so that it can be declared again."""
    name = getattr(item, "name", None)
    if isinstance(name, syn.Name):
        for table in _DECLARED.get(type(item), ()):
            getattr(draft, table).pop(name.value, None)
        draft.fluents.pop(fact_id(name.value), None)
    if isinstance(item, syn.ActorDecl):
        draft.actor = None
    if isinstance(item, syn.TypeDecl):
        for member in item.members:
            draft.fluents.pop(attribute_id(item.name.value, member.name.value), None)
    world = item.name.value if isinstance(item, syn.WorldDecl) else None
    names = {one.value for one in item.names} if isinstance(item, syn.ObjectDecl) else set[str]()
    for key in list(draft.object_types):
        if key[0] == world if world is not None else key[0] is None and key[1] in names:
            del draft.object_types[key]
            if world is None:
                draft.objects.pop(key[1], None)


# ---- Telling ------------------------------------------------------------------------------------

_MOST_TRIED: Final = 16
"""Edits that are checked for one finding."""
_MOST_TOLD: Final = 3
"""Findings of one check that are looked at: more of them are no slips of the pen."""
_FEW: Final = 2
"""A hint with a form, such as `r(a, …)`, is enough for so few words."""
_CODE: Final = re.compile(r"`([^`]+)`")


def with_tried(
    found: tuple[Diagnostic, ...], draft: Draft, steps: Sequence[Step]
) -> tuple[Diagnostic, ...]:
    """The findings, where those of the syntax name an edit that mends them."""
    trial, errors = Trial(draft, steps), (one for one in found if one.span and one.is_error)
    looked = islice(errors, _MOST_TOLD)
    better = {id(one): _mended(one, found, draft, trial) for one in looked}
    return tuple(better.get(id(one), one) for one in found)


def _mended(
    found: Diagnostic, others: Sequence[Diagnostic], draft: Draft, trial: Trial
) -> Diagnostic:
    if found.code == "TW0101":
        return _parsed(found, draft, trial)
    weak = _is_weak(found.hint) and "`use " not in (found.hint or "")
    return _corrected(found, others, draft, trial) if weak else found


def _corrected(
    found: Diagnostic, others: Sequence[Diagnostic], draft: Draft, trial: Trial
) -> Diagnostic:
    """A finding of the checker with the only correction of the least cost."""
    span = found.span
    entry = None if span is None else _entry(span, draft)
    source = None if span is None else draft.source_of(span)
    if span is None or entry is None or source is None or draft.file_of(span) != draft.root_name:
        return found
    place = entry.item.span
    tokens, problems = lex(source, tables(), place.start, place.end)
    wrong = placed(found, span, _read(source, tokens, len(tokens), draft), draft)
    if problems or wrong is None:
        return found
    kept = [
        one.message
        for one in others
        if one is not found and one.span is not None and _entry(one.span, draft) is entry
    ]
    edits = sorted(corrections(wrong), key=lambda one: one.cost)[:_MOST_TRIED]
    for _, alike in groupby(edits, key=lambda one: one.cost):
        fits = [one for one in alike if _holds(one, wrong.broken, trial, kept)]
        if len(fits) == 1:
            return _told(found, fits[0], wrong.broken)
        if fits:
            break
    return found


def _entry(span: Span, draft: Draft) -> Entry | None:
    """The item that a place lies in."""
    for one in draft.entries:
        item = one.item.span
        if item.file == span.file and item.start <= span.start and span.end <= item.end:
            return one
    return None


def _parsed(found: Diagnostic, draft: Draft, trial: Trial) -> Diagnostic:
    """A finding of the syntax with the likeliest edit that mends it."""
    broken = _broken(found, draft)
    if broken is None:
        return found
    for edit in islice(rewrites(broken), _MOST_TRIED):
        if _says(found.hint, edit, broken):
            return found
        if not edit.telling and not _is_weak(found.hint):
            continue
        if _holds(edit, broken, trial):
            return _told(found, edit, broken)
    return found


def _broken(found: Diagnostic, draft: Draft) -> Broken | None:
    """The words around a finding, from the end of the last item that was read."""
    span = found.span
    source = None if span is None else draft.source_of(span)
    if span is None or source is None or source is not draft.root:
        return None
    read = [one.item.span for one in draft.entries if one.item.span.file == source.name]
    first = max((one.end for one in read if one.end <= span.start), default=0)
    last = min((one.start for one in read if one.start >= span.end), default=len(source.text))
    grammar = tables()
    tokens, problems = lex(source, grammar, first, last)
    if problems or not tokens:
        return None
    stop = Splitter(source, grammar, tokens).broken_at(0)
    if stop is None:
        return None
    return _read(source, tokens, stop, draft)


def _read(source: Source, tokens: Sequence[Token], at: int, draft: Draft) -> Broken:
    """The words of an item with the names of the program."""
    facts = (*(one.name for one in draft.fluents.values()), *draft.derive_items)
    played = draft.actions if tokens and tokens[0].terminal == "scenario" else ()
    known = frozenset((*facts, *draft.effect_items, *draft.events, *played, *BUILTINS))
    members = (one for enum in draft.enums.values() for one in enum.members)
    values = frozenset((*members, *(name for _, name in draft.object_types), *draft.params))
    kinds = frozenset((*draft.types, *draft.enums))
    return Broken(source, tables(), tokens, at, known, kinds, values)


def _says(hint: str | None, edit: Rewrite, broken: Broken) -> bool:
    """Whether a hint names already what an edit writes; an edit that only deletes says less."""
    if hint is None:
        return False
    if edit.telling:
        return spelled(edit.words, broken.tables) in hint
    before = [token.text for token in broken.tokens[edit.first : edit.last]]
    added = [token.text for token in edit.words]
    for text in before:
        if text in added:
            added.remove(text)
    shown = " ".join(_CODE.findall(hint))
    vague = "…" in shown and len(added) > _FEW  # a form in which the author has to think
    return not vague and all(text in shown for text in added)


_WEAK: Final = (
    "Write the arguments in parentheses", "Put what follows in braces", "Write what becomes of it",
    "Begin this name with a small letter", "Begin the name of a type", "Put a comma between",
    "Write a type", "Write the type of the attribute", "Give it", "Declare it", "Compare it",
    "Inherit it", "Begin a step", "Let `",
    "Correct the", "Read an attribute",
    "Change the attribute",
    "Write them in parentheses", "Write a number inside", "Write a value of the type",
    "Write one of", "Compare values", "Leave the arguments away",
    "Write `add` before a fact", "Close the parenthesis", "Write `when` and a condition",
    "Write the relation first", "Write `object x: T", "Narrow it first", "Write a list in brackets",
)  # fmt: skip
"""The beginnings of hints that are given for want of a better one."""


_WEAK_INSIDE: Final = ("is a reserved word", "to go over things")


def _is_weak(hint: str | None) -> bool:
    return hint is None or hint.startswith(_WEAK) or any(one in hint for one in _WEAK_INSIDE)


def _edited(edit: Rewrite, broken: Broken) -> tuple[Edit, Source]:
    """The edit of the text, and the text after it."""
    source, tokens, before = broken.source, broken.tokens, broken.tokens[max(0, edit.first - 1)]
    end = tokens[edit.last - 1].end if edit.first < edit.last else before.end
    start, written = before.end, spelled((before, *edit.words), broken.tables)[len(before.text) :]
    begins = edit.first == 0 or broken.line(edit.first) != broken.line(edit.first - 1)
    if edit.first < edit.last and begins:
        start, written = tokens[edit.first].start, spelled(edit.words, broken.tables)
    text = f"{source.text[:start]}{written}{source.text[end:]}"
    return Edit(source.span(start, end), written), replace(source, text=text)


def _holds(edit: Rewrite, broken: Broken, trial: Trial, kept: Collection[str] = ()) -> bool:
    """Return whether the item has no error after the edit, but for those that are ``kept``."""
    _, source = _edited(edit, broken)
    first = broken.tokens[0].start
    last = broken.tokens[-1].end + len(source.text) - len(broken.source.text)
    tokens, problems = lex(source, broken.tables, first, last)
    trees, mistakes = Splitter(source, broken.tables, tokens).items()
    if problems or mistakes:
        return False
    cx = Context(source, broken.tables)
    items = [build_item(cx, tree) for tree in trees]
    if cx.problems or any(one is None for one in items):
        return False
    entries = [entry_of(one, None) for one in items if one is not None]
    return not Counter(one.message for one in trial.errors(source, entries)) - Counter(kept)


def _told(found: Diagnostic, edit: Rewrite, broken: Broken) -> Diagnostic:
    """The finding with the edit in its hint."""
    made, after = _edited(edit, broken)
    if not edit.words:
        gone = broken.source.text[made.span.start : made.span.end].strip()
        return replace(found, hint=f"Remove `{gone}`.", fix=Fix(f"remove `{gone}`", (made,)))
    line = _shown(edit, broken, after)
    shown = f"`` {line} ``" if "`" in line else f"`{line}`"
    told = replace(found, hint=f"Write {shown}.", fix=Fix(f"write {shown}", (made,)))
    inside = _UNEXPECTED.match(found.message)
    return told if inside is None else _explained(told, edit, broken, inside[1])


_UNEXPECTED: Final = re.compile(
    r"(?:Unexpected|Something is|A comma is).*?((?: in (?:the|an?) .*)?\.)$"
)
"""A message that says where the grammar stopped, and the item at its end."""
_SHORT: Final = 6
"""Words that a message names; of a longer change the hint alone tells."""


def _explained(found: Diagnostic, edit: Rewrite, broken: Broken, inside: str) -> Diagnostic:
    """Move a finding to the place of a short edit, and say which words are missing or wrong
    there."""
    first, last, added = edit.first, edit.last, list(edit.words)
    while first < last and added and broken.tokens[first].text == added[0].text:
        first, added = first + 1, added[1:]
    while first < last and added and broken.tokens[last - 1].text == added[-1].text:
        last, added = last - 1, added[:-1]
    signs, source = spelled(added, broken.tables), broken.source
    shown, before = _quoted(signs), broken.tokens[first - 1]
    if max(len(added), last - first) > _SHORT or not added:
        return found
    if first < last:
        place = source.span(broken.tokens[first].start, broken.tokens[last - 1].end)
        wrong = _quoted(source.text[place.start : place.end])
        message, label = f"{wrong} stands where {shown} should", f"expected {shown}"
        plain = [one.text for one in added if one.text != ","]
        if plain == [one.text for one in broken.tokens[first:last]]:
            message, label = f"Commas are missing around {wrong}", "expected commas between these"
    elif first == broken.at and found.span is not None:
        next_one = _quoted(source.text[found.span.start : found.span.end])
        place, what = found.span, "A comma" if signs == "," else shown
        message, label = f"{what} is missing before {next_one}", f"expected {shown} before this"
    else:
        place = source.span(before.start, before.end)
        message, label = (
            f"{shown} is missing after {_quoted(before.text)}",
            f"expected {shown} after this",
        )
    if found.span is None or place.line != found.span.line:
        return found
    return replace(found, message=f"{message}{inside}", span=place, label=label)


def _quoted(text: str) -> str:
    """Words of the program in a message."""
    cut = text if len(text) <= 40 else f"{text[:39]}…"
    return "the text" if "\n" in cut else f"`` {cut} ``" if "`" in cut else f"`{cut}`"


_LINE: Final = 120
"""Characters of a line that is shown whole; of a longer one the edit, with some words around."""
_AROUND: Final = 2


def _shown(edit: Rewrite, broken: Broken, after: Source) -> str:
    """The edited line, or the edited part of it."""
    tokens, longer = broken.tokens, len(after.text) - len(broken.source.text)
    first = edit.first if edit.first < edit.last else edit.first - 1
    last = max(edit.last, first + 1)
    begin = broken.source.text.rfind("\n", 0, tokens[first].start) + 1
    end = after.text.find("\n", tokens[last - 1].end + longer)
    line = after.text[begin : end if end >= 0 else None].partition(" #")[0].strip()
    if len(line) <= _LINE:
        return " ".join(line.split())
    here, there = broken.line(first), broken.line(last - 1)
    wide = [k for k in range(first - _AROUND, first) if k >= 0 and broken.line(k) == here]
    behind = range(last, min(len(tokens), last + _AROUND))
    first = wide[0] if wide else first
    last = max((k + 1 for k in behind if broken.line(k) == there), default=last)
    return " ".join(after.text[tokens[first].start : tokens[last - 1].end + longer].split())
