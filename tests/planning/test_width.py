"""The width search: what it measures, what it finds, and that its end is still a proof."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import Opened, bundled, opened
from width_worlds import LAUNDRY, STUDIO, TEA

from tokenworld.core import lowered
from tokenworld.core.rules import Ending
from tokenworld.ground import Simulator
from tokenworld.planning.ladder import plan
from tokenworld.planning.lower.encode import Unencodable, encode
from tokenworld.planning.planners.by_name import plan_by
from tokenworld.planning.proof.certificate import certificate_from_json
from tokenworld.planning.referee import replay
from tokenworld.planning.search.interpreted import Capped, Exhausted, Found, Limits, Search
from tokenworld.planning.width.relaxed_plan import FREE, CostAlgebra, Costs, Relaxation, Way
from tokenworld.planning.width.search import LEAST_NOVEL, GoalDistance, Novel, Novelty
from tokenworld.session import Session, open_world
from tokenworld.verbs.plan.certificates import certify, check_certificate

DOMAINS = Path(__file__).parents[2] / "domains"
ROOMY = Limits(20_000, 120, 1 << 30)


def goals_of(world: Simulator) -> tuple[Ending, ...]:
    """The goal lines in core."""
    instance = world.instance
    return lowered(instance.program).worlds[instance.world.name].goals


def wide(world: Opened, goal: str | None = None):
    """The width search on a world."""
    lines = [one for one in goals_of(world.simulator) if goal in (None, one.name)]
    return Search(world.simulator, world.state, goal, frontier=Novel(world.simulator, lines))


# ---- what only it finds -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "few"),
    [(LAUNDRY, 1_500), (STUDIO, 1_200), (TEA, 2_000)],
    ids=["laundry", "studio", "tea"],
)
def test_it_finds_plans_where_nothing_else_does(text: str, few: int) -> None:
    world = opened(text)
    assert isinstance(encode(world.instance, world.simulator, world.state, None), Unencodable)
    by_length = Search(world.simulator, world.state, None).run(Limits(states=few))
    assert isinstance(by_length, Capped)
    found = wide(world).run(Limits(states=few))
    assert isinstance(found, Found)
    assert found.optimal is None
    assert len(found.steps) > 12
    assert replay(world.simulator, world.state, found.steps, None).ok


def test_the_dishwasher_is_won_and_the_certificate_holds() -> None:
    world = open_world(str(DOMAINS / "dishwasher" / "world.tw"))
    verdict = Session(world).plan(None, time_limit=60)
    assert (verdict.answer, verdict.engine) == ("winnable", "width search")
    assert verdict.ticks <= 10
    written = certify(world, verdict, 0, seconds=60)
    assert written is not None
    read = certificate_from_json(json.loads(json.dumps(written.to_json())), "c.json")
    report = check_certificate(world, read, seconds=60)
    assert (report.difference, report.unknown) == ("", "")


def test_by_name_it_answers_alone_and_its_plan_is_short() -> None:
    world = opened(STUDIO)
    verdict = plan_by(world.simulator, world.state, None, "width", seconds=60)
    assert (verdict.answer, verdict.engine, verdict.optimal) == ("winnable", "width search", None)
    assert verdict.ticks == 20
    assert [one.engine for one in verdict.attempts] == ["width search"]


def test_it_follows_luck() -> None:
    world = bundled("island/world")
    found = wide(world).run(ROOMY)
    assert isinstance(found, Found)
    assert any(step.draws for step in found.steps)
    assert replay(world.simulator, world.state, found.steps, None).ok


HEAP = """
type Stone { kept: bool }
action find() { create s: Stone { kept = false } }
action keep(s: Stone) { s.kept = true }
world w { spare Stone 2  goal heap: count(s for s: Stone where s.kept) == 3 }
"""


# ---- it leaves nothing out ----------------------------------------------------------------------


def test_what_it_says_is_what_the_exhaustive_search_says(make_random_world) -> None:
    told = set()
    for seed in range(150):
        world = make_random_world(seed)
        frontier = Novel(world, goals_of(world))
        other = Search(world, world.start(), "rich", frontier=frontier).run(Limits())
        known = Search(world, world.start(), "rich").run(Limits())
        assert type(other) is type(known)
        if isinstance(known, Exhausted):
            assert other.states == known.states
        else:
            assert replay(world, world.start(), other.steps, "rich").ok
        told.add(type(known))
    assert told == {Found, Exhausted}


def test_its_end_proves_that_there_is_no_plan() -> None:
    world = bundled("cellar/twin")
    ended = wide(world).run(ROOMY)
    known = Search(world.simulator, world.state, None).run(ROOMY)
    assert isinstance(ended, Exhausted)
    assert isinstance(known, Exhausted)
    assert ended.states == known.states
    verdict = plan_by(world.simulator, world.state, None, "width", seconds=60)
    assert (verdict.answer, verdict.claim) == ("unwinnable", "exhausted")


def test_running_out_of_spares_is_no_proof() -> None:
    world = opened(HEAP)
    verdict = plan_by(world.simulator, world.state, None, "width", seconds=60)
    assert verdict.answer == "unknown"
    assert "TW0802" in {note.code for note in verdict.notes}


@pytest.mark.parametrize(
    ("limits", "hit"),
    [
        (Limits(states=40), "states"),
        (Limits(seconds=0.0), "time"),
        (Limits(memory=1_000), "memory"),
    ],
)
def test_a_limit_is_told_and_nothing_is_proved(limits: Limits, hit: str) -> None:
    stopped = wide(opened(TEA)).run(limits)
    assert isinstance(stopped, Capped)
    assert stopped.limit == hit


def test_it_goes_on_where_it_stopped() -> None:
    world = bundled("dishwasher/world")
    search = wide(world)
    assert isinstance(search.run(Limits(states=60)), Capped)
    found, known = search.run(ROOMY), wide(world).run(ROOMY)
    assert isinstance(found, Found)
    assert found == known


def test_a_bound_on_ticks_is_left_to_the_search_by_length() -> None:
    world = opened(STUDIO)
    verdict = plan(world.simulator, world.state, None, time_limit=3, within=20)
    assert "width search" not in {one.engine for one in verdict.attempts}


# ---- novelty ------------------------------------------------------------------------------------


def test_one_new_fact_a_new_pair_and_nothing_new() -> None:
    novelty = Novelty()
    keys = [((1, 1),), ((2, 1),), ((1, 2),), ((2, 2),), ((2, 1),)]
    numbered = [novelty.numbered(key) for key in keys]
    assert [novelty.measure(0, one, None) for one in numbered] == [1, 1, 1, 2, LEAST_NOVEL]
    assert novelty.measure("another part", numbered[0], None) == 1


def test_a_parent_in_the_same_part_spares_its_pairs() -> None:
    whole, spared = Novelty(), Novelty()
    steps = [((a, b, c),) for a in range(3) for b in range(3) for c in range(3)]
    before = None
    for key in steps:
        one, other = whole.numbered(key), spared.numbered(key)
        assert whole.measure(0, one, None) == spared.measure(0, other, before)
        before = frozenset(other)


def test_the_order_of_children_is_no_fact() -> None:
    one = (((1, 2), ((), (5, 6))), frozenset({("a", 1)}))
    other = (((1, 2), ((), (6, 5))), frozenset({("a", 1)}))
    seen = Novelty()
    assert seen.numbered(one) == seen.numbered(other)


# ---- how far the goal is ------------------------------------------------------------------------

LAMPS = """
type Lamp {{ lit: bool  level: 0 to 100 = 0 }}
function total(): 0 to 500 = 0
action light(x: Lamp) {{ x.lit = true }}
action turn(x: Lamp) {{ x.level += 1 }}
action add() {{ total() += 1 }}
world w {{ object a, b, c: Lamp  goal g: {goal} }}
"""


@pytest.mark.parametrize(
    ("goal", "missing"),
    [
        ("all(x.lit for x: Lamp)", 3),
        ("any(x.lit for x: Lamp)", 1),
        ("not any(not x.lit for x: Lamp)", 3),
        ("a.lit and (b.lit or c.lit and a.level == 1)", 2),
        ("count(x for x: Lamp where x.lit) == 2", 2),
        ("a.level >= 1", 1),
        ("a.level >= 60", 6),
        ("total() == 300", 9),
        ("a.level < 60", 0),
        ("any(x.lit and x.level > 8 for x: Lamp)", 5),
        ("all(x.lit for x: Lamp where x.level > 0)", 0),
        ("if a.lit then b.lit else c.lit", 1),
    ],
)
def test_what_a_goal_misses(goal: str, missing: int) -> None:
    world = opened(LAMPS.format(goal=goal))
    assert GoalDistance(world.simulator, goals_of(world.simulator))(world.state) == missing


def test_nothing_is_missing_exactly_where_the_goal_holds() -> None:
    world = opened(STUDIO.replace("north.coat == brown", "north.coat == red").replace(
        "and east.coat == violet and south.coat == green", ""
    ).replace("and west.coat == brown", "and any(p.hue == blue for p: Paint)"))  # fmt: skip
    distance = GoalDistance(world.simulator, goals_of(world.simulator))
    states, seen = [world.state], set()
    for state in states[:400]:
        for command in world.simulator.commands(state)[:6]:
            for after in world.simulator.successors(state, command):
                won = world.simulator.won(after.state, None)
                assert (distance(after.state) == 0) is won
                seen.add(won)
                if not won and len(states) < 400:
                    states.append(after.state)
    assert seen == {True, False} or len(states) > 5


# ---- what matters -------------------------------------------------------------------------------


def test_of_two_ways_the_cheaper_one_stays() -> None:
    dear, cheap = Way(5, frozenset({(("f", ()), 1)})), Way(2, frozenset({(("g", ()), 1)}))
    algebra = CostAlgebra(lambda slot: {0: FREE, 1: dear if slot[0] == "f" else cheap})
    left, right = algebra.slot(("f", ()), False), algebra.slot(("g", ()), False)
    both = algebra.lift("or", lambda a, b: a == 1 or b == 1, left, right)
    assert both.ways == {False: FREE, True: cheap}
    assert algebra.held(algebra.both(both, lambda: both)) == Way(4, cheap.facts)
    assert algebra.negate(both) == Costs({False: cheap, True: FREE})


def test_relevant_facts_name_what_is_yet_to_be_created() -> None:
    world = opened(LAUNDRY)
    relevant = Relaxation(world.simulator, goals_of(world.simulator)).relevant(world.state)
    slots = {slot for slot, _ in relevant.facts}
    names = {slot[0] for slot in slots}
    assert {"Holder.open", "Machine.on", "Machine.stage", "Thing.at", "Shirt.dirty"} <= names
    drops = {number for number, of in relevant.newborn.items() if of == "Soap"}
    assert any(name == "Thing.at" and args[0] in drops for name, args in slots)
    assert relevant.held(world.simulator, world.state) == 0
    later = world.after("open(drum)", "squirt(bottle, drum)")
    held = relevant.held(world.simulator, later.state)
    came = [fact for place, fact in enumerate(relevant.facts) if held >> place & 1]
    assert any(slot[0] == "Thing.at" and slot[1][0] in drops for slot, _ in came)


def test_numbers_of_destroyed_objects_stand_for_nothing_yet_to_be_created() -> None:
    world = opened("""
    type Drop { wet: bool }
    action spill() { create d: Drop { wet = true } }
    action wipe(d: Drop) { destroy d }
    world w {
      object puddle: Drop
      goal soaked: count(d.wet for d: Drop) > 1
    }""")
    relaxation = Relaxation(world.simulator, goals_of(world.simulator))
    later = world.after("spill()", "wipe(d_1)")
    assert set(relaxation.relevant(later.state).newborn) == {2, 3}
    relevant = relaxation.relevant(world.state)
    assert set(relevant.newborn) == {1, 2}
    assert {slot[1][0] for slot, _ in relevant.facts if slot[0] == "Drop.wet"} <= {0, 1, 2}


@pytest.mark.parametrize("rocks", [0, 9])
def test_rules_that_no_state_lets_run_are_not_looked_at(rocks: int) -> None:
    rock = "".join(f" object rock{n}: Rock" for n in range(rocks))
    world = opened(f"""
    type Thing {{ static works: bool = true }}
    type Rock : Thing
    type Lamp : Thing {{ lit: bool }}
    action join(x: Thing, y: Thing) {{
      require x != y and x is Lamp  else same "No."
      require y is Lamp             else dull "No."
      require y.works               else dead "No."
      y.lit = true
    }}
    world w {{
      object one, two: Lamp
      object broken: Lamp {{ works = false }}{rock}
      goal bright: one.lit and two.lit
    }}""")
    relaxation = Relaxation(world.simulator, goals_of(world.simulator))
    assert len(relaxation.relevant(world.state).facts) == 2
    assert relaxation.visits == 4


def test_what_is_kept_from_one_state_changes_nothing_in_another() -> None:
    world = opened(LAUNDRY)
    kept = Relaxation(world.simulator, goals_of(world.simulator))
    for commands in ((), ("open(drum)",), ("open(drum)", "squirt(bottle, drum)"), ()):
        state = world.after(*commands).state
        fresh = Relaxation(world.simulator, goals_of(world.simulator))
        assert kept.relevant(state) == fresh.relevant(state)


def test_lets_of_an_action_fit_together() -> None:
    """Stone needs a pickaxe: that wood needs none is no way to it."""
    world = bundled("island/world")
    relevant = Relaxation(world.simulator, goals_of(world.simulator)).relevant(world.state)
    assert sum(1 for (name, _), _ in relevant.facts if name == "carried") == 3


def test_what_is_not_within_something_has_a_price() -> None:
    """Boxes could be in each other, and each round around made *not within* dearer for ever."""
    world = opened("""
    type Thing { at: Box? nested inverse contents closure inside }
    type Box : Thing
    action move(x: Thing, c: Box) { require x != c else itself "No."  x.at = c }
    action lose(x: Box) { require count(x.contents) > 1 else few "No."  x.at = none }
    world w {
      object room: Box
      object a, b: Box { at = room }
      object ball: Thing { at = room }
      goal out: not (ball in room.inside)
    }""")
    found = wide(world).run(ROOMY)
    assert isinstance(found, Found)
    assert len(found.steps) >= 3
