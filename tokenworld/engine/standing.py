"""The commands whose requires hold, found without trying every binding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from tokenworld.engine.agenda import Agenda, Standing
from tokenworld.engine.compile import Code
from tokenworld.engine.joins import Join, compile_join
from tokenworld.engine.listing import Listing
from tokenworld.engine.probe import compile_probe
from tokenworld.engine.state import State
from tokenworld.ground import Command, Raw
from tokenworld.model import Action, Let, Term

__all__ = ["Made", "StandingActions"]


SMALL = 256
"""Objects up to which looking for what is possible is quicker than to keep track of it."""


MOST_MADE = 1 << 16
"""Commands of one action that are kept: objects that come and go would add to them for ever."""


class Made(dict[tuple[Raw, ...], Command]):
    """The commands of an action by their arguments, each made once."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __missing__(self, args: tuple[Raw, ...]) -> Command:
        if len(self) >= MOST_MADE:
            self.clear()
        made = self[args] = Command(self._name, args)
        return made


@dataclass(slots=True)
class _Joined:
    """A joined action: its loops with the tables they look into, and the commands made so far."""

    name: str
    join: Join
    made: Made
    tables: tuple[object, ...] = ()

    def commands(self, state: State, me: int | None) -> list[Command]:
        return self.join.commands(state, state, me, self.made, *self.tables)


class StandingActions:
    """The actions whose requires rest on slots alone, for worlds with one actor: in a small world
    by a join, where there is one, else from an agenda."""

    def __init__(self, code: Code, listing: Listing) -> None:
        self._code, self._listing = code, listing
        self._joins: dict[str, _Joined] = {}
        self._agenda: Agenda | None = None
        self._static: tuple[int, ...] = ()
        self._live: object = None
        self._basis: list[object] = []
        self._listed: tuple[_Joined, ...] = ()

    def every(self, state: State) -> list[Command] | None:
        """All commands allowed in a state; ``None`` where some action must be tried."""
        if len(self._joins) == len(self._code.actions) and _is_simple(state):
            self._look(state)
            if len(self._listed) == len(self._joins):
                me, every = state.me, list[Command]()
                for one in self._listed:
                    every += one.join.commands(state, state, me, one.made, *one.tables)
                return every
        kept = self.commands(state)
        if len(kept) < len(self._code.actions):
            return None
        return [command for name in self._code.actions for command in kept[name]]

    def commands(self, state: State) -> dict[str, list[Command]]:
        """The commands allowed in a state by the name of their action; an action that is missing
        must be tried. Each list stays as it is."""
        if not _is_simple(state):
            return {}
        if self._agenda is None:
            self._agenda = self._begin(state)
        me = state.me
        self._look(state)
        found = {one.name: one.commands(state, me) for one in self._listed}
        if self._agenda.rules and self._agenda.follow(state, me):
            for name, rule in self._agenda.rules.items():
                found[name] = rule.true()
        return found

    def _begin(self, state: State) -> Agenda:
        """Choose for each action how it is listed."""
        rules: dict[str, Standing] = {}
        small = len(self._listing.instance.objects) <= SMALL
        for name, one in self._code.actions.items():
            join = compile_join(self._code, one.action, state) if small else None
            if join is not None:
                self._joins[name] = _Joined(name, join, Made(name))
                continue
            probe = compile_probe(self._code, one.action.params, _guards(one.action))
            if probe is not None:
                rules[name] = Standing(probe, partial(self._rows, name, Made(name)))
        joined = (index for one in self._joins.values() for index in one.join.columns)
        self._static = tuple(dict.fromkeys((*self._listing.static, *joined)))
        return Agenda(rules, self._code.emitter.layout.still)

    def _look(self, state: State) -> None:
        """See that the tables are right, and leave out actions with too many bindings to be listed
        at all (`MANY`)."""
        cols = state.cols
        basis = [cols[index] for index in self._static]
        if state.live is self._live and basis == self._basis:  # the very same ones, as a rule
            return
        self._live, self._basis = state.live, basis
        for one in self._joins.values():
            one.tables = one.join.tables(state)
        bindings = self._listing.bindings
        self._listed = tuple(
            one for name, one in self._joins.items() if bindings(state, name) is not None
        )

    def _rows(
        self, name: str, made: Made, state: State
    ) -> Sequence[tuple[tuple[Raw, ...], Command]] | None:
        return [(args, made[args]) for args in self._listing.bindings(state, name) or ()]


def _is_simple(state: State) -> bool:
    """Whether one actor is asked, who does nothing at the moment."""
    return not state.longs and state.round is None and len(state.actors) < 2


def _guards(action: Action) -> list[Term | Let]:
    return [one if isinstance(one, Let) else one.condition for one in action.guards]
