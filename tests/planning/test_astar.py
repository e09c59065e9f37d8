"""A* on packed states: the interpreter's cheapest plans, the same from Python and compiled."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_random import random_world
from lower_worlds import Opened, bundled, opened
from sokoban import sokoban

from tokenworld.planning.planners.by_name import plan_by, plan_optimal
from tokenworld.planning.referee import replay
from tokenworld.planning.search.compiled import available
from tokenworld.planning.search.compiled.search import CompiledAStar
from tokenworld.planning.search.compiled.tables import Tables
from tokenworld.planning.search.interpreted import (
    Capped,
    Exhausted,
    Found,
    Limits,
    Search,
    SearchResult,
    has_costs,
)
from tokenworld.planning.search.own import OwnSearch
from tokenworld.planning.search.packed.lowered import packed
from tokenworld.planning.search.packed.searches import FAR, STEP, Heuristic, PackedAStar, Relaxed
from tokenworld.planning.search.packed.world import Packed

compiled = pytest.mark.skipif(not available(), reason="numba is not installed")
HEURISTICS: tuple[Heuristic, ...] = ("blind", "max", "add")
WORLDS = ("blocks/world", "taxi/world", "cellar/world", "cellar/twin", "greenhouse/world",
          "greenhouse/scarce", "skirmish/world", "skirmish/twin", "workshop/world")  # fmt: skip

PRICED = """
type Room { seen: bool = false }  type Hero { at: Room  bag: 0 to 3 = 0 }
actor me: Hero
relation door(a: Room, b: Room)
action go(r: Room) cost 2 { require door(me.at, r)  me.at = r }
action run(r: Room) cost 5 + me.bag { require me.at != r  me.at = r }
action look() cost 1 { require not me.at.seen  me.at.seen = true }
action take() { require me.bag < 3  me.bag += 1 }
action leave() cost me.bag { me.bag = 0 }
LAW
world w { object a, b, c, d: Room  object hero: Hero { at = a }
          setup { add door(a, b)  add door(b, c)  add door(c, d)  add door(d, a) }
          goal every: d.seen and c.seen and hero.bag == 2 and hero.at == a }
"""
LAWS = (
    "",
    "law tire() when me.bag == 3 { me.bag = 1 }",
    "law night(r: Room) when tick() mod 4 == 0 { r.seen = false }",
    "action slip() cost 1 { chance 50% { me.bag = 0 } else { me.bag = 2 } }",
)


def priced(law: str = "") -> Opened:
    return opened(PRICED.replace("LAW", law))


def made(world: Opened) -> Packed:
    found = packed(world.simulator, world.state, None)
    assert found is not None
    assert found.prices is not None
    return found


def worth(result: SearchResult) -> object:
    """What every cheapest plan has in common."""
    match result:
        case Found(steps=steps, cost=cost, optimal=optimal):
            return cost, len(steps), optimal
        case Exhausted():
            return "none"
    return result


def world_of(name: str) -> Opened:
    if name == "sokoban":
        return sokoban()
    return priced(LAWS[int(name[-1])]) if name.startswith("priced") else bundled(name)


@pytest.mark.parametrize(
    "name", [*WORLDS, "sokoban", *(f"priced {number}" for number in range(len(LAWS)))]
)
def test_cheapest_plans_are_those_of_the_interpreter(name: str) -> None:
    world = world_of(name)
    expected = Search(world.simulator, world.state, None).run(Limits(states=20_000))
    small = made(world)
    blind = PackedAStar(world.simulator, small, world.state).run(Limits())
    assert worth(blind) == worth(expected)
    if isinstance(blind, Found) and isinstance(expected, Found):
        assert blind.steps == expected.steps
        assert blind.states == expected.states or not has_costs(world.simulator)
    best = PackedAStar(world.simulator, small, world.state, "max").run(Limits())
    assert worth(best) == worth(expected)
    quick = PackedAStar(world.simulator, small, world.state, "add").run(Limits())
    if isinstance(expected, Found):
        assert isinstance(quick, Found)
        assert quick.optimal is None
        assert quick.cost >= expected.cost
        assert replay(world.simulator, world.state, quick.steps, None).ok
    else:
        assert isinstance(quick, Exhausted)


@pytest.mark.parametrize("seeds", [8, pytest.param(40, marks=pytest.mark.slow)])
def test_random_worlds_are_planned_alike(seeds: int) -> None:
    done = 0
    for seed in range(seeds):
        world = random_world(seed)
        small = packed(world.simulator, world.state, None)
        expected = Search(world.simulator, world.state, None).run(Limits(states=3_000))
        if small is None or small.prices is None or isinstance(expected, Capped):
            continue
        for heuristic in ("blind", "max"):
            found = PackedAStar(world.simulator, small, world.state, heuristic).run(Limits())
            assert worth(found) == worth(expected), (seed, heuristic)
        done += 1
    assert done >= seeds // 4


def test_h_max_is_never_too_much() -> None:
    """From every state it is at most what the cheapest plan from there weighs."""
    world = priced()
    small = made(world)
    relaxed = Relaxed.of(small)
    assert small.prices is not None
    paid, before = {small.start: 0}, dict[int, list[tuple[int, int]]]()
    waiting = [small.start]
    while waiting:
        key = waiting.pop()
        for number, after in small.moves(key) if small.ends(key) == 0 else ():
            before.setdefault(after, []).append((key, small.prices[number] * STEP + 1))
            if after not in paid:
                paid[after] = 0
                waiting.append(after)
    truth = {key: 0 for key in paid if small.ends(key) == 1}
    frontier = sorted((0, key) for key in truth)
    while frontier:
        price, key = frontier.pop(0)
        if price > truth[key]:
            continue
        for source, weight in before.get(key, ()):
            if price + weight < truth.get(source, FAR):
                truth[source] = price + weight
                frontier = sorted([*frontier, (price + weight, source)])
    told = {key: relaxed.value(relaxed.holding(small, key), add=False) for key in paid}
    assert all(told[key] <= truth.get(key, FAR) for key in paid)
    assert told[small.start] > 2 * STEP
    assert any(told[key] == truth[key] > 0 for key in truth)


@compiled
@pytest.mark.parametrize("heuristic", HEURISTICS)
@pytest.mark.parametrize("name", ["sokoban", "priced", "greenhouse/world", "workshop/twin"])
def test_the_compiled_search_is_the_same(name: str, heuristic: Heuristic) -> None:
    world = sokoban() if name == "sokoban" else priced() if name == "priced" else bundled(name)
    small = made(world)
    tables = Tables.of(small, to_goal=True)
    assert tables is not None
    slow = PackedAStar(world.simulator, small, world.state, heuristic)
    fast = CompiledAStar(world.simulator, small, world.state, tables, heuristic)
    assert fast.run(Limits()) == slow.run(Limits())
    assert fast.hopeless == slow.hopeless


@compiled
@pytest.mark.parametrize("kind", ["python", "compiled"])
def test_a_search_stops_at_a_limit_and_goes_on(kind: str) -> None:
    world = bundled("greenhouse/world")
    small = made(world)
    tables = Tables.of(small, to_goal=True)
    assert tables is not None

    def begun() -> PackedAStar[object] | CompiledAStar[object]:
        if kind == "python":
            return PackedAStar(world.simulator, small, world.state, "max")  # type: ignore[arg-type]
        return CompiledAStar(world.simulator, small, world.state, tables, "max")  # type: ignore[arg-type]

    whole, search = begun().run(Limits()), begun()
    first = search.run(Limits(states=20))
    assert isinstance(first, Capped)
    assert first.limit == "states"
    assert search.so_far().states == first.states >= 20
    assert search.run(Limits()) == whole
    assert isinstance(begun().run(Limits(memory=1)), Capped)
    assert isinstance(begun().run(Limits(), cancel=lambda: True), Capped)


def test_long_searches_with_costs_go_on_packed() -> None:
    world = priced(LAWS[2])
    search = OwnSearch(world.simulator, world.state, None)
    found = search.run(Limits())
    assert isinstance(search._search, PackedAStar)
    assert found == Search(world.simulator, world.state, None).run(Limits())


# ---- engines ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "optimal"), [("hmax", "cost"), ("hadd", None)])
def test_engines_by_name(name: str, optimal: str | None) -> None:
    world = priced()
    verdict = plan_by(world.simulator, world.state, None, name, seconds=20)
    assert (verdict.answer, verdict.engine, verdict.optimal) == ("winnable", name, optimal)
    lost = bundled("cellar/twin")
    proof = plan_by(lost.simulator, lost.state, None, name, seconds=20)
    assert (proof.answer, proof.claim, proof.exit_code) == ("unwinnable", "exhausted", 1)


def test_what_cannot_be_packed_is_told_with_its_place() -> None:
    text = (
        PRICED.replace("LAW", "action heat(x: Hero) { x.t += 1 }")
        .replace("bag: 0 to 3 = 0 }", "bag: 0 to 3 = 0  t: int = 0 }")
        .replace("hero.at == a }", "hero.at == a and hero.t > 3 }")
    )
    world = opened(text)
    verdict = plan_by(world.simulator, world.state, None, "hmax", seconds=20)
    assert verdict.answer == "unknown"
    assert verdict.notes[0].span is not None
    assert "Plan without `--engine`" in str(verdict.notes[0].hint)


def test_optimal_without_planners_is_proved_by_h_max(monkeypatch: pytest.MonkeyPatch) -> None:
    from tokenworld.planning.planners import by_name

    monkeypatch.setattr(by_name, "_FIRST_STATES", 5)
    monkeypatch.setattr(by_name, "_optimal_searches", list)
    world = priced()
    expected = Search(world.simulator, world.state, None).run(Limits())
    assert isinstance(expected, Found)
    verdict = plan_optimal(world.simulator, world.state, None, seconds=30)
    assert (verdict.engine, verdict.optimal, verdict.cost) == ("hmax", "cost", expected.cost)
