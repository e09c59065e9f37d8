"""From a simulator to packed states: nothing is sliced off, no two states are merged.

That is possible where the lowering can follow every rule: no objects are created, laws act
together, every number has bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

from tokenworld.ground import (
    PASS,
    Command,
    Raw,
    Simulator,
    StateT,
)
from tokenworld.planning.encodings.ir import Effect as Assignment
from tokenworld.planning.encodings.ir import Literal, Operator, Task, Variable
from tokenworld.planning.encodings.slice import Cone, cone_of
from tokenworld.planning.explore.admission import is_finite, is_plain, rings
from tokenworld.planning.explore.bits import Packing
from tokenworld.planning.explore.doings import Doings
from tokenworld.planning.explore.fuse import apart, fused
from tokenworld.planning.explore.packed import (
    BROKEN,
    LOST,
    OVER,
    PLAYING,
    WON,
    Ends,
    Packed,
)
from tokenworld.planning.explore.parts import Parts
from tokenworld.planning.explore.patience import patience
from tokenworld.planning.explore.plain import plain_packed
from tokenworld.planning.explore.rows import Rows
from tokenworld.planning.explore.tails import STUCK, Follow, Phases, outcomes_of, tail_of
from tokenworld.planning.lower.algebra import ALIVE, LONG, RING, Obstacle, Refused, Slot
from tokenworld.planning.lower.builtins import decimals_of
from tokenworld.planning.lower.commands import Commands
from tokenworld.planning.lower.diagram import Diagram, Explosion, Mark
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.operators import Draft, Operators
from tokenworld.planning.lower.phases import ACT, MUST
from tokenworld.planning.lower.phases import Phases as PhaseOperators
from tokenworld.planning.lower.variables import WAS
from tokenworld.planning.lower.world import TakenApart
from tokenworld.planning.proof.gaps import gaps

__all__ = ["packed", "packed_in_time"]

_MOST_NODES = 600_000
_WIDE = 1 << 20


def packed(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    obstacles: list[Obstacle] | None = None,
    edges: int | None = None,
) -> Packed | None:
    """The world from a state, packed; ``None`` where only the interpreter can explore it.

    ``obstacles`` takes what of the rules stands in the way, where that is known. ``edges`` is how
    many there are to explore at most: to pack takes no longer than to let the interpreter do it.
    """
    try:
        return packed_in_time(simulator, state, goal, obstacles, edges)
    except Explosion:
        return None


def packed_in_time(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    obstacles: list[Obstacle] | None = None,
    edges: int | None = None,
) -> Packed | None:
    """The same; `Explosion` where no rule stands in the way, and it would take too long."""
    found = list[Obstacle]() if obstacles is None else obstacles
    instance = simulator.instance_at(state)
    if not is_finite(instance, goal) or gaps(instance, simulator.unlisted):
        return None
    if simulator.running(state) is not None or simulator.lost(state):
        return None

    def read(fluent: str, args: Sequence[Raw]) -> Raw:
        return simulator.read(state, fluent, args)

    try:
        late, dull = patience(edges)
        facts = Facts(
            instance,
            read,
            simulator.tick(state),
            stored=lambda fluent: simulator.stored(state, fluent),
        )

        def taken_apart() -> TakenApart:
            return TakenApart(facts, goal, _MOST_NODES, late)

        waits = PASS in simulator.commands(state)
        plain = plain_packed(facts, goal, waits, taken_apart)
        if plain is not None:
            return plain
        world = TakenApart(facts, goal, _MOST_NODES, late, whole=dull)
        cone = cone_of(world, whole=True)
        found += [*world.analysis.obstacles, *cone.obstacles]
        if found:
            return None
        return _Assembling(world, cone, is_plain(instance, goal), waits).made()
    except Refused as refused:
        found.append(refused.obstacle)
        return None


class _Assembling:
    """One world on the way from its lowering to packed states."""

    def __init__(self, world: TakenApart, cone: Cone, plain: bool, waits: bool) -> None:
        self._world, self._cone, self._plain, self._waits = world, cone, plain, waits
        self._operators = Operators(world, cone)
        diagrams, guards = world.diagrams, world.guards
        self._kinds = (
            (BROKEN, diagrams.negate(cone.kept)), (WON, cone.won), (LOST, guards.lost()),
            (OVER, guards.over()),
        )  # fmt: skip
        levels = (diagrams.support(diagram) for _, diagram in self._kinds)
        self._ends_at = sorted(frozenset[int]().union(*levels))

    def made(self) -> Packed | None:
        world, cone, operators = self._world, self._cone, self._operators
        for level in self._ends_at:
            cone.slots.setdefault(world.variables.slots[level])
        self._add_coins()
        for modulus in rings(world.facts.instance):
            world.variables.now((RING, (modulus,)))
            cone.slots.setdefault((RING, (modulus,)))
        phases = PhaseOperators(world, cone, operators)
        phases.token = operators.declare(Variable("turn", "token", phases.names, ACT))
        operators.declare_slots()
        Commands(world, cone, operators, phases).add()
        if self._waits and not (phases.any or phases.turned()):
            operators.add(self._waiting(phases.token))
        phases.add()
        finished: tuple[Operator, ...] = operators.finished()
        task = Task(tuple(operators.variables), finished, ())
        self._names = {name: place for place, name in enumerate(phases.names) if place > MUST}
        self._draws = frozenset(
            place for name, place in self._names.items() if name.startswith("draw ")
        )
        plain = not self._names and not any(one.kind == "alive" for one in task.variables)
        self._fused = fused(task) if plain else apart(task)
        packing = Packing(self._fused.task.variables)
        ends = self._ends(packing)
        if ends is None:
            return None
        token, _ = self._fused.places[phases.token]
        return self._packed(task, packing, token, ends)

    def _add_coins(self) -> None:
        """Every draw of every rule, as the interpreter counts them."""
        variables, cone = self._world.variables, self._cone
        for block in (
            *(one.block for one in self._world.phases), *(one.block for one in self._world.commands)
        ):  # fmt: skip
            block.meet_draws()
        for slot in variables.draws:
            if len(variables.domain(slot)) > 1:
                variables.now(slot)
                cone.slots.setdefault(slot)

    def _waiting(self, token: int) -> Draft:
        """`pass` where waiting changes nothing: the lowering leaves it out."""
        fixed: tuple[Literal, ...] = ((token, (ACT,)),)
        running = self._operators.index.get((LONG, ()))
        if running is not None:
            fixed += ((running, (self._operators.position((LONG, ()), None),)),)
        move = Assignment((), token, ACT)
        return Draft("pass", self._cone.safe, [], fixed, (move,), 0, 1, PASS)

    # ---- ends -------------------------------------------------------------------------------

    def _ends(self, packing: Packing) -> Ends | None:
        """What a state is; ``None`` where an ending may have no value."""
        leaves = (leaf for _, one in self._kinds for leaf in self._world.diagrams.leaves(one))
        if any(isinstance(leaf, Mark) for leaf in leaves):
            return None
        self._ways = tuple((kind, self._literals(diagram)) for kind, diagram in self._kinds)
        tests = [(kind, [packing.test(way) for way in ways]) for kind, ways in self._ways]

        def ends(state: int) -> int:
            for kind, ways in tests:
                if any(test.holds(state) for test in ways):
                    return kind
            return PLAYING

        slots = self._world.variables.slots
        looked = {self._places[slots[level]] for level in self._ends_at}
        if prod(packing.sizes[one] for one in looked) > _WIDE:
            return ends
        mask, rows = sum(packing.masks[one] for one in looked), Rows(ends)
        return lambda state: rows[state & mask]

    def _literals(self, diagram: Diagram) -> tuple[tuple[Literal, ...], ...]:
        """The ways in which a condition holds."""
        found = (
            self._fused.literals(self._operators.literals(path))
            for path, value in self._world.diagrams.paths(diagram)
            if value is True
        )
        return tuple(literals for literals in found if literals is not None)

    @property
    def _places(self) -> dict[Slot, int]:
        """The variables of slots, fused ones for those that were."""
        places = self._fused.places
        return {slot: places[one][0] for slot, one in self._operators.index.items()}

    # ---- doings -----------------------------------------------------------------------------

    def _packed(self, task: Task, packing: Packing, token: int, ends: Ends) -> Packed:
        order = {one.command: number for number, one in enumerate(self._world.commands)}
        operators = self._fused.task.operators
        given = [one for one in operators if one.command is not None]
        given.sort(key=lambda one: (order.get(_command(one), len(order)), _choices(one)))
        places = {one: dict(one.precondition)[token] for one in operators}
        others = [one for one in operators if one.command is None]
        phases = Phases(
            packing,
            token,
            list(self._names.values()),
            [one for one in others if places[one] != (ACT,)],
        )
        buried = self._burying(packing)
        outcomes = self._outcomes(packing, token, phases, buried)
        follow = tail_of(packing, token, phases) if self._names and outcomes is None else None
        doings = Doings(packing, token, follow, buried)
        numbered = list(enumerate(given))
        places_of = {id(one): number for number, one in numbered}
        free = frozenset(number for number, one in numbered if doings.is_free(one))
        breaks = [(-1, one) for one in others if places[one] == (ACT,)]
        instead = [pair for pair in numbered if places[pair[1]] == (MUST,)]
        return Packed(
            task,
            self._fused,
            packing,
            packing.pack(self._fused.task.initial),
            tuple(_command(one) for one in given),
            doings.chooser([pair for pair in numbered if places[pair[1]] == (ACT,)]),
            ends,
            self._ways,
            token,
            Parts(self._world, self._places, packing, phases, self._names),
            self._plain,
            free,
            frozenset(
                number
                for number, one in numbered
                if one.draws or (outcomes is not None and number not in free)
            ),
            outcomes,
            doings.chooser(breaks) if breaks else None,
            doings.chooser(instead) if breaks else None,
            {
                stage: (one.command, done, one.takes)
                for one in self._world.commands
                for done, stage in enumerate(one.stages, 1)
            },
            tuple(self._living()),
            dict(self._named()),
            tuple(places_of.get(id(one), -1) for one in operators),
            self._prices(given, free),
        )

    def _prices(self, given: Sequence[Operator], free: frozenset[int]) -> tuple[int, ...] | None:
        """What each doing costs, as the interpreter counts it. Operators count ticks as well."""
        program = self._world.facts.program
        costs = [one for one in program.actions.values() if one.cost is not None]
        if not costs:
            return (1,) * len(given)
        decimals = {decimals_of(one.cost.type) for one in costs if one.cost is not None}
        freely = {_command(given[number]).action for number in free}
        if len(decimals) > 1 or any(one.name in freely for one in costs):
            return None  # operators that take no time have no price
        scale = self._operators.scale
        return tuple((one.cost - (number not in free)) // scale for number, one in enumerate(given))

    def _outcomes(
        self, packing: Packing, token: int, phases: Phases, buried: Follow | None
    ) -> Callable[[int], list[int]] | None:
        """What follows a command where laws draw."""
        if not self._draws:
            return None
        follow = outcomes_of(packing, token, phases, self._draws)
        if buried is None:
            return follow
        clear = buried
        return lambda state: [clear(after) for after in follow(state)]

    def _living(self) -> Iterator[tuple[int, int]]:
        """The objects that may be destroyed, each with its variable."""
        for (name, args), variable in self._operators.index.items():
            if name == ALIVE and isinstance(args[0], int):
                yield args[0], variable

    def _named(self) -> Iterator[tuple[int, frozenset[int]]]:
        """The objects that each stored slot, or what it held, is about."""
        facts, variables = self._world.facts, self._world.variables
        for slot, variable in self._operators.index.items():
            stored = variables.stored(slot) if slot[0] == WAS else slot
            if stored[0] in facts.program.fluents:
                yield variable, frozenset(facts.objects_in(stored))

    def _burying(self, packing: Packing) -> Follow | None:
        """What clears the bits of all that is gone, so that equal states are equal numbers."""
        named = dict(self._named())
        graves = [
            (
                packing.masks[living],
                packing.bits(living, self._operators.variables[living].values.index(False)),
                ~sum(packing.masks[one] for one, about in named.items() if number in about),
            )
            for number, living in self._living()
        ]

        def buried(state: int) -> int:
            if state != STUCK:
                for alive, dead, rest in graves:
                    if state & alive == dead:
                        state &= rest
            return state

        return buried if graves else None


def _choices(operator: Operator) -> tuple[int, ...]:
    return tuple(draw.choice for draw in operator.draws)


def _command(operator: Operator) -> Command:
    assert operator.command is not None
    return operator.command
