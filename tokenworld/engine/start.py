"""The start state: objects with their fields, tables, layouts, setups (language.md §8, §12)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import NoneType
from typing import Any, cast

from tokenworld import model as m
from tokenworld.core import lowered
from tokenworld.core import nodes as core
from tokenworld.core.nodes import Body
from tokenworld.core.rules import StartRules
from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine.changes import Breach
from tokenworld.engine.columns import Column, Key, Layout
from tokenworld.engine.luck import NO_DRAWS, Luck
from tokenworld.engine.rows.code.program import Function
from tokenworld.engine.rows.commit import commit, store_value
from tokenworld.engine.rows.log import Log, Row, bounded
from tokenworld.engine.rows.stepper import RowStepper
from tokenworld.engine.saved.restore import fill_columns, seat_actors, start_from
from tokenworld.engine.state import State, column_of
from tokenworld.ground import Instance, Json, Prose, Raw, implicit_default
from tokenworld.model import Layout as Map

# ---- Changes outside of play --------------------------------------------------------------------
# Changes of a state outside of play, where nothing is static: setups, legends, a `given`.


class Outside:
    """The row of a state on which ``bodies`` are run that are no part of play.

    All facts are in the row, and they may create and destroy objects of any type. Its functions
    are kept for later states with the same population (`enter`).
    """

    def __init__(
        self, instance: Instance, layout: Layout, prose: Prose, state: State,
        bodies: tuple[Body, ...],
    ) -> None:  # fmt: skip
        stepper = RowStepper(instance, layout, prose, state, fixed=False, outside=bodies)
        self._slots, self._code = stepper.slots, stepper.code
        self._functions: dict[int, tuple[Body, Function]] = {}
        self.enter(state)

    def fits(self, state: State) -> bool:
        """Return whether it may enter a state."""
        return len(state.kinds) == len(self._slots.base.kinds) and self._slots.peopled(state)

    def enter(self, state: State) -> None:
        """Set the row to a state."""
        self._slots.forget()  # the last state may have been changed in place since
        self._me, self._row = state.me, Row(self._slots, self._slots.encode(state))

    def run(
        self, body: Body, luck: Luck, title: str, key: tuple[Json, ...] = (),
        given: Mapping[str, Raw] | None = None,
    ) -> None:  # fmt: skip
        """Run a body and write its changes; ``title`` and ``key`` are those of its draws, ``given``
        the variables that it may read. Raises `Breach` if it cannot be executed."""
        S, log = self._row.S, Log(self._row, luck, {})
        self._slots.fill(S)
        log.draws_as(title, key)
        function = self._function(body, tuple(given or ()))
        function(S, S, self._me, log, *(given or {}).values())
        commit(self._row, log)

    def _function(self, body: Body, params: tuple[str, ...]) -> Function:
        known = self._functions.get(id(body))
        if known is None:
            known = self._functions[id(body)] = body, self._code.body_of(body, params)
        return known[1]

    def value(self, term: m.Term) -> Raw:
        """The value of a term."""
        S = self._row.S
        self._slots.fill(S)
        found: Raw = self._code.value(term)(S, S, self._me)
        return found

    def put(self, fluent: str, number: int, value: Raw) -> None:
        """Set an attribute of an object and list the object in its container."""
        store = self._slots.by_id[fluent]
        value = value is True if store.column.truth else value
        store_value(self._row, self._slots.slot(store, (number,)), value)

    def state(self) -> State:
        """The row as a state."""
        return self._slots.decode(self._row.S)


# ---- Start states -------------------------------------------------------------------------------

_PLAIN = (bool, int, float, str, NoneType)
_Values = dict[str, list[Raw]]
"""The value of each attribute by object number."""
_Puts = list[tuple[Column, Key, Raw]]
"""Slots with their values."""
_Cells = dict[tuple[int, int], int]
_MOST_KNOWN = 4
"""Populations for which compiled functions are kept."""
TITLE = "layout"
"""The rule to which the draws of legends belong; their arguments are the column and the row."""


def start_state(
    instance: Instance, layout: Layout, prose: Prose, seed: int, luck: Luck, known: list[Outside]
) -> State:
    """The state a run begins with, before endings are looked at; `Failure` if the setup cannot be
    carried out. ``known`` keeps what is compiled for later starts of this instance."""
    state = State(layout)
    state.seed = seed
    fill_columns(state)
    try:
        state = _Start(instance, layout, prose, luck, known).set_up(state)
    except Breach as breach:
        raise Failure(
            Diagnostic(
                breach.code,
                f"The setup of `{instance.world.name}` cannot be carried out: {breach.message}",
                instance.world.span,
                hint="Correct the `setup` block or the `layout` of the world.",
            )
        ) from None
    if instance.world.start is not None:
        state = start_from(layout, instance.world.start, seed)
    _check_actor(instance, state)
    return state


def check_start(stepper: RowStepper, row: Row) -> None:
    """Give the awards and latch the endings of a start state, in place. `Failure` where it breaks
    an invariant (TW0605), or a condition or the score has no value."""
    instance, me = stepper.instance, stepper.me
    try:
        broken = next(stepper.guards.broken(row, me), None)
        if broken is not None:
            rule = instance.program.invariants[broken.rule]
            where = f" for {', '.join(broken.witness)}" if broken.witness else ""
            what = f"The start state of `{instance.world.name}` breaks `{rule.name}`{where}."
            hint = "Correct the fields or the setup of the world, or the invariant."
            raise Failure(Diagnostic("TW0605", what, rule.span, f"false{where}", hint=hint))
        stepper.asking(row).progress()
        stepper.code.score(row.S, row.S, me)
    except Breach as breach:
        what = f"The start state of `{instance.world.name}` has no value for a condition: "
        hint = "Guard the condition of the ending, award, score or invariant."
        span = instance.world.span
        raise Failure(Diagnostic(breach.code, what + breach.message, span, hint=hint)) from None


def _check_actor(instance: Instance, state: State) -> None:
    """Raise `Failure` (TW0608) if rules mention the actor and the world has none."""
    kind = instance.program.actor
    if kind is None or state.me is not None:
        return
    name = instance.world.name
    what = f"Nobody can act in the world `{name}`: it has no {kind}."
    hint = f"Add an object to it, such as `object hero: {kind}`."
    raise Failure(Diagnostic("TW0608", what, instance.world.span, "nobody acts here", hint=hint))


class _Start:
    """The start of one world: cells of layouts, then fields, legends and setups.

    Literals are put into columns directly, since there may be many objects and facts; for the rest
    the state becomes a row.
    """

    def __init__(
        self, instance: Instance, layout: Layout, prose: Prose, luck: Luck, known: list[Outside]
    ) -> None:
        self._given, self._luck, self._known = (instance, layout, prose), luck, known
        self._instance, self._layout, self._world = instance, layout, instance.world
        self._rules = lowered(instance.program)

    @cached_property
    def _starts(self) -> StartRules:
        return self._rules.starts[self._world.name]

    def set_up(self, state: State) -> State:
        """The state with all that the world says of its start."""
        maps = []
        for drawn in self._world.layouts:
            state, cells = self._make_cells(state, drawn)
            maps.append((drawn, cells))
        state = self._filled(state)
        for number, (drawn, cells) in enumerate(maps):
            state = self._explained(state, drawn, cells, self._starts.legends[number])
        for position, body in enumerate(self._world.setups):
            state = self._carried_out(state, position, body)
        state.drawn = NO_DRAWS
        return state

    def _outside(self, state: State) -> Outside:
        """The row of a state on which rules of the start are run."""
        found = next((one for one in self._known if one.fits(state)), None)
        if found is not None:
            found.enter(state)
            return found
        legends = (body for one in self._starts.legends for body in one.values())
        made = Outside(*self._given, state, (*self._starts.setups, *legends))
        self._known[:] = [*self._known[1 - _MOST_KNOWN :], made]
        return made

    # ---- layouts ------------------------------------------------------------------------------

    def _make_cells(self, state: State, drawn: Map) -> tuple[State, _Cells]:
        """Make the cells of a layout row by row, and link them; `Breach` where the map is too large
        for `x` or `y`."""
        places = [(x, y) for y, row in enumerate(drawn.rows) for x in range(len(row))]
        values = self._of_cells(state, drawn.of)
        numbers = state.add(drawn.of, [m.cell_name(drawn.of, x, y) for x, y in places])
        cells = dict(zip(places, numbers, strict=True))
        for key, given in values.items():
            column = self._layout.by_id[key]
            for (x, y), number in cells.items():
                value = {drawn.x: x, drawn.y: y}.get(key, given)
                state.put(column, number, bounded(column, value, (TITLE,)))
        if drawn.step:
            step = self._layout.by_id[drawn.step]
            for (x, y), number in cells.items():
                for member, dx, dy in drawn.directions:
                    if (x + dx, y + dy) in cells:
                        state.put(step, (number, member), cells[x + dx, y + dy])
        return state, cells

    def _of_cells(self, state: State, of: str) -> dict[str, Raw]:
        """The initial value of each attribute of a cell."""
        found = self._defaults(state, of)
        if not all(isinstance(one, _PLAIN) for one in found.values()):
            outside = self._outside(state)
            return {key: self._value(one, outside) for key, one in found.items()}
        return cast(dict[str, Raw], found)

    def _value(self, given: Raw | m.Term, outside: Outside) -> Raw:
        """A value, computed on the row as it is."""
        if given is None or isinstance(given, _PLAIN):
            return given
        return outside.value(given)

    def _explained(
        self, state: State, drawn: Map, cells: _Cells, legends: Mapping[str, core.Body]
    ) -> State:
        """Return the state after the legend's changes for each cell of the layout."""
        outside = self._outside(state) if legends else None
        for (x, y), number in cells.items() if outside is not None else ():
            body = legends.get(drawn.rows[y][x])
            if body is not None and outside is not None:
                outside.run(body, self._luck, TITLE, (x, y), {"here": number})
        state = state if outside is None else outside.state()
        seat_actors(state)
        return state

    # ---- fields -------------------------------------------------------------------------------

    def _filled(self, state: State) -> State:
        """The state with the fields of all objects. Computed ones follow one after another, since
        each may read earlier ones."""
        values = self._literals(state)
        if values is not None:
            for key, column in values.items():
                _put_whole(self._layout.by_id[key], column, state)
            return state
        outside = self._outside(state)
        for fluent, number, given in self._fields(state):
            outside.put(fluent, number, self._value(given, outside))
        return outside.state()

    def _literals(self, state: State) -> _Values | None:
        """All values if all are literals, which read nothing, so that the order does not matter."""
        decls, size = self._instance.decls, len(self._instance.decls)
        found: _Values = defaultdict(lambda: [None] * size)
        alike = defaultdict[str, list[int]](list)
        for number, decl in enumerate(decls):
            alike[decl.of].append(number)
        for of, numbers in alike.items():
            for key, value in self._defaults(state, of).items():
                if not isinstance(value, _PLAIN):
                    return None
                column = found[key]
                for number in numbers if value is not None else ():
                    column[number] = value
        for number, decl in enumerate(decls):
            for field in decl.fields:
                value = self._literal(field.value, state)
                if not isinstance(value, _PLAIN):
                    return None
                found[field.fluent][number] = value
        return found

    def _fields(self, state: State) -> Iterator[tuple[str, int, Raw | m.Term]]:
        """Each attribute of each object with its value: defaults first, then the fields in written
        order, so that an ordered container is filled in the order of the object lines."""
        for one in self._instance.objects:
            own = {field.fluent: field.value for field in one.decl.fields}
            for key, value in self._defaults(state, one.of).items():
                if key not in own:
                    yield key, one.id, value
            for key, term in own.items():
                yield key, one.id, self._literal(term, state)

    def _defaults(self, state: State, of: str) -> dict[str, Raw | m.Term]:
        """The attributes of a type, each with its default."""
        program = self._instance.program
        if of not in program.types:
            return {}
        given = {one.fluent: one.value for one in program.types[of].defaults}
        return {
            key: self._literal(given[key], state)
            if key in given
            else implicit_default(program.fluents[key].type)
            for key in program.types[of].attributes
        }

    def _literal(self, term: m.Term, state: State) -> Raw | m.Term:
        """The value of a literal or a param; any other term as it is."""
        kind = type(term)
        if kind is m.ObjectLiteral:
            return state.numbers.get(cast(m.ObjectLiteral, term).name, term)
        if kind is m.ParamRead:
            return self._instance.params[cast(m.ParamRead, term).name]
        if kind is m.BoolLiteral or kind is m.NumberLiteral:
            return cast(m.BoolLiteral, term).value
        if kind is m.EnumLiteral:
            return cast(m.EnumLiteral, term).index
        return None if kind is m.NoneLiteral else term

    # ---- setups -------------------------------------------------------------------------------

    def _carried_out(self, state: State, position: int, body: m.Body) -> State:
        """The state after a setup block."""
        puts = self._plain(state, body)
        if puts is None:
            outside = self._outside(state)
            outside.run(self._starts.setups[position], self._luck, "setup", (position,))
            state = outside.state()
        else:
            for column, key, value in puts:
                state.put(column, key, bounded(column, value, ("setup",)))
        seat_actors(state)
        return state

    def _plain(self, state: State, body: m.Body) -> _Puts | None:
        """The slots that a body sets if it names each slot once and every value is a literal, as
        the setups of imported problems do; ``None`` if a value must be computed."""
        found: dict[tuple[int, Key], tuple[Column, Key, Raw]] = {}
        for effect in body:
            if isinstance(effect, m.Assign) and effect.op == "=":
                value = self._literal(effect.value, state)
            elif isinstance(effect, (m.AddFact, m.RemoveFact)):
                value = isinstance(effect, m.AddFact)
            else:
                return None
            put = self._put(state, effect.target, value)
            if put is None or put[0].shaped or (put[0].index, put[1]) in found:
                return None
            found[put[0].index, put[1]] = put
        return list(found.values())

    def _put(
        self, state: State, target: m.Read, value: Raw | m.Term
    ) -> tuple[Column, Key, Raw] | None:
        """A slot with its value; ``None`` if one of the two is no literal, or is `none`."""
        column = self._layout.by_id[target.fluent]
        args = tuple([self._literal(one, state) for one in target.args])
        if value is not None and not isinstance(value, _PLAIN):
            return None
        if any(one is None or not isinstance(one, _PLAIN) for one in args):
            return None
        if value is None and column.always:
            return None
        return column, column.key(cast(tuple[Raw, ...], args)), value


def _put_whole(column: Column, values: list[Any], state: State) -> None:
    """Set an attribute of all declared objects. Children are in the order of the object lines,
    which is that of their numbers."""
    later = list(state.own(column))[len(values) :]
    state.cols[column.index] = column_of([*values, *later])
    if column.has_children:
        children = state.kids[column.index]
        for child, parent in enumerate(values):
            if parent is not None:
                children[parent].append(child)
        for listed in children if later and not column.fluent.ordered else ():
            listed.sort()
