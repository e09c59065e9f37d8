"""What a call of a named `effect` stands for: its changes, with the arguments in their places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tokenworld.check.draft import Draft, NamedEffect
from tokenworld.check.typing.types import assignable
from tokenworld.model import (
    Binder,
    Body,
    Create,
    DeriveCall,
    Let,
    Local,
    Me,
    ObjectLiteral,
    Term,
    copied,
    is_optional,
)


@dataclass(slots=True)
class Inlined:
    """The changes of one call. ``acts``: their meaning depends on who acts."""

    body: Body
    acts: bool


def inlined(effect: NamedEffect, args: tuple[Term, ...], suffix: str, draft: Draft) -> Inlined:
    """The changes of an effect for these arguments, by value.

    An argument that is a name stands wherever its parameter stood; any other is named by a `let`
    first. ``suffix`` is put behind the names of the effect's own locals, so that none of them
    hides a name of the calling body.
    """
    names: dict[str, Term] = {}
    lets: list[Let] = []
    for param, arg in zip(effect.params, args, strict=True):
        if isinstance(arg, (Local, Me, ObjectLiteral)):
            names[param.name] = arg
        else:
            names[param.name] = Local(param.name + suffix, param.type, arg.span)
            lets.append(Let(param.name + suffix, arg, param.type, arg.span))
    copy = _Copy(names, suffix, draft)
    body = copied(effect.body, copy.change)
    used = [let for let in lets if let.name in copy.used]
    return Inlined((*used, *body), copy.acts)


@dataclass(slots=True)
class _Copy:
    """Copies a body with other names for its locals, and notes whether it speaks of the actor."""

    names: Mapping[str, Term]
    suffix: str
    draft: Draft
    used: set[str] = field(default_factory=set)
    acts: bool = False

    def change(self, part: Any) -> Any:
        """What stands in the place of a part of the body."""
        if isinstance(part, Local):
            return self._local(part)
        if isinstance(part, (Let, Create, Binder)):
            return replace(part, name=part.name + self.suffix)
        self.acts |= isinstance(part, Me)
        if isinstance(part, DeriveCall) and part.derive in self.draft.derives:
            self.acts |= self.draft.derives[part.derive].uses_me
        return part

    def _local(self, local: Local) -> Term:
        given = self.names.get(local.name)
        if given is None:
            return replace(local, name=local.name + self.suffix)
        if isinstance(given, Local):
            self.used.add(given.name)
        nearer = assignable(self.draft.types, given.type, local.type)
        present = is_optional(local.type) or not is_optional(given.type)
        kind = given.type if nearer and present else local.type
        return replace(given, type=kind, span=local.span)
