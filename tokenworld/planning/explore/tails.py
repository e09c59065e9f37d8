"""What follows a command in the same tick: the phases, as one function of a packed state.

Where a variable's value at the end of the tick depends on few variables at its beginning, all
phases together are one look into a table (`rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod

from tokenworld.planning.encodings.ir import Literal, Operator
from tokenworld.planning.explore.bits import Packing, Step
from tokenworld.planning.explore.rows import Row, Rows, grouped

__all__ = ["STUCK", "Follow", "Phases", "outcomes_of", "tail_of", "traced"]

STUCK = -1
"""What becomes of a state in which no tick can end: it is rolled back."""
_WIDE = 1 << 20
"""A table for more values than this would be filled for nothing: phases go one by one then."""
Follow = Callable[[int], int]


class Phases:
    """The operators that nobody chooses, by the place of the token.

    ``places`` are the places that it takes after a command, in order.
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
        """The bits of the token in a place."""
        return self._packing.bits(self._token, place)

    def part(self, places: Sequence[int]) -> Phases:
        """Some of the phases alone."""
        operators = dict.fromkeys(one for place in places for one in self._places[place])
        return Phases(self._packing, self._token, places, tuple(operators))

    def follow(self, state: int) -> int:
        """What comes of the phases, step by step; `STUCK` where one cannot happen."""
        while (place := state & self._mask) in self._steps:
            step = _taken(self._steps[place], state)
            if step is None:
                return STUCK
            state = step.after(state)
        return state

    def forced(self, state: int) -> int:
        """The same for a part of a state, the rest of which is unknown: what is not decided by the
        part comes out somehow, and nothing is stuck."""
        while (place := state & self._mask) in self._steps:
            steps = self._steps[place]
            state = (_taken(steps, state) or steps[0]).after(state)
        return state

    @property
    def possible(self) -> bool:
        """Whether every phase can ever happen."""
        return all(self._places.values())

    def sides(self, place: int) -> tuple[int, list[Step]]:
        """What may be drawn in a place, in the order of the alternatives, and the bits that decide
        which of it has a chance."""
        order = sorted(self._places[place], key=lambda one: one.draws[0].choice if one.draws else 0)
        looked = frozenset[int]().union(*(self._variables(one.precondition) for one in order))
        mask = sum(self._packing.masks[one] for one in looked)
        return mask, [self._packing.step(one) for one in order]

    # ---- what decides what ------------------------------------------------------------------

    def decides(self, place: int) -> tuple[dict[int, frozenset[int]], frozenset[int]]:
        """What decides each variable that a phase may change, and whether it happens at all."""
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


def tail_of(packing: Packing, token: int, phases: Phases) -> Follow:
    """Phases as one function: the state after them, or `STUCK`. No luck is among them."""
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
    parts = [tail_of(packing, token, phases.part((place,))) for place in phases.places]

    def follow(state: int) -> int:
        for part in parts:
            state = part(state)
            if state == STUCK:
                return STUCK
        return state

    return follow


def _alone(packing: Packing, token: int, phases: Phases, begun: int) -> Follow:
    """A phase that looks at too much for tables."""
    keep = ~packing.masks[token]

    def follow(state: int) -> int:
        after = phases.follow(state & keep | begun)
        return after if after == STUCK else after & keep

    return follow


def outcomes_of(
    packing: Packing, token: int, phases: Phases, lucky: frozenset[int]
) -> Callable[[int], list[int]]:
    """Phases with draws at the places ``lucky``: the states after them, one for each way the draws
    can fall, in the order in which the interpreter lists them."""
    parts: list[Callable[[int], list[int]]] = []
    run: list[int] = []
    for place in (*phases.places, None):
        if place is not None and place not in lucky:
            run.append(place)
            continue
        if run:
            parts.append(_sure(tail_of(packing, token, phases.part(tuple(run)))))
            run = []
        if place is not None:
            parts.append(_drawn(packing, token, phases, place))

    def follow(state: int) -> list[int]:
        found = [state]
        for part in parts:
            found = [after for one in found for after in part(one)]
        return found

    return follow


def _sure(follow: Follow) -> Callable[[int], list[int]]:
    def part(state: int) -> list[int]:
        after = follow(state)
        return [] if after == STUCK else [after]

    return part


def _drawn(packing: Packing, token: int, phases: Phases, place: int) -> Callable[[int], list[int]]:
    """One draw: a state for each side that has a chance."""
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
    """The variables before all phases that decide these variables now."""
    return frozenset[int]().union(*(supports.get(one, frozenset((one,))) for one in looked))


def _tables(
    packing: Packing,
    supports: Mapping[int, frozenset[int]],
    asked: frozenset[int],
    ways: tuple[Follow, Follow],
    begun: int,
) -> list[Row] | None:
    """The tables that say what becomes of the variables; ``None`` where one would be too wide.

    ``ways`` work out what becomes of a part of a state, and whether a tick can end there.
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
    follow: Follow,
    begun: int,
) -> Row:
    """One table. What is stuck shows as a bit above all others."""
    written = sum(packing.masks[one] for one in variables)
    stuck = 0 if variables else 1 << packing.width

    def made(part: int) -> int:
        after = follow(part | begun)
        return stuck if after == STUCK else after & written

    return sum(packing.masks[one] for one in looked), Rows(made)


def _joined(
    packing: Packing,
    token: int,
    supports: Mapping[int, frozenset[int]],
    rows: Sequence[Row],
    asked: frozenset[int],
) -> Follow:
    """One expression that looks up every table."""
    keep = ~(sum(packing.masks[one] for one in supports) | packing.masks[token])
    names = {f"m{number}": rows for number, (_, rows) in enumerate(rows)}
    looks = "".join(f" | m{number}[s & {mask}]" for number, (mask, _) in enumerate(rows))
    source = f"lambda s: s & {keep}{looks}"
    if asked:
        source = f"lambda s: {STUCK} if m{len(rows) - 1}[s & {rows[-1][0]}] else s & {keep}"
        source += "".join(f" | m{n}[s & {mask}]" for n, (mask, _) in enumerate(rows[:-1]))
    found: Follow = eval(compile(source, "<token world tail>", "eval"), dict(names))
    return found
