"""The legal commands of a row: the loops of `hoist`, then the requires that the language adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from operator import itemgetter
from typing import Any

from tokenworld.core.nodes import Body, Constant
from tokenworld.core.rules import Action
from tokenworld.engine.bindings import Listing
from tokenworld.engine.changes import Breach, never_refused
from tokenworld.engine.luck import SeededLuck
from tokenworld.engine.rows.code.hoist import HoistWriter
from tokenworld.engine.rows.code.program import Program
from tokenworld.engine.rows.layout import KINDS, LATCHED, NOTHING, ROUND
from tokenworld.engine.rows.log import Row
from tokenworld.engine.rows.questions.asking import breaks, is_legal
from tokenworld.engine.rows.stepper import RowStepper, Tick
from tokenworld.engine.state import LongAction
from tokenworld.ground import MANY, Command, Raw, count_bindings
from tokenworld.model import ObjectType

Args = tuple[Raw, ...]
MOST_DECISIVE = 128
"""Slots that decide a legal list up to which lists are kept by their values."""
MOST_MADE = 1 << 16
"""Commands of one action that are kept: objects that come and go would add to them for ever."""


class Made(dict[Args, Command]):
    """The commands of an action by their arguments, each made once."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __missing__(self, args: Args) -> Command:
        if len(self) >= MOST_MADE:
            self.clear()
        made = self[args] = Command(self._name, args)
        return made


class Legal:
    """Lists the legal commands of the rows of one stepper, as `Engine.legal` lists those of a
    state: actions in order, then arguments in order; none of an action with too many bindings."""

    def __init__(self, stepper: RowStepper) -> None:
        self.stepper = stepper
        self._over = not stepper.instance.world.endless
        self.made = {name: Made(name) for name in stepper.rules.actions}
        self._free = {name: one for name, one in stepper.rules.actions.items() if _may_be_free(one)}
        self._counts = frozenset(name for name in self.made if self._may_be_large(name))
        self._kinds: Any = None
        self._known: dict[str, bool] = {}

    @cached_property
    def _listed(self) -> dict[str, Any]:
        """The functions that list the bindings of actions."""
        return {name: self.stepper.code["listed", name] for name in self.made}

    @cached_property
    def _trials(self) -> dict[str, Any]:
        """The trials of the actions that a require of the language may refuse, by name."""
        safe, code = never_refused(self.stepper.rules), self.stepper.code
        return {name: code.find("trial", name) for name in self.made if not safe[name]}

    def commands(self, row: Row) -> list[Command]:
        """Every command that would not be refused."""
        made = self.made
        rows = self.by_action(row)
        return [one for name, found in rows for one in map(made[name].__getitem__, found)]

    def by_action(self, row: Row) -> list[tuple[str, list[Args]]]:
        """The arguments of the legal commands of each action that has some."""
        if self.is_over(row):
            return []
        tick = self.asking(row)
        long = tick.long()
        if long is not None:
            return self._while_busy(row, tick, long)
        return list(self._judged(row, tick))

    def decided(self) -> Callable[[list[Any]], Any] | None:
        """A getter of the slots that decide the legal commands while play is not over; ``None`` if
        more than a few slots decide them: population, turn, a long action, chance."""
        rules, slots = self.stepper.rules, self.stepper.slots
        steady = not slots.moving and len(self.stepper.actors) < 2
        if not steady or self._counts or any(one.takes for one in rules.actions.values()):
            return None
        bodies: list[Body] = [one.guards for one in rules.actions.values()]
        bodies += [rules.actions[name].body for name in self._trials]
        touched = rules.footprint((), bodies)
        if touched.was or touched.asks - {"id"} or touched.draws:
            return None
        stores = [one for one in slots.stores if one.column.fluent.id in touched.touched]
        if any(one.column.fluent.ordered for one in stores):
            return None
        found = [at for one in stores if one.live for _, at in slots.places_of(one)]
        if len(found) > MOST_DECISIVE:
            return None
        return itemgetter(*(found or [NOTHING]))

    def is_over(self, row: Row) -> bool:
        """Return whether no command is possible any more."""
        return self._over and bool(row.S[LATCHED])

    def asking(self, row: Row) -> Tick:
        """A tick to ask of commands; draws are those of the seed."""
        self.stepper.use(_LUCK)
        return self.stepper.asking(row)

    def _judged(
        self, row: Row, tick: Tick, but: frozenset[str] = frozenset()
    ) -> Iterator[tuple[str, list[Args]]]:
        """The legal commands of each action but these."""
        for name in self.made:
            if name in but or (name in self._counts and not self._is_listed(row, name)):
                continue
            found = self.found(row, tick, name)
            if found:
                yield name, found

    def found(self, row: Row, tick: Tick, name: str) -> list[Args]:
        """The legal bindings of an action where no long action is under way."""
        S, W = row.S, since(row)
        if W is not S and self._looks_back(name):
            return self._tried(row, tick, name)
        found: list[Args] = []
        self._listed[name](S, W, tick.acting, found)
        return self.kept(row, tick, name, found) if found and name in self._trials else found

    def _looks_back(self, name: str) -> bool:
        """Return whether some commands of an action read another earlier row than the others in
        a round: a command that takes no time is a round of its own."""
        return name in self._free and self._free[name].footprint.looks_back

    def is_tried(self, row: Row, tick: Tick, name: str) -> bool:
        """Return whether the commands of an action must be tried one by one."""
        in_round = row.S[ROUND] is not None
        return tick.long() is not None or (in_round and self._looks_back(name))

    # ---- requires of the language ---------------------------------------------------------------

    def kept(self, row: Row, tick: Tick, name: str, found: list[Args]) -> list[Args]:
        """Those bindings, whose own requires hold, that no require of the language refuses."""
        if name not in self._trials:
            return found
        trial, mark, S, J = self._trials[name], row.mark, row.S, row.J
        if trial is None:
            return [args for args in found if not self._breaks(row, tick, name, args)]
        W, me, kept = since(row), tick.acting, []
        for args in found:
            try:
                sure = trial(S, W, me, row, J, *args) == 0
            except Breach:
                sure = False
            if len(J) > mark:  # it drew
                row.undo(mark)
            if sure or not self._breaks(row, tick, name, args):
                kept.append(args)
        return kept

    def _breaks(self, row: Row, tick: Tick, name: str, args: Args) -> bool:
        """Return whether a require of the language refuses a command, by writing its changes."""
        mark = row.mark
        try:
            return breaks(tick, self.made[name][args])
        except Breach:
            return False  # how long it takes has no value: it would be in error
        finally:
            row.undo(mark)

    # ---- long actions ---------------------------------------------------------------------------

    def _while_busy(self, row: Row, tick: Tick, long: LongAction) -> list[tuple[str, list[Args]]]:
        """List the legal commands during a long action: break it off and judge the actions that
        take time; judge the same command and free actions one by one."""
        mark, kinds = row.mark, row.S[KINDS]
        single = frozenset(
            name for name in self.made if name in self._free or name == long.command.action
        )
        try:
            tick.break_off(long, "")
            if row.S[KINDS] is not kinds:  # a binding is one of those who live now
                single = frozenset(self.made)
            found = dict(self._judged(row, tick, but=single))
        except Breach:
            found = {}
        row.undo(mark)
        for name in single:
            if name not in self._counts or self._is_listed(row, name):
                found[name] = self._tried(row, tick, name)
        return [(name, args) for name in self.made if (args := found.get(name))]

    def _tried(self, row: Row, tick: Tick, name: str) -> list[Args]:
        """The legal bindings of an action by trying each."""
        params = self.stepper.rules.actions[name].params
        return self.tried(tick, name, product(*(self.stepper.domain(row, one) for one in params)))

    def tried(self, tick: Tick, name: str, bindings: Iterable[Args]) -> list[Args]:
        """Those of some bindings of an action that are legal."""
        made = self.made[name]
        return [args for args in bindings if is_legal(tick, made[args])]

    # ---- large actions --------------------------------------------------------------------------

    def _may_be_large(self, name: str) -> bool:
        """Return whether an action has, or may get, too many bindings to list."""
        slots, params = self.stepper.slots, self.stepper.rules.actions[name].params
        row = Row(slots, slots.encode(slots.base))
        many = count_bindings([self.stepper.domain(row, one) for one in params]) > MANY
        kinds = [one.type.name for one in params if isinstance(one.type, ObjectType)]
        return many or any(map(slots.grows, kinds))

    def _is_listed(self, row: Row, name: str) -> bool:
        """Return whether an action of `_counts` has few enough bindings, by a cache."""
        kinds = row.S[KINDS]
        if self._kinds is not kinds:
            self._kinds, self._known = kinds, {}
        if name not in self._known:
            params = self.stepper.rules.actions[name].params
            few = count_bindings([self.stepper.domain(row, one) for one in params]) <= MANY
            self._known[name] = few or self._joins(row, name)
        return self._known[name]

    def _joins(self, row: Row, name: str) -> bool:
        """Return whether facts that never change leave few enough bindings."""
        listing = Listing(self.stepper.instance, self.stepper.slots.columns_layout)
        return listing.is_listed(self.stepper.state(row), name)


_LUCK = SeededLuck()


def since(row: Row) -> list[Any]:
    """The row that `was` reads in a command that takes time: the start of the round."""
    S = row.S
    return S if S[ROUND] is None else S[ROUND]


def _may_be_free(action: Action) -> bool:
    """Return whether some commands of an action may take no time."""
    takes = action.takes
    return takes is not None and not (isinstance(takes, Constant) and bool(takes.value))


# ---- Commands that name one object ---------------------------------------------------------------
# The legal commands that name one object, found from the object instead of a list of all commands.
#
# The object is bound first, in each parameter that takes it; the other parameters follow one by
# one, and each part of a require is tested as soon as its variables are bound (see `hoist`).


@dataclass(frozen=True, slots=True)
class Focus:
    """The commands that name an object: those executed now, in the order of all legal commands.

    ``bindings`` counts the commands that name it, possible or not. ``unlisted`` are actions with
    too many of them to try (`MANY`).
    """

    legal: tuple[Command, ...]
    bindings: int
    unlisted: tuple[str, ...]
    rest: Callable[[], Iterator[Command]]

    def impossible(self, most: int) -> tuple[Command, ...]:
        """The first commands that name the object and would not be executed now."""
        known = frozenset(self.legal)
        return tuple(islice((one for one in self.rest() if one not in known), most))


@dataclass(frozen=True, slots=True)
class _Spot:
    """A parameter that takes the object: its position, and the candidates of all parameters.

    The earlier parameters that take the object too leave it out: their own spots list those
    commands.
    """

    action: Action
    position: int
    domains: tuple[Sequence[Raw], ...]

    @property
    def size(self) -> int:
        return count_bindings(self.domains)


def focus_on(legal: Legal, row: Row, number: int) -> Focus:
    """Find the legal commands that name an object in a row."""
    actions = legal.stepper.rules.actions
    spots = [x for one in actions.values() for x in _spots(legal, row, one, number)]
    found, many = dict[str, set[Args]](), set[str]()
    for spot in () if legal.is_over(row) else spots:
        try:
            found.setdefault(spot.action.name, set()).update(_possible(legal, row, spot, number))
        except _TooManyError:
            many.add(spot.action.name)
    known = [spot for spot in spots if spot.action.name not in many]
    return Focus(
        tuple(
            legal.made[name][args]
            for name, rows in found.items()
            if name not in many
            for args in sorted(rows, key=_place_of)
        ),
        sum(spot.size for spot in spots),
        tuple(name for name in actions if name in many),
        lambda: (Command(one.action.name, args) for one in known for args in product(*one.domains)),
    )


def _spots(legal: Legal, row: Row, action: Action, number: int) -> Iterator[_Spot]:
    """The parameters of an action that take an object."""
    kind = row.S[KINDS][number]
    if kind is None:
        return
    ancestors = legal.stepper.slots.ancestry[kind]
    domains = [legal.stepper.domain(row, binder) for binder in action.params]
    taken: list[int] = []
    for place, binder in enumerate(action.params):
        if isinstance(binder.type, ObjectType) and binder.type.name in ancestors:
            for before in taken[-1:]:  # the ones before that leave it out already
                domains[before] = [one for one in domains[before] if one != number]
            yield _Spot(action, place, (*domains[:place], (number,), *domains[place + 1 :]))
            taken.append(place)


def _place_of(args: Args) -> tuple[tuple[bool, Any], ...]:
    """Arguments in the order of their domains: ascending, `none` last."""
    return tuple((value is None, 0 if value is None else value) for value in args)


# ---- possible commands ----------------------------------------------------------------------


class _TooManyError(Exception):
    """More bindings were tried than are ever listed."""


class _Found(list[Args]):
    """The bindings that a generated function found; it may try so many values."""

    left = MANY

    def spend(self) -> None:
        """One more value is tried."""
        self.left -= 1
        if self.left < 0:
            raise _TooManyError


def _possible(legal: Legal, row: Row, spot: _Spot, number: int) -> list[Args]:
    """The legal bindings of a spot, and some that another spot has too."""
    tick, name = legal.asking(row), spot.action.name
    if legal.is_tried(row, tick, name):
        if spot.size > MANY:
            raise _TooManyError
        return legal.tried(tick, name, product(*spot.domains))
    found, listed = _Found(), _function(legal.stepper.code, spot)
    listed(row.S, since(row), tick.acting, found, number)
    return legal.kept(row, tick, name, found)


def _function(code: Program, spot: _Spot) -> Callable[..., None]:
    """The function that lists the bindings of a spot, made when it is first asked for."""
    key = "focused", f"{spot.action.name} {spot.position}"
    if key not in code.names:
        code.find("ok", spot.action.name)  # writes it, if nobody has listed this action yet
        name, ok = code.writer.fresh("focused_"), code.names["ok", spot.action.name]
        HoistWriter(code.writer, spot.action, ok, spot.position).write(name)
        code.names[key] = name
        code.load()
    return code[key]
