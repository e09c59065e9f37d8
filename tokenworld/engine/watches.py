"""Watches: prose when a condition becomes true (language.md §7)."""

from __future__ import annotations

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.compile import Code, Function, compile_watch
from tokenworld.engine.delta import Delta
from tokenworld.engine.luck import SeededLuck
from tokenworld.engine.result import Spoken
from tokenworld.engine.state import State
from tokenworld.ground import Instance, Raw
from tokenworld.model import Watch

__all__ = ["Watches"]

Events = list[tuple[str, tuple[Raw, ...]]]


@frozen
class _Watch:
    watch: Watch
    bindings: Function
    body: Function


class Watches:
    """The watches of one compiled program."""

    def __init__(self, instance: Instance, code: Code) -> None:
        self._code = code
        self._layout = code.emitter.layout
        self._program = instance.program
        self._compiled: tuple[_Watch, ...] | None = None
        self.silent = False

    def _watches(self) -> tuple[_Watch, ...]:
        if self._compiled is None:
            watches = self._program.watches.values()
            self._compiled = tuple(_Watch(one, *compile_watch(self._code, one)) for one in watches)
        return self._compiled

    def speak(self, before: State, after: State, me: int | None) -> tuple[list[Spoken], Events]:
        """What the watches say at a commit; ``once`` bindings are remembered in ``after``."""
        spoken: list[Spoken] = []
        events: Events = []
        if self.silent:
            return spoken, events
        for one in self._watches():
            delta = Delta(self._layout, SeededLuck(), after.seed, after.tick)
            for args in self._new(one, before, after, me):
                one.body(after, before, me, delta, *args)
            spoken += [Spoken(words, args, after, before) for words, args in delta.prose]
            events += delta.events
        return spoken, events

    def begins(self, name: str, before: State, after: State, me: int | None) -> bool:
        """Whether a watch would speak at this commit; nothing is remembered."""
        one = next(one for one in self._watches() if one.watch.name == name)
        true = one.bindings(after, before, me)
        if one.watch.uses_was or not true:
            return bool(true)
        return not set(true) <= set(one.bindings(before, before, me))

    def _new(
        self, one: _Watch, before: State, after: State, me: int | None
    ) -> list[tuple[Raw, ...]]:
        true = one.bindings(after, before, me)
        if not one.watch.uses_was:
            was_true = set(one.bindings(before, before, me)) if true else set()
            true = [args for args in true if args not in was_true]
        if one.watch.once:
            true = [args for args in true if (one.watch.name, args) not in after.fired]
            after.fired |= {(one.watch.name, args) for args in true}
        return list(true)
