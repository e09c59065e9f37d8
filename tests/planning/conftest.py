"""A simulator made by hand: small graphs with chance, costs and endings instead of rules."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from random import Random
from types import SimpleNamespace
from typing import cast

import pytest

from tokenworld.diagnostics import Span
from tokenworld.ground import (
    PASS,
    Command,
    Enough,
    Instance,
    Known,
    LuckyDraw,
    Raw,
    SeenDraw,
    Successor,
    Try,
    Way,
    moves_of,
)
from tokenworld.model import (
    ROOT,
    Action,
    BoolLiteral,
    BoolType,
    Ending,
    NumberLiteral,
    NumberType,
    Term,
)

State = tuple[int, int]  # node, tick


@dataclass(frozen=True)
class GraphWorld:
    """``edges[node][command]`` lists the successors of a command, -1: rolled back."""

    edges: Mapping[int, Mapping[str, Sequence[int]]]
    goals: Mapping[str, frozenset[int]]
    lose: frozenset[int] = frozenset()
    costs: Mapping[str, int] = field(default_factory=dict)
    calls: list[State] = field(default_factory=list)

    @cached_property
    def instance(self) -> Instance:
        span = Span("graph.tw", 0, 0, 1, 1, 1, 1)
        names = sorted({name for row in self.edges.values() for name in row})
        actions = {name: self._action(name, span) for name in names}
        never = BoolLiteral(False, BoolType(), span)
        lines = tuple(Ending("goal", name, never, None, "", span) for name in self.goals)
        rules = SimpleNamespace(name="graph", endings=lines, awards=(), pays=(), score=None)
        world = SimpleNamespace(
            name="graph", goals=lines, span=span, turns=(), spares=(), awards=(),
            endings=(SimpleNamespace(ending="stop", condition=never),), endless=True,
            outcomes="latched",
        )  # fmt: skip
        program = SimpleNamespace(
            actions=actions,
            actor=None,
            laws={},
            births=(),
            watches={},
            invariants={},
            conserves={},
            fluents={},
            derives={},
            phases={},
            types={},
            worlds={"graph": rules},
            digest="0" * 64,
        )
        nobody = SimpleNamespace(members={ROOT: ()}, actors=(), me=None, objects=())
        return cast(Instance, SimpleNamespace(program=program, world=world, **vars(nobody)))

    def _action(self, name: str, span: Span) -> Action:
        price = self.costs.get(name)
        cost = None if price is None else NumberLiteral(price, NumberType(), span)
        return Action(name, (), (), None, None, cost, (), (), (), span)

    def instance_at(self, state: State) -> Instance:
        return self.instance

    @property
    def unlisted(self) -> frozenset[str]:
        return frozenset()

    @property
    def short_of(self) -> Mapping[str, int]:
        return {}

    @property
    def overflowed(self) -> bool:
        return False

    def start(self) -> State:
        return (0, 0)

    def commands(self, state: State) -> Sequence[Command]:
        if self.won(state, None) or self.lost(state):
            return ()
        return [PASS if name == "" else Command(name) for name in self.edges.get(state[0], {})]

    def successors(self, state: State, command: Command) -> Sequence[Successor[State]]:
        self.calls.append(state)
        ends = self.edges.get(state[0], {}).get(command.action, ())
        if self.won(state, None) or self.lost(state):
            return ()
        return [
            Successor(
                (end, state[1] + 1),
                self.draws(command.action, choice, len(ends)),
                Fraction(1, len(ends)),
            )
            for choice, end in enumerate(ends)
            if end >= 0
        ]

    def tries(self, state: State, command: Command, known: Known) -> Sequence[Try[State]]:
        ends = self.edges.get(state[0], {}).get(command.action, ())
        found = list[Try[State]]()
        for choice, end in enumerate(ends):
            span = (Fraction(choice, len(ends)), Fraction(choice + 1, len(ends)))
            seen = SeenDraw(f"action {command.action}", (None,), 0, span)
            told = next((one for one in known if one.rule == seen.rule), None)
            if told is None or told == seen:
                draws = self.draws(command.action, choice, len(ends))
                chance = Fraction(1, len(ends)) if told is None else Fraction(1)
                after = (end, state[1] + 1) if end >= 0 else state
                more = frozenset[SeenDraw]() if end >= 0 else known | {seen}
                found.append(Try(after, draws, chance, end >= 0, more))
        return found

    @staticmethod
    def draws(action: str, choice: int, alternatives: int) -> tuple[LuckyDraw, ...]:
        if alternatives < 2:
            return ()
        return (LuckyDraw(f"action {action}", (None,), 0, choice, alternatives),)

    def leaning(
        self, state: State, command: Command, draws: Sequence[LuckyDraw]
    ) -> Successor[State] | None:
        found = self.successors(state, command)
        return next((one for one in found if one.draws == tuple(draws)), None)

    def bound(self, enough: Enough | None) -> None:
        """No limit is needed: there are few outcomes."""

    def key(self, state: State) -> Hashable:
        return state[0]

    def moves(self, state: State) -> Iterable[tuple[Command, Sequence[Way[State]]]]:
        return moves_of(self, state)

    def told_by(self, terms: Iterable[Term]) -> Callable[[Hashable], Hashable] | None:
        return None

    def short_key(self, state: State) -> Hashable:
        return self.key(state)

    def won(self, state: State, goal: str | None) -> bool:
        return any(state[0] in ends for name, ends in self.goals.items() if goal in (None, name))

    def lost(self, state: State) -> bool:
        return state[0] in self.lose

    def read(self, state: State, fluent: str, args: Sequence[Raw]) -> Raw:
        return state[0]

    def tick(self, state: State) -> int:
        return state[1]

    def awarded(self, state: State) -> tuple[int, ...]:
        return ()

    def running(self, state: State) -> None:
        return None

    def cost(self, state: State, command: Command) -> int:
        return self.costs.get(command.action, 0) if self.costs else 1

    def mover(self, state: State) -> None:
        return None

    def show(self, state: State, command: Command) -> str:
        return "pass" if command.is_pass else f"{command.action}()"


def random_world(seed: int, *, priced: bool = False) -> GraphWorld:
    """A small graph with branching chance, dead ends, losing nodes and two goals."""
    random = Random(seed)
    size = random.randint(1, 12)
    edges = {
        node: {
            name: [random.randrange(size) for _ in range(random.choice((1, 1, 2, 3)))]
            for name in random.sample(["a", "b", "c", ""], random.randint(0, 3))
        }
        for node in range(size)
    }
    goals = {
        name: frozenset(random.sample(range(size), random.choice((0, 0, 1, 1, 2)) % (size + 1)))
        if size > 1
        else frozenset[int]()
        for name in ("rich", "wise")
    }
    lose = frozenset(n for n in range(size) if random.random() < 0.15)
    costs = {name: random.choice((0, 1, 2, 5)) for name in ("a", "b", "c", "")} if priced else {}
    return GraphWorld(edges, goals, lose, costs)


def counter(bits: int) -> GraphWorld:
    """A chain of ``2**bits`` nodes without a goal, for a search that takes long."""
    size = 1 << bits
    edges = {n: {"a": [(n * 2) % size], "b": [(n * 2 + 1) % size]} for n in range(size)}
    return GraphWorld(edges, {"rich": frozenset()})


class _Tree(dict[int, dict[str, list[int]]]):
    """Two successors of every node, without end."""

    def get(self, node: int, default: object = None) -> dict[str, list[int]]:  # type: ignore[override]
        return {"a": [2 * node + 1], "b": [2 * node + 2]}


@pytest.fixture
def endless_world() -> GraphWorld:
    """A world that no search exhausts."""
    return GraphWorld(_Tree(), {"rich": frozenset()})


@pytest.fixture
def graph_world() -> type[GraphWorld]:
    return GraphWorld


@pytest.fixture
def make_random_world() -> Callable[..., GraphWorld]:
    return random_world


@pytest.fixture
def make_counter() -> Callable[[int], GraphWorld]:
    return counter
