"""What a search looks up is what whole ticks come to, state by state (see `searching.tables`).

Each world is explored twice: once by whole ticks alone, and once by looking up what the fluents
that decide came to before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.engine.searching.keys import Kept
from tokenworld.engine.searching.tables import Tables
from tokenworld.ground import Command, Way, moves_of
from tokenworld.planning.search.interpreted import Limits
from tokenworld.planning.space.graph import Graph, explore
from tokenworld.session.loading import choose_world, compile_world, open_text
from tokenworld.verbs.audit.rules import RulesMet
from tokenworld.verbs.fuzz.campaign import playable
from tokenworld.verbs.fuzz.playing import checked

EXPLORED = Path(__file__).parent / "explored"
STATES = 150
CAVE = """
type Thing { at: Room? nested ordered inverse contents  warm: 0 to 3 = 2 }
type Room : Thing { lit: bool = false }
type Hero : Thing { gold: 0 to 4 = 0 }
actor me: Hero
PHASE
action look() { say "You look around." }
action take(x: Thing) { require x != me  require x.at == me.at  x.at = me.at }
action go(r: Room) { require me.at != r  me.at = r }
action shine() { me.warm = me.warm }
action earn() { me.gold += 1 }
action breed() { create t: Thing { at = me.at } }
action burn(x: Thing) { require x.at == me.at  require x != me  destroy x }
action toss() { chance 1/3 { me.gold -= 1 } }
action nap() takes 2 { me.warm += 1 }
law cool(x: Thing) LAW when x.warm > 0 { WHAT }
MORE
world w {
  time passes always
  object hall: Room { warm = 0 }
  object cellar: Room { warm = 0 }
  object hero: Hero { at = hall }
  object stone: Thing { at = hall  warm = 1 }
  spare Thing 1
  TURNS
  goal rich: hero.gold == 4
  lose poor: hero.at == cellar and hero.warm == 0
  award 1 when hero.at == cellar
}
"""
DRAWN = "chance 50% { x.warm -= 1 }"
SURE = "x.warm -= 1"
TWO = "object friend: Hero { at = hall }  turns hero, friend"
NURSERY = """
type Thing { warm: 0 to 2 = 2 }
type Hero { held: Thing?  ash: 0 to 2 clamped }
actor me: Hero
function met(a: Thing, b: Thing): bool
action breed() { create t: Thing }
action burn(x: Thing) { me.ash += 1  destroy x }
action grab(x: Thing) { me.held = x }
action meet(x: Thing, y: Thing) { require x != y  met(x, y) = not met(y, x) }
law cool(x: Thing) when x.warm > 0 {
  if me.held == x { chance 50% { x.warm -= 1 } } else { x.warm -= 1 }
}
world w {
  time passes always
  object hero: Hero
  spare Thing 2
  goal all_met: any(met(x, y) and met(y, x) for x: Thing, y: Thing)
}
"""
"""Created objects die here: the others then have other numbers in the row than in keys."""
CAVES = {
    "together": ("", "", SURE, "", ""),
    "drawn": ("", "", DRAWN, "", ""),
    "in turn": ("phase p sequentially", "during p", SURE, "", ""),
    "nested": ("phase p sequentially by nesting", "during p", SURE, "", ""),
    "nested and drawn": ("phase p sequentially by nesting", "during p", DRAWN, "", ""),
    "two": ("", "", SURE, "", TWO),
    "two look back": ("", "", "if did(x, look) { x.warm -= 1 }", "", TWO),
    "kept": ("", "", SURE, "invariant cold(x: Hero): x.gold < 3", TWO),
    "summed": ("", "", SURE, "conserve purse: sum(x.gold for x: Hero) except earn, toss", ""),
    "by the clock": ("", "", "if tick() mod 3 == 1 { x.warm -= 1 }", "", ""),
    "looking back": ("", "", "if was x.warm == 2 { x.warm -= 1 }", "", ""),
    "two remember": ("", "", "if was x.warm == 2 { x.warm -= 1 }", "", TWO),
    "did": ("", "", "if did(x, look) { x.warm -= 1 }", "", ""),
    "did and drawn": ("", "", "if did(x, shine) { chance 50% { x.warm -= 1 } }", "", ""),
    "two watched": ("", "", SURE, 'watch w(x: Thing) when x.warm == 0 { say "Cold." }', TWO),
    "watched back": ("", "", SURE, 'watch w(x: Thing) when x.warm < was x.warm { say "Brr." }', ""),
    "watched": ("", "", SURE, 'watch w(x: Thing) when x.warm == 0 { say "Cold." }', ""),
}
Edges = tuple[tuple[Command, tuple[int, ...], tuple[object, ...], tuple[object, ...], bool], ...]


@dataclass(frozen=True)
class Told:
    """A graph in values that do not depend on who explored it, and what happened in it."""

    keys: list[Hashable]
    latched: list[tuple[object, ...]]
    edges: list[Edges]
    ends: tuple[bytes, bytes]
    limit: str | None
    met: tuple[object, ...]


def _engine(text: str) -> Engine:
    return open_text((Source("world.tw", None, text),), "w").engine


MEMORY = 1 << 24
"""Bytes: far more than the states of these worlds take, but for all outcomes of a dozen draws."""


def _random_engine(text: str) -> Engine:
    """A text of the generator, which may use standard modules."""
    program = checked(text).program
    assert program is not None
    return compile_world(program, choose_world(program, "w", "world.tw"))


def _cave(name: str) -> str:
    phase, law, what, more, turns = CAVES[name]
    text = CAVE.replace("PHASE", phase).replace("LAW", law).replace("WHAT", what)
    return text.replace("MORE", more).replace("TURNS", turns)


class _ByTicks(EngineSimulator):
    """Looks nothing up."""

    def moves(self, state: State) -> Iterable[tuple[Command, Sequence[Way[State]]]]:
        return moves_of(self, state)


def _told(engine: Engine, start: State, *, looked_up: bool, states: int) -> Told:
    simulator = (EngineSimulator if looked_up else _ByTicks)(engine, start)
    met = simulator.listener = RulesMet(simulator)
    met.begin(start)
    graph = explore(simulator, start, None, Limits(states, None, MEMORY))
    happened = (met.actions, met.laws, met.begun, met.endings, met.awards, met.failed)
    return Told(
        [simulator.key(one) for one in graph.states],
        [(one.latched, one.awarded, one.tick, one.turn, one.executed) for one in graph.states],
        [tuple(_edges(graph, node)) for node in graph.nodes()],
        (bytes(graph.won), bytes(graph.lost)),
        graph.limit,
        happened,
    )


def _edges(graph: Graph[State], node: int) -> Iterator[tuple[object, ...]]:
    for move in graph.moves[node]:
        yield move.command, move.targets, move.chances, move.draws


def _equal(engine: Engine, states: int = STATES) -> Told:
    start = engine.start()
    slow = _told(engine, start, looked_up=False, states=states)
    if slow.limit == "memory":
        pytest.skip("a tick of this world has too many outcomes of chance")
    fast = _told(engine, start, looked_up=True, states=states)
    assert fast.keys == slow.keys
    assert fast.latched == slow.latched
    assert fast.edges == slow.edges
    assert (fast.ends, fast.limit) == (slow.ends, slow.limit)
    assert fast.met == slow.met
    assert len(set(fast.keys)) == len(fast.keys)  # marks tell apart what keys do
    return fast


@pytest.mark.parametrize("name", CAVES)
def test_a_cave_is_explored_alike(name: str) -> None:
    assert len(_equal(_engine(_cave(name))).keys) > 20


def test_deaths_of_created_objects_are_explored_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = list[bool]()
    begin = Tables.begin

    def noted(self: Tables, state: Kept) -> bool:
        found = begin(self, state)
        if state.population.ranks is not None:
            begun.append(found)
        return found

    monkeypatch.setattr(Tables, "begin", noted)
    _equal(_engine(NURSERY), 400)
    assert len(begun) > 30
    assert all(begun)


@pytest.mark.parametrize("path", sorted(EXPLORED.glob("*.tw")), ids=lambda path: path.stem)
def test_a_world_that_was_explored_wrongly_is_explored_alike(path: Path) -> None:
    _equal(_random_engine(path.read_text(encoding="utf-8")), 40)


@pytest.mark.parametrize("seed", range(40))
def test_a_random_world_is_explored_alike(seed: int) -> None:
    text = playable(seed)
    if text is None:
        pytest.skip("the seed gives no world that can be played")
    _equal(_random_engine(text), 40)


@pytest.mark.parametrize(("name", "most"), [("together", 0.6), ("two", 0.8), ("drawn", 0.6)])
def test_most_edges_are_looked_up(name: str, most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counter[str] = Counter()

    def count(owner: type, method: str) -> None:
        whole = getattr(owner, method)

        def counted(*given: object) -> object:
            counts.update([method])
            return whole(*given)

        monkeypatch.setattr(owner, method, counted)

    count(Tables, "_played")
    count(Tables, "_effect")
    engine = _engine(_cave(name))
    simulator = EngineSimulator(engine, start := engine.start())
    graph = explore(simulator, start, None, Limits(STATES, None))
    asked = sum(map(len, graph.moves))
    assert asked > 150
    assert counts["_played"] < most * asked
    assert counts["_effect"] < most * asked


def test_marks_tell_apart_what_keys_tell_apart() -> None:
    engine = _engine(_cave("nested"))
    simulator = EngineSimulator(engine, start := engine.start())
    graph = explore(simulator, start, None, Limits(STATES, None))
    by_short_key: dict[Hashable, Hashable] = {}
    for state in graph.states:
        for command in simulator.commands(state):
            for one in simulator.successors(state, command):
                key = simulator.key(one.state)
                assert by_short_key.setdefault(simulator.short_key(one.state), key) == key
    assert len(set(by_short_key.values())) == len(by_short_key) > 80
