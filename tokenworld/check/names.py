"""Namespaces: what one name may not stand for at once (language.md §1)."""

from __future__ import annotations

from tokenworld.check.draft import Draft
from tokenworld.diagnostics import did_you_mean
from tokenworld.model import ROOT
from tokenworld.syntax import nodes as syn

__all__ = ["check_namespaces"]


def check_namespaces(draft: Draft) -> None:
    """The actor's type exists, inverses and closures are not attributes too."""
    for actor, _ in draft.items(syn.ActorDecl):
        if actor.type.value not in (*draft.types, ROOT):
            hint = did_you_mean(actor.type.value, draft.types) or "Declare the type."
            what = f"There is no type `{actor.type.value}`."
            draft.tell("TW0202", what, actor.type.span, "unknown type", hint)
            draft.actor = None
    _ends(draft)


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
