"""Prose and birth rules of one type: which one holds must be clear (language.md §5, §11)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tokenworld.check.draft import Draft
from tokenworld.check.relations import is_subtype
from tokenworld.diagnostics import Related
from tokenworld.model import Birth, Called, Describe, ObjectType

__all__ = ["check_specificity"]

_Rule = Called | Describe | Birth


def check_specificity(draft: Draft) -> None:
    """Two rules for one type, or for two parents of one type that say nothing of it (TW0604).

    All `birth` rules of an object run, so parents may well bring one each; of names and
    descriptions only the most specific one counts.
    """
    for word, rules in (("called", draft.called), ("describe", draft.describes)):
        repeated = _repeated(word, rules, draft)
        single = [rule for rule in rules if _type(rule) not in repeated]
        draft.once(word, tuple(single), partial(_mixed, word, single, draft))
    _repeated("birth", draft.births, draft)


def _type(rule: _Rule) -> str:
    return rule.param.type.name if isinstance(rule.param.type, ObjectType) else ""


def _repeated(word: str, rules: Sequence[_Rule], draft: Draft) -> set[str]:
    """Report every second rule for one type; the types that have several."""
    first: dict[str, _Rule] = {}
    several: set[str] = set()
    for rule in rules:
        name = _type(rule)
        if name not in first:
            first[name] = rule
            continue
        several.add(name)
        what = f"`{name}` has two `{word}` rules, and neither is more specific."
        related = (Related(first[name].span, "the other one"),)
        hint = "Keep one, or write one of them for a subtype."
        draft.tell("TW0604", what, rule.span, "just as specific", hint, related)
    return several


def _mixed(word: str, rules: Sequence[_Rule], draft: Draft) -> None:
    """Types with several parents whose rules compete, each reported where it begins."""
    told: set[tuple[str, ...]] = set()
    of: dict[str, list[int]] = {}
    for position, rule in enumerate(rules):
        of.setdefault(_type(rule), []).append(position)
    for name, kind in draft.types.items():
        places = [place for one in kind.ancestors if one in of for place in of[one]]
        if len(places) < 2:
            continue
        fitting = [rules[place] for place in sorted(places)]
        nearest = tuple(
            rule
            for rule in fitting
            if not any(other is not rule and _below(other, rule, draft) for other in fitting)
        )
        names = tuple(_type(rule) for rule in nearest)
        if len(nearest) < 2 or names in told:
            continue
        told.add(names)
        what = f"`{name}` inherits two `{word}` rules, and neither is more specific."
        related = tuple(Related(rule.span, f"for `{_type(rule)}`") for rule in nearest)
        hint = f"Write a `{word}` rule for `{name}`."
        draft.tell("TW0604", what, kind.span, "two rules fit", hint, related)


def _below(one: _Rule, other: _Rule, draft: Draft) -> bool:
    return is_subtype(draft.types, _type(one), _type(other))
