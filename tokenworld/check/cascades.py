"""Findings after the passes: one error per root cause, and repairs for `tw check --fix`.

`without_followups` drops errors that follow from a declaration that failed. `with_repairs` adds the
edits that a finding itself determines; editors offer them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from tokenworld.check.draft import Draft
from tokenworld.check.fluents import NO_ATTRIBUTE
from tokenworld.check.typing.names import INHERIT, attribute_id, fact_id
from tokenworld.diagnostics import (
    Diagnostic,
    Edit,
    Fix,
    Related,
    Span,
    closest,
    edit_distance,
    has_errors,
    in_order,
    only_suggestion,
)
from tokenworld.model import ROOT
from tokenworld.syntax import nodes as syn

_UNKNOWN: Final = ("TW0201", "TW0202", "TW0204", "TW0702")


def without_followups(draft: Draft) -> tuple[Diagnostic, ...]:
    """The report without names that are unknown only because their declaration has an error."""
    if not has_errors(draft.report):
        return tuple(draft.report)
    types = frozenset(
        draft.text(one.span) for one in draft.report if one.code == "TW0202" and one.span
    )
    unread = any(one.is_error and one.code[:4] in ("TW02", "TW03") for one in draft.report)
    untyped = any(_UNTYPED in (one.hint or "") for one in draft.report)
    failed, labels = frozenset(_failed(draft)), frozenset(_labels(draft))
    open_ended = frozenset(_open_ended(draft, types))
    kept = tuple(
        one
        for one in draft.report
        if not _unknown_again(one, failed | labels if one.code == "TW0702" else failed, draft)
        and not _of_unknown(one, types, open_ended)
        and not _of_broken_object(one, draft)
        and not _of_broken_rule(one, draft)
        and not _of_broken_map(one, draft)
        and not _of_broken_enum(one, draft)
        and not (unread and one.code in _OF_THE_WHOLE)
        and not (untyped and one.message.startswith(f"Not every `{ROOT}`"))
    )
    kept = tuple(_of_one_parent(tuple(_of_one_variable(kept, draft)), draft))
    return kept if has_errors(kept) else tuple(draft.report)  # an error never follows from nothing


_OF_THE_WHOLE: Final = ("TW0501", "TW0503", "TW0504", "TW0506", "TW0605", "TW0607")
"""Findings about all rules together: nothing follows from them while one of the rules is unread."""
_UNTYPED: Final = "Write its type where it is declared"
"""The hint for an object without a type: its further errors follow from that."""
_ONCE: Final = ("TW0103", "TW0201", "TW0202", "TW0204", "TW0301", "TW0309", "TW0502")


def said_once(ordered: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Findings in order, where those that say the same of several places become the first.

    Its repair is that of all places.
    """
    same = dict[tuple[str, ...], list[Diagnostic]]()
    for number, one in enumerate(ordered):
        same.setdefault(_said(one) if one.code in _ONCE else (str(number),), []).append(one)
    return tuple(one if not others else _joined(one, others) for one, *others in same.values())


def _said(found: Diagnostic) -> tuple[str, ...]:
    """The key of equal findings: code, message and file."""
    return found.code, found.message, found.span.file if found.span is not None else ""


def _joined(first: Diagnostic, others: Sequence[Diagnostic]) -> Diagnostic:
    """The first of several equal findings, with the lines and the edits of all."""
    note, fix = _same_on(others), first.fix
    if fix is not None:
        rest = [one.fix for one in others]
        edits = dict.fromkeys(edit for one in (fix, *rest) if one is not None for edit in one.edits)
        fix = replace(fix, edits=tuple(edits))
    if first.code == "TW0309" and first.related and first.span is not None:
        used = Related(first.span, "needs an order")  # so often: the enum lacks it
        (enum,) = first.related
        return replace(first, span=enum.span, label=enum.label, related=(used,), notes=(note,))
    return replace(first, notes=(*first.notes, note), fix=fix)


def _same_on(others: Sequence[Diagnostic]) -> str:
    lines = sorted({one.span.line for one in others if one.span is not None})
    shown = ", ".join(map(str, lines[:8])) + (", …" if len(lines) > 8 else "")
    return f"the same on {'line' if len(lines) == 1 else 'lines'} {shown}"


# ---- names that are misspelt where they are declared ---------------------------------------------


def at_declarations(found: tuple[Diagnostic, ...], draft: Draft) -> tuple[Diagnostic, ...]:
    """The findings, with one finding at the declaration instead of several at the uses, if an
    unused name is similar to a name that is unknown in several places."""
    misspelt = dict[str, list[Diagnostic]]()
    for one in in_order(found):
        name = only_suggestion(one.hint) if one.code in _UNKNOWN_NAMES else None
        here = one.span is not None and draft.file_of(one.span) == draft.root_name
        if name is not None and here:
            misspelt.setdefault(name, []).append(one)
    if draft.root is None or not misspelt:
        return found
    text = _COMMENT.sub(lambda found: " " * len(found[0]), draft.root.text)
    for name in misspelt.keys() & _imported(draft):
        del misspelt[name]
    told = dict[int, Diagnostic | None]()
    for name, missed in misspelt.items():
        places = [one.start() for one in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
        words = {_word(one.span, draft) for one in missed if one.span is not None}
        if len(places) == 1 and len(words) == 1:
            often = len(re.findall(rf"(?<!\w){re.escape(*words)}(?!\w)", draft.root.text)) > 1
            told |= dict.fromkeys(map(id, missed[1:]))
            told[id(missed[0])] = _declared(missed, name, places[0], often, draft)
    kept = (told.get(id(one), one) for one in found)
    return tuple(one for one in kept if one is not None)


def _word(span: Span, draft: Draft) -> str:
    """Return the name at a place; of a number, its unit."""
    return draft.text(span).lstrip("0123456789.")


def _imported(draft: Draft) -> frozenset[str]:
    """Return the names that other files declare."""
    checked = (draft.fluents, draft.types, draft.enums, draft.actions, draft.events)
    pairs = [(one.name, one.span) for kind in checked for one in kind.values()]
    pairs += [(name, one.span) for name, one in draft.derive_items.items()]
    pairs += [(name, one.span) for name, one in draft.effect_items.items()]
    return frozenset(name for name, span in pairs if draft.file_of(span) != draft.root_name)


_UNKNOWN_NAMES: Final = (*_UNKNOWN, "TW0502")
_COMMENT: Final = re.compile(r"#.*")


def _declared(
    missed: Sequence[Diagnostic], name: str, place: int, often: bool, draft: Draft
) -> Diagnostic:
    """The finding about a name that is declared with other letters than it is used."""
    first, source = missed[0], draft.root
    assert source is not None
    assert first.span is not None
    used, declared = _word(first.span, draft), source.span(place, place + len(name))
    lines = sorted({one.span.line for one in missed if one.span is not None})
    if not often:  # which of the two is misspelt, only the author knows
        return replace(first, related=(*first.related, Related(declared, "nothing else names it")))
    what = f"`{name}` is declared, and only `{used}` is used."
    label, hint = "nothing else names it", f"Did you mean `{used}`?"
    related = (Related(first.span, f"`{used}` is unknown here"),)
    notes = (f"`{used}` stands on lines {', '.join(map(str, lines[:8]))}",) * (len(lines) > 1)
    fix = Fix(f"write `{used}`", (Edit(declared, used),))
    return Diagnostic(first.code, what, declared, label, notes, hint, related=related, fix=fix)


_VARIABLE: Final = re.compile(r", and (`\w+` is [^.]*)\.$")


def _of_one_variable(found: Sequence[Diagnostic], draft: Draft) -> Iterator[Diagnostic]:
    """The findings without repetitions about the type of one variable of a rule."""
    told = set[tuple[object, str]]()
    for one in found:
        named = _VARIABLE.search(one.message) if one.code == "TW0301" else None
        if named is not None and one.span is not None:
            place = one.span
            entries = enumerate(draft.entries)
            owner = next((k for k, e in entries if _within(place, e.item.span)), None)
            if (owner, named[1]) in told:
                continue
            told.add((owner, named[1]))
        yield one


def _of_one_parent(found: Sequence[Diagnostic], draft: Draft) -> Iterator[Diagnostic]:
    """The findings, where a type that lacks several attributes of another one lacks that parent."""
    types = {item.name.value: item.name for item, _ in draft.items(syn.TypeDecl)}
    hints = dict.fromkeys(one.hint or "" for one in found if one.code == "TW0204")
    for pair in filter(None, map(_PARENT.search, hints)):
        own = {draft.fluents[key].name for key in draft.types[pair[2]].attributes}
        forms = {f"`{pair[1]}` has no attribute `{name}`.": name for name in own}
        forms |= {f"Not every `{pair[1]}` has `{name}`.": name for name in own}
        some = [one for one in found if one.message in forms and one.span is not None]
        names = dict.fromkeys(forms[one.message] for one in some)
        if len(names) > 1 and pair[1] in types:
            first, kind = in_order(some)[0], types[pair[1]]
            what = (
                f"`{pair[1]}` lacks a parent: it has no {', '.join(f'`{one}`' for one in names)}."
            )
            hint = f"{INHERIT}: `type {pair[1]} : {pair[2]}`."
            related = () if first.span is None else (Related(first.span, "used here"),)
            yield Diagnostic("TW0204", what, kind.span, "declared here", (), hint, related)
            gone = {id(one) for one in some}
            found = [one for one in found if id(one) not in gone]
    yield from found


_PARENT: Final = re.compile(rf"^{INHERIT}: `type (\w+) : (\w+)`")


def _of_broken_object(found: Diagnostic, draft: Draft) -> bool:
    """Return whether a value is missing in an object with an error in a written value."""
    if found.code != "TW0602" or found.span is None:
        return False
    errors = [one.span for one in draft.report if one.is_error and one.span and one is not found]
    if any(_within(error, found.span) for error in errors):
        return True
    worlds = [world for world, _ in draft.items(syn.WorldDecl)]
    lines = [line for world in worlds for line in world.items if isinstance(line, syn.ObjectDecl)]
    own = [line.span for line in lines if _within(found.span, line.span)]
    return any(_within(error, place) for place in own for error in errors)


def _of_broken_rule(found: Diagnostic, draft: Draft) -> bool:
    """Return whether an analysis is about a rule with a line that could not be parsed."""
    if found.span is None or not found.code.startswith(("TW04", "TW05", "TW06")):
        return False
    place = found.span
    rules = (item for kind in _RULES for item, _ in draft.items(kind))
    own = next((item.span for item in rules if _within(place, item.span)), None)
    return own is not None and any(
        one.is_error and one.span is not None and one is not found and _within(one.span, own)
        for one in draft.report
        if one.code.startswith(("TW02", "TW03"))
    )


_RULES: Final[tuple[type[syn.ActionDecl | syn.LawDecl | syn.EffectDecl], ...]] = (
    syn.ActionDecl,
    syn.LawDecl,
    syn.EffectDecl,
)


def _of_broken_enum(found: Diagnostic, draft: Draft) -> bool:
    """Return whether a name may be the member that an enum lacks, as it has another one twice."""
    if found.code != "TW0201" or not found.message.startswith("There is nothing called"):
        return False
    twice = [one.span for one in draft.report if one.code == "TW0203" and one.span is not None]
    enums = [one.span for one, _ in draft.items(syn.EnumDecl)]
    return any(_within(one, enum) for one in twice for enum in enums)


def _of_broken_map(found: Diagnostic, draft: Draft) -> bool:
    """Return whether a name may be that of an object in a map whose character has no legend."""
    if found.code != "TW0201" or found.span is None:
        return False
    holes = [one.span for one in draft.report if one.code == "TW0606" and one.span is not None]
    worlds = [world for world, _ in draft.items(syn.WorldDecl)]
    broken = [one for one in worlds if any(_within(hole, one.span) for hole in holes)]
    names = {one.name.value for one in broken}
    tests = [one.span for one, _ in draft.items(syn.ScenarioDecl) if one.world.value in names]
    return any(_within(found.span, place) for place in (*(one.span for one in broken), *tests))


def _within(inner: Span, outer: Span) -> bool:
    return inner.file == outer.file and outer.start <= inner.start and inner.end <= outer.end


def _unknown_again(found: Diagnostic, failed: frozenset[str], draft: Draft) -> bool:
    """Return whether a finding only says that a name is unknown whose declaration failed."""
    if found.code not in (*_UNKNOWN, "TW0401") or found.span is None or _untyped(found.span, draft):
        return False
    written = draft.text(found.span)
    unit = written.lstrip("0123456789.")
    return bool({written.strip("`"), unit} & failed)


def _untyped(name: Span, draft: Draft) -> bool:
    """Return whether an error says that a type gives a default to an attribute that it lacks."""
    return any(one.span == name and one.label == NO_ATTRIBUTE for one in draft.report)


def _of_unknown(found: Diagnostic, types: frozenset[str], open_ended: frozenset[str]) -> bool:
    """Return whether a finding is about a type that is unknown or has an unknown parent."""
    if not found.code.startswith(("TW02", "TW03")) or found.code == "TW0202":
        return False
    named = re.findall(r"[A-Za-z_][A-Za-z0-9_]*", found.message)
    if types.intersection(named):
        return True
    return found.code in (*_UNKNOWN, "TW0301") and bool(open_ended.intersection(named))


def _open_ended(draft: Draft, unknown: frozenset[str]) -> Iterator[str]:
    """Types with an unknown parent, and their subtypes: their attributes are not all known."""
    broken = {
        item.name.value
        for item, _ in draft.items(syn.TypeDecl)
        if any(parent.value in unknown for parent in item.parents)
    }
    for name, kind in draft.types.items():
        if broken.intersection(kind.ancestors):
            yield name


_Fact = syn.FunctionDecl | syn.RelationDecl | syn.TableDecl
_FACTS: Final[tuple[type[_Fact], ...]] = (syn.FunctionDecl, syn.RelationDecl, syn.TableDecl)
_Named = (
    syn.DeriveDecl | syn.ParamDecl | syn.EventDecl | syn.UnitDecl | syn.ActionDecl | syn.LawDecl
)
_DECLARED: Final[tuple[tuple[type[_Named], str], ...]] = (
    (syn.DeriveDecl, "derives"),
    (syn.ParamDecl, "params"),
    (syn.EventDecl, "events"),
    (syn.UnitDecl, "units"),
    (syn.ActionDecl, "actions"),
    (syn.LawDecl, "laws"),
)


def _failed(draft: Draft) -> Iterator[str]:
    """Names that are declared and yet in no table."""
    for kind, table in _DECLARED:
        names = (item.name.value for item, _ in draft.items(kind))
        yield from (name for name in names if name not in getattr(draft, table))
    for fact in (one for kind in _FACTS for one, _ in draft.items(kind)):
        if fact_id(fact.name.value) not in draft.fluents:
            yield from _ends(fact.name, fact.flags)
    for owner, _ in draft.items(syn.TypeDecl):
        for member in owner.members:
            key = attribute_id(owner.name.value, member.name.value)
            if isinstance(member, syn.AttributeDecl) and key not in draft.fluents:
                yield from _ends(member.name, member.flags)
            elif _untyped(member.name.span, draft):
                yield member.name.value
    if draft.actor is None:
        yield from (item.name.value for item, _ in draft.items(syn.ActorDecl))
    for item, _ in draft.items(syn.WorldDecl):
        world = draft.worlds.get(item.name.value)
        known = {one.name for one in world.endings} if world is not None else set()
        lines = (one.name.value for one in item.items if isinstance(one, syn.Ending))
        yield from (name for name in lines if name not in known)


def _ends(name: syn.Name, flags: tuple[syn.Flag, ...]) -> Iterator[str]:
    yield name.value
    for flag in flags:
        if isinstance(flag, (syn.Inverse, syn.Closure)):
            yield flag.name.value


def _labels(draft: Draft) -> Iterator[str]:
    """Labels of requires: one whose condition has an error still has its label."""
    for action, _ in draft.items(syn.ActionDecl):
        for step in action.steps:
            if isinstance(step, syn.Require) and step.label is not None:
                yield step.label.value


_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NAME: Final = re.compile(r"`[^`\n]+`|[A-Za-z][A-Za-z0-9_]*")
_WORD_BEFORE: Final = re.compile(r"([A-Za-z][A-Za-z0-9_]*)\s*$")
# Among shorter names, any two are alike.
_LONG_ENOUGH: Final = 4


def with_repairs(found: Diagnostic, draft: Draft) -> Diagnostic:
    """The finding with its repair, where that is unique.

    A repair of the syntax is safe: a text that does not parse means nothing yet.
    """
    if found.span is None:
        return found
    if found.fix is not None:
        safe = found.fix.safe or found.code == "TW0101"
        return replace(found, fix=replace(found.fix, safe=safe))
    fix = _clamp(found) if found.code == "TW0503" else _respell(found, found.span, draft)
    return found if fix is None else replace(found, fix=fix)


def _respell(found: Diagnostic, span: Span, draft: Draft) -> Fix | None:
    """Replace a word by the only suggested name, if the two are one letter apart.

    A misspelt keyword is noticed at the word after it, so the word before is tried too.
    """
    name = only_suggestion(found.hint)
    source = draft.source_of(span)
    if name is None or source is None:
        return None
    places = [span]
    if found.code == "TW0101" and (before := _WORD_BEFORE.search(source.text[: span.start])):
        places.append(source.span(*before.span(1)))
    for place in places:
        written = source.text[place.start : place.end]
        word = written.strip("`")
        if _NAME.fullmatch(written) and closest(word, [name]):
            raw = written.startswith("`") or not _PLAIN.fullmatch(name)
            near = len(word) >= _LONG_ENOUGH and edit_distance(word, name, 1) == 1
            edit = Edit(place, f"`{name}`" if raw else name)
            return Fix(f"write `{name}`", (edit,), safe=near)
    return None


def _clamp(found: Diagnostic) -> Fix | None:
    """`clamped` after the declaration of a number that a law may take out of its range."""
    if not found.related:
        return None
    place = found.related[0].span.after
    return Fix("let the number stop at the ends of its range", (Edit(place, " clamped"),))
