"""Packed states: the same graph as the interpreter's, node by node, edge by edge."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_random import CHANGES, CONDITIONS, VOCABULARY
from lower_worlds import Opened, bundled, opened
from sokoban import DOMAIN, problem

from tokenworld.check import check_source
from tokenworld.diagnostics import Source, has_errors
from tokenworld.planning.reader import import_pddl
from tokenworld.planning.search import Limits
from tokenworld.planning.space.graph import explore
from tokenworld.planning.space.packed_graph import explore_packed
from tokenworld.planning.space.partition import partition
from tokenworld.planning.space.whole import packed
from tokenworld.session.exploring import builder

WORLDS = ("blocks/world", "taxi/world")
LEFT_OUT = ("tick()", "chance", "pick ", "destroy")
"""What makes a world one that cannot be packed, or a state space too large."""

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


def agree(world: Opened) -> bool:
    """Whether the world could be packed; if so, its two graphs are held equal."""
    small = packed(world.simulator, world.state, None)
    if small is None:
        return False
    build = builder(world.simulator, world.state)
    one = explore_packed(small, build, None, Limits(states=20_000))
    two = explore(world.simulator, world.state, None, Limits(states=20_000))
    assert one.limit == two.limit is None
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
        assert one.states[node].tick - world.state.tick == one.depth[node]
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


def test_one_goal_of_several_is_left_to_the_interpreter() -> None:
    world = opened(WARD)
    assert packed(world.simulator, world.state, "home") is None


@pytest.mark.parametrize("rows", [["#######", "#@ $ .#", "# $ . #", "#######"]])
def test_an_imported_world(rows: list[str]) -> None:
    sources = Source("d.pddl", None, DOMAIN), Source("p.pddl", None, problem(rows))
    world = opened(import_pddl(sources[0], (sources[1],)).text)
    assert agree(world)
    small = packed(world.simulator, world.state, None)
    assert small is not None
    assert small.switch.most < len(small.steps) / 4  # filed under the place of the man


def test_random_worlds() -> None:
    done = sum(agree(opened(random_text(seed))) for seed in range(24))
    assert done >= 12


@pytest.mark.parametrize(
    "more",
    [
        "law rust(r: Room) when r.lock == open { r.lock = closed }",
        "action wait() takes 3 { add seen(me.at) }",
        'action look() takes 0 { say "Dark." }',
        "action toss() { chance 50% { me.bag = 0 } }",
        "action roll() { chance 0% { me.bag = 0 } }",
        "invariant light(h: Hero): h.bag < 2",
        'watch news(r: Room) when seen(r) { say "New." }',
    ],
)
def test_a_tick_that_is_more_than_a_command_is_not_packed(more: str) -> None:
    world = opened(WARD.replace("world w", f"{more}\nworld w"))
    assert packed(world.simulator, world.state, None) is None


@pytest.mark.parametrize("line", ["lose robbed: hero.bag == 2", "award 1 when seen(b)"])
def test_other_ends_than_the_goal_are_not_packed(line: str) -> None:
    world = opened(WARD.replace("goal both", f"{line}\n          goal both"))
    assert packed(world.simulator, world.state, None) is None


def test_limits_are_told() -> None:
    world = bundled("taxi/world")
    small = packed(world.simulator, world.state, None)
    assert small is not None
    build = builder(world.simulator, world.state)
    graph = explore_packed(small, build, None, Limits(states=10))
    assert graph.limit == "states"
    assert not graph.complete
    assert graph.expanded < len(graph)
    assert explore_packed(small, build, None, Limits(memory=1)).limit == "memory"
    assert explore_packed(small, build, None, Limits(), cancel=lambda: True).limit == "cancelled"
