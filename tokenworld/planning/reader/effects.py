"""Effects and start facts from lists."""

from __future__ import annotations

from typing import Literal, cast

from tokenworld.planning.reader.parts import Parts
from tokenworld.planning.reader.sexpr import Group, Item, Word
from tokenworld.planning.reader.tree import Change, Effect, ForEach, Literal_, Start, When

__all__ = ["Effects"]

_CHANGES = frozenset(("assign", "increase", "decrease", "scale-up", "scale-down"))
_Op = Literal["assign", "increase", "decrease", "scale-up", "scale-down"]


class Effects(Parts):
    """Readers of effects; nested conjunctions are joined, for no meaning hangs on them."""

    def effects(self, item: Item) -> tuple[Effect, ...]:
        if isinstance(item, Word):
            message = f"`{item.text}` stands where an effect should be."
            raise self.faults.unexpected(message, item.span, f"Write `({item.text})`.")
        if not item.items:
            return ()
        if item.head == "and":
            return tuple(one for part in item.items[1:] for one in self.effects(part))
        return (self._effect(item),)

    def _effect(self, item: Group) -> Effect:
        match item.head:
            case "not":
                (part,) = self.exactly(item, 1, "a fact")
                return Literal_(self.fact(part), False)
            case "when":
                condition, body = self.exactly(item, 2, "a condition and an effect")
                return When(self.condition(condition), self.effects(body), item.span)
            case "forall":
                params, body = self.exactly(item, 2, "variables and an effect")
                bound = self.params(params, item.span)
                return ForEach(bound, self.effects(body), item.span)
            case op if op in _CHANGES:
                target, value = self.exactly(item, 2, "a function and a value")
                change = cast(_Op, op)
                return Change(change, self.applied(target), self.term(value), item.span)
            case "probabilistic" | "oneof" | "one-of":
                hint = "Import the outcomes as actions of their own."
                raise self.faults.unsupported(f"`{item.head}`", item.span, hint)
            case "at" | "over" if self._timed(item):
                hint = "Use an action without duration."
                raise self.faults.unsupported("A timed effect", item.span, hint)
            case "or" | "imply" | "exists" | "=":
                message = f"`{item.head}` is no effect."
                hint = "Name each change, or move the condition into `when`."
                raise self.faults.unexpected(message, item.span, hint)
            case _:
                return Literal_(self.fact(item), True)

    def _timed(self, item: Group) -> bool:
        first = item.items[1] if len(item.items) > 1 else None
        named = isinstance(first, Word) and first.key in ("start", "end", "all")
        return named and any(isinstance(part, Group) for part in item.items[2:])

    def start(self, item: Item) -> Start:
        """A line of ``:init``."""
        if isinstance(item, Group):
            if item.head == "=":
                target, value = self.exactly(item, 2, "a function and a value")
                return Change("assign", self.applied(target), self.term(value), item.span)
            if item.head == "not":
                (part,) = self.exactly(item, 1, "a fact")
                return Literal_(self.fact(part), False)
            if item.head in ("oneof", "or", "unknown"):
                hint = "State what holds at the start."
                raise self.faults.unsupported(f"`{item.head}` in `:init`", item.span, hint)
            timed = len(item.items) == 3 and isinstance(item.items[2], Group)
            if item.head == "at" and timed:
                hint = "Leave it out, or write a rule for it."
                raise self.faults.unsupported("A timed initial literal", item.span, hint)
        return Literal_(self.fact(item), True)
