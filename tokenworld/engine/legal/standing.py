"""The commands whose requires hold, found without trying every binding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import is_

from tokenworld.engine.agenda import Agenda, Standing
from tokenworld.engine.compile import Code, Function
from tokenworld.engine.legal.joins import Joins, can_join
from tokenworld.engine.legal.listing import Listing
from tokenworld.engine.legal.made import Made
from tokenworld.engine.probe import compile_probe
from tokenworld.engine.state import State
from tokenworld.ground import Command, Raw

__all__ = ["SMALL", "Made", "StandingActions", "is_simple"]


SMALL = 256
"""Objects up to which looking for what is possible is quicker than to keep track of it."""


class StandingActions:
    """The actions whose requires rest on slots alone, for worlds with one actor: in a small world
    by a join, where there is one, else from an agenda."""

    def __init__(self, code: Code, listing: Listing) -> None:
        self._code, self._listing = code, listing
        self._joins: Joins | None = None
        self._agenda: Agenda | None = None
        self._static: tuple[int, ...] = ()
        self._live: object = None
        self._basis: list[object] = []
        self._listed: tuple[str, ...] = ()
        self.quick: Callable[[State], list[Command] | None] = _unknown
        """The same as `every`, where it can be told at once: ``None`` says nothing."""
        self._each: Function | None = None

    def every(self, state: State) -> list[Command] | None:
        """All commands allowed in a state; ``None`` where some action must be tried."""
        found = self.quick(state)
        if found is None and is_simple(state):
            self._follow(state)
            found = self.quick(state)
        if found is not None:
            return found
        kept = self.commands(state)
        if len(kept) < len(self._code.actions):
            return None
        return [command for name in self._code.actions for command in kept[name]]

    def commands(self, state: State) -> dict[str, list[Command]]:
        """The commands allowed in a state by the name of their action; an action that is missing
        must be tried. Each list stays as it is."""
        if not is_simple(state):
            return {}
        agenda, found = self._follow(state), self._joined(state)
        if agenda.rules and agenda.follow(state, state.me):
            for name, rule in agenda.rules.items():
                found[name] = rule.true()
        return found

    def _follow(self, state: State) -> Agenda:
        """Have the tables right for a state; the agenda of the actions that are not joined."""
        if self._agenda is None:
            self._agenda = self._begin(state)
        self._look(state)
        return self._agenda

    def _joined(self, state: State) -> dict[str, list[Command]]:
        """The commands of the joined actions."""
        if not self._listed or self._joins is None:
            return {}
        if self._each is None:
            self._each = self._joins.function(self._listed, cuts=True)
        commands, ends = self._each(state)
        begins = [0, *ends[:-1]]
        return {
            name: commands[begin:end]
            for name, begin, end in zip(self._listed, begins, ends, strict=True)
        }

    def _begin(self, state: State) -> Agenda:
        """Choose for each action how it is listed."""
        small = len(self._listing.instance.objects) <= SMALL
        actions = self._code.actions
        joined = [name for name, one in actions.items() if small and can_join(one.action)]
        self._joins = Joins(self._code, joined, state) if joined else None
        rules: dict[str, Standing] = {}
        for name, one in actions.items():
            if name in joined:
                continue
            probe = compile_probe(self._code, one.action.params, one.action.steps)
            if probe is not None:
                rules[name] = Standing(probe, partial(self._rows, name, Made(name)))
        columns = self._joins.columns if self._joins is not None else ()
        self._static = tuple(dict.fromkeys((*self._listing.static, *columns)))
        return Agenda(rules, self._code.emitter.layout.still)

    def _look(self, state: State) -> None:
        """See that the tables are right, and leave out actions with too many bindings to be listed
        at all (`MANY`)."""
        joins, cols = self._joins, state.cols
        if joins is None:
            return
        basis: list[object] = [state.actors, *(cols[index] for index in self._static)]
        if state.live is self._live and all(map(is_, basis, self._basis)):
            return
        if len(state.kinds) > joins.size:
            joins = self._joins = Joins(self._code, joins.joins, state)
            self._listed = ()
        joins.rest_on(state, self._static)
        if state.live == self._live and basis == self._basis and self._listed:
            self._live, self._basis = state.live, basis
            return
        self._live, self._basis = state.live, basis
        joins.look(state)
        listed = tuple(one for one in joins.joins if self._listing.is_listed(state, one))
        if listed != self._listed:
            self._listed, self._each = listed, None
            whole = len(listed) == len(self._code.actions)
            self.quick = joins.function(listed) if whole and listed else _unknown

    def _rows(
        self, name: str, made: Made, state: State
    ) -> Sequence[tuple[tuple[Raw, ...], Command]] | None:
        return [(args, made[args]) for args in self._listing.bindings(state, name) or ()]


def _unknown(state: State) -> list[Command] | None:
    """Nothing is to be told at once."""
    return None


def is_simple(state: State) -> bool:
    """Whether one actor is asked, who does nothing at the moment."""
    return not state.longs and state.round is None and len(state.actors) < 2
