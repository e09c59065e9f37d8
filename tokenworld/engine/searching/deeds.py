"""What somebody can do in a state and what that does to it, action by action, looked up.

Which commands of an action are applicable rests on the columns that its requires read; what they
do by themselves on those of its body as well. So each action has two tables: its applicable
commands by the numbers of the first, and these with the change that each makes by the numbers of
all. An action of which it is not known what it rests on is listed anew in every state, and the
stepper says what its commands do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from tokenworld.engine.delta import Breach
from tokenworld.engine.guards import Broken
from tokenworld.engine.luck import ExploringLuck, NoUniform
from tokenworld.engine.searching.patches import Change, Parts, Patches
from tokenworld.engine.searching.quick import QuickTicks
from tokenworld.engine.searching.rests import Places, Rests
from tokenworld.engine.state import State
from tokenworld.ground import Command

__all__ = ["MOST", "Allowed", "Deeds", "Key", "getter"]

MOST = 1 << 18
"""Answers of each kind that are kept."""

Allowed = Callable[[State, str, bool], Sequence[Command]]
"""The applicable commands of one action in a state, by its name; whether it is asked for in most
states that are looked at, so that it pays to keep track of them."""
Deed = tuple[Command, Change | None]
"""A command and what it changes by itself; ``None`` where the stepper must say."""
Key = Callable[[Parts], Hashable]
_MOST_DEEDS = 1 << 19
"""Deeds that are kept of all actions together."""
_TRIAL = 64
"""Times that a table is asked before it is judged by what it knew."""


@dataclass(slots=True)
class _Action:
    """One action: the numbers that its two tables go by, ``None`` where they are not known.
    ``asked`` and ``missed`` tell how often the first table is asked, and in vain."""

    name: str
    asks: Key | None
    rests: Key | None
    asked: int = 0
    missed: int = 0
    listed: dict[Hashable, Sequence[Command]] = field(default_factory=dict)
    done: dict[Hashable, list[Deed]] = field(default_factory=dict)

    @property
    def in_vain(self) -> bool:
        """Whether the first table hardly ever knows."""
        return self.asked >= _TRIAL and 2 * self.missed > self.asked


class Deeds:
    """The deeds of the states of one search; ``allowed`` lists the commands of an action."""

    def __init__(
        self, names: Sequence[str], allowed: Allowed, quick: QuickTicks, patches: Patches,
        rests: Rests,
    ) -> None:  # fmt: skip
        self._allowed, self._quick, self._patches = allowed, quick, patches
        self._kept = 0
        self._actions = [
            _Action(name, _known(rests.requires.get(name)), _known(rests.actions.get(name)))
            for name in names
        ]

    def of(self, state: State, parts: Parts, basis: Hashable) -> Iterator[Deed]:
        """The deeds of a state whose columns have the numbers ``parts``; ``basis`` is what every
        rule rests on besides."""
        for action in self._actions:
            if action.rests is None:
                for command in self._commands(action, state, parts, basis):
                    yield command, None
                continue
            key = basis, action.rests(parts)
            found = action.done.get(key)
            if found is None:
                commands = self._commands(action, state, parts, basis)
                found = [(one, self._done(state, parts, one)) for one in commands]
                self._keep(action, key, found)
            yield from found

    def _keep(self, action: _Action, key: Hashable, deeds: list[Deed]) -> None:
        """Keep the deeds of an action, and of all not too many."""
        self._kept += 1 + len(deeds)
        if self._kept > _MOST_DEEDS:
            for one in self._actions:
                one.done.clear()
            self._kept = 0
        action.done[key] = deeds

    def _commands(
        self, action: _Action, state: State, parts: Parts, basis: Hashable
    ) -> Sequence[Command]:
        """The applicable commands of an action."""
        if action.asks is None or action.in_vain:
            return self._allowed(state, action.name, True)
        key = basis, action.asks(parts)
        found = action.listed.get(key)
        action.asked += 1
        if found is None:
            action.missed += 1
            if len(action.listed) >= MOST:
                action.listed.clear()
            found = action.listed[key] = self._allowed(state, action.name, False)
        return found

    def _done(self, state: State, parts: Parts, command: Command) -> Change | None:
        """What a command changes, played."""
        luck = ExploringLuck(())
        try:
            done = self._quick.checked(state, command, luck)
        except (Breach, Broken, NoUniform):
            return None
        if done is None or luck.choices or done.kinds is not state.kinds:
            return None
        return self._patches.between(parts, done)


def getter(places: Places) -> Key:
    """What takes the numbers at some places."""
    return itemgetter(*places) if places else lambda parts: ()


def _known(places: Places | None) -> Key | None:
    return None if places is None else getter(places)
