"""Namespaces: what one name may not stand for at once (language.md §1)."""

from __future__ import annotations

from tokenworld.check.draft import Draft
from tokenworld.diagnostics import Related, did_you_mean
from tokenworld.model import ROOT
from tokenworld.syntax import nodes as syn

__all__ = ["check_namespaces"]


def check_namespaces(draft: Draft) -> None:
    """The actor's type exists, an inverse or a closure is declared once, nothing nests twice."""
    for actor, _ in draft.items(syn.ActorDecl):
        if actor.type.value not in (*draft.types, ROOT):
            hint = did_you_mean(actor.type.value, draft.types) or "Declare the type."
            what = f"There is no type `{actor.type.value}`."
            draft.tell("TW0202", what, actor.type.span, "unknown type", hint)
            draft.actor = None
    _ends(draft)
    _nested_once(draft)


def _nested_once(draft: Draft) -> None:
    """An object lies in one place: at most one `nested` attribute applies to a type."""
    told: set[str] = set()
    for name, kind in draft.types.items():
        nested = [key for key in kind.attributes if draft.fluents[key].nested]
        if len(nested) > 1 and not told & set(kind.ancestors):
            told.add(name)
            first, second = (draft.fluents[key] for key in nested[:2])
            what = f"`{name}` is nested twice, by `{first.name}` and by `{second.name}`."
            related = (Related(first.span, "the other one"),)
            hint = "Keep `nested` on one of them."
            draft.tell("TW0310", what, second.span, "a second nesting", hint, related)


def _ends(draft: Draft) -> None:
    seen: dict[tuple[str, str], str] = {}
    for key, fluent in draft.fluents.items():
        for name in (fluent.inverse, fluent.closure):
            if name is None:
                continue
            end = fluent.type if fluent.fluent_kind != "relation" else fluent.params[0].type
            owner = getattr(end, "name", ROOT)
            if (owner, name) in seen and seen[owner, name] != key:
                what = f"`{name}` is declared twice on `{owner}`."
                draft.tell("TW0203", what, fluent.span, "again", "Rename one of the two.")
            seen[owner, name] = key
            if fluent.fluent_kind != "attribute" and fluent.inverse:
                what = f"Only attributes have an inverse, and `{fluent.name}` is none."
                draft.tell("TW0310", what, fluent.span, "flag does not fit", "Remove it.")
