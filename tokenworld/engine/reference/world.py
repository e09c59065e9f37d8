"""The reference evaluator: one world, run slowly and as the language reference reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokenworld.core.nodes import Body, Hole
from tokenworld.engine.reference.applying import applied
from tokenworld.engine.reference.bodies import Teller, Wants, bounded
from tokenworld.engine.reference.chance import Lot
from tokenworld.engine.reference.record import outcome, state_hash, state_json
from tokenworld.engine.reference.tick import Round, broken_invariant, progressed
from tokenworld.engine.reference.values import Env, Fault, Known, State, implied, known_of
from tokenworld.engine.reference.words import Words
from tokenworld.ground import By, Command, Instance, Json, NoMatch, Prose, Raw, constant
from tokenworld.model import Layout, cell_name

# ---- The start state -----------------------------------------------------------------------------
# The start state: objects, tables, layouts, setups, the recorded state (language.md §8, §12).


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
    """Return the state after the legend's changes for each cell of the layout."""
    for (x, y), number in cells.items():
        symbol = layout.rows[y][x]
        if symbol in legends:
            state = _carried_out(
                words, state, legends[symbol], {"here": number}, ("layout", [x, y])
            )
    return state


# ---- The world -----------------------------------------------------------------------------------


class Reference:
    """One world of a checked program. No method changes a state that it was given."""

    def __init__(self, instance: Instance, prose: Prose) -> None:
        self.instance = instance
        self.words = Words(known_of(instance), prose)
        self.round = Round(self.words)

    def start(self, seed: int = 0) -> State:
        """The start state; `Fault` if there is none."""
        return start_state(self.words, seed)

    def play(
        self, state: State, intent: Command | NoMatch, by: By = "player"
    ) -> tuple[State, tuple[dict[str, Json], ...]]:
        """The intent of the actor whose turn it is: the state it leaves, and its records."""
        records = self.round.intent(state, intent, by)
        try:
            return records[-1].after, tuple(outcome(self.words, one) for one in records)
        except Fault as fault:  # a text or the score has no value: the intent is in error
            records = self.round.dropped(records, state, fault)
            return records[-1].after, tuple(outcome(self.words, one) for one in records)

    def json(self, state: State) -> dict[str, Json]:
        """The state as ``tw-state/1``."""
        return state_json(self.words.known, state)

    def hash(self, state: State) -> str:
        """The state hash."""
        return state_hash(self.words.known, state)

    def legal(self, state: State) -> list[Command]:
        """Every command that would not be refused."""
        return self.round.legal(state)

    def describe(self, state: State, number: int) -> str:
        """The text of `describe x` now, or the message if a number in it has no value."""
        try:
            return self.words.described(number, Env(state, state, state.acting))
        except Fault as fault:
            return fault.text


class ReferenceSpeaker:
    """The questions of the resolver of typed words about one state (`ground.Speaker`)."""

    def __init__(self, reference: Reference, state: State) -> None:
        self._reference, self._state = reference, state
        self._words = reference.words
        self._env = Env(state, state, state.acting)

    @property
    def instance(self) -> Instance:
        return self._reference.instance

    @property
    def numbers(self) -> Mapping[str, int]:
        return {name: number for number, name in self._state.names.items()}

    def identifier(self, number: int) -> str:
        return self._state.names[number]

    def kind(self, number: int) -> str:
        return self._state.kinds.get(number, "")

    def in_scope(self, number: int) -> bool:
        return self._words.in_scope(number, self._env)

    def words_for(self, number: int) -> tuple[str, ...]:
        return self._words.words(number, self._env)

    def slot_texts(
        self, action: str, phrase: int, slot: int, args: Sequence[Raw]
    ) -> tuple[str, ...]:
        schema = self._words.rules.actions[action]
        slots = [part for part in schema.phrases[phrase].parts if isinstance(part, Hole)]
        names = {binder.name: arg for binder, arg in zip(schema.params, args, strict=True)}
        return (self._words.shown(slots[slot].term, self._env.only(names)),)

    def holds_all(self, command: Command) -> bool:
        """Return whether every require of the command holds now: it would not be refused."""
        if command.is_pass:
            return True
        return self._reference.round.refusal(self._state, command) is None

    def candidates(self) -> Sequence[int]:
        return self._reference.round.candidates(self._state)
