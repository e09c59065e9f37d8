"""Lists of types that other atoms make idle: who is at a place is a thing that can be at one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from tokenworld.model import ROOT, ObjectType, ValueType, is_optional
from tokenworld.planning.grounding.context import Context, is_measured
from tokenworld.planning.grounding.rules import Atom, Literal, Rule, Source, Var

__all__ = ["Implied"]


class Implied:
    """Leaves out of rules the lists that the types of fluents see to."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._seen_to: dict[str, tuple[frozenset[str], ...]] = {}
        for fluent in context.program.fluents.values():
            kinds = [param.type for param in fluent.params]
            if not is_measured(fluent.type) and fluent.type.kind != "bool":
                kinds.append(fluent.type)
            lists = tuple(self._lists(kind) for kind in kinds)
            self._seen_to[fluent.id] = self._seen_to[f"#{fluent.id}"] = lists

    def _lists(self, kind: ValueType) -> frozenset[str]:
        if is_optional(kind):
            return frozenset()
        if isinstance(kind, ObjectType):
            known = self._context.program.types.get(kind.name)
            ancestors = () if known is None else known.ancestors
            return frozenset(f":{name}" for name in (*ancestors, ROOT))
        listed = self._context.belongs(kind, Var("x"))
        return frozenset() if listed is None else frozenset((listed.relation,))

    def source(self, source: Source) -> Source:
        return replace(source, ways=tuple(tuple(self._without(way)) for way in source.ways))

    def rule(self, rule: Rule) -> Rule:
        return Rule(rule.head, tuple(self._without(rule.body)))

    def _without(self, body: Sequence[Literal]) -> list[Literal]:
        told: set[tuple[str, object]] = set()
        for one in body:
            if isinstance(one, Atom) and not one.absent:
                lists = self._seen_to.get(one.relation, ())
                for arg, names in zip(one.args, lists, strict=False):
                    told.update((name, arg) for name in names)
        return [one for one in body if not _lists(one) or (one.relation, one.args[0]) not in told]


def _lists(literal: Literal) -> TypeGuard[Atom]:
    """Whether a literal says of what type something is."""
    return isinstance(literal, Atom) and not literal.absent and literal.relation.startswith(":")
