"""Packed states: the same graph as the interpreter's, node by node, edge by edge."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_random import CHANGES, CONDITIONS, VOCABULARY, random_world
from lower_worlds import Opened, bundled, opened
from sokoban import sokoban

from tokenworld.check import check_source
from tokenworld.diagnostics import Source, has_errors
from tokenworld.planning.search.interpreted import Limits
from tokenworld.planning.search.packed.lowered import packed
from tokenworld.planning.space.dead_ends import partition
from tokenworld.planning.space.graph import explore
from tokenworld.planning.space.packed_graph import explore_packed
from tokenworld.session.solving import builder

WORLDS = (
    "blocks/world", "taxi/world", "cellar/world", "cellar/twin", "greenhouse/world",
    "greenhouse/scarce", "skirmish/world", "skirmish/twin", "workshop/world", "workshop/twin",
)  # fmt: skip
LEFT_OUT = ("chance", "pick ")
"""What makes a world one that cannot be packed."""

WARD = """
enum Lock { open, closed }
type Room { lock: Lock = closed }  type Hero { at: Room  bag: 0 to 2 = 0 }
actor me: Hero
relation door(a: Room, b: Room)
relation seen(r: Room)
action go(r: Room) { require door(me.at, r)  require r.lock == open or me.bag > 0  me.at = r
                     if not seen(r) { add seen(r) } else { me.bag = 0 } }
action take(r: Room) { require me.at == r  require me.bag < 2  me.bag += 1 }
action switch() { for r: Room where door(me.at, r) { if r.lock == open { r.lock = closed }
                  else { r.lock = open } } }
world w { object a, b, c: Room  object hero: Hero { at = a }
          setup { add door(a, b)  add door(b, c)  add door(c, a) }
          goal both: seen(b) and seen(c) and hero.bag == 2
          goal home: hero.at == a and a.lock == open and seen(c) }
"""


def rule(random: Random, number: int) -> str:
    conditions = [one for one in CONDITIONS if not any(word in one for word in LEFT_OUT)]
    numbers = ("x.n", "f()", "g(x)", "1", "q", "total()", "f() mod 2", "max(f(), 1)")
    changes = [one for one in CHANGES if not any(word in one for word in LEFT_OUT)]
    text = " ".join(random.choice(changes) for _ in range(random.randint(1, 2)))
    while "{number}" in text or "{condition}" in text or "{change}" in text:
        text = text.replace("{number}", random.choice(numbers), 1)
        text = text.replace("{condition}", random.choice(conditions), 1)
        text = text.replace("{change}", random.choice(changes[:10]), 1)
    guard = f"require {random.choice(conditions)}" if random.random() < 0.6 else ""
    return f"action act{number}(x: {random.choice(['Thing', 'Box'])}) {{ {guard} {text} }}"


def random_text(seed: int) -> str:
    """A world of commands only, with the vocabulary of the random worlds of the encoding."""
    random = Random(f"packed {seed}")
    text = VOCABULARY.replace("phase one  phase two", "")
    for blank, values in (
        ("size", "12"), ("clamped", ("", " clamped")), ("b", ("true", "false")),
        ("m", ("low", "mid")), ("unique", ("", " unique")), ("kind", ("", " symmetric")),
    ):  # fmt: skip
        text = text.replace("{" + blank + "}", random.choice(values))
    stub = (
        "world w { object hall: Room  object hero: Hero { at = hall }\n"
        "object box: Box { at = hall }\n"
        f"goal z: {random.choice(CONDITIONS[:6]).replace('x', 'box').replace('me', 'hero')} }}"
    )
    for number in range(random.randint(2, 3)):
        made = rule(random, number)
        while has_errors(check_source(Source("r.tw", None, f"{text}\n{made}\n{stub}")).diagnostics):
            made = rule(random, number)
        text += f"\n{made}"
    return f"{text}\n{stub}"


def agree(world: Opened, goal: str | None = None) -> bool:
    """Whether the world could be packed; if so, its two graphs are held equal."""
    small = packed(world.simulator, world.state, goal)
    if small is None:
        return False
    build = builder(world.simulator, small, world.state)
    two = explore(world.simulator, world.state, goal, Limits(states=2_000))
    if two.limit is not None:
        return False
    one = explore_packed(small, build, world.simulator.successors, goal, Limits(states=20_000))
    assert one.limit is None
    assert [world.simulator.key(state) for state in one.states] == [
        world.simulator.key(state) for state in two.states
    ]
    assert list(one.moves) == list(two.moves)
    assert list(one.ways) == list(two.ways)
    assert (one.won, one.lost, one.edges) == (two.won, two.lost, two.edges)
    assert (one.depth, one.parents) == (two.depth, two.parents)
    for node in one.nodes():
        assert list(one.outcomes(node)) == list(two.outcomes(node))
        assert list(one.actions(node)) == list(two.actions(node))
        assert one.targets(node) == two.targets(node)
        assert one.choices(node) == two.choices(node)
        assert one.states[node].latched == two.states[node].latched
        assert one.states[node].tick == two.states[node].tick
        assert one.states[node].longs == two.states[node].longs
    parts, others = partition(one), partition(two)
    assert (parts.places, parts.distance, parts.closed) == (
        others.places, others.distance, others.closed
    )  # fmt: skip
    assert (parts.solutions, parts.branching) == (others.solutions, others.branching)
    assert one.path(len(one) - 1) == two.path(len(two) - 1)
    return True


@pytest.mark.parametrize("name", WORLDS)
def test_bundled_worlds(name: str) -> None:
    assert agree(bundled(name))


def test_functions_references_and_conditional_effects() -> None:
    assert agree(opened(WARD))


@pytest.mark.parametrize("goal", ["both", "home"])
def test_one_goal_of_several(goal: str) -> None:
    assert agree(opened(WARD), goal)


def test_an_imported_world() -> None:
    world = sokoban()
    assert agree(world)
    small = packed(world.simulator, world.state, None)
    assert small is not None


def test_random_worlds_of_commands() -> None:
    done = sum(agree(opened(random_text(seed))) for seed in range(24))
    assert done >= 12


@pytest.mark.parametrize("first", range(0, 30, 10))
def test_random_worlds_with_laws(first: int) -> None:
    done = sum(agree(random_world(seed)) for seed in range(first, first + 10))
    assert done >= 6


MORE = [
    "law rust(r: Room) when r.lock == open { r.lock = closed }",
    "law tire() when me.bag == 2 { me.bag = 1 }  law rest() { me.bag = min(me.bag, 1) }",
    "phase a phase b law one() during a { me.bag = 0 } law two() during b { add seen(me.at) }",
    "law night() when tick() mod 3 == 0 { me.bag = 0 }",
    "law slip() { me.bag = if was me.bag == 1 then 2 else me.bag }",
    "law deed(r: Room) when did(me, take) { add seen(me.at) }",
    "law brim() { me.bag += 1 }",
    "action wait() takes 3 { add seen(me.at) }",
    "action dig() takes 3 { require me.bag > 0  add seen(me.at) cancelled { me.bag = 0 } }",
    "action hum() takes 2 { require me.bag == 1 me.bag = 2 } law drop() { me.bag = 0 }",
    'action look() takes 0 { say "Dark." }',
    "action fill_up() takes 0 { require me.bag == 0  me.bag = 2 }",
    "invariant light(h: Hero): h.bag < 2",
    "invariant shut(r: Room): r.lock == closed or me.bag == 0",
    'watch news(r: Room) when seen(r) { say "New." }',
]


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("goal", [None, "home"])
def test_a_tick_that_is_more_than_a_command(more: str, goal: str | None) -> None:
    assert agree(opened(WARD.replace("world w", f"{more}\nworld w")), goal)


LUCK = [
    "action toss() { chance 50% { me.bag = 0 } }",
    "action guess() { chance 50% { me.bag += 1 } or 20% { me.bag = 0 } }",
    "action pick_up() { pick r: Room where not seen(r) { add seen(r) } else { me.bag = 0 } }",
    'action roll() takes 0 { chance 10% { say "Six." } else { me.bag = 0 } }',
    "law dice() { chance 10% { me.bag = 0 } }",
    "law wind(r: Room) when seen(r) { chance 30% { r.lock = open } or 30% { r.lock = closed } }",
    "phase a phase b law one() during a { chance 50% { me.bag = 0 } } "
    "law two(r: Room) during b when me.bag == 0 { pick x: Room { x.lock = open } }",
    "law brim() { chance 50% { me.bag += 1 } }",
]


@pytest.mark.parametrize("more", LUCK)
def test_luck(more: str) -> None:
    assert agree(opened(WARD.replace("world w", f"{more}\nworld w")))


@pytest.mark.parametrize(
    "more",
    [
        "action nap() takes 2 { chance 50% { me.bag = 0 } }",
        "action think() { let x = uniform(0, 1) if x < 0.5 { me.bag = 0 } }",
    ],
)
def test_what_is_left_to_the_interpreter(more: str) -> None:
    world = opened(WARD.replace("world w", f"{more}\nworld w"))
    assert packed(world.simulator, world.state, None) is None


def loose(key: object) -> object:
    """A search key without the order of contents."""
    assert isinstance(key, tuple)
    return tuple(
        tuple(tuple(sorted(one, key=repr)) if isinstance(one, tuple) else one for one in part)
        if isinstance(part, tuple)
        else part
        for part in key
    )


@pytest.mark.parametrize("name", ["cottage/world", "cottage/twin"])
def test_the_order_of_contents_is_left_out(name: str) -> None:
    world = bundled(name)
    simulator, small = world.simulator, packed(world.simulator, world.state, None)
    assert small is not None
    build = builder(simulator, small, world.state)
    graph = explore_packed(small, build, simulator.successors, None, Limits(states=3_000))
    for node in range(0, graph.expanded, 20):
        state = graph.states[node]
        found = [
            (command, [loose(simulator.key(one.state)) for one in successors])
            for command in simulator.commands(state)
            if (successors := simulator.successors(state, command))
        ]
        moves = [] if graph.won[node] or graph.lost[node] else graph.moves[node]
        assert [(one.command, [loose(simulator.key(graph.states[at])) for at in one.targets])
                for one in moves] == ([] if not moves else found)  # fmt: skip


@pytest.mark.parametrize("line", ["lose robbed: hero.bag == 2", "award 1 when seen(b)"])
def test_other_ends_than_the_goal(line: str) -> None:
    world = opened(WARD.replace("goal both", f"{line}\n          goal both"))
    assert agree(world)
    small = packed(world.simulator, world.state, None)
    assert small is not None
    assert not small.plain


def test_limits_are_told() -> None:
    world = bundled("taxi/world")
    small = packed(world.simulator, world.state, None)
    assert small is not None
    build = builder(world.simulator, small, world.state)
    graph = explore_packed(small, build, world.simulator.successors, None, Limits(states=10))
    assert graph.limit == "states"
    assert not graph.complete
    assert graph.expanded < len(graph)
    assert (
        explore_packed(small, build, world.simulator.successors, None, Limits(memory=1)).limit
        == "memory"
    )
