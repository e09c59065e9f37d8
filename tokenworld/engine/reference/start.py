"""The start state: objects, tables, layouts, setups, the recorded state (language.md §8, §12)."""

from __future__ import annotations

from collections.abc import Mapping

from tokenworld.core.nodes import Body
from tokenworld.engine.reference.bodies import Teller, Wants, bounded
from tokenworld.engine.reference.chance import Lot
from tokenworld.engine.reference.changes import applied
from tokenworld.engine.reference.env import Env
from tokenworld.engine.reference.progress import broken_invariant, progressed
from tokenworld.engine.reference.values import Fault, Known, State, implied
from tokenworld.engine.reference.words import Words
from tokenworld.ground import Json, constant
from tokenworld.model import Layout, cell_name


def start_state(words: Words, seed: int) -> State:
    """The state a run begins with; `Fault` if it cannot be made or breaks an invariant."""
    known = words.known
    objects = known.instance.objects
    state = State({one.id: one.of for one in objects}, {one.id: one.name for one in objects})
    state.next_id, state.seed, state.actors = len(objects), seed, known.instance.actors
    _fill_tables(known, state)
    world = known.instance.world
    rules = words.rules.starts[world.name]
    maps = [_cells(words, state, layout) for layout in world.layouts]
    _fill_objects(words, state)
    for cells, layout, legends in zip(maps, world.layouts, rules.legends, strict=True):
        state = _explained(words, state, cells, layout, legends)
        state.actors = _actors(words, state)
    for position, body in enumerate(rules.setups):
        state = _carried_out(words, state, body, {}, ("setup", [position]))
        state.actors = _actors(words, state)
    state.firsts = {}
    if words.program.actor is not None and not state.actors:
        raise Fault("TW0608", "start", "nobody acts here")
    broken = broken_invariant(words, state)
    if broken is not None:
        broken.code = "TW0605"
        raise broken
    progressed(words, state)
    words.score(Env(state, state, state.me))
    return state


def _actors(words: Words, state: State) -> tuple[int, ...]:
    """The actors that take turns: those of `turns`, else the first object of the acting type."""
    numbers = {state.names[number]: number for number in state.kinds}
    world, kind = words.instance.world, words.program.actor
    named = tuple(numbers[name] for name in world.turns if name in numbers)
    every = words.known.living(state, kind) if kind is not None else []
    return named or tuple(every[:1])


def _fill_tables(known: Known, state: State) -> None:
    instance = known.instance
    for fluent in known.program.fluents.values():
        for row in fluent.rows:
            keys = tuple(constant(key, instance.numbers, instance.params) for key in row.keys)
            value = constant(row.value, instance.numbers, instance.params)
            known.put(state, fluent, keys, value)


def _fill_objects(words: Words, state: State) -> None:
    """Every object in order: the defaults of its fields, then its fields as written."""
    known = words.known
    for one in known.instance.objects:
        kind = known.program.types.get(one.of)
        if kind is None:
            continue
        given = words.rules.objects[one.decl.world or "", one.decl.name].fields
        fields = {field.fluent: field.value for field in given}
        defaults = {field.fluent: field.value for field in words.rules.defaults[kind.name]}
        terms = {key: defaults.get(key) for key in kind.attributes if key not in fields}
        for key, term in [*terms.items(), *fields.items()]:
            fluent = known.program.fluents[key]
            env = Env(state, state, state.me)
            value = implied(fluent.type) if term is None else words.term(term, env)
            known.put(state, fluent, (one.id,), value)


def _carried_out(
    words: Words, state: State, body: Body, names: dict[str, int], rule: tuple[str, list[Json]]
) -> State:
    """The state after one body of the setup."""
    wants = Wants()
    teller = Teller(words, wants, Lot(state, rule[0], rule[1], wants.counts))
    teller.run(body, Env(state, state, state.me, dict(names)))
    return applied(words.known, state, wants)[0]


_Cells = dict[tuple[int, int], int]


def _cells(words: Words, state: State, layout: Layout) -> _Cells:
    """One object for each character, row by row, linked to those beside it."""
    known = words.known
    kind = known.program.types[layout.of]
    cells = _Cells()
    for y, row in enumerate(layout.rows):
        for x in range(len(row)):
            number = state.next_id
            cells[x, y] = number
            state.next_id += 1
            state.kinds[number] = layout.of
            state.names[number] = cell_name(layout.of, x, y)
            defaults = {field.fluent: field.value for field in words.rules.defaults[kind.name]}
            for key in kind.attributes:
                fluent = known.program.fluents[key]
                term = defaults.get(key)
                env = Env(state, state, state.me)
                value = implied(fluent.type) if term is None else words.term(term, env)
                value = bounded({layout.x: x, layout.y: y}.get(key, value), fluent)
                known.put(state, fluent, (number,), value)
    if layout.step:
        step = known.program.fluents[layout.step]
        for (x, y), number in cells.items():
            for member, dx, dy in layout.directions:
                if (x + dx, y + dy) in cells:
                    known.put(state, step, (number, member), cells[x + dx, y + dy])
    return cells


def _explained(
    words: Words, state: State, cells: _Cells, layout: Layout, legends: Mapping[str, Body]
) -> State:
    """The state after what the legend says of each cell."""
    for (x, y), number in cells.items():
        symbol = layout.rows[y][x]
        if symbol in legends:
            state = _carried_out(
                words, state, legends[symbol], {"here": number}, ("layout", [x, y])
            )
    return state
