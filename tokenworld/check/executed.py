"""The executed pass: constructs that the grammar knows and this version does not run.

Each is reported by its line (TW0105) and never ignored; when a construct becomes executable, its
case is removed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from tokenworld.check.draft import Draft
from tokenworld.diagnostics import Span
from tokenworld.syntax import nodes as syn

__all__ = ["check_executed"]


def check_executed(draft: Draft) -> None:
    """Report every construct that is not executed yet."""
    for entry in draft.entries:
        for node in _nodes(entry.item):
            what = _missing(node)
            if what is not None:
                _tell(draft, what, node.span)


def _tell(draft: Draft, what: str, span: Span) -> None:
    message = f"{what} cannot be executed by this version."
    hint = "Leave it out for now; `tw check` accepts it once it is executed."
    draft.tell("TW0105", message, span, "not executed yet", hint)


def _missing(node: syn.Node) -> str | None:
    """What is not executed at this node, in words; ``None`` where all is."""
    match node:
        case syn.BelieveDecl() | syn.ModelDecl():
            return "A model of beliefs"
        case syn.BirthDecl() | syn.Create():
            return "The creation of objects"
        case syn.PhaseDecl(sequentially=True):
            return "A sequential phase"
        case syn.UseDecl(alias=syn.Name()):
            return "`use … as`"
        case syn.Layout():
            return "A layout"
        case syn.StartFile() | syn.Replay():
            return "A recorded state"
        case syn.Turns(actors=actors) if len(actors) > 1:
            return "Turns of several actors"
        case _:
            return None


def _nodes(node: object) -> Iterator[syn.Node]:
    """Every node below an item, in written order."""
    if isinstance(node, tuple):
        for part in node:
            yield from _nodes(part)
    elif is_dataclass(node) and not isinstance(node, Span):
        if isinstance(node, syn.Node):
            yield node
        for field in fields(node):
            if field.name != "span":
                yield from _nodes(getattr(node, field.name))
