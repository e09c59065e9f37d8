"""What can be done in a state, by masks, by trees and by the tests themselves: it is the same."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_random import random_world
from lower_worlds import bundled
from sokoban import sokoban

from tokenworld.planning.search.compiled import available
from tokenworld.planning.search.compiled import tables as compiled_module
from tokenworld.planning.search.compiled.search import CompiledAStar, joined
from tokenworld.planning.search.compiled.tables import SuccessorList, Tables
from tokenworld.planning.search.interpreted import Found, Limits
from tokenworld.planning.search.packed.lowered import packed
from tokenworld.planning.search.packed.searches import PackedAStar
from tokenworld.planning.search.packed.successors import Packing, successor_generator
from tokenworld.planning.search.packed.world import Packed
from tokenworld.planning.space.packed_graph import compiled_tables, explore_compiled, explore_packed
from tokenworld.planning.task import Effect, Literal, Operator, Task, Variable
from tokenworld.session.solving import builder

compiled = pytest.mark.skipif(not available(), reason="numba is not installed")
SIZES = ([1, 2, 3, 5, 8], [2] * 30, [700, 2, 2, 40], [9, 1, 17, 33, 2, 2, 64], [5] * 40)


def literals(random: Random, sizes: list[int], most: int) -> tuple[Literal, ...]:
    """Some literals: of one value, of several, of all; now and then of none."""
    found = []
    for variable in sorted(random.sample(range(1, len(sizes)), random.randint(0, most))):
        many = random.choice(
            (1, 1, 1, sizes[variable] // 2, sizes[variable], random.random() > 0.1)
        )
        found.append((variable, tuple(sorted(random.sample(range(sizes[variable]), int(many))))))
    return tuple(found)


def task(random: Random, sizes: list[int], operators: int) -> Task:
    """A random task; variable 0 is the token, which stays where it is."""
    variables = tuple(Variable(f"v{n}", "slot", tuple(range(k)), 0) for n, k in enumerate(sizes))

    def effect() -> Effect:
        variable = random.randrange(1, len(sizes))
        conditions = literals(random, sizes, 1) if random.random() < 0.2 else ()
        return Effect(conditions, variable, random.randrange(sizes[variable]))

    most = min(3, len(sizes) - 1)
    rows = tuple(
        Operator(f"o{n}", literals(random, sizes, most), tuple(effect() for _ in range(2)))
        for n in range(operators)
    )
    return Task(variables, rows, ())


def world_of(made: Task) -> Packed:
    """A packed world of which only the operators are looked at."""
    taxi = bundled("taxi/world")
    found = packed(taxi.simulator, taxi.state, None)
    assert found is not None
    packing = Packing(made.variables)
    numbers = tuple(range(len(made.operators)))
    return replace(
        found, task=made, packing=packing, token=0, numbers=numbers, ways=(),
        start=0,
    )  # fmt: skip


def states_of(random: Random, packing: Packing, count: int) -> list[int]:
    """Random states between two ticks: the token is where it was."""
    sizes = packing.sizes[1:]
    return [packing.pack((0, *(random.randrange(size) for size in sizes))) for _ in range(count)]


@pytest.mark.parametrize("operators", [0, 1, 64, 65, 400])
@pytest.mark.parametrize("case", range(len(SIZES)))
def test_trees_list_what_the_tests_tell(case: int, operators: int) -> None:
    random = Random(f"trees {case} {operators}")
    made = task(random, [2, *SIZES[case]], operators)
    packing = Packing(made.variables)
    steps = [packing.step(one) for one in made.operators]
    choose = successor_generator(
        packing, [one.precondition for one in made.operators], range(operators)
    )
    for state in states_of(random, packing, 60):
        expected = [number for number, step in enumerate(steps) if step.test.holds(state)]
        assert sorted(choose(state)) == expected


@compiled
@pytest.mark.parametrize("operators", [0, 1, 64, 65, 400])
@pytest.mark.parametrize("case", range(len(SIZES)))
def test_masks_list_what_the_tests_tell(case: int, operators: int) -> None:
    import numpy as np

    from tokenworld.planning.search.compiled.kernel import follow_many, follow_one

    random = Random(f"masks {case} {operators}")
    made = task(random, [2, *SIZES[case]], operators)
    world = world_of(made)
    tables = Tables.of(world, to_goal=True)
    assert tables is not None
    steps = [world.packing.step(one) for one in made.operators]
    states = states_of(random, world.packing, 60)
    words = [[state >> 64 * w & (1 << 64) - 1 for w in range(tables.width)] for state in states]
    rows, kinds = np.array(words, np.uint64), np.zeros(len(states), np.uint8)
    kinds[7] = 2
    follow = follow_one if tables.width == 1 else follow_many
    head, found = 0, list[tuple[int, int, int]]()
    listing = SuccessorList(tables)
    while head < len(states):
        many, after = follow(rows, kinds, head, len(states), 1 << 2, listing.arrays, tables.arrays)
        assert after > head
        listed, numbers, heads = listing.arrays[:3]
        found += [(int(heads[i]), int(numbers[i]), joined(listed[i])) for i in range(many)]
        head = after
    assert sorted(found) == [
        (place, number, step.after(state))
        for place, state in enumerate(states)
        for number, step in enumerate(steps)
        if place != 7 and step.test.holds(state)
    ]


@compiled
def test_lists_that_are_short_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_module, "_LISTED", 64)
    test_graphs_are_stopped_after_the_same_node(monkeypatch)


@compiled
def test_graphs_are_stopped_after_the_same_node(monkeypatch: pytest.MonkeyPatch) -> None:
    world = sokoban()
    small = packed(world.simulator, world.state, None)
    assert small is not None
    tables = compiled_tables(small)
    assert tables is not None
    build = builder(world.simulator, small, world.state)
    rest = build, world.simulator.successors, None
    for states in (1, 2, 3, 5, 8, 13, 40, 41, 42, 43, 100, 257, 258):
        one = explore_packed(small, *rest, Limits(states=states), past_goal=True)
        two = explore_compiled(small, tables, *rest, Limits(states=states), past_goal=True)
        assert one.keys == two.keys
        assert (one.expanded, one.edges, one.limit) == (two.expanded, two.edges, two.limit)
        assert one.arrows == two.arrows
        assert (one.places, one.depth) == (two.places, two.depth)


@compiled
@pytest.mark.parametrize("seed", range(6))
def test_distances_back_are_those_of_plain_python(seed: int) -> None:
    """Graphs with a hub: more edges lead to it than are copied at once."""
    import numpy as np

    from tokenworld.planning.space.dead_ends import distances
    from tokenworld.planning.space.kernels import nearest, turned_around

    random = Random(f"back {seed}")
    size, expanded = 300 * seed + 5, 280 * seed + 4
    rows = [
        [random.choice((seed, random.randrange(size))) for _ in range(random.randint(0, 4))]
        for _ in range(expanded)
    ]
    sources: list[list[int]] = [[] for _ in range(size)]
    for node, row in enumerate(rows):
        for target in row:
            sources[target].append(node)
    wanted = [node for node in range(size) if random.random() < 0.01] or [seed]
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    targets = np.array([target for row in rows for target in row], np.uint32)
    begins, found = turned_around(ends, targets, size)
    back = [found[begins[node] : begins[node + 1]].tolist() for node in range(size)]
    assert back == sources
    marked = np.zeros(size, np.uint8)
    marked[wanted] = 1
    assert nearest(begins, found, marked).tolist() == distances(sources, wanted).tolist()
    assert max(map(len, sources)) > 64 or seed < 2


# ---- what is kept of the compiler's work --------------------------------------------------------


@compiled
def test_what_was_compiled_counts_as_long_as_nothing_that_it_calls_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tokenworld.planning.search.compiled import kernel

    file = tmp_path / "adding.py"
    file.write_text(
        "from tokenworld.planning.search.compiled.kernel import compiled\n"
        "@compiled\ndef more(one):\n    return one + 1\n"
    )

    def taken_from_disk() -> int:
        spec = spec_from_file_location("adding", file)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.more(1) == 2
        return sum(module.more.stats.cache_hits.values())

    assert [taken_from_disk(), taken_from_disk()] == [0, 1]
    monkeypatch.setattr(kernel, "_sources", lambda: "others")
    assert [taken_from_disk(), taken_from_disk()] == [0, 1]


@compiled
def test_what_ends_a_long_action_is_not_what_costs() -> None:
    """A command that breaks off a long action costs what it does, compiled as in Python."""
    for seed in (6, 29, 49, 53, 56):
        world = random_world(seed)
        small = packed(world.simulator, world.state, None)
        assert small is not None
        assert small.prices is not None
        assert small.breaks is not None
        random = Random(seed)
        dear = replace(small, prices=tuple(random.randint(1, 9) for _ in small.prices))
        tables = Tables.of(dear, to_goal=True)
        assert tables is not None
        one = PackedAStar(world.simulator, dear, world.state).run(Limits(states=3_000))
        two = CompiledAStar(world.simulator, dear, world.state, tables).run(Limits(states=3_000))
        assert isinstance(one, Found)
        assert isinstance(two, Found)
        assert (one.cost, len(one.steps), one.states) == (two.cost, len(two.steps), two.states)
