"""Packed states and their successors: a state is one whole number.

`Packing` lays variables out as bits. `successor_generator` finds the applicable operators, a bit
for each, by look-ups of a few bits of a state; `OperatorPacker` packs the operators of commands,
`transition_of` and `outcomes_of` the phases that end the tick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import TypeVar

from tokenworld.diagnostics.frozen import frozen
from tokenworld.planning.task import Effect, Literal, Operator, Variable

# ---- Variables as bits, operators as bit masks --------------------------------------------------
# A part of a state that effects depend on has few values (a pot and its pea, a fire and a blade),
# so effects are memo tables by the bits of that part (`MemoTable`).

_WORD = 64


@frozen
class Test:
    """Holds in a state whose bits ``care`` are ``want``, and whose ``sets`` of bits are listed."""

    care: int
    want: int
    sets: tuple[tuple[int, frozenset[int]], ...] = ()

    def holds(self, state: int) -> bool:
        if state & self.care != self.want:
            return False
        return all(state & mask in allowed for mask, allowed in self.sets)


@frozen
class Change:
    """Keeps the bits ``keep`` and adds the bits ``put``, where ``test`` holds before the step."""

    test: Test
    keep: int
    put: int


@frozen
class Step:
    """An operator: where ``test`` holds, ``keep`` and ``put`` and then each of ``changes``."""

    test: Test
    keep: int
    put: int
    changes: tuple[Change, ...]

    def after(self, state: int) -> int:
        """The state after the step."""
        found = state & self.keep | self.put
        for change in self.changes:
            if change.test.holds(state):
                found = found & change.keep | change.put
        return found


class Packing:
    """The bits of each variable of a task: as few as its values need, and never across the border
    of a 64-bit word."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        widths = [(len(one.values) - 1).bit_length() for one in variables]
        self.shifts = list[int]()
        free = 0
        for width in widths:
            if free % _WORD + width > _WORD:
                free += _WORD - free % _WORD
            self.shifts.append(free)
            free += width
        self.masks = [
            ((1 << width) - 1) << shift for width, shift in zip(widths, self.shifts, strict=True)
        ]
        self.sizes = [len(one.values) for one in variables]
        self.width, self.every = free, (1 << free) - 1

    def pack(self, positions: Iterable[int]) -> int:
        """The number of a state."""
        return sum(value << shift for value, shift in zip(positions, self.shifts, strict=True))

    def position(self, state: int, variable: int) -> int:
        """The position of a variable's value."""
        return (state & self.masks[variable]) >> self.shifts[variable]

    def bits(self, variable: int, position: int) -> int:
        return position << self.shifts[variable]

    def test(self, literals: Iterable[Literal]) -> Test:
        """The test of some literals."""
        care = want = 0
        sets = []
        for variable, positions in literals:
            if len(positions) == 1:
                care |= self.masks[variable]
                want |= self.bits(variable, positions[0])
            else:
                allowed = frozenset(self.bits(variable, one) for one in positions)
                sets.append((self.masks[variable], allowed))
        return Test(care, want, tuple(sets))

    def step(self, operator: Operator) -> Step:
        """An operator, packed."""
        sure = [effect for effect in operator.effects if not effect.conditions]
        keep, put = self.change(sure)
        changes = tuple(
            Change(self.test(effect.conditions), *self.change([effect]))
            for effect in operator.effects
            if effect.conditions
        )
        return Step(self.test(operator.precondition), keep, put, changes)

    def change(self, effects: Iterable[Effect]) -> tuple[int, int]:
        """The bits that effects keep, and those that they put in place of the others."""
        lost = put = 0
        for effect in effects:
            lost |= self.masks[effect.variable]
            put |= self.bits(effect.variable, effect.value)
        return self.every & ~lost, put


_MOST = 1 << 18
"""Most entries of one memo table; later parts are computed each time."""
_NARROW = 1 << 12
"""Most values of parts that are joined in one memo table."""


class MemoTable(dict[int, int]):
    """Memo table: the effect on a part of a state, by the bits of that part."""

    __slots__ = ("_made",)

    def __init__(self, made: Callable[[int], int]) -> None:
        super().__init__()
        self._made = made

    def __missing__(self, key: int) -> int:
        found = self._made(key)
        if len(self) < _MOST:
            self[key] = found
        return found


MaskedTable = tuple[int, MemoTable]
"""The mask of a part and its table."""


def grouped(
    packing: Packing, supports: Mapping[int, frozenset[int]]
) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Groups of variables that share a memo table, each with the variables it depends on.

    ``supports`` are the variables that each one depends on. Variables that depend on the same part
    of a state share a table, and so do small parts.
    """
    found: list[tuple[set[int], frozenset[int]]] = []
    for variable, support in sorted(supports.items(), key=lambda one: (-len(one[1]), one[0])):
        place = _fitting(packing, found, support)
        if place is None:
            found.append(({variable}, support))
        else:
            found[place][0].add(variable)
            found[place] = (found[place][0], found[place][1] | support)
    return [(frozenset(variables), support) for variables, support in found]


def _fitting(
    packing: Packing, found: Iterable[tuple[set[int], frozenset[int]]], support: frozenset[int]
) -> int | None:
    """The first group that depends on all of ``support``, or that stays small with it."""
    for place, (_, looked) in enumerate(found):
        together = looked | support
        if together == looked or prod(packing.sizes[one] for one in together) <= _NARROW:
            return place
    return None


# ---- Applicable operators and phases ------------------------------------------------------------
# `transition_of` makes the phases of the laws one function of a state: where a variable at the end
# of the tick depends on few variables at its beginning, all phases together are one look into a
# memo table.

STUCK = -1
"""The successor of a tick that cannot end and is rolled back."""
_WIDE = 1 << 20
"""Most values of a part of a state that gets a memo table; else phases are applied one by one."""
Transition = Callable[[int], int]
Positions = tuple[int, ...]


class Phases:
    """The forced operators of the laws, by the value of the token.

    ``places`` are the values that the token takes after a command, in order.
    """

    def __init__(
        self,
        packing: Packing,
        token: int,
        places: Sequence[int],
        operators: Sequence[Operator],
    ) -> None:
        self._packing, self._token, self._mask = packing, token, packing.masks[token]
        self.places = tuple(places)
        self._places: dict[int, list[Operator]] = {place: [] for place in places}
        for operator in operators:
            for place in dict(operator.precondition)[token]:
                self._places[place].append(operator)
        self._steps = {
            self.begun(place): [packing.step(one) for one in found]
            for place, found in self._places.items()
        }

    def begun(self, place: int) -> int:
        """The bits of the token at the beginning of a phase."""
        return self._packing.bits(self._token, place)

    def part(self, places: Sequence[int]) -> Phases:
        """Some of the phases alone."""
        operators = dict.fromkeys(one for place in places for one in self._places[place])
        return Phases(self._packing, self._token, places, tuple(operators))

    def follow(self, state: int) -> int:
        """The state after the phases, one by one; `STUCK` where one has no applicable operator."""
        while (place := state & self._mask) in self._steps:
            step = _taken(self._steps[place], state)
            if step is None:
                return STUCK
            state = step.after(state)
        return state

    def forced(self, state: int) -> int:
        """As `follow` for a part of a state: bits that the part does not decide are arbitrary, and
        no phase is stuck."""
        while (place := state & self._mask) in self._steps:
            steps = self._steps[place]
            state = (_taken(steps, state) or steps[0]).after(state)
        return state

    @property
    def possible(self) -> bool:
        """Return whether every phase has an operator."""
        return all(self._places.values())

    def sides(self, place: int) -> tuple[int, list[Step]]:
        """The bits that decide which outcomes of a phase's draw are possible, and the outcomes in
        the order of the alternatives."""
        order = sorted(self._places[place], key=lambda one: one.draws[0].choice if one.draws else 0)
        looked = frozenset[int]().union(*(self._variables(one.precondition) for one in order))
        mask = sum(self._packing.masks[one] for one in looked)
        return mask, [self._packing.step(one) for one in order]

    # ---- dependencies -----------------------------------------------------------------------

    def decides(self, place: int) -> tuple[dict[int, frozenset[int]], frozenset[int]]:
        """The variables that decide each variable which a phase may change, and those that decide
        whether the phase is possible."""
        found: dict[int, set[int]] = {}
        asked: set[int] = set()
        operators = self._places[place]
        for operator in operators:
            asked |= self._variables(operator.precondition)
            for effect in operator.effects:
                looked = found.setdefault(effect.variable, set())
                looked |= self._variables(effect.conditions)
                if effect.conditions or len(operators) > 1:
                    looked.add(effect.variable)
        if len(operators) > 1:
            for looked in found.values():
                looked |= asked
        found.pop(self._token, None)
        return {one: frozenset(looked) for one, looked in found.items()}, frozenset(asked)

    def _variables(self, literals: Iterable[Literal]) -> set[int]:
        return {variable for variable, _ in literals if variable != self._token}


def _taken(steps: Sequence[Step], state: int) -> Step | None:
    return next((step for step in steps if step.test.holds(state)), None)


def transition_of(packing: Packing, token: int, phases: Phases) -> Transition:
    """Phases without draws as one function: the state after them, or `STUCK`."""
    if not phases.possible:
        return lambda state: STUCK
    supports: dict[int, frozenset[int]] = {}
    asked = frozenset[int]()
    for place in phases.places:
        decided, conditions = phases.decides(place)
        asked |= traced(conditions, supports)
        later = {one: traced(looked, supports) for one, looked in decided.items()}
        supports = {**supports, **later}
    begun = phases.begun(phases.places[0])
    whole = _tables(packing, supports, asked, (phases.forced, phases.follow), begun)
    if whole is not None:
        return _joined(packing, token, supports, whole, asked)
    if len(phases.places) == 1:
        return _alone(packing, token, phases, begun)
    parts = [transition_of(packing, token, phases.part((place,))) for place in phases.places]

    def follow(state: int) -> int:
        for part in parts:
            state = part(state)
            if state == STUCK:
                return STUCK
        return state

    return follow


def _alone(packing: Packing, token: int, phases: Phases, begun: int) -> Transition:
    """A phase that depends on too much for a memo table."""
    keep = ~packing.masks[token]

    def follow(state: int) -> int:
        after = phases.follow(state & keep | begun)
        return after if after == STUCK else after & keep

    return follow


def outcomes_of(
    packing: Packing, token: int, phases: Phases, lucky: frozenset[int]
) -> Callable[[int], list[int]]:
    """Phases with draws at the token values ``lucky``: the states after them, one for each outcome,
    in the order in which the interpreter lists them."""
    parts: list[Callable[[int], list[int]]] = []
    run: list[int] = []
    for place in (*phases.places, None):
        if place is not None and place not in lucky:
            run.append(place)
            continue
        if run:
            parts.append(_sure(transition_of(packing, token, phases.part(tuple(run)))))
            run = []
        if place is not None:
            parts.append(_drawn(packing, token, phases, place))

    def follow(state: int) -> list[int]:
        found = [state]
        for part in parts:
            found = [after for one in found for after in part(one)]
        return found

    return follow


def _sure(follow: Transition) -> Callable[[int], list[int]]:
    def part(state: int) -> list[int]:
        after = follow(state)
        return [] if after == STUCK else [after]

    return part


def _drawn(packing: Packing, token: int, phases: Phases, place: int) -> Callable[[int], list[int]]:
    """One draw: a successor for each possible outcome."""
    mask, steps = phases.sides(place)
    begun, keep = phases.begun(place), ~packing.masks[token]
    known: dict[int, list[tuple[int, int]]] = {}

    def part(state: int) -> list[int]:
        looked = state & mask
        sides = known.get(looked)
        if sides is None:
            found = [one for one in steps if one.test.holds(looked | begun)]
            sides = [(one.keep & keep, one.put & keep) for one in found]
            if len(known) < _WIDE:
                known[looked] = sides
        return [state & kept | put for kept, put in sides]

    return part


def traced(looked: frozenset[int], supports: Mapping[int, frozenset[int]]) -> frozenset[int]:
    """The variables before all phases that these variables depend on now."""
    return frozenset[int]().union(*(supports.get(one, frozenset((one,))) for one in looked))


def _tables(
    packing: Packing,
    supports: Mapping[int, frozenset[int]],
    asked: frozenset[int],
    ways: tuple[Transition, Transition],
    begun: int,
) -> list[MaskedTable] | None:
    """The memo tables of the variables; ``None`` where one would be too wide.

    ``ways`` compute the part of a state after the phases, and whether the tick can end.
    """
    groups = grouped(packing, supports)
    if asked:
        groups.append((frozenset(), asked))
    if any(prod(packing.sizes[one] for one in looked) > _WIDE for _, looked in groups):
        return None
    return [_row(packing, *group, ways[not group[0]], begun) for group in groups]


def _row(
    packing: Packing,
    variables: frozenset[int],
    looked: frozenset[int],
    follow: Transition,
    begun: int,
) -> MaskedTable:
    """One memo table; a bit above all others means `STUCK`."""
    written = sum(packing.masks[one] for one in variables)
    stuck = 0 if variables else 1 << packing.width

    def made(part: int) -> int:
        after = follow(part | begun)
        return stuck if after == STUCK else after & written

    return sum(packing.masks[one] for one in looked), MemoTable(made)


def _joined(
    packing: Packing,
    token: int,
    supports: Mapping[int, frozenset[int]],
    rows: Sequence[MaskedTable],
    asked: frozenset[int],
) -> Transition:
    """One lambda that looks up every table."""
    keep = ~(sum(packing.masks[one] for one in supports) | packing.masks[token])
    names = {f"m{number}": rows for number, (_, rows) in enumerate(rows)}
    looks = "".join(f" | m{number}[s & {mask}]" for number, (mask, _) in enumerate(rows))
    source = f"lambda s: s & {keep}{looks}"
    if asked:
        source = f"lambda s: {STUCK} if m{len(rows) - 1}[s & {rows[-1][0]}] else s & {keep}"
        source += "".join(f" | m{n}[s & {mask}]" for n, (mask, _) in enumerate(rows[:-1]))
    found: Transition = eval(compile(source, "<token world tail>", "eval"), dict(names))
    return found


Payload = TypeVar("Payload")
SuccessorGenerator = Callable[[int], list[Payload]]
"""Lists the payloads of the operators that are applicable in a state, in their order."""
_BITS = 12
"""Bits of a state that one look-up uses; more only where a variable has more."""
_MOST_SETS = 1 << 14
"""Sets of applicable operators that are kept as lists."""


def successor_generator(
    packing: Packing, preconditions: Sequence[Sequence[Literal]], payloads: Sequence[Payload]
) -> SuccessorGenerator[Payload]:
    """The function that lists the payloads whose preconditions hold in a state.

    Each group of a few bits of a state maps to the operators that it does not exclude, as the bits
    of a number; the operators that no look-up excludes are applicable.
    """
    asked = [
        (dict(literals), number)
        for number, literals in enumerate(preconditions)
        if all(positions for _, positions in literals)  # else nothing fulfils it
    ]
    items = {1 << place: payloads[number] for place, (_, number) in enumerate(asked)}
    every, tables = (1 << len(items)) - 1, _look_ups(packing, [one for one, _ in asked])
    known: dict[int, list[Payload]] = {}

    def choose(state: int) -> list[Payload]:
        left = every
        for mask, table in tables:
            left &= table[state & mask]
        found = known.get(left)
        if found is None:
            found, rest = [], left
            while rest:
                lowest = rest & -rest
                found.append(items[lowest])
                rest ^= lowest
            if len(known) < _MOST_SETS:
                known[left] = found
        return found

    return choose


def _look_ups(packing: Packing, preconditions: Sequence[dict[int, Positions]]) -> list[MaskedTable]:
    """For a few bits of a state at a time, the table of the operators that they do not rule out."""
    askers: dict[int, list[tuple[int, Positions]]] = {}
    for place, literals in enumerate(preconditions):
        for variable, positions in literals.items():
            if packing.masks[variable]:
                askers.setdefault(variable, []).append((place, positions))
    groups: list[list[int]] = []
    for variable in sorted(askers, key=packing.shifts.__getitem__):
        first = packing.shifts[groups[-1][0]] if groups else 0
        if not groups or packing.masks[variable].bit_length() - first > _BITS:
            groups.append([])
        groups[-1].append(variable)
    every = (1 << len(preconditions)) - 1
    allowed = {one: _allowed(packing.sizes[one], found, every) for one, found in askers.items()}
    return [
        (sum(packing.masks[one] for one in group), MemoTable(_ruling(packing, group, allowed)))
        for group in groups
    ]


def _allowed(size: int, askers: Sequence[tuple[int, Positions]], every: int) -> list[int]:
    """For each value of a variable the operators that it does not rule out, a bit for each."""
    found, free = [0] * size, every
    for place, positions in askers:
        free &= ~(1 << place)
        for one in positions:
            found[one] |= 1 << place
    return [one | free for one in found]


def _ruling(packing: Packing, group: Sequence[int], allowed: Mapping[int, list[int]]) -> Transition:
    """The operators that the values of some variables do not rule out."""

    def ruled(part: int) -> int:
        found = -1
        for variable in group:
            found &= allowed[variable][packing.position(part, variable)]
        return found

    return ruled


PackedOperator = tuple[int, int, int, tuple[MaskedTable, ...], Transition | None]
"""An operator of a command: its number, the bits it keeps and puts, the memo tables of its
conditional effects, and the phases that follow in the same tick (none after a free action)."""


class OperatorPacker:
    """Packs operators of a task.

    ``follow`` are the phases of the tick; ``cleared`` clears the bits of destroyed objects.
    """

    def __init__(
        self, packing: Packing, token: int, follow: Transition | None, cleared: Transition | None
    ) -> None:
        self._packing, self._token = packing, token
        self._free, self._follow = cleared, follow
        if cleared is not None:
            clear, on = cleared, follow
            self._follow = clear if on is None else lambda state: clear(on(state))

    def successor_generator(
        self, operators: Sequence[tuple[int, Operator]]
    ) -> SuccessorGenerator[PackedOperator]:
        """The function that lists those of these operators that are applicable in a state."""
        return successor_generator(
            self._packing,
            [self._literals(one) for _, one in operators],
            [self._packed(number, one) for number, one in operators],
        )

    def is_free(self, operator: Operator) -> bool:
        """Return whether it takes no time: the token stays where it is."""
        return all(effect.variable != self._token for effect in operator.effects)

    def _literals(self, operator: Operator) -> list[Literal]:
        return [one for one in operator.precondition if one[0] != self._token]

    def _packed(self, number: int, operator: Operator) -> PackedOperator:
        packing = self._packing
        here = [one for one in operator.effects if one.variable != self._token]
        keep, put = packing.change(one for one in here if not one.conditions)
        fixed = {one: places[0] for one, places in operator.precondition if len(places) == 1}
        fixed.pop(self._token, None)
        rows = self._rows([one for one in here if one.conditions], fixed)
        for variables, _ in rows:
            keep &= ~sum(packing.masks[one] for one in variables)
        follow = self._free if self.is_free(operator) or number < 0 else self._follow
        return number, keep, put, tuple(row for _, row in rows), follow

    def _rows(
        self, effects: Sequence[Effect], fixed: dict[int, int]
    ) -> list[tuple[frozenset[int], MaskedTable]]:
        """The memo tables of conditional effects; ``fixed`` are the values of the precondition."""
        packing = self._packing
        supports: dict[int, set[int]] = {}
        for effect in effects:
            looked = supports.setdefault(effect.variable, {effect.variable})
            looked |= {variable for variable, _ in effect.conditions}
        known = {one: frozenset(looked - fixed.keys()) for one, looked in supports.items()}
        found = []
        for variables, part in grouped(packing, known):
            mine = [one for one in effects if one.variable in variables]
            fill = sum(packing.bits(one, place) for one, place in fixed.items())
            written = sum(packing.masks[one] for one in variables)
            step = packing.step(Operator("", (), tuple(mine)))
            rows = MemoTable(_part(step, fill, written))
            found.append((variables, (sum(packing.masks[one] for one in part), rows)))
        return found


def _part(step: Step, fill: int, written: int) -> Transition:
    return lambda part: step.after(part | fill) & written
