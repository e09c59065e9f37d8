"""Grounding by generated joins has all that play can meet, and little else."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from grounding_worlds import adl, facts_of, first_goal, grounded, strips, unmet
from lower_random import random_world
from lower_worlds import Opened, bundled, opened
from sokoban import sokoban

from tokenworld.diagnostics import Source
from tokenworld.ground import Command
from tokenworld.planning.grounding.reach import reached
from tokenworld.planning.grounding.rules import Ungroundable
from tokenworld.planning.grounding.task import GroundTask, plain_task
from tokenworld.planning.lower.encode import Encoding, Unencodable, encode
from tokenworld.planning.reader import import_pddl
from tokenworld.planning.search.packed.lowered import packed
from tokenworld.planning.search.packed.world import Packed
from tokenworld.planning.task import Task

DOMAINS = Path(__file__).parents[2] / "domains"
WORLDS = sorted(
    path.relative_to(DOMAINS).with_suffix("").as_posix()
    for path in DOMAINS.rglob("*.tw")
    if "\nworld " in path.read_text("utf-8")
)
MAKING = (
    "boil_water/world", "crafter/duels", "crafter/rules", "crafter/small_duels", "crafter/world",
    "dishwasher/world",
    "textgames/boil-water/world",
    "textgames/clean-energy/world", "textgames/dishwasher/world", "textgames/make-ice-cubes/world",
    "textgames/mix-paint/world", "textgames/plant-tree/world", "textgames/volume-container/world",
    "textgames/volume-stone/world", "textgames/wash-clothes/world",
)  # fmt: skip
GRIPPER = """
relation at(b: Ball, r: Room)  relation at_robby(r: Room)  relation free(g: Gripper)
relation carry(b: Ball, g: Gripper)  type Room  type Ball  type Gripper
action move(a: Room, b: Room) { require at_robby(a)  remove at_robby(a)  add at_robby(b) }
action pick(o: Ball, r: Room, g: Gripper) {
  require at(o, r)  require at_robby(r)  require free(g)
  add carry(o, g)  remove at(o, r)  remove free(g)
}
action put(o: Ball, r: Room, g: Gripper) {
  require carry(o, g)  require at_robby(r)
  add at(o, r)  add free(g)  remove carry(o, g)
}
world w {
  object here: Room  object there: Room  object far: Room  object b1: Ball  object b2: Ball
  object left: Gripper  object right: Gripper
  setup { add at_robby(here)  add free(left)  add free(right)  add at(b1, here)  add at(b2, here) }
  goal done: at(b1, there) and at(b2, far)
}
"""


def plain_worlds() -> dict[str, Opened]:
    return {"gripper": opened(GRIPPER), "sokoban": sokoban()}


# ---- nothing is missing -------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in WORLDS if name not in MAKING])
def test_play_meets_nothing_else(name: str) -> None:
    assert list(dict.fromkeys(unmet(bundled(name), 60))) == []


@pytest.mark.parametrize("name", MAKING)
def test_what_play_makes_is_not_grounded(name: str) -> None:
    with pytest.raises(Ungroundable, match="objects that do not exist yet"):
        grounded(bundled(name))


@pytest.mark.parametrize("seed", range(40))
def test_random_play_meets_nothing_else(seed: int) -> None:
    assert list(dict.fromkeys(unmet(random_world(seed), 80))) == []


def test_facts_are_found_without_a_list_of_them() -> None:
    world = bundled("cellar/world")
    listed, read = (reached(facts_of(world, listed=one)) for one in (True, False))
    assert listed.commands == read.commands
    assert listed.facts == read.facts


# ---- little else is there -----------------------------------------------------------------------


def commands(text: str) -> list[str]:
    world = opened(text)
    names = world.instance.names
    return [f"{one.action} {' '.join(names[arg] for arg in one.args)}".strip()  # type: ignore[index]
            for one in grounded(world).commands]  # fmt: skip


def test_numbers_are_ranges() -> None:
    text = """
    type Thing { n: 0 to 100 = 3 }
    action less(x: Thing) {{ require x.n >= 1  x.n -= 1 }}
    action high(x: Thing) {{ require x.n > {bound} }}
    world w {{ object a: Thing  goal g: a.n == 0 }}
    """.replace("type Thing { n: 0 to 100 = 3 }", "type Thing {{ n: 0 to 100 = 3 }}")
    assert commands(text.format(bound=3)) == ["less a"]
    assert commands(text.format(bound=2)) == ["less a", "high a"]


def test_a_reference_is_followed() -> None:
    text = """
    type Room { next: Room? }  type Hero { at: Room? }  actor me: Hero
    action go() { require me.at.next != none  me.at = me.at.next }
    action look(r: Room) { require me.at == r }
    world w {
      object a: Room  object b: Room  object c: Room  object h: Hero
      setup { a.next = b  h.at = a }
      goal g: h.at == b
    }
    """
    assert commands(text) == ["go", "look a", "look b"]


def test_what_a_law_makes_true_counts_and_what_must_not_be_is_not_asked() -> None:
    text = """
    type Lamp { lit: bool  hot: bool }
    law glow(l: Lamp) when l.lit { l.hot = true }
    action light(l: Lamp) { require not l.lit  l.lit = true }
    action touch(l: Lamp) { require l.hot and not l.lit }
    world w { object a: Lamp  object b: Lamp  goal g: a.hot }
    """
    assert commands(text) == ["light a", "light b", "touch a", "touch b"]


def test_a_static_fact_that_must_not_hold_is_asked() -> None:
    text = """
    type T  relation wet(x: T)  relation dry(x: T)
    action soak(x: T) { require not dry(x)  add wet(x) }
    world w { object a: T  object b: T  setup { add dry(b) }  goal g: wet(a) }
    """
    assert commands(text) == ["soak a"]


def test_what_cannot_be_judged_is_told() -> None:
    text = """
    type T { n: 0 to 9 }
    action odd(x: T) { require x.n mod 2 == 1  x.n += 1 }
    world w { object a: T  goal g: a.n == 5 }
    """
    found = grounded(opened(text))
    assert found.commands == (Command("odd", (0,)),)
    assert [what for what, _ in found.loose] == ["condition on `==`"]


def test_more_than_twenty_loops() -> None:
    """Python itself nests no more than twenty."""
    params = ", ".join(f"x{number}: T" for number in range(24))
    chain = "".join(f"  require r(x{number}, x{number + 1})\n" for number in range(23))
    text = f"""
    type T  relation r(x: T, y: T)  relation done(x: T)
    action long({params}) {{
    {chain}  add done(x0)
    }}
    world w {{ object a: T  object b: T  setup {{ add r(a, a)  add r(a, b) }}  goal g: done(a) }}
    """
    assert len(commands(text)) == 2


# ---- too much -----------------------------------------------------------------------------------

MANY = """
type T  relation p(x: T)
action mark(a: T, b: T, c: T) { add p(a) }
world w { object {objects}: T  goal g: p(o0) }
"""


def many(count: int) -> Opened:
    objects = ", ".join(f"o{number}" for number in range(count))
    return opened(MANY.replace("{objects}", objects))


def test_a_rule_with_too_many_bindings_is_refused_before_it_is_made() -> None:
    with pytest.raises(Ungroundable, match="a rule with 1,000,000 bindings"):
        reached(facts_of(many(100)), most=999_999)


def test_too_many_ground_rules_are_refused_on_the_way() -> None:
    with pytest.raises(Ungroundable, match="more than 200 ground rules"):
        reached(facts_of(opened(WALK)), most=200)


WALK = f"""
type T  relation at(x: T)  relation to(x: T, y: T)
action go(a: T, b: T, c: T) {{ require at(a)  require to(a, b)  require to(b, c)  add at(b) }}
world w {{
  object {", ".join(f"o{number}" for number in range(300))}: T
  setup {{ add at(o0)  for x: T, y: T where id(y) == id(x) + 1 {{ add to(x, y) }} }}
  goal g: at(o9)
}}
"""


# ---- plain worlds -------------------------------------------------------------------------------


def told(task: Task) -> tuple[frozenset[object], ...]:
    """A task by names, whatever the order of its parts."""

    def literals(every: object) -> frozenset[object]:
        return frozenset(
            (task.variables[number].name, tuple(task.variables[number].values[p] for p in places))
            for number, places in every  # type: ignore[attr-defined]
        )

    operators = frozenset(
        (
            one.command,
            literals(one.precondition),
            frozenset(
                (
                    literals(e.conditions),
                    task.variables[e.variable].name,
                    task.variables[e.variable].values[e.value],
                )
                for e in one.effects
            ),
            one.cost,
        )
        for one in task.operators
    )
    variables = frozenset(
        (one.name, one.kind, frozenset(one.values), one.values[one.initial], one.fluent, one.args)
        for one in task.variables
    )
    return variables, literals(task.goal), operators


def encoded(
    world: Opened, monkeypatch: pytest.MonkeyPatch, *, grouped: bool
) -> list[Encoding | Unencodable]:
    """Encoding E of a plain world straight from its ground actions, and the general way."""
    module = sys.modules["tokenworld.planning.lower.encode"]
    asked = world.instance, world.simulator, world.state, None
    found = [encode(*asked, grouped=grouped)]
    with monkeypatch.context() as patch:
        patch.setattr(module, "plain_encoding", lambda *_, grouped: None)
        found.append(encode(*asked))
    return found


def both_packed(world: Opened, monkeypatch: pytest.MonkeyPatch) -> list[Packed]:
    """The packed states of a plain world straight from its ground actions, and the general way."""
    module = sys.modules["tokenworld.planning.search.packed.lowered"]
    found = [packed(world.simulator, world.state, None)]
    with monkeypatch.context() as patch:
        patch.setattr(module, "plain_packed", lambda *_: None)
        found.append(packed(world.simulator, world.state, None))
    return [one for one in found if one is not None]


@pytest.mark.parametrize("name", plain_worlds())
def test_plain_worlds_are_encoded_as_the_general_way_encodes_them(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = plain_worlds()[name]
    assert plain_task(facts_of(world), grounded(world), first_goal(world)) is not None
    quick, general = encoded(world, monkeypatch, grouped=False)
    assert isinstance(quick, Encoding)
    assert isinstance(general, Encoding)
    assert told(quick.task) == told(general.task)
    grouped = encode(world.instance, world.simulator, world.state, None)
    assert isinstance(grouped, Encoding)
    assert plan_length(grouped.task) == plan_length(general.task)


@pytest.mark.parametrize("name", plain_worlds())
def test_plain_worlds_are_packed_as_the_general_way_packs_them(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick, general = both_packed(plain_worlds()[name], monkeypatch)
    assert layers(quick, 12) == layers(general, 12)
    assert quick.packing.width <= general.packing.width


@pytest.mark.slow
def test_random_plain_worlds_are_what_the_general_way_makes_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Parameters may be one object, facts may share a variable or be missing, and what does not
    matter for the goal is left out."""
    met = Counter[str]()
    for seed in range(120):
        world = opened(strips(seed))
        quick, general = encoded(world, monkeypatch, grouped=True)
        assert isinstance(quick, Encoding)
        assert isinstance(general, Encoding)
        assert plan_length(quick.task) == plan_length(general.task)
        small, large = both_packed(world, monkeypatch)
        assert layers(small, 6, to_goal=True) == layers(large, 6, to_goal=True)
        facts = sum(map(len, small.groups.values())) or len(small.task.variables) - 1
        met["cut"] += len(quick.task.variables) < facts
        met["grouped"] += len(small.task.variables) - 1 < facts
        met["of several facts"] += any(one.kind == "group" for one in quick.task.variables)
    assert met["cut"] > 50, met
    assert met["grouped"] >= 5, met
    assert met["of several facts"] >= 3, met


def conditions_met(seeds: range, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many random worlds have what; each is encoded as the general way encodes it."""
    met = Counter[str]()
    for seed in seeds:
        world = opened(adl(seed))
        made = plain_task(facts_of(world), grounded(world), first_goal(world))
        assert made is not None, adl(seed)
        quick, general = encoded(world, monkeypatch, grouped=seed % 2 == 0)
        assert isinstance(quick, Encoding)
        assert isinstance(general, Encoding)
        length = plan_length(general.task)
        assert plan_length(quick.task) == length, adl(seed)
        met["reached"] += bool(length)
        met["with conditions"] += any(one[7] for one in made.operators)
        met["of several ways"] += len({one[:2] for one in made.operators}) < len(made.operators)
        met["won in several ways"] += len(made.goals) > 1 and bool(length)
    return met


def test_random_worlds_with_conditions_are_encoded_as_the_general_way_encodes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Conditions over facts decide which actions can be done, what they change, what is won."""
    met = conditions_met(range(25), monkeypatch)
    assert met["with conditions"] > 2, met
    assert met["reached"] > 2, met


@pytest.mark.slow
def test_more_random_worlds_with_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    met = conditions_met(range(25, 325), monkeypatch)
    assert met["reached"] > 30, met
    assert met["with conditions"] > 50, met
    assert met["of several ways"] > 20, met
    assert met["won in several ways"] > 0, met


def plan_length(task: Task) -> int | None:
    """How many commands lead to the goal; ``None`` where none do. Other operators end a plan."""
    layer, seen, depth = [task.initial], {task.initial}, 0
    commands = [one for one in task.operators if one.command is not None]
    ends = [task.goal, *(one.precondition for one in task.operators if one.command is None)]
    while layer:
        if any(task.holds(state, end) for state in layer for end in ends):
            return depth
        after = (
            task.apply(state, one)
            for state in layer
            for one in commands
            if task.holds(state, one.precondition)
        )
        layer = [one for one in dict.fromkeys(after) if one not in seen]
        seen.update(layer)
        depth += 1
    return None


def test_too_many_operators_are_not_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = sokoban()
    assert packed(world.simulator, world.state, None) is not None
    module = sys.modules["tokenworld.planning.search.packed.lowered"]
    monkeypatch.setattr(module, "_MOST_OPERATORS", 10)
    assert packed(world.simulator, world.state, None) is None


def layers(world: Packed, depth: int, *, to_goal: bool = False) -> list[frozenset[object]]:
    """The states of each depth, by what they hold, with what can be done there; ``to_goal``: what
    can be done where the goal is reached is no matter."""
    found, layer, seen = list[frozenset[object]](), [world.start], {world.start}
    for _ in range(depth):
        found.append(frozenset(_shown(world, state, to_goal) for state in layer))
        layer = [one for one in layer if not (to_goal and world.ends(one))]
        after = [s for state in layer for _, s in world.moves(state) if s not in seen]
        layer = list(dict.fromkeys(after))
        seen.update(layer)
    return found


def _shown(world: Packed, state: int, to_goal: bool) -> tuple[object, ...]:
    slots = frozenset(one for one in world.slots(state) if one[2])
    over = to_goal and world.ends(state)
    doings = () if over else tuple(world.commands[number] for number, _ in world.moves(state))
    return slots, doings, world.ends(state)


def test_at_most_one_fact_of_a_group_holds() -> None:
    for world in plain_worlds().values():
        made = plain_task(facts_of(world), grounded(world), first_goal(world), whole=True)
        assert made is not None
        assert max(map(len, made.variables)) > 2
        for state in _states(world):
            held = {
                fact for group in made.variables for fact in group if _holds(world, state, fact)
            }
            assert all(len(held.intersection(group)) <= 1 for group in made.variables)


def _holds(world: Opened, state: object, fact: tuple[str, tuple[object, ...]]) -> bool:
    return world.simulator.read(state, *fact) is True  # type: ignore[arg-type]


def _states(world: Opened) -> Iterator[object]:
    seen, waiting = {world.simulator.key(world.state)}, [world.state]
    for state in waiting:
        yield state
        for command in world.simulator.commands(state):
            for one in world.simulator.successors(state, command):
                if world.simulator.key(one.state) not in seen and len(seen) < 200:
                    seen.add(world.simulator.key(one.state))
                    waiting.append(one.state)


def test_what_an_action_gives_back_is_not_taken_away() -> None:
    """`channel` is needed, freed and kept: it makes no group with what was sent."""
    text = """
    type T  relation sent(x: T)  relation channel()
    action send(x: T) { require channel()  remove channel()  add channel()  add sent(x) }
    world w {
      object a: T  object b: T  setup { add channel() }  goal g: sent(a) and sent(b)
    }
    """
    world = opened(text)
    made = plain_task(facts_of(world), grounded(world), first_goal(world))
    assert isinstance(made, GroundTask)
    assert sorted(made.variables) == [(("sent", (0,)),), (("sent", (1,)),)]


FLOODED = """
type Room  type Thing
relation at(x: Thing, r: Room)  relation wet(r: Room)  relation gone(x: Thing)
relation next(a: Room, b: Room)
action carry(x: Thing, a: Room, b: Room) {
  require at(x, a)  require next(a, b)  require all(not wet(r) or r == a for r: Room)
  remove at(x, a)  add at(x, b)
}
action flood(r: Room) {
  require not wet(r)
  add wet(r)
  for x: Thing where at(x, r) or gone(x) { remove at(x, r)  add gone(x) }
}
world w {
  object cup: Thing  object pen: Thing  object hall: Room  object loft: Room  object cave: Room
  setup { add at(cup, hall)  add at(pen, loft)  add next(hall, loft)  add next(loft, cave) }
  goal g: gone(cup) and at(pen, cave)
}
"""


def test_facts_of_a_group_are_lost_under_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thing is in one room at most, also where a loop takes it away."""
    world = opened(FLOODED)
    made = plain_task(facts_of(world), grounded(world), first_goal(world))
    assert isinstance(made, GroundTask)
    assert max(map(len, made.variables)) == 3
    quick, general = encoded(world, monkeypatch, grouped=True)
    assert isinstance(quick, Encoding)
    assert isinstance(general, Encoding)
    assert plan_length(quick.task) == plan_length(general.task) == 2
    lost = [one for one in made.operators for change in one[7] if not change[3]]
    assert len(lost) >= 6
    for state in _states(world):
        for group in made.variables:
            assert sum(_holds(world, state, fact) for fact in group) <= 1


def test_a_goal_of_two_facts_of_a_group_is_out_of_reach() -> None:
    """`lit` and `open` are one variable, which has one value at a time."""
    text = """
    type B  relation open(x: B)  relation lit(x: B)  object b: B
    action a(x: B) { require open(x)  remove open(x)  add lit(x) }
    world w { setup { add open(b) }  goal g: lit(b) and open(b) }
    """
    world = opened(text)
    made = plain_task(facts_of(world), grounded(world), first_goal(world))
    assert isinstance(made, GroundTask)
    assert not made.goals
    found = encode(world.instance, world.simulator, world.state, None)
    assert isinstance(found, Encoding)
    assert plan_length(found.task) is None


def test_a_fact_that_nothing_removes_is_never_missing() -> None:
    """What a loop over nothing removes changes never; a requirement that it is gone is not met."""
    text = """
    type B  relation free()  relation lit(x: B)  relation dark(x: B)  object b: B
    action wipe() { for x: B where dark(x) { remove free() }  add lit(b) }
    action use(x: B) { require not free()  add lit(x) }
    world w { setup { add free() }  goal g: lit(b) }
    """
    world = opened(text)
    made = plain_task(facts_of(world), grounded(world), first_goal(world))
    assert isinstance(made, GroundTask)
    assert [one[0] for one in made.operators] == ["wipe"]


# ---- beside Fast Downward -----------------------------------------------------------------------

FAMILIES = (
    "blocks", "gripper", "logistics00", "sokoban-opt08-strips", "barman-mco14-strips", "driverlog",
    "openstacks", "rovers", "zenotravel",
)  # fmt: skip
IPC = os.environ.get("TW_IPC")


@pytest.mark.skipif(IPC is None, reason="no IPC problems: name their folder with `TW_IPC`")
@pytest.mark.skipif(find_spec("fast_downward") is None, reason="its translator is not installed")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_ground_actions_are_those_of_fast_downward(family: str) -> None:
    from fast_downward.translate import instantiate, normalize, options, pddl_parser

    folder = Path(str(IPC)) / family
    domain = folder / "domain.pddl"
    path = min(one for one in folder.glob("*.pddl") if "domain" not in one.name)
    sources = [Source(str(one), None, one.read_text(encoding="utf-8")) for one in (domain, path)]
    world = opened(import_pddl(sources[0], (sources[1],)).text)
    names = world.instance.names
    ours = {
        " ".join((one.action, *(names[arg] for arg in one.args))).lower()  # type: ignore[index]
        for one in grounded(world).commands
    }
    options.set_options([str(domain), str(path)])
    task = pddl_parser.open(domain_filename=str(domain), problem_filename=str(path))
    normalize.normalize(task)
    theirs = {one.name.strip("() ").lower() for one in instantiate.explore(task)[2]}
    assert ours == theirs


LOOPS = """
type Room  type Robot
relation at(r: Robot, x: Room)  relation link(x: Room, y: Room)
action move(r: Robot, a: Room, b: Room) {
  require at(r, a)  require link(a, b)
  add at(r, b)  remove at(r, a)
}
world w {
  object a: Room  object b: Room  object c: Room  object mover: Robot  object still: Robot
  setup {
    add at(mover, a)  add at(still, c)
    add link(a, b)  add link(b, b)  add link(c, c)
  }
  goal gone: not at(mover, a) and not at(mover, b)
}
"""


def test_what_an_action_adds_it_does_not_remove() -> None:
    """Also where the fact is there before, and others of its relation never change."""
    world = opened(LOOPS)
    found = encode(world.instance, world.simulator, world.state, None)
    assert isinstance(found, Encoding)
    steps = {one.name.split(" ", 1)[1]: one for one in found.task.operators}
    there = found.task.apply(found.task.initial, steps["move(mover, a, b)"])
    again = steps.get("move(mover, b, b)")
    assert again is None or found.task.apply(there, again) == there
