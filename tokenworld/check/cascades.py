"""One error per root cause: what follows from a declaration that failed is not reported too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tokenworld.check.attributes import attribute_id, fact_id
from tokenworld.check.draft import Draft
from tokenworld.diagnostics import Diagnostic, has_errors
from tokenworld.syntax import nodes as syn

__all__ = ["without_followups"]

_UNKNOWN: Final = ("TW0201", "TW0202", "TW0204", "TW0702")


def without_followups(draft: Draft) -> tuple[Diagnostic, ...]:
    """The report without names that are unknown only because their declaration has an error."""
    if not has_errors(draft.report):
        return tuple(draft.report)
    types = frozenset(
        draft.text(one.span) for one in draft.report if one.code == "TW0202" and one.span
    )
    failed, labels = frozenset(_failed(draft)), frozenset(_labels(draft))
    open_ended = frozenset(_open_ended(draft, types))
    kept = tuple(
        one
        for one in draft.report
        if not _unknown_again(one, failed | labels if one.code == "TW0702" else failed, draft)
        and not _of_unknown(one, types, open_ended)
    )
    return kept if has_errors(kept) else tuple(draft.report)  # an error never follows from nothing


def _unknown_again(found: Diagnostic, failed: frozenset[str], draft: Draft) -> bool:
    """Whether a finding only says that a name is unknown whose declaration failed."""
    if found.code not in _UNKNOWN or found.span is None:
        return False
    written = draft.text(found.span)
    unit = written.lstrip("0123456789.")
    return bool({written.strip("`"), unit} & failed)


def _of_unknown(found: Diagnostic, types: frozenset[str], open_ended: frozenset[str]) -> bool:
    """Whether a finding speaks of a type that is itself unknown, or that may inherit more."""
    if not found.code.startswith(("TW02", "TW03")) or found.code == "TW0202":
        return False
    named = re.findall(r"[A-Za-z_][A-Za-z0-9_]*", found.message)
    if types.intersection(named):
        return True
    return found.code in _UNKNOWN and bool(open_ended.intersection(named))


def _open_ended(draft: Draft, unknown: frozenset[str]) -> Iterator[str]:
    """Types with an unknown parent, and their subtypes: what they inherit is not known."""
    broken = {
        item.name.value
        for item, _ in draft.items(syn.TypeDecl)
        if any(parent.value in unknown for parent in item.parents)
    }
    for name, kind in draft.types.items():
        if broken.intersection(kind.ancestors):
            yield name


def _failed(draft: Draft) -> Iterator[str]:
    """Names that are declared and yet in no table."""
    for entry in draft.entries:
        match entry.item:
            case syn.TypeDecl(name=owner, members=members):
                for member in members:
                    if isinstance(member, syn.AttributeDecl):
                        key = attribute_id(owner.value, member.name.value)
                        if key not in draft.fluents:
                            yield from _ends(member.name, member.flags)
            case syn.FunctionDecl(name=name, flags=flags):
                if fact_id(name.value) not in draft.fluents:
                    yield from _ends(name, flags)
            case syn.RelationDecl(name=name, flags=marks):
                if fact_id(name.value) not in draft.fluents:
                    yield from _ends(name, marks)
            case syn.TableDecl(name=name) if fact_id(name.value) not in draft.fluents:
                yield name.value
            case syn.DeriveDecl(name=name) if name.value not in draft.derives:
                yield name.value
            case syn.ParamDecl(name=name) if name.value not in draft.params:
                yield name.value
            case syn.EventDecl(name=name) if name.value not in draft.events:
                yield name.value
            case syn.UnitDecl(name=name) if name.value not in draft.units:
                yield name.value
            case syn.ActionDecl(name=name) if name.value not in draft.actions:
                yield name.value
            case syn.ActorDecl(name=name) if draft.actor is None:
                yield name.value
            case syn.WorldDecl(name=name, items=lines):
                world = draft.worlds.get(name.value)
                known = {one.name for one in world.endings} if world is not None else set()
                for line in lines:
                    if isinstance(line, syn.Ending) and line.name.value not in known:
                        yield line.name.value
            case _:
                pass


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
