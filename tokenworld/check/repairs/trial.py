"""One item checked anew among the declarations of its program, as often as somebody asks.

The passes run over the tried items alone. They read the tables that the check of the program left,
so a trial takes a millisecond, however large the program is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Final

from tokenworld.check.draft import Draft, Entry
from tokenworld.check.typing.names import attribute_id, fact_id
from tokenworld.diagnostics import Diagnostic, Source
from tokenworld.syntax import nodes as syn

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
    """Take what an item declared out of the tables: it is declared anew."""
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
